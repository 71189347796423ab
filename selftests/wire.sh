#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# wire: what is on the network is RoCE, v2 or v1, in the eyes of others. This records all operations; what others say of them is in
# wire_judge.sh, which make check runs outside the guests: dissectors are slow on an emulated processor.
#
#	CAPTURE=FILE	leave it there and do not judge it here
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

capture=/tmp/wire.pcap

# takes on|off: trains whole, or each packet alone
takes() {
	local end
	for end in a b; do
		at $end ethtool -K "$(ndev_of $end)" tx-gso-list "$1" tx-udp-segmentation "$1" ||
			at $end ethtool -K "$(ndev_of $end)" tx-udp-segmentation "$1"
	done
}

# no_more_than BYTES: of RoCE at once; what else there is has a way of its own
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

# Trains are made for a netdev that takes them whole, and then there is a queue before it that takes no more than a packet. The
# netdevs of a pair take none: there the stack takes them apart.
trains() {
	local end op
	takes on || true
	no_more_than 4300
	for op in write read send; do perftest ${op}_bw -n 10 -s 100000; done
	perftest send_bw -n 10 -s 100000 -c UC
	# Small ones that come together: two are more than passes.
	no_more_than 600
	for op in write send; do perftest ${op}_bw -n 500 -s 400; done
	perftest send_bw -n 500 -s 400 -c UD
	# And of several queue pairs, in one train where nothing of it is long: not even two acknowledges pass.
	no_more_than 110
	for op in write send; do perftest ${op}_bw -q 16 -t 4 -r 16 -n 50 -s 16; done
	for end in a b; do at $end tc qdisc del dev "$(ndev_of $end)" root; done
}

# Both directions, seen at b, as single packets: a train is taken apart before it comes to the netdev, and not put together
# again behind it.
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

try "a capture of all operations over IPv4, IPv6 and Ethernet" record everything
if [[ ${CAPTURE:-} ]]; then
	((ktap_failed)) || cp $capture "$CAPTURE"
else
	# Its cases become ours.
	exec {lines}< <("$here/wire_judge.sh" $capture 2>&1)
	while IFS= read -r line <&$lines; do pair_line "$line"; done
fi
finish
