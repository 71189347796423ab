# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# lib.sh: what all parts of rover(1) share: where devices, counters and libraries are.

root=${ROVER_ROOT:-}
ib=$root/sys/class/infiniband
udp_port=4791

die() { echo "rover: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
need_root() { ((EUID == 0)) || [[ $root ]] || die "$1 needs root"; }

# value FILE: its first line in REPLY, empty if there is none
value() {
	REPLY=
	[[ ! -r $1 ]] || read -r REPLY 2>/dev/null <"$1" || true
}

# The devices whose port has a counter of this name: each driver has some of its own.
devices_with() {
	local dir
	for dir in "$ib"/*; do
		[[ ! -e $dir/ports/1/hw_counters/$1 ]] || echo "${dir##*/}"
	done
}
rover_devices() { devices_with tx_trains; }
rxe_devices() { devices_with sent_pkts; }

is_rover() { [[ -e $ib/$1/ports/1/hw_counters/tx_trains ]]; }
port_state() { value "$ib/$1/ports/1/state" && REPLY=${REPLY#*: }; }

# The interface of a device, as rdma(8) says it; without rdma(8), that of its first GID.
netdev_of() {
	local name
	name=$(rdma link show "$1/1" 2>/dev/null | sed -n 's/.* netdev \([^ ]*\).*/\1/p')
	[[ $name ]] || name=$(cat "$ib/$1"/ports/1/gid_attrs/ndevs/* 2>/dev/null | head -n 1)
	echo "$name"
}

# The GIDs of a device, one a line: index, RoCE version, address, interface.
gids_of() {
	local port=$ib/$1/ports/1 file
	for file in "$port"/gids/*; do
		value "$file"
		[[ ${REPLY//[0:]/} ]] || continue
		set -- "${file##*/}" "$REPLY"
		value "$port/gid_attrs/types/$1"
		set -- "$@" "${REPLY##*v}"
		value "$port/gid_attrs/ndevs/$1"
		address_of_gid "$2" "$REPLY"
		echo "$1 v$3 $address $REPLY"
	done | sort -n
}

# 0000:0000:0000:0000:0000:ffff:c000:0201 as 192.0.2.1, others without leading zeros, in $address.
address_of_gid() {
	local word words
	if [[ $1 =~ ^(0000:){5}ffff:(..)(..):(..)(..)$ ]]; then
		printf -v address '%d.%d.%d.%d' "0x${BASH_REMATCH[2]}" "0x${BASH_REMATCH[3]}" \
			"0x${BASH_REMATCH[4]}" "0x${BASH_REMATCH[5]}"
		return
	fi
	address=
	IFS=: read -ra words <<<"$1"
	for word in "${words[@]}"; do
		printf -v word '%x' "0x$word"
		address+=:$word
	done
	address=${address#:}
	[[ ! $address =~ (^|:)0(:0)+(:|$) ]] || address=${address/"${BASH_REMATCH[0]}"/::}
}

# The path MTU that fits an interface's MTU, in REPLY: 96 bytes are for the longest headers.
path_mtu() {
	for REPLY in 4096 2048 1024 512 256; do (($1 < REPLY + 96)) || return 0; done
}

# The libibverbs that programs load; for a fake root, the one below it.
libibverbs() {
	local file
	if [[ ! $root ]]; then
		PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -n 's/.*libibverbs\.so\.1 .*=> //p' | head -n 1
		return
	fi
	for file in "$root"/usr/lib/*/libibverbs.so.1; do
		[[ ! -e $file ]] || { echo "$file"; return; }
	done
}
