// SPDX-License-Identifier: GPL-2.0
/*
 * crafted_req - rules of a reliable requester: its packets, and its reaction to
 * responses
 *
 *	crafted_req a [GROUP...]	the groups are v4, v6, v1: what the packets are
 *
 * Each rule is a row: see lib/clause.h. Sequence numbers of requests and their answers are those
 * of the queue pair.
 */
#include "lib/clause.h"

#define RESPONSES	RESP_FIRST, RESP_MIDDLE, RESP_LAST, RESP_ONLY, ACKNOWLEDGE, ATOMIC_ACK

/* A SEND of one packet is on its way. */
#define SEND_SENT(number)						\
	POST(SEND, .len = 4, .at = READ_LEN), OUT(SEND_ONLY, number, .len = 4, .ackreq = true)
/* And is done. */
#define SEND_DONE(number, which)					\
	IN(ACKNOWLEDGE, number, .msn = (which)), SENT(which, SUCCESS)
/* A READ of two packets and a half. */
#define READ_LEN	(2 * MTU + 100)
#define READ_SENT(number)						\
	POST(RDMA_READ, .len = READ_LEN), OUT(READ_REQUEST, number, .dma = READ_LEN)
#define THREE_WRITES	POST(RDMA_WRITE), POST(RDMA_WRITE), POST(RDMA_WRITE)
/* The QP is well: it sends, and is answered. */
#define WELL(number, which)	SEND_SENT(number), SEND_DONE(number, which)

static const struct clause requests[] = {
	{ "9.7.2: a SEND is split by the path MTU, and its LAST has AckReq", STEPS {
		POST(SEND, .len = 2 * MTU + 3), OUT(SEND_FIRST, 0, .len = MTU, .no_ackreq = true),
		OUT(SEND_MIDDLE, 1, .len = MTU, .no_ackreq = true),
		OUT(SEND_LAST, 2, .len = 3, .ackreq = true), SEND_DONE(2, 1), END } },
	{ "9.7.2: a SEND of exactly two path MTUs has no MIDDLE", STEPS {
		POST(SEND, .len = 2 * MTU), OUT(SEND_FIRST, 0, .len = MTU),
		OUT(SEND_LAST, 1, .len = MTU, .ackreq = true), SEND_DONE(1, 1), END } },
	{ "9.7.2: a SEND of one path MTU is ONLY, and an empty one, too", STEPS {
		POST(SEND, .len = MTU), OUT(SEND_ONLY, 0, .len = MTU), SEND_DONE(0, 1),
		POST(SEND), OUT(SEND_ONLY, 1), SEND_DONE(1, 2), END } },
	{ "9.2: immediate data, keys to invalidate and SE are in the last packet", STEPS {
		POST(SEND_WITH_IMM, .len = MTU + 1, .wc_flags = IBV_SEND_SOLICITED),
		OUT(SEND_FIRST, 0, .len = MTU), OUT(SEND_LAST_IMM, 1, .len = 1, .flags = PEER_SE),
		SEND_DONE(1, 1),
		POST(SEND_WITH_INV, .len = MTU + 2), OUT(SEND_FIRST, 2, .len = MTU),
		OUT(SEND_LAST_INV, 3, .len = 2), SEND_DONE(3, 2),
		POST(SEND_WITH_IMM, .len = 1), OUT(SEND_ONLY_IMM, 4, .len = 1), SEND_DONE(4, 3),
		POST(SEND_WITH_INV, .len = 1, .wc_flags = IBV_SEND_SOLICITED),
		OUT(SEND_ONLY_INV, 5, .len = 1, .flags = PEER_SE), SEND_DONE(5, 4), END } },
	{ "9.4.3: the first packet of a WRITE has the address and the whole length", STEPS {
		POST(RDMA_WRITE, .len = 2 * MTU + 3, .at = 8),
		OUT(WRITE_FIRST, 0, .len = MTU, .dma = 2 * MTU + 3, .at = 8),
		OUT(WRITE_MIDDLE, 1, .len = MTU), OUT(WRITE_LAST, 2, .len = 3, .ackreq = true),
		SEND_DONE(2, 1),
		POST(RDMA_WRITE_WITH_IMM, .len = MTU + 4),
		OUT(WRITE_FIRST, 3, .len = MTU, .dma = MTU + 4), OUT(WRITE_LAST_IMM, 4, .len = 4),
		SEND_DONE(4, 2), POST(RDMA_WRITE, .len = 2), OUT(WRITE_ONLY, 5, .len = 2),
		SEND_DONE(5, 3), POST(RDMA_WRITE_WITH_IMM), OUT(WRITE_ONLY_IMM, 6),
		SEND_DONE(6, 4), END } },
	{ "9.4.4: a READ uses as many PSNs as its response has packets", STEPS {
		READ_SENT(0), POST(SEND, .len = 4), OUT(SEND_ONLY, 3, .len = 4),
		IN(RESP_FIRST, 0, .len = MTU, .msn = 1), IN(RESP_MIDDLE, 1, .len = MTU),
		IN(RESP_LAST, 2, .len = 100, .msn = 1), SENT(1, SUCCESS), SEND_DONE(3, 2),
		LOCAL(0, MTU, FILL(0)), LOCAL(MTU, MTU, FILL(1)), LOCAL(2 * MTU, 100, FILL(2)),
		LOCAL(READ_LEN, 8, LOCAL_FILL), END } },
	{ "9.4.4: a READ of no bytes gets a response", STEPS {
		POST(RDMA_READ), OUT(READ_REQUEST, 0), IN(RESP_ONLY, 0, .msn = 1), SENT(1, SUCCESS),
		WELL(1, 2), END } },
	{ "9.4.5: atomics return the original value", STEPS {
		POST(ATOMIC_FETCH_AND_ADD, .value = 5), OUT(FETCH_ADD, 0, .value = 5),
		IN(ATOMIC_ACK, 0, .msn = 1, .value = 0x1122334455667788), SENT(1, SUCCESS),
		LOCAL_WORD(0, 0x1122334455667788),
		POST(ATOMIC_CMP_AND_SWP, .at = 8, .value = 7, .compare = 9),
		OUT(CMP_SWAP, 1, .at = 8, .value = 7, .compare = 9),
		IN(ATOMIC_ACK, 1, .msn = 2, .value = 1), SENT(2, SUCCESS), LOCAL_WORD(8, 1),
		END } },
	{ "9.7.7.1: max_rd_atomic READs and atomics are outstanding", .rd_atomic = 2,
	  STEPS {
		POST(RDMA_READ, .len = 4), OUT(READ_REQUEST, 0, .dma = 4),
		POST(ATOMIC_FETCH_AND_ADD, .at = 8), OUT(FETCH_ADD, 1, .at = 8),
		POST(RDMA_READ, .len = 4), POST(SEND, .len = 4, .at = READ_LEN), SILENCE,
		IN(RESP_ONLY, 0, .len = 4, .msn = 1), SENT(1, SUCCESS),
		OUT(READ_REQUEST, 2, .dma = 4), OUT(SEND_ONLY, 3, .len = 4),
		IN(ATOMIC_ACK, 1, .msn = 2), SENT(2, SUCCESS),
		IN(RESP_ONLY, 2, .len = 4, .msn = 3), SENT(3, SUCCESS), SEND_DONE(3, 4), END } },
	/* The first window is 64 packets. */
	{ "9.7.5.1.2: with no AckReq in flight a READ does not wait for the window", .rd_atomic = 1,
	  STEPS {
		POST(RDMA_READ, .len = 4), OUT(READ_REQUEST, 0, .dma = 4),
		POST(RDMA_READ, .len = 4), THREE_WRITES, THREE_WRITES, THREE_WRITES,
		POST(RDMA_READ, .len = LOCAL_ROOM), IN(RESP_ONLY, 0, .len = 4, .msn = 1),
		SENT(1, SUCCESS), OUT(READ_REQUEST, 1, .dma = 4),
		OUT(WRITE_ONLY, 2, .times = 9, .no_ackreq = true),
		IN(RESP_ONLY, 1, .len = 4, .msn = 2), SENT(2, SUCCESS),
		OUT(READ_REQUEST, 11, .dma = LOCAL_ROOM, .promptly = true),
		IN(RESP_FIRST, 11, .len = MTU, .msn = 12), SENT(3, SUCCESS), SENT(4, SUCCESS),
		SENT(5, SUCCESS), SENT(6, SUCCESS), SENT(7, SUCCESS), SENT(8, SUCCESS),
		SENT(9, SUCCESS), SENT(10, SUCCESS), SENT(11, SUCCESS),
		IN(RESP_MIDDLE, 12, .len = MTU, .times = 62),
		IN(RESP_LAST, 74, .len = MTU, .msn = 12), SENT(12, SUCCESS), END } },
	{ "10.8.3.3: a fenced SEND waits for the READs before it", STEPS {
		POST(RDMA_READ, .len = 4), OUT(READ_REQUEST, 0, .dma = 4),
		POST(SEND, .len = 4, .wc_flags = IBV_SEND_FENCE), SILENCE,
		IN(RESP_ONLY, 0, .len = 4, .msn = 1), SENT(1, SUCCESS),
		OUT(SEND_ONLY, 1, .len = 4, .fill = FILL(0)), SEND_DONE(1, 2), END } },
	/* Completions come in order: the fault is reported when the SEND is acknowledged. */
	{ "10.10.2.2: before a fault the last packet is repeated to ask for an ACK", STEPS {
		POST(RDMA_READ, .len = 4), OUT(READ_REQUEST, 0, .dma = 4),
		POST(SEND, .len = 4, .wc_flags = IBV_SEND_FENCE), POST(SEND, .len = LOCAL_ROOM + 4),
		SILENCE, IN(RESP_ONLY, 0, .len = 4, .msn = 1), SENT(1, SUCCESS),
		OUT(SEND_ONLY, 1, .len = 4, .fill = FILL(0), .no_ackreq = true),
		OUT(SEND_ONLY, 1, .len = 4, .fill = FILL(0), .ackreq = true, .promptly = true),
		NOT_DONE, SEND_DONE(1, 2), SENT(3, LOC_PROT_ERR), DEAD, END } },
	/* A READ follows the SEND with PSN 3, which has no AckReq therefore. */
	{ "10.3.1.6: in SQD the last packet is repeated to ask for an ACK", .rd_atomic = 1, STEPS {
		POST(RDMA_READ, .len = 4), OUT(READ_REQUEST, 0, .dma = 4),
		POST(SEND, .len = 4, .wc_flags = IBV_SEND_FENCE), POST(RDMA_READ, .len = 4),
		POST(SEND, .len = 4, .at = READ_LEN), POST(RDMA_READ, .len = 4), SILENCE,
		IN(RESP_ONLY, 0, .len = 4, .msn = 1), SENT(1, SUCCESS),
		OUT(SEND_ONLY, 1, .len = 4, .fill = FILL(0)), OUT(READ_REQUEST, 2, .dma = 4),
		OUT(SEND_ONLY, 3, .len = 4, .no_ackreq = true), MODIFY(SQD),
		OUT(SEND_ONLY, 3, .len = 4, .ackreq = true, .promptly = true),
		IN(RESP_ONLY, 2, .len = 4, .msn = 3), SENT(2, SUCCESS), SENT(3, SUCCESS),
		OUT(READ_REQUEST, 4, .dma = 4), SEND_DONE(3, 4),
		IN(RESP_ONLY, 4, .len = 4, .msn = 5), SENT(5, SUCCESS), EVENT(SQ_DRAINED),
		POST(SEND, .len = 4, .at = READ_LEN), SILENCE, MODIFY(RTS),
		OUT(SEND_ONLY, 5, .len = 4, .ackreq = true), SEND_DONE(5, 6), END } },
};

static const struct clause acks[] = {
	{ "9.7.5.1.1: an ACK covers all requests before it", STEPS {
		SEND_SENT(0), SEND_SENT(1), SEND_SENT(2), IN(ACKNOWLEDGE, 2, .msn = 3),
		SENT(1, SUCCESS), SENT(2, SUCCESS), SENT(3, SUCCESS), END } },
	{ "9.7.5.1.1: an ACK within a message completes nothing", STEPS {
		POST(SEND, .len = MTU + 4), OUT(SEND_FIRST, 0, .len = MTU),
		OUT(SEND_LAST, 1, .len = 4),
		IN(ACKNOWLEDGE, 0), NOT_DONE, SEND_DONE(1, 1), END } },
	{ "9.7.5.1.1: ghost ACKs, of PSNs not sent yet and of old ones, are dropped", STEPS {
		IN(ACKNOWLEDGE, 0), IN(ACKNOWLEDGE, 5), SEND_SENT(0), IN(ACKNOWLEDGE, 1, .msn = 1),
		IN(ACKNOWLEDGE, 0x7fffff, .msn = 1), IN(ACKNOWLEDGE, -1),
		IN(ACKNOWLEDGE, -0x7fffff),
		NOT_DONE, SEND_DONE(0, 1), IN(ACKNOWLEDGE, 0, .msn = 1),
		IN(ACKNOWLEDGE, 1, .msn = 1),
		SILENCE, WELL(1, 2), END } },
	{ "9.7.5.1.1: ghost NAKs, of PSNs not sent yet and of old ones, are dropped", STEPS {
		IN(ACKNOWLEDGE, 0, .aeth = NAK_ACCESS), SEND_SENT(0),
		IN(ACKNOWLEDGE, 1, .aeth = NAK_ACCESS), IN(ACKNOWLEDGE, 2, .aeth = NAK_SEQ),
		IN(ACKNOWLEDGE, -1, .aeth = NAK_INVALID), IN(ACKNOWLEDGE, 1, .aeth = AETH_RNR | 1),
		NOT_DONE, SEND_DONE(0, 1), IN(ACKNOWLEDGE, 0, .aeth = NAK_OPERATION), SILENCE,
		WELL(1, 2), END } },
	{ "9.7.5.1.1: unsolicited responses are dropped", OPCODES(RESPONSES), STEPS {
		IN(EACH, 0, .len = 0), IN(EACH, 0, .len = MTU), IN(EACH, 1), IN(EACH, -1),
		SILENCE, WELL(0, 1), END } },
	{ "9.7.5.1.1: ghost responses with data, of PSNs not sent yet, are dropped",
	  OPCODES(RESP_FIRST, RESP_MIDDLE, RESP_LAST, RESP_ONLY, ATOMIC_ACK), STEPS {
		SEND_SENT(0), IN(EACH, 1, .len = 8, .msn = 1), IN(EACH, 5, .len = 8, .msn = 1),
		NOT_DONE, SEND_DONE(0, 1), END } },
	{ "9.7.5.1.1: responses of another service are dropped",
	  OPCODES(RAW_OP(0x31), RAW_OP(0xb1), RAW_OP(0x91), RAW_OP(0xd1)), STEPS {
		SEND_SENT(0), IN(EACH, 0, .msn = 1), NOT_DONE, SEND_DONE(0, 1), END } },
	{ "9.6: ACKs with a wrong ICRC, source, P_Key, version or length are dropped", STEPS {
		SEND_SENT(0), IN(ACKNOWLEDGE, 0, .msn = 1, .spoil = PEER_BAD_ICRC),
		IN(ACKNOWLEDGE, 0, .msn = 1, .spoil = PEER_BAD_SOURCE),
		IN(ACKNOWLEDGE, 0, .msn = 1, .pkey = 0xfffe),
		IN(ACKNOWLEDGE, 0, .msn = 1, .flags = 1),
		IN(ACKNOWLEDGE, 0, .msn = 1, .cut = 4), IN(ACKNOWLEDGE, 0, .msn = 1, .flags = 0x30),
		NOT_DONE, SEND_DONE(0, 1), END } },
	{ "9.7.5.2.8: a sequence NAK acknowledges earlier requests and repeats the rest",
	  STEPS {
		SEND_SENT(0), SEND_SENT(1), SEND_SENT(2),
		IN(ACKNOWLEDGE, 1, .aeth = NAK_SEQ, .msn = 1),
		SENT(1, SUCCESS), OUT(SEND_ONLY, 1, .len = 4), OUT(SEND_ONLY, 2, .len = 4),
		IN(ACKNOWLEDGE, 2, .msn = 3), SENT(2, SUCCESS), SENT(3, SUCCESS), END } },
	{ "9.7.5.2.8: a sequence NAK within a message repeats the rest of it", STEPS {
		POST(RDMA_WRITE, .len = 2 * MTU + 4),
		OUT(WRITE_FIRST, 0, .len = MTU, .dma = 2 * MTU + 4),
		OUT(WRITE_MIDDLE, 1, .len = MTU), OUT(WRITE_LAST, 2, .len = 4),
		IN(ACKNOWLEDGE, 1, .aeth = NAK_SEQ), OUT(WRITE_MIDDLE, 1, .len = MTU),
		OUT(WRITE_LAST, 2, .len = 4), SEND_DONE(2, 1), END } },
	{ "9.7.5.2.8: a request is repeated after an RNR NAK", STEPS {
		SEND_SENT(0), SEND_SENT(1), IN(ACKNOWLEDGE, 0, .aeth = AETH_RNR | 1),
		OUT(SEND_ONLY, 0, .len = 4), SEND_DONE(0, 1), OUT(SEND_ONLY, 1, .len = 4),
		SEND_DONE(1, 2), END } },
	{ "9.7.5.2.8: rnr_retry RNR NAKs are tolerated, one more is an error", .rnr_retry = 2,
	  STEPS {
		SEND_SENT(0), IN(ACKNOWLEDGE, 0, .aeth = AETH_RNR | 1), OUT(SEND_ONLY, 0, .len = 4),
		IN(ACKNOWLEDGE, 0, .aeth = AETH_RNR | 1), OUT(SEND_ONLY, 0, .len = 4),
		IN(ACKNOWLEDGE, 0, .aeth = AETH_RNR | 1), SENT(1, RNR_RETRY_EXC_ERR), DEAD, END } },
	{ "9.7.5.2.8: with rnr_retry 0 the first RNR NAK is an error", .rnr_retry = NO_RETRY,
	  STEPS {
		SEND_SENT(0), SEND_SENT(1), IN(ACKNOWLEDGE, 0, .aeth = AETH_RNR | 1),
		SENT(1, RNR_RETRY_EXC_ERR), DEAD, END } },
	{ "9.9.2: without a response the request fails after retry_cnt retries",
	  .timeout = 1, .retry_cnt = 1, STEPS {
		SEND_SENT(0), POST(SEND, .len = 4), OUT(SEND_ONLY, 1, .len = 4),
		OUT(SEND_ONLY, 0, .len = 4), SENT(1, RETRY_EXC_ERR), DEAD, END } },
	{ "9.9.2: an invalid request NAK fails the request", STEPS {
		SEND_SENT(0), SEND_SENT(1), SEND_SENT(2),
		IN(ACKNOWLEDGE, 1, .aeth = NAK_INVALID, .msn = 1),
		SENT(1, SUCCESS), SENT(2, REM_INV_REQ_ERR), DEAD, END } },
	{ "9.9.2: a remote access NAK fails the request", STEPS {
		SEND_SENT(0), SEND_SENT(1), IN(ACKNOWLEDGE, 0, .aeth = NAK_ACCESS),
		SENT(1, REM_ACCESS_ERR), DEAD, END } },
	{ "9.9.2: a remote operation NAK fails the request", STEPS {
		SEND_SENT(0), SEND_SENT(1), IN(ACKNOWLEDGE, 0, .aeth = NAK_OPERATION),
		SENT(1, REM_OP_ERR), DEAD, END } },
	{ "9.9.2: a NAK code of reliable datagrams is a bad response", STEPS {
		SEND_SENT(0), IN(ACKNOWLEDGE, 0, .aeth = 0x64), SENT(1, BAD_RESP_ERR), DEAD,
		END } },
	{ "9.9.2: a reserved NAK code is a bad response", STEPS {
		SEND_SENT(0), IN(ACKNOWLEDGE, 0, .aeth = 0x7f), SENT(1, BAD_RESP_ERR), DEAD,
		END } },
	{ "9.9.2: a reserved kind of syndrome is a bad response", STEPS {
		SEND_SENT(0), IN(ACKNOWLEDGE, 0, .aeth = 0x40), SENT(1, BAD_RESP_ERR), DEAD,
		END } },
	{ "9.9.2: in the error state ACKs are dropped", STEPS {
		SEND_SENT(0), SEND_SENT(1), IN(ACKNOWLEDGE, 0, .aeth = NAK_ACCESS),
		SENT(1, REM_ACCESS_ERR), DEAD, IN(ACKNOWLEDGE, 1, .msn = 2), SILENCE, END } },
	{ "A17.9: a CNP completes nothing", STEPS {
		SEND_SENT(0), IN(RAW_OP(OP_CNP), 0, .len = 16, .qpn_bits = PEER_BECN), SILENCE,
		SEND_DONE(0, 1), END } },
};

/* A response that comes behind a missing one, and changes nothing. */
#define BEHIND(number)		IN(RESP_MIDDLE, number, .len = MTU), NO_REPEAT
/* A response to a READ that does not answer it. */
#define BAD_RESPONSE(...)						\
	STEPS { READ_SENT(0), __VA_ARGS__, SENT(1, BAD_RESP_ERR), DEAD, END }

static const struct clause responses[] = {
	{ "9.9.2: a READ response FIRST below the path MTU is a bad response",
	  BAD_RESPONSE(IN(RESP_FIRST, 0, .len = MTU - 4, .msn = 1)) },
	{ "9.9.2: a READ response FIRST above the path MTU is a bad response",
	  BAD_RESPONSE(IN(RESP_FIRST, 0, .len = MTU + 4, .msn = 1)) },
	{ "9.9.2: a READ response MIDDLE below the path MTU is a bad response",
	  BAD_RESPONSE(IN(RESP_FIRST, 0, .len = MTU, .msn = 1),
		       IN(RESP_MIDDLE, 1, .len = MTU - 4)) },
	{ "9.9.2: a READ response MIDDLE in place of LAST is a bad response",
	  BAD_RESPONSE(IN(RESP_FIRST, 0, .len = MTU, .msn = 1), IN(RESP_MIDDLE, 1, .len = MTU),
		       IN(RESP_MIDDLE, 2, .len = 100)) },
	{ "9.9.2: a READ response LAST that is too short is a bad response",
	  BAD_RESPONSE(IN(RESP_FIRST, 0, .len = MTU, .msn = 1), IN(RESP_MIDDLE, 1, .len = MTU),
		       IN(RESP_LAST, 2, .len = 99, .msn = 1)) },
	{ "9.9.2: a READ response LAST that is too long is a bad response",
	  BAD_RESPONSE(IN(RESP_FIRST, 0, .len = MTU, .msn = 1), IN(RESP_MIDDLE, 1, .len = MTU),
		       IN(RESP_LAST, 2, .len = 101, .msn = 1)) },
	{ "9.9.2: a READ response ONLY that is too short is a bad response",
	  BAD_RESPONSE(IN(RESP_ONLY, 0, .len = MTU - 1, .msn = 1)) },
	{ "9.9.2: an atomic response to a READ is a bad response",
	  BAD_RESPONSE(IN(ATOMIC_ACK, 0, .msn = 1)) },
	{ "9.9.2: a READ response to an atomic is a bad response",
	  OPCODES(RESP_FIRST, RESP_LAST, RESP_ONLY), STEPS {
		POST(ATOMIC_FETCH_AND_ADD, .value = 5), OUT(FETCH_ADD, 0, .value = 5),
		IN(EACH, 0, .len = 8, .msn = 1), SENT(1, BAD_RESP_ERR), DEAD,
		LOCAL(0, 8, LOCAL_FILL), END } },
	{ "9.9.2: a response with data to a SEND is a bad response",
	  OPCODES(RESP_ONLY, ATOMIC_ACK), STEPS {
		SEND_SENT(0), IN(EACH, 0, .msn = 1), SENT(1, BAD_RESP_ERR), DEAD, END } },
	{ "9.7.5.1.1: a READ is repeated from the missing response on", STEPS {
		READ_SENT(0), IN(RESP_FIRST, 0, .len = MTU, .msn = 1),
		IN(RESP_LAST, 2, .len = 100, .msn = 1),
		OUT(READ_REQUEST, 1, .at = MTU, .dma = MTU + 100), LOCAL(2 * MTU, 100, LOCAL_FILL),
		IN(RESP_FIRST, 1, .len = MTU, .msn = 1), IN(RESP_LAST, 2, .len = 100, .msn = 1),
		SENT(1, SUCCESS), LOCAL(0, MTU, FILL(0)), LOCAL(MTU, MTU, FILL(1)),
		LOCAL(2 * MTU, 100, FILL(2)), WELL(3, 2), END } },
	{ "9.7.5.1.1: a READ is repeated once for all responses behind a missing one", STEPS {
		POST(RDMA_READ, .len = 12 * MTU), OUT(READ_REQUEST, 0, .dma = 12 * MTU),
		IN(RESP_FIRST, 0, .len = MTU, .msn = 1), IN(RESP_MIDDLE, 2, .len = MTU),
		OUT(READ_REQUEST, 1, .at = MTU, .dma = 11 * MTU), BEHIND(3), BEHIND(4), BEHIND(5),
		BEHIND(6), BEHIND(7), BEHIND(8), BEHIND(9), BEHIND(10),
		IN(RESP_LAST, 11, .len = MTU, .msn = 1), NO_REPEAT,
		IN(RESP_MIDDLE, 2, .len = MTU, .pause = true),
		OUT(READ_REQUEST, 1, .at = MTU, .dma = 11 * MTU, .promptly = true),
		IN(RESP_FIRST, 1, .len = MTU, .msn = 1), SILENCE,
		IN(RESP_MIDDLE, 3, .len = MTU, .pause = true),
		OUT(READ_REQUEST, 2, .at = 2 * MTU, .dma = 10 * MTU, .promptly = true),
		IN(RESP_FIRST, 2, .len = MTU, .msn = 1),
		IN(RESP_MIDDLE, 3, .len = MTU, .times = 8),
		IN(RESP_LAST, 11, .len = MTU, .msn = 1), SENT(1, SUCCESS), LOCAL(0, MTU, FILL(0)),
		LOCAL(MTU, MTU, FILL(1)), LOCAL(11 * MTU, MTU, FILL(11)), END } },
	{ "9.7.5.1.1: a READ is repeated again if a later request was executed", STEPS {
		READ_SENT(0), IN(RESP_FIRST, 0, .len = MTU, .msn = 1),
		IN(RESP_LAST, 2, .len = 100, .msn = 1),
		OUT(READ_REQUEST, 1, .at = MTU, .dma = MTU + 100),
		SEND_SENT(3), SILENCE, IN(ACKNOWLEDGE, 3, .msn = 2, .pause = true),
		OUT(READ_REQUEST, 1, .at = MTU, .dma = MTU + 100, .promptly = true),
		OUT(SEND_ONLY, 3, .len = 4), IN(RESP_FIRST, 1, .len = MTU, .msn = 1),
		IN(RESP_LAST, 2, .len = 100, .msn = 1), SENT(1, SUCCESS), SEND_DONE(3, 2), END } },
	{ "9.7.5.1.1: an ACK past a READ is an implied NAK", STEPS {
		READ_SENT(0), POST(SEND, .len = 4), OUT(SEND_ONLY, 3, .len = 4),
		IN(ACKNOWLEDGE, 3, .msn = 2), OUT(READ_REQUEST, 0, .dma = READ_LEN),
		OUT(SEND_ONLY, 3, .len = 4), IN(RESP_FIRST, 0, .len = MTU, .msn = 1),
		IN(RESP_MIDDLE, 1, .len = MTU), IN(RESP_LAST, 2, .len = 100, .msn = 1),
		SENT(1, SUCCESS), SEND_DONE(3, 2), END } },
	{ "9.7.5.1.1: an ACK past an atomic is an implied NAK", STEPS {
		POST(ATOMIC_FETCH_AND_ADD), OUT(FETCH_ADD, 0), POST(SEND, .len = 4, .at = 8),
		OUT(SEND_ONLY, 1, .len = 4), IN(ACKNOWLEDGE, 1, .msn = 2), OUT(FETCH_ADD, 0),
		OUT(SEND_ONLY, 1, .len = 4), IN(ATOMIC_ACK, 0, .msn = 1, .value = 3),
		SENT(1, SUCCESS),
		SEND_DONE(1, 2), LOCAL_WORD(0, 3), END } },
	{ "9.7.5.1.1: a response acknowledges the SENDs before it", STEPS {
		SEND_SENT(0), SEND_SENT(1), POST(RDMA_READ, .len = 4),
		OUT(READ_REQUEST, 2, .dma = 4),
		IN(RESP_ONLY, 2, .len = 4, .msn = 3), SENT(1, SUCCESS), SENT(2, SUCCESS),
		SENT(3, SUCCESS), END } },
	{ "9.7.5.1.1: duplicate responses are dropped", STEPS {
		READ_SENT(0), IN(RESP_FIRST, 0, .len = MTU, .msn = 1),
		IN(RESP_FIRST, 0, .len = MTU, .msn = 1, .fill = 0x11),
		IN(RESP_MIDDLE, 1, .len = MTU),
		IN(RESP_MIDDLE, 1, .len = MTU, .fill = 0x11),
		IN(RESP_LAST, 2, .len = 100, .msn = 1),
		SENT(1, SUCCESS), IN(RESP_LAST, 2, .len = 100, .msn = 1, .fill = 0x11), SILENCE,
		LOCAL(0, MTU, FILL(0)), LOCAL(MTU, MTU, FILL(1)), LOCAL(2 * MTU, 100, FILL(2)),
		WELL(3, 2), END } },
	{ "9.9.2: a NAK fails a READ", STEPS {
		READ_SENT(0), IN(ACKNOWLEDGE, 0, .aeth = NAK_ACCESS), SENT(1, REM_ACCESS_ERR), DEAD,
		LOCAL(0, READ_LEN, LOCAL_FILL), END } },
	{ "9.9.2: a NAK within a READ response fails the READ", STEPS {
		READ_SENT(0), IN(RESP_FIRST, 0, .len = MTU, .msn = 1),
		IN(ACKNOWLEDGE, 1, .aeth = NAK_OPERATION), SENT(1, REM_OP_ERR), DEAD, END } },
	{ "9.9.2: a NAK fails an atomic", STEPS {
		POST(ATOMIC_FETCH_AND_ADD), OUT(FETCH_ADD, 0),
		IN(ACKNOWLEDGE, 0, .aeth = NAK_INVALID),
		SENT(1, REM_INV_REQ_ERR), DEAD, LOCAL(0, 8, LOCAL_FILL), END } },
	{ "9.7.5.1.1: a NAK that overtakes an earlier response waits for it", STEPS {
		POST(RDMA_READ, .len = 4), OUT(READ_REQUEST, 0, .dma = 4), POST(SEND, .len = 4),
		OUT(SEND_ONLY, 1, .len = 4), IN(ACKNOWLEDGE, 1, .aeth = NAK_ACCESS, .msn = 1),
		SILENCE,
		IN(RESP_ONLY, 0, .len = 4, .msn = 1), SENT(1, SUCCESS), SENT(2, REM_ACCESS_ERR),
		DEAD,
		LOCAL(0, 4, FILL(0)), END } },
};

int main(int argc, char **argv)
{
	static const struct clause_table tables[] = {
		CLAUSES(requests),
		CLAUSES(acks),
		CLAUSES(responses),
	};

	return clause_main(argc, argv, false, tables, sizeof(tables) / sizeof(tables[0]));
}
