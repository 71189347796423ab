#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# isolated_cpus: completion events do not interrupt isolated processors. Needs a guest that has
# some:
#
#	make test T=isolated_cpus APPEND='isolcpus=1 nohz_full=1'
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/kmod.sh
. "$here/lib/kmod.sh"

cpus=/sys/devices/system/cpu
isolated=$(cat $cpus/isolated $cpus/nohz_full | tr -d '\0')

# CPUs of a list as the kernel prints it, one a line.
members() { sed 's/(null)//' "$@" | tr ',' '\n' | awk -F- 'NF { for (i = $1; i <= $NF; i++) print i }'; }

vectors() {
	local want said
	want=$(comm -23 <(members $cpus/possible | sort) <(members $cpus/isolated $cpus/nohz_full | sort) | wc -l)
	said=$(at a ibv_devinfo -v -d "$DEV_A" | awk '$1 == "num_comp_vectors:" { print $2 }')
	((said == want)) || fail "$said vectors, and $want processors that are not isolated"
}

if [[ ! ${isolated//[$'\n'()a-z]/} ]]; then
	skipped() { skip "no processor is isolated"; }
	try "only housekeeping CPUs have completion vectors" skipped
	finish
fi
try "only housekeeping CPUs have completion vectors" vectors
parameters=(only=vector)
! quick || parameters+=(quick=1)
run_module "${parameters[@]}"
pair_cases rc_data brief
try "no RDMA resources are left" let_go 10
finish
