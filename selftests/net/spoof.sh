#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# spoof: only the device sends RoCE packets from the addresses of the host. Packets of UDP sockets
# and containers to port 4791 with these addresses are dropped, and only root sees PSNs.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)

# datagrams END ADDRESS PORT [CMD...]: send ten by a UDP socket; CMD is the wrapper of the sender
datagrams() {
	at "$1" "${@:4}" python3 -c '
import socket, sys
to, port = sys.argv[1], int(sys.argv[2])
s = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
for i in range(10): s.sendto(bytes([4, 0, 255, 255, 0, 0, 0, 99] + 40 * [0]), (to, port))' "$2" "$3"
}

# dropped_at_a BEFORE NUMBER: exactly NUMBER packets were dropped since
dropped_at_a() {
	local now
	now=$(($(counter a tx_drop_foreign) - $1))
	((now == $2)) || fail "$now were dropped and counted, not $2"
}

counted() {
	local before address
	before=$(counter a tx_drop_foreign)
	for address in "$ADDR_B" "$ADDR6_B" "$ADDR_A" "$ADDR6_A"; do
		refused "not permitted" datagrams a "$address" 4791 "${nobody[@]}"
	done
	dropped_at_a "$before" 4
	datagrams a "$ADDR_B" 4790 "${nobody[@]}"
	dropped_at_a "$before" 4
}
traced() { drops_traced 'tx_drop_foreign qpn=0x63 opcode=0x4 psn=0' -- refused "not permitted" datagrams a "$ADDR_B" 4791; }

# Packets are dropped only while the address has a device.
unlinked() {
	at_end mend a
	at a rdma link delete "$DEV_A"
	datagrams a "$ADDR_B" 4791
	link_add a
	within 10 has_gid a "$DEV_A" "$(gid_text "$ADDR_A")"
	within 10 has_gid a "$DEV_A" "$(gid_text "$ADDR6_A")"
}

# A namespace with addresses of its own, which end a routes.
container() {
	at_end at a ip netns del box
	at_end at a ip link del box0
	at_end at b ip route del 10.99.0.0/24
	at_end at b ip -6 route del fd99::/64
	at a ip netns add box
	at a ip link add box0 mtu 4200 type veth peer name box1 netns box
	at a ip addr add 10.99.0.1/24 dev box0
	at a ip addr add fd99::1/64 dev box0 nodad
	at a ip link set box0 up
	at a ip -n box addr add 10.99.0.2/24 dev box1
	at a ip -n box addr add fd99::2/64 dev box1 nodad
	at a ip -n box link set box1 up
	at a ip -n box route add default via 10.99.0.1
	at a ip -n box -6 route add default via fd99::1
	at_end at a sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
	at a sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	at b ip route replace 10.99.0.0/24 via "$ADDR_A"
	at b ip -6 route replace fd99::/64 via "$ADDR6_A"
}
in_box=(ip netns exec box "${nobody[@]}")
masquerade() {
	at_end at a nft delete table inet rover_test
	at a nft add table inet rover_test
	at a nft 'add chain inet rover_test out { type nat hook postrouting priority srcnat; }' || skip "this kernel has no NAT"
	at a nft "add rule inet rover_test out oifname $NDEV_A masquerade"
}
# came BEFORE: b has received ten more packets for an unknown queue pair
came() { (($(counter b rx_drop_unknown_qp) >= $1 + 10)); }

forwarded() {
	local before came address
	container
	before=$(counter a tx_drop_foreign)
	for address in "$ADDR_B" "$ADDR6_B"; do
		came=$(counter b rx_drop_unknown_qp)
		datagrams a "$address" 4791 "${in_box[@]}"
		within 10 came "$came"
	done
	dropped_at_a "$before" 0
	masquerade
	came=$(counter b rx_drop_unknown_qp)
	for address in "$ADDR_B" "$ADDR6_B"; do datagrams a "$address" 4791 "${in_box[@]}"; done
	nap 0.5
	dropped_at_a "$before" 20
	(($(counter b rx_drop_unknown_qp) == came)) || fail "b has received some"
}

# raw ADDRESS QPN: ten packets with a wrong ICRC from a, by a raw socket
raw() {
	at a python3 -c '
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
body = bytes([4, 0, 255, 255]) + struct.pack("!II", int(sys.argv[2]), 0) + bytes(1024)
for i in range(10): s.sendto(struct.pack("!4H", 50000, 4791, 8 + len(body), 0) + body, (sys.argv[1], 0))' "$@"
}
# grown COUNTER BEFORE: the counter of b has grown by ten
grown() { (($(counter b "$1") >= $2 + 10)); }

# Packets for no queue pair, or from a wrong peer, are dropped before the ICRC check.
junk() {
	local unknown peer icrc qpn
	hold_objects b --qps 1 --gid "$(gid_index b "$ADDR_B")"
	qpn=$(($(awk '/^qp/ { print $2; exit }' "$held")))
	unknown=$(counter b rx_drop_unknown_qp) peer=$(counter b rx_drop_wrong_peer) icrc=$(counter b rx_icrc_encapsulated)
	raw "$ADDR_B" 99
	raw "$ADDR_B" $qpn
	within 10 grown rx_drop_unknown_qp "$unknown"
	within 10 grown rx_drop_wrong_peer "$peer"
	(($(counter b rx_icrc_encapsulated) == icrc)) || fail "some were summed"
	release
}

# The core shows PSNs of zero. Rover's own PSNs are in the details for root.
psns() {
	local shown
	hold_objects a --qps 1 --gid "$(gid_index a "$ADDR_A")"
	shown=$(at a "${nobody[@]}" rdma -dd resource show qp link "$DEV_A")
	[[ $shown == *" rq-psn 0 sq-psn 0 "*drv_msn* ]] || fail "nobody sees $shown"
	[[ ! $shown =~ drv_(una|psn|next_psn|epsn) ]] || fail "nobody sees $shown"
	shown=$(at a rdma -dd resource show qp link "$DEV_A")
	[[ $shown == *drv_una*drv_next_psn*drv_epsn* ]] || fail "root sees $shown"
	release
}

pair_cases spoof_udp
try "packets to UDP port 4791 from a socket are dropped and counted" counted
try "packets to UDP port 4791 from a socket are dropped and traced" traced
try "packets of a container pass with its own address, and are dropped with that of the host" forwarded
try "packets of no queue pair or a wrong peer are dropped before the ICRC check" junk
try "only root sees PSNs in rdma resource show" psns
try "UDP port 4791 can be used after the device is deleted" unlinked
try "data transfer works afterwards" traffic
finish
