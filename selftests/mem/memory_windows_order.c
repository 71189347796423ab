// SPDX-License-Identifier: GPL-2.0
/*
 * memory_windows_order - memory windows bound and invalidated among other requests
 *
 *	memory_windows_order a|b PORT [order] [lookups]
 *
 * End b has the memory and binds windows to it, end a uses their keys.
 */
#include <pthread.h>
#include <string.h>

#include "lib/pattern.h"
#include "lib/window.h"

/* ---- in order with other requests ---- */

/*
 * A server binds a window for each request and sends its key; the peer writes to
 * the window and invalidates the key with its answer.  Bind and SEND are posted
 * in one list, so the SEND must not overtake the bind.
 */
static void serve(struct stage *s, int i)
{
	struct ibv_mw_bind_info info = stage_info(s, IBV_ACCESS_REMOTE_WRITE);
	struct ibv_sge to = sge_of(s->r, 0, 64), from = sge_of(s->r, 128, 12);
	uint32_t key = ibv_inc_rkey(s->mw->rkey);
	struct ibv_send_wr wr[2];
	struct ibv_wc wc;
	uint64_t addr;
	/* Every other key is invalidated here. */
	bool own = i % 2;

	info.addr += i;
	info.length = PIECE;
	addr = info.addr;
	memcpy(s->r->buf + 128, &addr, 8);
	memcpy(s->r->buf + 136, &key, 4);
	conn_recv(s->c, 9, &to, 1);
	wr[0] = wr_bind(10, s->mw, key, i % 3 ? IBV_SEND_SIGNALED : IBV_SEND_FENCE, &info);
	wr[1] = wr_send(11, &from, 1, 0);
	wr[0].next = &wr[1];
	conn_send(s->c, wr);
	s->mw->rkey = key;
	if (i % 3)
		queue_want(s->c->send, 10, IBV_WC_SUCCESS);
	queue_next(s->c->recv, &wc);
	check(s->p, wc.wr_id == 9 && !wc.status &&
	      !(wc.wc_flags & IBV_WC_WITH_INV) == own, "answer %d: \"%s\", flags 0x%x", i,
	      ibv_wc_status_str(wc.status), wc.wc_flags);
	check(s->p, own || wc.invalidated_rkey == key, "answer %d invalidates key 0x%08x", i,
	      wc.invalidated_rkey);
	stage_want(s, s->r->buf + AT + i, i, PIECE, THERE, "what was written");
	if (!own)
		return;
	wr[1] = wr_local_inv(13, key, IBV_SEND_SIGNALED | (i % 4 == 1 ? IBV_SEND_FENCE : 0));
	wr[0] = wr_rdma(12, IBV_WR_RDMA_WRITE, NULL, 0, IBV_SEND_SIGNALED, 0, 0);
	wr[0].next = &wr[1];
	conn_send(s->c, wr);
	queue_want(s->c->send, 12, IBV_WC_SUCCESS);
	queue_next(s->c->send, &wc);
	check(s->p, wc.wr_id == 13 && !wc.status && wc.opcode == IBV_WC_LOCAL_INV,
	      "invalidation %d: \"%s\", opcode %d", i, ibv_wc_status_str(wc.status), wc.opcode);
}

static void answer(struct stage *s, int i)
{
	struct ibv_sge to = sge_of(s->r, 30000, 64), from = sge_of(s->r, i, PIECE);
	struct ibv_sge little = sge_of(s->r, 0, 10);
	struct ibv_send_wr wr[2];
	uint64_t addr;
	uint32_t key;

	queue_want(s->c->recv, 9, IBV_WC_SUCCESS);
	memcpy(&addr, s->r->buf + 30000, 8);
	memcpy(&key, s->r->buf + 30008, 4);
	conn_recv(s->c, 9, &to, 1);
	wr[0] = wr_rdma(5, IBV_WR_RDMA_WRITE, &from, 1, 0, addr, key);
	wr[1] = wr_send(6, &little, 1, IBV_SEND_SIGNALED);
	if (!(i % 2)) {
		wr[1].opcode = IBV_WR_SEND_WITH_INV;
		wr[1].invalidate_rkey = key;
	}
	wr[0].next = &wr[1];
	conn_send(s->c, wr);
	queue_want(s->c->send, 6, IBV_WC_SUCCESS);
}

static void run_serve(struct pair *p, const void *arg)
{
	int i, rounds = p->quick ? 30 : 300;
	struct ibv_sge to;
	struct stage s;

	stage_open(p, &s, IBV_MW_TYPE_2, *(const bool *)arg);
	if (end_a(p)) {
		to = sge_of(s.r, 30000, 64);
		conn_recv(s.c, 9, &to, 1);
	}
	pair_sync(p);
	for (i = 0; i < rounds; i++) {
		if (end_b(p))
			serve(&s, i);
		else
			answer(&s, i);
	}
	pair_sync(p);
}

/* Requests, binds and invalidations among them, complete in order. */
static void run_list(struct pair *p, const void *arg)
{
	enum { N = 20 };
	struct ibv_send_wr wr[N];
	struct ibv_sge sge[N];
	struct region *other;
	struct ibv_wc wc;
	struct stage s;
	int i, round;

	(void)arg;
	stage_open(p, &s, IBV_MW_TYPE_2, false);
	other = region_new(p, SIZE, ALL_ACCESS);
	region_swap(p, other);
	for (round = 0; end_b(p) && round < (p->quick ? 10 : 50); round++) {
		struct ibv_mw_bind_info info = stage_info(&s, ALL_REMOTE);

		for (i = 0; i < N; i++) {
			unsigned int flags = IBV_SEND_SIGNALED;

			sge[i] = sge_of(s.r, 0, 1 + 300 * i);
			if (i % 5 == 1) {
				s.mw->rkey = ibv_inc_rkey(s.mw->rkey);
				wr[i] = wr_bind(i, s.mw, s.mw->rkey, flags, &info);
			} else if (i % 5 == 3) {
				wr[i] = wr_local_inv(i, s.mw->rkey,
						     flags | (round % 2 ? IBV_SEND_FENCE : 0));
			} else {
				wr[i] = wr_rdma(i, i % 5 == 2 ? IBV_WR_RDMA_READ :
						IBV_WR_RDMA_WRITE, &sge[i], 1, flags,
						other->peer_addr, other->peer_rkey);
			}
			wr[i].next = i + 1 < N ? &wr[i + 1] : NULL;
		}
		conn_send(s.c, wr);
		for (i = 0; i < N; i++) {
			queue_next(s.c->send, &wc);
			check(p, wc.wr_id == (uint64_t)i && !wc.status,
			      "round %d: completion %llu, \"%s\", where %d should be", round,
			      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), i);
		}
	}
	pair_sync(p);
}

/* ---- invalidated while looked up ---- */

/*
 * Invalidation waits until look-ups of the key end.  It must not run in a softirq
 * that has interrupted one, or it would wait for ever.  That is rare: it takes the
 * seconds of a full run, or lockdep.
 */
struct looker {
	struct pair *p;
	uint32_t key;
	bool over;
};

static void *look_up(void *arg)
{
	struct looker *l = arg;
	struct ibv_sge sge = { 0, 1, l->key };

	while (!__atomic_load_n(&l->over, __ATOMIC_RELAXED))
		ibv_advise_mr(l->p->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			      &sge, 1);
	return NULL;
}

/* Bind and invalidate the same key, as a stream: the kernel's poller executes it. */
static void bind_and_invalidate(struct stage *s, struct conn *c, uint32_t key)
{
	struct ibv_mw_bind_info info = stage_info(s, ALL_REMOTE);
	struct ibv_send_wr wr;
	int i, n;

	for (n = s->p->quick || s->p->slow > 1 ? 20 : 6000; n; n--) {
		for (i = 1; i <= 1000; i++) {
			wr = wr_bind(1, s->mw, key, 0, &info);
			conn_send(c, &wr);
			wr = wr_local_inv(2, key, i == 1000 ? IBV_SEND_SIGNALED : 0);
			conn_send(c, &wr);
		}
		queue_want(c->send, 2, IBV_WC_SUCCESS);
	}
}

static void run_lookups(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct looker looker = { .p = p };
	pthread_t threads[2];
	struct stage s;
	struct conn *c;
	int i;

	(void)arg;
	stage_open(p, &s, IBV_MW_TYPE_2, false);
	attr.send_wr = 2000;
	c = conn_open(p, &attr);
	if (end_b(p)) {
		looker.key = ibv_inc_rkey(s.mw->rkey);
		for (i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, look_up, &looker);
		bind_and_invalidate(&s, c, looker.key);
		__atomic_store_n(&looker.over, true, __ATOMIC_RELAXED);
		for (i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	pair_sync(p);
}

int main(int argc, char **argv)
{
	static const bool ways[] = { false, true };
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "order")) {
		pair_case(&p, run_list, NULL, "binds, invalidations and WRITEs complete in order");
		pair_case(&p, run_serve, &ways[0], "each request uses a window of its own");
		pair_case(&p, run_serve, &ways[1],
			  "each request uses a window of its own, by ibv_wr_*()");
	}
	if (pair_wants(&p, "lookups"))
		pair_case(&p, run_lookups, NULL,
			  "a window is invalidated while other processors look it up");
	return pair_close(&p);
}
