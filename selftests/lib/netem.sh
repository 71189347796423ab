# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# netem.sh: a network between the ends that loses, doubles, delays. For tests that have sourced lib/net.sh.

# qdisc END VERB [NETEM...]: of what END sends. A test whose packets take another way has one of its own.
qdisc() { at "$1" tc qdisc "$2" dev "$(ndev_of "$1")" root "${@:3}"; }

# bad_network NETEM...: such a network at both ends, or those of $ends, until the case is over
bad_network() {
	local end
	for end in ${ends:-a b}; do
		at "$end" modprobe sch_netem || skip "no sch_netem on this kernel"
		qdisc "$end" replace netem limit 20000 "$@"
		at_end qdisc "$end" del
	done
}

# The sum of a few counters at both ends, or that of $counting.
count() {
	local end sum=0
	for end in ${counting:-a b}; do
		counter "$end" "$@" >/dev/null
		sum=$((sum + counted))
	done
	echo $sum
}

# until_counted GROUPS CMD...: repeat CMD until the counters of each group (words, commas between
# groups) have moved. They have to: which packets are lost is random.
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
