#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# errors: wrong use of reliable connections gets the right error and nothing else; states, retries, overflow, limits; rings
# that a hostile program scribbles on.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=180
pair_cases rc_error remote others
pair_cases rc_state
pair_cases rc_limit
pair_cases ring_abuse
try "and afterwards all is well" pair_quietly rc_data brief
finish
