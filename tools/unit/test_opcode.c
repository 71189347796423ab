// SPDX-License-Identifier: GPL-2.0
/*
 * test_opcode - the opcode table against IBTA's lengths, and its consistency
 */
#include <string.h>

#include "ktap.h"
#include "wire/opcode.h"
#include "wire/wire.h"

/*
 * Sums of BTH 12, XRCETH 4, RETH 16, ATOMETH 28, AETH 4, ATOMACK 8, DETH 8,
 * FETH 4, word 8, immediate or IETH 4.
 */
static const struct {
	u8 opcode, class, hdr_len, imm;
	char place;	/* first, middle, last, only */
} rows[] = {
	{ 0x00, ROVER_CLASS_SEND, 12, 0, 'f' },
	{ 0x01, ROVER_CLASS_SEND, 12, 0, 'm' },
	{ 0x02, ROVER_CLASS_SEND, 12, 0, 'l' },
	{ 0x03, ROVER_CLASS_SEND, 16, 12, 'l' },
	{ 0x04, ROVER_CLASS_SEND, 12, 0, 'o' },
	{ 0x05, ROVER_CLASS_SEND, 16, 12, 'o' },
	{ 0x06, ROVER_CLASS_WRITE, 28, 0, 'f' },
	{ 0x07, ROVER_CLASS_WRITE, 12, 0, 'm' },
	{ 0x08, ROVER_CLASS_WRITE, 12, 0, 'l' },
	{ 0x09, ROVER_CLASS_WRITE, 16, 12, 'l' },
	{ 0x0a, ROVER_CLASS_WRITE, 28, 0, 'o' },
	{ 0x0b, ROVER_CLASS_WRITE, 32, 28, 'o' },
	{ 0x0c, ROVER_CLASS_READ, 28, 0, 'o' },
	{ 0x0d, ROVER_CLASS_READ_RESP, 16, 0, 'f' },
	{ 0x0e, ROVER_CLASS_READ_RESP, 12, 0, 'm' },
	{ 0x0f, ROVER_CLASS_READ_RESP, 16, 0, 'l' },
	{ 0x10, ROVER_CLASS_READ_RESP, 16, 0, 'o' },
	{ 0x11, ROVER_CLASS_ACK, 16, 0, 'o' },
	{ 0x12, ROVER_CLASS_ATOMIC_ACK, 24, 0, 'o' },
	{ 0x13, ROVER_CLASS_ATOMIC, 40, 0, 'o' },
	{ 0x14, ROVER_CLASS_ATOMIC, 40, 0, 'o' },
	{ 0x16, ROVER_CLASS_SEND, 16, 12, 'l' },
	{ 0x17, ROVER_CLASS_SEND, 16, 12, 'o' },
	{ 0x1c, ROVER_CLASS_FLUSH, 32, 0, 'o' },
	{ 0x1d, ROVER_CLASS_ATOMIC_WRITE, 36, 0, 'o' },
	{ 0x15, ROVER_CLASS_RESERVED, 12, 0, 'o' },
	{ 0x18, ROVER_CLASS_RESERVED, 12, 0, 'o' },
	{ 0x19, ROVER_CLASS_RESERVED, 12, 0, 'o' },
	{ 0x1a, ROVER_CLASS_RESERVED, 12, 0, 'o' },
	{ 0x1b, ROVER_CLASS_RESERVED, 12, 0, 'o' },
	{ 0x1e, ROVER_CLASS_RESERVED, 12, 0, 'o' },
	{ 0x1f, ROVER_CLASS_RESERVED, 12, 0, 'o' },
	{ 0x20, ROVER_CLASS_SEND, 12, 0, 'f' },
	{ 0x21, ROVER_CLASS_SEND, 12, 0, 'm' },
	{ 0x22, ROVER_CLASS_SEND, 12, 0, 'l' },
	{ 0x23, ROVER_CLASS_SEND, 16, 12, 'l' },
	{ 0x24, ROVER_CLASS_SEND, 12, 0, 'o' },
	{ 0x25, ROVER_CLASS_SEND, 16, 12, 'o' },
	{ 0x26, ROVER_CLASS_WRITE, 28, 0, 'f' },
	{ 0x27, ROVER_CLASS_WRITE, 12, 0, 'm' },
	{ 0x28, ROVER_CLASS_WRITE, 12, 0, 'l' },
	{ 0x29, ROVER_CLASS_WRITE, 16, 12, 'l' },
	{ 0x2a, ROVER_CLASS_WRITE, 28, 0, 'o' },
	{ 0x2b, ROVER_CLASS_WRITE, 32, 28, 'o' },
	{ 0x64, ROVER_CLASS_SEND, 20, 0, 'o' },
	{ 0x65, ROVER_CLASS_SEND, 24, 20, 'o' },
	{ 0x81, ROVER_CLASS_CNP, 12, 0, 'o' },
	{ 0xa0, ROVER_CLASS_SEND, 16, 0, 'f' },
	{ 0xa1, ROVER_CLASS_SEND, 16, 0, 'm' },
	{ 0xa2, ROVER_CLASS_SEND, 16, 0, 'l' },
	{ 0xa3, ROVER_CLASS_SEND, 20, 16, 'l' },
	{ 0xa4, ROVER_CLASS_SEND, 16, 0, 'o' },
	{ 0xa5, ROVER_CLASS_SEND, 20, 16, 'o' },
	{ 0xa6, ROVER_CLASS_WRITE, 32, 0, 'f' },
	{ 0xa7, ROVER_CLASS_WRITE, 16, 0, 'm' },
	{ 0xa8, ROVER_CLASS_WRITE, 16, 0, 'l' },
	{ 0xa9, ROVER_CLASS_WRITE, 20, 16, 'l' },
	{ 0xaa, ROVER_CLASS_WRITE, 32, 0, 'o' },
	{ 0xab, ROVER_CLASS_WRITE, 36, 32, 'o' },
	{ 0xac, ROVER_CLASS_READ, 32, 0, 'o' },
	{ 0xad, ROVER_CLASS_READ_RESP, 16, 0, 'f' },
	{ 0xae, ROVER_CLASS_READ_RESP, 12, 0, 'm' },
	{ 0xaf, ROVER_CLASS_READ_RESP, 16, 0, 'l' },
	{ 0xb0, ROVER_CLASS_READ_RESP, 16, 0, 'o' },
	{ 0xb1, ROVER_CLASS_ACK, 16, 0, 'o' },
	{ 0xb2, ROVER_CLASS_ATOMIC_ACK, 24, 0, 'o' },
	{ 0xb3, ROVER_CLASS_ATOMIC, 44, 0, 'o' },
	{ 0xb4, ROVER_CLASS_ATOMIC, 44, 0, 'o' },
	{ 0xb6, ROVER_CLASS_SEND, 20, 16, 'l' },
	{ 0xb7, ROVER_CLASS_SEND, 20, 16, 'o' },
	{ 0xbc, ROVER_CLASS_FLUSH, 36, 0, 'o' },
	{ 0xbd, ROVER_CLASS_ATOMIC_WRITE, 40, 0, 'o' },
	{ 0xb5, ROVER_CLASS_RESERVED, 16, 0, 'o' },
	{ 0xb8, ROVER_CLASS_RESERVED, 16, 0, 'o' },
	{ 0xb9, ROVER_CLASS_RESERVED, 16, 0, 'o' },
	{ 0xba, ROVER_CLASS_RESERVED, 16, 0, 'o' },
	{ 0xbb, ROVER_CLASS_RESERVED, 16, 0, 'o' },
	{ 0xbe, ROVER_CLASS_RESERVED, 16, 0, 'o' },
	{ 0xbf, ROVER_CLASS_RESERVED, 16, 0, 'o' },
};

#define ROWS	(sizeof(rows) / sizeof(*rows))

static bool check_row(unsigned int i)
{
	const struct rover_opcode *op = rover_opcode_get(rows[i].opcode);
	bool start = strchr("fo", rows[i].place);
	bool end = strchr("lo", rows[i].place);
	u8 ext = 12;

	if (!op)
		return ktap_note("no row");
	/* XRC requests, and only these, have an XRCETH first. */
	if (rows[i].opcode >> 5 == 5 && op->class < ROVER_CLASS_READ_RESP)
		ext += 4;
	return op->class == rows[i].class && op->hdr_len == rows[i].hdr_len &&
	       op->imm == rows[i].imm && op->ext == ext &&
	       !!(op->flags & ROVER_OP_START) == start &&
	       !!(op->flags & ROVER_OP_END) == end;
}

static bool is_row(unsigned int opcode)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].opcode == opcode)
			return true;
	return false;
}

static bool others_unknown(void)
{
	for (unsigned int opcode = 0; opcode < 256; opcode++)
		if (!is_row(opcode) && rover_opcode_get(opcode))
			return ktap_note("%#04x has a row", opcode);
	return true;
}

/* Check a rule for each row. */
static void each(bool (*law)(const struct rover_opcode *op), const char *what)
{
	bool good = true;

	for (size_t i = 0; i < ROWS; i++) {
		const struct rover_opcode *op = rover_opcode_get(rows[i].opcode);

		if (op && !law(op))
			good = ktap_note("broken by %s", op->name);
	}
	ktap_ok(good, "%s", what);
}

static bool has(const struct rover_opcode *op, unsigned int flags)
{
	return op->flags & flags;
}

static bool one_direction(const struct rover_opcode *op)
{
	return has(op, ROVER_OP_REQUEST) != has(op, ROVER_OP_RESPONSE) &&
	       has(op, ROVER_OP_RESPONSE) == (op->class >= ROVER_CLASS_READ_RESP);
}

static bool one_extended(const struct rover_opcode *op)
{
	return has(op, ROVER_OP_RETH) + has(op, ROVER_OP_ATOMETH) +
	       has(op, ROVER_OP_AETH) + has(op, ROVER_OP_DETH) <= 1 &&
	       (!has(op, ROVER_OP_ATOMACK) || has(op, ROVER_OP_AETH));
}

static bool lengths_from_flags(const struct rover_opcode *op)
{
	unsigned int ext = has(op, ROVER_OP_RETH) * 16 + has(op, ROVER_OP_ATOMETH) * 28 +
			   has(op, ROVER_OP_AETH) * 4 + has(op, ROVER_OP_ATOMACK) * 8 +
			   has(op, ROVER_OP_DETH) * 8 + has(op, ROVER_OP_FETH) * 4 +
			   has(op, ROVER_OP_WORD) * 8;
	bool imm = has(op, ROVER_OP_IMM | ROVER_OP_INV);
	unsigned int at = 12 + has(op, ROVER_OP_XRCETH) * 4;

	return op->ext == at && op->hdr_len == at + ext + imm * 4 &&
	       op->imm == (imm ? at + ext : 0) &&
	       op->hdr_len <= ROVER_MAX_HDR && op->hdr_len % 4 == 0;
}

static bool imm_at_the_end(const struct rover_opcode *op)
{
	return !has(op, ROVER_OP_IMM | ROVER_OP_INV) ||
	       (has(op, ROVER_OP_END) && has(op, ROVER_OP_RECV) &&
		has(op, ROVER_OP_IMM) != has(op, ROVER_OP_INV));
}

static bool receives(const struct rover_opcode *op)
{
	return has(op, ROVER_OP_RECV) ==
	       (op->class == ROVER_CLASS_SEND ||
		(op->class == ROVER_CLASS_WRITE && has(op, ROVER_OP_IMM)));
}

static bool reth_at_the_start(const struct rover_opcode *op)
{
	return has(op, ROVER_OP_RETH) ==
	       (op->class == ROVER_CLASS_READ || op->class == ROVER_CLASS_ATOMIC_WRITE ||
		op->class == ROVER_CLASS_FLUSH ||
		(op->class == ROVER_CLASS_WRITE && has(op, ROVER_OP_START)));
}

/* All responses have an AETH, except READ response Middle. */
static bool aeth_at_the_ends(const struct rover_opcode *op)
{
	return has(op, ROVER_OP_AETH) ==
	       (has(op, ROVER_OP_RESPONSE) && op->class != ROVER_CLASS_CNP &&
		has(op, ROVER_OP_START | ROVER_OP_END));
}

/* A datagram is one packet with a DETH; nothing else has one. */
static bool deth_in_datagrams(const struct rover_opcode *op)
{
	unsigned int transport = rover_opcode_transport(op - rover_opcodes);
	bool ud = transport == ROVER_TRANSPORT_UD;

	return has(op, ROVER_OP_DETH) == ud &&
	       (ud || op->class == ROVER_CLASS_CNP || transport <= ROVER_TRANSPORT_UC ||
		transport == ROVER_TRANSPORT_XRC) &&
	       (!ud || (has(op, ROVER_OP_START) && has(op, ROVER_OP_END)));
}

/* Shared opcodes of RC and UC have equal rows; UC has no responses. */
static bool alike_unreliable(const struct rover_opcode *op)
{
	u8 opcode = op - rover_opcodes;
	const struct rover_opcode *other;

	if (rover_opcode_transport(opcode) != ROVER_TRANSPORT_UC)
		return true;
	other = rover_opcode_get(opcode & 0x1f);
	return other && rover_opcode_in(opcode & 0x1f, ROVER_TRANSPORT_UC) == opcode &&
	       op->flags == other->flags && op->class == other->class &&
	       has(op, ROVER_OP_REQUEST);
}

/* XRC equals RC, except for the XRCETH in requests. */
static bool alike_xrc(const struct rover_opcode *op)
{
	u8 opcode = op - rover_opcodes, transport = rover_opcode_transport(opcode);
	bool xrc = transport == ROVER_TRANSPORT_XRC;
	const struct rover_opcode *other;

	if (!xrc && transport != ROVER_TRANSPORT_RC)
		return !has(op, ROVER_OP_XRCETH);
	other = rover_opcode_get(opcode ^ (ROVER_TRANSPORT_XRC << 5));
	return other && other->class == op->class &&
	       (other->flags ^ op->flags) == (has(op, ROVER_OP_REQUEST) ? ROVER_OP_XRCETH : 0) &&
	       has(op, ROVER_OP_XRCETH) == (xrc && has(op, ROVER_OP_REQUEST)) &&
	       (!xrc || rover_opcode_in(opcode & 0x1f, transport) == opcode);
}

static bool several_with_payload(const struct rover_opcode *op)
{
	bool payload = op->class == ROVER_CLASS_SEND || op->class == ROVER_CLASS_WRITE ||
		       op->class == ROVER_CLASS_READ_RESP;

	return has(op, ROVER_OP_PAYLOAD) == payload &&
	       (payload || (has(op, ROVER_OP_START) && has(op, ROVER_OP_END)));
}

int main(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		const char *name = rover_opcodes[rows[i].opcode].name;

		ktap_ok(check_row(i), "%#04x %s", rows[i].opcode, name ?: "?");
	}
	ktap_ok(others_unknown(), "no other opcode has a row");
	each(one_direction, "either request or response");
	each(one_extended, "one extended header at most; ATOMACK follows AETH");
	each(lengths_from_flags, "lengths and offsets are those of the flags");
	each(imm_at_the_end, "immediate data and IETH end a message that takes a receive");
	each(receives, "receives are taken by SEND, and by WRITE with immediate data");
	each(reth_at_the_start, "RETH starts WRITE and READ, and is in ATOMIC WRITE and FLUSH");
	each(aeth_at_the_ends, "AETH is at both ends of responses");
	each(deth_in_datagrams, "DETH is in datagrams, and those are one packet");
	each(alike_unreliable, "unreliable connections have the same, but no answers");
	each(alike_xrc, "XRC has the same, and an XRCETH in each request");
	each(several_with_payload, "what has no payload is one packet");
	return ktap_done();
}
