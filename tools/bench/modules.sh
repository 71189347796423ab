# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# modules.sh: several builds of rover in one guest, for those who compare them.

# in_one_guest SCRIPT OPTION... -- NAME=FILE... [-- WORD...]: run SCRIPT --in-guest NAME... [-- WORD...] in a guest that has the files
in_one_guest() {
	local script=$1 options=() names=()
	shift
	while [[ $1 != -- ]]; do options+=("$1") && shift; done
	shift
	mkdir -p build/modules
	while (($#)) && [[ $1 != -- ]]; do
		cp "${1#*=}" "build/modules/${1%%=*}.ko" || return
		names+=("${1%%=*}")
		shift
	done
	((${#names[@]})) || die "no module; NAME=FILE..."
	"$vm" run --kernel "${KERNEL:-newest}" --quiet "${options[@]}" -- "$script" --in-guest "${names[@]}" "$@"
}

# use NAME: in the guest: rover from this module, with a device at each end
use() {
	local end
	for end in a b; do on $end rdma link del rover_$end 2>/dev/null; done
	rmmod rover && insmod "build/modules/$1.ko" || exit
	on a rdma link add rover_a type rover netdev "$NDEV_A" && on b rdma link add rover_b type rover netdev "$NDEV_B" || exit
	# Addresses become GIDs, and IPv6 addresses are checked for duplicates.
	sleep 2
}
