#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# crafted: rules of the IBTA transport (9.7.4.1, 9.9 and others), one by one. A program is the peer
# and crafts each packet. A rule checks the packets sent in answer, the completions, the event and
# the state. The peer has addresses that no host has, at end b; the queue pairs are at end a.
#
#	PROGRAMS="rc psn"	only these of crafted_*
#	NETS="v4 v1"		what the packets are: RoCE v2 over IPv4 or IPv6, or v1
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=120
# As in lib/peer.h.
mac=02:00:5e:77:00:99 addresses=(10.77.0.99 fd77::99)
reasons=(rx_drop_{opcode,length,unknown_qp,wrong_peer,pkey,qkey,qp_state,stale_response,after_gap,unanswered,receive_short}
	rx_drop_early rx_icrc_encapsulated out_of_buffer resp_remote_access_errors duplicate_request rnr_nak_sent nak_sent implied_nak_seq_err
	resp_xrceth_errors)

features() {
	at a ethtool -K "$NDEV_A" tx-gso-list "$1" tx-udp-segmentation "$1" || at a ethtool -K "$NDEV_A" tx-udp-segmentation "$1"
	at b ethtool -K "$NDEV_B" gro "$1"
}

# Set up the neighbour entries of the peer. It gets single packets with complete headers.
arrive() {
	local address
	features off
	for address in "${addresses[@]}"; do
		at a ip neigh replace "$address" lladdr $mac dev "$NDEV_A" nud permanent
	done
	modprobe sch_tbf
}

leave() {
	local address
	for address in "${addresses[@]}"; do at a ip neigh del "$address" dev "$NDEV_A"; done
	features on
}

read_counters() {
	local name
	counters=()
	for name in "${reasons[@]}"; do counters+=("$(counter a "$name")"); done
}

# Dropped and refused packets are counted by reason.
drops() {
	local i before=("${counters[@]}")
	read_counters
	for i in "${!reasons[@]}"; do
		((counters[i] > before[i])) || fail "${reasons[i]}: ${before[i]} before, ${counters[i]} after"
	done
}

# A peer has sent 8000 packets of 4 KiB behind a gap, twice. A queue pair may hold a 64th of the memory.
bounded() {
	local held=$(($(counter a rx_early_packets) - held_before)) most
	most=$(awk '/MemTotal/ { print int($2 / 64) }' /proc/meminfo)
	echo "note: $held packets were held, of at most $most KiB"
	((held > 2000)) || fail "only $held packets were held"
	((4 * held < 2 * most)) || fail "$held packets were held"
	return 0
}

if ! single; then
	try "transport rules, checked by crafted packets" skip "the peer needs both ends in one guest"
	finish
fi
# QUICK: the headers in front of the BTH matter to few rules.
nets=(v4)
quick || nets=(v4 v6 v1)
# shellcheck disable=SC2206 # words
[[ ! ${NETS:-} ]] || nets=($NETS)
try "the addresses of the crafted peer are set up" arrive
read_counters
# On the debug kernel, where a rule takes a second, the two sides of a connection.
if once; then : "${PROGRAMS:=rc req}"; fi
for program in ${PROGRAMS:-rc psn req other}; do [[ $program == early ]] || alone_cases "crafted_$program" "${nets[@]}"; done
if [[ ${PROGRAMS:-early} == *early* ]]; then
	held_before=$(counter a rx_early_packets)
	alone_cases crafted_early v4
	try "a peer cannot have more packets held than the limit" bounded
fi
if quick && [[ ! ${NETS:-} && ! ${PROGRAMS:-} ]]; then alone_cases crafted_psn v6 v1; fi
[[ ${PROGRAMS:-} ]] || try "dropped and refused packets are counted by reason" drops
try "the addresses of the crafted peer are removed" leave
finish
