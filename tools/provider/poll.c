// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * poll.c: completions are read here, by ibv_poll_cq() and by the extended way,
 * neither of which enters the kernel.
 *
 * The kernel is told once a call what was consumed, and in between whenever a
 * quarter of the ring was, so that a program that reads for long does not
 * overflow a queue that it has in fact emptied.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "compat.h"
#include "rover.h"

static const enum ibv_wc_opcode wc_opcodes[ROVER_CQE_OPCODES] = {
	[ROVER_CQE_SEND] = IBV_WC_SEND,
	[ROVER_CQE_WRITE] = IBV_WC_RDMA_WRITE,
	[ROVER_CQE_READ] = IBV_WC_RDMA_READ,
	[ROVER_CQE_CMP_SWAP] = IBV_WC_COMP_SWAP,
	[ROVER_CQE_FETCH_ADD] = IBV_WC_FETCH_ADD,
	[ROVER_CQE_RECV] = IBV_WC_RECV,
	[ROVER_CQE_RECV_WRITE_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
	[ROVER_CQE_LOCAL_INV] = IBV_WC_LOCAL_INV,
	[ROVER_CQE_BIND_MW] = IBV_WC_BIND_MW,
	[ROVER_CQE_ATOMIC_WRITE] = IBV_WC_ATOMIC_WRITE,
	[ROVER_CQE_FLUSH] = IBV_WC_FLUSH,
};

/* Without success the opcode means nothing, but is still one of verbs'. */
static enum ibv_wc_opcode wc_opcode(const struct rover_cqe *cqe)
{
	return cqe->opcode < ROVER_CQE_OPCODES ? wc_opcodes[cqe->opcode] :
						 IBV_WC_SEND;
}

static unsigned int wc_flags(const struct rover_cqe *cqe)
{
	return (cqe->flags & ROVER_CQE_WITH_IMM ? IBV_WC_WITH_IMM : 0) |
	       (cqe->flags & ROVER_CQE_WITH_INV ? IBV_WC_WITH_INV : 0) |
	       (cqe->flags & ROVER_CQE_GRH ? IBV_WC_GRH : 0);
}

/**
 * rover_cq_tell() - tell the kernel what was consumed
 * @cq: locked
 */
void rover_cq_tell(struct rover_cq *cq)
{
	if (cq->told == cq->head)
		return;
	rover_ring_consume(&cq->ring, cq->head);
	cq->told = cq->head;
}

static void consume(struct rover_cq *cq)
{
	cq->head++;
	if (cq->head - cq->told > cq->ring.entries / 4)
		rover_cq_tell(cq);
}

/*
 * The next completion. Without one, @err says whether there may ever be: the
 * completions of before an overflow are all read first.
 */
static const struct rover_cqe *peek(struct rover_cq *cq, int *err)
{
	const struct rover_cqe *cqe = NULL;

	*err = EIO;
	if (cq->broken)
		return NULL;
	cqe = rover_ring_completion(&cq->ring, cq->head);
	if (cqe || rover_ring_dead(&cq->ring))
		/* Those written before the flag are seen by now. */
		return cqe ? cqe : rover_ring_completion(&cq->ring, cq->head);
	*err = ENOENT;
	return NULL;
}

/* Index after the last completion that is there. */
static uint32_t find_tail(const struct rover_cq *cq)
{
	uint32_t index = cq->head;

	while (index - cq->head < cq->ring.entries &&
	       rover_ring_completion(&cq->ring, index))
		index++;
	return index;
}

/* All of a completion but the phase, which belongs to the place. */
static void move_cqe(struct rover_cq *cq, uint32_t to, uint32_t from)
{
	memcpy(rover_slot(&cq->ring, to), rover_slot(&cq->ring, from),
	       offsetof(struct rover_cqe, phase));
}

/**
 * rover_cq_forget() - a queue pair was reset or destroyed: take its completions out
 * @ibcq: completion queue; NULL is fine
 * @qpn: number of the queue pair, of which nothing more comes
 *
 * As hardware does, and programs rely on it: the first completion after a reset
 * is of what was posted after it. The others move up, and the room is free again.
 * What the program is being shown, between start_poll and end_poll, stays.
 */
void rover_cq_forget(struct ibv_cq *ibcq, uint32_t qpn)
{
	struct rover_cq *cq = ibcq ? to_cq(ibcq) : NULL;
	const struct rover_cqe *cqe;
	uint32_t index, freed = 0;

	if (!cq)
		return;
	rover_lock_nested(&cq->lock);
	for (index = cq->broken ? cq->head : find_tail(cq); index != cq->head;) {
		cqe = rover_slot(&cq->ring, --index);
		if (cqe->qpn == qpn && cqe != cq->current)
			freed++;
		else if (freed)
			move_cqe(cq, index + freed, index);
	}
	cq->head += freed;
	if (cq->current)
		cq->current = rover_slot(&cq->ring, cq->head);
	rover_cq_tell(cq);
	rover_unlock_nested(&cq->lock);
}

static void fill_wc(struct ibv_wc *wc, const struct rover_cqe *cqe)
{
	*wc = (struct ibv_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = wc_opcode(cqe),
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.invalidated_rkey = cqe->imm,
		.qp_num = cqe->qpn,
		.src_qp = cqe->src_qpn,
		.wc_flags = wc_flags(cqe),
		.sl = cqe->sl,
	};
}

/**
 * rover_poll_cq() - ibv_poll_cq()
 * @ibcq: completion queue
 * @num: most completions
 * @wc: for them
 *
 * Return: how many there were; -1, with errno, when the queue has overflowed
 * and what it held has been read.
 */
int rover_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct rover_cq *cq = to_cq(ibcq);
	const struct rover_cqe *cqe;
	int err = 0;
	int n;

	rover_lock(&cq->lock);
	for (n = 0; n < num; n++) {
		cqe = peek(cq, &err);
		if (!cqe)
			break;
		fill_wc(wc + n, cqe);
		consume(cq);
	}
	rover_cq_tell(cq);
	rover_unlock(&cq->lock);

	if (!n && err == EIO) {
		errno = err;
		return -1;
	}
	return n;
}

static int show(struct rover_cq *cq)
{
	int err;

	cq->current = peek(cq, &err);
	if (!cq->current)
		return err;
	cq->vcq.cq_ex.wr_id = cq->current->wr_id;
	cq->vcq.cq_ex.status = cq->current->status;
	return 0;
}

/* Without a completion there is no end_poll. */
static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct rover_cq *cq = to_cq_ex(ex);
	int err = EINVAL;

	if (attr->comp_mask)
		return err;
	rover_lock_hold(&cq->lock);
	err = show(cq);
	if (err)
		rover_lock_release(&cq->lock);
	return err;
}

/* The program calls end_poll in any case, also after the last completion. */
static int next_poll(struct ibv_cq_ex *ex)
{
	struct rover_cq *cq = to_cq_ex(ex);

	if (cq->current)
		consume(cq);
	return show(cq);
}

static void end_poll(struct ibv_cq_ex *ex)
{
	struct rover_cq *cq = to_cq_ex(ex);

	if (cq->current)
		consume(cq);
	cq->current = NULL;
	rover_cq_tell(cq);
	rover_lock_release(&cq->lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return wc_opcode(to_cq_ex(ex)->current);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
	return to_cq_ex(ex)->current->vendor_err;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
	return wc_flags(to_cq_ex(ex)->current);
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return to_cq_ex(ex)->current->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
	return to_cq_ex(ex)->current->imm;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
	return to_cq_ex(ex)->current->qpn;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
	return to_cq_ex(ex)->current->src_qpn;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
	return to_cq_ex(ex)->current->sl;
}

/* Ethernet has no local identifiers. */
static uint32_t read_slid(struct ibv_cq_ex *ex)
{
	(void)ex;
	return 0;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	(void)ex;
	return 0;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	return to_cq_ex(ex)->current->timestamp;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Age by the kernel's clock, taken off the time of day. */
static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
	return clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_MONOTONIC) -
					   to_cq_ex(ex)->current->timestamp);
}

/**
 * rover_cq_set_ops() - give an extended queue its functions
 * @cq: created
 * @wc_flags: IBV_WC_EX_WITH_* the program wants to read; the others stay NULL
 */
void rover_cq_set_ops(struct rover_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;

	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = read_completion_wallclock_ns;
}
