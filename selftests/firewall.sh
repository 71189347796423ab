#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# firewall: packets are taken before UDP looks whose they are, and not before firewalls and connection tracking have seen them.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"

# rules END RULE...: of what is for this host, until the case ends
rules() {
	local end=$1 rule
	shift
	trap 'status=$?; set +e; at '$end' nft delete table inet rover_test; ktap_end_jobs; exit $status' EXIT
	at $end nft add table inet rover_test
	at $end nft 'add chain inet rover_test in { type filter hook input priority 0; }'
	for rule; do at $end nft "add rule inet rover_test in $rule"; done
}

# matched END: packets that the first rule with a counter has seen
matched() {
	local said
	said=$(at "$1" nft list chain inet rover_test in)
	[[ $said =~ counter\ packets\ ([0-9]+) ]] || fail "no counter in $said"
	echo "${BASH_REMATCH[1]}"
}

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
	local packets before
	for family in 4 6; do
		packets=$(counter b rx_packets) before=$(udp_datagrams b)
		family=$family pingpong -n 1000 -s 64
		packets=$(($(counter b rx_packets) - packets)) before=$(($(udp_datagrams b) - before))
		echo "note: over IPv$family $packets packets, $before of them by UDP"
		((packets >= 1000)) || fail "that is too few to tell"
		((10 * before < packets)) || fail "UDP has looked at them"
	done
}

dropped() {
	local family
	rules b 'udp dport 4791 counter drop'
	for family in 4 6; do
		family=$family refused "transport retry counter exceeded" pingpong -n 5 -s 64
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


# What is not confirmed when it has arrived is forgotten, and with it how many packets there were.
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
	rules b 'ct state invalid drop' 'udp dport 4791 ct packets > 10 counter'
	at b sysctl -qw net.netfilter.nf_conntrack_acct=1
	remembered
	at b rdma link delete "$DEV_B"
	link_add b
	within 10 has_gid b "$DEV_B" "$(gid_text "$ADDR_B")"
	remembered
}

try "packets do not pass UDP" past_udp
try "a firewall drops them" dropped
try "or counts all of them" counted
try "connections are tracked" tracked
try "and afterwards all is well" traffic
finish
