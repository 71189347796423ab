#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# inflight: the memory of packets in a queue (netem) is given back: its key is invalidated, or its
# queue pair ends. The peer never receives what the owner writes to that memory afterwards; packets
# of other memory arrive.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=100
export HELD=$((200 * (slow > 1 ? 6 : 1)))

# RoCE packets of END are delayed; other packets are not, since the two programs talk over TCP.
delay_roce() {
	qdisc "$1" replace handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	at "$1" tc qdisc add dev "$(ndev_of "$1")" parent 1:2 netem limit 20000 delay ${HELD}ms
	at "$1" tc filter add dev "$(ndev_of "$1")" parent 1: protocol ip u32 match ip dport 4791 0xffff flowid 1:2
}

lists() { at "$1" ethtool -K "$(ndev_of "$1")" tx-gso-list "$2" >/dev/null 2>&1; }

# held END GROUP...: run the cases while the packets of END are delayed
held() {
	delay_roce "$1"
	pair_cases inflight "${@:2}"
	qdisc "$1" del
}

# On one machine each of these packets is dropped.
dropped() { ((after > before)) || fail "no packet was dropped for that ($before before, $after now)"; }

modprobe sch_netem 2>/dev/null && at b modprobe sch_netem 2>/dev/null || { try "packets are delayed by netem" skip "no sch_netem on this kernel"; finish; }
before=$(count rx_drop_revoked)
if once; then
	held b some_reads again
	held a some_writes
else
	held b read again
	held a write
fi
after=$(count rx_drop_revoked)
! single || try "packets with revoked memory are dropped and counted by the receiver" dropped
if single && at a ethtool -k "$NDEV_A" | grep -q 'tx-gso-list: o'; then
	echo "# one by one"
	for end in a b; do lists $end off; done
	held b some_reads
	held a some_writes
	for end in a b; do lists $end on; done
	echo "# taken apart late, behind the queue"
	before=$(count tx_drop_revoked)
	SPLIT="ethtool -K $NDEV_B tx-gso-list off" WHOLE="ethtool -K $NDEV_B tx-gso-list on" held b some_reads
	SPLIT="ethtool -K $NDEV_A tx-gso-list off" WHOLE="ethtool -K $NDEV_A tx-gso-list on" held a some_writes
	after=$(count tx_drop_revoked)
	try "packets with revoked memory are dropped where a train is split" dropped
fi
finish
