// SPDX-License-Identifier: GPL-2.0
/*
 * crafted_other - rules of unreliable connections, datagrams and XRC
 *
 *	crafted_other a [GROUP...]	the groups are v4, v6, v1: what the packets are
 *
 * Each rule is a row: see lib/clause.h.
 */
#include "lib/clause.h"

#define UC	.type = IBV_QPT_UC
#define UD	.type = IBV_QPT_UD
#define XRC	.type = IBV_QPT_XRC_RECV

#define SENDS_ON	SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM
#define WRITES_ON	WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM
#define WRITES_NEW	WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM

/* Nothing has happened, and the next message is the first that is received. */
#define NEXT_IS_GOOD(number)						\
	SILENCE, IN(SEND_ONLY, number, .len = 8), SILENCE, GOT(1, SUCCESS, .len = 8), \
	RECEIVED(1, 0, 8, FILL(number)), MEMORY(0, REMOTE_ROOM, UNTOUCHED)

static const struct clause uc[] = {
	{ "9.8.2: messages of an unreliable connection are received, and not answered", UC,
	  .recvs = 3, STEPS {
		IN(SEND_FIRST, 3, .len = MTU), IN(SEND_LAST, 4, .len = 7), SILENCE,
		GOT(1, SUCCESS, .len = MTU + 7),
		IN(WRITE_FIRST, 5, .len = MTU, .dma = MTU + 8), IN(WRITE_LAST_IMM, 6, .len = 8),
		SILENCE,
		GOT(2, SUCCESS, .len = MTU + 8, .wc_flags = IBV_WC_WITH_IMM),
		MEMORY(0, MTU, FILL(5)), MEMORY(MTU, 8, FILL(6)),
		IN(WRITE_ONLY, 7, .len = 8), IN(SEND_ONLY_IMM, 8, .len = 3), SILENCE,
		GOT(3, SUCCESS, .len = 3, .wc_flags = IBV_WC_WITH_IMM), MEMORY(0, 8, FILL(7)),
		END } },
	{ "9.8.2: outside of a message MIDDLE and LAST are dropped", UC, .recvs = 1,
	  OPCODES(SENDS_ON, WRITES_ON), STEPS { IN(EACH, 0, .len = MTU), NEXT_IS_GOOD(1), END } },
	{ "9.8.2: a message with a gap is dropped, and the next one takes its receive", UC,
	  .recvs = 2, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_LAST, 2, .len = 4), NEXT_IS_GOOD(3), END } },
	{ "9.8.2: a message whose FIRST is lost is dropped", UC, .recvs = 2, STEPS {
		IN(SEND_MIDDLE, 1, .len = MTU), IN(SEND_LAST, 2, .len = 4), NEXT_IS_GOOD(3),
		END } },
	{ "9.8.2: a message without an end is dropped when another begins", UC, .recvs = 2, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), NEXT_IS_GOOD(1), END } },
	{ "9.8.2: a SEND that continues with WRITE packets is dropped", UC, .recvs = 2,
	  OPCODES(WRITES_ON),
	  STEPS { IN(SEND_FIRST, 0, .len = MTU), IN(EACH, 1, .len = MTU), NEXT_IS_GOOD(2), END } },
	{ "9.8.2: a WRITE that SEND packets continue is dropped", UC, .recvs = 1,
	  OPCODES(SENDS_ON), STEPS {
		IN(WRITE_FIRST, 0, .len = MTU, .dma = 2 * MTU), IN(EACH, 1, .len = MTU), SILENCE,
		MEMORY(MTU, MTU, UNTOUCHED), IN(SEND_ONLY, 2, .len = 8), SILENCE,
		GOT(1, SUCCESS, .len = 8), RECEIVED(1, 0, 8, FILL(2)), END } },
	{ "9.8.2: a message may begin with any PSN", UC, .recvs = 2, STEPS {
		IN(SEND_ONLY, 1000, .len = 8), SILENCE, GOT(1, SUCCESS, .len = 8),
		IN(SEND_ONLY, 5, .len = 8), SILENCE, GOT(2, SUCCESS, .len = 8), END } },
	{ "9.8.2: a FIRST of a wrong length is dropped",
	  UC, .recvs = 1, OPCODES(SEND_FIRST, WRITE_FIRST),
	  STEPS {
		IN(EACH, 0, .len = MTU - 4, .dma = 2 * MTU),
		IN(EACH, 1, .len = MTU + 4, .dma = 2 * MTU),
		IN(EACH, 2, .len = 0, .dma = 2 * MTU), NEXT_IS_GOOD(3), END } },
	{ "9.8.2: an ONLY of a wrong length is dropped", UC, .recvs = 1,
	  OPCODES(SEND_ONLY, SEND_ONLY_IMM, WRITE_ONLY, WRITE_ONLY_IMM), STEPS {
		IN(EACH, 0, .len = MTU + 4), NEXT_IS_GOOD(1), END } },
	{ "9.8.2: MIDDLE and LAST of a wrong length are dropped", UC, .recvs = 1, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_MIDDLE, 1, .len = MTU - 4),
		IN(SEND_FIRST, 2, .len = MTU), IN(SEND_LAST, 3, .len = 0),
		IN(SEND_FIRST, 4, .len = MTU), IN(SEND_LAST, 5, .len = MTU + 4), NEXT_IS_GOOD(6),
		END } },
	{ "9.8.2: a WRITE whose length differs from its RETH is dropped", UC, .recvs = 1, STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .dma = 12), IN(WRITE_ONLY, 1, .len = 12, .dma = 8),
		NEXT_IS_GOOD(2), END } },
	{ "9.8.2: a SEND that is longer than its receive is dropped",
	  UC, .recvs = 1, .recv_len = 100, STEPS {
		IN(SEND_ONLY, 0, .len = 101), IN(SEND_FIRST, 1, .len = MTU),
		IN(SEND_LAST, 2, .len = 4),
		SILENCE, IN(SEND_ONLY, 3, .len = 100), SILENCE, GOT(1, SUCCESS, .len = 100),
		END } },
	{ "9.8.2: a SEND without a receive is dropped", UC, STEPS {
		IN(SEND_ONLY, 0, .len = 8), IN(SEND_FIRST, 1, .len = MTU),
		IN(SEND_LAST, 2, .len = 8),
		RECV, NEXT_IS_GOOD(3), END } },
	{ "9.8.2: a WRITE with immediate data without a receive is dropped", UC, STEPS {
		IN(WRITE_ONLY_IMM, 0, .len = 8), SILENCE, MEMORY(0, 8, UNTOUCHED), RECV,
		NEXT_IS_GOOD(1), END } },
	{ "9.8.2: a WRITE with a bad key is dropped", UC, .recvs = 1, OPCODES(WRITES_NEW), STEPS {
		IN(EACH, 0, .len = MTU, .key = KEY_NONE), IN(EACH, 1, .len = MTU, .key = KEY_READ),
		IN(EACH, 2, .len = MTU, .key = KEY_FOREIGN),
		IN(EACH, 3, .len = MTU, .key = KEY_NOBODY),
		IN(EACH, 4, .len = MTU, .at = REMOTE_ROOM - 8), NEXT_IS_GOOD(5), END } },
	{ "9.8.2: a WRITE to a queue pair without remote write is dropped", UC, .recvs = 1,
	  .deny = IBV_ACCESS_REMOTE_WRITE, OPCODES(WRITES_NEW), STEPS {
		IN(EACH, 0, .len = MTU), NEXT_IS_GOOD(1), END } },
	{ "9.8.2: opcodes of reliable connections only, and reserved ones, are dropped", UC,
	  .recvs = 1,
	  OPCODES(READ_REQUEST, RESP_ONLY, ACKNOWLEDGE, ATOMIC_ACK, CMP_SWAP, FETCH_ADD, 0x15,
		  SEND_LAST_INV, SEND_ONLY_INV, 0x18, FLUSH, ATOMIC_WRITE, 0x1f), STEPS {
		IN(EACH, 0, .dma = 8, .feth = 1), NEXT_IS_GOOD(0), END } },
	{ "9.6: opcodes of another service are dropped", UC, .recvs = 1,
	  OPCODES(RAW_OP(0x04), RAW_OP(0x0a), RAW_OP(0x64), RAW_OP(0xa4)), STEPS {
		IN(EACH, 0, .len = 8), NEXT_IS_GOOD(0), END } },
	{ "9.6: packets with a wrong version, P_Key, ICRC or source are dropped",
	  UC, .recvs = 1, STEPS {
		IN(SEND_ONLY, 0, .len = 8, .flags = 1), IN(SEND_ONLY, 0, .len = 8, .pkey = 0xfffe),
		IN(SEND_ONLY, 0, .len = 8, .spoil = PEER_BAD_ICRC),
		IN(SEND_ONLY, 0, .len = 8, .spoil = PEER_BAD_SOURCE), NEXT_IS_GOOD(0), END } },
	{ "9.8.2.1: requests are complete when they are sent", UC, STEPS {
		POST(SEND, .len = MTU + 1), OUT(SEND_FIRST, 0, .len = MTU, .no_ackreq = true),
		OUT(SEND_LAST, 1, .len = 1, .no_ackreq = true), SENT(1, SUCCESS),
		POST(RDMA_WRITE_WITH_IMM, .len = 4),
		OUT(WRITE_ONLY_IMM, 2, .len = 4, .no_ackreq = true),
		SENT(2, SUCCESS), END } },
};

/* Forty bytes of a header are in front of a datagram. */
#define UD_LEN(bytes)	(40 + (bytes))
#define NEXT_DATAGRAM							\
	SILENCE, IN(SEND_ONLY, 9, .len = 8), SILENCE, GOT(1, SUCCESS, .len = UD_LEN(8)), \
	RECEIVED(1, UD_LEN(0), 8, FILL(9)), RECEIVED(1, UD_LEN(8), 8, UNTOUCHED)

static const struct clause ud[] = {
	{ "9.8.3: a datagram of any PSN is received, and not answered", UD, .recvs = 3,
	  STEPS {
		IN(SEND_ONLY, 0, .len = 8), SILENCE, GOT(1, SUCCESS, .len = UD_LEN(8)),
		IN(SEND_ONLY, 77, .len = 0), SILENCE, GOT(2, SUCCESS, .len = UD_LEN(0)),
		IN(SEND_ONLY_IMM, 3, .len = 5), SILENCE,
		GOT(3, SUCCESS, .len = UD_LEN(5), .wc_flags = IBV_WC_WITH_IMM), END } },
	{ "9.8.3: a datagram may come from any address", UD, .recvs = 1, STEPS {
		IN(SEND_ONLY, 0, .len = 8, .spoil = PEER_BAD_SOURCE), SILENCE,
		GOT(1, SUCCESS, .len = UD_LEN(8)), END } },
	{ "9.6: a datagram with another Q_Key is dropped", UD, .recvs = 1, STEPS {
		IN(SEND_ONLY, 0, .len = 8, .qkey = PEER_QKEY + 1),
		IN(SEND_ONLY, 0, .len = 8, .qkey = PEER_QKEY | 0x80000000), NEXT_DATAGRAM, END } },
	{ "9.6: a datagram of another partition, version, or with a wrong ICRC is dropped", UD,
	  .recvs = 1, STEPS {
		IN(SEND_ONLY, 0, .len = 8, .pkey = 0xfffe), IN(SEND_ONLY, 0, .len = 8, .flags = 1),
		IN(SEND_ONLY, 0, .len = 8, .spoil = PEER_BAD_ICRC), NEXT_DATAGRAM, END } },
	{ "9.6: a datagram that is shorter than its headers is dropped", UD, .recvs = 1, STEPS {
		IN(SEND_ONLY, 0, .cut = 4), IN(SEND_ONLY, 0, .cut = 8),
		IN(SEND_ONLY_IMM, 0, .cut = 4),
		IN(SEND_ONLY, 0, .flags = 0x30), NEXT_DATAGRAM, END } },
	{ "9.8.3: a datagram that is not ONLY is dropped", UD, .recvs = 1,
	  OPCODES(SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, WRITE_ONLY, READ_REQUEST,
		  ACKNOWLEDGE, CMP_SWAP, SEND_ONLY_INV, 0x1f), STEPS {
		IN(EACH, 0, .len = 8), NEXT_DATAGRAM, END } },
	{ "9.6: opcodes of connections are dropped", UD, .recvs = 1,
	  OPCODES(RAW_OP(0x04), RAW_OP(0x0a), RAW_OP(0x11), RAW_OP(0x24), RAW_OP(0xa4),
		  RAW_OP(OP_CNP)),
	  STEPS { IN(EACH, 0, .len = 16), NEXT_DATAGRAM, END } },
	{ "9.8.3: a datagram without a receive is dropped", UD, STEPS {
		IN(SEND_ONLY, 0, .len = 8), SILENCE, RECV, NEXT_DATAGRAM, END } },
	{ "9.8.3: a datagram that is longer than its receive is dropped", UD, .recvs = 1,
	  .recv_len = UD_LEN(8), STEPS { IN(SEND_ONLY, 0, .len = 9), NEXT_DATAGRAM, END } },
};

static const struct clause xrc[] = {
	{ "A14: a request uses the shared receive queue that it names", XRC, .recvs = 2, STEPS {
		IN(SEND_ONLY, 0, .len = 8), ACK(0, 1), GOT(1, SUCCESS, .len = 8),
		RECEIVED(1, 0, 8, FILL(0)), IN(SEND_ONLY, 1, .len = 8, .srq = SRQ_SECOND),
		RNR(1, 1),
		IN(SEND_FIRST, 1, .len = MTU), IN(SEND_LAST, 2, .len = 4), ACK(2, 2),
		GOT(2, SUCCESS, .len = MTU + 4), END } },
	{ "A14: WRITEs, READs and atomics also name a shared receive queue",
	  XRC, .recvs = 1, STEPS {
		IN(WRITE_ONLY, 0, .len = 8), ACK(0, 1),
		IN(READ_REQUEST, 1, .dma = 8),
		OUT(RESP_ONLY, 1, .len = 8, .msn = 2, .fill = FILL(0)),
		IN(FETCH_ADD, 2, .at = 8, .value = 1),
		OUT(ATOMIC_ACK, 2, .value = 0xeeeeeeeeeeeeeeee, .msn = 3),
		IN(FETCH_ADD, 2, .at = 8, .value = 1),
		OUT(ATOMIC_ACK, 2, .value = 0xeeeeeeeeeeeeeeee, .msn = 3),
		WORD(8, 0xeeeeeeeeeeeeeeef), ALIVE(3, 4), END } },
	{ "A14: a request for an unknown shared receive queue is refused", XRC, .recvs = 1,
	  OPCODES(SEND_FIRST, SEND_ONLY, WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM), STEPS {
		IN(EACH, 0, .len = MTU, .srq = SRQ_NOBODY), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_REQ_ERR), MEMORY(0, MTU, UNTOUCHED), END } },
	{ "A14: a request for a queue of another XRC domain is refused", XRC, .recvs = 1,
	  OPCODES(SEND_FIRST, SEND_ONLY, WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM), STEPS {
		IN(EACH, 0, .len = MTU, .srq = SRQ_FOREIGN), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_REQ_ERR), MEMORY(0, MTU, UNTOUCHED), END } },
	{ "A14: READ and atomics for a queue of another XRC domain are refused", XRC,
	  OPCODES(READ_REQUEST, CMP_SWAP, FETCH_ADD), STEPS {
		IN(EACH, 0, .dma = 8, .value = 1, .srq = SRQ_FOREIGN), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_REQ_ERR), MEMORY(0, 8, UNTOUCHED), END } },
	{ "A14: a message whose packets name different queues is refused", XRC, .recvs = 1, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_LAST, 1, .len = 4, .srq = SRQ_SECOND),
		NAK(NAK_INVALID, 1, 0), GOT(1, REM_INV_REQ_ERR), DEAD, END } },
	{ "9.7.4.1.3: MIDDLE and LAST without a FIRST are refused", XRC, .recvs = 1,
	  OPCODES(SENDS_ON, WRITES_ON), STEPS {
		IN(EACH, 0, .len = MTU), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.7.4.1.4: reserved opcodes are refused", XRC, OPCODES(0x15, 0x18, 0x1f), STEPS {
		IN(EACH, 0, .len = 16), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.6: opcodes of another service, and responses, are dropped by a target", XRC,
	  .recvs = 1,
	  OPCODES(RAW_OP(0x04), RAW_OP(0x0a), RAW_OP(0x0c), RAW_OP(0x24), RAW_OP(0x64),
		  RAW_OP(0x11), RESP_ONLY, ACKNOWLEDGE, ATOMIC_ACK), STEPS {
		IN(EACH, 0, .len = 8), SILENCE, ALIVE(0, 1), MEMORY(0, 8, UNTOUCHED), END } },
	{ "A14: requests to an initiator are dropped", .type = IBV_QPT_XRC_SEND,
	  OPCODES(SEND_ONLY, WRITE_ONLY, READ_REQUEST, FETCH_ADD, RAW_OP(0x04), RAW_OP(0x0a)),
	  STEPS {
		IN(EACH, 0, .dma = 0, .value = 1), SILENCE, MEMORY(0, 8, UNTOUCHED),
		POST(SEND, .len = 4), OUT(SEND_ONLY, 0, .len = 4, .ackreq = true),
		IN(ACKNOWLEDGE, 0, .msn = 1), SENT(1, SUCCESS), END } },
	{ "A14: an initiator puts the SRQ number into each request packet",
	  .type = IBV_QPT_XRC_SEND,
	  STEPS { POST(SEND, .len = MTU + 1), OUT(SEND_FIRST, 0, .len = MTU),
		OUT(SEND_LAST, 1, .len = 1, .ackreq = true), IN(RAW_OP(0x11), 1, .msn = 1), SILENCE,
		IN(ACKNOWLEDGE, 1, .msn = 1), SENT(1, SUCCESS),
		POST(RDMA_READ, .len = 8), OUT(READ_REQUEST, 2, .dma = 8),
		IN(RESP_ONLY, 2, .len = 8, .msn = 2), SENT(2, SUCCESS), LOCAL(0, 8, FILL(2)),
		END } },
};

int main(int argc, char **argv)
{
	static const struct clause_table tables[] = {
		CLAUSES(uc),
		CLAUSES(ud),
		CLAUSES(xrc),
	};

	return clause_main(argc, argv, true, tables, sizeof(tables) / sizeof(tables[0]));
}
