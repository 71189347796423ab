#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ud: unreliable datagrams carry data and the address of the sender. Invalid datagrams are dropped
# and counted, or end in the right error.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=120

# Each reason for which a datagram is dropped has a counter of its own.
drops() {
	local name before=()
	for name in rx_drop_qkey out_of_buffer rx_drop_receive_short rx_drop_opcode; do before+=("$(counter b $name)"); done
	pair_quietly ud_error receiver
	for name in rx_drop_qkey:2 out_of_buffer:3 rx_drop_receive_short:1 rx_drop_opcode:2; do
		counter b "${name%:*}" >/dev/null
		((counted - before[0] >= ${name#*:})) || fail "${name%:*}: ${before[0]} before, $counted after"
		before=("${before[@]:1}")
	done
}

# The route to the address is one of broadcasts, which no socket of UDP may send unasked either.
broadcast() {
	local before
	before=$(counter a tx_drop_no_route)
	pair_quietly ud_error broadcast
	before=$(($(counter a tx_drop_no_route) - before))
	((before == 1)) || fail "tx_drop_no_route counts $before of 1"
}

# ibv_ud_pingpong: each datagram has to come back.
ud_pingpong() { pingpong_by ibv_ud_pingpong "$@"; }

n=500
! quick || n=50
pair_cases ud_data sizes route many
pair_cases ud_error
try "dropped datagrams are counted by reason" drops
try "a datagram to a broadcast address is dropped and counted" broadcast
if single; then
	try "dropped datagrams are traced with the reason" drops_traced {rx_drop_qkey,out_of_buffer,rx_drop_receive_short}' qpn=.* opcode=0x64' -- \
		pair_quietly ud_error receiver
fi
if ! once; then
	try "ibv_ud_pingpong" ud_pingpong -n $n -s 2048
	family=6 try "ibv_ud_pingpong over IPv6" ud_pingpong -n $n -s 1000
	try "ibv_ud_pingpong with events" ud_pingpong -n $n -s 100 -e
	try "ib_send_lat of datagrams" perftest send_lat -c UD -n $n -s 512
	try "ib_send_bw of datagrams" perftest send_bw -c UD -n $n -s 1024
fi
try "no RDMA resources are left" let_go 10
finish
