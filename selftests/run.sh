#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the kernel selftests of rover, in a guest of the lab (make test), and prints KTAP: each test with its cases
# indented. The last line is the sum of all cases: N passed, N failed, N skipped.
#
#	selftests/run.sh [TEST...]	all, or those named here or in $TESTS: rc, loss, ...
#
# QUICK=1 for less of everything, but for the tests in $FULL, QUICK=2 for each path but once; TIMES=1 for how long each case took.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

# What there is, with seconds each may take on a release kernel. What removes devices and modules comes last.
tests=(
	basic:200
	rc:400
	errors:300
	flush:200
	crafted:200
	inflight:100
	ud:300
	uc:300
	mcast:100
	raw:200
	srq:200
	xrc:200
	gsi:200
	cm:200
	perftest:300
	provider:200
	pyverbs:400
	resource:100
	manage:100
	user:100
	kernel:100
	keys:60
	mem:60
	memops:100
	pages:60
	odp:200
	dmabuf:100
	nvme:500
	nfs:400
	smc:200
	stacks:400
	v1:300
	gids:200
	pods:100
	wire:200
	self:100
	steer:100
	isolated:60
	stream:100
	gather:100
	firewall:150
	shortcut:200
	inject:100
	loss:200
	interop:300
	ecn:100
	kill:200
	link:200
	unplug:300
)

export OUT=$PWD/build/selftests
quiet_make() { make -s -C selftests OUT="$OUT" 2>&1 | sed 's/^/# /'; }

limit_of() {
	local test
	for test in "${tests[@]}"; do [[ ${test%:*} != "$1" ]] || { echo "${test#*:}"; return; }; done
	echo 300
}

# shellcheck disable=SC2086 # words
(($#)) || set -- ${TESTS:-}
if (($#)); then
	names=("${@%.sh}")
	names=("${names[@]##*/}")
else
	names=()
	for test in "${tests[@]}"; do [[ ! -e selftests/${test%:*}.sh ]] || names+=("${test%:*}"); done
fi
slow=1
[[ ${KERNEL:-} != debug ]] || slow=4

echo "KTAP version 1"
echo "1..${#names[@]}"
# Nothing to do when the host has built them; here it takes minutes.
if ! make -qs -C selftests OUT="$OUT" 2>/dev/null; then
	echo "# building the test programs (make -C selftests in the lab's tree does it once for all guests)"
	quiet_make || { echo "Bail out! the programs of the selftests do not build"; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
fi

passed=0 failed=0 skipped=0 number=0
log=$(mktemp /tmp/selftests.XXXXXX)
for name in "${names[@]}"; do
	number=$((number + 1)) began=$SECONDS
	echo "  KTAP version 1"
	quick=${QUICK:-0}
	[[ " ${FULL:-} " != *" $name "* ]] || quick=0
	QUICK=$quick timeout -k 10 $(($(limit_of "$name") * slow)) "selftests/$name.sh" 2>&1 </dev/null | tee "$log" | sed -u '/^KTAP\|^TAP/d; s/^/  /'
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
