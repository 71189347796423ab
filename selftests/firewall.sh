#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# firewall: packets are taken before UDP looks whose they are, and not before firewalls and connection tracking have seen them.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/nft.sh
. "$here/lib/nft.sh"

# udp_datagrams END: those that UDP has handed over, whichever IP they came by
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

# Each of them is seen, and none held up.
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

# Of two who want to be last the one that was there first is.
tracked() {
	tracking b
	remembered
	at b rdma link delete "$DEV_B"
	link_add b
	within 10 has_gid b "$DEV_B" "$(gid_text "$ADDR_B")"
	remembered
}

carried() { (($(counter b rx_packets) > $1)); }

# By which route a connection's packets come in is known, until a rule says otherwise.
ruled() {
	local talk
	at_end unruled
	# The rule for what is local can only be the first one.
	at b ip rule add pref 2 lookup local
	at b ip rule delete pref 0
	refused "transport retry counter exceeded" pingpong -n 100000000 -s 64 &
	talk=$!
	within 20 carried $(($(counter b rx_packets) + 1000)) || fail "they do not talk"
	at b ip rule add pref 1 from "$ADDR_A" blackhole
	ends_within 20 $talk
	((!status)) || fail "the rule was not heeded"
}
unruled() {
	at b ip rule delete pref 1
	at b ip rule add pref 0 lookup local
	at b ip rule delete pref 2
}

try "packets do not pass UDP" past_udp
try "a firewall drops them" dropped
try "or counts all of them" counted
try "connections are tracked" tracked
try "a rule of routes refuses a connection under way" ruled
try "and afterwards all is well" traffic
finish
