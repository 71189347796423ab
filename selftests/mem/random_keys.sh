#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# random_keys: QP numbers and memory keys cannot be guessed from known ones, and are not used again
# soon. A peer that knows a key can write to the memory.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

seen=/tmp/keys
many=200

collect() {
	local round
	rm -f $seen.*
	for round in 1 2; do at a "$(program hold_objects)" "$DEV_A" --qps $many --mrs $many --once >$seen.$round; done
	(($(grep -c '^qp' $seen.1) == many && $(grep -c '^mr' $seen.2) == many)) || fail "$(tail -n 3 $seen.1)"
}

# column FIELD LINES ROUND: as decimal numbers
column() { awk -v kind="$2" -v field="$1" '$1 == kind { print $field }' "$seen.$3" | while read -r key; do echo $((key)); done; }

# unguessable FIELD LINES BITS: a counter, a fixed step, a partial counter or a small range would fail this
unguessable() {
	column "$1" "$2" 1 | awk -v bits="$3" -v many=$many '
		{
			if ($1 in had) twice++
			had[$1] = 1
			if (NR > 1) {
				step = $1 - last
				if (step > -64 && step < 64) near++
				if (step in steps) again++
				steps[step] = 1
			}
			last = $1
			for (bit = 0; bit < bits; bit++) ones[bit] += int($1 / 2 ^ bit) % 2
		}
		END {
			printf "%d keys, %d twice, %d next to the one before, %d steps seen before\n", NR, twice, near, again
			# 200 fair coins: 100 heads, with a deviation of 7.
			for (bit = 0; bit < bits; bit++) {
				printf "bit %d: %d ones\n", bit, ones[bit]
				if (ones[bit] < 60 || ones[bit] > 140) poor++
			}
			exit NR != many || twice || near > 2 || again > 2 || poor
		}'
}

# fresh FIELD LINES: the second program has no keys of the first one, with one exception by chance
fresh() {
	local common
	common=$(comm -12 <(column "$1" "$2" 1 | sort) <(column "$1" "$2" 2 | sort) | wc -l)
	((common <= 1)) || fail "$common of $many are used again at once"
}

# A module that is loaded again has no fixed seed.
reloaded() {
	unload
	mend
	at a "$(program hold_objects)" "$DEV_A" --qps $many --mrs $many --once >$seen.2
	fresh "$1" "$2"
	traffic
}

know_gids
try "$many queue pairs and $many regions are created twice" collect
try "QP numbers are random in 24 bits" unguessable 2 qp 24
try "remote keys are random in 32 bits" unguessable 3 mr 32
try "local keys are random in 32 bits" unguessable 2 mr 32
try "QP numbers are not used again at once" fresh 2 qp
try "remote keys are not used again at once" fresh 3 mr
try "a module that is loaded again makes other remote keys" reloaded 3 mr
finish
