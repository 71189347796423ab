#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gids: GIDs beyond the addresses of the own netdev: VLANs with priorities, link-local addresses, a
# bond that fails over. Each over RoCE v2 and v1.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/version.sh
. "$here/lib/version.sh"
# shellcheck source=selftests/lib/cm.sh
. "$here/lib/cm.sh"

limit=60

# VLANs **********************************************************************

# The kernel takes the service level as the packet priority, which the VLAN maps to the priority in its tag.
vlans_up() {
	local end number=0
	for end in a b; do
		number=$((number + 1))
		at $end ip link add link "$(ndev_of $end)" name vl_$end type vlan id 5 egress-qos-map 0:0 3:3 5:6
		at $end ip addr add 10.78.5.$number/24 dev vl_$end
		at $end ip link set vl_$end up
		within 10 has_gid $end "$(dev_of $end)" "$(gid_text 10.78.5.$number)"
	done
}
vlans_down() { for end in a b; do at $end ip link delete vl_$end; done 2>/dev/null; }

# pingpongs DEVICE_A INDEX_A DEVICE_B INDEX_B OPTION...: an RC and a UD pingpong
pingpongs() {
	pingpong_on ibv_rc_pingpong "$@" -s 4096
	pingpong_on ibv_ud_pingpong "$@" -s 1000
}

# vlan SL PRIORITY: packets of this service level have this priority in the VLAN tag. The GIDs are removed with the VLAN.
vlan() {
	local gid_a gid_b said
	at_end vlans_down
	vlans_up
	gid_a=$(gid_like a "$(gid_text 10.78.5.1)" "$DEV_A")
	gid_b=$(gid_like b "$(gid_text 10.78.5.2)" "$DEV_B")
	# The other end uses the same service level.
	hear pingpongs "$DEV_A" "$gid_a" "$DEV_B" "$gid_b" -l "$1" -n 5
	(($(wc -l </tmp/heard) >= 30)) || fail "only $(wc -l </tmp/heard) packets"
	said=$(grep -v "vlan 5, p $2, " /tmp/heard | head -n 3) || true
	[[ ! $said ]] || fail "not in VLAN 5 with priority $2: $said"
	vlans_down
	within 10 lacks_gid a "$DEV_A" "$(gid_text 10.78.5.1)"
	within 10 lacks_gid b "$DEV_B" "$(gid_text 10.78.5.2)"
}

# With a second device at b, packets of the VLAN are counted at the device below the VLAN, also those of queue pair 1.
vlan_counted() {
	local gid_a gid_b received
	at_end other_down
	at b ip link add y0 type veth peer name y1
	at b rdma link add rover_y type rover netdev y0
	at_end vlans_down
	vlans_up
	gid_a=$(gid_like a "$(gid_text 10.78.5.1)" "$DEV_A")
	gid_b=$(gid_like b "$(gid_text 10.78.5.2)" "$DEV_B")
	received=$(counter b rx_packets)
	pingpongs "$DEV_A" "$gid_a" "$DEV_B" "$gid_b" -n 20
	received=$(($(counter b rx_packets) - received))
	((received >= 40)) || fail "only $received packets"
	received=$(DEV_B=rover_y && counter b rx_packets)
	((!received)) || fail "the other device counts $received"
}
other_down() {
	at b ip link del y0
	within 10 gone b rover_y
}

# Link-local addresses ********************************************************

link_local() {
	local gid_a gid_b
	gid_a=$(gid_like a 'fe80:*' "$DEV_A")
	gid_b=$(gid_like b 'fe80:*' "$DEV_B")
	hear pingpongs "$DEV_A" "$gid_a" "$DEV_B" "$gid_b" -n 5
	if [[ ${ROCE:-v2} == v2 ]]; then
		grep -q 'fe80::.* > fe80::.*4791' /tmp/heard || fail "not between link-local addresses"
	fi
}

# link_local_of END INTERFACE: its link-local address, with the scope that programs need
link_local_of() { at "$1" ip -6 -o addr show dev "$2" scope link -tentative | sed -n 's|.* inet6 \(fe80[^/]*\)/.*|\1%'"$2|p"; }
has_link_local() { [[ $(link_local_of "$@") ]]; }

# A VLAN has the link-local address of the interface below. With rdma_cm both ends stay in the VLAN from the first message on.
vlan_link_local() {
	local address said mode="RoCE v2"
	at_end vlans_down
	vlans_up
	within 10 has_link_local a vl_a
	within 10 has_link_local b vl_b
	address=$(link_local_of b vl_b)
	[[ ${address%%%*} == "$(link_local_of b "$NDEV_B" | cut -d% -f1)" ]] || fail "$address is the VLAN's alone"
	at_end default_mode "$mode"
	[[ $ROCE == v2 ]] || mode="IB/RoCE v1"
	default_mode "$mode"
	hear rping_local "$address"
	said=$(grep -v 'vlan 5, ' /tmp/heard | head -n 3) || true
	[[ ! $said ]] || fail "not in VLAN 5: $said"
}
# The client's interface has another name than the server's.
rping_local() {
	next_port
	serve cm rping -s -V -C 5 -S 1000 -p "$port" -a "$1"
	ask rping -c -V -C 5 -S 1000 -p "$port" -a "${1%%%*}%vl_a"
	! grep -E 'error|mismatch' $said_a $said_b
}

# Bonds ***********************************************************************

# bo_a at a, of two interfaces whose other ends are ports of the bridge bo_b at b, and a device on each
bond_up() {
	local n
	at a ip link add bo_a type bond mode active-backup miimon 10 2>/dev/null || skip "no bonding on this kernel"
	at b ip link add bo_b mtu 4200 type bridge || skip "no bridges on this kernel"
	for n in 0 1; do
		ip link add bs_$n mtu 4200 netns a type veth peer name bp_$n mtu 4200 netns b
		at a ip link set bs_$n master bo_a
		at b ip link set bp_$n master bo_b up
		at a ip link set bs_$n up
	done
	at a ip addr add 10.79.0.1/24 dev bo_a
	at b ip addr add 10.79.0.2/24 dev bo_b
	at a ip link set bo_a mtu 4200 up
	at b ip link set bo_b up
	at a rdma link add rover_bo_a type rover netdev bo_a
	at b rdma link add rover_bo_b type rover netdev bo_b
	within 10 has_gid a rover_bo_a "$(gid_text 10.79.0.1)"
	within 10 has_gid b rover_bo_b "$(gid_text 10.79.0.2)"
	within 10 at a ping -c 1 -W 1 10.79.0.2
}
bond_down() {
	at a ip link delete bo_a
	at b ip link delete bo_b
	for n in 0 1; do at b ip link delete bp_$n; done
	within 10 gone a rover_bo_a
	within 10 gone b rover_bo_b
}

active() { at a cat /sys/class/net/bo_a/bonding/active_slave; }
is_active() { [[ $(active) == "$1" ]]; }

# bytes_of INTERFACE: bytes sent; carries INTERFACE BYTES: whether much more has been sent since
bytes_of() { at a ip -s -j link show "$1" | sed 's/.*"tx":{"bytes":\([0-9]*\).*/\1/'; }
carries() { (($(bytes_of "$1") > $2 + 100000)); }

# A transfer goes on while one interface after the other loses its link.
failover() {
	local gid_a gid_b first second transfer before duration=$((10 * slow))
	at_end bond_down
	at_end cat /tmp/said.bond
	bond_up
	gid_a=$(gid_like a "$(gid_text 10.79.0.1)" rover_bo_a)
	gid_b=$(gid_like b "$(gid_text 10.79.0.2)" rover_bo_b)
	first=$(active)
	second=bs_$((1 - ${first#bs_}))
	next_port
	both "ib_write_bw -F -p $port -d rover_bo_b -x $gid_b -D $duration -s 65536" \
		"ib_write_bw -F -p $port -d rover_bo_a -x $gid_a -D $duration -s 65536 $ADDR_B" >/tmp/said.bond 2>&1 &
	transfer=$!
	within 10 carries "$first" "$(bytes_of "$first")"
	before=$(bytes_of "$second")
	at a ip link set "$first" down
	within 10 is_active "$second"
	within 10 carries "$second" "$before"
	at a ip link set "$first" up
	sleep 0.2
	before=$(bytes_of "$first")
	at a ip link set "$second" down
	within 10 is_active "$first"
	within 10 carries "$first" "$before"
	wait $transfer || fail "the transfer fails: $(</tmp/said.bond)"
	[[ ! $(grep -iE 'failed|error' /tmp/said.bond) ]] || fail "$(</tmp/said.bond)"
}

for ROCE in v2 v1; do
	export ROCE
	try "$ROCE: a VLAN tag has the priority mapped from the service level" vlan 5 6
	try "$ROCE: packets of a VLAN are counted at the device below" vlan_counted
	if ! quick; then
		try "$ROCE: a VLAN tag has priority 0 for service level 0" vlan 0 0
		try "$ROCE: a VLAN tag has priority 0 for an unmapped service level" vlan 4 0
	fi
	try "$ROCE: data is transferred between link-local addresses" link_local
	try "$ROCE: rdma_cm connects link-local addresses of a VLAN" vlan_link_local
	# The bond needs both ends on one machine. QUICK=1 tests the less common RoCE v1 only, QUICK=2 neither.
	if single && ! once && ! { quick && [[ $ROCE == v2 ]]; }; then try "$ROCE: a transfer survives the failover of a bond" failover; fi
done
try "no RDMA resources are left" let_go 10
finish
