#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# errors: invalid requests on reliable connections get the right error, and no other effect. States,
# retries, overflow, limits, and rings that a hostile program overwrites.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

# late_answers "QDISC..." PROGRAM...: ACKs overtake READ responses: the last packet of the peer may arrive first
late_answers() {
	local how
	read -ra how <<<"$1"
	shift
	at b modprobe -a sch_prio "sch_${how[0]}" cls_u32 || skip "no way to delay some packets on this kernel"
	at_end at b tc qdisc del dev "$NDEV_B" root
	at b tc qdisc replace dev "$NDEV_B" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	at b tc qdisc add dev "$NDEV_B" parent 1:2 "${how[@]}"
	# RC RDMA READ response only, in the first byte behind IPv4 and UDP
	at b tc filter add dev "$NDEV_B" parent 1: protocol ip u32 match ip dport 4791 0xffff match u8 0x10 0xff at 28 flowid 1:2
	pair_quietly "$@"
	at b tc -s qdisc show dev "$NDEV_B" | tee /tmp/late
	! grep -A 1 "${how[0]}" /tmp/late | grep -w 'Sent 0 bytes' || fail "nothing was late"
}

# READ responses of b are delayed until its device is full. A response to a duplicate that cannot be
# sent is left out, and counted.
late_duplicates() {
	local before
	before=$(counter b rx_drop_unanswered)
	ANSWERS="tc qdisc change dev $NDEV_B parent 1:2 tbf limit 100000" \
		late_answers "tbf rate 1gbit burst 100000 limit 100000" rc_duplicate_read
	(($(counter b rx_drop_unanswered) >= before + 2)) || fail "no duplicate had to wait"
}

never_again() {
	local again
	again=$(counter a tx_retransmitted_packets)
	pair_quietly rc_retry none
	again=$(($(counter a tx_retransmitted_packets) - again))
	((!again)) || fail "$again packets were sent again"
}

limit=180
pair_cases rc_error remote others state
pair_cases rc_state
pair_cases rc_limit
try "retry_cnt 0: no packet is retransmitted" never_again
pair_cases rc_retry last
pair_cases ring_abuse
pair_cases doorbell_destroy
once || try "remote access errors while a READ response is late" late_answers "netem delay 20ms" rc_error remote
once || try "duplicate READ requests are delayed" late_duplicates
try "data transfer works afterwards" pair_quietly rc_data brief
finish
