// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_packet - arbitrary bytes as a packet: its opcode's row stays in bounds,
 * and rover's ICRC equals a plain one
 */
#include <string.h>

#include "fuzz.h"
#include "wire/icrc.h"
#include "icrc_ref.h"
#include "wire/opcode.h"
#include "wire/wire.h"

/* Read the headers where the row says that they are. */
static void read_headers(const struct rover_opcode *op, const u8 *bytes, size_t len)
{
	struct rover_bth bth;
	u32 last;

	memcpy(&bth, bytes, sizeof(bth));
	must(op->hdr_len >= sizeof(bth) && op->hdr_len <= ROVER_MAX_HDR);
	must(op->ext + 4 <= op->hdr_len || op->hdr_len == op->ext);
	must(op->ext == sizeof(bth) + (op->flags & ROVER_OP_XRCETH ? 4 : 0));
	must(!op->imm || op->imm + 4 == op->hdr_len);
	must(rover_bth_qpn(&bth) <= ROVER_24BIT && rover_bth_psn(&bth) <= ROVER_24BIT);
	if (len < op->hdr_len + rover_bth_pad(&bth))
		return;
	memcpy(&last, bytes + op->hdr_len - sizeof(last), sizeof(last));
	must(!(op->flags & ROVER_OP_REQUEST) != !(op->flags & ROVER_OP_RESPONSE));
}

static void sum(const u8 *bytes, size_t len)
{
	size_t at = icrc_bth_at(bytes);
	__be16 field, id;
	u8 *copy;
	__le32 icrc;

	memcpy(&id, bytes + 4, sizeof(id));
	memcpy(&field, bytes + icrc_len_at(bytes), sizeof(field));
	icrc = icrc_rover(bytes, len, be16_to_cpu(field), id);

	/* rover computes the length in the IP header from that of UDP. */
	copy = malloc(len);
	memcpy(copy, bytes, len);
	if (bytes[0] >> 4 == 6) {
		memcpy(copy + 4, &field, sizeof(field));
	} else {
		__be16 ip_len = cpu_to_be16(be16_to_cpu(field) + 20);

		memcpy(copy + 2, &ip_len, sizeof(ip_len));
	}
	must(icrc_plain(copy, len) == icrc);
	copy[at + 4] ^= bytes[len - 1];
	if (!icrc_is_grh(bytes))
		copy[at - 1] ^= bytes[len - 1];
	must(icrc_rover(copy, len, be16_to_cpu(field), id) == icrc);
	free(copy);
}

int fuzz_one(const u8 *bytes, size_t len)
{
	const struct rover_opcode *op;
	size_t at;

	/* At least 40 bytes: IPv4, UDP and BTH, or a GRH. */
	if (len < 40)
		return 0;
	at = icrc_bth_at(bytes);
	if (len < at + sizeof(struct rover_bth))
		return 0;
	op = rover_opcode_get(bytes[at]);
	if (op)
		read_headers(op, bytes + at, len - at);
	sum(bytes, len);
	return 0;
}
