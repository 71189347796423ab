# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# ktap.sh: the cases of a shell test, in KTAP. A test sources lib/net.sh (and this with it), calls try for each case, and
# ends with `finish`.
#
#	try TITLE FUNCTION ARG...	FUNCTION is the case. It runs in a subshell under set -e; its status decides: 0 passed, 4 skipped
#					(see skip), anything else failed, and then what it printed is shown. Its background jobs
#					are ended.
#	at_end CMD...			run CMD at the end of the case, whatever its result, when its background jobs have ended. Of several
#					the last one runs first.
#	fail WORDS, skip WORDS		leave the case
#	finish				print the plan; exit with 0, 1 or 4
#
# CASES in the environment is a pattern (of bash): only cases with such a title are run, and of pair_cases those with such a command.
# STOP=1: end at the first failure.

set -uo pipefail

ktap_number=0 ktap_failed=0 ktap_skipped=0
ktap_out=$(mktemp /tmp/case.XXXXXX)
# More commands for the end of the test, set by lib/topology.sh.
ktap_at_exit=:
trap 'rm -f "$ktap_out"; $ktap_at_exit' EXIT

# The debug kernel transfers data about sixty times more slowly. All limits are in seconds of a release kernel.
slow=1
[[ ${KERNEL:-} != debug ]] || slow=8
export SLOW=${SLOW:-$slow}

quick() { [[ ${QUICK:-0} != 0 ]]; }
# once: true with QUICK=2, or QUICK=1 on the debug kernel: run each path once; other kernels run the repeats
once() { quick && ((QUICK > 1 || slow > 1)); }
# slowly: true on the debug kernel, which omits measurements
slowly() { quick && ((slow > 1)); }

fail() {
	echo "$*"
	exit 1
}

skip() {
	echo "$*"
	exit 4
}

# A background job of a case is often `on`, which passes SIGTERM on to what it runs.
ktap_end_jobs() {
	local jobs
	mapfile -t jobs < <(jobs -p)
	((${#jobs[@]})) || return 0
	kill "${jobs[@]}" 2>/dev/null
	wait 2>/dev/null
}

ktap_undo=()
at_end() { ktap_undo=("$(printf '%q ' "$@")" "${ktap_undo[@]}"); }

# Undo in subshells: a command may fail, or skip, if there is nothing to undo. Its output is not the reason of a skipped case.
ktap_end_case() {
	local status=$? undo
	set +e
	ktap_end_jobs
	((status != 4)) || exec >/dev/null 2>&1
	for undo in "${ktap_undo[@]}"; do (eval "$undo"); done
	exit $status
}

# Since the guest's boot: microseconds, processes started, hundredths of a second of busy CPU time.
ktap_spent() {
	local word rest user nice system idle wait irq soft processes
	while read -r word rest; do
		case $word in
		cpu) read -r user nice system idle wait irq soft _ <<<"$rest" ;;
		processes) processes=$rest ;;
		esac
	done </proc/stat
	echo ${EPOCHREALTIME/./} $processes $((user + nice + system + irq + soft))
}

ktap_took() {
	local now
	# shellcheck disable=SC2207 # numbers
	now=($(ktap_spent))
	echo "# took $(((now[0] - $1) / 1000)) ms, $((now[2] - $3))0 ms of them busy, $((now[1] - $2)) processes"
}

# ktap_wanted TITLE: true if CASES selects this case
ktap_wanted() {
	# shellcheck disable=SC2053 # a pattern is meant
	[[ ! ${CASES:-} || $1 == $CASES ]]
}

try() {
	local title=$1 status=0 began line
	ktap_wanted "$title" || return 0
	[[ ! ${TIMES:-} ]] || began=$(ktap_spent)
	shift
	ktap_number=$((ktap_number + 1))
	# Not in a condition, where set -e has no effect. A case that ends by `exit` is covered by the trap.
	(
		trap ktap_end_case EXIT
		trap 'exit 143' TERM INT HUP
		set -e
		"$@"
	) >"$ktap_out" 2>&1 </dev/null
	status=$?
	case $status in
	0) echo "ok $ktap_number $title" ;;
	4)
		ktap_skipped=$((ktap_skipped + 1))
		echo "ok $ktap_number $title # SKIP $(tail -n 1 "$ktap_out")"
		;;
	*)
		ktap_failed=$((ktap_failed + 1))
		tail -n 60 "$ktap_out" | tr -d '\0' | sed 's/^/# /'
		echo "not ok $ktap_number $title"
		echo "# status $status"
		;;
	esac
	[[ ! ${TIMES:-} ]] || ktap_took $began
	# Notes of a case that has passed.
	((status)) || while read -r line; do
		[[ $line != "note: "* ]] || echo "# ${line#note: }"
	done <"$ktap_out"
	ktap_stop
	return 0
}

# ktap_line LINE: a line of KTAP that a program of this test, or a module, has printed. Its cases become cases of this test, with new
# numbers.
ktap_line() {
	local title
	# "ok 3 - TITLE", "ok 3 TITLE" or "ok - TITLE"
	title=${1#not }
	title=${title#ok }
	title=${title#* }
	title=${title#- }
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

ktap_stop() { [[ ! ${STOP:-} ]] || ((!ktap_failed)) || finish; }

finish() {
	echo "1..$ktap_number"
	((!ktap_failed)) || exit 1
	((ktap_number > ktap_skipped)) || exit 4
	exit 0
}

# nap SECONDS, show FILE: sleep and cat, without a program to start
exec {ktap_idle}<> <(:)
nap() { read -rt "$1" -u "$ktap_idle" || :; }
show() { printf '%s\n' "$(<"$1")"; } 2>/dev/null

# within SECONDS CMD...: wait until CMD is true
within() {
	local deadline=$((${EPOCHREALTIME/./} + $1 * slow * 1000000)) limit=$1
	shift
	until "$@"; do
		((${EPOCHREALTIME/./} < deadline)) || fail "not within $((limit * slow)) seconds: $*"
		nap 0.1
	done
}

# timed CMD...: run it, leave the time it took in $ms
timed() {
	local from=${EPOCHREALTIME/./} status=0
	"$@" || status=$?
	ms=$(((${EPOCHREALTIME/./} - from) / 1000))
	return $status
}
