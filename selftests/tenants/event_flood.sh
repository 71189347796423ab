#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# event_flood: a program that arms a completion queue all the time and never reads its completion
# channel takes little kernel memory, and a program that reads its events gets them all.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

# Slab memory in KiB.
slab() { awk '/^Slab:/ { print $2 }' /proc/meminfo; }

# The flood itself says how many events it has left unread; this measures what they take.
memory() {
	local before delayed
	delayed=$(counter a cq_events_delayed)
	before=$(slab)
	pair_quietly event_flood hold
	before=$(($(</tmp/slab) - before))
	echo "note: $before KiB more slab memory"
	((before < 16384)) || fail "$before KiB"
	(($(counter a cq_events_delayed) > delayed)) || fail "no event was delayed"
}

limit=200
pair_cases event_flood unread later shared
if single; then
	try "events of a channel that is never read take less than 16 MiB" memory
fi
finish
