#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh: the test programs one after the other, as subtests of one KTAP, and the sum of their results in the last line.
#
#	FUZZERS='PROGRAM...' run.sh OUT SECONDS TEST...		make run
set -uo pipefail
cd "$(dirname "$0")" || exit

out=$1 smoke=$2
shift 2
read -ra fuzzers <<<"${FUZZERS:-}"
number=0 broken=0
passed=0 failed=0 skipped=0
# A frozen test is a failed one. There is no ptrace in a chroot without /proc, and nothing here to leak for long.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

count() { grep -cE "$1" "$out/log"; }

# subtest NAME CMD...: a program that prints KTAP of its own
subtest() {
	local name=$1 status=0 bad skips
	shift
	timeout -k 5 120 "$@" >"$out/log" 2>&1 || status=$?
	sed 's/^/    /' "$out/log"
	bad=$(count '^not ok ')
	skips=$(count '^ok .*# SKIP')
	passed=$((passed + $(count '^ok ') - skips))
	skipped=$((skipped + skips))
	# One that dies has not said all it had to say.
	if ((!bad)) && { ((status)) || ! grep -qE '^1\.\.[1-9]' "$out/log"; }; then
		echo "    # exit status $status"
		bad=1
	fi
	failed=$((failed + bad))
	number=$((number + 1))
	if ((bad)); then broken=1 && echo "not ok $number $name"; else echo "ok $number $name"; fi
}

# Findings are what a fuzzer prints, and it prints a lot: of a good run only the last line is shown.
smoke() {
	local fuzzer=$1 name=${1##*/} status=0 seeds=$out/seeds corpus=$out/corpus/${1##*/fuzz_}
	mkdir -p "$corpus"
	timeout -k 5 $((smoke + 60)) "$fuzzer" -max_total_time="$smoke" -max_len=4400 -print_final_stats=0 \
		-artifact_prefix="$out/" "$corpus" "$seeds" >"$out/$name.log" 2>&1 || status=$?
	echo "KTAP version 1"
	if ((status)); then
		tail -n 40 "$out/$name.log" | sed 's/^/# /'
		echo "not ok 1 $name: $smoke seconds"
	else
		tail -n 1 "$out/$name.log" | sed 's/^/# /'
		echo "ok 1 $name: $smoke seconds"
	fi
	echo 1..1
}

echo "KTAP version 1"
for program; do subtest "${program##*/test_}" "$program"; done
subtest judge ./vectors.py judge
subtest goals env PYTHONDONTWRITEBYTECODE=1 ../bench/test_goals.py
subtest rover ../rover/test/run
subtest sim make -s -C ../sim run
subtest sim_cases make -s -C ../sim cases
export -f smoke
export out smoke
for fuzzer in "${fuzzers[@]}"; do subtest "${fuzzer##*/}" bash -c "smoke $fuzzer"; done
if ((!${#fuzzers[@]})); then
	number=$((number + 1)) skipped=$((skipped + 1))
	echo "ok $number fuzz # SKIP clang has no libFuzzer here (clang, libclang-rt-dev)"
fi
echo "1..$number"
echo "$passed passed, $failed failed, $skipped skipped"
exit $broken
