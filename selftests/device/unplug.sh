#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# unplug: the link, the netdev and the module are removed under idle and busy programs. The removal
# is quick, the programs get an event or end, and all can be added again.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

# under_idle CMD...: run CMD while a program has all kinds of objects, and is idle except for $more.
# The program gets an event, and destroys its objects.
under_idle() {
	mend
	# shellcheck disable=SC2086 # words
	hold_objects a --qps 20 --mrs 20 --dms 4 --gid "$(gid_index a "$ADDR_A")" ${more:-}
	promptly "$@"
	ends_within 10 "$holder"
	cat "$held"
	grep -q '^fatal' "$held" || fail "it has not heard of the end of its device"
	grep -q '^done' "$held" || fail "it could not destroy what it had"
	((status == 3)) || fail "it ended with status $status"
	within 10 gone a
	bring_back
}

size=65536

# under_traffic TOOL CMD...: run CMD, which removes the device at a, while a sends to b
under_traffic() {
	local tool=$1 server client before
	shift
	mend
	# The case before has used this device.
	before=$(counter a tx_packets)
	next_port
	run_at b "ib_$tool" -F -p "$port" -d "$DEV_B" -D 60 -s $size >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server
	run_at a "ib_$tool" -F -p "$port" -d "$DEV_A" -D 60 -s $size "$ADDR_B" >/tmp/said.a 2>&1 </dev/null &
	client=$!
	within 30 busy
	promptly "$@"
	# The client's requests are flushed, and perftest ends. The server sees the end of the TCP
	# connection, but not while it polls for SENDs.
	[[ $tool != send_bw ]] || kill $server 2>/dev/null || true
	end_of a $client "$@"
	end_of b $server "$@"
	within 10 gone a
	bring_back
}

# end_of END PROCESS CMD...: the program ends by itself. Without a netdev its TCP connection cannot end, and it may wait for that.
end_of() {
	local end=$1 process=$2
	if [[ $3 == delete_netdev ]]; then
		within 20 idle "$process"
		kill "$process" 2>/dev/null || true
		ends_within 5 "$process"
	else
		ends_within 20 "$process"
		echo "$end: status $status: $(<"/tmp/said.$end")"
		[[ $end == b ]] || ((status && status != 124)) || fail "it has not noticed"
	fi
}
# idle PROCESS: it has ended, or its child waits for TCP
idle() {
	local child
	is_over "$1" && return
	child=$(pgrep -P "$1")
	[[ $child && $(</proc/"$child"/wchan) == wait_woken ]]
}

busy() { (($(counter a tx_packets) > before + 100)); }

bring_back() {
	mend
	let_go 10
	traffic
}

delete_link() { at a rdma link delete "$DEV_A"; }

# Both netdevs of the pair are removed together, and made again with other MAC addresses.
delete_netdev() { at a ip link delete "$NDEV_A"; }
no_netdev() {
	single || skip "the netdevs of a pair belong to the machine"
	"$@"
}
netdev_under_idle() {
	bring_back() { :; }
	under_idle delete_netdev
	within 10 gone b
	make_netdevs
	mend
	traffic
}
netdev_under_traffic() {
	bring_back() { :; }
	under_traffic write_bw delete_netdev
	within 10 gone b
	make_netdevs
	mend
	traffic
}

remove_module() { at a rmmod rover; }

reload() {
	local n=$1 i end
	unload || true
	for ((i = 0; i < n; i++)); do
		for end in $(module_ends); do
			at "$end" modprobe rover
			link_add "$end" || fail "link add, the ${i}th time"
			at "$end" rmmod rover || fail "rmmod, the ${i}th time"
		done
	done
	bring_back
}

# The module is removed without devices, with a device, and with devices that programs use.
know_gids
try "rdma link delete under an idle program" under_idle delete_link
# A program that posts all the time does not enter the kernel. Now it has to.
more="--stream --cqes 2000" try "rdma link delete under a program that posts all the time" under_idle delete_link
more="--stream --moderate --cqes 2000" try "rdma link delete while moderated completion events are pending" under_idle delete_link
tools=(write_bw read_bw send_bw)
! quick || tools=(send_bw)
for tool in "${tools[@]}"; do try "rdma link delete under ib_$tool" under_traffic $tool delete_link; done
size=8 try "rdma link delete under small messages" under_traffic send_bw delete_link
once || try "the netdev is removed under an idle program" no_netdev netdev_under_idle
try "the netdev is removed under ib_write_bw" no_netdev netdev_under_traffic
once || try "rmmod under an idle program" under_idle remove_module
! quick || tools=(read_bw)
for tool in "${tools[@]}"; do try "rmmod under ib_$tool" under_traffic $tool remove_module; done
once || size=8 try "rmmod under small messages" under_traffic write_bw remove_module
n=100
! quick || n=$((slow > 1 ? 2 : 10))
limit=300
try "$n times modprobe, rdma link add, rmmod" reload $n
finish
