#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# basic: the attributes that the device reports, and ibv_rc_pingpong in all its modes.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

# at_least INFO NAME NUMBER
at_least() {
	local value
	value=$(awk -v name="$2:" '$1 == name { print $2; exit }' "$1")
	[[ $value =~ ^(0x[0-9a-f]+|[0-9]+)$ ]] || fail "$2 is \"$value\""
	((value >= $3)) || fail "$2 is $value, less than $3"
}

attributes() {
	local info=/tmp/devinfo gid
	at "$1" ibv_devinfo -v -d "$(dev_of "$1")" >$info
	cat $info
	at_least $info max_cqe 1000000
	at_least $info max_qp 65536
	at_least $info max_mr 1000000
	at_least $info max_qp_wr 1024
	at_least $info max_sge 2
	at_least $info max_cq 1024
	at_least $info max_qp_rd_atom 1
	at_least $info max_qp_init_rd_atom 1
	at_least $info pkey_tbl_len 1
	at_least $info gid_tbl_len 3
	at_least $info max_msg_sz $((1 << 23))
	grep -q 'state:.*PORT_ACTIVE' $info
	grep -q 'link_layer:.*Ethernet' $info
	grep -q 'atomic_cap:.*ATOMIC_\(HCA\|GLOB\)' $info
	grep -q 'max_mtu:.*4096' $info
	grep -q 'active_mtu:.*4096' $info
	for gid in "::ffff:$(addr_of "$1")" "$(addr6_of "$1")" fe80::; do
		grep -qE "GID\[.*$gid.*RoCE v2" $info || fail "no GID $gid"
	done
	# ibv_devinfo prints GIDs of RoCE v1 as numbers.
	for gid in "$(gid_text "$(addr_of "$1")")" "$(gid_text "$(addr6_of "$1")")" fe80:; do
		grep -qE "GID\[.*$gid.*RoCE v1" $info || fail "no GID $gid of RoCE v1"
	done
	grep -q 'node_guid:' $info && ! grep -q 'node_guid:.*0000:0000:0000:0000' $info
}

for end in a b; do try "ibv_devinfo -v of $end: limits, state, GIDs" attributes $end; done
know_gids
few=200
! quick || few=30
try "ibv_rc_pingpong, polling" pingpong -n $few
try "ibv_rc_pingpong -e, with events" pingpong -e -n $few
try "ibv_rc_pingpong -N, by ibv_wr_*()" pingpong -N -n $few
for size in 1 4097 65536 1048576; do try "ibv_rc_pingpong of $size bytes" pingpong -n 20 -s $size; done
for mtu in 256 512 1024 2048 4096; do try "ibv_rc_pingpong at path MTU $mtu" pingpong -n 30 -m $mtu -s 9999; done
family=6
try "ibv_rc_pingpong over IPv6" pingpong -n $few
try "ibv_rc_pingpong over IPv6 with events, 64 KiB at path MTU 4096" pingpong -e -n 30 -m 4096 -s 65536
finish
