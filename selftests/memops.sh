#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# memops: what programs do to memory after it was registered: register it again.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=100
pair_cases rereg
try "and afterwards all is well" pair_quietly rc_data brief
finish
