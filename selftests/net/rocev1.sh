#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rocev1: RoCE v1. Each address has a GID of both versions, operations over v1 GIDs work as over v2,
# with an EtherType of its own, and malformed frames are dropped and counted by reason.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"
# shellcheck source=selftests/lib/cm.sh
. "$here/lib/cm.sh"
# shellcheck source=selftests/lib/version.sh
. "$here/lib/version.sh"

limit=120

# Both versions have the same GIDs.
both_types() {
	local all
	all=$(gids "$1")
	echo "$all"
	(($(grep -c 'IB/RoCE v1$' <<<"$all") >= 3)) || fail "not three GIDs of v1"
	[[ $(grep 'IB/RoCE v1$' <<<"$all" | cut -d ' ' -f 2 | sort) == "$(grep ' RoCE v2$' <<<"$all" | cut -d ' ' -f 2 | sort)" ]] ||
		fail "v1 and v2 have not the same GIDs"
}

# Each drop is counted by its reason, exactly. A comma joins counters that count together.
drops() {
	local reason names before=()
	local reasons=("rx_drop_short,rx_drop_length:6" rx_drop_grh:2 rx_icrc_encapsulated:1 rx_drop_wrong_peer:6 rx_drop_opcode:3
		rx_drop_unknown_qp:1 rx_drop_no_group:1 rx_drop_wrong_address:1 np_ecn_marked_roce_packets:0 rp_cnp_handled:0)
	for reason in "${reasons[@]}"; do
		IFS=, read -ra names <<<"${reason%:*}"
		before+=("$(counter b "${names[@]}")")
	done
	pair_quietly rocev1_frames
	for reason in "${reasons[@]}"; do
		IFS=, read -ra names <<<"${reason%:*}"
		counter b "${names[@]}" >/dev/null
		((counted - before[0] == ${reason#*:})) || fail "${reason%:*}: ${before[0]} before, $counted after"
		before=("${before[@]:1}")
	done
}

# A multicast group of RoCE v1 needs no IP on the interface. The addresses return with the interface.
without_ipv6() {
	local mac=33:33:00:4d:01:07
	at_end at b ip link delete v1_x
	at b ip link add v1_x mtu 1280 type veth peer name v1_y mtu 1280
	at b ip addr add 10.89.0.1/24 dev v1_x
	at b ip link set v1_y up
	at b ip link set v1_x mtu 1000 up
	at b rdma link add v1_rover type rover netdev v1_x
	[[ $(at b ip -6 addr show dev v1_x) == "" ]] || fail "it has IPv6"
	holding=v1_rover hold_objects b --qps 2 --mcast ff15::4d:107
	[[ $(at b ip maddr show dev v1_x) == *"$mac"* ]] || fail "not joined: $(at b ip maddr show dev v1_x)"
	release
	[[ $(at b ip maddr show dev v1_x) != *"$mac"* ]] || fail "still joined"
}

know_gids
ROCE=v1 know_gids
try "each address has a GID of RoCE v1 and of RoCE v2" both_types a
try "packets from v2 GIDs are UDP only" only v2 pingpong -n 5 -s 2000
try "packets from v1 GIDs have EtherType 0x8915 only" only v1 pingpong -n 5 -s 2000
export ROCE=v1
n=100
! quick || n=8
pair_cases rc_data brief
if ! quick; then pair_cases rc_data short; fi
# In full: UC has no window and sends single packets here, and must not overrun the backlog of the kernel.
if once; then pair_cases uc_data sizes; else QUICK=0 pair_cases uc_data sizes; fi
pair_cases xrc_data atomics
pair_cases ud_data brief
pair_cases mcast data
if ! quick; then
	pair_cases xrc_data sizes
	pair_cases ud_data sizes
	pair_cases mcast member
	pair_cases rocev1_frames
fi
try "dropped frames are counted by reason" drops
if single && ! once; then
	try "dropped frames are traced with the reason" drops_traced rx_drop_{short,length,grh,wrong_peer} -- pair_quietly rocev1_frames wrong
fi
try "a multicast group is joined on an interface without IPv6" without_ipv6
# Retransmission and rdma_cm do not depend on the version, and are slow on the debug kernel.
slowly || try "RC transfers data with 1 % loss" lossy 1% pair_quietly rc_data brief much
slowly || try "rdma_cm: rping over IPv4" managed rping "$ADDR_B" $n 4000
once || try "rdma_cm: datagrams over IPv6" managed example udaddy "$ADDR6_B" -c 4 -C 10 -S 500
if ! quick; then
	try "rdma_cm: a multicast group over IPv4" managed mckey 239.77.2.1 "$ADDR_A" "$ADDR_B"
	try "rdma_cm: a multicast group over IPv6" managed mckey ff15::77 "$ADDR6_A" "$ADDR6_B"
	try "rdma_cm: rping over IPv6" managed rping "$ADDR6_B" $n 60000
	try "rdma_cm: eight connections" managed example ucmatose "$ADDR_B" -c 8 -C 10 -S 500
	try "ibv_ud_pingpong" pingpong_by ibv_ud_pingpong -n $n -s 1000
fi
try "no RDMA resources are left" let_go 10
finish
