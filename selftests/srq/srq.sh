#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srq: shared receive queues take the data of many queue pairs, raise SRQ_LIMIT_REACHED and
# QP_LAST_WQE_REACHED, can be resized, and are shown by rdma resource. A program that overwrites one
# affects only itself.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=120

# counted COUNTER PROGRAM...: messages without a receive are counted
counted() {
	local before
	before=$(counter b "$1")
	pair_quietly "${@:2}"
	counter b "$1" >/dev/null
	((counted > before)) || fail "$1: $before before, $counted after"
}

# rdma resource show of a queue in use
shown() {
	local server client text
	next_port
	run_at b ib_send_bw -F --use-srq -q 2 -p "$port" -d "$DEV_B" -D 30 >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server
	run_at a ib_send_bw -F -q 2 -p "$port" -d "$DEV_A" -D 30 "$ADDR_B" >/tmp/said.a 2>&1 </dev/null &
	client=$!
	within 20 has_taken
	text=$(at b rdma -dd resource show srq dev "$DEV_B")
	echo "$text"
	grep -qE 'type BASIC lqpn .*pdn [0-9]+ .*comm ib_send_bw' <<<"$text" || fail "not what it should be"
	kill $client $server
	let_go 20
}
has_taken() {
	local text
	text=$(at b rdma -dd resource show srq dev "$DEV_B")
	# Older kernels do not show driver details.
	if [[ $SERIES == 6.1 ]]; then [[ $text == *srqn* ]]; else [[ $text =~ drv_taken\ [1-9] ]]; fi
}

n=200
! quick || n=30
pair_cases srq_data
pair_cases srq_rules
pair_cases srq_abuse
if ! once; then
	try "RNR NAKs of an empty shared receive queue are counted" counted rnr_nak_sent srq_data data
	try "datagrams dropped for a short shared receive are counted" counted rx_drop_receive_short srq_rules rules
	try "ibv_srq_pingpong" pingpong_by ibv_srq_pingpong -q 4 -n $n -s 2048
	try "ibv_srq_pingpong with events" pingpong_by ibv_srq_pingpong -e -n $n
	try "ib_send_bw --use-srq -q 4" perftest send_bw --use-srq -q 4 -n $n -s 4096
	try "ib_send_bw --use-srq of datagrams" perftest send_bw --use-srq -c UD -n $n -s 1024
	try "rdma resource show srq" shown
fi
try "no RDMA resources are left" let_go 10
finish
