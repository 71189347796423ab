#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# errors: wrong use of reliable connections gets the right error and nothing else; states, retries, overflow, limits.
cd "$(dirname "$0")" || exit
. lib/ktap.sh
. lib/rover.sh

stage "devices at both ends" soft_up
stages 240 rc_error
stages 120 rc_state
stage "and afterwards all is well" traffic_works
ktap_end
