/* SPDX-License-Identifier: GPL-2.0 */
/* exts - extended transport headers of a request packet */
#ifndef ROVER_EXTS_H
#define ROVER_EXTS_H

#include "qp/qp.h"
#include "tx/train.h"

static __always_inline void rover_exts_add(struct rover_outgoing *out,
					   const void *hdr, u8 len)
{
	memcpy(out->ext + out->ext_len, hdr, len);
	out->ext_len += len;
}

/* FLUSH and ATOMIC WRITE: all parameters are in the WQE header. */
static inline void rover_exts_mpe(struct rover_outgoing *out,
				  const struct rover_send_wqe *hdr, u16 flags)
{
	bool flush = flags & ROVER_OP_FETH;
	struct rover_feth feth = { .what = cpu_to_be32(hdr->imm) };
	struct rover_reth reth = {
		.va = cpu_to_be64(hdr->remote_addr),
		.rkey = cpu_to_be32(hdr->rkey),
		.length = cpu_to_be32(flush ? hdr->compare_add :
				      sizeof(struct rover_word)),
	};

	if (flush)
		rover_exts_add(out, &feth, sizeof(feth));
	rover_exts_add(out, &reth, sizeof(reth));
	if (!flush)
		rover_exts_add(out, &hdr->compare_add, sizeof(struct rover_word));
}

static inline void rover_exts_xrceth(struct rover_outgoing *out,
				     const struct rover_send_wqe *hdr)
{
	struct rover_xrceth xrceth = {
		.srqn = cpu_to_be32(rover_wr_srqn(hdr)),
	};

	rover_exts_add(out, &xrceth, sizeof(xrceth));
}

/**
 * rover_exts_put() - write the extended headers that the opcode requires
 * @qp: alive; at req.wqe_psns_sent of request req.wqe
 * @out: packet, opcode set
 * @row: the request
 * @psns: of the packet
 * Context: tx_lock held.
 */
static inline void rover_exts_put(const struct rover_qp *qp,
				  struct rover_outgoing *out,
				  const struct rover_sent *row, u32 psns)
{
	const struct rover_send_wqe *hdr = &qp->req.wqe.hdr;
	u16 flags = rover_opcodes[out->opcode].flags;
	u64 at = (u64)qp->req.wqe_psns_sent << qp->mtu_shift;

	if (flags & ROVER_OP_XRCETH)
		rover_exts_xrceth(out, hdr);
	if (flags & (ROVER_OP_FETH | ROVER_OP_WORD)) {
		rover_exts_mpe(out, hdr, flags);
	} else if (flags & ROVER_OP_RETH) {
		bool read = row->opcode == ROVER_WQE_READ;
		u64 len = row->length - (read ? at : 0);
		struct rover_reth reth = {
			.va = cpu_to_be64(hdr->remote_addr + (read ? at : 0)),
			.rkey = cpu_to_be32(hdr->rkey),
			.length = cpu_to_be32(read ? min(len, (u64)psns << qp->mtu_shift) : len),
		};

		rover_exts_add(out, &reth, sizeof(reth));
	}
	if (flags & ROVER_OP_ATOMETH) {
		bool swap = row->opcode == ROVER_WQE_CMP_SWAP;
		struct rover_atometh atom = {
			.va = cpu_to_be64(hdr->remote_addr),
			.rkey = cpu_to_be32(hdr->rkey),
			.swap_add = cpu_to_be64(swap ? hdr->swap : hdr->compare_add),
			.compare = cpu_to_be64(swap ? hdr->compare_add : 0),
		};

		rover_exts_add(out, &atom, sizeof(atom));
	}
	if (flags & ROVER_OP_IMM)
		rover_exts_add(out, &hdr->imm, sizeof(hdr->imm));
	if (flags & ROVER_OP_INV) {
		__be32 rkey = cpu_to_be32(hdr->imm);

		rover_exts_add(out, &rkey, sizeof(rkey));
	}
}

#endif /* ROVER_EXTS_H */
