#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# doorbell: a stream of small messages needs few doorbells, a ping-pong needs one for each message,
# and every message is sent when the kernel stops polling a ring.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
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
	((percent <= 50)) || fail "too many doorbells"
}

# Few long requests are worth a system call each, and a polling timer would delay their data.
long() {
	size=65536 rings 300 "$@"
	((percent >= 90)) || fail "the rings are polled"
}

# share TOOL...: on one machine, messages posted together share an skb (a small GSO skb)
share() {
	local before
	before=$(counter b rx_icrc_unnecessary)
	perftest "$1" -s 8 -n $many "${@:2}"
	before=$(($(counter b rx_icrc_unnecessary) - before))
	echo "note: $before of $many messages shared an skb"
	((2 * before >= many)) || fail "too few share one"
}

# together TOOL: on one machine, many queue pairs with four messages in flight each share trains
together() {
	local trains qps=64 n=200
	trains=$(counter a tx_trains)
	perftest "$1" -q $qps -t 4 -s 8 -n $n
	trains=$(($(counter a tx_trains) - trains))
	echo "note: $((qps * n)) messages in $trains trains"
	((8 * trains <= qps * n)) || fail "fewer than eight messages in a train"
}

# With one processor each message needs a time slice of the other end.
each() {
	rings 300 "$@"
	((percent >= 90)) || fail "some messages were left to the poller"
}

# A message may wait until those of all other queue pairs are sent, but not as long as a retransmission timeout.
crowd() {
	local qps=1024 before
	! once || qps=64
	before=$(counter a local_ack_timeout_err)
	perftest write_bw -q $qps -t 8 -n 20 -s 8
	before=$(($(counter a local_ack_timeout_err) - before))
	((before <= qps / 10)) || fail "$before timeouts though nothing is lost"
}

# The programs read many completions before they post a receive for each. Only SENDs that arrive in between get an RNR NAK.
both_ways() {
	local refused
	refused=$(counter a rnr_nak_retry_err)
	perftest send_bw -b -n 20000 -s 8
	refused=$(($(counter a rnr_nak_retry_err) - refused))
	((refused <= 2000)) || fail "of 20000 SENDs $refused were refused"
}

# of_kernel GROUP: this group of rover_ktest; $percent of its messages share an skb
of_kernel() {
	local before
	before=$(counter a rx_icrc_unnecessary)
	run_module only="$1"
	percent=$((($(counter a rx_icrc_unnecessary) - before) * 100 / 4096))
	echo "# $percent % of the messages shared an skb"
}
go_together() { ((percent >= 75)) || fail "too few share one"; }
go_alone() { ((percent <= 10)) || fail "some messages waited for others"; }

# With fewer messages the first doorbells would count too much.
many=5000
limit=100
# Doorbells are counted on release kernels only: the debug kernel is too slow.
if ! slowly; then
	try "most WRITEs of a stream need no doorbell" seldom write_bw
	try "most SENDs of a stream need no doorbell" seldom send_bw
	try "most READs of a stream need no doorbell" seldom read_bw
	try "long READs ring a doorbell each" long read_bw
	try "most datagrams of a stream need no doorbell" seldom send_bw -c UD
	if single; then
		try "WRITEs of many queue pairs share trains" together write_bw
		try "small WRITEs of a stream share socket buffers" share write_bw
		try "small datagrams of a stream share socket buffers" share send_bw -c UD
		try "bidirectional SENDs cause few RNR NAKs" both_ways
	fi
	# One processor posts, the other one polls the ring.
	if single; then
		of_kernel stream
		try "many requests posted by a kernel user share socket buffers" go_together
		of_kernel qd1
		try "a single request of a kernel user is sent at once" go_alone
	fi
	try "each WRITE of a ping-pong rings a doorbell" each write_lat
	try "streams of many queue pairs cause no timeouts" crowd
fi
if ! once; then
	try "each SEND of a ping-pong rings a doorbell" each send_lat
	try "each READ of a ping-pong rings a doorbell" each read_lat
fi
pair_cases rc_queues streams
finish
