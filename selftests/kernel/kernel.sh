#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernel: verbs for users in the kernel. The module in kmod/ is such a user: it connects two queue
# pairs of the device at end a with each other. Its cases are cases of this test.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/kmod.sh
. "$here/lib/kmod.sh"

parameters=()
! quick || parameters+=(quick=1)
run_module "${parameters[@]}"
# Groups that depend on addresses run again over IPv6.
for group in ud uc mcast; do run_module "${parameters[@]}" only=$group ipv6=1; done
try "no RDMA resources are left" let_go 10
finish
