#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flush: rings of 32768 requests end in FLUSH_ERR, each request once and in order, and softirqs are on every few completions
# meanwhile.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=120
trace=/sys/kernel/tracing
# Completions in a row with softirqs off: two portions and the requests that were begun, and as much again in the same softirq.
most=600

trace_begin() {
	echo 0 >$trace/tracing_on
	echo 16384 >$trace/buffer_size_kb
	echo 'rover_cq_post __local_bh_enable_ip' >$trace/set_ftrace_filter
	echo function >$trace/current_tracer
	echo 1 >$trace/events/irq/softirq_exit/enable
	echo >$trace/trace
	echo 1 >$trace/tracing_on
}

trace_end() {
	echo 0 >$trace/tracing_on
	echo 0 >$trace/events/irq/softirq_exit/enable
	echo nop >$trace/current_tracer
	echo >$trace/set_ftrace_filter
	echo >$trace/trace
	echo 1408 >$trace/buffer_size_kb
	echo 1 >$trace/tracing_on
}

# From the trace: how many completions there were at most on a processor before softirqs were on there again, and how many in all.
# The flags of a line say where it was: "s" in the third place is a softirq, in which enabling softirqs means nothing.
longest() {
	awk '$5 == "rover_cq_post" { if (!n[$2]++) from[$2] = $4
		if (n[$2] > most) { most = n[$2]; took = $4 - from[$2] }
		all++; next }
	     $5 == "softirq_exit:" || tolower(substr($3, 3, 1)) !~ /[sh]/ { n[$2] = 0 }
	     END { print most + 0, all + 0, int(took * 1000000) }' $trace/trace
}

# GROUP of the program, in portions
in_portions() {
	local row all usec
	[[ -e $trace/set_ftrace_filter ]] || skip "this kernel traces no functions"
	at_end trace_end
	trace_begin
	pair_quietly flush "$1"
	echo 0 >$trace/tracing_on
	read -r row all usec < <(longest)
	((all > 1500)) || fail "$all completions traced"
	echo "note: $1: $row of $all completions in a row, $usec us"
	((row <= most)) || fail "$row of $all completions in a row with softirqs off"
}

bring_back() {
	mend
	let_go 10
	traffic
}

pair_cases flush error packet sqe posting reset
single || { finish; }
for group in error packet sqe; do try "softirqs are on every few completions: $group" in_portions $group; done
try "softirqs are on every few completions: the device is deleted" in_portions gone
try "the device comes back" bring_back
finish
