#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# interop: rover at one end, the kernel's own rdma_rxe at the other, in turn. Each operation both have is asked for and answered by
# either, at every path MTU, over IPv4 and IPv6, and arrives byte for byte; also on a network that loses 1 %, whoever asks.
# FLUSH is not one of them: rdma_rxe has an ICRC of its own for it. That and what else differs is in Documentation/interop.rst.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=250
rover_a=$DEV_A rover_b=$DEV_B

# turn END KIND: from now on that is the device of END
turn() {
	local end=${1^} lab=rover_$1
	if [[ $2 == rxe ]]; then
		export "SOFT_$end=rxe" "DEV_$end=rxe_$1"
	else
		export "SOFT_$end=rover" "DEV_$end=${!lab}"
	fi
}

knows() { [[ $(gids "$1") == *"$(gid_text "$(addr_of "$1")")"*v2*"$(gid_text "$(addr6_of "$1")")"*v2* ]]; }

# rdma_rxe where rover was. The port is one of a network namespace, so rover is gone there; its module stays.
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

# losing LOSS_A LOSS_B COUNTERS CMD...: CMD while each end loses so much of what it sends, until these counters of rover have moved
losing() {
	local counting=$rover
	ends=a bad_network loss "$1"
	ends=b bad_network loss "$2"
	until_counted "${@:3}"
}

# They meet through queue pair 1 of either.
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

# Both of mixtures ask at once; of the rest end a asks over IPv4 and b over IPv6, or a only: in turn it is rover and rdma_rxe.
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
	if [[ $KERNEL == 6.1 ]]; then
		try "ATOMIC WRITE" skip "rdma_rxe of 6.1 has none"
	else
		pair_cases rc_word words
	fi
}

# Losses are what takes time there, and rdma_rxe's timer for each.
little() { QUICK=1 pair_quietly "$@"; }

# End a asks: in turn that is rover and rdma_rxe, which survives long messages less (interop.rst).
asked() {
	local again="tx_retransmitted_packets out_of_sequence packet_seq_err duplicate_request" answer="duplicate_request,out_of_sequence"
	if [[ $rover == a ]]; then
		try "1 % is lost of all: rover asks" losing 1% 1% "$again" little rc_data much_from_a
		return
	fi
	try "1 % is lost of all: rdma_rxe asks" losing 1% 1% "$answer" pair_quietly rc_data each_from_a
	quick || try "1 % is lost of all: rdma_rxe asks for everything" losing 1% 1% "$answer" little rc_data much_from_a
}

# A network on which an end loses whole trains, and the other single packets: of a message of 79 packets that is much.
unasked() {
	local uc=10%
	[[ $rover == a ]] || uc=0.5%
	try "some is lost: datagrams" losing 5% 0% "" little ud_data lossy
	try "some is lost: unreliable connections" losing $uc 0% "" little uc_data lossy
}

# meeting END: all of it, with rdma_rxe at END
meeting() {
	local end=$1
	rover=$(other "$end")
	try "rover at $rover, rdma_rxe at $end" rxe_comes "$end"
	turn "$end" rxe
	connections
	pair_cases ud_data sizes
	try "rping over IPv4" ping "$ADDR_B"
	quick || try "rping over IPv6" ping "$ADDR6_B"
	asked
	unasked
	try "rover at $end again" rxe_leaves "$end"
	turn "$end" rover
}

if single && [[ $KERNEL == 6.* ]]; then
	try "rover and rdma_rxe" skip "before 7.2 rdma_rxe is in the first network namespace only"
	finish
fi
for end in b a; do meeting $end; done
try "and afterwards all is well" pair_quietly rc_data brief
finish
