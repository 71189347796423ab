#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netdev_no_sg: netdevs without scatter-gather, as many emulators have them. Rover copies the
# payload once, all of it arrives, and the pages are used again.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=100
trace=/sys/kernel/tracing

# The netdevs of a pair have no scatter-gather.
gathers() {
	local end
	for end in a b; do at $end ethtool -K "$(ndev_of $end)" sg "$1" >/dev/null; done
}

takes_pieces() { [[ $(at a ethtool -k "$NDEV_A") == *'scatter-gather: on'* ]]; }

# calls FUNCTION CMD...: leave the number of calls while CMD runs in $called
calls() {
	mountpoint -q $trace || mount -t tracefs tracefs $trace || skip "no tracefs"
	[[ -e $trace/kprobe_events ]] || skip "no kprobes on this kernel"
	at_end uncounted
	echo "p:rover_counted $1" >$trace/kprobe_events
	echo 1 >$trace/events/kprobes/rover_counted/enable
	"${@:2}"
	called=$(awk '$1 == "rover_counted" { print $2 }' $trace/kprobe_profile)
}
uncounted() {
	echo 0 >$trace/events/kprobes/enable
	echo >$trace/kprobe_events
}

# A packet that the stack has to linearize would be copied a second time.
once_only() {
	local packets
	packets=$(counter a tx_packets)
	calls __pskb_pull_tail perftest "$@"
	packets=$(($(counter a tx_packets) - packets))
	echo "note: $packets packets sent, $called times the stack has copied some of one"
	((packets >= 1000)) || fail "that is too few to tell"
	((8 * called < packets)) || fail "that is not once only"
}

single || ! takes_pieces || { try "netdevs without scatter-gather" skip "these do"; finish; }
! single || gathers off
try "WRITEs are copied only once" once_only write_bw -n 100 -s 65536 -m 4096
try "SENDs are copied only once" once_only send_bw -n 100 -s 65536 -m 4096
try "SENDs over UC are copied only once" once_only send_bw -c UC -n 400 -s 65536 -m 4096
try "datagrams are copied only once" once_only send_bw -c UD -n 1000 -s 4096 -m 4096
QUICK=1 pair_cases rc_data brief
QUICK=1 pair_cases ud_data brief
! single || gathers on
try "no RDMA resources are left" let_go 10
finish
