// SPDX-License-Identifier: GPL-2.0
/*
 * test_wr - work requests against their opcodes
 */
#include "ktap.h"
#include "wire/opcode.h"
#include "wire/wr.h"

static const struct {
	const char *name;
	u8 first, middle, last, only, cqe_opcode;
	u16 flags;
	u8 datagram;
} rows[] = {
	[ROVER_WQE_SEND] = { "SEND", 0x00, 0x01, 0x02, 0x04, ROVER_CQE_SEND,
		ROVER_WR_GATHER | ROVER_WR_INLINE_OK | ROVER_WR_RECV | ROVER_WR_RAW, 0x64 },
	[ROVER_WQE_SEND_IMM] = { "SEND_IMM", 0x00, 0x01, 0x03, 0x05, ROVER_CQE_SEND,
		ROVER_WR_GATHER | ROVER_WR_INLINE_OK | ROVER_WR_RECV | ROVER_WR_IMM, 0x65 },
	[ROVER_WQE_SEND_INV] = { "SEND_INV", 0x00, 0x01, 0x16, 0x17, ROVER_CQE_SEND,
		ROVER_WR_GATHER | ROVER_WR_INLINE_OK | ROVER_WR_RECV | ROVER_WR_INV },
	[ROVER_WQE_WRITE] = { "WRITE", 0x06, 0x07, 0x08, 0x0a, ROVER_CQE_WRITE,
		ROVER_WR_GATHER | ROVER_WR_INLINE_OK | ROVER_WR_REMOTE },
	[ROVER_WQE_WRITE_IMM] = { "WRITE_IMM", 0x06, 0x07, 0x09, 0x0b, ROVER_CQE_WRITE,
		ROVER_WR_GATHER | ROVER_WR_INLINE_OK | ROVER_WR_REMOTE | ROVER_WR_RECV |
		ROVER_WR_IMM },
	[ROVER_WQE_READ] = { "READ", 0x0c, 0x0c, 0x0c, 0x0c, ROVER_CQE_READ,
		ROVER_WR_SCATTER | ROVER_WR_REMOTE | ROVER_WR_RD_ATOMIC },
	[ROVER_WQE_ATOMIC_WRITE] = { "ATOMIC_WRITE", 0x1d, 0x1d, 0x1d, 0x1d,
		ROVER_CQE_ATOMIC_WRITE, ROVER_WR_REMOTE | ROVER_WR_RD_ATOMIC },
	[ROVER_WQE_FLUSH] = { "FLUSH", 0x1c, 0x1c, 0x1c, 0x1c, ROVER_CQE_FLUSH,
		ROVER_WR_REMOTE | ROVER_WR_RD_ATOMIC },
	[ROVER_WQE_CMP_SWAP] = { "CMP_SWAP", 0x13, 0x13, 0x13, 0x13, ROVER_CQE_CMP_SWAP,
		ROVER_WR_SCATTER | ROVER_WR_REMOTE | ROVER_WR_RD_ATOMIC | ROVER_WR_ATOMIC },
	[ROVER_WQE_FETCH_ADD] = { "FETCH_ADD", 0x14, 0x14, 0x14, 0x14, ROVER_CQE_FETCH_ADD,
		ROVER_WR_SCATTER | ROVER_WR_REMOTE | ROVER_WR_RD_ATOMIC | ROVER_WR_ATOMIC },
	[ROVER_WQE_LOCAL_INV] = { "LOCAL_INV", 0, 0, 0, 0, ROVER_CQE_LOCAL_INV,
		ROVER_WR_LOCAL | ROVER_WR_INV },
	[ROVER_WQE_REG_MR] = { "REG_MR", 0, 0, 0, 0, ROVER_CQE_REG_MR, ROVER_WR_LOCAL },
	[ROVER_WQE_BIND_MW] = { "BIND_MW", 0, 0, 0, 0, ROVER_CQE_BIND_MW, ROVER_WR_LOCAL },
};

static bool check_row(unsigned int i)
{
	const struct rover_wr *wr = &rover_wrs[i];

	return wr->first == rows[i].first && wr->middle == rows[i].middle &&
	       wr->last == rows[i].last && wr->only == rows[i].only &&
	       wr->cqe_opcode == rows[i].cqe_opcode && wr->flags == rows[i].flags &&
	       wr->datagram == rows[i].datagram;
}

/* Check the row of a packet at some place in the message. */
static bool fits(u8 opcode, unsigned int place, unsigned int wr)
{
	const struct rover_opcode *op = rover_opcode_get(opcode);
	unsigned int want = place | ROVER_OP_REQUEST;
	bool send = !(wr & ROVER_WR_REMOTE);

	if (!op)
		return ktap_note("opcode %#04x has no row", opcode);
	if (wr & ROVER_WR_GATHER)
		want |= ROVER_OP_PAYLOAD;
	if (wr & ROVER_WR_ATOMIC)
		want |= ROVER_OP_ATOMETH;
	else if (wr & ROVER_WR_REMOTE && place & ROVER_OP_START)
		want |= ROVER_OP_RETH;
	if (wr & ROVER_WR_IMM && place & ROVER_OP_END)
		want |= ROVER_OP_IMM;
	if (wr & ROVER_WR_INV && place & ROVER_OP_END)
		want |= ROVER_OP_INV;
	if (send || want & ROVER_OP_IMM)
		want |= ROVER_OP_RECV;
	/* Their parameters are in the WQE's header. */
	if ((op->flags & ~(ROVER_OP_FETH | ROVER_OP_WORD)) != want)
		return ktap_note("%s has flags %#x, not %#x", op->name, op->flags, want);
	if (place & ROVER_OP_END && !(wr & ROVER_WR_RECV) != !(want & ROVER_OP_RECV))
		return ktap_note("%s takes a receive, or its request says so", op->name);
	return true;
}

static bool fits_opcodes(const struct rover_wr *wr)
{
	bool good;

	/* Sends no packets: all opcodes are zero, which is SEND First. */
	if (wr->flags & ROVER_WR_LOCAL)
		return !wr->first && !wr->middle && !wr->last && !wr->only && !wr->datagram;
	good = fits(wr->only, ROVER_OP_START | ROVER_OP_END, wr->flags);

	if (!(wr->flags & ROVER_WR_GATHER))
		return good && wr->first == wr->only && wr->middle == wr->only &&
		       wr->last == wr->only;
	return good && fits(wr->first, ROVER_OP_START, wr->flags) &&
	       fits(wr->middle, 0, wr->flags) &&
	       fits(wr->last, ROVER_OP_END, wr->flags);
}

/* The same operation as a datagram, with a DETH. */
static bool fits_datagram(const struct rover_wr *wr)
{
	const struct rover_opcode *op = rover_opcode_get(wr->datagram);

	if (!wr->datagram)
		return true;
	return op && op->flags == (rover_opcode_get(wr->only)->flags | ROVER_OP_DETH) &&
	       rover_opcode_transport(wr->datagram) == ROVER_TRANSPORT_UD;
}

/* UC has only operations without response, and no invalidation. */
static bool fits_services(const struct rover_wr *wr)
{
	bool bare = !(wr->flags & (ROVER_WR_RD_ATOMIC | ROVER_WR_INV | ROVER_WR_LOCAL));

	return rover_wr_fits(wr, ROVER_TRANSPORT_RC) &&
	       rover_wr_fits(wr, ROVER_TRANSPORT_XRC) &&
	       rover_wr_fits(wr, ROVER_TRANSPORT_UC) == bare &&
	       rover_wr_fits(wr, ROVER_TRANSPORT_UD) == (bare && !(wr->flags & ROVER_WR_REMOTE)) &&
	       rover_wr_fits(wr, ROVER_TRANSPORT_RAW) == (wr == &rover_wrs[ROVER_WQE_SEND]);
}

/* The SRQ number is where the ABI says, and nothing else is taken for it. */
static bool names_queue(unsigned int i)
{
	struct rover_send_wqe atomic = { .opcode = i, .imm = 0x123456, .swap = ~0ULL };
	struct rover_send_wqe other = { .opcode = i, .imm = ~0U, .remote_srqn = 0x123456 };
	struct rover_send_wqe wrong = { .opcode = i, .remote_srqn = 1, .reserved_2c = 1 };

	if (rover_wrs[i].flags & ROVER_WR_LOCAL)
		return !rover_wr_srqn(&atomic) && !rover_wr_srqn(&other);
	if (rover_wrs[i].flags & ROVER_WR_ATOMIC)
		return rover_wr_srqn(&atomic) == 0x123456;
	return rover_wr_srqn(&other) == 0x123456 && rover_wr_srqn(&wrong) > 0xffffff;
}

static bool flags_make_sense(unsigned int flags)
{
	if (flags & ROVER_WR_LOCAL)
		return !(flags & ~(ROVER_WR_LOCAL | ROVER_WR_INV));
	return !(flags & ROVER_WR_GATHER && flags & ROVER_WR_SCATTER) &&
	       (!(flags & ROVER_WR_INLINE_OK) || flags & ROVER_WR_GATHER) &&
	       (!(flags & ROVER_WR_RD_ATOMIC) == !!(flags & ROVER_WR_GATHER)) &&
	       (!(flags & ROVER_WR_SCATTER) || flags & ROVER_WR_RD_ATOMIC) &&
	       (!(flags & ROVER_WR_ATOMIC) || flags & ROVER_WR_RD_ATOMIC) &&
	       !(flags & ROVER_WR_IMM && flags & ROVER_WR_INV);
}

int main(void)
{
	ktap_eq(sizeof(rows) / sizeof(*rows), ROVER_WQE_OPCODES, "a row for each request");
	for (size_t i = 0; i < ROVER_WQE_OPCODES; i++) {
		ktap_ok(check_row(i), "%s: opcodes, completion, flags", rows[i].name);
		ktap_ok(fits_opcodes(&rover_wrs[i]), "%s: fits the opcode table", rows[i].name);
		ktap_ok(fits_datagram(&rover_wrs[i]), "%s: the same as a datagram",
			rows[i].name);
		ktap_ok(fits_services(&rover_wrs[i]), "%s: of the services that can have it",
			rows[i].name);
		ktap_ok(names_queue(i), "%s: the queue that it is for", rows[i].name);
		ktap_ok(flags_make_sense(rover_wrs[i].flags), "%s: flags make sense",
			rows[i].name);
	}
	return ktap_done();
}
