// SPDX-License-Identifier: GPL-2.0
/*
 * crafted_psn - rules of a reliable responder: headers, PSNs, responses and
 * duplicates
 *
 *	crafted_psn a [GROUP...]	the groups are v4, v6, v1: what the packets are
 *
 * Each rule is a row: see lib/clause.h.
 */
#include "lib/clause.h"

/* What memory holds at first, as a word, and with something added. */
#define WORD_AT_FIRST	0xeeeeeeeeeeeeeeeeULL

static const struct clause headers[] = {
	{ "9.6: packets of another transport version are dropped", STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .flags = 0x01),
		IN(WRITE_ONLY, 0, .len = 8, .flags = 0x08),
		SILENCE, ALIVE(0, 1), MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.6: packets of another partition are dropped", STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .pkey = 0xfffe),
		IN(WRITE_ONLY, 0, .len = 8, .pkey = 0x8000),
		IN(WRITE_ONLY, 0, .len = 8, .pkey = 0x3fff), SILENCE, ALIVE(0, 1),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.6: packets of a limited partition member are accepted", STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .pkey = 0x7fff), ACK(0, 1), MEMORY(0, 8, FILL(0)),
		END } },
	{ "9.6: packets for a queue pair that does not exist are dropped", STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .qpn_bits = 0x800000), SILENCE, ALIVE(0, 1),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "7.8.2: packets with a wrong ICRC are dropped", STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .spoil = PEER_BAD_ICRC), SILENCE, ALIVE(0, 1),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.6.1.2: packets from another address than the peer's are dropped", STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .spoil = PEER_BAD_SOURCE), SILENCE, ALIVE(0, 1),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.2: packets that end within their headers are dropped",
	  OPCODES(WRITE_ONLY, WRITE_ONLY_IMM, READ_REQUEST, CMP_SWAP, ATOMIC_WRITE, FLUSH), STEPS {
		IN(EACH, 0, .dma = 8, .cut = 4), IN(EACH, 0, .dma = 8, .cut = 16), SILENCE,
		ALIVE(0, 1), END } },
	{ "9.2: packets that are shorter than their pad count are dropped", .recvs = 1,
	  OPCODES(SEND_ONLY, WRITE_ONLY, READ_REQUEST), STEPS {
		IN(EACH, 0, .flags = 0x10), IN(EACH, 0, .flags = 0x30), SILENCE, ALIVE(0, 1),
		END } },
	{ "9.2.4: packets whose length is not a multiple of four are dropped", .recvs = 1, STEPS {
		IN(SEND_ONLY, 0, .len = 6, .cut = 1), IN(SEND_ONLY, 0, .len = 6, .cut = 2),
		SILENCE, ALIVE(0, 1), END } },
	{ "9.2: reserved bits, FECN, BECN and M are ignored", STEPS {
		IN(WRITE_ONLY, 0, .psn_bits = 0x7f000000), ACK(0, 1),
		IN(WRITE_ONLY, 1, .qpn_bits = 0x3f000000), ACK(1, 2),
		IN(WRITE_ONLY, 2, .qpn_bits = PEER_FECN | PEER_BECN), ACK(2, 3),
		IN(WRITE_ONLY, 3, .flags = PEER_MIG), ACK(3, 4), END } },
	{ "9.2.4: the pad is not delivered", .recvs = 3, STEPS {
		IN(SEND_ONLY, 0, .len = 1), ACK(0, 1), GOT(1, SUCCESS, .len = 1),
		IN(SEND_ONLY, 1, .len = 2), ACK(1, 2), GOT(2, SUCCESS, .len = 2),
		IN(SEND_ONLY, 2, .len = 3), ACK(2, 3), GOT(3, SUCCESS, .len = 3),
		RECEIVED(1, 1, 4, UNTOUCHED), RECEIVED(2, 2, 4, UNTOUCHED),
		RECEIVED(3, 3, 4, UNTOUCHED), END } },
};

static const struct clause sequence[] = {
	{ "9.7.5.2.8: a gap is answered by one sequence NAK", STEPS {
		IN(WRITE_ONLY, 1, .len = 8), NAK(NAK_SEQ, 0, 0),
		IN(WRITE_ONLY, 2, .len = 8), IN(WRITE_ONLY, 1, .len = 8), SILENCE,
		ALIVE(0, 1), IN(WRITE_ONLY, 2, .len = 8), NAK(NAK_SEQ, 1, 1), ALIVE(1, 2),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.7.5.2.8: a sequence NAK needs no AckReq", STEPS {
		IN(WRITE_ONLY, 1, .no_ackreq = true), NAK(NAK_SEQ, 0, 0), ALIVE(0, 1), END } },
	{ "9.7.4.1.2: a PSN 2^23 - 1 ahead is a gap", STEPS {
		IN(WRITE_ONLY, 0x7fffff, .len = 8), NAK(NAK_SEQ, 0, 0), ALIVE(0, 1),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.7.4.1.2: a PSN 2^23 behind is a duplicate", STEPS {
		ALIVE(0, 1), IN(WRITE_ONLY, 1 - 0x800000, .len = 8), ACK(0, 1), ALIVE(1, 2),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.7.5.2.8: READ and atomics after a gap are not executed",
	  OPCODES(READ_REQUEST, CMP_SWAP, FETCH_ADD, ATOMIC_WRITE), STEPS {
		IN(EACH, 1, .dma = 8, .value = 1, .compare = WORD_AT_FIRST), NAK(NAK_SEQ, 0, 0),
		ALIVE(0, 1), MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.7.5.2.8: a message with a gap is completed by the missing packet", .recvs = 1, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_LAST, 2, .len = 4), NAK(NAK_SEQ, 1, 0),
		IN(SEND_LAST, 1, .len = 8), ACK(1, 1), GOT(1, SUCCESS, .len = MTU + 8),
		RECEIVED(1, 0, MTU, FILL(0)), RECEIVED(1, MTU, 8, FILL(1)), END } },
	{ "9.7.5.2.8: an invalid request after a sequence NAK is refused", STEPS {
		IN(WRITE_ONLY, 3), NAK(NAK_SEQ, 0, 0), IN(SEND_MIDDLE, 0, .len = MTU),
		NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.9.3: in the error state packets are dropped", .recvs = 1, STEPS {
		IN(SEND_MIDDLE, 0, .len = MTU), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR),
		IN(WRITE_ONLY, 0, .len = 8), IN(WRITE_ONLY, 1, .len = 8),
		IN(SEND_ONLY, 0, .len = 8),
		IN(READ_REQUEST, 0, .dma = 8), SILENCE, MEMORY(0, 8, UNTOUCHED), END } },
	{ "10.3.1.2: in state INIT packets are dropped", .state = IBV_QPS_INIT, .recvs = 1, STEPS {
		IN(WRITE_ONLY, 0, .len = 8), IN(SEND_ONLY, 0, .len = 8), SILENCE,
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "11.6.3.1: in state RTR the first packet raises COMM_EST, and is executed",
	  .state = IBV_QPS_RTR, STEPS {
		IN(WRITE_ONLY, 0, .len = 8), EVENT(COMM_EST), ACK(0, 1), ALIVE(1, 2),
		MEMORY(0, 8, FILL(0)), END } },
};

static const struct clause answers[] = {
	{ "9.7.7.1: the MSN counts messages of all kinds", .recvs = 2,
	  .grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_LAST, 1, .len = 1), ACK(1, 1),
		GOT(1, SUCCESS, .len = MTU + 1),
		IN(WRITE_FIRST, 2, .len = MTU, .dma = 3 * MTU), IN(WRITE_MIDDLE, 3, .len = MTU),
		IN(WRITE_LAST, 4, .len = MTU), ACK(4, 2),
		IN(READ_REQUEST, 5, .dma = 8),
		OUT(RESP_ONLY, 5, .len = 8, .msn = 3, .fill = FILL(2)),
		IN(FETCH_ADD, 6, .at = 1024), OUT(ATOMIC_ACK, 6, .value = WORD_AT_FIRST, .msn = 4),
		IN(WRITE_ONLY_IMM, 7, .len = 8), ACK(7, 5),
		GOT(2, SUCCESS, .len = 8, .wc_flags = IBV_WC_WITH_IMM),
		IN(FLUSH, 8, .dma = 8, .feth = 1, .key = KEY_FLUSH), OUT(RESP_ONLY, 8, .msn = 6),
		IN(ATOMIC_WRITE, 9), OUT(RESP_ONLY, 9, .msn = 7),
		ALIVE(10, 8), END } },
	{ "9.7.5.1.2: an AckReq within a message is acknowledged with the old MSN", .recvs = 1,
	  .recv_len = MTU + 8, STEPS {
		IN(SEND_FIRST, 0, .len = MTU, .ackreq = true), ACK(0, 0),
		IN(SEND_LAST, 1, .len = 8), ACK(1, 1), GOT(1, SUCCESS, .len = MTU + 8), END } },
	{ "9.7.5.1.2: an ACK covers earlier requests without AckReq", .recvs = 2, STEPS {
		IN(SEND_ONLY, 0, .len = 4, .no_ackreq = true), IN(WRITE_ONLY, 1, .no_ackreq = true),
		SILENCE, IN(SEND_ONLY, 2, .len = 4), ACK(2, 3),
		GOT(1, SUCCESS, .len = 4), GOT(2, SUCCESS, .len = 4), END } },
	{ "9.7.7.2: an ACK has the number of receives as its credits", .recvs = 3, STEPS {
		IN(WRITE_ONLY, 0), OUT(ACKNOWLEDGE, 0, .msn = 1, .aeth = 3, .credits = true),
		IN(SEND_ONLY, 1), OUT(ACKNOWLEDGE, 1, .msn = 2, .aeth = 2, .credits = true),
		GOT(1, SUCCESS), END } },
	{ "9.7.7.2: without receives an ACK has no credits", STEPS {
		IN(WRITE_ONLY, 0), OUT(ACKNOWLEDGE, 0, .msn = 1, .aeth = 0, .credits = true),
		END } },
	{ "9.4.4: READs of one packet, of one full packet, and of several get responses", STEPS {
		POKE(0, MTU, 1), POKE(MTU, MTU, 2), POKE(2 * MTU, MTU, 3),
		IN(READ_REQUEST, 0, .dma = 1), OUT(RESP_ONLY, 0, .len = 1, .msn = 1, .fill = 1),
		IN(READ_REQUEST, 1, .dma = MTU), OUT(RESP_ONLY, 1, .len = MTU, .msn = 2, .fill = 1),
		IN(READ_REQUEST, 2, .dma = MTU + 1),
		OUT(RESP_FIRST, 2, .len = MTU, .msn = 3, .fill = 1),
		OUT(RESP_LAST, 3, .len = 1, .msn = 3, .fill = 2),
		IN(READ_REQUEST, 4, .dma = 3 * MTU - 2),
		OUT(RESP_FIRST, 4, .len = MTU, .msn = 4, .fill = 1),
		OUT(RESP_MIDDLE, 5, .len = MTU, .fill = 2),
		OUT(RESP_LAST, 6, .len = MTU - 2, .msn = 4, .fill = 3), ALIVE(7, 5), END } },
	{ "9.4.4: READ and atomics are answered without AckReq", STEPS {
		IN(READ_REQUEST, 0, .dma = 8, .no_ackreq = true),
		OUT(RESP_ONLY, 0, .len = 8, .msn = 1),
		IN(FETCH_ADD, 1, .no_ackreq = true),
		OUT(ATOMIC_ACK, 1, .value = WORD_AT_FIRST, .msn = 2), END } },
	{ "9.4.5: FetchAdd adds, and returns the original value", STEPS {
		IN(FETCH_ADD, 0, .value = 5), OUT(ATOMIC_ACK, 0, .value = WORD_AT_FIRST, .msn = 1),
		WORD(0, WORD_AT_FIRST + 5), IN(FETCH_ADD, 1, .value = -7ULL),
		OUT(ATOMIC_ACK, 1, .value = WORD_AT_FIRST + 5, .msn = 2),
		WORD(0, WORD_AT_FIRST - 2), MEMORY(8, 8, UNTOUCHED), END } },
	{ "9.4.5: CmpSwap swaps only if the value is equal", STEPS {
		IN(CMP_SWAP, 0, .compare = WORD_AT_FIRST - 1, .value = 7),
		OUT(ATOMIC_ACK, 0, .value = WORD_AT_FIRST, .msn = 1), MEMORY(0, 8, UNTOUCHED),
		IN(CMP_SWAP, 1, .compare = WORD_AT_FIRST, .value = 7),
		OUT(ATOMIC_ACK, 1, .value = WORD_AT_FIRST, .msn = 2), WORD(0, 7),
		MEMORY(8, 8, UNTOUCHED), END } },
	{ "A19: ATOMIC WRITE stores eight bytes", STEPS {
		IN(ATOMIC_WRITE, 0, .at = 8, .value = 0x1111111111111111),
		OUT(RESP_ONLY, 0, .msn = 1),
		MEMORY(0, 8, UNTOUCHED), MEMORY(8, 8, 0x11), MEMORY(16, 8, UNTOUCHED), END } },
	{ "A17.9: a packet with an ECN mark is answered by a CNP", .not_v1 = true, STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .spoil = PEER_MARKED),
		OUT(RAW_OP(OP_CNP), 0, .len = 16, .qpn_bits = PEER_BECN), ACK(0, 1), END } },
	{ "A17.9: a CNP is not answered", STEPS {
		IN(RAW_OP(OP_CNP), 0, .len = 16, .qpn_bits = PEER_BECN), SILENCE, ALIVE(0, 1),
		END } },
};

static const struct clause duplicates[] = {
	{ "9.7.5.1.2: a duplicate SEND is acknowledged, and not executed", .recvs = 2,
	  OPCODES(SEND_ONLY, SEND_ONLY_IMM), STEPS {
		IN(SEND_ONLY, 0, .len = 8), ACK(0, 1), GOT(1, SUCCESS, .len = 8),
		IN(EACH, 0, .len = 8), ACK(0, 1), RECEIVED(2, 0, 8, UNTOUCHED), ALIVE(1, 2),
		END } },
	{ "9.7.5.1.2: a duplicate WRITE is acknowledged, and not executed", STEPS {
		IN(WRITE_ONLY, 0, .len = 8), ACK(0, 1), POKE(0, 8, 0x11),
		IN(WRITE_ONLY, 0, .len = 8), ACK(0, 1), MEMORY(0, 8, 0x11), ALIVE(1, 2), END } },
	{ "9.7.5.1.2: a duplicate WRITE with immediate data takes no receive", .recvs = 2,
	  STEPS {
		IN(WRITE_ONLY_IMM, 0, .len = 8), ACK(0, 1),
		GOT(1, SUCCESS, .len = 8, .wc_flags = IBV_WC_WITH_IMM), POKE(0, 8, 0x11),
		IN(WRITE_ONLY_IMM, 0, .len = 8), ACK(0, 1), MEMORY(0, 8, 0x11), END } },
	{ "9.7.5.1.2: a duplicate is acknowledged with the latest PSN and MSN", STEPS {
		ALIVE(0, 1), ALIVE(1, 2), ALIVE(2, 3), IN(WRITE_ONLY, 0), ACK(2, 3),
		IN(WRITE_ONLY, 1, .no_ackreq = true), ACK(2, 3), ALIVE(3, 4), END } },
	{ "9.7.5.1.2: a duplicate FIRST within its message does no harm", .recvs = 1,
	  STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_FIRST, 0, .len = MTU, .ackreq = true),
		ACK(0, 0),
		IN(SEND_LAST, 1, .len = 4), ACK(1, 1), GOT(1, SUCCESS, .len = MTU + 4), END } },
	{ "9.7.5.1.2: a duplicate READ is executed again", STEPS {
		IN(READ_REQUEST, 0, .dma = 8), OUT(RESP_ONLY, 0, .len = 8, .msn = 1),
		POKE(0, 8, 0x11), IN(READ_REQUEST, 0, .dma = 8),
		OUT(RESP_ONLY, 0, .len = 8, .msn = 1, .fill = 0x11), ALIVE(1, 2), END } },
	{ "9.7.5.1.2: a duplicate READ of a part of the original is executed", STEPS {
		IN(READ_REQUEST, 0, .dma = 3 * MTU), OUT(RESP_FIRST, 0, .len = MTU, .msn = 1),
		OUT(RESP_MIDDLE, 1, .len = MTU), OUT(RESP_LAST, 2, .len = MTU, .msn = 1),
		POKE(MTU, MTU, 0x11), IN(READ_REQUEST, 1, .at = MTU, .dma = 2 * MTU),
		OUT(RESP_FIRST, 1, .len = MTU, .msn = 1, .fill = 0x11),
		OUT(RESP_LAST, 2, .len = MTU, .msn = 1),
		IN(READ_REQUEST, 2, .at = 2 * MTU, .dma = MTU),
		OUT(RESP_ONLY, 2, .len = MTU, .msn = 1),
		ALIVE(3, 2), END } },
	{ "9.7.5.1.2: a duplicate READ that ends past the original is dropped", STEPS {
		IN(READ_REQUEST, 0, .dma = 2 * MTU), OUT(RESP_FIRST, 0, .len = MTU, .msn = 1),
		OUT(RESP_LAST, 1, .len = MTU, .msn = 1), IN(READ_REQUEST, 1, .dma = 2 * MTU),
		IN(READ_REQUEST, 0, .dma = 2 * MTU + 1), SILENCE, ALIVE(2, 2), END } },
	{ "9.7.5.1.2: a duplicate READ with a bad R_Key is dropped without an error", STEPS {
		IN(READ_REQUEST, 0, .dma = 8), OUT(RESP_ONLY, 0, .len = 8, .msn = 1),
		IN(READ_REQUEST, 0, .dma = 8, .key = KEY_NOBODY),
		IN(READ_REQUEST, 0, .dma = 8, .at = REMOTE_ROOM), SILENCE, ALIVE(1, 2), END } },
	{ "9.7.5.1.2: a duplicate FetchAdd is answered with the saved result", STEPS {
		IN(FETCH_ADD, 0, .value = 5), OUT(ATOMIC_ACK, 0, .value = WORD_AT_FIRST, .msn = 1),
		IN(FETCH_ADD, 0, .value = 5), OUT(ATOMIC_ACK, 0, .value = WORD_AT_FIRST, .msn = 1),
		WORD(0, WORD_AT_FIRST + 5), IN(FETCH_ADD, 1, .value = 1),
		OUT(ATOMIC_ACK, 1, .value = WORD_AT_FIRST + 5, .msn = 2),
		IN(FETCH_ADD, 0, .value = 5), OUT(ATOMIC_ACK, 0, .value = WORD_AT_FIRST, .msn = 1),
		WORD(0, WORD_AT_FIRST + 6), ALIVE(2, 3), END } },
	{ "9.7.5.1.2: a duplicate CmpSwap is answered with the saved result", STEPS {
		IN(CMP_SWAP, 0, .compare = WORD_AT_FIRST, .value = 7),
		OUT(ATOMIC_ACK, 0, .value = WORD_AT_FIRST, .msn = 1), POKE(0, 8, UNTOUCHED),
		IN(CMP_SWAP, 0, .compare = WORD_AT_FIRST, .value = 7),
		OUT(ATOMIC_ACK, 0, .value = WORD_AT_FIRST, .msn = 1), MEMORY(0, 8, UNTOUCHED),
		END } },
	{ "9.7.5.1.2: max_dest_rd_atomic results are saved", .rd_atomic = 2, STEPS {
		IN(FETCH_ADD, 0, .value = 1), OUT(ATOMIC_ACK, 0, .value = WORD_AT_FIRST, .msn = 1),
		IN(FETCH_ADD, 1, .value = 1),
		OUT(ATOMIC_ACK, 1, .value = WORD_AT_FIRST + 1, .msn = 2),
		IN(FETCH_ADD, 2, .value = 1),
		OUT(ATOMIC_ACK, 2, .value = WORD_AT_FIRST + 2, .msn = 3),
		IN(FETCH_ADD, 0, .value = 1), SILENCE,
		IN(FETCH_ADD, 1, .value = 1),
		OUT(ATOMIC_ACK, 1, .value = WORD_AT_FIRST + 1, .msn = 2),
		IN(FETCH_ADD, 2, .value = 1),
		OUT(ATOMIC_ACK, 2, .value = WORD_AT_FIRST + 2, .msn = 3),
		WORD(0, WORD_AT_FIRST + 3), ALIVE(3, 4), END } },
	{ "9.7.5.1.2: a duplicate atomic with the PSN of a WRITE is dropped", STEPS {
		ALIVE(0, 1), IN(FETCH_ADD, 0, .value = 1), SILENCE, MEMORY(0, 8, UNTOUCHED),
		ALIVE(1, 2), END } },
	{ "A19: a duplicate ATOMIC WRITE is answered, and not executed", STEPS {
		IN(ATOMIC_WRITE, 0), OUT(RESP_ONLY, 0, .msn = 1), POKE(0, 8, 0x11),
		IN(ATOMIC_WRITE, 0), OUT(RESP_ONLY, 0, .msn = 1), MEMORY(0, 8, 0x11),
		ALIVE(1, 2), END } },
	{ "A19: a duplicate FLUSH is answered", .grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {
		IN(FLUSH, 0, .dma = 8, .feth = 1, .key = KEY_FLUSH), OUT(RESP_ONLY, 0, .msn = 1),
		IN(FLUSH, 0, .dma = 8, .feth = 1, .key = KEY_FLUSH), OUT(RESP_ONLY, 0, .msn = 1),
		IN(FLUSH, 1, .feth = 0x11, .key = KEY_FLUSH), OUT(RESP_ONLY, 1, .msn = 2),
		ALIVE(2, 3), END } },
};

/*
 * All but the first answer wait in a queue of the device. When there are 64 of them, what else
 * is asked for waits in the queue pair. What a queue holds leaves with the next packet.
 */
#define HOLD								\
	SHELL("tc qdisc replace dev $NDEV_A root tbf rate 8bit burst 100 limit 1000000", \
	      "tc qdisc del dev $NDEV_A root")
#define RELEASE								\
	SHELL("tc qdisc change dev $NDEV_A root tbf rate 1gbit burst 100000 limit 1000000 && " \
	      "bash -c 'echo >/dev/udp/$ADDR_B/9'", "true")

static const struct clause resources[] = {
	{ "9.7.5.2.8: a SEND without a receive gets an RNR NAK, later packets are dropped", STEPS {
		IN(SEND_ONLY, 0, .len = 8), RNR(0, 0), IN(SEND_ONLY, 1, .len = 8),
		IN(WRITE_ONLY, 1, .len = 8), SILENCE, MEMORY(0, 8, UNTOUCHED), RECV, ACK(-1, 0),
		IN(SEND_ONLY, 0, .len = 8), ACK(0, 1), GOT(1, SUCCESS, .len = 8), ALIVE(1, 2),
		END } },
	{ "9.7.5.2.8: SEND with immediate data and SEND FIRST get an RNR NAK, each time",
	  OPCODES(SEND_ONLY_IMM, SEND_FIRST),
	  STEPS {
		IN(EACH, 0, .len = MTU), RNR(0, 0), IN(EACH, 0, .len = MTU), RNR(0, 0), END } },
	{ "9.7.5.2.8: a WRITE with immediate data gets an RNR NAK, and is not executed",
	  STEPS {
		IN(WRITE_ONLY_IMM, 0, .len = 8), RNR(0, 0), MEMORY(0, 8, UNTOUCHED), RECV,
		ACK(-1, 0), IN(WRITE_ONLY_IMM, 0, .len = 8), ACK(0, 1),
		GOT(1, SUCCESS, .len = 8, .wc_flags = IBV_WC_WITH_IMM), MEMORY(0, 8, FILL(0)),
		END } },
	{ "9.7.5.2.8: WRITE LAST with immediate data gets an RNR NAK", STEPS {
		IN(WRITE_FIRST, 0, .len = MTU, .dma = MTU + 8), IN(WRITE_LAST_IMM, 1, .len = 8),
		RNR(1, 0), MEMORY(0, MTU, FILL(0)), RECV, ACK(0, 0),
		IN(WRITE_LAST_IMM, 1, .len = 8), ACK(1, 1),
		GOT(1, SUCCESS, .len = MTU + 8, .wc_flags = IBV_WC_WITH_IMM),
		MEMORY(MTU, 8, FILL(1)), END } },
	{ "9.7.4.1.5: more READs than max_dest_rd_atomic are refused",
	  .rd_atomic = 2, STEPS {
		HOLD, IN(READ_REQUEST, 0, .dma = 8, .times = 67), IN(READ_REQUEST, 67, .dma = 8),
		EVENT(QP_ACCESS_ERR), RELEASE,
		OUT(RESP_ONLY, 0, .len = 8, .msn = 1, .times = 67), NAK(NAK_INVALID, 67, 67),
		DEAD, END } },
	{ "9.7.4.1.5: more atomics than max_dest_rd_atomic are refused",
	  .rd_atomic = 2, STEPS {
		HOLD, IN(READ_REQUEST, 0, .dma = 8, .times = 67), IN(FETCH_ADD, 67, .value = 1),
		EVENT(QP_ACCESS_ERR), RELEASE,
		OUT(RESP_ONLY, 0, .len = 8, .msn = 1, .times = 67), NAK(NAK_INVALID, 67, 67),
		DEAD, MEMORY(0, 8, UNTOUCHED), END } },
};

int main(int argc, char **argv)
{
	static const struct clause_table tables[] = {
		CLAUSES(headers),
		CLAUSES(sequence),
		CLAUSES(answers),
		CLAUSES(duplicates),
		CLAUSES(resources),
	};

	return clause_main(argc, argv, false, tables, sizeof(tables) / sizeof(tables[0]));
}
