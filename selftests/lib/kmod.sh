# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# kmod.sh: the module rover_ktest, a kernel user of RDMA (selftests/kmod). Its cases become cases of the test. For tests that have
# sourced lib/net.sh and lib/pair.sh.

# run_module PARAMETER...: run the module's cases on this end's device
run_module() {
	local line kmod number=$ktap_number
	if ! kmod=$(module_file rover_ktest) && [[ ${own_topology:-} ]]; then
		ktap_line "ok - the module rover_ktest is loaded # SKIP it is not built for this kernel"
		return
	fi
	insmod "$kmod" device="$DEV_A" slow=$slow "$@" || { ktap_line "not ok - the module rover_ktest is loaded"; return; }
	while IFS= read -r line; do ktap_line "$line"; done </sys/kernel/debug/rover_ktest
	rmmod rover_ktest
	((ktap_number > number)) || ktap_line "not ok - the module rover_ktest finds the device"
}
