#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# loss: the network loses, duplicates, reorders and corrupts packets. Each transfer completes with
# the right data, and the counters show what happened.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"
# shellcheck source=selftests/lib/nft.sh
. "$here/lib/nft.sh"

# under GROUPS NETEM...: transfer and check data on such a network until the counters have moved.
# ibv_rc_pingpong is no use here: its server exits without knowing whether its last ACK has arrived.
under() {
	bad_network "${@:2}"
	until_counted "$1" pair_quietly rc_data brief much
}

# by_nak END COUNTER CMD...: drop every twentieth RoCE packet or train that arrives at END while CMD
# runs. End a learns of the gaps by NAKs, or by the next READ response, and COUNTER counts them.
# Timeouts are printed, not judged: a stalled host causes some.
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

# The losses begin and end when rc_cwnd asks for it.
kept() {
	rules b
	export LOSING_b='nft add rule inet rover_test in udp dport 4791 numgen inc mod 20 == 3 drop'
	export CLEAR_b='nft flush chain inet rover_test in'
	pair_quietly rc_cwnd lost
}

# A slow link with a queue of 16 packets, while rc_cwnd asks for it.
full_queue() {
	at a modprobe sch_tbf || skip "no sch_tbf on this kernel"
	export FULL_a="tc qdisc replace dev $NDEV_A root tbf rate 200mbit burst 16k limit 64k"
	export CLEAR_a="tc qdisc del dev $NDEV_A root"
	at_end at a tc qdisc del dev "$NDEV_A" root
	pair_quietly rc_cwnd full
}

# Each end receives requests while responses to its own requests arrive: neither end may stall.
both_ways() {
	bad_network delay 1ms
	perftest write_bw -b -s 65536 -n 200 -t 64
}

# Packets that got an RNR NAK arrive a second time before they are retransmitted. Whether a packet
# arrives before there is a receive is up to the network.
ready() {
	bad_network delay 4ms 4ms duplicate 50%
	counting=a until_counted rnr_nak_retry_err pair_quietly rc_queues ready
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
	try "losses leave the congestion window" kept
	try "a full queue reduces the congestion window" full_queue
fi
if ! once; then
	try "1 % loss: gaps are detected, packets are retransmitted" under "tx_retransmitted_packets,out_of_sequence packet_seq_err local_ack_timeout_err" loss 1%
	try "5 % duplicates are detected" under "duplicate_request" duplicate 5%
	try "25 % reordering is tolerated" under "out_of_sequence" delay 1ms reorder 25% 50%
	try "1 % corrupted packets are dropped by the ICRC check" under "rx_icrc_encapsulated" corrupt 1%
fi
try "loss, reordering, duplicates and corruption together" under "tx_retransmitted_packets" delay 1ms reorder 5% loss 1% duplicate 1% corrupt 1%
try "duplicates and delay while the sender waits after an RNR NAK" ready
try "delay with full windows in both directions" both_ways
try "data transfer works afterwards" traffic
finish
