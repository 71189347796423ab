#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# shortcut: between two ends on one machine packets bypass the network stack as long as nothing
# observes their path. A firewall or capture that is added sees all packets, no packet overtakes
# another, and interface statistics count the packets.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

handed() {
	local family handed packets
	for family in 4 6; do
		handed=$(count tx_shortcut) packets=$(count tx_packets)
		pingpong -n 2000 -s 64
		handed=$(($(count tx_shortcut) - handed)) packets=$(($(count tx_packets) - packets))
		echo "note: over IPv$family $packets packets, $handed of them handed over"
		((packets >= 4000)) || fail "that is too few to tell"
		if single; then
			((10 * handed >= 8 * packets)) || fail "most have gone by the stack"
		else
			((!handed)) || fail "to another machine?"
		fi
	done
}

# Each queue pair sends one packet a second through the stack, and later packets must not overtake
# it. A stream that changes processors makes a few gaps in any case; with a wrong order there were
# hundreds.
in_order() {
	local bad='packet_seq_err implied_nak_seq_err' gaps tool
	# shellcheck disable=SC2086 # words
	gaps=$(count $bad)
	for tool in "write_lat -s 64" "read_lat -s 64" "write_bw -s 64 -q 16" "read_bw -s 64" "write_bw -s 65536"; do
		# shellcheck disable=SC2086 # words
		perftest $tool -D "$duration" -f 0
	done
	# shellcheck disable=SC2086
	gaps=$(($(count $bad) - gaps))
	echo "note: $gaps gaps"
	((gaps < 20)) || fail "$gaps gaps"
}

# interface END: received bytes and packets, then sent bytes and packets
# shellcheck disable=SC2016 # the shell over there expands
interface() { look "$1" 'awk -v name="$1:" '\''$1 == name { print $2, $3, $10, $11 }'\'' $net/dev' "$(ndev_of "$1")"; }

# READ responses of 64 KiB are queued to the receiver's backlog, and those that came by the stack
# must open the shortcut even so.
long_trains() {
	local handed trains
	handed=$(counter b tx_shortcut) trains=$(counter b tx_trains)
	perftest read_bw -s 65536 -m 1024 -D "$duration" -f 0
	handed=$(since b tx_shortcut "$handed") trains=$(since b tx_trains "$trains")
	echo "note: $trains trains, $handed of them handed over"
	((trains >= 500)) || fail "that is too few to tell"
	((10 * handed >= 8 * trains)) || fail "most have gone by the stack"
}

# The interface counts the Ethernet header too.
counted() {
	local before after packets bytes
	read -ra before < <(interface a)
	packets=$(counter a tx_packets) bytes=$(counter a tx_bytes)
	pingpong -n 2000 -s 64
	read -ra after < <(interface a)
	packets=$(($(counter a tx_packets) - packets)) bytes=$(($(counter a tx_bytes) - bytes))
	echo "note: $packets packets of $bytes bytes; the interface has $((after[3] - before[3])) of $((after[2] - before[2]))"
	((after[3] - before[3] >= packets && after[3] - before[3] < packets + 200)) || fail "that is another number"
	((after[2] - before[2] >= bytes + 14 * packets)) || fail "that is too little"
	((after[1] - before[1] >= packets)) || fail "and the other way"
}

# talk UNDO: a ping-pong that runs until the end of the case; then UNDO. Its processes are in $talk,
# its output in /tmp/said.a and .b. Its timeout is four seconds: some cases disable the interface
# for one. The programs poll: nice leaves the CPU to the tools that this test starts.
talk() {
	local tool
	# shellcheck disable=SC2086 # words
	at_end $1
	at_end cat /tmp/said.a /tmp/said.b
	next_port
	tool=(nice -n 19 ib_write_lat -F -p "$port" -u 17 -D $((50 * slow)) -m 1024 -s "${size:-2}")
	run_at b "${tool[@]}" -d "$DEV_B" >/tmp/said.b 2>&1 </dev/null &
	talk=($!)
	await_server b "$port" ${talk[0]}
	run_at a "${tool[@]}" -d "$DEV_A" "$ADDR_B" >/tmp/said.a 2>&1 </dev/null &
	talk+=($!)
	within 20 grows a tx_shortcut
	within 20 grows b tx_shortcut
}

since() { echo $(($(counter "$1" "$2") - $3)); }
# grows END COUNTER
grows() {
	local before
	before=$(counter "$1" "$2")
	nap 0.2
	(($(since "$1" "$2" "$before") > 20))
}

# stands END: END sends packets, and all of them through the stack
stands() {
	local end=$1 handed packets
	within 20 grows "$end" tx_packets
	handed=$(counter "$end" tx_shortcut) packets=$(counter "$end" tx_packets)
	nap 0.5
	handed=$(since "$end" tx_shortcut "$handed") packets=$(since "$end" tx_packets "$packets")
	echo "note: of $packets packets $handed were handed over"
	((packets > 20)) || fail "it sends nothing"
	((!handed)) || fail "$handed of $packets packets were handed over"
}

# watched BEGIN END: after BEGIN no packet from a to b takes the shortcut, after END they do again
watched() {
	talk "$2"
	$1
	stands a
	$2
	within 20 grows a tx_shortcut
}

# table END FAMILY HOOK...: an nftables chain that accepts all packets
table() {
	at "$1" nft add table "$2" rover_test || skip "no tables of $2 on this kernel"
	at "$1" nft "add chain $2 rover_test c { type filter hook ${*:3} priority 0; }"
}
no_table() { at "$1" nft delete table "$2" rover_test; }

capture() {
	run_at "$1" tcpdump -i "$(ndev_of "$1")" -U -s 100 -w /tmp/short.pcap udp port 4791 >/tmp/tcpdump 2>&1 </dev/null &
	watcher=$!
	within 20 grep -q 'listening on' /tmp/tcpdump
}
leave() {
	kill "$watcher"
	wait "$watcher" || true
	rm -f /tmp/short.pcap /tmp/there
}

# ip_socket [INTERFACE]: a packet socket at b for IP only, on one interface or all
ip_socket() {
	run_at b python3 -c '
import socket, sys, time
ip = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x800))
if sys.argv[1:]:
    ip.bind((sys.argv[1], 0x800))
print("there", flush=True)
time.sleep(60)' "$@" >/tmp/there 2>&1 </dev/null &
	watcher=$!
	within 20 grep -q there /tmp/there
}

# Before 6.6 clsact without a filter does not process packets.
traffic_control() {
	at "$1" tc qdisc add dev "$(ndev_of "$1")" clsact
	at "$1" tc filter add dev "$(ndev_of "$1")" "$2" matchall action ok
}
no_traffic_control() { at "$1" tc qdisc del dev "$(ndev_of "$1")" clsact; }
queue() { at a tc qdisc "$1" dev "$NDEV_A" root pfifo; }
spread() { at b bash -c "for file in /sys/class/net/$NDEV_B/queues/rx-*/rps_cpus; do echo $1 >\$file || exit; done" || skip "this kernel spreads none"; }

# Packets from a to b are sent as ESP, with a null cipher.
states() {
	local end
	for end in a b; do at $end ip xfrm state "$1" src "$ADDR_A" dst "$ADDR_B" proto esp spi 7 "${@:2}" || return; done
}
policy() { at a ip xfrm policy "$1" src "$ADDR_A" dst "$ADDR_B" proto udp dport 4791 dir out "${@:2}"; }
encrypt() {
	states add mode transport enc "ecb(cipher_null)" "" auth digest_null "" || skip "this kernel has no ESP"
	policy add tmpl proto esp mode transport
}
# Trains are split before ESP, not at the interface.
trains_encrypted() {
	at_end in_clear
	encrypt
	perftest write_bw -n 200 -s 65536 -m 2048
}
in_clear() {
	policy delete
	states delete
}

# master END WORDS...: the netdev of END gets a master of this kind
master() {
	at "$1" ip link add rover_master type "${@:2}" || skip "no $2 on this kernel"
	at "$1" ip link set rover_master mtu 4200 up
	# The socket of RoCE is in no VRF.
	at "$1" sysctl -q net.ipv4.udp_l3mdev_accept=1
	at "$1" ip link set "$(ndev_of "$1")" master rover_master
}
no_master() {
	at "$1" sysctl -q net.ipv4.udp_l3mdev_accept=0
	at "$1" ip link del rover_master
	# An interface loses its IPv6 addresses when it enters or leaves a VRF.
	at "$1" ip addr replace "$(addr6_of "$1")/64" dev "$(ndev_of "$1")" nodad
}

takes() { at b ip link set "$NDEV_B" mtu "$1"; }

# The end that waits for an ACK fails; the other end may wait for the next WRITE.
either_over() { is_over "${talk[0]}" || is_over "${talk[1]}"; }

# severed BEGIN END: after BEGIN no packet arrives at b, and the connection fails
severed() {
	talk "$2"
	$1
	within 30 either_over
	grep -q 'Completion with error' /tmp/said.[ab] || fail "it ends with \"$(tail -n 1 /tmp/said.a)\""
}

refuse() {
	table b inet input
	at b nft add rule inet rover_test c udp dport 4791 drop
}

# The stack drops packets longer than the route MTU: the shortcut may take none of them. It may take a few ACKs.
short_route() { at a ip route add "$ADDR_B" dev "$NDEV_A" src "$ADDR_A" mtu 1000; }
full_route() { at a ip route del "$ADDR_B"; }
too_long() {
	local size=1024 before
	talk full_route
	short_route
	before=$(count tx_shortcut)
	within 30 either_over
	grep -q 'Completion with error' /tmp/said.[ab] || fail "it ends with \"$(tail -n 1 /tmp/said.a)\""
	before=$(($(count tx_shortcut) - before))
	((before < 20)) || fail "$before packets were handed over after the route had changed"
}

wrong_neighbour() { at a ip neigh replace "$ADDR_B" lladdr 02:00:00:00:00:01 nud permanent dev "$NDEV_A"; }
right_neighbour() { at a ip neigh del "$ADDR_B" dev "$NDEV_A"; }

duration=3
! quick || duration=2
know_gids
try "packets take the shortcut when nothing observes the path" handed
if single; then
	try "interface statistics count packets of the shortcut" counted
	try "packets are not reordered by the shortcut" in_order
	try "READ responses of 64 KiB take the shortcut" long_trains
	pair_cases rc_data brief much
	try "a capture at the sender disables the shortcut" watched "capture a" leave
	once || try "a capture at the receiver disables the shortcut" watched "capture b" leave
	try "a packet socket for IP on the interface disables the shortcut" watched "ip_socket $NDEV_B" leave
	try "a packet socket for IP on all interfaces disables the shortcut" watched ip_socket leave
	hooks=("a inet output" "b netdev ingress device $NDEV_B")
	quick || hooks+=("a inet postrouting" "b inet prerouting" "b inet input" "a netdev egress device $NDEV_A")
	for hook in "${hooks[@]}"; do
		# shellcheck disable=SC2086 # words
		set -- $hook
		try "an nftables chain at $1, $2 $3, disables the shortcut" watched "table $hook" "no_table $1 $2"
	done
	try "a tc egress filter at the sender disables the shortcut" watched "traffic_control a egress" "no_traffic_control a"
	try "a qdisc disables the shortcut" watched "queue add" "queue del"
	try "an IPsec policy disables the shortcut" watched encrypt in_clear
	try "packet trains pass IPsec" trains_encrypted
	try "a VRF at the receiver disables the shortcut" watched "master b vrf table 10" "no_master b"
	if ! quick; then
		try "a tc ingress filter at the receiver disables the shortcut" watched "traffic_control b ingress" "no_traffic_control b"
		try "RPS at the receiver disables the shortcut" watched "spread 3" "spread 0"
		try "a VRF at the sender disables the shortcut" watched "master a vrf table 10" "no_master a"
		try "a bridge at the receiver disables the shortcut" watched "master b bridge" "no_master b"
		try "a smaller MTU at the receiver disables the shortcut" watched "takes 1500" "takes 4200"
	fi
	try "a route MTU below the packet size stops the connection" too_long
	try "a new firewall rule stops a running connection" severed refuse "no_table b inet"
	once || try "a wrong neighbour entry stops a running connection" severed wrong_neighbour right_neighbour
fi
try "data transfer works afterwards" traffic
finish
