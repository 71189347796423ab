#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# packet_memory: the packets of a program take little of the host's memory, however many queue pairs
# it has.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

# Between two ends on this host packets wait in the queue of the shortcut.
waited() {
	(($(counter a tx_packets) > 100000)) || skip "this host is too slow to fill the queue"
	(($(counter a tx_shortcut_full) > full)) || fail "the queue was never full"
}

if ((slow > 1)); then
	try "packets of many queue pairs" skip "the debug kernel is too slow to fill the queue"
	finish
fi
limit=200 full=$(counter a tx_shortcut_full)
pair_cases packet_memory
if single; then try "queue pairs wait while the queue of the shortcut is full" waited; fi
finish
