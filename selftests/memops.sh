#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# memops: what programs do to memory after it was registered: register it again, bind windows to it, take keys back.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

# What is sent again does not do again what was done here.
lossy() {
	at b modprobe sch_netem || skip "no netem on this kernel"
	trap 'status=$?; set +e; at b tc qdisc del dev "$NDEV_B" root; at a tc qdisc del dev "$NDEV_A" root; ktap_end_jobs; exit $status' EXIT
	at a tc qdisc replace dev "$NDEV_A" root netem loss 3% limit 10000
	at b tc qdisc replace dev "$NDEV_B" root netem loss 3% limit 10000
	pair_quietly windows order
}

limit=100
pair_cases rereg
pair_cases windows
try "windows on a network that loses packets" lossy
try "and afterwards all is well" pair_quietly rc_data brief
finish
