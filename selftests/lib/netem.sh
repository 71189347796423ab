# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# netem.sh: a network between the ends that loses, duplicates or delays packets. For tests that have sourced lib/net.sh.

# qdisc END VERB [NETEM...]: change the qdisc for packets that END sends. A test that uses another interface redefines it.
qdisc() { at "$1" tc qdisc "$2" dev "$(ndev_of "$1")" root "${@:3}"; }

# bad_network NETEM...: use netem with these options at both ends, or at those of $ends, until the case ends
bad_network() {
	local end
	for end in ${ends:-a b}; do
		at "$end" modprobe sch_netem || skip "no sch_netem on this kernel"
		qdisc "$end" replace netem limit 20000 "$@"
		at_end qdisc "$end" del
	done
}

# The sum of these counters at both ends, or at the end $counting.
count() {
	local end sum=0
	for end in ${counting:-a b}; do
		counter "$end" "$@" >/dev/null
		sum=$((sum + counted))
	done
	echo $sum
}

# until_counted GROUPS CMD...: repeat CMD until the counters of each group (words, with commas between
# groups) have risen, as the lost packets are random.
until_counted() {
	local groups group number round start=() moved=()
	IFS=, read -ra groups <<<"$1"
	shift
	# shellcheck disable=SC2086 # words, here and below
	for group in "${groups[@]}"; do start+=("$(count $group)"); done
	for round in {1..10}; do
		"$@"
		for number in "${!groups[@]}"; do
			# shellcheck disable=SC2086
			moved[number]=$(($(count ${groups[number]}) - start[number]))
		done
		[[ " ${moved[*]} " == *" 0 "* ]] || break
	done
	for number in "${!groups[@]}"; do
		((moved[number])) || fail "${groups[number]}: none in $round rounds"
		echo "note: ${groups[number]}: ${moved[number]} in $round rounds"
	done
}

# lossy LOSS CMD...: CMD succeeds on a network with this loss (and more netem words), and is
# repeated until a packet was retransmitted
lossy() {
	# shellcheck disable=SC2086 # words
	bad_network loss $1
	until_counted tx_retransmitted_packets "${@:2}"
}
