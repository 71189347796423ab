# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# rover.sh: the two ends and what runs between them. Expects the environment of the lab (tools/vm/vm run) and lib/ktap.sh.
# SOFT=rxe tests rdma_rxe in rover's place, which is how these tests were proved before there was a rover.

SOFT=${SOFT:-rover}
export SOFT
if [[ $SOFT == rxe ]]; then soft_module=rdma_rxe; else soft_module=rover; fi
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
built=$top/build/selftests
port=$((20000 + RANDOM % 5000))

quick() { [[ ${QUICK:-0} != 0 ]]; }

# Of end a or b: device, netdev, addresses.
dev() { if [[ $1 == a ]]; then echo "$DEV_A"; else echo "$DEV_B"; fi; }
ndev() { if [[ $1 == a ]]; then echo "$NDEV_A"; else echo "$NDEV_B"; fi; }
addr() { if [[ $1 == a ]]; then echo "$ADDR_A"; else echo "$ADDR_B"; fi; }
addr6() { if [[ $1 == a ]]; then echo "$ADDR6_A"; else echo "$ADDR6_B"; fi; }
other() { if [[ $1 == a ]]; then echo b; else echo a; fi; }

# wait_for SECONDS CMD...: until CMD succeeds
wait_for() {
	local end=$((SECONDS + $1 * SLOW))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# within SECONDS CMD...: CMD, which has to end in that time
within() {
	local seconds=$(($1 * SLOW))
	shift
	timeout -k 5 "$seconds" "$@"
}

# Is there this device, and is it ready for traffic?
link_up() {
	local gids
	[[ $(on "$1" cat "/sys/class/infiniband/$2/ports/1/state" 2>/dev/null) == *ACTIVE* ]] || return 1
	gids=$(on "$1" sh -c "cat /sys/class/infiniband/$2/ports/1/gids/*" 2>/dev/null)
	[[ $gids == *ffff:0a* ]]
}

# link_add END [NAME NETDEV]
link_add() {
	on "$1" rdma link add "${2:-$(dev "$1")}" type "$SOFT" netdev "${3:-$(ndev "$1")}"
}

link_del() { on "$1" rdma link delete "${2:-$(dev "$1")}"; }

has_link() { on "$1" test -e "/sys/class/infiniband/${2:-$(dev "$1")}"; }

module_loaded() { on "$1" test -d /sys/module/$soft_module; }

# Both devices as every test may expect to find them, whatever the last one did.
soft_up() {
	local end
	for end in a b; do
		module_loaded $end || on $end modprobe $soft_module
		has_link $end || link_add $end
		wait_for 10 link_up $end "$(dev $end)"
	done
}

# The index of the GID of an address (IPv4, or IPv6 in full) at an end.
gid_index() {
	local end=$1 family=${2:-4} want
	# shellcheck disable=SC2046,SC2183 # four numbers for four formats
	want=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' $(addr "$end" | tr . ' '))
	if [[ $family == 6 ]]; then want=$(addr6 "$end" | sed 's/::/:0000:0000:0000:0000:0000:0000:000/'); fi
	# shellcheck disable=SC2016 # the shell at the other end expands these
	on "$end" sh -c 'cd "/sys/class/infiniband/$1/ports/1/gids" || exit
		for index in $(seq 0 63); do
			[ "$(cat "$index" 2>/dev/null)" = "$2" ] || continue
			[ "$(cat "../gid_attrs/types/$index" 2>/dev/null)" = "RoCE v2" ] || continue
			echo "$index" && exit
		done
		exit 1' sh "$(dev "$end")" "$want"
}

# counter END NAME: a hw counter of the device there
counter() { on "$1" cat "/sys/class/infiniband/$(dev "$1")/ports/1/hw_counters/$2"; }

# The netdev's MTU allows this path MTU?
allows_mtu() { (($(on a cat "/sys/class/net/$NDEV_A/mtu") >= $1 + 60)); }

# both SECONDS PROGRAM [GROUP...]: one of our programs at both ends; its KTAP on standard output.
both() {
	local seconds=$(($1 * SLOW)) program=$built/$2 peer status=0
	shift 2
	[[ -x $program ]] || fail "$program is not built: tools/vm/vm chroot -- make -C /rover/selftests"
	port=$((port + 1))
	timeout -k 5 "$seconds" on b "$program" b $port "$@" </dev/null 2>&1 &
	peer=$!
	timeout -k 5 "$seconds" on a "$program" a $port "$@" </dev/null 2>&1 || status=$?
	if ((status > 1)); then
		echo "# end a: exit status $status"
		kill $peer 2>/dev/null
		wait $peer
		return "$status"
	fi
	wait $peer || status=$?
	return "$status"
}

# stages SECONDS PROGRAM [GROUP...]: the same, its cases as stages of this script
stages() {
	local status=0 failed=$ktap_failed number=$ktap_number
	both "$@" >"$ktap_dir/ktap" || status=$?
	ktap_take <"$ktap_dir/ktap"
	if ((status && ktap_failed == failed || ktap_number == number)); then
		result failed "$2 ${*:3} comes to its end (status $status)"
	fi
}

# A quick proof that RC works between the two ends, data checked.
traffic_works() { both 60 rc_data brief; }

