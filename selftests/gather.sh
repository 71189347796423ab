#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gather: netdevs that take a packet in one piece only, as many of emulators do: payload is copied once, by rover, all of it
# arrives, and the memory it was copied to is used again.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=100
trace=/sys/kernel/tracing

# Of a pair they are such from the beginning.
gathers() {
	local end
	for end in a b; do at $end ethtool -K "$(ndev_of $end)" sg "$1" >/dev/null; done
}

takes_pieces() { [[ $(at a ethtool -k "$NDEV_A") == *'scatter-gather: on'* ]]; }

# calls FUNCTION CMD...: so often it was called meanwhile
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

# Those that the stack had to make one piece of would be copied a second time, to memory that is cleared first.
once_only() {
	local packets
	packets=$(counter a tx_packets)
	calls __pskb_pull_tail perftest "$@"
	packets=$(($(counter a tx_packets) - packets))
	echo "note: $packets packets sent, $called times the stack has copied some of one"
	((packets >= 1000)) || fail "that is too few to tell"
	((8 * called < packets)) || fail "that is not once only"
}

single || ! takes_pieces || { try "netdevs that gather nothing" skip "these do"; finish; }
! single || gathers off
try "WRITEs are copied once" once_only write_bw -n 100 -s 65536 -m 4096
try "SENDs, too" once_only send_bw -n 100 -s 65536 -m 4096
try "and unreliable ones" once_only send_bw -c UC -n 400 -s 65536 -m 4096
try "and datagrams" once_only send_bw -c UD -n 1000 -s 4096 -m 4096
QUICK=1 pair_cases rc_data brief
QUICK=1 pair_cases ud_data brief
! single || gathers on
try "all is given back" let_go 10
finish
