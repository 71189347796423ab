#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# resource: what an administrator sees of the device: rdma resource show, rdma statistic,
# tracepoints.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

# want TEXT PATTERN...: every pattern (extended, of grep) is in it
want() {
	local text=$1 pattern
	shift
	echo "$text"
	for pattern; do grep -qE -- "$pattern" <<<"$text" || fail "no \"$pattern\" here"; done
}

# The kernel has one PD, CQ and QP of its own, for queue pair 1.
objects() {
	local kind
	hold_objects a --qps 3 --mrs 2 --cqes 100 --gid "$(gid_index a "$ADDR_A")"
	qpn=$(($(awk '/^qp/ { print $2; exit }' "$held")))
	want "$(at a rdma resource show)" "$DEV_A: pd 2 cq 2 qp 4 .*mr 2 "
	want "$(at a rdma -dd resource show qp link "$DEV_A")" "lqpn $qpn .*rqpn $qpn .*type RC state RTS .*rq-psn [0-9]+ .*sq-psn [0-9]+ .*comm hold_objects" \
		"drv_window [0-9]+" "drv_epsn [0-9]+" "drv_msn [0-9]+" "drv_outstanding 0"
	(($(at a rdma resource show qp link "$DEV_A" | grep -c 'type RC state RTS') == 3)) || fail "not three queue pairs in RTS"
	want "$(at a rdma -dd resource show cq dev "$DEV_A")" "cqe [0-9]+ .*comm hold_objects" "drv_produced 0" "drv_overflow 0"
	want "$(at a rdma -dd resource show mr dev "$DEV_A")" "rkey 0x[0-9a-f]+ .*mrlen 4096 .*comm hold_objects" "drv_access 0x"
	want "$(at a rdma -dd resource show pd dev "$DEV_A")" "users [0-9]+ .*comm hold_objects"
	for kind in "qp link" "cq dev" "mr dev" "pd dev"; do
		# shellcheck disable=SC2086 # two words
		at a rdma -j -p resource show $kind "$DEV_A" | python3 -c 'import json, sys; sys.exit(not json.load(sys.stdin))' ||
			fail "rdma -j resource show $kind is empty"
	done
	release
	nothing_held || fail "still held: $(resources)"
}

# The PSNs advance while data is sent.
psns() { at a rdma -j -dd resource show qp link "$DEV_A" | tr '{' '\n' | sed -n '/"type":"RC"/ s/.*"drv_next_psn":\([0-9]*\).*/\1/p'; }
# ib_write_bw from a to b, until stop_writing
writing() {
	next_port
	run_at b ib_write_bw -F -p "$port" -d "$DEV_B" -D 30 >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server
	run_at a ib_write_bw -F -p "$port" -d "$DEV_A" -D 30 "$ADDR_B" >/tmp/said.a 2>&1 </dev/null &
	client=$!
}
stop_writing() {
	kill $client $server
	let_go 20
}
moving() {
	local server client before
	writing
	within 20 has_psn
	before=$(psns)
	within 20 has_moved "$before"
	echo "next PSN: $before, then $(psns)"
	want "$(at a rdma resource show qp link "$DEV_A")" "type RC state RTS" "comm ib_write_bw"
	stop_writing
}
has_psn() { [[ $(psns) =~ ^[0-9]+$ ]]; }
has_moved() { [[ $(psns) != "$1" ]]; }

# A bound queue pair counts for itself. The port counts all queue pairs, before, meanwhile and after.
watched() {
	local server client before qpn
	before=$(counter b rx_write_requests)
	at b rdma statistic qp set link "$DEV_B/1" auto type on
	want "$(at b rdma statistic qp mode link "$DEV_B/1")" "auto type on"
	perftest write_bw -n 100 -s 65536
	at b rdma statistic qp set link "$DEV_B/1" auto off
	counter b rx_write_requests >/dev/null
	((counted - before == 100)) || fail "rx_write_requests counts $((counted - before)) of 100"

	before=$counted
	writing
	within 20 writes_arrive
	qpn=$(at b rdma resource show qp link "$DEV_B" | sed -n 's/.*lqpn \([0-9]*\) .*type RC .*/\1/p')
	at b rdma statistic qp bind link "$DEV_B/1" lqpn "$qpn"
	within 20 has_counted
	before=$(counter b rx_write_requests)
	within 20 writes_arrive
	at b rdma statistic qp unbind link "$DEV_B/1" cntn "$(sed -n 's/.* cntn \([0-9]*\) .*/\1/p' <<<"$shown")" lqpn "$qpn"
	[[ ! $(at b rdma statistic qp show link "$DEV_B/1") ]] || fail "still there: $(at b rdma statistic qp show link "$DEV_B/1")"
	before=$(counter b rx_write_requests)
	within 20 writes_arrive
	at b rdma statistic qp bind link "$DEV_B/1" lqpn "$qpn"
	# The queue pair is destroyed while it is bound.
	stop_writing
	(($(counter b rx_write_requests) >= before)) || fail "what was counted is lost"
}
writes_arrive() { (($(counter b rx_write_requests) > before)); }
has_counted() {
	shown=$(at b rdma statistic qp show link "$DEV_B/1")
	echo "$shown"
	[[ $shown =~ "rx_write_requests "[1-9].*"LQPN: <$qpn>" ]]
}

counters() {
	local name before after text
	text=$(at a rdma statistic show link "$DEV_A/1")
	for name in tx_packets tx_bytes rx_packets rx_bytes tx_retransmitted_packets out_of_sequence packet_seq_err duplicate_request \
		local_ack_timeout_err rnr_nak_retry_err rx_icrc_encapsulated req_cqe_error resp_cqe_error; do
		grep -qwE "$name [0-9]+" <<<"$text" || fail "no counter $name in rdma statistic: $text"
	done
	before=$(counter b rx_write_requests)
	perftest write_bw -n 100 -s 65536
	after=$(counter b rx_write_requests)
	((after - before == 100)) || fail "rx_write_requests counts $((after - before)) of 100"
	before=$(counter b rx_send_requests)
	pingpong -n 100
	after=$(counter b rx_send_requests)
	((after - before == 100)) || fail "rx_send_requests counts $((after - before)) of 100"
	# Without loss one end receives the packets and bytes that the other one sends.
	sent=$(counter a tx_packets) got=$(counter b rx_packets)
	before=$(counter a tx_bytes) after=$(counter b rx_bytes)
	pingpong -n 50 -s 65536
	sent=$(($(counter a tx_packets) - sent)) got=$(($(counter b rx_packets) - got))
	((sent == got && sent > 50 * 64)) || fail "$sent packets sent, $got received"
	sent=$(($(counter a tx_bytes) - before)) got=$(($(counter b rx_bytes) - after))
	((sent == got && sent > 50 * 65536)) || fail "$sent bytes sent, $got received"
}

events=/sys/kernel/tracing

# A sender of packets to b's UDP port 4791. Each input line has a name, BTH and payload in
# hexadecimal, and bits to flip in the ICRC. The ICRC is computed here again, as IBTA annex A17
# says: a CRC-32 over headers with all mutable fields set. It prints the names of the packets sent.
packets='
import socket, sys, zlib
source, dest = sys.argv[1:]
def headers(body, tos, ttl, csum):
    length = 8 + len(body) + 4
    ip = bytes([0x45, tos]) + (20 + length).to_bytes(2, "big") + bytes([0x12, 0x34, 0x40, 0, ttl, 17]) + csum
    ip += socket.inet_aton(source) + socket.inet_aton(dest)
    return ip + (50000).to_bytes(2, "big") + (4791).to_bytes(2, "big") + length.to_bytes(2, "big") + csum
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
for line in iter(sys.stdin.readline, ""):
    name, body, flip = line.split()
    body = bytes.fromhex(body)
    icrc = zlib.crc32(b"\xff" * 8 + headers(body, 255, 255, b"\xff\xff") + body[:4] + b"\xff" + body[5:]) ^ int(flip)
    s.sendto(headers(body, 0, 64, bytes(2)) + body + icrc.to_bytes(4, "little"), (dest, 0))
    print("sent", name, flush=True)'

# drop COUNTER BODY [FLIP]: send this packet from a to b. It is counted and traced there by this name.
# shellcheck disable=SC2016 # the shell over there expands
drop() {
	local name=$1 before after trace
	before=$(counter b "$name")
	look b 'echo >"$root$1/trace"; echo 1 >"$root$1/events/rover/rover_drop/enable"' $events
	: >$sent
	echo "$1 $2 ${3:-0}" >&$sender
	within 10 was_sent "$name"
	nap 0.2
	trace=$(look b 'while read -r line; do [[ $line != *rover_drop:* ]] || echo "$line"; done <"$root$1/trace"' $events)
	look b 'echo 0 >"$root$1/events/rover/rover_drop/enable"' $events
	after=$(counter b "$name")
	echo "$name: $before, then $after; $trace"
	((after == before + 1)) || fail "it is not counted"
	[[ $trace =~ rover_drop:\ $name\  ]] || fail "the tracepoint does not tell of it"
}
was_sent() { [[ $(<$sent) == *"sent $1"* ]]; }

events_exist() {
	local name
	for name in rover_drop rover_qp_state rover_go_back; do at a test -e "$events/events/rover/$name/enable" || fail "no $name"; done
}

# The trace shows each state of a queue pair.
states() {
	at a bash -c "echo >$events/trace; echo 1 >$events/events/rover/rover_qp_state/enable"
	hold_objects a --qps 1 --gid "$(gid_index a "$ADDR_A")"
	qpn=$(awk '/^qp/ { print $2 }' "$held")
	release
	at a bash -c "echo 0 >$events/events/rover/rover_qp_state/enable"
	want "$(at a grep rover_qp_state $events/trace)" "qpn=$qpn 0 -> 1" "qpn=$qpn 1 -> 2" "qpn=$qpn 2 -> 3"
}

know_gids
try "rdma resource show qp, cq, mr, pd" objects
try "rdma resource shows the PSN of a busy queue pair advance" moving
try "rdma statistic counts packets, bytes and requests" counters
try "rdma statistic qp counts for one bound queue pair" watched
try "the tracepoints exist" events_exist
try "a tracepoint reports state changes of a queue pair" states
# One program sends all of them.
sent=/tmp/sent
: >$sent
exec {sender}> >(limit=300 run_at a python3 -c "$packets" "$ADDR_A" "$ADDR_B" >>$sent 2>&1)
# A BTH: opcode, flags, P_Key, QPN, PSN.
try "a packet shorter than a BTH is dropped, counted and traced" drop rx_drop_short 0400ffff
try "a packet with a wrong ICRC is dropped, counted and traced" drop rx_icrc_encapsulated 6400ffff00000001000000010000000100000001 1
try "a packet for an unknown queue pair is dropped, counted and traced" drop rx_drop_unknown_qp 0400ffff0012345600000001
if ! once; then
	try "a packet with an unknown opcode is dropped, counted and traced" drop rx_drop_opcode ff00ffff0012345600000001
	try "a packet too short for its opcode is dropped, counted and traced" drop rx_drop_length 0a00ffff0012345600000001
	try "a packet of another partition (P_Key) is dropped, counted and traced" drop rx_drop_pkey 040012340012345600000001
	try "a packet for a multicast group without members is dropped, counted and traced" drop rx_drop_no_group 6400ffff00ffffff000000010000000100000001
	# With a DETH: Q_Key and QPN. A MAD has 256 bytes.
	try "a packet for queue pair 1 with a wrong Q_Key is dropped, counted and traced" drop rx_drop_qkey 6400ffff00000001000000010000000100000001
	try "a packet for queue pair 1 shorter than a MAD is dropped, counted and traced" drop rx_drop_length \
		6400ffff000000010000000180010000000000010102030405060708
	try "a packet for queue pair 1 with an RC opcode is dropped, counted and traced" drop rx_drop_opcode 0400ffff0000000100000001
fi
finish
