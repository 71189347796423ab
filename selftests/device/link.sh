#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# link: rdma link add and delete, and how a device follows its netdev. The devices are on veth pairs
# x0-x1 at end a, beside the one that is there.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

rename=x_rover

# Another netdev at a, with an IPv4 and an IPv6 address.
x_up() {
	x_down
	at a ip link add x0 mtu 4200 type veth peer name x1 mtu 4200
	at a ip addr add 10.88.0.1/24 dev x0
	at a ip addr add fd88::1/64 dev x0 nodad
	at a ip link set x1 up
	at a ip link set x0 up
	within 5 has_link_local a x0
}
x_down() { at a ip link delete x0 2>/dev/null || at a ip link delete x9 2>/dev/null || true; within 10 gone a $rename; }
x_add() { at a rdma link add $rename type rover netdev x0; }
x_has_gid() { [[ $(gids a $rename) =~ $1 ]]; }
x_lacks_gid() { ! x_has_gid "$1"; }
x_info() { at a ibv_devinfo -v -d $rename; }
x_says() { [[ $(x_info) =~ $1 ]]; }

add_and_delete() {
	local n
	for n in 1 2 3 4 5; do
		at a rdma link delete "$DEV_A"
		gone a || fail "it is still there"
		link_add a
		exists a || fail "it is not there"
	done
	traffic
}

wrong_use() {
	refused "No such device" at a rdma link add y type rover netdev there_is_none
	refused "File exists" at a rdma link add y type rover netdev "$NDEV_A"
	gone a y
	x_up
	refused "File exists" at a rdma link add "$DEV_A" type rover netdev x0
	if at a ip link add t0 type ipip local 10.88.0.1 remote 10.88.0.2; then
		refused "not supported" at a rdma link add y type rover netdev t0
		at a ip link delete t0
	fi
	# A VLAN needs no device: its addresses are GIDs of the device below.
	if at a ip link add t0 link x0 type vlan id 5; then
		refused "not supported" at a rdma link add y type rover netdev t0
	fi
	gone a y
	traffic
}

second_device() {
	x_up
	x_add
	[[ $(at a rdma link show) == *"link $rename/1 state ACTIVE physical_state LINK_UP netdev x0"* ]] || fail "$(at a rdma link show)"
	# The first device is not affected.
	traffic
	at a rdma link delete $rename
	gone a $rename || fail "still there"
	traffic
}

gids_at_once() {
	local said type gid
	x_up
	# One shell runs both commands: no time passes between them.
	# shellcheck disable=SC2016 # the shell over there expands this
	said=$(at a bash -ec 'rdma link add $0 type rover netdev x0
		cd /sys/class/infiniband/$0/ports/1
		for i in {0..9}; do echo "$(<gids/$i) $(cat gid_attrs/types/$i 2>/dev/null || true)"; done' $rename)
	echo "$said"
	for type in "IB/RoCE v1" "RoCE v2"; do
		for gid in 0000:0000:0000:0000:0000:ffff:0a58:0001 fd88:0000:0000:0000:0000:0000:0000:0001 fe80:; do
			[[ $(grep -c "^${gid}[^ ]* $type$" <<<"$said") == 1 ]] || fail "no GID $gid of type $type, or several"
		done
	done
	[[ $(grep -vc '^0000:0000:0000:0000:0000:0000:0000:0000' <<<"$said") == 6 ]] || fail "not three GIDs of each type"
}

addresses() {
	x_up
	x_add
	at a ip addr add 10.88.0.9/24 dev x0
	within 5 x_has_gid "0000:ffff:0a58:0009"
	at a ip addr add fd88::9/64 dev x0 nodad
	within 5 x_has_gid "fd88:.*:0009"
	at a ip addr del 10.88.0.9/24 dev x0
	within 5 x_lacks_gid "0000:ffff:0a58:0009"
	at a ip addr del fd88::9/64 dev x0
	within 5 x_lacks_gid "fd88:.*:0009"
	x_has_gid "0000:ffff:0a58:0001" || fail "one GID too many has gone"
}

mtus() {
	local mtu
	x_up
	x_add
	for mtu in 4200:4096 1500:1024 9000:4096 3000:2048 1280:1024 700:512; do
		at a ip link set x0 mtu ${mtu%:*}
		x_says "active_mtu:"[[:space:]]*"${mtu#*:} " || fail "MTU ${mtu%:*}, but $(x_info | grep active_mtu)"
	done
}

state_is() { [[ $(at a cat /sys/class/infiniband/$rename/ports/1/state) == *"$1"* ]]; }
up_and_down() {
	x_up
	x_add
	state_is ACTIVE || fail "not active"
	holding=$rename hold_objects a
	at a ip link set x0 down
	within 5 state_is DOWN
	within 5 grep -q 'event.*port error' "$held"
	[[ $(at a rdma link show $rename/1) == *"state DOWN"* ]] || fail "rdma link says otherwise"
	at a ip link set x0 up
	within 5 state_is ACTIVE
	within 5 grep -q 'event.*port active' "$held"
	# The peer goes down, as if the cable was pulled.
	at a ip link set x1 down
	within 5 state_is DOWN
	at a ip link set x1 up
	within 5 state_is ACTIVE
	release
}

renamed() {
	x_up
	x_add
	at a ip link set x0 down
	at a ip link set x0 name x9 up
	[[ $(at a rdma link show $rename/1) == *"netdev x9"* ]] || fail "$(at a rdma link show)"
	within 5 state_is ACTIVE
	within 5 x_has_gid "0000:ffff:0a58:0001"
	at a rdma link delete $rename
}

removed() {
	x_up
	x_add
	promptly at a ip link delete x0
	within 5 gone a $rename
	traffic
}

autoload() {
	x_down
	unload
	! grep -q '^rover ' /proc/modules || fail "still loaded"
	link_add a || fail "rdma link add does not load the module"
	grep -q '^rover ' /proc/modules
	mend
	traffic
}

# Without `at` commands run in the initial namespace: before 7.2 rxe takes its UDP port there only.
taken() {
	local end
	modprobe -n rdma_rxe || skip "no rdma_rxe on this kernel"
	for end in a b; do at $end rdma link delete "$(dev_of $end)"; done
	at_end mend
	modprobe rdma_rxe
	at_end rmmod rdma_rxe
	ip link add y0 type veth peer name y1
	at_end ip link delete y0
	ip link set y1 up
	ip link set y0 up
	at_end rdma link delete rover_y
	at_end rdma link delete rxe_y
	rdma link add rxe_y type rxe netdev y0
	dmesg -C
	refused "Address already in use" rdma link add rover_y type rover netdev y1
	dmesg
	dmesg | grep -i 'rover.*4791' || fail "the kernel's log does not say which port is taken"
	rdma link delete rxe_y
	rmmod rdma_rxe
	rdma link add rover_y type rover netdev y1 || fail "the port is free, but refused"
	rdma link delete rover_y
}

# rate_is NUMBER: Gb/s
rate_is() { [[ $(at a cat /sys/class/infiniband/$rename/ports/1/rate) == "$1 Gb/sec"* ]]; }
# A tap has the speed that ethtool sets, and sends no event when it changes.
speed() {
	local speed
	x_down
	modprobe tun
	at a ip tuntap add dev x0 mode tap || skip "no tap on this kernel"
	at a ip link set x0 up
	x_add
	for speed in 100000:100 25000:25 10000:10 40000:40; do
		at a ethtool -s x0 speed ${speed%:*} duplex full
		within 1 rate_is ${speed#*:}
	done
	at a ip link delete x0
}

know_gids
try "a device is deleted and added, five times" add_and_delete
try "rdma link add refuses a missing or used netdev, a used name, and no Ethernet" wrong_use
try "a second device on another netdev" second_device
try "the GID table is complete when rdma link add returns" gids_at_once
try "IP addresses that are added and removed are GIDs" addresses
try "active_mtu follows the MTU of the netdev" mtus
try "the port rate follows the speed of the netdev" speed
try "port state and events follow the netdev and its carrier" up_and_down
try "a device follows a renamed netdev" renamed
try "removing the netdev removes the device" removed
try "rdma link add loads the module" autoload
try "rdma link add fails with EADDRINUSE while rdma_rxe has UDP port 4791" taken
x_down
finish
