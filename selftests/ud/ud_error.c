// SPDX-License-Identifier: GPL-2.0
/*
 * ud_error - invalid datagrams are dropped by the receiver, or end in the right
 * error at the sender; states of UD queue pairs
 *
 *	ud_error a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/conn.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define ROOM 4608

static uint32_t mtu_of(struct pair *p)
{
	return 128U << p->port.active_mtu;
}

/* ---- at the receiver ---- */

/* A good datagram from a to b: shows that the queue pairs are well. */
static void one_good(struct conn *c, struct region *r, uint64_t wr_id)
{
	struct ibv_sge sge = sge_of(r, 0, end_a(c->p) ? 20 : 60);
	struct ibv_send_wr wr = wr_dgram(c, wr_id, &sge, 1, IBV_SEND_SIGNALED);

	if (end_b(c->p))
		conn_recv(c, wr_id, &sge, 1);
	pair_sync(c->p);
	if (end_a(c->p))
		conn_send(c, &wr);
	queue_want(end_a(c->p) ? c->send : c->recv, wr_id, IBV_WC_SUCCESS);
}

/* Two Q_Keys that fail, and two that do not; then a new one. */
static void run_qkey(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 100);
	const struct { uint32_t qkey; bool good; } tries[] = {
		{ attr.qkey ^ 1, false }, { 0, false }, { 0x80000000, true },
		{ attr.qkey | 0x80000000, true }, { attr.qkey, true },
	};
	struct ibv_qp_attr new = { .qkey = 0x7fffffff };
	struct ibv_send_wr wr;
	struct conn *c;
	unsigned int i;

	(void)arg;
	c = conn_open(p, &attr);
	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		if (end_b(p) && !(i && !tries[i - 1].good))
			conn_recv(c, 5, &sge, 1);
		pair_sync(p);
		if (end_a(p)) {
			wr = wr_dgram(c, i, NULL, 0, IBV_SEND_SIGNALED);
			wr.wr.ud.remote_qkey = tries[i].qkey;
			conn_send(c, &wr);
			/* The sender cannot know. */
			queue_want(c->send, i, IBV_WC_SUCCESS);
		}
		pair_sync(p);
		if (end_b(p) && tries[i].good)
			queue_want(c->recv, 5, IBV_WC_SUCCESS);
		else if (end_b(p))
			queue_quiet(c->recv, 30);
	}
	check(p, !ibv_modify_qp(c->qp, &new, IBV_QP_QKEY), "no new Q_Key in RTS");
	c->attr.qkey = new.qkey;
	one_good(c, r, 9);
}

/* Without a receive, or with a short one, a datagram is lost, without other effects. */
static void run_no_room(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, 2 * ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 101), to = sge_of(r, ROOM, GRH_BYTES + 100);
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	struct conn *c;
	size_t i;

	(void)arg;
	memset(r->buf, 0x33, r->len);
	c = conn_open(p, &attr);
	for (i = 0; i < 3 && end_a(p); i++) {
		wr = wr_dgram(c, i, &sge, 1, IBV_SEND_SIGNALED);
		conn_send(c, &wr);
		queue_want(c->send, i, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	if (end_b(p)) {
		queue_quiet(c->recv, 30);
		conn_recv(c, 4, &to, 1);
	}
	pair_sync(p);
	for (i = 101; i >= 100 && end_a(p); i--) {
		sge.length = i;
		wr = wr_dgram(c, i, &sge, 1, IBV_SEND_SIGNALED);
		conn_send(c, &wr);
		queue_want(c->send, i, IBV_WC_SUCCESS);
		queue_quiet(c->send, 20);
	}
	if (end_b(p)) {
		queue_next(c->recv, &wc);
		check(p, wc.wr_id == 4 && !wc.status && wc.byte_len == GRH_BYTES + 100,
		      "receive %llu, %s, %u bytes", (unsigned long long)wc.wr_id,
		      ibv_wc_status_str(wc.status), wc.byte_len);
		check(p, event_next(p, NULL, 0) < 0, "an event at the receiver");
		conn_want_state(c, IBV_QPS_RTS);
	}
	one_good(c, r, 9);
}

/* A receive with an invalid key is a local error of the receiver. */
static void run_bad_receive(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 200);
	struct ibv_send_wr wr;
	struct conn *c;

	(void)arg;
	c = conn_open(p, &attr);
	if (end_b(p)) {
		sge.lkey ^= 0x5555;
		conn_recv(c, 1, &sge, 1);
		sge.lkey ^= 0x5555;
		conn_recv(c, 2, &sge, 1);
	}
	pair_sync(p);
	if (end_a(p)) {
		wr = wr_dgram(c, 1, NULL, 0, IBV_SEND_SIGNALED);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		conn_want_state(c, IBV_QPS_RTS);
		return;
	}
	queue_want(c->recv, 1, IBV_WC_LOC_PROT_ERR);
	queue_want(c->recv, 2, IBV_WC_WR_FLUSH_ERR);
	conn_want_state(c, IBV_QPS_ERR);
}

/* Packets of the other service are dropped, in both directions. */
static void run_mixed(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p), rc = conn_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 100);
	struct conn *dgram, *conn;
	struct ibv_send_wr wr;
	uint32_t qpns[2], peers[2];

	(void)arg;
	rc.timeout = 10;
	rc.retry_cnt = 1;
	dgram = conn_open(p, &attr);
	conn = conn_make(p, &rc);
	qpns[0] = dgram->qp->qp_num;
	qpns[1] = conn->qp->qp_num;
	conn_meet(conn);
	pair_swap(p, qpns, peers, sizeof(qpns));
	/* Crosswise: the connection believes the datagrams' queue pair to be its peer. */
	conn->peer.qpn = peers[0];
	conn_ready(conn);
	conn_recv(dgram, 1, &sge, 1);
	conn_recv(conn, 1, &sge, 1);
	pair_sync(p);
	if (end_a(p)) {
		wr = wr_dgram_to(dgram->ah, peers[1], attr.qkey, 5, NULL, 0, IBV_SEND_SIGNALED);
		conn_send(dgram, &wr);
		queue_want(dgram->send, 5, IBV_WC_SUCCESS);
		wr = wr_send(6, NULL, 0, IBV_SEND_SIGNALED);
		conn_send(conn, &wr);
		queue_want(conn->send, 6, IBV_WC_RETRY_EXC_ERR);
	}
	pair_sync(p);
	if (end_b(p)) {
		queue_quiet(dgram->recv, 20);
		queue_quiet(conn->recv, 20);
		conn_want_state(dgram, IBV_QPS_RTS);
		conn_want_state(conn, IBV_QPS_RTS);
	}
}

/* ---- at the sender ---- */

/* The first of three fails, the others are flushed; receiving goes on; then a new start. */
static void want_sqe(struct conn *c, struct region *r, struct ibv_send_wr *bad,
		     enum ibv_wc_status status)
{
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE };
	struct ibv_sge sge = sge_of(r, 0, 20), to = sge_of(r, 1000, 60);
	struct ibv_send_wr good = wr_dgram(c, 2, &sge, 1, 0), last = good;
	struct pair *p = c->p;

	bad->next = &good;
	good.next = &last;
	last.wr_id = 3;
	if (end_b(p))
		conn_recv(c, 1, &to, 1);
	else
		conn_recv(c, 9, &to, 1);
	pair_sync(p);
	if (end_a(p)) {
		conn_send(c, bad);
		queue_want(c->send, bad->wr_id, status);
		queue_want(c->send, 2, IBV_WC_WR_FLUSH_ERR);
		queue_want(c->send, 3, IBV_WC_WR_FLUSH_ERR);
		conn_want_state(c, IBV_QPS_SQE);
		/* What is posted in SQE comes back, too. */
		good.next = NULL;
		good.wr_id = 4;
		conn_send(c, &good);
		queue_want(c->send, 4, IBV_WC_WR_FLUSH_ERR);
		check(p, event_next(p, NULL, 0) < 0, "an event");
	}
	pair_sync(p);
	if (end_b(p)) {
		queue_quiet(c->recv, 10);
		good.send_flags = IBV_SEND_SIGNALED;
		good.next = NULL;
		conn_send(c, &good);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
	} else {
		queue_want(c->recv, 9, IBV_WC_SUCCESS);
		check(p, !ibv_modify_qp(c->qp, &rts, IBV_QP_STATE | IBV_QP_CUR_STATE),
		      "no way from SQE to RTS");
		good.wr_id = 7;
		good.send_flags = IBV_SEND_SIGNALED;
		conn_send(c, &good);
		queue_want(c->send, 7, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	if (end_b(p))
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
}

struct chain {
	struct conn *c;
	struct ibv_send_wr *first;
};

static void *post_chain(void *arg)
{
	struct chain *chain = arg;

	return (void *)(intptr_t)conn_post(chain->c, chain->first);
}

/*
 * The queue pair is back in RTS at the first sign of an error, while the kernel still handles
 * the post: requests posted before are not sent, even if there are many.
 */
static void run_much(struct pair *p, const void *arg)
{
	enum { many = 3000 };
	static struct ibv_send_wr wr[many];
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 20), bad = sge;
	struct chain chain = { .first = wr };
	pthread_t thread;
	struct conn *c;
	void *error;
	int i;

	(void)arg;
	attr.send_wr = many + 1;
	attr.recv_wr = many + 1;
	attr.entries = many + 1;
	c = conn_open(p, &attr);
	for (i = 0; i < many && end_b(p); i++) {
		struct ibv_sge to = sge_of(r, 1000, 60);

		conn_recv(c, i, &to, 1);
	}
	pair_sync(p);
	if (end_b(p)) {
		queue_want(c->recv, 0, IBV_WC_SUCCESS);
		queue_quiet(c->recv, 20);
		return;
	}
	bad.lkey ^= 0x100;
	for (i = 0; i < many; i++) {
		wr[i] = wr_dgram(c, i, i ? &sge : &bad, 1, 0);
		wr[i].next = i + 1 < many ? &wr[i + 1] : NULL;
	}
	chain.c = c;
	check(p, !pthread_create(&thread, NULL, post_chain, &chain), "pthread_create");
	queue_want(c->send, 0, IBV_WC_LOC_PROT_ERR);
	check(p, !ibv_modify_qp(c->qp, &rts, IBV_QP_STATE), "no way from SQE to RTS");
	pthread_join(thread, &error);
	check(p, !error, "ibv_post_send: %s", strerror((intptr_t)error));
	for (i = 1; i < many; i++)
		queue_want(c->send, i, IBV_WC_WR_FLUSH_ERR);
	wr[0] = wr_dgram(c, many, &sge, 1, IBV_SEND_SIGNALED);
	conn_send(c, wr);
	queue_want(c->send, many, IBV_WC_SUCCESS);
}

static void run_too_long(struct pair *p, const void *extended)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, mtu_of(p) + 1);
	struct ibv_send_wr wr;
	struct conn *c;

	attr.extended = extended;
	c = conn_open(p, &attr);
	wr = wr_dgram(c, 1, &sge, 1, 0);
	want_sqe(c, r, &wr, IBV_WC_LOC_LEN_ERR);
	/* Much too long: in several pieces. */
	struct ibv_sge many[4] = { sge, sge, sge, sge };

	wr = wr_dgram(c, 1, many, 4, 0);
	want_sqe(c, r, &wr, IBV_WC_LOC_LEN_ERR);
}

static void run_bad_memory(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 100);
	struct ibv_send_wr wr;
	struct conn *c;

	(void)arg;
	c = conn_open(p, &attr);
	sge.lkey ^= 0x100;
	wr = wr_dgram(c, 1, &sge, 1, 0);
	want_sqe(c, r, &wr, IBV_WC_LOC_PROT_ERR);
	sge = sge_of(r, r->len - 50, 51);
	wr = wr_dgram(c, 1, &sge, 1, 0);
	want_sqe(c, r, &wr, IBV_WC_LOC_PROT_ERR);
}

static int dealloc_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

/* libibverbs' part and the provider's number after it: all there is of an address handle. */
union shadow {
	struct ibv_ah ah;
	uint8_t bytes[sizeof(struct ibv_ah) + 16];
	struct { struct ibv_ah ah; uint32_t number; } rover;
};

/* Address handles of another domain, destroyed ones, and invalid numbers. */
static void run_bad_ah(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_pd *pd = ibv_alloc_pd(p->ctx);
	static const uint32_t numbers[] = { 0, 1, 0x7fffffff, 0xffffffff };
	struct ibv_ah_attr ah_attr;
	union shadow shadow;
	struct ibv_send_wr wr;
	struct ibv_ah *ah;
	struct conn *c;
	unsigned int i;

	(void)arg;
	check(p, pd, "ibv_alloc_pd");
	undo_later(p, dealloc_pd, pd, "ibv_dealloc_pd");
	c = conn_open(p, &attr);
	ah_attr = ah_attr_to(p, &c->peer.gid);
	wr = wr_dgram_to(ah_new(p, pd, &ah_attr), c->peer.qpn, attr.qkey, 1, NULL, 0, 0);
	want_sqe(c, r, &wr, IBV_WC_LOC_QP_OP_ERR);

	ah = ah_new(p, p->pd, &ah_attr);
	memcpy(&shadow, ah, sizeof(shadow.rover));
	undo_now(p, ah);
	wr = wr_dgram_to(&shadow.ah, c->peer.qpn, attr.qkey, 1, NULL, 0, 0);
	want_sqe(c, r, &wr, IBV_WC_LOC_QP_OP_ERR);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		shadow.rover.number = numbers[i];
		wr = wr_dgram_to(&shadow.ah, c->peer.qpn, attr.qkey, 1, NULL, 0, 0);
		want_sqe(c, r, &wr, IBV_WC_LOC_QP_OP_ERR);
	}
	/* A queue pair number has 24 bits. */
	wr = wr_dgram_to(c->ah, 0x1000000 | c->peer.qpn, attr.qkey, 1, NULL, 0, 0);
	want_sqe(c, r, &wr, IBV_WC_LOC_QP_OP_ERR);
}

struct churn {
	struct pair *p;
	struct ibv_ah_attr attr;
	atomic_uint number;
	atomic_bool stop;
	atomic_int failed;
};

/* Makes address handles and destroys each when the next one is there, as fast as it can. */
static void *churn_thread(void *what)
{
	struct churn *churn = what;
	struct ibv_ah *ah, *before = NULL;

	while (!churn->stop) {
		ah = ibv_create_ah(churn->p->pd, &churn->attr);
		if (!ah) {
			churn->failed = errno;
			break;
		}
		churn->number = ((union shadow *)ah)->rover.number;
		if (before && ibv_destroy_ah(before))
			churn->failed = EBUSY;
		before = ah;
	}
	if (before && ibv_destroy_ah(before))
		churn->failed = EBUSY;
	return NULL;
}

/* Datagrams to address handles that are being destroyed are sent, or fail. */
static void run_churn(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct churn churn = { .p = p };
	int i, n = p->quick ? 300 : 3000, good = 0;
	unsigned int count = 0;
	union shadow shadow;
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	pthread_t thread;
	struct conn *c;

	(void)arg;
	attr.sq_sig_all = true;
	c = conn_open(p, &attr);
	churn.attr = ah_attr_to(p, &c->peer.gid);
	if (end_a(p)) {
		memcpy(&shadow, c->ah, sizeof(shadow.rover));
		check(p, !pthread_create(&thread, NULL, churn_thread, &churn), "pthread_create");
		while (!churn.number && !churn.failed)
			relax(p, &count);
		for (i = 0; i < n && !churn.failed; i++) {
			shadow.rover.number = churn.number;
			wr = wr_dgram_to(&shadow.ah, c->peer.qpn, attr.qkey, i, NULL, 0, 0);
			conn_send(c, &wr);
			queue_next(c->send, &wc);
			if (wc.status != IBV_WC_SUCCESS && wc.status != IBV_WC_LOC_QP_OP_ERR)
				break;
			good += !wc.status;
			if (wc.status && ibv_modify_qp(c->qp, &rts, IBV_QP_STATE))
				break;
		}
		churn.stop = true;
		pthread_join(thread, NULL);
		check(p, !churn.failed, "making address handles: %s", strerror(churn.failed));
		check(p, i == n, "datagram %d: %s", i, ibv_wc_status_str(wc.status));
		check(p, good, "none of %d was sent", n);
		note(p, "%d of %d were sent", good, n);
	}
	one_good(c, r, 9);
}

/* Operations of other services, and invalid address handles, are refused at once. */
static void run_refused(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct ibv_ah_attr good, bad;
	struct ibv_send_wr wr;
	struct conn *c;
	int i;

	(void)arg;
	c = conn_open(p, &attr);
	for (i = 0; i < 4; i++) {
		static const enum ibv_wr_opcode opcodes[] = {
			IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
			IBV_WR_SEND_WITH_INV,
		};

		wr = wr_dgram(c, 1, &sge, 1, IBV_SEND_SIGNALED);
		wr.opcode = opcodes[i];
		check(p, conn_post(c, &wr) == EINVAL, "opcode %d is accepted", opcodes[i]);
	}
	wr = wr_dgram(c, 1, &sge, 1, IBV_SEND_SIGNALED);
	wr.wr.ud.ah = NULL;
	check(p, conn_post(c, &wr) == EINVAL, "a datagram to nowhere is accepted");
	good = ah_attr_to(p, &c->peer.gid);
	for (i = 0; i < 5; i++) {
		struct ibv_ah *ah;

		bad = good;
		if (i == 0)
			bad.is_global = 0;
		if (i == 1)
			bad.port_num = 2;
		if (i == 2)
			bad.grh.sgid_index = 250;
		if (i == 3)
			memset(&bad.grh.dgid, 0, sizeof(bad.grh.dgid));
		if (i == 4)
			bad.sl = 16;
		ah = ibv_create_ah(p->pd, &bad);
		check(p, !ah, "bad attributes number %d are accepted", i);
	}
	one_good(c, r, 9);
}

/* A datagram to the broadcast address of the subnet is done, but does not leave. */
static void run_broadcast(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct ibv_ah_attr ah_attr;
	struct ibv_send_wr wr;
	struct conn *c;

	(void)arg;
	c = conn_open(p, &attr);
	if (end_a(p)) {
		ah_attr = ah_attr_to(p, &c->peer.gid);
		check(p, ah_attr.grh.dgid.raw[10] == 0xff, "the peer's GID is not that of IPv4");
		ah_attr.grh.dgid.raw[15] = 0xff;
		wr = wr_dgram_to(ah_new(p, p->pd, &ah_attr), c->peer.qpn, attr.qkey, 1, &sge, 1,
				 IBV_SEND_SIGNALED);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	}
	one_good(c, r, 9);
}

/* ---- states ---- */

struct step {
	enum ibv_qp_state to;
	int mask;
	bool good;
};

static void run_states(struct pair *p, const void *arg)
{
	const int init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	const struct step steps[] = {
		{ IBV_QPS_INIT, init & ~IBV_QP_QKEY, false },
		{ IBV_QPS_INIT, init & ~IBV_QP_PORT, false },
		{ IBV_QPS_INIT, init & ~IBV_QP_PKEY_INDEX, false },
		{ IBV_QPS_INIT, init | IBV_QP_ACCESS_FLAGS, false },
		{ IBV_QPS_RTR, 0, false },
		{ IBV_QPS_INIT, init, true },
		{ IBV_QPS_INIT, IBV_QP_QKEY, true },
		{ IBV_QPS_RTS, IBV_QP_SQ_PSN, false },
		{ IBV_QPS_RTR, IBV_QP_AV, false },
		{ IBV_QPS_RTR, IBV_QP_DEST_QPN, false },
		{ IBV_QPS_RTR, IBV_QP_PKEY_INDEX | IBV_QP_QKEY, true },
		{ IBV_QPS_RTS, 0, false },
		{ IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT, false },
		{ IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_QKEY, true },
		{ IBV_QPS_RTS, IBV_QP_QKEY, true },
		{ IBV_QPS_INIT, init, false },
		{ IBV_QPS_SQD, 0, true },
		{ IBV_QPS_RTS, IBV_QP_QKEY, true },
		{ IBV_QPS_ERR, 0, true },
		{ IBV_QPS_RTS, 0, false },
		{ IBV_QPS_RESET, 0, true },
	};
	struct conn_attr attr = dgram_defaults(p);
	struct conn *c = conn_make(p, &attr);
	enum ibv_qp_state is = IBV_QPS_RESET;
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr qp_attr;
	unsigned int i;
	int error;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		qp_attr = (struct ibv_qp_attr){
			.qp_state = steps[i].to, .port_num = 1, .qkey = 100 + i, .sq_psn = 5,
		};
		error = ibv_modify_qp(c->qp, &qp_attr, IBV_QP_STATE | steps[i].mask);
		check(p, steps[i].good ? !error : error == EINVAL, "step %u, to state %d: %s", i,
		      steps[i].to, strerror(error));
		if (steps[i].good)
			is = steps[i].to;
		conn_want_state(c, is);
		if (!steps[i].good || !(steps[i].mask & IBV_QP_QKEY))
			continue;
		error = ibv_query_qp(c->qp, &qp_attr, IBV_QP_QKEY, &init_attr);
		check(p, !error && qp_attr.qkey == 100 + i, "step %u: Q_Key %u", i, qp_attr.qkey);
	}
}

/* Posted early, drained, flushed, reset and used again. */
static void run_life(struct pair *p, const void *arg)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_RTS };
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 60);
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr now;
	struct ibv_send_wr wr;
	struct conn *c = conn_make(p, &attr);

	(void)arg;
	check(p, conn_post_recv(c, 1, &sge, 1), "a receive is accepted in RESET");
	conn_meet(c);
	wr = wr_dgram(c, 1, NULL, 0, IBV_SEND_SIGNALED);
	check(p, !conn_modify(c, IBV_QPS_INIT), "no way to INIT");
	conn_recv(c, 1, &sge, 1);
	check(p, conn_post(c, &wr), "a send is accepted in INIT");
	check(p, !conn_modify(c, IBV_QPS_RTR), "no way to RTR");
	check(p, conn_post(c, &wr), "a send is accepted in RTR");
	if (end_a(p))
		check(p, !conn_modify(c, IBV_QPS_RTS), "no way to RTS");
	pair_sync(p);
	/* One that only receives need not be in RTS. */
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		check(p, !ibv_query_qp(c->qp, &now, IBV_QP_SQ_PSN, &init_attr) &&
		      now.sq_psn == c->own.psn, "the PSN is %u, not %u as it was set",
		      now.sq_psn, c->own.psn);
		check(p, !ibv_modify_qp(c->qp, &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		      "no way to SQD");
		check(p, event_wait(p, IBV_EVENT_SQ_DRAINED, c->qp, 3000 * p->slow), "not drained");
		wr.wr_id = 2;
		conn_send(c, &wr);
		queue_quiet(c->send, 30);
		check(p, !ibv_modify_qp(c->qp, &to, IBV_QP_STATE), "no way back to RTS");
		queue_want(c->send, 2, IBV_WC_SUCCESS);
	} else {
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
		check(p, !conn_modify(c, IBV_QPS_RTS), "no way to RTS");
	}
	pair_sync(p);
	conn_recv(c, 3, &sge, 1);
	to.qp_state = IBV_QPS_ERR;
	check(p, !ibv_modify_qp(c->qp, &to, IBV_QP_STATE), "no way to ERR");
	wr.wr_id = 5;
	conn_send(c, &wr);
	conn_recv(c, 4, &sge, 1);
	queue_want(c->send, 5, IBV_WC_WR_FLUSH_ERR);
	if (end_a(p))
		queue_want(c->recv, 1, IBV_WC_WR_FLUSH_ERR);
	queue_want(c->recv, 3, IBV_WC_WR_FLUSH_ERR);
	queue_want(c->recv, 4, IBV_WC_WR_FLUSH_ERR);
	check(p, !conn_modify(c, IBV_QPS_RESET), "no way to RESET");
	conn_ready(c);
	one_good(c, r, 9);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "receiver")) {
		pair_case(&p, run_qkey, NULL,
			  "wrong Q_Keys are dropped, own and new ones accepted");
		pair_case(&p, run_no_room, NULL,
			  "datagrams without a receive, and with a short one, are dropped");
		pair_case(&p, run_bad_receive, NULL,
			  "a receive into an invalid region ends its queue pair");
		pair_case(&p, run_mixed, NULL,
			  "RC packets to UD, and UD packets to RC, are dropped");
	}
	if (pair_wants(&p, "sender")) {
		pair_case(&p, run_too_long, NULL, "a datagram longer than the MTU is refused");
		pair_case(&p, run_too_long, &p,
			  "a datagram longer than the MTU is refused, by ibv_wr_*()");
		pair_case(&p, run_bad_memory, NULL, "a datagram from an invalid region is refused");
		pair_case(&p, run_much, NULL, "3000 requests posted behind an error are flushed");
		pair_case(&p, run_bad_ah, NULL,
			  "foreign, destroyed and invalid address handles are refused");
		pair_case(&p, run_churn, NULL, "address handles are destroyed while in use");
		pair_case(&p, run_refused, NULL, "RC operations and invalid addresses are refused");
	}
	if (pair_wants(&p, "broadcast"))
		pair_case(&p, run_broadcast, NULL, "a datagram to a broadcast address is done");
	if (pair_wants(&p, "states")) {
		pair_case(&p, run_states, NULL, "each state change needs its attributes");
		pair_case(&p, run_life, NULL,
			  "a UD queue pair is drained, flushed, reset and used again");
	}
	return pair_close(&p);
}
