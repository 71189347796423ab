// SPDX-License-Identifier: GPL-2.0
/*
 * crafted_rc - requests that a reliable responder refuses: order, opcodes, rights,
 * keys, lengths
 *
 *	crafted_rc a [GROUP...]		the groups are v4, v6, v1: what the packets are
 *
 * Each rule is a row: see lib/clause.h. The clauses are those of the InfiniBand Architecture
 * Specification, volume 1; A14 and A19 are annexes. What follows from an error is 9.9.3 in all
 * of them: the NAK, the completion of the receive that the message has taken or else an
 * asynchronous event, and the error state.
 */
#include "lib/clause.h"

#define SENDS_ON	SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_LAST_INV
#define WRITES_ON	WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM
#define SENDS_NEW	SEND_FIRST, SEND_ONLY, SEND_ONLY_IMM, SEND_ONLY_INV
#define WRITES_NEW	WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM
#define RESPONSES	RESP_FIRST, RESP_MIDDLE, RESP_LAST, RESP_ONLY, ACKNOWLEDGE, ATOMIC_ACK

static const struct clause order[] = {
	{ "9.7.4.1.3: outside of a message MIDDLE and LAST are refused",
	  OPCODES(SENDS_ON, WRITES_ON), .recvs = 1, STEPS {
		IN(EACH, 0, .len = MTU), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.7.4.1.3: after a message MIDDLE and LAST are refused",
	  OPCODES(SENDS_ON, WRITES_ON), .recvs = 2, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_LAST, 1, .len = 4), ACK(1, 1),
		GOT(1, SUCCESS, .len = MTU + 4),
		IN(EACH, 2, .len = MTU), NAK(NAK_INVALID, 2, 1), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.7.4.1.3: within a SEND, FIRST and ONLY are refused",
	  OPCODES(SENDS_NEW, WRITES_NEW), .recvs = 2, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(EACH, 1, .len = MTU),
		NAK(NAK_INVALID, 1, 0), GOT(1, REM_INV_REQ_ERR), DEAD, END } },
	{ "9.7.4.1.3: within a SEND, READ, atomics and FLUSH are refused",
	  OPCODES(READ_REQUEST, CMP_SWAP, FETCH_ADD, FLUSH, ATOMIC_WRITE),
	  .recvs = 2, .grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(EACH, 1, .dma = 8, .feth = 1, .key = KEY_FLUSH),
		NAK(NAK_INVALID, 1, 0), GOT(1, REM_INV_REQ_ERR), DEAD, END } },
	{ "9.7.4.1.3: within a SEND, MIDDLE and LAST of a WRITE are refused",
	  OPCODES(WRITES_ON), .recvs = 2, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(EACH, 1, .len = MTU),
		NAK(NAK_INVALID, 1, 0), GOT(1, REM_INV_REQ_ERR), DEAD, END } },
	{ "9.7.4.1.3: within a WRITE, FIRST and ONLY are refused",
	  OPCODES(SENDS_NEW, WRITES_NEW), .recvs = 1, STEPS {
		IN(WRITE_FIRST, 0, .len = MTU, .dma = 3 * MTU), IN(EACH, 1, .len = MTU),
		NAK(NAK_INVALID, 1, 0), DEAD_EVENT(QP_REQ_ERR), MEMORY(MTU, MTU, UNTOUCHED),
		END } },
	{ "9.7.4.1.3: within a WRITE, READ, atomics and FLUSH are refused",
	  OPCODES(READ_REQUEST, CMP_SWAP, FETCH_ADD, FLUSH, ATOMIC_WRITE),
	  .grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {
		IN(WRITE_FIRST, 0, .len = MTU, .dma = 3 * MTU),
		IN(EACH, 1, .dma = 8, .feth = 1, .key = KEY_FLUSH),
		NAK(NAK_INVALID, 1, 0), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.7.4.1.3: within a WRITE, MIDDLE and LAST of a SEND are refused",
	  OPCODES(SENDS_ON), .recvs = 1, STEPS {
		IN(WRITE_FIRST, 0, .len = MTU, .dma = 3 * MTU), IN(EACH, 1, .len = MTU),
		NAK(NAK_INVALID, 1, 0), DEAD_EVENT(QP_REQ_ERR), END } },
};

static const struct clause opcode[] = {
	{ "9.7.4.1.4: reserved opcodes of the service are refused",
	  OPCODES(0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1e, 0x1f), STEPS {
		IN(EACH, 0, .len = 16), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.7.4.1.4: reserved opcodes within a SEND are refused", .recvs = 1,
	  OPCODES(0x15, 0x18, 0x1f), STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(EACH, 1, .len = 16), NAK(NAK_INVALID, 1, 0),
		GOT(1, REM_INV_REQ_ERR), DEAD, END } },
	{ "9.7.5.1.2: duplicates with a reserved opcode are dropped",
	  OPCODES(0x15, 0x18, 0x1f), STEPS {
		ALIVE(0, 1), IN(EACH, 0, .len = 16), SILENCE, ALIVE(1, 2), END } },
	{ "9.6: opcodes of another service are dropped",
	  OPCODES(RAW_OP(0x24), RAW_OP(0x2a), RAW_OP(0x2c), RAW_OP(0x44), RAW_OP(0x64),
		  RAW_OP(0xa4), RAW_OP(0xaa), RAW_OP(0xac), RAW_OP(0xc4), RAW_OP(0xff)),
	  .recvs = 1, STEPS {
		IN(EACH, 0, .len = 8), SILENCE, ALIVE(0, 1), MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.7.4.1: unsolicited responses are dropped by a responder",
	  OPCODES(RESPONSES), STEPS {
		IN(EACH, 0, .len = 0), IN(EACH, 1, .len = MTU), SILENCE, ALIVE(0, 1), END } },
};

static const struct clause permission[] = {
	{ "9.7.4.1.4: WRITE to a queue pair without remote write is refused",
	  OPCODES(WRITES_NEW), .deny = IBV_ACCESS_REMOTE_WRITE, .recvs = 1, STEPS {
		IN(EACH, 0, .len = MTU), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR),
		MEMORY(0, MTU, UNTOUCHED), END } },
	{ "A19: ATOMIC WRITE to a queue pair without remote write is refused",
	  .deny = IBV_ACCESS_REMOTE_WRITE, STEPS {
		IN(ATOMIC_WRITE, 0), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.7.4.1.4: a WRITE of no bytes to a queue pair without remote write is refused",
	  .deny = IBV_ACCESS_REMOTE_WRITE, STEPS {
		IN(WRITE_ONLY, 0), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.7.4.1.4: READ of a queue pair without remote read is refused",
	  .deny = IBV_ACCESS_REMOTE_READ, STEPS {
		IN(READ_REQUEST, 0, .dma = 8), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR),
		END } },
	{ "9.7.4.1.4: atomics on a queue pair without remote atomics are refused",
	  OPCODES(CMP_SWAP, FETCH_ADD), .deny = IBV_ACCESS_REMOTE_ATOMIC, STEPS {
		IN(EACH, 0, .value = 1), NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "A19: FLUSH to a queue pair without that right is refused", STEPS {
		IN(FLUSH, 0, .dma = 8, .feth = 1, .key = KEY_FLUSH),
		NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR), END } },
	{ "A19: FLUSH to persistence, where only global FLUSH is allowed, is refused",
	  .grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {
		IN(FLUSH, 0, .dma = 8, .feth = 2, .key = KEY_FLUSH),
		NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_REQ_ERR), END } },
};

/* WRITEs of all kinds, refused before a byte is written or a receive taken. */
#define NO_WRITE(...)							\
	OPCODES(WRITES_NEW), .recvs = 1, STEPS {			\
		IN(EACH, 0, .len = MTU, __VA_ARGS__), NAK(NAK_ACCESS, 0, 0), \
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, REMOTE_ROOM, UNTOUCHED), END }
#define NO_READ(...)							\
	STEPS {	IN(READ_REQUEST, 0, __VA_ARGS__), NAK(NAK_ACCESS, 0, 0), \
		DEAD_EVENT(QP_ACCESS_ERR), END }
#define NO_ATOMIC(...)							\
	OPCODES(CMP_SWAP, FETCH_ADD), STEPS {				\
		IN(EACH, 0, .value = 1, __VA_ARGS__), NAK(NAK_ACCESS, 0, 0), \
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, REMOTE_ROOM, UNTOUCHED), END }
#define NO_WORD(...)							\
	STEPS {	IN(ATOMIC_WRITE, 0, .value = 1, __VA_ARGS__), NAK(NAK_ACCESS, 0, 0), \
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, REMOTE_ROOM, UNTOUCHED), END }
#define NO_FLUSH(...)							\
	.grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {			\
		IN(FLUSH, 0, __VA_ARGS__), NAK(NAK_ACCESS, 0, 0),	\
		DEAD_EVENT(QP_ACCESS_ERR), END }

static const struct clause keys[] = {
	{ "9.7.4.1.5: WRITE to memory without remote rights is refused",
	  NO_WRITE(.key = KEY_NONE) },
	{ "9.7.4.1.5: WRITE to memory that may be read only is refused",
	  NO_WRITE(.key = KEY_READ) },
	{ "9.7.4.1.5: WRITE to memory of another domain is refused", NO_WRITE(.key = KEY_FOREIGN) },
	{ "9.7.4.1.5: WRITE with an unknown R_Key is refused", NO_WRITE(.key = KEY_NOBODY) },
	{ "9.7.4.1.5: WRITE that begins before the memory is refused", NO_WRITE(.at = -4ULL) },
	{ "9.7.4.1.5: WRITE that ends behind the memory is refused",
	  NO_WRITE(.at = REMOTE_ROOM - MTU + 1) },
	{ "9.7.4.1.5: WRITE whose addresses wrap is refused",
	  NO_WRITE(.at = -8ULL, .absolute = true) },
	{ "9.7.4.1.5: WRITE with a RETH longer than the memory is refused", STEPS {
		IN(WRITE_FIRST, 0, .len = MTU, .dma = REMOTE_ROOM + 1), NAK(NAK_ACCESS, 0, 0),
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, REMOTE_ROOM, UNTOUCHED), END } },
	{ "9.7.4.1.5: READ of memory without remote rights is refused",
	  NO_READ(.dma = 8, .key = KEY_NONE) },
	{ "9.7.4.1.5: READ of memory that may be written only is refused",
	  NO_READ(.dma = 8, .key = KEY_WRITE) },
	{ "9.7.4.1.5: READ of memory of another domain is refused",
	  NO_READ(.dma = 8, .key = KEY_FOREIGN) },
	{ "9.7.4.1.5: READ with an unknown R_Key is refused",
	  NO_READ(.dma = 8, .key = KEY_NOBODY) },
	{ "9.7.4.1.5: READ that begins before the memory is refused",
	  NO_READ(.dma = 8, .at = -1ULL) },
	{ "9.7.4.1.5: READ that ends behind the memory is refused",
	  NO_READ(.dma = REMOTE_ROOM + 1) },
	{ "9.7.4.1.5: READ whose addresses wrap is refused",
	  NO_READ(.dma = 16, .at = -8ULL, .absolute = true) },
	{ "9.7.4.1.5: atomics on memory that may be read only are refused",
	  NO_ATOMIC(.key = KEY_READ) },
	{ "9.7.4.1.5: atomics on memory that may be written only are refused",
	  NO_ATOMIC(.key = KEY_WRITE) },
	{ "9.7.4.1.5: atomics on memory of another domain are refused",
	  NO_ATOMIC(.key = KEY_FOREIGN) },
	{ "9.7.4.1.5: atomics with an unknown R_Key are refused", NO_ATOMIC(.key = KEY_NOBODY) },
	{ "9.7.4.1.5: atomics behind the memory are refused", NO_ATOMIC(.at = REMOTE_ROOM) },
	{ "A19: ATOMIC WRITE to memory that may be read only is refused",
	  NO_WORD(.key = KEY_READ) },
	{ "A19: ATOMIC WRITE with an unknown R_Key is refused", NO_WORD(.key = KEY_NOBODY) },
	{ "A19: ATOMIC WRITE behind the memory is refused", NO_WORD(.at = REMOTE_ROOM) },
	{ "A19: FLUSH of memory that may not be flushed is refused",
	  NO_FLUSH(.dma = 8, .feth = 1) },
	{ "A19: FLUSH of all memory of a key that may not be flushed is refused",
	  NO_FLUSH(.feth = 0x11) },
	{ "A19: FLUSH with an unknown R_Key is refused",
	  NO_FLUSH(.dma = 8, .feth = 1, .key = KEY_NOBODY) },
	{ "A19: FLUSH that ends behind the memory is refused",
	  NO_FLUSH(.dma = REMOTE_ROOM + 1, .feth = 1, .key = KEY_FLUSH) },
	{ "9.7.4.1.5: a WRITE of no bytes needs no key", STEPS {
		IN(WRITE_ONLY, 0, .key = KEY_NOBODY), ACK(0, 1), ALIVE(1, 2), END } },
	{ "9.7.4.1.5: a WRITE of no bytes with immediate data needs no key", .recvs = 1, STEPS {
		IN(WRITE_ONLY_IMM, 0, .key = KEY_NOBODY), ACK(0, 1),
		GOT(1, SUCCESS, .wc_flags = IBV_WC_WITH_IMM), ALIVE(1, 2), END } },
	{ "9.7.4.1.5: a READ of no bytes needs no key", STEPS {
		IN(READ_REQUEST, 0, .key = KEY_NOBODY), OUT(RESP_ONLY, 0, .msn = 1), ALIVE(1, 2),
		END } },
	{ "9.7.4.1.5: the first and the last byte of memory are in it", STEPS {
		IN(WRITE_ONLY, 0, .len = 1), ACK(0, 1),
		IN(WRITE_ONLY, 1, .len = 1, .at = REMOTE_ROOM - 1), ACK(1, 2),
		MEMORY(0, 1, FILL(0)), MEMORY(1, REMOTE_ROOM - 2, UNTOUCHED),
		MEMORY(REMOTE_ROOM - 1, 1, FILL(1)), END } },
	{ "9.4.1.1.3: SEND with Invalidate closes a memory window", .recvs = 1, STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .key = KEY_WINDOW), ACK(0, 1),
		IN(SEND_ONLY_INV, 1, .len = 4, .key = KEY_WINDOW), ACK(1, 2),
		GOT(1, SUCCESS, .len = 4, .key = KEY_WINDOW, .wc_flags = IBV_WC_WITH_INV),
		IN(WRITE_ONLY, 2, .len = 16, .key = KEY_WINDOW), NAK(NAK_ACCESS, 2, 2),
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, 8, FILL(0)), MEMORY(8, 8, UNTOUCHED), END } },
	{ "9.4.1.1.3: invalidation of a memory region's key is refused", .recvs = 2,
	  OPCODES(SEND_ONLY_INV), STEPS {
		IN(EACH, 0, .len = 4, .key = KEY_ALL), NAK(NAK_ACCESS, 0, 0),
		GOT(1, REM_INV_REQ_ERR), DEAD, END } },
	{ "9.4.1.1.3: invalidation of an unknown key is refused", .recvs = 2, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_LAST_INV, 1, .len = 4, .key = KEY_NOBODY),
		NAK(NAK_ACCESS, 1, 0), GOT(1, REM_INV_REQ_ERR), DEAD, END } },
};

/* The payload of a first or only packet is wrong: nothing was taken yet. */
#define BAD_START(bytes, ...)						\
	.recvs = 1, STEPS {						\
		IN(EACH, 0, .len = (bytes), __VA_ARGS__), NAK(NAK_INVALID, 0, 0), \
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, REMOTE_ROOM, UNTOUCHED), END }
#define BAD_SEND(opcode, bytes)						\
	.recvs = 2, STEPS {						\
		IN(SEND_FIRST, 0, .len = MTU), IN(opcode, 1, .len = (bytes)), \
		NAK(NAK_INVALID, 1, 0), GOT(1, LOC_LEN_ERR), DEAD, END }
#define BAD_WRITE(announced, opcode, bytes)				\
	.recvs = 1, STEPS {						\
		IN(WRITE_FIRST, 0, .len = MTU, .dma = (announced)),	\
		IN(opcode, 1, .len = (bytes)), NAK(NAK_INVALID, 1, 0), DEAD_EVENT(QP_ACCESS_ERR), \
		MEMORY(0, MTU, FILL(0)), MEMORY(MTU, REMOTE_ROOM - MTU, UNTOUCHED), END }

static const struct clause length[] = {
	{ "9.7.4.1.6: FIRST that is shorter than the path MTU is refused",
	  OPCODES(SEND_FIRST, WRITE_FIRST), BAD_START(MTU - 4, .dma = 2 * MTU) },
	{ "9.7.4.1.6: FIRST that is longer than the path MTU is refused",
	  OPCODES(SEND_FIRST, WRITE_FIRST), BAD_START(MTU + 4, .dma = 2 * MTU) },
	{ "9.7.4.1.6: FIRST that is empty is refused",
	  OPCODES(SEND_FIRST, WRITE_FIRST), BAD_START(0, .dma = 2 * MTU) },
	{ "9.7.4.1.6: FIRST with a pad is refused",
	  OPCODES(SEND_FIRST, WRITE_FIRST), BAD_START(MTU - 1, .dma = 2 * MTU) },
	{ "9.7.4.1.6: ONLY that is longer than the path MTU is refused",
	  OPCODES(SEND_ONLY, SEND_ONLY_IMM, WRITE_ONLY, WRITE_ONLY_IMM), BAD_START(MTU + 4) },
	{ "9.7.4.1.6: MIDDLE of a SEND that is shorter than the path MTU is refused",
	  BAD_SEND(SEND_MIDDLE, MTU - 4) },
	{ "9.7.4.1.6: MIDDLE of a SEND that is longer than the path MTU is refused",
	  BAD_SEND(SEND_MIDDLE, MTU + 4) },
	{ "9.7.4.1.6: LAST of a SEND that is empty is refused",
	  OPCODES(SEND_LAST, SEND_LAST_IMM, SEND_LAST_INV), BAD_SEND(EACH, 0) },
	{ "9.7.4.1.6: LAST of a SEND that is longer than the path MTU is refused",
	  OPCODES(SEND_LAST, SEND_LAST_IMM, SEND_LAST_INV), BAD_SEND(EACH, MTU + 4) },
	{ "9.7.4.1.6: MIDDLE of a WRITE that is shorter than the path MTU is refused",
	  BAD_WRITE(4 * MTU, WRITE_MIDDLE, MTU - 4) },
	{ "9.7.4.1.6: MIDDLE of a WRITE that is longer than the path MTU is refused",
	  BAD_WRITE(4 * MTU, WRITE_MIDDLE, MTU + 4) },
	{ "9.7.4.1.6: LAST of a WRITE that is empty is refused",
	  OPCODES(WRITE_LAST, WRITE_LAST_IMM),
	  BAD_WRITE(MTU, EACH, 0) },
	{ "9.7.4.1.6: LAST of a WRITE that is longer than the path MTU is refused",
	  OPCODES(WRITE_LAST, WRITE_LAST_IMM), BAD_WRITE(2 * MTU + 4, EACH, MTU + 4) },
	{ "9.7.4.1.6: LAST of a WRITE with less data than its RETH is refused",
	  BAD_WRITE(2 * MTU, WRITE_LAST, MTU - 1) },
	{ "9.7.4.1.6: LAST of a WRITE with more data than its RETH is refused",
	  BAD_WRITE(MTU + 8, WRITE_LAST, 12) },
	{ "9.7.4.1.6: MIDDLE of a WRITE with more data than its RETH is refused",
	  BAD_WRITE(2 * MTU - 4, WRITE_MIDDLE, MTU) },
	{ "9.7.4.1.6: LAST of a WRITE with immediate and less data than its RETH is refused",
	  .recvs = 1, STEPS {
		IN(WRITE_FIRST, 0, .len = MTU, .dma = 2 * MTU), IN(WRITE_LAST_IMM, 1, .len = 4),
		NAK(NAK_INVALID, 1, 0), GOT(1, LOC_LEN_ERR), DEAD, END } },
	{ "9.7.4.1.6: ONLY of a WRITE with less data than its RETH is refused", STEPS {
		IN(WRITE_ONLY, 0, .len = 8, .dma = 12), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, 12, UNTOUCHED), END } },
	{ "9.7.4.1.6: ONLY of a WRITE with more data than its RETH is refused", STEPS {
		IN(WRITE_ONLY, 0, .len = 12, .dma = 8), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, 12, UNTOUCHED), END } },
	{ "9.7.4.1.6: READ of more than 2 GiB is refused", STEPS {
		IN(READ_REQUEST, 0, .dma = 0x80000001), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_ACCESS_ERR), END } },
	{ "9.7.4.1.6: WRITE of more than 2 GiB is refused", STEPS {
		IN(WRITE_FIRST, 0, .len = MTU, .dma = 0x80000001), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, MTU, UNTOUCHED), END } },
	{ "9.7.4.1.6: READ, atomics and FLUSH with a payload are refused",
	  OPCODES(READ_REQUEST, CMP_SWAP, FETCH_ADD, FLUSH, ATOMIC_WRITE),
	  .grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {
		IN(EACH, 0, .len = 4, .dma = 8, .feth = 1, .key = KEY_FLUSH),
		NAK(NAK_INVALID, 0, 0), DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, 8, UNTOUCHED), END } },
	{ "A19: ATOMIC WRITE of another length than eight is refused",
	  STEPS { IN(ATOMIC_WRITE, 0, .dma = 4), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, 8, UNTOUCHED), END } },
	{ "9.4.5: atomics on an address that is not a multiple of eight are refused",
	  OPCODES(CMP_SWAP, FETCH_ADD, ATOMIC_WRITE), STEPS {
		IN(EACH, 0, .at = 4, .value = 1), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_ACCESS_ERR), MEMORY(0, 16, UNTOUCHED), END } },
	{ "A19: FLUSH with a selectivity that is reserved is refused",
	  .grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {
		IN(FLUSH, 0, .dma = 8, .feth = 0x21, .key = KEY_FLUSH), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_REQ_ERR), END } },
	{ "A19: FLUSH with no placement is refused", .grant = IBV_ACCESS_FLUSH_GLOBAL, STEPS {
		IN(FLUSH, 0, .dma = 8, .feth = 0, .key = KEY_FLUSH), NAK(NAK_INVALID, 0, 0),
		DEAD_EVENT(QP_REQ_ERR), END } },
	{ "9.7.4.1.7: a SEND in one packet that is longer than its receive is refused",
	  OPCODES(SEND_ONLY, SEND_ONLY_IMM, SEND_ONLY_INV), .recvs = 2, .recv_len = 100, STEPS {
		IN(EACH, 0, .len = 101), NAK(NAK_INVALID, 0, 0), GOT(1, LOC_LEN_ERR), DEAD, END } },
	{ "9.7.4.1.7: a SEND in two packets that is longer than its receive is refused",
	  OPCODES(SEND_LAST, SEND_LAST_IMM, SEND_LAST_INV), .recvs = 2, .recv_len = MTU + 4, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(EACH, 1, .len = 5), NAK(NAK_INVALID, 1, 0),
		GOT(1, LOC_LEN_ERR), DEAD, END } },
	{ "9.7.4.1.7: a SEND as long as its receive", .recvs = 1, .recv_len = MTU + 5, STEPS {
		IN(SEND_FIRST, 0, .len = MTU), IN(SEND_LAST, 1, .len = 5), ACK(1, 1),
		GOT(1, SUCCESS, .len = MTU + 5), RECEIVED(1, 0, MTU, FILL(0)),
		RECEIVED(1, MTU, 5, FILL(1)), RECEIVED(1, MTU + 5, 8, UNTOUCHED), END } },
};

int main(int argc, char **argv)
{
	static const struct clause_table tables[] = {
		CLAUSES(order),
		CLAUSES(opcode),
		CLAUSES(permission),
		CLAUSES(keys),
		CLAUSES(length),
	};

	return clause_main(argc, argv, false, tables, sizeof(tables) / sizeof(tables[0]));
}
