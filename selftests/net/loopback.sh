#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# loopback: a device sends to itself by the loopback netdev. Packet trains stay whole, and data
# arrives whatever handles the packets on the way.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"
# shellcheck source=selftests/lib/nft.sh
. "$here/lib/nft.sh"

if ! single; then
	try "both ends on one device" skip "once is enough"
	finish
fi

# Both ends are b.
export DEV_A=$DEV_B NDEV_A=$NDEV_B ADDR_A=$ADDR_B ADDR6_A=$ADDR6_B
at() { on -t $((limit * slow)) b "${@:2}"; }
run_at() { exec on -t $((limit * slow)) b "${@:2}"; }
eval "look_at() $(declare -f look | tail -n +2)"
look() { look_at b "${@:2}"; }
# shellcheck disable=SC2034 # for bad_network and count
ends=b counting=b
qdisc() { at b tc qdisc "$2" dev lo root "${@:3}"; }

# whole TOOL [OPTION...]: nearly all trains that are sent are received as trains.
whole() {
	local sent received
	sent=$(count tx_trains) received=$(count rx_trains)
	perftest "$1" -n 100 -s 65536 -m 4096 "${@:2}"
	sent=$(($(count tx_trains) - sent)) received=$(($(count rx_trains) - received))
	echo "note: $sent trains sent, $received received"
	((sent >= 100)) || fail "only $sent trains"
	((10 * received >= 9 * sent)) || fail "of $sent trains only $received arrived as such"
}

trains() {
	local tool
	for tool in write_bw read_bw send_bw; do
		whole $tool
		[[ $tool != write_bw ]] && once || whole $tool -x "$(gid_index b "$ADDR6_B")"
	done
}

# A capture holds a reference to each train.
captured() {
	local status=0
	run_at b tcpdump -i lo -U -s 0 -w /tmp/lo.pcap "udp port 4791" >/tmp/tcpdump 2>&1 </dev/null &
	watcher=$!
	within 20 grep -q 'listening on' /tmp/tcpdump
	whole write_bw || status=$?
	pair_quietly rc_data brief || status=$?
	kill $watcher
	wait $watcher || true
	rm -f /tmp/lo.pcap
	return $status
}

# lost: packets sent again, without probes, which are sent early on a busy host
lost() { echo $(($(count tx_retransmitted_packets) - $(count tx_probes))); }

# With conntrack each connection has a first train, which is not confirmed yet.
tracked() {
	local again
	tracking b
	again=$(lost)
	trains
	again=$(($(lost) - again))
	# The debug kernel may take longer than a timeout for a packet.
	((!again || slow > 1)) || fail "$again packets were sent again"
	(($(matched b) > 0)) || fail "no connection has been remembered"
}

# READ responses are received on two processors in turn, and the next request leaves from one of
# them. When the host stalls between two of them there may be a gap; without the ordering there were
# a hundred.
in_order() {
	local gaps
	gaps=$(count packet_seq_err)
	perftest read_bw -s 20480 -D 5 -f 0
	gaps=$(($(count packet_seq_err) - gaps))
	((gaps < 10)) || fail "$gaps gaps between READ requests"
}

# One header in front of a FIRST and MIDDLEs of 4 KiB, up to 15, not one for each. How many it is depends on the window.
blocks() {
	local seen whole status=0 length="8 + 12 + 16 + 4"
	run_at b tcpdump -i lo -U -s 100 -w /tmp/lo.pcap "udp port 4791 and udp[4:2] >= $length + 2 * 4096" >/tmp/tcpdump 2>&1 </dev/null &
	watcher=$!
	within 20 grep -q 'listening on' /tmp/tcpdump
	perftest write_bw -n 100 -s 65536 -m 4096 || status=$?
	sleep 1
	kill $watcher
	wait $watcher || true
	seen=$(at b tcpdump -nn -r /tmp/lo.pcap 2>/dev/null | wc -l)
	whole=$(at b tcpdump -nn -r /tmp/lo.pcap "udp[4:2] == $length + 15 * 4096" 2>/dev/null | wc -l)
	rm -f /tmp/lo.pcap
	echo "note: $seen blocks, $whole of 15 packets"
	((seen >= 90 && whole >= 10)) || fail "100 messages, $seen blocks, $whole of 15 packets"
	return $status
}

# lo_takes on|off: tx-gso-list of lo: whole trains, or single packets
lo_takes() { at b ethtool -K lo tx-gso-list "$1"; }
apart() {
	at_end lo_takes on
	lo_takes off
	pair_quietly rc_data brief much
}

under() {
	bad_network "$@"
	until_counted tx_retransmitted_packets pair_quietly rc_data brief much
}

# Prepare for detour: a device without scatter-gather, as a wire, which returns all packets to lo.
detour_ready() {
	at_end at b ip link del x0
	at b ip link add x0 mtu 5000 type veth peer name x1
	at b ip link set x1 mtu 5000
	at b ethtool -K x0 sg off >/dev/null
	at b sysctl -qw net.ipv4.conf.all.accept_local=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.lo.rp_filter=0
	at b ip link set x1 up
	at b ip link set x0 up
	at_end at b tc qdisc del dev lo clsact
	at b tc qdisc add dev lo clsact
	at b tc qdisc add dev x1 clsact
	at b tc filter add dev x1 ingress protocol ip matchall action skbedit ptype host pipe action mirred ingress redirect dev lo
}

# lo_filter DIRECTION ACTION...: a tc filter on lo for RoCE packets
lo_filter() { at b tc filter add dev lo "$1" protocol ip u32 match ip protocol 17 0xff match ip dport 4791 0xffff action "${@:2}"; }
detour() { lo_filter egress mirred egress redirect dev x0; }

# Packets without an ICRC are dropped on the detour, and are sent again with one.
elsewhere() {
	detour_ready
	detour
	until_counted "rx_icrc_encapsulated,tx_retransmitted_packets" pingpong -n 5 -s 65536
	perftest read_bw -n 10 -s 65536
}

# dropped NUMBER: whether the ingress filter has dropped so many
dropped() {
	local said
	said=$(at b tc -s filter show dev lo ingress)
	[[ $said =~ dropped\ ([0-9]+) ]] && ((BASH_REMATCH[1] >= $1))
}
# moved NUMBER COUNTER...: whether the counters are above NUMBER
moved() { (($(count "${@:2}") > $1)); }

# One lost packet or block in a thousand does not enable the ICRC for local packets. A detour shows that they have none.
rare_losses() {
	local wrong
	lo_filter ingress pass random determ drop 1000 || skip "this kernel drops nothing by count"
	# These programs end with this case; those started by perftest() would not.
	next_port
	run_at b ib_read_bw -F -p "$port" -d "$DEV_B" -s 65536 -D 60 >/tmp/said.b 2>&1 </dev/null &
	await_server b "$port" $!
	run_at a ib_read_bw -F -p "$port" -d "$DEV_A" -s 65536 -D 60 "$ADDR_B" >/tmp/said.a 2>&1 </dev/null &
	within 50 dropped $((slow > 1 ? 3 : 12))
	at b tc filter del dev lo ingress
	wrong=$(count rx_icrc_encapsulated)
	detour
	within 5 moved "$wrong" rx_icrc_encapsulated
}
# On a busy host packets also arrive too late, which a connection does not forget.
rarely() {
	local round status
	detour_ready
	for round in 1 2 3; do
		status=0
		(trap 'kill $(jobs -p); wait' EXIT && rare_losses) || status=$?
		((status != 4)) || exit 4
		((status)) || break
		((round < 3)) || fail "each connection had ICRCs"
		at b tc filter del dev lo egress || true
	done
}

# A sniffer rule on the loopback netdev receives packets, as on any other netdev.
sniffed() {
	at_end at b rdma link delete rover_lo
	at b rdma link add rover_lo type rover netdev lo
	export DEV_A=rover_lo DEV_B=rover_lo NDEV_A=lo NDEV_B=lo ADDR_A=127.0.0.1 ADDR_B=127.0.0.1 ADDR6_A=::1 ADDR6_B=::1
	within 10 has_gid b rover_lo "$(gid_text $ADDR_B)"
	pair_quietly raw_roce
}

# Two more devices at b, on both ends of a veth pair: packets between them go through lo.
two_up() {
	local n
	at b ip link add x0 mtu 4200 type veth peer name x1 mtu 4200
	for n in 0 1; do
		at b ip addr add 10.8$((8 + n)).0.1/24 dev x$n
		at b ip link set x$n up
		# The core looks for the peer's MAC address on the device's interface, where a host answers itself only if it is told to.
		at b sysctl -qw net.ipv4.conf.x$n.accept_local=1 net.ipv4.conf.x$n.rp_filter=0
	done
	for n in 0 1; do
		at b rdma link add rover_x$n type rover netdev x$n
		within 10 has_gid b rover_x$n "$(gid_text 10.8$((8 + n)).0.1)"
	done
}
two_down() {
	at b ip link del x0
	within 10 gone b rover_x0
	within 10 gone b rover_x1
}
# of DEVICE COUNTER
of() { (DEV_B=$1 && counter b "$2"); }

# each_counts TOOL MOST OPTION...: either device counts what it has sent, and the other one receives
each_counts() {
	local tool=$1 most=$2 n sent=() received=()
	shift 2
	for n in 0 1; do sent+=("$(of rover_x$n tx_packets)") received+=("$(of rover_x$n rx_packets)"); done
	pingpong_on "$tool" rover_x1 "$(gid_like b "$(gid_text 10.89.0.1)" rover_x1)" rover_x0 "$(gid_like b "$(gid_text 10.88.0.1)" rover_x0)" "$@"
	for n in 0 1; do
		sent[n]=$(($(of rover_x$n tx_packets) - sent[n])) received[n]=$(($(of rover_x$n rx_packets) - received[n]))
		echo "note: $tool: rover_x$n has sent ${sent[n]} packets and received ${received[n]}"
	done
	for n in 0 1; do
		((sent[n] >= most && received[n] >= most)) || fail "rover_x$n counts too little"
		# Retransmissions may be lost, and there are ACKs. But no device receives more than the other one has sent.
		((received[n] <= sent[1 - n])) || fail "rover_x$n has received more than was sent to it"
	done
}
two_devices() {
	at_end two_down
	two_up
	each_counts ibv_ud_pingpong 300 -n 300 -s 1000
	each_counts ibv_rc_pingpong 300 -n 300 -s 1000
}

know_gids
try "packet trains are received whole" trains
try "packet trains are received whole during a capture" captured
try "packet trains are received whole with conntrack" tracked
try "READ requests are received in order" in_order
try "long WRITEs are sent as blocks with one header" blocks
try "a sniffer rule receives each packet of a block" sniffed
pair_cases rc_data brief much
try "data is transferred with tx-gso-list off" apart
try "each of two devices counts the packets it sends and receives" two_devices
try "data is transferred with loss, reordering, duplicates and corruption" under delay 1ms reorder 5% loss 1% duplicate 1% corrupt 1%
try "packets redirected to a netdev are sent again with an ICRC" elsewhere
limit=100
try "rare losses do not enable the ICRC for local packets" rarely
try "data transfer works afterwards" traffic
finish
