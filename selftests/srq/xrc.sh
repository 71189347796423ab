#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# xrc: extended reliable connections deliver to the shared receive queue that each request names,
# and refuse invalid ones. Programs share targets, XRC domains outlive the program that made them,
# and forged packets or requests affect only their sender.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=120

# counted END COUNTER: it has grown since $before
counted() {
	counter "$1" "$2" >/dev/null
	((counted > before)) || fail "$2 at $1: $before before, $counted after"
}

# ibv_xsrq_pingpong: one server, several clients, which print nothing on success.
xsrq() {
	local clients=$1 gid_a gid_b server client pids=() i
	shift
	gid_a=$(gid_index a "$ADDR_A")
	gid_b=$(gid_index b "$ADDR_B")
	next_port
	run_at b ibv_xsrq_pingpong -p "$port" -d "$DEV_B" -g "$gid_b" -c "$clients" "$@" >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server || fail "$(</tmp/said.b)"
	for ((i = 0; i < clients; i++)); do
		run_at a ibv_xsrq_pingpong -p "$port" -d "$DEV_A" -g "$gid_a" "$@" "$ADDR_B" >/tmp/said.a.$i 2>&1 </dev/null &
		pids+=($!)
	done
	for client in "${pids[@]}" $server; do wait "$client" || fail "$(cat /tmp/said.a.* /tmp/said.b)"; done
	! grep -iE "couldn't|failed|unable|error" /tmp/said.a.* /tmp/said.b
}

# rdma resource show of targets and queues in use
shown() {
	local server client text
	next_port
	run_at b ib_send_bw -F -c XRC -p "$port" -d "$DEV_B" -D 30 >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server
	run_at a ib_send_bw -F -c XRC -p "$port" -d "$DEV_A" -D 30 "$ADDR_B" >/tmp/said.a 2>&1 </dev/null &
	client=$!
	within 20 targeted
	text=$(at b rdma -dd resource show qp && at b rdma -dd resource show srq)
	echo "$text"
	grep -qE "link $DEV_B/.* type XRC_TGT state RT[RS]" <<<"$text" || fail "there is no target"
	grep -qE "dev $DEV_B .* type XRC .*cqn [0-9]+ .*comm ib_send_bw" <<<"$text" || fail "there is no queue of XRC"
	# Older kernels do not show driver details.
	[[ $SERIES == 6.1 ]] || grep -qE 'drv_xrc_srqn 0x' <<<"$text" || fail "it has no number"
	kill $client $server
	let_go 20
}
targeted() { [[ $(at b rdma resource show qp) =~ "link $DEV_B/"[^$'\n']*" type XRC_TGT state RT" ]]; }

n=200
! quick || n=20
groups=()
! once || groups=(mesh atomics open)
pair_cases xrc_data "${groups[@]}"
before=$(counter b resp_xrceth_errors)
! once || groups=(queues verbs)
pair_cases xrc_rules "${groups[@]}"
once || try "requests for unknown XRC queues are counted" counted b resp_xrceth_errors
before=$(counter a rx_drop_opcode)
pair_cases xrc_abuse
try "requests to an initiator are dropped and counted" counted a rx_drop_opcode
if ! once; then
	try "ibv_xsrq_pingpong, two clients" xsrq 2 -n $n
	try "rdma resource show of XRC targets and queues" shown
fi
if ! quick; then
	try "XRC transfers data on a network that loses packets" lossy "2% duplicate 1% delay 200us 100us" pair_quietly xrc_data mesh atomics
	try "ibv_xsrq_pingpong with events" xsrq 1 -e -n $n -s 2048
	try "ib_send_lat -c XRC" perftest send_lat -c XRC -n $n
	try "ib_send_bw -c XRC --use-srq" perftest send_bw -c XRC --use-srq -n $n -s 4096
	try "ib_send_bw -c XRC -b -q 4" perftest send_bw -c XRC -b -q 4 -n $n -s 4096
	try "ib_write_bw -c XRC -q 4" perftest write_bw -c XRC -q 4 -n $n -s 65536
	try "ib_write_lat -c XRC" perftest write_lat -c XRC -n $n
	try "ib_read_bw -c XRC" perftest read_bw -c XRC -n $n -s 65536
	try "ib_atomic_bw -c XRC" perftest atomic_bw -c XRC -n $n
fi
try "no RDMA resources are left" let_go 10
finish
