#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# crafted: a peer that is a program makes packets one by one, and each rule of IBTA's transport (9.7.4.1, 9.9 and their neighbours) is
# looked at alone: what is sent in answer, which completion, event and state follow. The peer has addresses of its own that
# nobody has, at b's end of the wire; the queue pairs are a's.
#
#	PROGRAMS="rc psn"	only these of crafted_*
#	NETS="v4 v1"		what the packets are: RoCE v2 over IPv4 or IPv6, or v1
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=120
# As in lib/peer.h.
mac=02:00:5e:77:00:99 addresses=(10.77.0.99 fd77::99)
reasons=(rx_drop_{opcode,length,unknown_qp,wrong_peer,pkey,qkey,qp_state,stale_response,after_gap,unanswered,receive_short}
	rx_icrc_encapsulated out_of_buffer resp_remote_access_errors duplicate_request rnr_nak_sent nak_sent implied_nak_seq_err
	resp_xrceth_errors)

features() {
	at a ethtool -K "$NDEV_A" tx-gso-list "$1" tx-udp-segmentation "$1" || at a ethtool -K "$NDEV_A" tx-udp-segmentation "$1"
	at b ethtool -K "$NDEV_B" gro "$1"
}

# The peer is found, and sees single packets with all that they have on a wire.
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

# What was dropped or refused is counted, by reason.
drops() {
	local i before=("${counters[@]}")
	read_counters
	for i in "${!reasons[@]}"; do
		((counters[i] > before[i])) || fail "${reasons[i]}: ${before[i]} before, ${counters[i]} after"
	done
}

if ! single; then
	try "rules of the transport, one by one" skip "the peer needs both ends in one guest"
	finish
fi
# Quickly: what the headers are in front of BTH makes a difference to few rules.
nets=(v4)
quick || nets=(v4 v6 v1)
# shellcheck disable=SC2206 # words
[[ ! ${NETS:-} ]] || nets=($NETS)
try "the peer's addresses" arrive
read_counters
# On the debug kernel, where a rule takes a second, the two sides of a connection.
if once; then : "${PROGRAMS:=rc req}"; fi
for program in ${PROGRAMS:-rc psn req other}; do alone_cases "crafted_$program" "${nets[@]}"; done
if quick && [[ ! ${NETS:-} && ! ${PROGRAMS:-} ]]; then alone_cases crafted_psn v6 v1; fi
[[ ${PROGRAMS:-} ]] || try "what was dropped or refused is counted by reason" drops
try "the peer leaves" leave
finish
