#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# loss: a network that loses, doubles, reorders and corrupts. Every transfer completes with the right bytes all the same,
# and the counters tell what has happened.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

# under GROUPS NETEM...: data is carried and checked on such a network, until the counters tell of it. Not by ibv_rc_pingpong: its
# server leaves without knowing whether its last acknowledgment has arrived, and where that is lost, nobody is left to give another.
under() {
	bad_network "${@:2}"
	until_counted "$1" pair_quietly rc_data brief much
}

# Each end has the other's requests to receive while responses to its own keep coming: no side waits for ever.
both_ways() {
	bad_network delay 1ms
	perftest write_bw -b -s 65536 -n 200 -t 64
}

# What the peer was not ready for has come a second time before it is sent again. Whether anything comes before there is a receive
# for it is the network's chance, as elsewhere.
ready() {
	bad_network delay 4ms 4ms duplicate 50%
	counting=a until_counted rnr_nak_retry_err pair_quietly rc_flow ready
}

know_gids
limit=100
if ! once; then
	try "1 % is lost: gaps are seen, it is sent again" under "tx_retransmitted_packets,out_of_sequence packet_seq_err local_ack_timeout_err" loss 1%
	try "5 % comes twice" under "duplicate_request" duplicate 5%
	try "a quarter comes early" under "out_of_sequence" delay 1ms reorder 25% 50%
	try "1 % is corrupt: the ICRC finds it" under "rx_icrc_encapsulated" corrupt 1%
fi
try "all at once" under "tx_retransmitted_packets" delay 1ms reorder 5% loss 1% duplicate 1% corrupt 1%
try "late and twice, while a receive is waited for" ready
try "slow, and full both ways" both_ways
try "and afterwards all is well" traffic
finish
