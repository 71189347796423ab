#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rc: reliable connections carry their data: every operation, size, path MTU, shape and mode, checked byte for byte.
cd "$(dirname "$0")" || exit
. lib/ktap.sh
. lib/rover.sh

stage "devices at both ends" soft_up
# Up to 8 MiB at every path MTU on the newest kernel; less elsewhere, since small packets are slow to emulate.
ops=short
if [[ $KERNEL == 7.2 ]] && ! quick; then ops=ops; fi
stages 200 rc_data $ops extended sgl inline atomic mixture
stages 120 rc_flow
stages 60 rc_event
ktap_end
