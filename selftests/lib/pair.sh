# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# pair.sh: runs the programs made with lib/pair.c, one process at each end, and takes over their cases. For tests that have
# sourced lib/net.sh.

built=$(cd "$here/.." && pwd -P)/build/selftests

# One line of KTAP of a program, numbered anew.
pair_line() {
	local title=${1#* - }
	case $1 in
	'ok '*'# SKIP '*) ktap_skipped=$((ktap_skipped + 1)) ;;
	'ok '*) ;;
	'not ok '*) ktap_failed=$((ktap_failed + 1)) ;;
	1..*) return ;;
	*)
		echo "# ${1#\# }"
		return
		;;
	esac
	ktap_number=$((ktap_number + 1))
	echo "${1%%ok *}ok $ktap_number $title"
}

# pair_cases PROGRAM [GROUP...]: PROGRAM at both ends; its cases become cases of this test
pair_cases() { ! ktap_wanted "$*" || pair_run "$@"; }

pair_run() {
	local program=$built/$1 line server client status=0 said=/tmp/said.pair number=$ktap_number failed=$ktap_failed
	next_port
	run_at b "$program" b $port "${@:2}" >$said 2>&1 </dev/null &
	server=$!
	exec {lines}< <(at a "$program" a $port "${@:2}" 2>&1 </dev/null)
	client=$!
	while IFS= read -r line <&$lines; do pair_line "$line"; done
	exec {lines}<&-
	wait $client || status=$?
	# Without its other half the server ends by itself, or never.
	((!status)) || within 5 eval "! kill -0 $server 2>/dev/null" || kill $server 2>/dev/null
	wait $server || status=$((status ? status : $?))
	sed 's/^/# b says: /' $said
	# Whatever else has gone wrong is a case too.
	if ((ktap_number == number || (status && ktap_failed == failed))); then
		pair_line "not ok - $* comes to its end (exit status $status)"
	fi
	ktap_stop
}

# alone_cases PROGRAM [GROUP...]: the same for a program that is end a, and plays the other end itself
alone_cases() {
	local line client status=0 number=$ktap_number failed=$ktap_failed
	exec {lines}< <(at a "$built/$1" a "${@:2}" 2>&1 </dev/null)
	client=$!
	while IFS= read -r line <&$lines; do pair_line "$line"; done
	exec {lines}<&-
	wait $client || status=$?
	if ((ktap_number == number || (status && ktap_failed == failed))); then
		pair_line "not ok - $* comes to its end (exit status $status)"
	fi
}

# pair_quietly PROGRAM [GROUP...]: the same as part of a case, that is, its failure is an error
pair_quietly() {
	local before=$ktap_failed
	pair_run "$@"
	((ktap_failed == before))
}

# drops_traced PATTERN... -- CMD...: while CMD runs, each of these drops is in the trace. The trace of the other guest of a pair is
# out of reach.
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
