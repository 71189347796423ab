// SPDX-License-Identifier: GPL-2.0
/*
 * crafted_early - rules of a reliable responder whose peer understands selective
 * ACKs: packets behind a gap are held
 *
 *	crafted_early a [GROUP...]	the groups are v4, v6, v1: what the packets are
 *
 * Each rule is a row: see lib/clause.h.  Documentation/interop.rst has the protocol.
 */
#include "lib/clause.h"

#define EARLY(opcode, number, ...)	IN(opcode, number, .psn_bits = PEER_SACK, ##__VA_ARGS__)

#define WORD_AT_FIRST	0xeeeeeeeeeeeeeeeeULL
/* A WRITE with PSN 0 fills memory with this word. */
#define WORD_OF_0	0x4040404040404040ULL

/* More than the bound of a queue pair in a guest of less than 2 GiB (crafted.sh). */
#define FLOOD		8000
#define FLOOD_BYTES	4096

static const struct clause held[] = {
	{ "a WRITE behind a gap is held, and told to the peer", STEPS {
		EARLY(WRITE_ONLY, 1, .len = 8, .at = 64), SACK(-1, 0, 1, 2), SILENCE,
		MEMORY(64, 8, UNTOUCHED),
		EARLY(WRITE_ONLY, 0, .len = 8), ACK(1, 2), MEMORY(0, 8, FILL(0)),
		MEMORY(64, 8, FILL(1)), END } },
	{ "a held WRITE is executed after the one before it", STEPS {
		EARLY(WRITE_ONLY, 1, .len = 8), SACK(-1, 0, 1, 2),
		EARLY(WRITE_ONLY, 0, .len = 16), ACK(1, 2), MEMORY(0, 8, FILL(1)),
		MEMORY(8, 8, FILL(0)), END } },
	{ "a SEND behind a gap takes its receive in its turn", .recvs = 2, STEPS {
		EARLY(SEND_ONLY, 1, .len = 8), SACK(-1, 0, 1, 2), SILENCE,
		RECEIVED(1, 0, 8, UNTOUCHED),
		EARLY(SEND_ONLY, 0, .len = 8), GOT(1, SUCCESS, .len = 8),
		GOT(2, SUCCESS, .len = 8), ACK(1, 2), RECEIVED(1, 0, 8, FILL(0)),
		RECEIVED(2, 0, 8, FILL(1)), END } },
	{ "a message is completed by its missing packet", .recvs = 1, .recv_len = 3 * MTU,
	  STEPS {
		EARLY(SEND_FIRST, 0, .len = MTU), EARLY(SEND_LAST, 2, .len = 8),
		SACK(0, 0, 2, 3), SILENCE, RECEIVED(1, 2 * MTU, 8, UNTOUCHED),
		EARLY(SEND_MIDDLE, 1, .len = MTU), ACK(2, 1),
		GOT(1, SUCCESS, .len = 2 * MTU + 8), RECEIVED(1, 0, MTU, FILL(0)),
		RECEIVED(1, MTU, MTU, FILL(1)), RECEIVED(1, 2 * MTU, 8, FILL(2)), END } },
	{ "a held atomic is executed once, in its turn", STEPS {
		EARLY(FETCH_ADD, 1, .value = 1), SACK(-1, 0, 1, 2), SILENCE,
		WORD(0, WORD_AT_FIRST),
		EARLY(FETCH_ADD, 1, .value = 1), SACK(-1, 0, 1, 2, .duplicates = 1),
		EARLY(WRITE_ONLY, 0, .len = 8),
		OUT(ATOMIC_ACK, 1, .value = WORD_OF_0, .msn = 2), ACK(1, 2),
		WORD(0, WORD_OF_0 + 1), END } },
	{ "a held READ is answered in its turn", STEPS {
		EARLY(READ_REQUEST, 1, .dma = 8), SACK(-1, 0, 1, 2), SILENCE,
		EARLY(WRITE_ONLY, 0, .len = 8),
		OUT(RESP_ONLY, 1, .len = 8, .msn = 2, .fill = FILL(0)), ACK(1, 2), END } },
	{ "a held request is refused in its turn",
	  OPCODES(READ_REQUEST, CMP_SWAP, FETCH_ADD), STEPS {
		EARLY(EACH, 1, .dma = 8, .key = KEY_NONE), SACK(-1, 0, 1, 2), SILENCE,
		STATE(RTS), IN(WRITE_ONLY, 0), NAK(NAK_ACCESS, 1, 1), DEAD_EVENT(QP_ACCESS_ERR),
		END } },
	{ "packets held behind a refused one are dropped", STEPS {
		EARLY(WRITE_ONLY, 2, .len = 8), SACK(-1, 0, 2, 3),
		EARLY(WRITE_ONLY, 1, .len = 8, .at = 64, .key = KEY_NONE), SACK(-1, 0, 1, 3),
		EARLY(WRITE_ONLY, 0), NAK(NAK_ACCESS, 1, 1), DEAD_EVENT(QP_ACCESS_ERR),
		MEMORY(0, 8, UNTOUCHED), END } },
	{ "a held packet with other contents than its copy counts once", STEPS {
		EARLY(WRITE_ONLY, 1, .len = 8), SACK(-1, 0, 1, 2),
		EARLY(WRITE_ONLY, 1, .len = 8, .fill = 0x99), SACK(-1, 0, 1, 2, .duplicates = 1),
		EARLY(WRITE_ONLY, 0), ACK(1, 2), MEMORY(0, 8, FILL(1)), END } },
	{ "many held packets are executed in order", STEPS {
		EARLY(WRITE_ONLY, 1, .len = 8, .times = 500), IGNORE,
		EARLY(WRITE_ONLY, 0, .len = 16), ACK(500, 501), MEMORY(0, 8, FILL(500)),
		MEMORY(8, 8, FILL(0)), END } },
	{ "a packet further ahead than memory for held ones reaches is dropped", STEPS {
		EARLY(WRITE_ONLY, 1, .len = 8), SACK(-1, 0, 1, 2),
		EARLY(WRITE_ONLY, 0x7fffff, .len = 8, .at = 64), SILENCE,
		EARLY(WRITE_ONLY, 0), ACK(1, 2), MEMORY(64, 8, UNTOUCHED), END } },
	{ "the memory for held packets is limited", OPCODES(WRITE_MIDDLE, SEND_MIDDLE), STEPS {
		EARLY(EACH, 1, .len = FLOOD_BYTES, .times = FLOOD), IGNORE,
		IN(WRITE_ONLY, 0), NAK(NAK_INVALID, 1, 1), DEAD_EVENT(QP_REQ_ERR), END } },
};

int main(int argc, char **argv)
{
	static const struct clause_table tables[] = {
		CLAUSES(held),
	};

	return clause_main(argc, argv, false, tables, sizeof(tables) / sizeof(tables[0]));
}
