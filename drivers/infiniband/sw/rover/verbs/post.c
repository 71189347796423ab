// SPDX-License-Identifier: GPL-2.0
/*
 * post - work requests of kernel users
 *
 * They are written into the same rings that programs map, in the form of
 * rover-abi.h, so that below this room there is one kind of work request.
 * Programs never come here: they write the rings themselves.
 *
 * sq_post, rq_post and the like of a shared receive queue serialise posters of
 * one queue, which verbs allow in any context; the protocol's locks are not
 * needed to post.
 */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "addr/ah.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "qp/srq.h"
#include "rc/localop.h"
#include "run/poller.h"
#include "run/run.h"
#include "verbs/control.h"
#include "wire/wire.h"

#define SEND_FLAGS	(IB_SEND_SIGNALED | IB_SEND_SOLICITED | \
			 IB_SEND_FENCE | IB_SEND_INLINE)

/* Row of rover_wrs by ib_wr_opcode, plus one; 0: rover does not have it. */
static const u8 opcodes[] = {
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

/* The next slot of a ring we produce, or NULL when it is full. */
static void *free_slot(const struct rover_ring *ring)
{
	/* P3: slots come back by K3, as they do to a program. */
	u32 head = smp_load_acquire(&ring->hdr->head);

	return ring->tail - head < ring->limit ?
	       rover_ring_slot(ring, ring->tail) : NULL;
}

static void publish(struct rover_ring *ring)
{
	/* P1: whoever sees the tail sees the work request. */
	smp_store_release(&ring->hdr->tail, ++ring->tail);
}

static void write_sges(struct rover_sge *to, const struct ib_sge *from,
		       unsigned int n)
{
	for (; n; n--, to++, from++) {
		to->addr = from->addr;
		to->length = from->length;
		to->lkey = from->lkey;
	}
}

/* What of a send work request depends on its kind. */
static void write_operation(struct rover_send_wqe *wqe, u16 flags,
			    const struct ib_send_wr *wr)
{
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
		*rover_localop_reg(wqe) = (struct rover_fastreg) {
			.key = reg_wr(wr)->key,
			.access = reg_wr(wr)->access,
			.iova = reg_wr(wr)->mr->iova,
			.length = reg_wr(wr)->mr->length,
		};
	}
}

/* Where a datagram goes: by a handle of the same domain (IBTA 10.2.2.3), hence device. */
static int write_address(struct rover_send_wqe *wqe, struct rover_qp *qp,
			 const struct ib_send_wr *wr)
{
	const struct ib_ud_wr *ud = ud_wr(wr);

	if (!ud->ah || ud->ah->pd != qp->pd || ud->remote_qpn & ~ROVER_24BIT)
		return -EINVAL;
	wqe->remote_qpn = ud->remote_qpn;
	wqe->remote_qkey = ud->remote_qkey;
	*rover_ah_of_kernel(wqe) = rover_ah(ud->ah);
	return 0;
}

/* Addresses of inline data are pointers: no key is looked at (IBTA 10.8). */
static int write_inline(struct rover_send_wqe *wqe, const struct rover_qp *qp,
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
	wqe->inline_len = total;
	return 0;
}

/* Neither reads nor writes memory of ours: words, FLUSH. */
static bool is_word(u16 flags)
{
	return !(flags & (ROVER_WR_GATHER | ROVER_WR_SCATTER | ROVER_WR_LOCAL));
}

/*
 * The kernel's verbs give these struct ib_rdma_wr, where there is no word and
 * nothing of how far a FLUSH goes (decision 0024).  So the word is inline data,
 * and a FLUSH is one of all that the key opens: more than anybody could want.
 */
static int write_word(struct rover_send_wqe *wqe, const struct ib_send_wr *wr)
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
	/* In the head of the request, that is, not behind it. */
	wqe->flags &= ~ROVER_WQE_INLINE;
	return 0;
}

/* Row of rover_wrs, or an error when there is none. */
static int row_of(enum ib_wr_opcode opcode)
{
	if ((unsigned int)opcode >= ARRAY_SIZE(opcodes) || !opcodes[opcode])
		return -EOPNOTSUPP;
	return opcodes[opcode] - 1;
}

static u8 wqe_flags(int send_flags)
{
	return (send_flags & IB_SEND_SIGNALED ? ROVER_WQE_SIGNALED : 0) |
	       (send_flags & IB_SEND_SOLICITED ? ROVER_WQE_SOLICITED : 0) |
	       (send_flags & IB_SEND_FENCE ? ROVER_WQE_FENCE : 0) |
	       (send_flags & IB_SEND_INLINE ? ROVER_WQE_INLINE : 0);
}

static int write_send(struct rover_qp *qp, const struct ib_send_wr *wr)
{
	struct rover_send_wqe *wqe;
	int op, err = 0;
	u16 flags;
	bool fits;

	if (!rover_qp_allows(qp, ROVER_MAY_POST_SEND))
		return -EINVAL;
	op = row_of(wr->opcode);
	if (op < 0)
		return op;
	/*
	 * To see the end of a queue the core posts a WRITE (ib_drain_sq), to datagram
	 * queue pairs as well.  In error it is flushed, and that is all that is wanted;
	 * the only way out of there empties the queue, under the lock held here.
	 */
	fits = rover_wr_fits(&rover_wrs[op], qp->transport);
	if (!fits && !rover_qp_allows(qp, ROVER_MUST_FLUSH))
		return -EOPNOTSUPP;
	flags = rover_wrs[op].flags;
	if (wr->send_flags & ~SEND_FLAGS || wr->num_sge < 0 ||
	    wr->num_sge > qp->max_send_sge ||
	    (wr->send_flags & IB_SEND_INLINE && !is_word(flags) &&
	     !(flags & ROVER_WR_INLINE_OK)))
		return -EINVAL;

	wqe = free_slot(&qp->sq);
	if (!wqe)
		return -ENOMEM;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = op;
	wqe->flags = wqe_flags(wr->send_flags);
	/* What is not this service's has no more that could be looked at. */
	if (!fits)
		return 0;
	write_operation(wqe, flags, wr);
	if (qp->transport == ROVER_TRANSPORT_UD)
		err = write_address(wqe, qp, wr);
	if (err)
		return err;
	if (is_word(flags))
		return write_word(wqe, wr);
	if (wr->send_flags & IB_SEND_INLINE)
		return write_inline(wqe, qp, wr);
	wqe->num_sge = wr->num_sge;
	write_sges((void *)wqe + ROVER_SEND_WQE_HDR, wr->sg_list, wr->num_sge);
	return 0;
}

/* Is it more than the poller should look after?  Sent, or asked for. */
static bool is_heavy(const struct ib_send_wr *wr)
{
	u64 total = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		total += wr->sg_list[i].length;
	return total >= ROVER_BULK;
}

int rover_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct rover_qp *qp = rover_qp(ib);
	struct rover_stream *stream = &qp->stream;
	unsigned long irq;
	int err = 0;
	u32 head;

	/* A program's ring has a producer already, and a target has none. */
	if (qp->user || qp->xrcd) {
		*bad_wr = wr;
		return -EINVAL;
	}

	spin_lock_irqsave(&qp->sq_post, irq);
	head = READ_ONCE(qp->sq.hdr->head);
	for (; wr; wr = wr->next) {
		err = write_send(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		if (is_heavy(wr))
			WRITE_ONCE(stream->heavy, stream->adapt.posts);
		publish(&qp->sq);
	}
	rover_poll_adapt_post(&stream->adapt, smp_processor_id(), head, qp->sq.tail);
	spin_unlock_irqrestore(&qp->sq_post, irq);

	/* Also after an error: those before it have been posted. */
	if (!rover_poller_posted(qp))
		rover_run_posted(qp);
	return err;
}

static int write_recv(struct rover_ring *ring, int max_sge,
		      const struct ib_recv_wr *wr)
{
	struct rover_recv_wqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	wqe = free_slot(ring);
	if (!wqe)
		return -ENOMEM;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	write_sges((void *)wqe + ROVER_RECV_WQE_HDR, wr->sg_list, wr->num_sge);
	return 0;
}

/* The lock of the producer's side is held. */
static int write_recvs(struct rover_ring *ring, int max_sge,
		       const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	int err;

	for (; wr; wr = wr->next) {
		err = write_recv(ring, max_sge, wr);
		if (err) {
			*bad_wr = wr;
			return err;
		}
		publish(ring);
	}
	return 0;
}

int rover_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct rover_qp *qp = rover_qp(ib);
	unsigned long irq;
	int err = -EINVAL;

	*bad_wr = wr;
	if (qp->user || qp->srq || qp->xrcd)
		return err;

	spin_lock_irqsave(&qp->rq_post, irq);
	if (rover_qp_allows(qp, ROVER_MAY_POST_RECV))
		err = write_recvs(&qp->rq, qp->max_recv_sge, wr, bad_wr);
	spin_unlock_irqrestore(&qp->rq_post, irq);

	/*
	 * Receives wait for packets, except in error, where they are flushed, and
	 * where a peer waits for them (P7).
	 * Partner: rover_qp_fail() sets the state, has a full barrier and then
	 * sees to a run that looks at the tail.
	 */
	smp_mb();
	if (rover_qp_allows(qp, ROVER_MUST_FLUSH)) {
		set_bit(ROVER_WORK_RX, &qp->work);
		rover_run_posted(qp);
	} else if (rover_ring_awaited(&qp->rq)) {
		rover_run_receives(qp);
	}
	return err;
}

int rover_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct rover_srq *srq = rover_srq(ib);
	unsigned long irq;
	int err;

	if (srq->user) {
		*bad_wr = wr;
		return -EINVAL;
	}

	spin_lock_irqsave(&srq->post, irq);
	err = write_recvs(&srq->ring, srq->max_sge, wr, bad_wr);
	spin_unlock_irqrestore(&srq->post, irq);
	/* Nobody flushes them: they wait for packets, whatever happens. */
	return err;
}
