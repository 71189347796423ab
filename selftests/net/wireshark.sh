#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# wireshark: the packets on the network are RoCE, v2 or v1, to other programs. This test captures
# all operations; wireshark_check.sh judges the capture. make check runs that outside the guests,
# since dissectors are slow on an emulated processor.
#
#	CAPTURE=FILE	leave it there and do not judge it here
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

capture=/tmp/wire.pcap

# takes on|off: offloads for whole trains, or single packets
takes() {
	local end
	for end in a b; do
		at $end ethtool -K "$(ndev_of $end)" tx-gso-list "$1" tx-udp-segmentation "$1" ||
			at $end ethtool -K "$(ndev_of $end)" tx-udp-segmentation "$1"
	done
}

# no_more_than BYTES: a queue that passes so many bytes of RoCE at once; other traffic has a queue of its own
no_more_than() {
	local end ndev
	for end in a b; do
		ndev=$(ndev_of $end)
		at $end modprobe -a sch_prio sch_tbf cls_u32
		at $end tc qdisc replace dev "$ndev" root handle 1: prio
		at $end tc qdisc replace dev "$ndev" parent 1:3 tbf rate 10gbit burst "$1" limit 20000000
		at $end tc filter replace dev "$ndev" parent 1: prio 1 handle 800::1 protocol ip u32 match ip dport 4791 0xffff flowid 1:3
	done
}

# Rover makes trains for a netdev that accepts them, and a queue in front of it that passes single
# packets only splits them. The netdevs of a pair accept no trains: the stack splits them.
trains() {
	local end op
	takes on || true
	no_more_than 4300
	for op in write read send; do perftest ${op}_bw -n 10 -s 100000; done
	perftest send_bw -n 10 -s 100000 -c UC
	# Small messages that share a train: two do not pass at once.
	no_more_than 600
	for op in write send; do perftest ${op}_bw -n 500 -s 400; done
	perftest send_bw -n 500 -s 400 -c UD
	# Messages of several queue pairs in one train: not even two ACKs pass at once.
	no_more_than 110
	for op in write send; do perftest ${op}_bw -q 16 -t 4 -r 16 -n 50 -s 16; done
	for end in a b; do at $end tc qdisc del dev "$(ndev_of $end)" root; done
}

# Capture both directions at b, as single packets: trains are split before the netdev, and not merged behind it.
record() {
	local end dump
	takes off
	for end in a b; do at $end ethtool -K "$(ndev_of $end)" gro off; done
	run_at b tcpdump -i "$NDEV_B" -U -B 16384 -s 0 -w $capture "udp port 4791 or ether proto 0x8915" >/tmp/tcpdump 2>&1 </dev/null &
	dump=$!
	within 20 grep -q 'listening on' /tmp/tcpdump
	"$@"
	sleep 1
	kill $dump
	wait $dump || true
	cat /tmp/tcpdump
	grep -q '^0 packets dropped by kernel' /tmp/tcpdump || fail "tcpdump has not seen all"
	# In a pair the other guest has the file.
	[[ -e $capture ]] || at b cat $capture >$capture
	takes on || true
	for end in a b; do at $end ethtool -K "$(ndev_of $end)" gro on; done
}

everything() {
	QUICK=1 pair_quietly rc_data brief
	pair_quietly rc_error others
	QUICK=1 pair_quietly ud_data brief
	ROCE=v1 QUICK=1 pair_quietly rc_data brief
	ROCE=v1 QUICK=1 pair_quietly ud_data brief
	trains
}

try "all operations over IPv4, IPv6 and Ethernet are captured" record everything
if [[ ${CAPTURE:-} ]]; then
	((ktap_failed)) || cp $capture "$CAPTURE"
else
	# Its cases become cases of this test.
	exec {lines}< <("$here/net/wireshark_check.sh" $capture 2>&1)
	while IFS= read -r line <&$lines; do ktap_line "$line"; done
fi
finish
