#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mw_rereg: ibv_rereg_mr, memory windows, and invalidation of keys.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=100
pair_cases rereg_mr
pair_cases memory_windows
pair_cases memory_windows_order
# A retransmission does not repeat a local bind or invalidation.
try "windows are invalidated once on a network that loses packets" lossy 3% pair_quietly memory_windows_order order
try "data transfer works afterwards" pair_quietly rc_data brief
finish
