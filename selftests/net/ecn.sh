#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ecn: packets that routers mark cause CNPs, and the sender reduces its congestion window before
# packets are lost.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

# shape END QDISC...: what END sends goes through this qdisc
shape() {
	local end=$1
	shift
	at "$end" modprobe -a sch_netem sch_tbf sch_fq_codel || skip "not all of these qdiscs on this kernel"
	at_end at "$end" tc qdisc del dev "$(ndev_of "$end")" root
	at "$end" tc qdisc replace dev "$(ndev_of "$end")" root handle 1: "$@"
}

# Packets that were sent and have not arrived. Gaps and retransmissions prove no loss: packets may pass each other or be late.
losses() { echo $(($(count tx_packets) - $(count rx_packets rp_cnp_ignored))); }

# The last packets may come for queue pairs that are gone.
few=4

# signs SENDER RECEIVER: marks, CNPs sent, CNPs received, losses. CNPs of perftest's READ server count
# as ignored: its queue pair is not ready to send.
signs() {
	counter "$2" np_ecn_marked_roce_packets
	counter "$2" np_cnp_sent
	counter "$1" rp_cnp_handled rp_cnp_ignored
	losses
}

# netem marks what it would drop if the packet may be marked. Others are dropped, and retransmitted.
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
	((after[3] - before[3] <= few)) || fail "$((after[3] - before[3])) times something was lost"
}

# Resolve the neighbour first: netem also drops packets that are not RoCE.
pingpong6() {
	at a ping -qc 1 -W 5 "$ADDR6_B"
	family=6 marked "$1" pingpong "${@:2}"
}

# window END GROUP: the network marks each RoCE packet of END, as long as rc_cwnd asks for it. It
# drops nothing, and leaves all other packets alone.
window() {
	local end=$1 ndev
	ndev=$(ndev_of "$end")
	at "$end" modprobe -a sch_prio sch_netem cls_u32 || skip "not all of these qdiscs on this kernel"
	at_end at "$end" tc qdisc del dev "$ndev" root
	at "$end" tc qdisc replace dev "$ndev" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	at "$end" tc qdisc add dev "$ndev" parent 1:2 handle 2: netem loss 100% ecn
	export "MARKING_$end=tc filter add dev $ndev parent 1: protocol ip u32 match ip dport 4791 0xffff flowid 1:2"
	export "CLEAR_$end=tc filter del dev $ndev parent 1:"
	pair_quietly rc_cwnd "$2"
}

# A slow link with a queue that marks each packet that has waited for a millisecond.
bottleneck() {
	local before said
	shape a tbf rate $((slow > 1 ? 8 : 40))mbit burst 64k limit 4m
	at a tc qdisc add dev "$NDEV_A" parent 1:1 fq_codel ce_threshold 1ms target 1s interval 2s
	before=$(losses)
	perftest write_bw -s 65536 -n $((many / slow))
	before=$(($(losses) - before))
	said=$(at a tc -s qdisc show dev "$NDEV_A")
	echo "$said"
	[[ $said =~ ce_mark\ ([0-9]+) ]] && ((BASH_REMATCH[1])) || fail "the queue has marked nothing"
	((before <= few)) || fail "$before times something was lost"
}

# A slow link with a queue that does not mark. The round trip time alone keeps the window so small
# that the queue does not overflow.
queue() {
	local before said
	shape a tbf rate $((slow > 1 ? 8 : 40))mbit burst 64k limit 1m
	before=$(losses)
	perftest write_bw -s 65536 -n $((many / slow))
	before=$(($(losses) - before))
	said=$(at a tc -s qdisc show dev "$NDEV_A")
	echo "$said"
	[[ $said =~ \(dropped\ ([0-9]+), ]] || fail "no qdisc tells what it has dropped"
	((BASH_REMATCH[1] == 0 && before <= few)) || fail "the queue was full: ${BASH_REMATCH[1]} dropped, $before lost"
}

many=1000
! quick || many=200
know_gids
try "ECN marks on WRITEs cause CNPs and no loss" marked a perftest write_bw -s 65536 -n $many
once || try "ECN marks on SENDs over IPv6 cause CNPs and no loss" pingpong6 a -s 65536 -n $((many / 2))
try "ECN marks on READ responses cause CNPs and no loss" marked b perftest read_bw -s 65536 -n $many
# The debug kernel is too slow for a window to grow again.
if ((slow == 1)); then
	try "marked WRITEs reduce the congestion window" window a write
	once || try "marked SENDs reduce the congestion window" window a send
	try "marked READ responses reduce the congestion window" window b read
fi
try "a bottleneck that marks loses nothing" bottleneck
try "the queue of a slow link without ECN does not overflow" queue
try "data transfer works afterwards" traffic
finish
