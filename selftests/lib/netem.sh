# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# netem.sh: a network between the ends that loses, doubles, delays. For tests that have sourced lib/net.sh.

# qdisc END VERB [NETEM...]: of what END sends. A test whose packets take another way has one of its own.
qdisc() { at "$1" tc qdisc "$2" dev "$(ndev_of "$1")" root "${@:3}"; }

# bad_network NETEM...: such a network at both ends, or those of $ends, until the case is over
bad_network() {
	local end
	trap 'status=$?; set +e; good_network; ktap_end_jobs; exit $status' EXIT
	for end in ${ends:-a b}; do
		at "$end" modprobe sch_netem || skip "no sch_netem on this kernel"
		qdisc "$end" replace netem limit 20000 "$@"
		bad_ends+=("$end")
	done
}
good_network() {
	local end
	for end in "${bad_ends[@]}"; do qdisc "$end" del || true; done
	bad_ends=()
}
bad_ends=()

# The sum of a few counters at both ends.
count() { echo $(($(counter a "$@") + $(counter b "$@"))); }

# lossy LOSS CMD...: CMD works on a network that loses LOSS of all it carries, with more words for netem in LOSS if need be; it is done
# until something was lost and sent again.
lossy() {
	local before again=0 round=0
	before=$(count tx_retransmitted_packets)
	# shellcheck disable=SC2086 # words
	bad_network loss $1
	shift
	until ((again)); do
		((++round <= 10)) || fail "nothing was sent again in 10 rounds"
		"$@"
		again=$(($(count tx_retransmitted_packets) - before))
	done
	echo "note: $again packets sent again in $round rounds"
}
