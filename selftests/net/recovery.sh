#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# recovery: one chosen packet is lost, doubled, held or marked. The test judges NAKs, the packets
# sent again, where they begin, and the time, as Lumina (SIGCOMM 2023) does for hardware.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/dropper.sh
. "$here/lib/dropper.sh"

# A rule is applied to the packet that it names, and records show that packet.
counted() {
	dropper_clear
	dropper b drop write_middle 3 1
	dropper b double write_last 0 1
	perftest write_bw -s 65536 -n 20
	dropper_rules b
	(($(dropper_done b) >= 20)) || fail "$(dropper_done b) packets"
	(($(dropper_seen b write_middle 2))) || fail "nothing was sent again"
	[[ $(dropper_rules b) == *"trains 0 "* ]] || fail "there are trains"
}

if ! dropper_load; then
	if [[ ${own_topology:-} ]]; then
		ktap_line "ok - the module rover_dropper is loaded # SKIP it is not built for this kernel"
	else
		ktap_line "not ok - the module rover_dropper is loaded"
	fi
	finish
fi
try "the dropper applies and counts its rules" counted
for group in write read answer order mark; do pair_cases recovery_loss $group; done
dropper_unload
try "data transfer works afterwards" traffic
finish
