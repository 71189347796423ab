#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# interop: rover at one end, the kernel's rdma_rxe at the other, in both orders. Each operation of
# both is requested by either end, at each path MTU, over IPv4 and IPv6, and with 1 % loss. FLUSH is
# left out: rdma_rxe has an ICRC of its own for it. Documentation/interop.rst lists that and other
# differences.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=250
rover_a=$DEV_A rover_b=$DEV_B

# turn END KIND: END uses the device of that driver from now on
turn() {
	local end=${1^} lab=rover_$1
	if [[ $2 == rxe ]]; then
		export "SOFT_$end=rxe" "DEV_$end=rxe_$1"
	else
		export "SOFT_$end=rover" "DEV_$end=${!lab}"
	fi
}

knows() { [[ $(gids "$1") == *"$(gid_text "$(addr_of "$1")")"*v2*"$(gid_text "$(addr6_of "$1")")"*v2* ]]; }

# rdma_rxe replaces rover. Each network namespace has one UDP port 4791, so rover's link is deleted; its module stays.
rxe_comes() {
	local end=$1
	at "$end" modprobe -n rdma_rxe || skip "no rdma_rxe on this kernel"
	at "$end" rdma link delete "$(dev_of "$end")"
	at "$end" modprobe rdma_rxe
	at "$end" rdma link add "rxe_$end" type rxe netdev "$(ndev_of "$end")"
	turn "$end" rxe
	within 20 knows "$end"
}

rxe_leaves() {
	local end=$1
	at "$end" rdma link delete "rxe_$end"
	at "$end" modprobe -r rdma_rxe
	turn "$end" rover
	link_add "$end"
	within 20 knows "$end"
}

# losing LOSS_A LOSS_B COUNTERS CMD...: run CMD while the ends lose so much of what they send, until
# these counters of rover have moved
losing() {
	local counting=$rover
	ends=a bad_network loss "$1"
	ends=b bad_network loss "$2"
	until_counted "${@:3}"
}

# rdma_cm connects through queue pair 1 of both.
ping() {
	local server status=0
	next_port
	run_at b rping -s -V -C 10 -S 3000 -p "$port" -a "$1" >/tmp/said.b 2>&1 </dev/null &
	server=$!
	within 20 on_cm rping
	at a rping -c -V -C 10 -S 3000 -p "$port" -a "$1" >/tmp/said.a 2>&1 </dev/null || status=$?
	((!status)) || kill $server
	wait $server || status=$((status ? status : $?))
	show /tmp/said.a && show /tmp/said.b
	! grep -E 'error|mismatch' /tmp/said.a /tmp/said.b || status=1
	return $status
}

# In mixtures both ends send requests. In other groups end a does over IPv4 and b over IPv6, or a only.
connections() {
	if ! quick; then
		pair_cases rc_data short extended invalidate sgl atomic mixture
		pair_cases uc_data ways
	elif [[ $rover == a ]]; then
		pair_cases rc_data mixture
		pair_cases uc_data sizes
	else
		pair_cases rc_data atomic invalidate
	fi
	if [[ $SERIES == 6.1 ]]; then
		try "ATOMIC WRITE" skip "rdma_rxe of 6.1 has none"
	else
		pair_cases rc_mpe words
	fi
}

# Losses take time: rdma_rxe waits for its timer each time.
little() { QUICK=1 pair_quietly "$@"; }

# End a sends the requests: rover in one order, rdma_rxe in the other, which tolerates loss in long messages less (interop.rst).
asked() {
	local again="tx_retransmitted_packets out_of_sequence packet_seq_err duplicate_request" answer="duplicate_request,out_of_sequence"
	if [[ $rover == a ]]; then
		try "1 % loss: requests of rover" losing 1% 1% "$again" little rc_data much_from_a
		return
	fi
	try "1 % loss: requests of rdma_rxe" losing 1% 1% "$answer" pair_quietly rc_data each_from_a
	quick || try "1 % loss: many requests of all kinds of rdma_rxe" losing 1% 1% "$answer" little rc_data much_from_a
}

# Rover loses whole trains, rdma_rxe single packets, which hits most messages of 79 packets.
unasked() {
	local uc=10%
	[[ $rover == a ]] || uc=0.5%
	try "a lossy network: datagrams" losing 5% 0% "" little ud_data lossy
	try "a lossy network: unreliable connections" losing $uc 0% "" little uc_data lossy
}

# meeting END: all tests, with rdma_rxe at END
meeting() {
	local end=$1
	rover=$(other "$end")
	try "rdma_rxe replaces rover at end $end" rxe_comes "$end"
	turn "$end" rxe
	connections
	pair_cases ud_data sizes
	try "rping over IPv4" ping "$ADDR_B"
	quick || try "rping over IPv6" ping "$ADDR6_B"
	asked
	unasked
	try "rover replaces rdma_rxe at end $end" rxe_leaves "$end"
	turn "$end" rover
}

if single && [[ $KERNEL == 6.* ]]; then
	try "rover and rdma_rxe exchange data" skip "before 7.2 rdma_rxe is in the first network namespace only"
	finish
fi
for end in b a; do meeting $end; done
try "data transfer works afterwards" pair_quietly rc_data brief
finish
