// SPDX-License-Identifier: GPL-2.0
/*
 * conn - queue pairs and completion queues of a test case
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conn.h"
#include "demand.h"
#include "pattern.h"

/* ---- completion queues ---- */

static int undo_queue(void *what)
{
	struct queue *q = what;
	int error;

	if (q->unacked)
		ibv_ack_cq_events(q->cq, q->unacked);
	error = ibv_destroy_cq(q->cq);
	if (!error && q->channel)
		error = ibv_destroy_comp_channel(q->channel);
	return error;
}

struct queue *queue_new(struct pair *p, int entries, bool extended, bool events)
{
	struct queue *q = pair_alloc(p, sizeof(*q));
	struct ibv_cq_init_attr_ex attr = {
		.cqe = entries,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_vector = p->vector,
	};

	q->p = p;
	if (events) {
		q->channel = ibv_create_comp_channel(p->ctx);
		check(p, q->channel, "ibv_create_comp_channel: %s", strerror(errno));
		fcntl(q->channel->fd, F_SETFL, fcntl(q->channel->fd, F_GETFL) | O_NONBLOCK);
		attr.channel = q->channel;
	}
	if (extended) {
		q->cqx = ibv_create_cq_ex(p->ctx, &attr);
		check(p, q->cqx, "ibv_create_cq_ex of %d: %s", entries, strerror(errno));
		q->cq = ibv_cq_ex_to_cq(q->cqx);
	} else {
		q->cq = ibv_create_cq(p->ctx, entries, NULL, q->channel, p->vector);
		check(p, q->cq, "ibv_create_cq of %d: %s", entries, strerror(errno));
	}
	check(p, q->cq->cqe >= entries, "a CQ of %d has room for %d only", entries, q->cq->cqe);
	undo_later(p, undo_queue, q, "ibv_destroy_cq");
	return q;
}

static void read_wc(struct ibv_cq_ex *cqx, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){ .wr_id = cqx->wr_id, .status = cqx->status };
	wc->qp_num = ibv_wc_read_qp_num(cqx);
	wc->vendor_err = ibv_wc_read_vendor_err(cqx);
	if (wc->status != IBV_WC_SUCCESS)
		return;
	wc->opcode = ibv_wc_read_opcode(cqx);
	wc->byte_len = ibv_wc_read_byte_len(cqx);
	wc->wc_flags = ibv_wc_read_wc_flags(cqx);
	if (wc->wc_flags & IBV_WC_WITH_INV)
		wc->invalidated_rkey = ibv_wc_read_invalidated_rkey(cqx);
	else
		wc->imm_data = ibv_wc_read_imm_data(cqx);
	wc->src_qp = ibv_wc_read_src_qp(cqx);
	wc->sl = ibv_wc_read_sl(cqx);
}

static int poll_extended(struct queue *q, struct ibv_wc *wc, int n)
{
	struct ibv_poll_cq_attr attr = {};
	int done = 0, error;

	error = ibv_start_poll(q->cqx, &attr);
	if (error == ENOENT)
		return 0;
	check(q->p, !error, "ibv_start_poll: %s", strerror(error));
	while (!error) {
		read_wc(q->cqx, wc + done);
		if (++done == n)
			break;
		error = ibv_next_poll(q->cqx);
	}
	ibv_end_poll(q->cqx);
	check(q->p, !error || error == ENOENT, "ibv_next_poll: %s", strerror(error));
	return done;
}

int queue_poll(struct queue *q, struct ibv_wc *wc, int n)
{
	if (q->cqx)
		return poll_extended(q, wc, n);
	n = ibv_poll_cq(q->cq, n, wc);
	check(q->p, n >= 0, "ibv_poll_cq returns %d", n);
	return n;
}

static bool wait_for(struct queue *q, struct ibv_wc *wc)
{
	uint64_t until = now_ms() + 8000 * q->p->slow;
	unsigned int count = 0;

	while (!queue_poll(q, wc, 1)) {
		if (now_ms() > until)
			return false;
		relax(q->p, &count);
	}
	return true;
}

void queue_next(struct queue *q, struct ibv_wc *wc)
{
	check(q->p, wait_for(q, wc), "no completion came");
}

void queue_want(struct queue *q, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	check(q->p, wait_for(q, &wc), "no completion came, where %llu with \"%s\" should",
	      (unsigned long long)wr_id, ibv_wc_status_str(status));
	check(q->p, wc.wr_id == wr_id && wc.status == status,
	      "completion %llu with \"%s\" came, not %llu with \"%s\"",
	      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
	      (unsigned long long)wr_id, ibv_wc_status_str(status));
}

void queue_quiet(struct queue *q, unsigned int ms)
{
	uint64_t until = now_ms() + ms;
	unsigned int count = 0;
	struct ibv_wc wc;

	do {
		check(q->p, !queue_poll(q, &wc, 1),
		      "completion %llu with \"%s\" came, where there should be none",
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
		relax(q->p, &count);
	} while (now_ms() < until);
}

bool queue_event(struct queue *q, unsigned int ms)
{
	struct pollfd fds = { q->channel->fd, POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fds, 1, ms) != 1)
		return false;
	check(q->p, !ibv_get_cq_event(q->channel, &cq, &context), "ibv_get_cq_event: %s",
	      strerror(errno));
	check(q->p, cq == q->cq, "event for a CQ that is not on this channel");
	q->unacked++;
	return true;
}

/* ---- connections ---- */

struct conn_attr conn_defaults(struct pair *p)
{
	struct conn_attr attr = {
		.mtu = IBV_MTU_1024,
		.send_wr = 32, .recv_wr = 128, .send_sge = 4, .recv_sge = 4,
		/* 4.096 us * 2^14 is 67 ms: emulated CPUs may stall for long. */
		.timeout = 14, .retry_cnt = 6, .min_rnr_timer = 12,
		/* 7 is unlimited: for ODP, as a page-in may take long. */
		.rnr_retry = demand_wanted() ? 7 : 6,
		.rd_atomic = 4, .dest_rd_atomic = 4,
		.access = ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE,
		.entries = 512,
		.pd = p->pd,
		.type = IBV_QPT_RC,
	};

	/* rdma_rxe's requests and answers wait for a thread to run. */
	if (p->peer_rxe)
		attr.timeout = 17;
	if (p->rxe)
		attr.retry_cnt = 7;
	return attr;
}

struct conn_attr dgram_defaults(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	attr.type = IBV_QPT_UD;
	attr.qkey = 0x11223344;
	return attr;
}

static int undo_qp(void *what)
{
	struct conn *c = what;

	return ibv_destroy_qp(c->qp);
}

#define DGRAM_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define BARE_OPS (DGRAM_OPS | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)

/* An XRC target has an XRC domain only. */
static void make_target(struct conn *c)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = c->attr.type, .xrcd = c->attr.xrcd, .comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};

	c->qp = ibv_create_qp_ex(c->p->ctx, &init);
	check(c->p, c->qp, "ibv_create_qp_ex of a target of XRC: %s", strerror(errno));
	undo_later(c->p, undo_qp, c, "ibv_destroy_qp");
}

static void make_qp(struct conn *c)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = c->send->cq, .recv_cq = c->recv->cq,
		.qp_type = c->attr.type, .sq_sig_all = c->attr.sq_sig_all,
		.cap = {
			c->attr.send_wr, c->attr.recv_wr, c->attr.send_sge,
			c->attr.recv_sge, c->attr.inline_data
		},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = c->attr.pd, .srq = c->attr.srq,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
				  IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV |
				  IBV_QP_EX_WITH_BIND_MW,
	};
	struct ibv_qp_init_attr plain = {
		.send_cq = init.send_cq, .recv_cq = init.recv_cq, .cap = init.cap,
		.qp_type = init.qp_type, .sq_sig_all = init.sq_sig_all, .srq = init.srq,
	};

	if (c->attr.type == IBV_QPT_UD)
		init.send_ops_flags = DGRAM_OPS;
	if (c->attr.type == IBV_QPT_UC)
		init.send_ops_flags = BARE_OPS;
	if (c->attr.type == IBV_QPT_RAW_PACKET)
		init.send_ops_flags = IBV_QP_EX_WITH_SEND;
	init.send_ops_flags |= c->attr.more_ops;
	if (c->attr.create_flags) {
		init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		init.create_flags = c->attr.create_flags;
	}
	if (c->attr.extended) {
		c->qp = ibv_create_qp_ex(c->p->ctx, &init);
		c->cap = init.cap;
	} else {
		c->qp = ibv_create_qp(c->attr.pd, &plain);
		c->cap = plain.cap;
	}
	check(c->p, c->qp, "ibv_create_qp%s: %s", c->attr.extended ? "_ex" : "", strerror(errno));
	if (c->attr.extended)
		c->qpx = ibv_qp_to_qp_ex(c->qp);
	undo_later(c->p, undo_qp, c, "ibv_destroy_qp");
	check(c->p, c->cap.max_send_wr >= c->attr.send_wr &&
	      c->cap.max_send_sge >= c->attr.send_sge &&
	      c->cap.max_inline_data >= c->attr.inline_data, "the QP has less room than asked for");
	/* With an SRQ the receive capabilities are undefined. */
	check(c->p, c->attr.srq || (c->cap.max_recv_wr >= c->attr.recv_wr &&
				    c->cap.max_recv_sge >= c->attr.recv_sge),
	      "the QP has less room for receives than asked for");
}

struct conn *conn_make(struct pair *p, const struct conn_attr *attr)
{
	struct conn *c = pair_alloc(p, sizeof(*c));

	c->p = p;
	c->attr = *attr;
	/* librxe before rdma-core 64 miscomputes lists of pieces of ibv_wr_*(). */
	if (p->rxe && !attr->more_ops)
		c->attr.extended = false;
	c->send = attr->send ?: queue_new(p, attr->entries, attr->extended, attr->events);
	c->recv = attr->recv ?: queue_new(p, attr->entries, attr->extended, attr->events);
	if (attr->xrcd)
		make_target(c);
	else
		make_qp(c);
	c->own = (struct conn_id){
		.qpn = c->qp->qp_num,
		/* Near the end of the 24 bits, so that many cases wrap. */
		.psn = 0xffffff - mix(c->qp->qp_num) % 64,
		.gid = p->gid,
	};
	return c;
}

void conn_meet(struct conn *c)
{
	struct ibv_ah_attr attr;

	pair_swap(c->p, &c->own, &c->peer, sizeof(c->own));
	if (c->attr.type != IBV_QPT_UD)
		return;
	attr = ah_attr_to(c->p, &c->peer.gid);
	c->ah = ah_new(c->p, c->attr.pd, &attr);
}

/* ---- address handles ---- */

static int undo_ah(void *ah)
{
	return ibv_destroy_ah(ah);
}

/*
 * The kernel waits one second for address resolution, and sends one request in that time.  If
 * the host stalls for as long, the error is one that programs have to expect.
 */
struct ibv_ah *ah_new(struct pair *p, struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah;
	int tries = 0;

	while (!(ah = ibv_create_ah(pd, attr)) && errno == ETIMEDOUT && ++tries < 3)
		note(p, "the peer's address is asked for again");
	check(p, ah, "ibv_create_ah: %s", strerror(errno));
	undo_later(p, undo_ah, ah, "ibv_destroy_ah");
	return ah;
}

struct ibv_ah_attr ah_attr_to(struct pair *p, const union ibv_gid *gid)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = *gid, .sgid_index = p->gid_index, .hop_limit = 64 },
	};
}

/* ---- states ---- */

static int dgram_step(struct conn *c, enum ibv_qp_state to, struct ibv_qp_attr *attr)
{
	switch (to) {
	case IBV_QPS_INIT:
		attr->port_num = 1;
		attr->qkey = c->attr.qkey;
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	case IBV_QPS_RTS:
		attr->sq_psn = c->own.psn;
		return IBV_QP_STATE | IBV_QP_SQ_PSN;
	default:
		return IBV_QP_STATE;
	}
}

/* A raw packet queue pair needs the port only. */
static int raw_step(enum ibv_qp_state to, struct ibv_qp_attr *attr)
{
	attr->port_num = 1;
	return to == IBV_QPS_INIT ? IBV_QP_STATE | IBV_QP_PORT : IBV_QP_STATE;
}

/* Attributes that UC must not be given */
#define ACK_ATTRS (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_TIMEOUT |		\
		   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

static int reliable_step(struct conn *c, enum ibv_qp_state to, struct ibv_qp_attr *attr);

/* Attributes of RC that this type must not be given */
static int not_for(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_UC:
		return ACK_ATTRS;
	case IBV_QPT_XRC_SEND:
		return IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPT_XRC_RECV:
		return IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	default:
		return 0;
	}
}

int conn_step(struct conn *c, enum ibv_qp_state to, struct ibv_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = to;
	if (c->attr.type == IBV_QPT_UD)
		return dgram_step(c, to, attr);
	if (c->attr.type == IBV_QPT_RAW_PACKET)
		return raw_step(to, attr);
	return reliable_step(c, to, attr) & ~not_for(c->attr.type);
}

static int reliable_step(struct conn *c, enum ibv_qp_state to, struct ibv_qp_attr *attr)
{
	switch (to) {
	case IBV_QPS_INIT:
		attr->port_num = 1;
		attr->qp_access_flags = c->attr.access;
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	case IBV_QPS_RTR:
		attr->path_mtu = c->attr.mtu;
		attr->dest_qp_num = c->peer.qpn;
		attr->rq_psn = c->peer.psn;
		attr->max_dest_rd_atomic = c->attr.dest_rd_atomic;
		attr->min_rnr_timer = c->attr.min_rnr_timer;
		attr->ah_attr = ah_attr_to(c->p, &c->peer.gid);
		return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPS_RTS:
		attr->timeout = c->attr.timeout;
		attr->retry_cnt = c->attr.retry_cnt;
		attr->rnr_retry = c->attr.rnr_retry;
		attr->sq_psn = c->own.psn;
		attr->max_rd_atomic = c->attr.rd_atomic;
		return IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
	default:
		return IBV_QP_STATE;
	}
}

int conn_modify(struct conn *c, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr;
	int mask = conn_step(c, to, &attr);

	return ibv_modify_qp(c->qp, &attr, mask);
}

void conn_ready(struct conn *c)
{
	enum ibv_qp_state to;
	int error;

	for (to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		error = conn_modify(c, to);
		check(c->p, !error, "ibv_modify_qp to state %d: %s", to, strerror(error));
	}
}

struct conn *conn_open(struct pair *p, const struct conn_attr *attr)
{
	struct conn *c = conn_make(p, attr);

	conn_meet(c);
	conn_ready(c);
	pair_sync(p);
	return c;
}

enum ibv_qp_state conn_state(struct conn *c)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int error = ibv_query_qp(c->qp, &attr, IBV_QP_STATE, &init);

	check(c->p, !error, "ibv_query_qp: %s", strerror(error));
	return attr.qp_state;
}

void conn_want_state(struct conn *c, enum ibv_qp_state state)
{
	enum ibv_qp_state is = conn_state(c);

	check(c->p, is == state, "the QP is in state %d, not %d", is, state);
}

/* ---- work requests ---- */

static int start_extended(struct ibv_qp_ex *qpx, struct ibv_send_wr *wr)
{
	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->send_flags & ~IBV_SEND_INLINE;
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qpx);
		return 0;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, wr->imm_data);
		return 0;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qpx, wr->invalidate_rkey);
		return 0;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		return 0;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
				      wr->imm_data);
		return 0;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		return 0;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		return 0;
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(qpx, wr->invalidate_rkey);
		return 0;
	case IBV_WR_BIND_MW:
		ibv_wr_bind_mw(qpx, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
		return 0;
	default:
		return EOPNOTSUPP;
	}
}

static void give_data(struct ibv_qp_ex *qpx, struct ibv_send_wr *wr)
{
	struct ibv_data_buf bufs[64];
	int i;

	if (wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == IBV_WR_BIND_MW)
		return;
	if (qpx->qp_base.qp_type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qpx, wr->qp_type.xrc.remote_srqn);
	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		if (wr->num_sge == 1)
			ibv_wr_set_sge(qpx, wr->sg_list->lkey, wr->sg_list->addr,
				       wr->sg_list->length);
		else
			ibv_wr_set_sge_list(qpx, wr->num_sge, wr->sg_list);
		return;
	}
	for (i = 0; i < wr->num_sge && i < 64; i++) {
		bufs[i].addr = (void *)(uintptr_t)wr->sg_list[i].addr;
		bufs[i].length = wr->sg_list[i].length;
	}
	if (wr->num_sge == 1)
		ibv_wr_set_inline_data(qpx, bufs->addr, bufs->length);
	else
		ibv_wr_set_inline_data_list(qpx, wr->num_sge, bufs);
}

int conn_post(struct conn *c, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad, *at;
	int error;

	for (at = wr; at && c->attr.type == IBV_QPT_XRC_SEND; at = at->next)
		if (!at->qp_type.xrc.remote_srqn)
			at->qp_type.xrc.remote_srqn = c->srqn;
	if (!c->qpx)
		return ibv_post_send(c->qp, wr, &bad);
	ibv_wr_start(c->qpx);
	for (; wr; wr = wr->next) {
		error = start_extended(c->qpx, wr);
		if (error) {
			ibv_wr_abort(c->qpx);
			return error;
		}
		if (c->attr.type == IBV_QPT_UD)
			ibv_wr_set_ud_addr(c->qpx, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
					   wr->wr.ud.remote_qkey);
		give_data(c->qpx, wr);
	}
	return ibv_wr_complete(c->qpx);
}

void conn_send(struct conn *c, struct ibv_send_wr *wr)
{
	int error = conn_post(c, wr);

	check(c->p, !error, "posting a work request: %s", strerror(error));
}

int conn_post_recv(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = n }, *bad;

	return c->attr.xrcd ? ibv_post_srq_recv(c->attr.srq, &wr, &bad) :
			      ibv_post_recv(c->qp, &wr, &bad);
}

void conn_recv(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n)
{
	int error = conn_post_recv(c, wr_id, sge, n);

	check(c->p, !error, "posting a receive: %s", strerror(error));
}

struct ibv_send_wr wr_send(uint64_t wr_id, struct ibv_sge *sge, int n, unsigned int flags)
{
	return (struct ibv_send_wr){
		.wr_id = wr_id, .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = n,
		.send_flags = flags,
	};
}

struct ibv_send_wr wr_rdma(uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge, int n,
			   unsigned int flags, uint64_t addr, uint32_t rkey)
{
	return (struct ibv_send_wr){
		.wr_id = wr_id, .opcode = opcode, .sg_list = sge, .num_sge = n,
		.send_flags = flags, .wr.rdma = { addr, rkey },
	};
}

struct ibv_send_wr wr_atomic(uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge,
			     uint64_t addr, uint32_t rkey, uint64_t compare_add, uint64_t swap)
{
	return (struct ibv_send_wr){
		.wr_id = wr_id, .opcode = opcode, .sg_list = sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED, .wr.atomic = { addr, compare_add, swap, rkey },
	};
}

struct ibv_send_wr wr_bind(uint64_t wr_id, struct ibv_mw *mw, uint32_t rkey, unsigned int flags,
			   const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .opcode = IBV_WR_BIND_MW, .send_flags = flags,
	};

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = rkey;
	wr.bind_mw.bind_info = *info;
	return wr;
}

struct ibv_send_wr wr_local_inv(uint64_t wr_id, uint32_t key, unsigned int flags)
{
	return (struct ibv_send_wr){
		.wr_id = wr_id, .opcode = IBV_WR_LOCAL_INV, .send_flags = flags,
		.invalidate_rkey = key,
	};
}

struct ibv_send_wr wr_dgram_to(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, uint64_t wr_id,
			       struct ibv_sge *sge, int n, unsigned int flags)
{
	struct ibv_send_wr wr = wr_send(wr_id, sge, n, flags);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = qkey;
	return wr;
}

struct ibv_send_wr wr_dgram(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n,
			    unsigned int flags)
{
	return wr_dgram_to(c->ah, c->peer.qpn, c->attr.qkey, wr_id, sge, n, flags);
}
