# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# kmod.sh: the module that is a user of RDMA in the kernel (selftests/kmod). Its cases become cases of the test that sources this, behind
# lib/net.sh and lib/pair.sh.

kmod=$(cd "$here/.." && pwd -P)/build/$KERNEL/rover_ktest.ko

# run_module PARAMETER...: the module's cases, on this end's device
run_module() {
	local line number=$ktap_number
	insmod "$kmod" device="$DEV_A" slow=$slow "$@" || { pair_line "not ok - the module is loaded"; return; }
	while IFS= read -r line; do pair_line "$line"; done </sys/kernel/debug/rover_ktest
	rmmod rover_ktest
	((ktap_number > number)) || pair_line "not ok - there is a device"
}
