#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mcast: multicast groups. A datagram reaches all attached queue pairs, through a network that
# delivers to hosts that have joined the group. The host leaves a group with the last member,
# however that ends.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

group4=239.77.1.2 group6=ff15::4d:102
mac4=01:00:5e:4d:01:02 mac6=33:33:00:4d:01:02

# joined END: IP groups and MAC filters of the netdev
joined() { at "$1" ip maddr show dev "$(ndev_of "$1")"; }
is_member() {
	local said
	said=$(joined b)
	[[ $said == *" $group4"* && $said == *" $group6"* && $said == *" $mac4"* && $said == *" $mac6"* ]]
}
is_none() {
	local said
	said=$(joined b)
	[[ $said != *" $group4"* && $said != *" $group6"* && $said != *" $mac4"* && $said != *" $mac6"* ]]
}

# Both groups have a member at b, each of a program of its own.
hold_both() {
	hold_objects b --qps 2 --mcast ::ffff:$group4
	holder4=$holder input4=$hold_input
	hold_objects b --qps 1 --mcast $group6
}

# The host joins with the first member and leaves with the last, and sends reports.
membership() {
	local dump
	is_none || fail "joined before anybody is attached: $(joined b)"
	run_at a tcpdump -nvl -i "$NDEV_A" 'igmp or ip6 proto 0' >/tmp/tcpdump 2>&1 </dev/null &
	dump=$!
	within 20 grep -q 'listening on' /tmp/tcpdump
	hold_both
	is_member || fail "not joined: $(joined b)"
	within 10 grep -q "$group4" /tmp/tcpdump
	within 10 grep -q "$group6" /tmp/tcpdump
	kill $dump
	release
	hold_input=$input4
	exec {hold_input}>&-
	wait "$holder4"
	is_none || fail "still joined: $(joined b)"
}

# The kernel leaves the groups of a killed program.
killed() {
	local pids
	hold_both
	is_member || fail "not joined: $(joined b)"
	pids=$(at b pgrep -f "^$(program hold_objects) $DEV_B" | tr '\n' ' ')
	# shellcheck disable=SC2086 # words
	at b kill -KILL $pids
	wait "$holder" "$holder4" || true
	within 10 is_none
}

# The groups are also left when the device is deleted.
deleted() {
	hold_both
	is_member || fail "not joined: $(joined b)"
	promptly at b rdma link delete "$DEV_B"
	ends_within 20 "$holder"
	ends_within 20 "$holder4"
	is_none || fail "still joined: $(joined b)"
	link_add b
	within 10 gid_index b "$ADDR_B"
}

# Datagrams that arrive because another program has joined by a socket are dropped and counted while no queue pair is attached.
nobody() {
	local before listener
	run_at b socat -u "UDP4-RECV:4711,ip-add-membership=239.77.0.3:$ADDR_B" OPEN:/dev/null &
	listener=$!
	within 10 has_joined 239.77.0.3
	before=$(counter b rx_drop_no_group)
	pair_quietly mcast hops
	kill $listener
	counter b rx_drop_no_group >/dev/null
	((counted - before >= 3)) || fail "rx_drop_no_group: $before before, $counted after"
}
has_joined() { [[ $(joined b) == *" $1"* ]]; }

# A user with the most members allowed for one user leaves room for others.
tenants() {
	local gid first first_input
	for gid in ::ffff:$group4 $group6; do
		hold_objects b --qps 64 --mcast $gid
		first=$holder first_input=$hold_input
		(run_at() { exec on -t $((limit * slow)) b setpriv --reuid=65534 --clear-groups --inh-caps=-all "${@:2}"; } && hold_objects b --qps 8 --mcast $gid && release)
		exec {first_input}>&-
		wait "$first"
	done
}
# memberships NUMBER: how many groups a socket of either end may join
memberships() { for end in a b; do at $end sysctl -qw net.ipv4.igmp_max_memberships="$1"; done; }
# The core shows counters in the initial namespace only.
counts_of() { if single; then show "$2"; else at "$1" cat "$2"; fi; }

# A member receives from its own interface only.
elsewhere() {
	local file=/sys/class/infiniband/mcast_rover/ports/1/hw_counters/rx_multicast_packets before after
	at_end at b ip link delete mcast_x
	at b ip link add mcast_x mtu 1280 type veth peer name mcast_y mtu 1280
	at b ip addr add 10.89.1.1/24 dev mcast_x
	at b ip link set mcast_y up
	at b ip link set mcast_x up
	at b rdma link add mcast_rover type rover netdev mcast_x
	holding=mcast_rover hold_objects b --qps 1 --mcast ::ffff:239.77.0.2
	before=$(counts_of b $file)
	pair_quietly mcast hops
	nap 0.02
	after=$(counts_of b $file)
	release
	((after == before)) || fail "a member on another interface receives $((after - before)) datagrams"
}

pair_cases mcast data drops member limit
try "64 queue pairs of one user in a group leave room for another user" tenants
# Takes half a minute on a slow processor: the interface has a linear list of groups.
if ! quick; then
	memberships 4096
	pair_cases mcast groups
	memberships 20
fi
try "the host joins the IP group with the first member and leaves with the last" membership
once || try "a datagram reaches only members on its interface" elsewhere
try "a killed program leaves its groups" killed
try "rdma link delete leaves the groups" deleted
once || try "datagrams of a group without attached queue pairs are dropped and counted" nobody
try "no RDMA resources are left" let_go 10
finish
