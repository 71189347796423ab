#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# firewall: rover takes received packets before UDP looks up a socket, and after firewall rules and
# connection tracking.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/nft.sh
. "$here/lib/nft.sh"

# udp_datagrams END: datagrams that UDP has delivered, over IPv4 and IPv6
udp_datagrams() {
	# shellcheck disable=SC2016 # in what follows the shell over there expands
	look "$1" 'sum=0
		while read -r name value _; do
			case $name in
			Udp:) [[ ! $value =~ ^[0-9]+$ ]] || sum=$((sum + value)) ;;
			Udp6InDatagrams) sum=$((sum + value)) ;;
			esac
		done < <(cat $net/snmp $net/snmp6)
		echo $sum'
}

past_udp() {
	local family packets by_udp
	for family in 4 6; do
		packets=$(counter b rx_packets) by_udp=$(udp_datagrams b)
		pingpong -n 1000 -s 64
		packets=$(($(counter b rx_packets) - packets)) by_udp=$(($(udp_datagrams b) - by_udp))
		echo "note: over IPv$family $packets packets, $by_udp of them by UDP"
		((packets >= 1000)) || fail "that is too few to tell"
		((10 * by_udp < packets)) || fail "UDP has looked at them"
	done
}

dropped() {
	local family
	rules b 'udp dport 4791 counter drop'
	for family in 4 6; do
		refused "transport retry counter exceeded" pingpong -n 5 -s 64
	done
	(($(matched b) >= 16)) || fail "the firewall has not seen them"
}

# The rule counts each packet, and drops none.
counted() {
	local packets seen
	rules b 'udp dport 4791 counter'
	packets=$(counter b rx_packets)
	pingpong -n 1000 -s 64
	packets=$(($(counter b rx_packets) - packets)) seen=$(matched b)
	echo "note: $packets packets, the firewall has seen $seen"
	((seen == packets)) || fail "some passed it by"
}

remembered() {
	local before
	before=$(matched b)
	pingpong -n 100 -s 64
	perftest write_bw -n 100 -s 65536
	echo "note: $(($(matched b) - before)) packets of connections known by then"
	(($(matched b) - before >= 180)) || fail "no connection has been remembered"
}

# Of two hooks with the last priority the one that was registered first is the last. Test both orders.
tracked() {
	tracking b
	remembered
	at b rdma link delete "$DEV_B"
	link_add b
	within 10 has_gid b "$DEV_B" "$(gid_text "$ADDR_B")"
	remembered
}

carried() { (($(counter b rx_packets) > $1)); }

# The input route of a connection is cached until an ip rule changes. One end at least waits for an ACK that does not come; the
# other one may have all of its ACKs.
ruled() {
	local talk
	at_end unruled
	# The rule for local addresses has to be the first one.
	at b ip rule add pref 2 lookup local
	at b ip rule delete pref 0
	refused "transport retry counter exceeded" pingpong -n 100000000 -s 64 &
	talk=$!
	within 20 carried $(($(counter b rx_packets) + 1000)) || fail "they do not talk"
	at b ip rule add pref 1 from "$ADDR_A" blackhole
	ends_within 40 $talk
	((!status)) || fail "the rule was not heeded"
}
unruled() {
	at b ip rule delete pref 1
	at b ip rule add pref 0 lookup local
	at b ip rule delete pref 2
}

try "received packets bypass the UDP layer" past_udp
try "a firewall rule drops RoCE packets" dropped
try "a firewall rule counts all RoCE packets" counted
try "conntrack confirms RoCE connections" tracked
try "an ip rule blackholes a running connection" ruled
try "data transfer works afterwards" traffic
finish
