# SPDX-License-Identifier: GPL-2.0
#
# ladder.awk: lines of a trace as a ladder. With -v qpn=N only that queue pair.

BEGIN {
	states = "RESET INIT RTR RTS SQD SQE ERR"
	split(states, state, " ")
	# enum rover_fault, from 0
	faults = "ok|opcode|length|longer than receive|too many reads|unaligned atomic|" \
		"shared receive queue|receiver not ready|corrupt receive|corrupt receive ring|" \
		"memory of receive|key|access|bounds|memory|page not there|payload revoked|" \
		"invalidate|corrupt request|request too long|address handle|memory operation|" \
		"bad response|remote invalid request|remote access|remote operation|" \
		"retries exceeded|RNR retries exceeded|flush|completion queue overflow"
	split(faults, fault, "|")
	naks = "PSN sequence error|invalid request|remote access|remote operation|invalid RD request"
	split(naks, nak, "|")
}

# The syndrome of an AETH: two bits of kind, five of credits, timer or code.
function answer(syndrome,	kind, code) {
	kind = int(syndrome / 32) % 4
	code = syndrome % 32
	if (kind == 0)
		return "ACK"
	if (kind == 1)
		return "RNR NAK, timer " code
	if (kind == 3)
		return "NAK, " (code + 1 in nak ? nak[code + 1] : code)
	return "syndrome " syndrome
}

function number(text,	i, value, digit) {
	sub(/.*=/, "", text)
	if (text !~ /^0x/)
		return text + 0
	text = tolower(substr(text, 3))
	for (i = 1; i <= length(text); i++) {
		digit = index("0123456789abcdef", substr(text, i, 1)) - 1
		value = value * 16 + digit
	}
	return value
}

function packets(count) { return count == 1 ? "1 packet" : count " packets" }

# A rung: to the peer, from the peer, or a remark at this end.
function out(text)	{ return sprintf("|-- %s %s>|", text, dashes(46 - length(text))) }
function in_(text)	{ return sprintf("|<%s %s --|", dashes(46 - length(text)), text) }
function here(text)	{ return sprintf("| %-51s|", text) }
function dashes(n,	said) { while (n-- > 0) said = said "-"; return said }

function draw(event, key, psn, arg) {
	if (event == "rover_tx_train")
		return out(packets(arg) " from PSN " psn)
	if (event == "rover_rx_train")
		return in_(packets(arg))
	if (event == "rover_ack_sent")
		return out(answer(arg) " of PSN " psn)
	if (event == "rover_ack_received")
		return in_(answer(arg) " of PSN " psn)
	if (event == "rover_go_back")
		return here("sends again from PSN " psn ", had sent to " arg)
	if (event == "rover_fault")
		return here("FAULT at PSN " psn ": " (arg + 1 in fault ? fault[arg + 1] : arg))
	if (event == "rover_stream")
		return here("polling of the send ring " (arg ? "begins" : "ends"))
	return here(event)
}

{
	for (i = 1; i <= NF && $i !~ /^rover_[a-z_]+:$/; i++)
		;
	if (i > NF)
		next
	event = substr($i, 1, length($i) - 1)
	at = $(i - 1) + 0
	if (event == "rover_drop") {
		key = number($(i + 2))
		line = here("DROP " $(i + 1) " PSN " number($(i + 4)) ", opcode " number($(i + 3)))
	} else if (event == "rover_qp_state") {
		key = number($(i + 1))
		line = here(state[$(i + 2) + 1] " -> " state[$(i + 4) + 1])
	} else {
		key = number($(i + 1))
		line = draw(event, key, number($(i + 2)), number($(i + 3)))
	}
	if (qpn != "" && key != qpn)
		next
	if (!begun++) {
		start = at
		printf "%11s  %8s  %-52s %s\n", "ms", "QPN", "this end", "the peer"
	}
	printf "%11.3f  %8d  %s\n", (at - start) * 1000, key, line
	fflush()
}
