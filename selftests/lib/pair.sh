# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# pair.sh: run programs that use lib/pair.c, one process at each end; their cases become cases of the test. For tests that have
# sourced lib/net.sh.

# pair_cases PROGRAM [GROUP...]: run PROGRAM at both ends; its cases become cases of this test
pair_cases() { ! ktap_wanted "$*" || pair_run "$@"; }

pair_run() {
	local program line server client status=0 said=/tmp/said.pair number=$ktap_number failed=$ktap_failed
	program=$(program "$1")
	next_port
	run_at b "$program" b $port "${@:2}" >$said 2>&1 </dev/null &
	server=$!
	exec {lines}< <(at a "$program" a $port "${@:2}" 2>&1 </dev/null)
	client=$!
	while IFS= read -r line <&$lines; do ktap_line "$line"; done
	exec {lines}<&-
	wait $client || status=$?
	# If the client fails the server may not end by itself.
	((!status)) || within 5 eval "! kill -0 $server 2>/dev/null" || kill $server 2>/dev/null
	wait $server || status=$((status ? status : $?))
	sed 's/^/# b says: /' $said
	# An error outside of the cases is a failed case too.
	if ((ktap_number == number || (status && ktap_failed == failed))); then
		ktap_line "not ok - $* comes to its end (exit status $status)"
	fi
	ktap_stop
}

# alone_cases PROGRAM [GROUP...]: like pair_cases, for a program that runs at end a only and is its own peer
alone_cases() {
	local line client status=0 number=$ktap_number failed=$ktap_failed
	exec {lines}< <(at a "$(program "$1")" a "${@:2}" 2>&1 </dev/null)
	client=$!
	while IFS= read -r line <&$lines; do ktap_line "$line"; done
	exec {lines}<&-
	wait $client || status=$?
	if ((ktap_number == number || (status && ktap_failed == failed))); then
		ktap_line "not ok - $* comes to its end (exit status $status)"
	fi
}

# pair_quietly PROGRAM [GROUP...]: run PROGRAM at both ends within a case, which fails if the program does
pair_quietly() {
	local before=$ktap_failed
	pair_run "$@"
	((ktap_failed == before))
}

# drops_traced PATTERN... -- CMD...: while CMD runs, the trace shows each of these drops. The trace
# of the other guest of a pair is not available.
drops_traced() {
	local trace=/sys/kernel/tracing pattern patterns=() status=0
	while [[ $1 != -- ]]; do patterns+=("$1") && shift; done
	shift
	mountpoint -q $trace || mount -t tracefs tracefs $trace || skip "no tracefs"
	[[ -d $trace/events/rover ]] || skip "no trace events"
	echo >$trace/trace
	echo 1 >$trace/events/rover/rover_drop/enable
	"$@" || status=$?
	echo 0 >$trace/events/rover/rover_drop/enable
	((!status)) || return $status
	for pattern in "${patterns[@]}"; do
		grep -q "rover_drop: $pattern" $trace/trace || fail "no trace of $pattern"
	done
}
