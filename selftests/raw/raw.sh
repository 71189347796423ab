#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# raw: raw packet queue pairs send and receive Ethernet frames. Flow rules choose the frames, others
# go to the host. Invalid requests affect only their queue pair.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=120

# counted_at END COUNTER LEAST CMD...: COUNTER grows by LEAST at least while CMD runs
counted_at() {
	local end=$1 name=$2 least=$3 before
	before=$(counter "$end" "$name")
	"${@:4}"
	counter "$end" "$name" >/dev/null
	((counted - before >= least)) || fail "$name: $before before, $counted after"
}

# shellcheck disable=SC2016 # the shell over there expands it
mac() { look "$1" 'echo $(<"$root/sys/class/net/$1/address")' "$(ndev_of "$1")"; }

# server TOOL [OPTION...]: perftest's server at b, in $server, once rdma resource shows its queue pair
server() {
	run_at b stdbuf -oL raw_ethernet_"$1" -F -d "$DEV_B" --server -B "$(mac b)" -E "$(mac a)" "${@:2}" >/tmp/said.b 2>&1 </dev/null &
	server=$!
	within 20 has_pair
}
has_pair() { [[ $(at b rdma resource show qp) =~ "link $DEV_B/1 "[^$'\n']*" type RAW_PACKET state RT"[^$'\n']*"comm raw_ethernet" ]]; }

# Client and server have no control connection: as many frames as there are receives.
raw_perftest() {
	local tool=$1 n=400
	[[ $tool != lat ]] || n=50
	server "$@" -n $n
	within 20 grep -q "MAC attached" /tmp/said.b
	at a raw_ethernet_"$tool" -F -d "$DEV_A" --client -B "$(mac a)" -E "$(mac b)" "${@:2}" -n $n
	wait $server || fail "$(</tmp/said.b)"
	grep -qE "^ *[0-9]+ +$n " /tmp/said.b || fail "no figures: $(</tmp/said.b)"
}

# A sniffer rule makes the interface promiscuous, until the rule is removed.
sniff() {
	listens 0
	server bw --sniffer -D 30
	within 20 eval '! listens 0'
	kill $server
	within 10 listens 0
}
listens() { [[ $(at b ip -d link show "$NDEV_B") == *"promiscuity $1 "* ]]; }

# rdma link delete removes flow rules, and the promiscuous mode they have set.
deleted() {
	server bw --sniffer -D 30
	within 20 eval '! listens 0'
	at b rdma link delete "$DEV_B"
	within 10 gone b
	within 10 listens 0
	kill $server 2>/dev/null || :
	wait $server || :
	link_add b
	within 10 exists b
}

# The same when the interface is removed, or moved to another namespace.
unplugged() {
	local how
	at b ip link add x0 type veth peer name x1
	at b ip link set x0 up
	at b ip link set x1 up
	for how in "set x0 netns a" "delete x0"; do
		at b rdma link add rover_x type rover netdev x0
		within 10 exists b rover_x
		run_at b raw_ethernet_bw -F -d rover_x --server -B 02:00:00:00:00:01 -E 02:00:00:00:00:02 --sniffer -D 30 >/tmp/said.x 2>&1 &
		server=$!
		within 20 eval '[[ $(at b ip -d link show x0) == *"promiscuity "[1-9]* ]]'
		# shellcheck disable=SC2086 # words
		at b ip link $how
		within 10 gone b rover_x
		kill $server 2>/dev/null || :
		wait $server || :
		[[ $how == set* ]] || continue
		# The stack clears a MAC filter when the interface is up again.
		at a ip link set x0 up
		within 10 eval '[[ $(at a ip -d link show x0) == *"promiscuity 0 "* ]]'
		at a ip link set x0 netns b
		at b ip link set x0 up
	done
}

# over masters|ports CMD...: run CMD with devices on a bond (at a) and a bridge (at b), or on a port
# of either. Rules see a frame at the port, before it is passed to the bond or bridge. Both have
# addresses: the two ends also talk over TCP.
over() {
	local layer=$1 end number=0 ndev
	local -A master=([a]=la_bond [b]=la_bridge) port=([a]=la_s [b]=la_p)
	shift
	at_end layers_down
	at a ip link add la_bond type bond mode active-backup miimon 10 2>/dev/null || skip "no bonding on this kernel"
	at b ip link add la_bridge mtu 4200 type bridge || skip "no bridges on this kernel"
	ip link add la_s mtu 4200 netns a type veth peer name la_p mtu 4200 netns b
	for end in a b; do
		number=$((number + 1))
		at $end ip link set ${port[$end]} master ${master[$end]}
		at $end ip link set ${port[$end]} up
		at $end ip link set ${master[$end]} mtu 4200 up
		at $end ip addr add 10.79.0.$number/24 dev ${master[$end]}
		at $end ip addr add fd79::$number/64 dev ${master[$end]} nodad
		at $end ip addr add 10.79.1.$number/32 dev ${port[$end]}
		at $end ip addr add fd79:1::$number/128 dev ${port[$end]} nodad
		at $end ip route add 10.79.1.$((3 - number)) dev ${master[$end]} src 10.79.0.$number
		ndev=${master[$end]}
		[[ $layer != ports ]] || ndev=${port[$end]}
		at $end rdma link add rover_l$end type rover netdev $ndev
		export "DEV_${end^}=rover_l$end" "NDEV_${end^}=$ndev"
	done
	ADDR_A=10.79.0.1 ADDR_B=10.79.0.2 ADDR6_A=fd79::1 ADDR6_B=fd79::2
	[[ $layer != ports ]] || ADDR_A=10.79.1.1 ADDR_B=10.79.1.2 ADDR6_A=fd79:1::1 ADDR6_B=fd79:1::2
	export ADDR_A ADDR_B ADDR6_A ADDR6_B
	for end in a b; do within 10 has_gid $end rover_l$end "$(gid_text "$(addr_of $end)")"; done
	within 10 at a ping -c 1 -W 1 "$ADDR_B"
	"$@"
}

# shellcheck disable=SC2016 # the shell over there expands it
bridged() { look b 'echo $(<"$root/sys/class/net/la_bridge/statistics/rx_packets")'; }

# 400 frames to the MAC address of the bridge, taken by a rule of the port, do not reach the bridge.
taken() {
	local before
	before=$(bridged)
	raw_perftest bw -s 1000
	(($(bridged) - before < 100)) || fail "the bridge has seen $(($(bridged) - before)) packets"
}

layers_down() {
	at a ip link delete la_bond
	at b ip link delete la_bridge
	at a ip link delete la_s
}

pair_cases raw_data
pair_cases raw_roce
pair_cases raw_rules
pair_cases raw_error
if ! once; then
	try "frames without a receive, and with a short one, are counted" counted_at b out_of_buffer 1 \
		counted_at b rx_drop_receive_short 1 pair_quietly raw_error receive
	try "frames sent and received are counted" counted_at a tx_raw_frames 30 counted_at b rx_raw_frames 30 pair_quietly raw_data sizes
fi
if ! once; then
	try "raw_ethernet_bw" raw_perftest bw -s 1000
	try "raw_ethernet_bw of UDP over IPv4" raw_perftest bw -s 1000 -J "$ADDR_B" -j "$ADDR_A" -K 5000 -k 5001
	try "raw_ethernet_lat" raw_perftest lat -s 64
	try "a sniffer rule sets the interface promiscuous, and clears it" sniff
fi
try "frames sent on an interface that is down are dropped and counted" counted_at a tx_drop_local 100 pair_quietly raw_error down
if ! once; then try "rdma link delete removes flow rules and promiscuous mode" deleted; fi
if single; then
	try "removing or moving an interface removes its flow rules" unplugged
	if ! quick; then
		try "flow rules work on a bond and on a bridge" over masters counted_at b rx_raw_frames 30 pair_quietly raw_rules
		try "flow rules work on a port of a bond and of a bridge" over ports counted_at b rx_raw_frames 30 pair_quietly raw_rules
		try "frames taken by a rule of a bridge port do not reach the bridge" over ports taken
	fi
fi
try "no RDMA resources are left" let_go 10
finish
