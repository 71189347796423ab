#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pyverbs: the test suite of rdma-core itself, on one device. tools/pyverbs/run runs it and judges the results; tools/pyverbs/skips
# lists the tests that may skip.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

run=$here/ulp/pyverbs/run
[[ -e $run ]] || run=$here/../tools/pyverbs/run
# On a machine without the lab PYVERBS names the folder tests/ of the source of rdma-core.
if [[ ${own_topology:-} && ! ${PYVERBS:-} && ! -d $here/../build/provider ]]; then
	leave "there are no tests of rdma-core: set PYVERBS to their folder"
fi
on a "$run" --ktap ${PYVERBS:+--tests "$PYVERBS"} "$DEV_A"
