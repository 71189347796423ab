# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# debug.sh: the debug kernel, built from the distribution's source of 7.2 with debug.config and nothing else.

prepare_debug() { die "not yet"; }
