#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the kernel selftests of rover, in a guest of the lab (make test) or on a machine that has rover, and prints KTAP: each test with
# its cases indented. The last line is the sum of all cases: N passed, N failed, N skipped.
#
#	run.sh [TEST...]	all, or those named here or in $TESTS: rc, loss, ... in whichever folder they are
#
# QUICK=1 makes all tests shorter, except those in $FULL; QUICK=2 runs each path once. TIMES=1 prints how long each case took.
set -uo pipefail
cd "$(dirname "$0")" || exit

# The tests in the order in which they run, FOLDER/NAME. What removes devices and the module comes last.
all_tests() {
	if [[ -e kselftest-list.txt ]]; then cat kselftest-list.txt; else make -s emit_tests; fi | sed 's/:/\//; s/\.sh$//'
}

# find_test NAME: the folder and name of a test that was asked for by its name alone, or with the folder
find_test() {
	local path
	for path in "$1.sh" */"$1.sh"; do
		[[ $path != */* || ! -e $path ]] || { echo "${path%.sh}"; return; }
	done
	echo "nowhere/$1"
}

# The seconds that a test may take on a release kernel, by the settings of its folder.
limit_of() {
	local limit
	limit=$(sed -n 's/^timeout=//p' "$1/settings" 2>/dev/null)
	echo "${limit:-300}"
}

# Nothing to do where the tests are installed, and where the host has built them: in a guest it takes minutes.
is_built() {
	[[ ! -e Makefile ]] ||
		[[ -e $OUT/.built && ! $(find [a-jl-z]* kernel ../include/uapi ../tools/vm/on.c \( -name '*.[ch]' -o -name Makefile -o -name '*.mk' \) -newer "$OUT/.built" -print -quit) ]]
}

[[ ! -e Makefile ]] || export OUT=${OUT:-${PWD%/*}/build/selftests}
# shellcheck disable=SC2086 # words
(($#)) || set -- ${TESTS:-}
if (($#)); then
	tests=()
	for name; do tests+=("$(find_test "${name%.sh}")"); done
else
	mapfile -t tests < <(all_tests)
fi
slow=1
[[ ${KERNEL:-} != debug ]] || slow=4

echo "KTAP version 1"
echo "1..${#tests[@]}"
if ! is_built; then
	echo "# building the test programs (make -C selftests in the lab's tree does it once for all guests)"
	make -s 2>&1 | sed 's/^/# /' || { echo "Bail out! the programs of the selftests do not build"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
fi

passed=0 failed=0 skipped=0 number=0
log=$(mktemp /tmp/selftests.XXXXXX)
for test in "${tests[@]}"; do
	name=${test##*/}
	number=$((number + 1)) began=$SECONDS
	echo "  KTAP version 1"
	quick=${QUICK:-0}
	[[ " ${FULL:-} " != *" $name "* ]] || quick=0
	QUICK=$quick timeout -k 10 $(($(limit_of "${test%/*}") * slow)) "./$test.sh" 2>&1 </dev/null | tee "$log" | sed -u '/^KTAP\|^TAP/d; s/^/  /'
	status=${PIPESTATUS[0]}
	good=$(grep -acE '^ok ' "$log")
	skip=$(grep -acE '^ok .*# SKIP' "$log")
	bad=$(grep -acE '^not ok ' "$log")
	good=$((good - skip))
	why=
	# A test that did not come to its end has not passed, whatever its cases say.
	if ((status == 124 || status == 137)); then
		why="it took too long"
	elif ((status && status != 4 && !bad)); then
		why="exit status $status"
	elif ! grep -aqE '^1\.\.[0-9]+' "$log"; then
		why="it did not come to its end"
	fi
	if [[ $why ]]; then
		bad=$((bad + 1))
		echo "  not ok $((good + bad + skip)) $name: $why"
	fi
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
	if ((bad)); then
		echo "not ok $number $name"
	elif ((!good)); then
		echo "ok $number $name # SKIP"
	else
		echo "ok $number $name"
	fi
	echo "# $name: $good passed, $bad failed, $skip skipped in $((SECONDS - began)) s"
done
rm -f "$log"
echo "$passed passed, $failed failed, $skipped skipped"
exit $((failed > 0))
