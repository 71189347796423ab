# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# capture.sh: rover capture. A pcap of a device's packets as they are on a wire: while it runs, the
# interface carries single packets with their ICRCs, and not trains.

list_feature=tx-gso-list
# The interface that is to be restored, for the trap, which comes after all functions.
changed=

feature() { ethtool -k "$1" 2>/dev/null | sed -n "s/^$list_feature: *\([a-z]*\).*/\1/p"; }

restore_feature() { [[ ! $changed ]] || ethtool -K "$changed" $list_feature on; }

capture_main() {
	local option seconds='' file='' name netdev status=0
	while getopts t:w: option; do
		case $option in
		t) seconds=$OPTARG ;;
		w) file=$OPTARG ;;
		*) exit 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	name=${1:-}
	[[ $name ]] || die "of which device? rover status lists them"
	is_rover "$name" || die "$name is no rover device"
	need_root capture
	have tcpdump || die "apt install tcpdump"
	netdev=$(netdev_of "$name")
	[[ $netdev ]] || die "the interface of $name is in another network namespace"
	trap restore_feature EXIT
	trap : INT TERM
	if have ethtool && [[ $(feature "$netdev") == on ]]; then
		ethtool -K "$netdev" $list_feature off && changed=$netdev
	fi
	file=${file:-$name.pcap}
	echo "rover: capturing on $netdev in $file; if the peer is on this host, do so there too" >&2
	# RoCE v2, and v1 by its EtherType; what follows the word vlan is looked for behind a tag.
	local roce="udp port $udp_port or ether proto 0x8915"
	${seconds:+timeout "$seconds"} tcpdump -i "$netdev" -s 0 -U -w "$file" \
		"$roce or (vlan and ($roce))" || status=$?
	# The end of the time is not an error, nor is Ctrl-C.
	((status != 124)) || status=0
	return $status
}
