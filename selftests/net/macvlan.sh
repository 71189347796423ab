#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# macvlan: devices on macvlan and ipvlan interfaces, and VLANs, whose lower netdev has a device too,
# in another network namespace and in the same one. All on one machine.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/version.sh
. "$here/lib/version.sh"
# shellcheck source=selftests/lib/cm.sh
. "$here/lib/cm.sh"

limit=30
pod=10.77.0.21 inside=10.79.5.1 outside=10.79.5.2

in_pod() { timeout $((limit * slow)) ip netns exec pod "$@"; }

# pod_up KIND: a namespace with an interface of that kind on the netdev of a, and a device on it
pod_up() {
	ip netns add pod
	make "$1" pod0 pod
	in_pod ip link set lo up
	in_pod ip addr add $pod/24 dev pod0
	in_pod ip link set pod0 up
	in_pod rdma link add rover_pod type rover netdev pod0
	within 10 has_gid a rover_pod "$(gid_text $pod)"
}
pod_down() {
	ip netns del pod
	within 10 gone a rover_pod
}
# make KIND NAME NAMESPACE
make() {
	local words=("$1")
	case $1 in
	macvlan) words+=(mode bridge) ;;
	ipvlan) words+=(mode l2) ;;
	vlan) words+=(id 5) ;;
	esac
	at a ip link add link "$NDEV_A" name "$2" netns "$3" type "${words[@]}" || skip "no $1 on this kernel"
}

# only_of DEVICE ADDRESS: DEVICE has the GID, and no other device has it
only_of() {
	local dev
	has_gid a "$1" "$(gid_text "$2")" || fail "$1 has no GID $2"
	for dev in "$DEV_A" "$DEV_B" rover_pod; do
		[[ $dev == "$1" ]] || lacks_gid a "$dev" "$(gid_text "$2")" || fail "$dev has the GID $2, too: $(gids a "$dev")"
	done
}

# modes v1|v2: the default RoCE version of rdma_cm, on all devices
modes() {
	local mode="RoCE v2"
	[[ $1 == v2 ]] || mode="IB/RoCE v1"
	default_mode "$mode"
	(DEV_A=rover_pod && default_mode "$mode")
}

# As at() and run_at(), with the pod as end b and the other end as end a, or with them exchanged
pod_is_server() {
	at() { if [[ $1 == b ]]; then in_pod "${@:2}"; else on -t $((limit * slow)) b "${@:2}"; fi; }
	run_at() { if [[ $1 == b ]]; then exec timeout $((limit * slow)) ip netns exec pod "${@:2}"; else exec on -t $((limit * slow)) b "${@:2}"; fi; }
}
pod_is_client() {
	at() { if [[ $1 == a ]]; then in_pod "${@:2}"; else on -t $((limit * slow)) b "${@:2}"; fi; }
	run_at() { if [[ $1 == a ]]; then exec timeout $((limit * slow)) ip netns exec pod "${@:2}"; else exec on -t $((limit * slow)) b "${@:2}"; fi; }
}

# met VERSION: rping in both directions, over this RoCE version alone
met() {
	at_end default_mode "RoCE v2"
	modes "$1"
	only "$1" both_ways
}
# Not in a condition: a failing command is to end it.
both_ways() {
	(pod_is_server; rping $pod 5 1000)
	(pod_is_client; rping "$ADDR_B" 5 1000)
}

pods() {
	local index
	at_end pod_down
	pod_up "$1"
	only_of rover_pod $pod
	index=$(gid_like a "$(gid_text $pod)" rover_pod)
	(pod_is_client; pingpong_on ibv_rc_pingpong rover_pod "$index" "$DEV_B" "$(gid_index b "$ADDR_B")" -c -n 20)
	met v2
	# An ipvlan interface gets IP packets only.
	if [[ $1 == macvlan ]]; then met v1; else no_v1; fi
	# The device on the lower netdev still works.
	traffic
}

no_v1() { [[ $(gids a rover_pod) != *v1* ]] || fail "GIDs of RoCE v1, which cannot work: $(gids a rover_pod)"; }

# A VLAN in another namespace is no GID. Back in the first namespace it is one again.
away_and_back() {
	at_end at a ip link del pod0
	at_end ip netns del pod
	ip netns add pod
	make vlan pod0 pod
	in_pod ip addr add $inside/24 dev pod0
	in_pod ip link set pod0 up
	sleep 0.5
	lacks_gid a "$DEV_A" "$(gid_text $inside)" || fail "it is a GID, but useless"
	ip -n pod link set pod0 netns a
	at a ip addr add $inside/24 dev pod0
	at a ip link set pod0 up
	within 10 has_gid a "$DEV_A" "$(gid_text $inside)"
	at a ip link set pod0 netns pod
	within 10 lacks_gid a "$DEV_A" "$(gid_text $inside)"
}

# The error code does not tell the reason: the log does, and what to do.
vlan_refused() {
	at_end at a ip link del pod0
	at_end pod_down
	ip netns add pod
	make vlan pod0 pod
	dmesg -C
	refused "not supported" in_pod rdma link add rover_pod type rover netdev pod0
	dmesg | grep "pod0 is a VLAN: add the link on a macvlan interface on pod0" || fail "the log says: $(dmesg)"
	ip -n pod link set pod0 netns a
	dmesg -C
	refused "not supported" at a rdma link add rover_pod type rover netdev pod0
	dmesg | grep "pod0 is a VLAN: add the link on $NDEV_A, which then has the GIDs of pod0" || fail "the log says: $(dmesg)"
}

# Both devices have the GID of the upper interface; rdma_cm has one listener.
beside() {
	local version
	at_end beside_down
	make macvlan pod0 a
	at a sysctl -qw net.ipv4.conf.all.arp_ignore=1
	at a ip addr add $inside/24 dev pod0
	at a ip link set pod0 up
	at b ip addr add $outside/24 dev "$NDEV_B"
	at a rdma link add rover_pod type rover netdev pod0
	within 10 has_gid a rover_pod "$(gid_text $inside)"
	within 10 has_gid a "$DEV_A" "$(gid_text $inside)"
	within 10 has_gid b "$DEV_B" "$(gid_text $outside)"
	at_end default_mode "RoCE v2"
	for version in v2 v1; do
		modes $version
		(exchanged; rping $inside 5 1000)
		rping $outside 5 1000
	done
}
# Server at a, client at b.
exchanged() {
	at() { on -t $((limit * slow)) "$(other "$1")" "${@:2}"; }
	run_at() { exec on -t $((limit * slow)) "$(other "$1")" "${@:2}"; }
}
beside_down() {
	at a ip link del pod0
	at a sysctl -qw net.ipv4.conf.all.arp_ignore=0
	at b ip addr del $outside/24 dev "$NDEV_B"
	within 10 gone a rover_pod
}

if ! single; then
	try "both ends on one machine" skip "once is enough"
	finish
fi
know_gids
for kind in macvlan ipvlan; do
	try "rdma_cm uses the device of an $kind interface in another namespace" pods $kind
done
try "the GID of a VLAN is removed when it moves to another namespace" away_and_back
try "rdma link add refuses a VLAN, and the log names the right interface" vlan_refused
try "rdma_cm reaches a macvlan in the namespace of the interface below" beside
try "data transfer works afterwards" traffic
try "no RDMA resources are left" let_go 10
finish
