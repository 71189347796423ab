#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flush: full rings of 32768 requests end in FLUSH_ERR, each request once and in order, and softirqs
# are enabled every few completions.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=120
trace=/sys/kernel/tracing
# The limit of completions with softirqs disabled: two portions, the requests in progress, and as much again in the same softirq.
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

# From the trace: the most completions on a processor with softirqs disabled, and the number of all
# completions. In the flags of a line "s" in the third place is a softirq.
longest() {
	awk '$5 == "rover_cq_post" { if (!n[$2]++) from[$2] = $4
		if (n[$2] > most) { most = n[$2]; took = $4 - from[$2] }
		all++; next }
	     $5 == "softirq_exit:" || tolower(substr($3, 3, 1)) !~ /[sh]/ { n[$2] = 0 }
	     END { print most + 0, all + 0, int(took * 1000000) }' $trace/trace
}

# in_portions GROUP: run the group, and count completions with softirqs disabled
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
for group in error packet sqe; do try "a flush enables softirqs every few completions: $group" in_portions $group; done
try "a flush enables softirqs every few completions: device deleted" in_portions gone
try "the device is added again" bring_back
finish
