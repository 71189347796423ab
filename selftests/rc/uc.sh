#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# uc: unreliable connections. Data arrives; a message with a lost packet is lost whole and counted,
# and delays no other message.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=120

# Each reason for which a message is dropped is counted.
drops() {
	local name before=()
	for name in out_of_buffer rx_drop_receive_short resp_remote_access_errors; do before+=("$(counter b $name)"); done
	pair_quietly uc_data errors
	for name in out_of_buffer:1 rx_drop_receive_short:1 resp_remote_access_errors:3; do
		counter b "${name%:*}" >/dev/null
		((counted - before[0] >= ${name#*:})) || fail "${name%:*}: ${before[0]} before, $counted after"
		before=("${before[@]:1}")
	done
}

gaps() {
	local before
	ends=a bad_network loss 10%
	before=$(counter b out_of_sequence)
	pair_quietly uc_data lossy
	counter b out_of_sequence >/dev/null
	((counted > before)) || fail "no gap was counted"
}

pair_cases uc_data sizes errors
try "dropped messages are counted by reason" drops
try "a lossy network: UC delivers whole messages, and gaps are counted" gaps
n=200
! quick || n=30
if ! once; then
	try "ibv_uc_pingpong" pingpong_by ibv_uc_pingpong -n $n
	try "ibv_uc_pingpong of 64 KiB with events" pingpong_by ibv_uc_pingpong -n 20 -s 65536 -e
	family=6 try "ibv_uc_pingpong over IPv6" pingpong_by ibv_uc_pingpong -n $n -s 5000
	try "ib_write_bw -c UC" perftest write_bw -c UC -n $n -s 4096
	try "ib_write_lat -c UC" perftest write_lat -c UC -n $n
	try "ib_send_lat -c UC" perftest send_lat -c UC -n $n -s 5000
	try "ib_send_bw -c UC" perftest send_bw -c UC -n $n -s 1024
fi
try "no RDMA resources are left" let_go 10
finish
