#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# stream: whoever posts one small message after the other need not enter the kernel for each, whoever waits for each does,
# and no message is forgotten when the kernel ceases to look.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/kmod.sh
. "$here/lib/kmod.sh"

# rings MESSAGES TOOL [ARG...]: percentage of messages from a for which the doorbell was rung
rings() {
	local before
	before=$(counter a doorbells)
	perftest "$2" -s "${size:-8}" -n "$1" "${@:3}"
	percent=$((($(counter a doorbells) - before) * 100 / $1))
	echo "note: the doorbell was rung for $percent % of $1 messages"
}

seldom() {
	rings $many "$@"
	((percent <= 50)) || fail "that is nearly each"
}

# Few and long, they are worth a call each, and a timer would be in the way of what they cause.
long() {
	size=65536 rings 300 "$@"
	((percent >= 90)) || fail "somebody looks after them who need not"
}

# share TOOL...: where memory carries them, messages that come together have few socket buffers
share() {
	local before
	before=$(counter b rx_icrc_unnecessary)
	perftest "$1" -s 8 -n $many "${@:2}"
	before=$(($(counter b rx_icrc_unnecessary) - before))
	echo "note: $before of $many messages have shared one"
	((2 * before >= many)) || fail "that is not many"
}

# together TOOL: where memory carries them, many queue pairs, each of which has four messages under way, have trains of more
together() {
	local trains qps=64 n=200
	trains=$(counter a tx_trains)
	perftest "$1" -q $qps -t 4 -s 8 -n $n
	trains=$(($(counter a tx_trains) - trains))
	echo "note: $((qps * n)) messages in $trains trains"
	((8 * trains <= qps * n)) || fail "that is hardly more than four in each"
}

# With one processor each message takes the other end's slice of time.
each() {
	rings 300 "$@"
	((percent >= 90)) || fail "some of them were waited for, and nobody knew"
}

# What all of them send waits for all of them, but not as long as a timeout.
crowd() {
	local qps=1024 before
	! once || qps=64
	before=$(counter a local_ack_timeout_err)
	perftest write_bw -q $qps -t 8 -n 20 -s 8
	before=$(($(counter a local_ack_timeout_err) - before))
	((before <= qps / 10)) || fail "$before timeouts, and nothing is lost here"
}

# Programs that send and receive, and read many completions before they post a receive for each: refused is only what comes before they are at it.
both_ways() {
	local refused
	refused=$(counter a rnr_nak_retry_err)
	perftest send_bw -b -n 20000 -s 8
	refused=$(($(counter a rnr_nak_retry_err) - refused))
	((refused <= 2000)) || fail "of 20000 SENDs $refused were refused"
}

# of_kernel GROUP: a user in the kernel that talks to itself: how many of its messages had no socket buffer of their own
of_kernel() {
	local before
	before=$(counter a rx_icrc_unnecessary)
	run_module only="$1"
	percent=$((($(counter a rx_icrc_unnecessary) - before) * 100 / 4096))
	echo "# $percent % of them shared a socket buffer"
}
go_together() { ((percent >= 75)) || fail "nearly each went alone"; }
go_alone() { ((percent <= 10)) || fail "some have waited for others"; }

# Fewer are over before the kernel's notice of them weighs little.
many=5000
limit=100
# How often it is noticed is for kernels that are not in the way themselves.
if ! slowly; then
	try "WRITEs that nobody waits for" seldom write_bw
	try "SENDs that nobody waits for" seldom send_bw
	try "READs that nobody waits for" seldom read_bw
	try "long READs that nobody waits for" long read_bw
	try "datagrams that nobody waits for" seldom send_bw -c UD
	if single; then
		try "WRITEs of many queue pairs in one train" together write_bw
		try "WRITEs in one socket buffer" share write_bw
		try "datagrams in one socket buffer" share send_bw -c UD
		try "SENDs both ways at once" both_ways
	fi
	# One processor posts, and the other looks after what was posted.
	if single; then
		of_kernel crowd
		try "many that a kernel user has in hand go together" go_together
		of_kernel alone
		try "one that it waits for goes at once" go_alone
	fi
	try "WRITEs that are waited for" each write_lat
	try "many queue pairs, one after the other" crowd
fi
if ! once; then
	try "SENDs that are waited for" each send_lat
	try "READs that are waited for" each read_lat
fi
pair_cases rc_flow streams
finish
