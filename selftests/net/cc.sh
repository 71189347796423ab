#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cc: an administrator chooses the congestion control of a namespace and of a device. New
# connections use what is chosen. DCQCN reduces its rate when the network marks packets.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

# rdma moves a device into the namespace of its end, and sysfs shows it in the first one.
knob() { echo "/sys/class/infiniband/$(dev_of "$1")/cc/$2"; }
sysctl_of() { at "$1" sysctl -n "net.rover.$2"; }

# refused END COMMAND...: it has to fail
refused() { ! at "$@" 2>/dev/null || fail "\"${*:2}\" succeeds"; }
# refuse FILE VALUE: writing VALUE has to fail, and leaves the file as it is
refuse() {
	local before
	before=$(<"$1")
	! { echo "$2" >"$1"; } 2>/dev/null || fail "$1 takes $2"
	[[ $(<"$1") == "$before" ]] || fail "$1 is $(<"$1") after $2"
}

# used NAME: a new connection of end a has this algorithm
used() {
	local said
	hold_objects a --qps 1 --gid "$(gid_index a "$ADDR_A")"
	said=$(at a rdma -dd resource show qp link "$DEV_A")
	release
	[[ $said == *"drv_cc $1"* ]] || fail "no connection with $1: $said"
}

defaults() {
	[[ $(sysctl_of a congestion_control) == window ]] || fail "it is $(sysctl_of a congestion_control)"
	[[ " $(sysctl_of a available_congestion_control) " == *" dcqcn "* ]] || fail "there is no dcqcn"
	[[ $(<"$(knob a algorithm)") == default ]] || fail "the device does not follow its namespace"
	used window
}

namespace() {
	at_end at a sysctl -qw net.rover.congestion_control=window
	refused a sysctl -qw net.rover.congestion_control=cubic
	refused a sysctl -qw net.rover.congestion_control=
	[[ $(sysctl_of a congestion_control) == window ]] || fail "it is $(sysctl_of a congestion_control)"
	at a sysctl -qw net.rover.congestion_control=dcqcn
	used dcqcn
	[[ $(sysctl_of b congestion_control) == window ]] || fail "the other namespace has $(sysctl_of b congestion_control)"
}

device() {
	local file
	file=$(knob a algorithm)
	at_end bash -c "echo default >$file"
	refuse "$file" reno
	refuse "$file" "$(printf 'w%.0s' {1..200})"
	echo dcqcn >"$file"
	used dcqcn
	at_end at a sysctl -qw net.rover.congestion_control=window
	at a sysctl -qw net.rover.congestion_control=dcqcn
	echo window >"$file"
	used window
	echo default >"$file"
	used dcqcn
}

knobs() {
	local file
	file=$(knob a rpg_ai_rate)
	at_end bash -c "echo $(<"$file") >$file"
	echo 7 >"$file"
	[[ $(<"$file") == 7 ]] || fail "$file is $(<"$file")"
	refuse "$file" -1
	refuse "$file" 99999999999
	refuse "$file" five
	[[ $(<"$(knob b rpg_ai_rate)") != 7 ]] || fail "the other device has the value, too"
}

# The files belong to root. A user cannot open them.
unprivileged() {
	local file
	for file in "$(knob a algorithm)" "$(knob a rpg_ai_rate)"; do
		! setpriv --reuid=65534 --clear-groups bash -c "echo window >$file" 2>/dev/null || fail "nobody writes $file"
	done
}

with_dcqcn() {
	local end
	for end in a b; do
		at_end bash -c "echo default >$(knob $end algorithm)"
		echo dcqcn >"$(knob $end algorithm)"
	done
	for tool in write_bw read_bw send_bw; do perftest $tool -n 200 -s 65536; done
	bad_network loss 1%
	perftest write_bw -n 200 -s 65536
}

# rate: the rate of the connection of end a in bytes per second; 0 is none
rate() { at a rdma -j -dd resource show qp link "$DEV_A" | tr '{' '\n' | sed -n '/"type":"RC"/ s/.*"drv_rate":\([0-9]*\).*/\1/p'; }
connected() { [[ $(rate) =~ ^[0-9]+$ ]]; }
paced() { (($(rate) > 0)); }

# The network marks packets: the connection gets a rate, which it has not without marks.
marked() {
	local lost
	lost=$(counter a tx_retransmitted_packets)
	at_end bash -c "echo default >$(knob a algorithm)"
	echo dcqcn >"$(knob a algorithm)"
	next_port
	run_at b ib_write_bw -F -p "$port" -d "$DEV_B" -s 65536 -D 10 >/tmp/said.b 2>&1 </dev/null &
	await_server b "$port" $!
	run_at a ib_write_bw -F -p "$port" -d "$DEV_A" -s 65536 -D 10 "$ADDR_B" >/tmp/said.a 2>&1 </dev/null &
	within 20 connected
	# Many losses count as a mark: a busy host may take longer than a timeout for a packet.
	! paced || (($(counter a tx_retransmitted_packets) > lost)) || fail "a rate of $(rate) bytes per second without a mark"
	ends=a bad_network loss 2% ecn
	within 10 paced
	echo "note: $(rate) bytes per second"
}

if ! single; then
	try "congestion control is chosen" skip "the files of both devices have to be in one guest"
	finish
fi
know_gids
try "connections use the window by default" defaults
try "an administrator of a namespace chooses the algorithm" namespace
try "the algorithm of a device precedes that of its namespace" device
try "knobs of DCQCN are checked and kept for each device" knobs
try "users cannot change congestion control" unprivileged
try "data is transferred with DCQCN" with_dcqcn
try "marks give a connection with DCQCN a rate" marked
try "data transfer works afterwards" traffic
finish
