#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rc: reliable connections carry their data: every operation, size, path MTU, shape and mode, checked byte for byte; and
# their queues do what they promise.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=250
# Up to 8 MiB at every path MTU on the newest kernel; less elsewhere, since small packets are slow to emulate.
ops=short
if [[ $KERNEL == 7.2 ]] && ! quick; then ops=ops; fi
pair_cases rc_data $ops extended invalidate sgl inline atomic mixture
pair_cases rc_flow
pair_cases rc_event
pair_cases moderate
pair_cases rc_memory
pair_cases rc_word
finish
