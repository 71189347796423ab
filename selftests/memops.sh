#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# memops: what programs do to memory after it was registered: register it again, bind windows to it, take keys back.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=100
pair_cases rereg
pair_cases windows
# What is sent again does not do again what was done here.
try "windows on a network that loses packets" lossy 3% pair_quietly windows order
try "and afterwards all is well" pair_quietly rc_data brief
finish
