#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# inflight: packets wait in a queue (netem) when the memory they point to is given back to its owner: its key is closed, or its queue
# pair ends. The peer never gets what the owner writes there afterwards, and of other memory it gets all.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=100
export HELD=$((200 * (slow > 1 ? 6 : 1)))

# What END sends of RoCE is held back; the two programs meet by TCP.
hold() {
	qdisc "$1" replace handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	at "$1" tc qdisc add dev "$(ndev_of "$1")" parent 1:2 netem limit 20000 delay ${HELD}ms
	at "$1" tc filter add dev "$(ndev_of "$1")" parent 1: protocol ip u32 match ip dport 4791 0xffff flowid 1:2
}

lists() { at "$1" ethtool -K "$(ndev_of "$1")" tx-gso-list "$2" >/dev/null 2>&1; }

# held END GROUP...: the cases, while what END sends is held back
held() {
	hold "$1"
	pair_cases inflight "${@:2}"
	qdisc "$1" del
}

# Where memory carries the packets each of these drops them, and nothing else does.
dropped() { ((after > before)) || fail "no packet was dropped for that ($before before, $after now)"; }

modprobe sch_netem 2>/dev/null && at b modprobe sch_netem 2>/dev/null || { try "netem" skip "no sch_netem on this kernel"; finish; }
before=$(count rx_drop_revoked)
if once; then
	held b some_reads again
	held a some_writes
else
	held b read again
	held a write
fi
after=$(count rx_drop_revoked)
! single || try "receivers have dropped and counted them" dropped
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
	try "no ICRC was made for them" dropped
fi
finish
