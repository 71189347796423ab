#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ecn: routers that mark packets instead of losing them are heard at both ends, and less is sent before anything is lost.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

# shape END QDISC...: what END sends goes this way
shape() {
	local end=$1
	shift
	at "$end" modprobe -a sch_netem sch_tbf sch_fq_codel || skip "not all of these qdiscs on this kernel"
	at_end at "$end" tc qdisc del dev "$(ndev_of "$end")" root
	at "$end" tc qdisc replace dev "$(ndev_of "$end")" root handle 1: "$@"
}

# Gaps that END has seen in what came to it. What is sent again need not be lost: a busy machine may be late.
gaps() { counter "$1" out_of_sequence implied_nak_seq_err; }

# perftest's server of READs is never ready to send: it has nothing to send less of.
signs() {
	counter "$2" np_ecn_marked_roce_packets
	counter "$2" np_cnp_sent
	counter "$1" rp_cnp_handled rp_cnp_ignored
	gaps "$2"
}

# What netem would lose it marks, if it may: those that may not be marked are lost and must be sent again.
marked() {
	local from=$1 to before=() after=()
	shift
	to=$(other "$from")
	shape "$from" netem loss 5% ecn
	# shellcheck disable=SC2207 # numbers
	before=($(signs "$from" "$to"))
	"$@"
	# shellcheck disable=SC2207 # numbers
	after=($(signs "$from" "$to"))
	echo "note: $((after[0] - before[0])) marked, $((after[1] - before[1])) notifications sent, $((after[2] - before[2])) received"
	((after[0] > before[0])) || fail "no packet has come with a mark"
	((after[1] > before[1] && after[2] > before[2])) || fail "nobody has said so"
	((after[3] == before[3])) || fail "$((after[3] - before[3])) times something was lost"
}

# Resolve the neighbour before the network begins to lose packets that are not RoCE.
pingpong6() {
	at a ping -qc 1 -W 5 "$ADDR6_B"
	family=6 marked "$1" pingpong "${@:2}"
}

# window END GROUP: a network that marks every RoCE packet END sends, as long as rc_window wants it to. It loses nothing, and leaves
# all other packets alone.
window() {
	local end=$1 ndev
	ndev=$(ndev_of "$end")
	at "$end" modprobe -a sch_prio sch_netem cls_u32 || skip "not all of these qdiscs on this kernel"
	at_end at "$end" tc qdisc del dev "$ndev" root
	at "$end" tc qdisc replace dev "$ndev" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	at "$end" tc qdisc add dev "$ndev" parent 1:2 handle 2: netem loss 100% ecn
	export "MARKING_$end=tc filter add dev $ndev parent 1: protocol ip u32 match ip dport 4791 0xffff flowid 1:2"
	export "CLEAR_$end=tc filter del dev $ndev parent 1:"
	pair_quietly rc_window "$2"
}

# A slow wire with a queue in front of it, which marks whatever has waited for a millisecond.
bottleneck() {
	local before said
	shape a tbf rate $((slow > 1 ? 8 : 40))mbit burst 64k limit 4m
	at a tc qdisc add dev "$NDEV_A" parent 1:1 fq_codel ce_threshold 1ms target 1s interval 2s
	before=$(gaps b)
	perftest write_bw -s 65536 -n $((many / slow))
	before=$(($(gaps b) - before))
	said=$(at a tc -s qdisc show dev "$NDEV_A")
	echo "$said"
	[[ $said =~ ce_mark\ ([0-9]+) ]] && ((BASH_REMATCH[1])) || fail "the queue has marked nothing"
	((before == 0)) || fail "$before times something was lost"
}

# A slow link whose queue marks nothing: the round trip time alone keeps the window small enough for the queue never to overflow.
queue() {
	local before said
	shape a tbf rate $((slow > 1 ? 8 : 40))mbit burst 64k limit 1m
	before=$(gaps b)
	perftest write_bw -s 65536 -n $((many / slow))
	before=$(($(gaps b) - before))
	said=$(at a tc -s qdisc show dev "$NDEV_A")
	echo "$said"
	[[ $said =~ \(dropped\ ([0-9]+), ]] || fail "no qdisc tells what it has dropped"
	((BASH_REMATCH[1] == 0 && before == 0)) || fail "the queue was full: ${BASH_REMATCH[1]} dropped, $before gaps"
}

many=1000
! quick || many=200
know_gids
try "marked WRITEs" marked a perftest write_bw -s 65536 -n $many
once || try "marked SENDs over IPv6" pingpong6 a -s 65536 -n $((many / 2))
try "marked answers to READs" marked b perftest read_bw -s 65536 -n $many
# The debug kernel is too slow for a window to grow again.
if ((slow == 1)); then
	try "marked WRITEs make the window smaller" window a write
	once || try "marked SENDs make the window smaller" window a send
	try "marked READ responses make the window smaller" window b read
fi
try "a bottleneck marks, and loses nothing" bottleneck
try "the queue of a slow link does not overflow without marks either" queue
try "and afterwards all is well" traffic
finish
