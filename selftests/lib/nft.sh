# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# nft.sh: firewall rules for packets that arrive at an end. For tests that have sourced lib/net.sh.

# rules END RULE...: add input rules at END until the case ends
rules() {
	local end=$1 rule
	shift
	at_end at "$end" nft delete table inet rover_test
	at "$end" nft add table inet rover_test
	at "$end" nft 'add chain inet rover_test in { type filter hook input priority 0; }'
	for rule; do at "$end" nft "add rule inet rover_test in $rule"; done
}

# tracking END: rules with conntrack. It counts packets of connections that conntrack has confirmed:
# after the first ten. An unconfirmed connection is forgotten, and each packet is its first.
tracking() {
	rules "$1" 'ct state invalid drop' 'udp dport 4791 ct packets > 10 counter'
	at "$1" sysctl -qw net.netfilter.nf_conntrack_acct=1
}

# matched END: print the count of the first rule with a counter
matched() {
	local said
	said=$(at "$1" nft list chain inet rover_test in)
	[[ $said =~ counter\ packets\ ([0-9]+) ]] || fail "no counter in $said"
	echo "${BASH_REMATCH[1]}"
}
