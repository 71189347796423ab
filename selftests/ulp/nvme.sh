#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nvme: NVMe over RDMA, host and target of the kernel. Each command carries the key of memory that a
# work request registers, and the response invalidates the key.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"
# shellcheck source=selftests/lib/version.sh
. "$here/lib/version.sh"

limit=100
nqn=nqn.2024-01.test.rover:disk
nvmet=$here/ulp/nvmet
[[ -e $nvmet ]] || nvmet=$here/../tools/nvmet
port=/sys/kernel/config/nvmet/ports/4420
subsystem=/sys/kernel/config/nvmet/subsystems/$nqn
host=(--hostnqn=nqn.2014-08.org.nvmexpress:uuid:5be0de5b-9f5e-4d0e-8ba2-000000000001 --hostid=5be0de5b-9f5e-4d0e-8ba2-000000000001)

# NVMe uses the initial network namespace only. With both ends on one machine a device there connects to itself.
if single; then
	address=10.89.0.1 device=rover_n
	host() { timeout $((limit * slow)) "$@"; }
	target() { host "$@"; }
else
	address=$ADDR_B device=$DEV_A
	host() { at a "$@"; }
	target() { at b "$@"; }
fi

# Its packets do not reach its netdev.
if single; then
	ends=a
	qdisc() { tc qdisc "$2" dev lo root "${@:3}"; }
	count() { DEV_A=$device counter a "$@"; }
fi

add_device() {
	single || return 0
	[[ -e /sys/class/net/n0 ]] || ip link add n0 mtu 4200 type veth peer name n1 mtu 4200
	ip addr replace $address/24 dev n0
	ip link set n1 up
	ip link set n0 up
	[[ -e /sys/class/infiniband/$device ]] || rdma link add $device type rover netdev n0
	within 10 has_address
}
has_address() { [[ $(cat /sys/class/infiniband/$device/ports/1/gids/{0..7} 2>/dev/null) == *"$(gid_text $address)"* ]]; }

offer() {
	add_device
	host modprobe nvme-rdma || skip "this kernel has no NVMe over RDMA"
	target modprobe -n nvmet-rdma || skip "this kernel has no target for NVMe over RDMA"
	target bash -c 'modprobe brd rd_nr=1 rd_size=32768 2>/dev/null || [[ -b /dev/ram0 ]]'
	target "$nvmet" offer $nqn $address /dev/ram0
}

withdraw() {
	local end
	host modprobe -r nvme-rdma
	target "$nvmet" withdraw $nqn
	if single; then
		rdma link delete $device
		ip link delete n0
		return
	fi
	# The core keeps shared completion queues until the device is deleted.
	for end in a b; do
		at $end rdma link delete "$(dev_of $end)"
		link_add $end
	done
	let_go 10
}

# The host is on this machine in both topologies: look without starting a program.
have_disk() {
	local path
	for path in /sys/class/nvme/nvme*/nvme*n1 /sys/class/nvme-subsystem/*/nvme*n1; do
		disk=/dev/${path##*/}
		[[ ! -b $disk ]] || return 0
	done
	disk=
	return 1
}
no_disk() { ! have_disk; }

connect() {
	! have_disk || return 0
	host nvme connect -t rdma -a $address -s 4420 -n $nqn -i 1 -Q 16 --reconnect-delay=1 "${host[@]}" && within 20 have_disk
}
alive() { connect && [[ $(show /sys/class/nvme/nvme*/state) == live ]]; }
disconnect() {
	host nvme disconnect -n $nqn
	within 20 no_disk
}

# Random data in blocks of this size, written, read, and compared on the way.
check_data() {
	host fio --name=data --filename="$disk" --direct=1 --ioengine=libaio --iodepth=8 --rw=randwrite --size="$2" \
		--bsrange="$1" --verify=crc32c --verify_fatal=1 --group_reporting >/tmp/fio.nvme 2>&1 || fail "$(</tmp/fio.nvme)"
}

# blocks RANGE...: one disk for all of them
blocks() {
	local size=8m range
	! quick || size=1m
	! once || size=256k
	connect
	for range; do check_data "$range" $size; done
	disconnect
}

again_and_again() {
	local n turns=100
	! quick || turns=2
	! once || turns=1
	head -c 256k /dev/urandom >/tmp/nvme.data
	for ((n = 0; n < turns; n++)); do
		connect
		host dd of="$disk" bs=64k oflag=direct iflag=fullblock status=none </tmp/nvme.data
		host dd if="$disk" bs=64k count=4 iflag=direct status=none | cmp - /tmp/nvme.data
		disconnect
	done
	connect
	disconnect
}

# The device is deleted under a disk, and added again. If it is the device of the target too, the
# host reconnects; otherwise the disk is removed, and the target has to listen again.
pulled() {
	connect
	host rdma link delete $device
	if single; then
		add_device
		rm $port/subsystems/$nqn
		ln -s $subsystem $port/subsystems/
	else
		within 30 no_disk
		link_add a
	fi
	within 60 alive
	check_data 4k-4k 256k
	disconnect
}

try "an NVMe target with RDMA is started" offer
if ((ktap_failed + ktap_skipped == 0)); then
	once || try "blocks of 4 KiB are written and verified" blocks 4k-4k
	try "blocks of 512 bytes to 1 MiB are written and verified" blocks 512-1m
	# Small blocks make many packets, some of which are lost; large blocks make long retransmissions.
	ranges=(4k-4k 4k-1m) loss=0.1%
	if once; then ranges=(4k-64k) loss=1%; fi
	try "blocks of ${ranges[*]} are written and verified with $loss loss" lossy $loss blocks "${ranges[@]}"
	if ! single && ! quick; then try "blocks are written and verified over RoCE v1" managed blocks 4k-1m; fi
	try "the host connects and disconnects repeatedly" again_and_again
	try "the host reconnects after its device is deleted and added" pulled
	try "host and target are removed, no resources are left" withdraw
fi
finish
