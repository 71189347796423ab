// SPDX-License-Identifier: GPL-2.0
/*
 * post - work requests of kernel QPs
 *
 * Writes WQEs of rover-abi.h to the rings, as userspace does, but with pointers
 * in place of numbers (union rover_kernel_wqe). sq_post, rq_post and
 * rover_srq.post serialize producers in any context; tx_lock and rx_lock are
 * not needed.
 */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "addr/ah.h"
#include "qp/affinity.h"
#include "qp/qp_state.h"
#include "qp/srq.h"
#include "run/poller.h"
#include "run/run.h"
#include "verbs/qp_verbs.h"
#include "wire/wire.h"

#define POST_SEND_FLAGS	(IB_SEND_SIGNALED | IB_SEND_SOLICITED | \
			 IB_SEND_FENCE | IB_SEND_INLINE)

/* ib_wr_opcode to 1 + enum rover_wqe_opcode; 0 if unsupported. */
static const u8 post_opcodes[] = {
	[IB_WR_SEND]			= 1 + ROVER_WQE_SEND,
	[IB_WR_SEND_WITH_IMM]		= 1 + ROVER_WQE_SEND_IMM,
	[IB_WR_SEND_WITH_INV]		= 1 + ROVER_WQE_SEND_INV,
	[IB_WR_RDMA_WRITE]		= 1 + ROVER_WQE_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM]	= 1 + ROVER_WQE_WRITE_IMM,
	[IB_WR_RDMA_READ]		= 1 + ROVER_WQE_READ,
	[IB_WR_ATOMIC_WRITE]		= 1 + ROVER_WQE_ATOMIC_WRITE,
	[IB_WR_FLUSH]			= 1 + ROVER_WQE_FLUSH,
	[IB_WR_ATOMIC_CMP_AND_SWP]	= 1 + ROVER_WQE_CMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= 1 + ROVER_WQE_FETCH_ADD,
	[IB_WR_LOCAL_INV]		= 1 + ROVER_WQE_LOCAL_INV,
	[IB_WR_REG_MR]			= 1 + ROVER_WQE_REG_MR,
};

static void *post_free_slot(const struct rover_ring *ring)
{
	/* P3 pairs with rover_ring_retire() (K3): the slot is free. */
	u32 head = smp_load_acquire(&ring->hdr->head);

	return ring->tail - head < ring->limit ?
	       rover_ring_slot(ring, ring->tail) : NULL;
}

static void post_publish_tail(struct rover_ring *ring)
{
	/* P1 pairs with rover_ring_posted() (K1): the WQE is visible. */
	smp_store_release(&ring->hdr->tail, ++ring->tail);
}

static void post_write_sges(struct rover_sge *to, const struct ib_sge *from,
			    unsigned int n)
{
	for (; n; n--, to++, from++) {
		to->addr = from->addr;
		to->length = from->length;
		to->lkey = from->lkey;
	}
}

static void post_write_operation(union rover_kernel_wqe *kernel, u16 flags,
				 const struct ib_send_wr *wr)
{
	struct rover_send_wqe *wqe = &kernel->hdr;

	if (flags & ROVER_WR_IMM)
		wqe->imm = (__force u32)wr->ex.imm_data;
	else if (flags & ROVER_WR_INV)
		wqe->imm = wr->ex.invalidate_rkey;

	if (flags & ROVER_WR_ATOMIC) {
		wqe->remote_addr = atomic_wr(wr)->remote_addr;
		wqe->rkey = atomic_wr(wr)->rkey;
		wqe->compare_add = atomic_wr(wr)->compare_add;
		wqe->swap = atomic_wr(wr)->swap;
	} else if (flags & ROVER_WR_REMOTE) {
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
	} else if (wqe->opcode == ROVER_WQE_REG_MR) {
		kernel->reg = (struct rover_fastreg) {
			.key = reg_wr(wr)->key,
			.access = reg_wr(wr)->access,
			.iova = reg_wr(wr)->mr->iova,
			.length = reg_wr(wr)->mr->length,
		};
	}
}

/* The AH must be of the QP's PD (IBTA 10.2.2.3), thus of its device. */
static int post_write_address(union rover_kernel_wqe *wqe,
			      struct rover_qp *qp, const struct ib_send_wr *wr)
{
	const struct ib_ud_wr *ud = ud_wr(wr);

	if (!ud->ah || ud->ah->pd != qp->pd || ud->remote_qpn & ~ROVER_24BIT)
		return -EINVAL;
	wqe->hdr.remote_qpn = ud->remote_qpn;
	wqe->hdr.remote_qkey = ud->remote_qkey;
	wqe->ah = rover_ah(ud->ah);
	return 0;
}

/* Inline data has kernel addresses and no lkey (IBTA 10.8). */
static int post_write_inline(union rover_kernel_wqe *wqe,
			     const struct rover_qp *qp,
			     const struct ib_send_wr *wr)
{
	u8 *to = (u8 *)wqe + ROVER_SEND_WQE_HDR;
	u32 total = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->max_inline - total)
			return -EINVAL;
		memcpy(to + total, (void *)(uintptr_t)sge->addr, sge->length);
		total += sge->length;
	}
	wqe->hdr.inline_len = total;
	return 0;
}

/* ATOMIC WRITE and FLUSH access no local memory. */
static bool post_is_mpe(u16 flags)
{
	return !(flags & (ROVER_WR_GATHER | ROVER_WR_SCATTER | ROVER_WR_LOCAL));
}

/*
 * struct ib_rdma_wr lacks the value of an ATOMIC WRITE and the extent of a
 * FLUSH: take inline data, and flush the whole rkey (decision 0024).
 */
static int post_write_mpe(struct rover_send_wqe *wqe,
			  const struct ib_send_wr *wr)
{
	if (wqe->opcode == ROVER_WQE_FLUSH) {
		wqe->imm = ROVER_FLUSH_GLOBAL |
			   FIELD_PREP(ROVER_FLUSH_SELECTIVITY, ROVER_FLUSH_MR);
		return wr->num_sge || wr->send_flags & IB_SEND_INLINE ?
		       -EINVAL : 0;
	}
	if (wr->num_sge != 1 || !(wr->send_flags & IB_SEND_INLINE) ||
	    wr->sg_list->length != sizeof(wqe->compare_add))
		return -EINVAL;
	memcpy(&wqe->compare_add, (void *)(uintptr_t)wr->sg_list->addr,
	       sizeof(wqe->compare_add));
	/* The value is in the WQE header. */
	wqe->flags &= ~ROVER_WQE_INLINE;
	return 0;
}

static int post_find_opcode(enum ib_wr_opcode opcode)
{
	if ((unsigned int)opcode >= ARRAY_SIZE(post_opcodes) ||
	    !post_opcodes[opcode])
		return -EOPNOTSUPP;
	return post_opcodes[opcode] - 1;
}

static u8 post_wqe_flags(int send_flags)
{
	return (send_flags & IB_SEND_SIGNALED ? ROVER_WQE_SIGNALED : 0) |
	       (send_flags & IB_SEND_SOLICITED ? ROVER_WQE_SOLICITED : 0) |
	       (send_flags & IB_SEND_FENCE ? ROVER_WQE_FENCE : 0) |
	       (send_flags & IB_SEND_INLINE ? ROVER_WQE_INLINE : 0);
}

static int post_write_send(struct rover_qp *qp, const struct ib_send_wr *wr)
{
	union rover_kernel_wqe *kernel;
	struct rover_send_wqe *wqe;
	int op, err = 0;
	u16 flags;
	bool fits;

	if (!rover_qp_allows(qp, ROVER_MAY_POST_SEND))
		return -EINVAL;
	op = post_find_opcode(wr->opcode);
	if (op < 0)
		return op;
	/*
	 * ib_drain_sq() posts a WRITE even to UD.  Accept it in ERR, where it
	 * is only flushed: leaving ERR for RESET empties the ring under
	 * sq_post.
	 */
	fits = rover_wr_fits(&rover_wrs[op], qp->transport);
	if (!fits && !rover_qp_allows(qp, ROVER_MUST_FLUSH))
		return -EOPNOTSUPP;
	flags = rover_wrs[op].flags;
	if (wr->send_flags & ~POST_SEND_FLAGS || wr->num_sge < 0 ||
	    wr->num_sge > qp->max_send_sge ||
	    (wr->send_flags & IB_SEND_INLINE && !post_is_mpe(flags) &&
	     !(flags & ROVER_WR_INLINE_OK)))
		return -EINVAL;

	kernel = post_free_slot(&qp->sq);
	if (!kernel)
		return -ENOMEM;
	wqe = &kernel->hdr;
	memset(kernel, 0, sizeof(*kernel));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = op;
	wqe->flags = post_wqe_flags(wr->send_flags);
	if (!fits)
		return 0;
	post_write_operation(kernel, flags, wr);
	if (qp->transport == ROVER_TRANSPORT_UD)
		err = post_write_address(kernel, qp, wr);
	if (err)
		return err;
	if (post_is_mpe(flags))
		return post_write_mpe(wqe, wr);
	if (wr->send_flags & IB_SEND_INLINE)
		return post_write_inline(kernel, qp, wr);
	wqe->num_sge = wr->num_sge;
	post_write_sges((void *)kernel + ROVER_SEND_WQE_HDR, wr->sg_list,
			wr->num_sge);
	return 0;
}

/* The poller does not handle long messages, sent or read. */
static bool post_is_long(const struct ib_send_wr *wr)
{
	u64 total = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		total += wr->sg_list[i].length;
	return total >= ROVER_LONG_BYTES;
}

int rover_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct rover_qp *qp = rover_qp(ib);
	struct rover_stream *stream = &qp->stream;
	unsigned long flags;
	int err = 0;
	u32 head;

	/* Userspace owns the ring; XRC targets have none. */
	if (qp->user || qp->xrcd) {
		*bad_wr = wr;
		return -EINVAL;
	}

	spin_lock_irqsave(&qp->sq_post, flags);
	head = READ_ONCE(qp->sq.hdr->head);
	for (; wr; wr = wr->next) {
		err = post_write_send(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		if (post_is_long(wr))
			WRITE_ONCE(stream->last_long_post, stream->adapt.posts);
		post_publish_tail(&qp->sq);
	}
	rover_poll_adapt_post(&stream->adapt, smp_processor_id(), head, qp->sq.tail);
	spin_unlock_irqrestore(&qp->sq_post, flags);

	/* Even on error: earlier requests are posted. */
	if (!rover_poller_posted(qp))
		rover_run_posted(qp);
	return err;
}

static int post_write_recv(struct rover_ring *ring, int max_sge,
			   const struct ib_recv_wr *wr)
{
	struct rover_recv_wqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	wqe = post_free_slot(ring);
	if (!wqe)
		return -ENOMEM;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	post_write_sges((void *)wqe + ROVER_RECV_WQE_HDR, wr->sg_list,
			wr->num_sge);
	return 0;
}

/* Caller holds rq_post or rover_srq.post. */
static int post_write_recvs(struct rover_ring *ring, int max_sge,
			    const struct ib_recv_wr *wr,
			    const struct ib_recv_wr **bad_wr)
{
	int err;

	for (; wr; wr = wr->next) {
		err = post_write_recv(ring, max_sge, wr);
		if (err) {
			*bad_wr = wr;
			return err;
		}
		post_publish_tail(ring);
	}
	return 0;
}

int rover_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct rover_qp *qp = rover_qp(ib);
	unsigned long flags;
	int err = -EINVAL;

	*bad_wr = wr;
	if (qp->user || qp->srq || qp->xrcd)
		return err;

	spin_lock_irqsave(&qp->rq_post, flags);
	if (rover_qp_allows(qp, ROVER_MAY_POST_RECV))
		err = post_write_recvs(&qp->rq, qp->max_recv_sge, wr, bad_wr);
	spin_unlock_irqrestore(&qp->rq_post, flags);

	/*
	 * Pairs with rover_ring_flag() in rover_qp_fail() and qp_modify.c: this
	 * CPU sees ERR, or the run queued there sees the tail.  P7 pairs with
	 * rover_ring_watch() (K7): this CPU sees that the peer waits, or the
	 * responder sees the tail.
	 */
	smp_mb();
	if (rover_qp_allows(qp, ROVER_MUST_FLUSH)) {
		rover_qp_set_work(qp, ROVER_WORK_RX);
		rover_run_posted(qp);
	} else if (rover_ring_wait_met(&qp->rq)) {
		rover_run_receives(qp);
	}
	return err;
}

int rover_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct rover_srq *srq = rover_srq(ib);
	unsigned long flags;
	int err;

	if (srq->user) {
		*bad_wr = wr;
		return -EINVAL;
	}

	spin_lock_irqsave(&srq->post, flags);
	err = post_write_recvs(&srq->ring, srq->max_sge, wr, bad_wr);
	spin_unlock_irqrestore(&srq->post, flags);
	/* SRQ receives are never flushed: nothing to run. */
	return err;
}
