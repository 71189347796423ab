#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perftest: the RC tools of perftest with common options: events, many queue pairs, inline data,
# both directions, all sizes.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

# expect ROWS TOOL OPTION...: that many rows of figures at least
expect() {
	local wanted=$1
	shift
	perftest "$@"
	((rows >= wanted)) || fail "$rows rows of figures, not $wanted"
}

case_of() { try "ib_$*" expect 1 "$@"; }

n=200
! quick || n=20
for op in write read send; do
	case_of ${op}_lat -n $n
	case_of ${op}_bw -n $n -q 16 -s 4096
	case_of ${op}_bw -n $((n / 4)) -b
done
case_of atomic_bw -n $n
case_of atomic_lat -n $n
case_of atomic_bw -n $n -A CMP_AND_SWAP -q 16 -b
# The tool has events for these only.
case_of read_bw -n $n -s 4096 -e
case_of read_lat -n $n -e
case_of send_lat -n $n -e
case_of send_bw -n $n -e -q 16 -b -s 4096
# It has inline data for these only.
case_of write_bw -n $n -I 64 -s 64
case_of write_lat -n $n -I 64 -s 64
case_of send_bw -n $n -I 64 -s 64
case_of send_lat -n $n -I 64 -s 64
# All sizes, 2 bytes to 8 MiB, of which the tool itself needs seconds to make up what to send: either way of measuring, or one
# in either topology.
sweeps=(write_bw write_lat read_bw read_lat send_bw send_lat)
if quick && single; then
	sweeps=(read_bw)
elif quick; then
	sweeps=(send_lat)
fi
for tool in "${sweeps[@]}"; do try "ib_$tool -a" expect 23 "$tool" -a -n 5 -m 4096; done
finish
