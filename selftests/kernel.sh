#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernel: what only users of verbs in the kernel reach. A module of our own (kmod/) is such a user; it makes two queue pairs of the
# device at this end, which talk with each other, and its cases are cases of this test.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/kmod.sh
. "$here/lib/kmod.sh"

parameters=()
! quick || parameters+=(quick=1)
[[ ! ${GROUP:-} ]] || parameters+=(only="$GROUP")
run_module "${parameters[@]}"
# And once more what has to do with addresses.
if [[ ! ${GROUP:-} ]]; then for group in ud uc mcast; do run_module "${parameters[@]}" only=$group ipv6=1; done; fi
try "all is given back" let_go 10
finish
