// SPDX-License-Identifier: GPL-2.0
/*
 * rc_limit - CQ overflow, objects in use, device limits
 *
 *	rc_limit a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/conn.h"

static int destroy_channel(void *channel)
{
	return ibv_destroy_comp_channel(channel);
}

/* ---- overflow ---- */

/* As many completions as the CQ holds, none of them read: all are there. */
static void run_full(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct queue *q = queue_new(p, 4, false, false);
	int i, n = q->cq->cqe, event;
	struct ibv_send_wr wr;
	struct conn *c;

	(void)arg;
	attr.send = q;
	attr.send_wr = n;
	c = conn_open(p, &attr);
	region_swap(p, r);
	if (end_b(p))
		return;
	for (i = 0; i < n; i++) {
		wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			     r->peer_rkey);
		conn_send(c, &wr);
	}
	event = event_next(p, NULL, 50);
	check(p, event < 0, "event \"%s\"", ibv_event_type_str(event));
	for (i = 0; i < n; i++)
		queue_want(q, i, IBV_WC_SUCCESS);
	conn_want_state(c, IBV_QPS_RTS);
}

/*
 * More completions than the CQ holds: IBV_EVENT_CQ_ERR, and each queue pair of the CQ fails.
 * Others are not affected.
 */
static void run_overflow(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p), small = attr;
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct queue *q = queue_new(p, 4, false, false);
	struct conn *c, *bystander;
	struct ibv_send_wr wr;
	bool cq_err = false, qp_err = false;
	struct ibv_qp *qp;
	int i, n = q->cq->cqe + *(const int *)arg, event, posted = 0;

	small.send = q;
	small.send_wr = n;
	c = conn_open(p, &small);
	bystander = conn_open(p, &attr);
	region_swap(p, r);
	for (i = 0; i < n && end_a(p); i++) {
		wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			     r->peer_rkey);
		/* Towards the end the queue pair may be in error already. */
		posted += !conn_post(c, &wr);
	}
	if (end_b(p))
		return;
	check(p, posted > q->cq->cqe, "only %d of %d requests can be posted", posted, n);
	while ((!cq_err || !qp_err) && (event = event_next(p, &qp, 3000 * p->slow)) >= 0) {
		cq_err |= event == IBV_EVENT_CQ_ERR;
		qp_err |= event == IBV_EVENT_QP_FATAL && qp == c->qp;
	}
	check(p, cq_err, "no event IBV_EVENT_CQ_ERR");
	check(p, qp_err, "no event IBV_EVENT_QP_FATAL");
	conn_want_state(c, IBV_QPS_ERR);
	wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr, r->peer_rkey);
	conn_send(bystander, &wr);
	queue_want(bystander->send, 1, IBV_WC_SUCCESS);
}

/* ---- in use ---- */

static void run_busy(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->ctx);
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);
	struct ibv_cq *cq;
	struct conn *c;
	int error;

	(void)arg;
	(void)r;
	check(p, channel, "ibv_create_comp_channel: %s", strerror(errno));
	undo_later(p, destroy_channel, channel, "ibv_destroy_comp_channel");
	cq = ibv_create_cq(p->ctx, 5, NULL, channel, 0);
	check(p, cq, "ibv_create_cq: %s", strerror(errno));
	error = ibv_destroy_comp_channel(channel);
	check(p, error == EBUSY, "a channel with a CQ is destroyed: %s", strerror(error));
	check(p, !ibv_destroy_cq(cq), "ibv_destroy_cq fails");
	c = conn_open(p, &attr);
	conn_recv(c, 1, NULL, 0);
	error = ibv_dealloc_pd(p->pd);
	check(p, error == EBUSY, "a PD with a QP is deallocated: %s", strerror(error));
	error = ibv_destroy_cq(c->send->cq);
	check(p, error == EBUSY, "a CQ with a QP is destroyed: %s", strerror(error));
	error = ibv_destroy_cq(c->recv->cq);
	check(p, error == EBUSY, "a CQ with a QP is destroyed: %s", strerror(error));
	pair_sync(p);
	/* And all of it still works. */
	conn_send(c, &wr);
	queue_want(c->send, 1, IBV_WC_SUCCESS);
	queue_want(c->recv, 1, IBV_WC_SUCCESS);
	pair_sync(p);
	undo_now(p, c);
	error = ibv_dealloc_pd(p->pd);
	check(p, error == EBUSY, "a PD with an MR is deallocated: %s", strerror(error));
}

/* ---- too much ---- */

static void want_no_qp(struct pair *p, struct queue *q, struct ibv_qp_cap cap, const char *what)
{
	struct ibv_qp_init_attr init = {
		.send_cq = q->cq, .recv_cq = q->cq, .qp_type = IBV_QPT_RC, .cap = cap,
	};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &init);

	if (qp)
		ibv_destroy_qp(qp);
	check(p, !qp, "a QP with too %s can be made", what);
	check(p, errno == EINVAL || errno == ENOMEM, "a QP with too %s: %s", what,
	      strerror(errno));
}

static void run_limits(struct pair *p, const void *arg)
{
	struct queue *q = queue_new(p, 1, false, false);
	uint32_t wr = p->attr.max_qp_wr, sge = p->attr.max_sge;
	struct ibv_cq *cq;

	(void)arg;
	want_no_qp(p, q, (struct ibv_qp_cap){ wr + 1, 1, 1, 1, 0 }, "long a send queue");
	want_no_qp(p, q, (struct ibv_qp_cap){ 1, wr + 1, 1, 1, 0 }, "long a receive queue");
	want_no_qp(p, q, (struct ibv_qp_cap){ 1, 1, sge + 1, 1, 0 }, "many gather entries");
	want_no_qp(p, q, (struct ibv_qp_cap){ 1, 1, 1, sge + 1, 0 }, "many scatter entries");
	want_no_qp(p, q, (struct ibv_qp_cap){ 1, 1, 1, 1, 1 << 20 }, "much inline data");
	want_no_qp(p, q, (struct ibv_qp_cap){ -1, -1, -1, -1, -1 }, "much of everything");
	cq = ibv_create_cq(p->ctx, p->attr.max_cqe + 1, NULL, NULL, 0);
	check(p, !cq && errno == EINVAL, "a CQ longer than max_cqe can be made");
	cq = ibv_create_cq(p->ctx, 0, NULL, NULL, 0);
	check(p, !cq && errno == EINVAL, "a CQ of no entries can be made");
	cq = ibv_create_cq(p->ctx, 1, NULL, NULL, p->ctx->num_comp_vectors);
	check(p, !cq && errno == EINVAL, "a CQ can be made on a vector that is not there");
}

/* Queries and address handles with valid and invalid arguments. */
static void run_queries(struct pair *p, const void *arg)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = p->gid, .sgid_index = p->gid_index, .hop_limit = 64 },
	};
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct ibv_ah *ah;
	__be16 pkey;

	(void)arg;
	check(p, !ibv_query_pkey(p->ctx, 1, 0, &pkey) && pkey == 0xffff, "P_Key 0 is 0x%x", pkey);
	check(p, ibv_query_pkey(p->ctx, 1, p->port.pkey_tbl_len, &pkey),
	      "there are more than %u P_Keys", p->port.pkey_tbl_len);
	check(p, ibv_query_port(p->ctx, 0, &port) && ibv_query_port(p->ctx, 2, &port),
	      "there is a port 0 or 2");
	check(p, ibv_query_gid(p->ctx, 1, p->port.gid_tbl_len, &gid),
	      "there are more than %d GIDs", p->port.gid_tbl_len);
	ah = ibv_create_ah(p->pd, &attr);
	check(p, ah, "ibv_create_ah: %s", strerror(errno));
	check(p, !ibv_destroy_ah(ah), "ibv_destroy_ah fails");
	attr.is_global = 0;
	ah = ibv_create_ah(p->pd, &attr);
	check(p, !ah, "an address handle without a GID can be made");
	attr.is_global = 1;
	attr.grh.sgid_index = p->port.gid_tbl_len - 1;
	ah = ibv_create_ah(p->pd, &attr);
	check(p, !ah, "an address handle with a GID that is not there can be made");
}

/* All device limits at once. */
static void run_maximum(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct queue *q;

	(void)arg;
	attr.send_sge = p->attr.max_sge;
	attr.recv_sge = p->attr.max_sge;
	attr.send_wr = p->attr.max_qp_wr < 4096 ? p->attr.max_qp_wr : 4096;
	attr.recv_wr = attr.send_wr;
	attr.rd_atomic = p->attr.max_qp_init_rd_atom;
	attr.dest_rd_atomic = p->attr.max_qp_rd_atom;
	if (p->attr.max_qp_init_rd_atom > 255)
		attr.rd_atomic = 255;
	if (p->attr.max_qp_rd_atom > 255)
		attr.dest_rd_atomic = 255;
	conn_open(p, &attr);
	q = queue_new(p, p->quick ? 10000 : 200000, false, false);
	undo_now(p, q);
}

/* Error 0: any will do. */
static void want_no_mr(struct pair *p, void *buf, size_t len, int access, int error,
		       const char *what)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, buf, len, access);

	if (mr)
		ibv_dereg_mr(mr);
	check(p, !mr, "%s can be registered", what);
	check(p, !error || errno == error, "%s: %s, not %s", what, strerror(errno),
	      strerror(error));
}

static void run_bad_memory(struct pair *p, const void *arg)
{
	char *map = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *fixed;
	struct ibv_mr *mr;

	(void)arg;
	fixed = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(p, map != MAP_FAILED && fixed != MAP_FAILED, "mmap: %s", strerror(errno));
	munmap(map + 8192, 4096);
	want_no_mr(p, map, 12288, IBV_ACCESS_LOCAL_WRITE, EFAULT, "memory with a hole");
	want_no_mr(p, map + 8192, 1, 0, EFAULT, "a byte that is not there");
	want_no_mr(p, map, -4096UL, 0, 0, "almost all there is");
	want_no_mr(p, fixed, 4096, IBV_ACCESS_LOCAL_WRITE, EFAULT, "read-only memory to write to");
	/* IBTA 10.6.3.1: remote write or atomic access wants local write access. */
	want_no_mr(p, map, 4096, IBV_ACCESS_REMOTE_WRITE, EINVAL,
		   "remote write without local write");
	want_no_mr(p, map, 4096, IBV_ACCESS_REMOTE_ATOMIC, EINVAL,
		   "remote atomic without local write");
	mr = ibv_reg_mr(p->pd, fixed, 4096, IBV_ACCESS_REMOTE_READ);
	check(p, mr, "read-only memory to read from: %s", strerror(errno));
	ibv_dereg_mr(mr);
	munmap(map, 8192);
	munmap(fixed, 4096);
}

int main(int argc, char **argv)
{
	static const int more[] = { 1, 4 };
	struct pair p;
	int i;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "overflow"))
		pair_case(&p, run_full, NULL, "a CQ holds as many completions as it says");
	for (i = 0; i < 2 && pair_wants(&p, "overflow"); i++)
		pair_case(&p, run_overflow, &more[i],
			  "a CQ overflow by %d affects only its queue pairs", more[i]);
	if (pair_wants(&p, "limits")) {
		pair_case(&p, run_busy, NULL, "objects in use cannot be destroyed");
		pair_case(&p, run_limits, NULL, "requests beyond the device limits are refused");
		pair_case(&p, run_queries, NULL,
			  "queries of P_Keys, ports and GIDs, and address handles");
		pair_case(&p, run_maximum, NULL, "a queue pair with all device limits at once");
		pair_case(&p, run_bad_memory, NULL, "memory that cannot be registered is refused");
	}
	return pair_close(&p);
}
