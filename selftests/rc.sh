#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rc: reliable connections carry their data: every operation, size, path MTU, shape and mode, checked byte for byte; and
# their queues do what they promise.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

# What has no receive is refused by itself, and not with a window of others behind it that are sent twice.
spared() {
	local again refused
	again=$(counter a tx_retransmitted_packets)
	refused=$(counter a rnr_nak_retry_err)
	pair_quietly rc_credit few
	again=$(($(counter a tx_retransmitted_packets) - again))
	refused=$(($(counter a rnr_nak_retry_err) - refused))
	echo "note: $refused refused, $again sent again"
	# But for what two processors bring in another order, now and then.
	((2 * again <= 3 * refused)) || fail "more is sent again than was refused"
}

# For the receive it needs at its end none of the packets before that has to ask.
at_once() {
	local acks
	acks=$(counter b tx_acks)
	pair_quietly rc_credit long
	acks=$(($(counter b tx_acks) - acks))
	echo "note: $acks acknowledges"
	((acks < 400)) || fail "nearly each packet of a thousand was acknowledged"
}

limit=250
# Up to 8 MiB at every path MTU, or less: small packets are slow to emulate.
ops=ops
! quick || ops=short
pair_cases rc_data $ops extended invalidate sgl inline atomic mixture
pair_cases rc_flow
pair_cases rc_order
pair_cases rc_credit wait fewer
try "receives are not overrun" spared
try "a long WRITE does not wait for its receive" at_once
pair_cases rc_event
pair_cases cq_rules
pair_cases moderate
pair_cases rc_memory
pair_cases rc_word
finish
