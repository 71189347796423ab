#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# longest: a SEND of more than 2^31 bytes. It takes minutes, so it is for make nightly and for mutants.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=380
pair_cases rc_longest
finish
