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
# shellcheck source=selftests/lib/nft.sh
. "$here/lib/nft.sh"

# under GROUPS NETEM...: data is carried and checked on such a network, until the counters tell of it. Not by ibv_rc_pingpong: its
# server leaves without knowing whether its last acknowledgment has arrived, and where that is lost, nobody is left to give another.
under() {
	bad_network "${@:2}"
	until_counted "$1" pair_quietly rc_data brief much
}

# by_nak END COUNTER CMD...: drop every twentieth RoCE packet or train that arrives at END while CMD runs. End a has to learn of the gaps
# from NAKs, or from the READ response that follows, and COUNTER counts these. Timeouts are told, not judged: where the host stands still
# for longer than the shortest of them there are some.
by_nak() {
	local end=$1 counter=$2 gaps timeouts
	rules "$end" 'udp dport 4791 numgen inc mod 20 == 0 counter drop'
	gaps=$(counter a "$counter") timeouts=$(counter a local_ack_timeout_err)
	"${@:3}"
	gaps=$(($(counter a "$counter") - gaps)) timeouts=$(($(counter a local_ack_timeout_err) - timeouts))
	echo "note: $(matched "$end") dropped, $counter $gaps, $timeouts timeouts"
	((gaps >= 4)) || fail "$counter moves by $gaps only"
}

# Atomics whose responses are lost are requested again, but must not be executed again. rc_data checks the values on both sides.
atomics_once() {
	rules a 'udp dport 4791 numgen inc mod 3 == 1 drop'
	counting=b until_counted duplicate_request pair_quietly rc_data atomic
}

# The losses begin when rc_window says so, and stay within the rules of this case.
halved() {
	rules b
	export LOSING_b='nft add rule inet rover_test in udp dport 4791 numgen inc mod 20 == 3 drop'
	pair_quietly rc_window lost
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
n=400
! quick || n=200
# The debug kernel has no numgen in nft, and is too slow for a window to grow.
if ((slow == 1)); then
	try "lost requests are recovered by NAKs" by_nak b packet_seq_err perftest write_bw -s 65536 -n $n -t 32
	try "lost READ responses are recovered by the next response" by_nak a implied_nak_seq_err perftest read_bw -s 65536 -n $n
	try "atomics with lost responses are executed once" atomics_once
	try "a loss makes the window smaller" halved
fi
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
