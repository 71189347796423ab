#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# raw: raw packet queue pairs send and take Ethernet frames; flow rules say which, and what is not asked for is left to the host.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=120

pair_cases raw_data
pair_cases raw_rules
try "all is given back" let_go 10
finish
