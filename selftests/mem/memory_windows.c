// SPDX-License-Identifier: GPL-2.0
/*
 * memory_windows - memory windows of both types: access, binding, invalidation
 *
 *	memory_windows a|b PORT [uses] [misuse] [wrong]
 *
 * End b has the memory and binds windows to it, end a uses their keys.
 */
#include <errno.h>
#include <string.h>

#include "lib/pattern.h"
#include "lib/window.h"

/* ---- access that is allowed ---- */

struct kind {
	enum ibv_mw_type type;
	bool extended, zero_based;
};

/* WRITE the beginning of the window, READ its end to the last byte, add to a word. */
static void use(struct stage *s, struct conn *c, uint64_t addr, uint32_t key)
{
	struct ibv_sge sge = sge_of(s->r, 0, PIECE);
	struct ibv_send_wr wr;

	wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, addr, key);
	conn_send(c, &wr);
	queue_want(c->send, 1, IBV_WC_SUCCESS);
	sge = sge_of(s->r, 20000, PIECE);
	wr = wr_rdma(2, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, addr + LEN - PIECE, key);
	conn_send(c, &wr);
	queue_want(c->send, 2, IBV_WC_SUCCESS);
	stage_want(s, s->r->buf + 20000, AT + LEN - PIECE, PIECE, HERE, "READ");
	sge = sge_of(s->r, 30000, 8);
	wr = wr_atomic(3, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, addr + 8, key, 5, 0);
	conn_send(c, &wr);
	queue_want(c->send, 3, IBV_WC_SUCCESS);
	check(s->p, !memcmp(s->r->buf + 8, s->r->buf + 30000, 8), "FETCH_AND_ADD: wrong result");
}

/* The memory has what use() wrote, and nothing else has changed. */
static void judge(struct stage *s)
{
	uint8_t right[PIECE];
	uint64_t word;

	pattern_fill(right, PIECE, THERE);
	memcpy(&word, right + 8, 8);
	word += 5;
	memcpy(right + 8, &word, 8);
	check(s->p, !memcmp(s->r->buf + AT, right, PIECE), "wrong data in the window");
	stage_want(s, s->r->buf, 0, AT, HERE, "before the window");
	stage_want(s, s->r->buf + AT + PIECE, AT + PIECE, SIZE - AT - PIECE, HERE, "behind it");
}

static void run_use(struct pair *p, const void *arg)
{
	const struct kind *k = arg;
	struct ibv_mw_bind_info info;
	struct stage s;
	uint64_t addr;
	uint32_t key;

	stage_open(p, &s, k->type, k->extended);
	if (end_b(p)) {
		info = stage_info(&s, ALL_REMOTE | (k->zero_based ? IBV_ACCESS_ZERO_BASED : 0));
		stage_bind(&s, s.c, s.mw, &info);
	}
	stage_show(&s, k->zero_based ? 0 : (uintptr_t)s.r->buf + AT, end_b(p) ? s.mw->rkey : 0,
		   &addr, &key);
	if (end_a(p))
		use(&s, s.c, addr, key);
	pair_sync(p);
	if (end_b(p))
		judge(&s);
}

/* Each binding has a new key, and the region stays busy as long as a window is bound. */
static void run_again(struct pair *p, const void *arg)
{
	enum ibv_mw_type type = *(const enum ibv_mw_type *)arg;
	struct ibv_mw_bind_info info;
	struct ibv_send_wr wr;
	struct stage s;
	uint64_t addr;
	uint32_t key;
	int i, error;

	stage_open(p, &s, type, false);
	for (i = 0; end_b(p) && i < 3; i++) {
		info = stage_info(&s, ALL_REMOTE);
		info.length = i < 2 ? 10 : LEN;
		stage_bind(&s, s.c, s.mw, &info);
		error = ibv_dereg_mr(s.mr);
		check(p, error == EBUSY, "ibv_dereg_mr under a window: %s", strerror(error));
		error = ibv_rereg_mr(s.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		check(p, error, "ibv_rereg_mr works under a window");
		if (i == 2 || type == IBV_MW_TYPE_1)
			continue;
		wr = wr_local_inv(8, s.mw->rkey, IBV_SEND_SIGNALED);
		conn_send(s.c, &wr);
		queue_want(s.c->send, 8, IBV_WC_SUCCESS);
	}
	stage_show(&s, (uintptr_t)s.r->buf + AT, end_b(p) ? s.mw->rkey : 0, &addr, &key);
	if (end_a(p))
		use(&s, s.c, addr, key);
	pair_sync(p);
	if (end_b(p)) {
		judge(&s);
		undo_now(p, s.mw);
		undo_now(p, s.mr);
	}
}

/* Open a stage with a bound window, and another connection in the same domain. */
static struct conn *open_two(struct pair *p, struct stage *s, enum ibv_mw_type type)
{
	struct conn_attr attr = conn_defaults(p);
	struct ibv_mw_bind_info info;
	struct conn *other;

	stage_open(p, s, type, false);
	other = conn_open(p, &attr);
	if (end_b(p)) {
		info = stage_info(s, ALL_REMOTE);
		stage_bind(s, s->c, s->mw, &info);
	}
	return other;
}

/* Access through the queue pair that binds, and through another one. */
static void run_other_qp(struct pair *p, const void *arg)
{
	enum ibv_mw_type type = *(const enum ibv_mw_type *)arg;
	struct ibv_send_wr wr;
	struct conn *other;
	struct ibv_sge sge;
	struct stage s;
	uint64_t addr;
	uint32_t key;

	other = open_two(p, &s, type);
	stage_show(&s, (uintptr_t)s.r->buf + AT, end_b(p) ? s.mw->rkey : 0, &addr, &key);
	if (end_a(p)) {
		use(&s, s.c, addr, key);
		sge = sge_of(s.r, 0, 100);
		wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, addr, key);
		conn_send(other, &wr);
		queue_want(other->send, 1, type == IBV_MW_TYPE_1 ? IBV_WC_SUCCESS :
			   IBV_WC_REM_ACCESS_ERR);
	}
	pair_sync(p);
}

/* ---- access that is refused ---- */

enum flaw {
	BEFORE, BEHIND, NO_WRITE, NO_READ, NO_ATOMIC, UNBOUND, OLD_KEY, INVALIDATED, TAKEN_BACK,
	GONE, AS_REGION,
};

static const char *const flaw_names[] = {
	[BEFORE] = "access to a byte before a window fails",
	[BEHIND] = "access to a byte behind a window fails",
	[NO_WRITE] = "WRITE to a window without that right fails",
	[NO_READ] = "READ from a window without that right fails",
	[NO_ATOMIC] = "an atomic in a window without that right fails",
	[UNBOUND] = "access to an unbound window fails",
	[OLD_KEY] = "access by the key before the last binding fails",
	[INVALIDATED] = "access to an invalidated window fails",
	[TAKEN_BACK] = "access to a window after SEND with invalidate fails",
	[GONE] = "access to a deallocated window fails",
	[AS_REGION] = "access by the key of the region fails",
};

struct misuse {
	enum ibv_mw_type type;
	enum flaw flaw;
};

/* End b prepares its window; return the key that end a uses. */
static uint32_t spoil(struct stage *s, enum flaw flaw)
{
	unsigned int access = ALL_REMOTE;
	struct ibv_mw_bind_info info;
	struct ibv_send_wr wr;
	uint32_t key;

	access &= ~(flaw == NO_WRITE ? IBV_ACCESS_REMOTE_WRITE :
		    flaw == NO_READ ? IBV_ACCESS_REMOTE_READ :
		    flaw == NO_ATOMIC ? IBV_ACCESS_REMOTE_ATOMIC : 0);
	info = stage_info(s, access);
	stage_bind(s, s->c, s->mw, &info);
	key = s->mw->rkey;
	if (flaw == UNBOUND) {
		info = (struct ibv_mw_bind_info){ 0 };
		stage_bind(s, s->c, s->mw, &info);
		key = s->mw->rkey;
	} else if (flaw == INVALIDATED || (flaw == OLD_KEY && s->mw->type == IBV_MW_TYPE_2)) {
		wr = wr_local_inv(8, key, IBV_SEND_SIGNALED);
		conn_send(s->c, &wr);
		queue_want(s->c->send, 8, IBV_WC_SUCCESS);
	} else if (flaw == GONE) {
		undo_now(s->p, s->mw);
	} else if (flaw == AS_REGION) {
		key = s->mr->rkey;
	}
	if (flaw == OLD_KEY)
		stage_bind(s, s->c, s->mw, &info);
	return key;
}

/* End a invalidates the key by a SEND, which b receives. */
static void take_back(struct stage *s, uint32_t key)
{
	struct ibv_sge sge = sge_of(s->r, 0, 64);
	struct ibv_send_wr wr = wr_send(4, &sge, 1, IBV_SEND_SIGNALED);
	struct ibv_wc wc;

	if (end_b(s->p)) {
		sge = sge_of(s->r, 0, 100);
		conn_recv(s->c, 9, &sge, 1);
	}
	pair_sync(s->p);
	if (end_a(s->p)) {
		wr.opcode = IBV_WR_SEND_WITH_INV;
		wr.invalidate_rkey = key;
		conn_send(s->c, &wr);
		queue_want(s->c->send, 4, IBV_WC_SUCCESS);
		return;
	}
	queue_next(s->c->recv, &wc);
	check(s->p, wc.wr_id == 9 && !wc.status && wc.byte_len == 64 &&
	      wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == key,
	      "receive: \"%s\", %u bytes, flags 0x%x, key 0x%08x for 0x%08x",
	      ibv_wc_status_str(wc.status), wc.byte_len, wc.wc_flags, wc.invalidated_rkey, key);
}

static void run_misuse(struct pair *p, const void *arg)
{
	const struct misuse *m = arg;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct stage s;
	uint64_t addr;
	uint32_t key;

	stage_open(p, &s, m->type, false);
	stage_show(&s, (uintptr_t)s.r->buf + AT, end_b(p) ? spoil(&s, m->flaw) : 0, &addr, &key);
	if (m->flaw == TAKEN_BACK)
		take_back(&s, end_a(p) ? key : s.mw->rkey);
	if (end_a(p)) {
		sge = sge_of(s.r, 0, m->flaw == NO_ATOMIC ? 8 : 2000);
		wr = wr_rdma(1, m->flaw == NO_READ ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &sge, 1,
			     IBV_SEND_SIGNALED, addr, key);
		if (m->flaw == BEFORE)
			wr.wr.rdma.remote_addr--;
		else if (m->flaw == BEHIND)
			wr.wr.rdma.remote_addr += LEN - 2000 + 1;
		else if (m->flaw == NO_ATOMIC)
			wr = wr_atomic(1, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, addr, key, 1, 0);
		conn_send(s.c, &wr);
		queue_want(s.c->send, 1, IBV_WC_REM_ACCESS_ERR);
	}
	pair_sync(p);
	if (end_b(p)) {
		check(p, event_next(p, NULL, 5000 * p->slow) == IBV_EVENT_QP_ACCESS_ERR,
		      "no event, or another one");
		stage_want(&s, s.r->buf + 100, 100, SIZE - 100, HERE, "the memory");
	}
}

/* Keys that the peer cannot invalidate. */
static void run_not_theirs(struct pair *p, const void *arg)
{
	int what = *(const int *)arg;
	struct ibv_send_wr wr;
	struct conn *other;
	struct ibv_sge sge;
	struct stage s;
	uint64_t addr;
	uint32_t key;

	other = open_two(p, &s, what ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
	if (end_b(p)) {
		sge = sge_of(s.r, 0, 100);
		conn_recv(other, 9, &sge, 1);
	}
	stage_show(&s, (uintptr_t)s.r->buf + AT, end_a(p) ? 0 : what == 2 ? s.mr->rkey : s.mw->rkey,
		   &addr, &key);
	if (end_a(p)) {
		sge = sge_of(s.r, 0, 64);
		wr = wr_send(4, &sge, 1, IBV_SEND_SIGNALED);
		wr.opcode = IBV_WR_SEND_WITH_INV;
		wr.invalidate_rkey = key;
		conn_send(other, &wr);
		queue_want(other->send, 4, IBV_WC_REM_ACCESS_ERR);
	} else {
		queue_want(other->recv, 9, IBV_WC_REM_INV_REQ_ERR);
	}
	/* The key is still valid. */
	if (end_b(p))
		pattern_fill(s.r->buf, SIZE, HERE);
	pair_sync(p);
	if (end_a(p) && what < 2)
		use(&s, s.c, addr, key);
	pair_sync(p);
	if (end_b(p) && what < 2)
		judge(&s);
}

/* ---- binding and invalidation that fail ---- */

enum wrong {
	NO_BIND_RIGHT, NO_LOCAL_WRITE, OUTSIDE, WRAPS, WRONG_PD, STALE_REGION, WINDOW_OF_OTHER_PD,
	NO_WINDOW, OTHER_RIGHT, BOUND_ALREADY, NOTHING, INV_REGION, INV_TYPE_1, INV_OTHER_KEY,
	INV_FREE, WRONGS,
};

static const char *const wrong_names[] = {
	[NO_BIND_RIGHT] = "binding to a region without IBV_ACCESS_MW_BIND",
	[NO_LOCAL_WRITE] = "binding for writing to a read-only region",
	[OUTSIDE] = "binding of a range one byte too long",
	[WRAPS] = "binding of a range that wraps",
	[WRONG_PD] = "binding to a region of another protection domain",
	[STALE_REGION] = "binding to a deregistered region",
	[WINDOW_OF_OTHER_PD] = "binding of a window of another protection domain",
	[NO_WINDOW] = "binding of a region key as a window",
	[OTHER_RIGHT] = "binding with IBV_ACCESS_MW_BIND",
	[BOUND_ALREADY] = "binding of a bound window of type 2",
	[NOTHING] = "binding of no bytes, type 2",
	[INV_REGION] = "invalidation of a region",
	[INV_TYPE_1] = "invalidation of a window of type 1",
	[INV_OTHER_KEY] = "invalidation of an older key",
	[INV_FREE] = "invalidation of an unbound window",
};

static struct ibv_send_wr wrong_bind(struct stage *s, enum wrong wrong)
{
	struct ibv_mw_bind_info info = stage_info(s, ALL_REMOTE);
	struct pair *p = s->p;
	struct ibv_mw *mw = s->mw;
	uint32_t key;

	switch (wrong) {
	case NO_BIND_RIGHT:
		info.mr = stage_mr(s, p->pd, ALL_ACCESS);
		break;
	case NO_LOCAL_WRITE:
		info.mr = stage_mr(s, p->pd, IBV_ACCESS_MW_BIND);
		break;
	case OUTSIDE:
		info.length = SIZE - AT + 1;
		break;
	case WRAPS:
		info.length = -1ULL;
		break;
	case WRONG_PD:
		info.mr = stage_mr(s, stage_pd(p), ALL_ACCESS | IBV_ACCESS_MW_BIND);
		break;
	case STALE_REGION:
		info.mr = stage_mr(s, p->pd, ALL_ACCESS | IBV_ACCESS_MW_BIND);
		break;
	case WINDOW_OF_OTHER_PD:
		mw = stage_mw(p, stage_pd(p), IBV_MW_TYPE_2);
		break;
	case OTHER_RIGHT:
		info.mw_access_flags |= IBV_ACCESS_MW_BIND;
		break;
	case NOTHING:
		info.length = 0;
		break;
	case BOUND_ALREADY:
		stage_bind(s, s->c, s->mw, &info);
		break;
	default:
		break;
	}
	key = ibv_inc_rkey(mw->rkey);
	return wr_bind(1, mw, wrong == NO_WINDOW ? s->mr->rkey : key, IBV_SEND_SIGNALED, &info);
}

static struct ibv_send_wr wrong_inv(struct stage *s, enum wrong wrong)
{
	struct ibv_mw_bind_info info = stage_info(s, ALL_REMOTE);
	struct ibv_mw *mw = s->mw;
	uint32_t key = s->mr->rkey;

	if (wrong == INV_TYPE_1)
		mw = stage_mw(s->p, s->p->pd, IBV_MW_TYPE_1);
	if (wrong == INV_TYPE_1 || wrong == INV_OTHER_KEY)
		stage_bind(s, s->c, mw, &info);
	if (wrong == INV_OTHER_KEY)
		key = mw->rkey ^ 0x80;
	else if (wrong != INV_REGION)
		key = mw->rkey;
	return wr_local_inv(1, key, IBV_SEND_SIGNALED);
}

static void run_wrong(struct pair *p, const void *arg)
{
	enum wrong wrong = *(const enum wrong *)arg;
	struct ibv_send_wr wr[3];
	struct stage s;
	int error;

	stage_open(p, &s, IBV_MW_TYPE_2, false);
	if (end_b(p)) {
		wr[0] = wr_rdma(0, IBV_WR_RDMA_WRITE, NULL, 0, IBV_SEND_SIGNALED, 0, 0);
		wr[1] = wrong < INV_REGION ? wrong_bind(&s, wrong) : wrong_inv(&s, wrong);
		wr[2] = wr_rdma(2, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0, 0);
		wr[0].next = &wr[1];
		wr[1].next = &wr[2];
		if (wrong == STALE_REGION) {
			/* Posting reads the key from the copy. */
			struct ibv_mr gone = *wr[1].bind_mw.bind_info.mr;

			undo_now(p, wr[1].bind_mw.bind_info.mr);
			wr[1].bind_mw.bind_info.mr = &gone;
			error = conn_post(s.c, wr);
		} else {
			error = conn_post(s.c, wr);
		}
		check(p, !error, "posting: %s", strerror(error));
		queue_want(s.c->send, 0, IBV_WC_SUCCESS);
		queue_want(s.c->send, 1, IBV_WC_MW_BIND_ERR);
		queue_want(s.c->send, 2, IBV_WC_WR_FLUSH_ERR);
		conn_want_state(s.c, IBV_QPS_ERR);
		check(p, event_next(p, NULL, 0) < 0, "there is an event");
		stage_want(&s, s.r->buf, 0, SIZE, HERE, "the memory");
		/* A window that was not bound does not hold the region. */
		if (wrong < BOUND_ALREADY || wrong == NOTHING || wrong == INV_FREE)
			undo_now(p, s.mr);
	}
	pair_sync(p);
}

static void all_uses(struct pair *p)
{
	struct kind k;
	int i;

	for (i = 0; i < 8; i++) {
		k = (struct kind){ i & 1 ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1, i & 2, i & 4 };
		pair_case(p, run_use, &k,
			  "a window of type %d gives access to its range%s%s", k.type,
			  k.zero_based ? ", zero-based" : "", k.extended ? ", by ibv_wr_*()" : "");
	}
	for (i = IBV_MW_TYPE_1; i <= IBV_MW_TYPE_2; i++) {
		k.type = i;
		pair_case(p, run_again, &k.type,
			  "type %d: binding again changes the key, and the region stays busy", i);
		pair_case(p, run_other_qp, &k.type,
			  "type %d: access by the binding and by another queue pair", i);
	}
}

static void all_misuse(struct pair *p)
{
	static const struct misuse list[] = {
		{ IBV_MW_TYPE_1, BEFORE }, { IBV_MW_TYPE_2, BEFORE }, { IBV_MW_TYPE_1, BEHIND },
		{ IBV_MW_TYPE_2, BEHIND }, { IBV_MW_TYPE_1, NO_WRITE }, { IBV_MW_TYPE_2, NO_READ },
		{ IBV_MW_TYPE_1, NO_ATOMIC }, { IBV_MW_TYPE_1, UNBOUND },
		{ IBV_MW_TYPE_1, OLD_KEY }, { IBV_MW_TYPE_2, OLD_KEY },
		{ IBV_MW_TYPE_2, INVALIDATED }, { IBV_MW_TYPE_2, TAKEN_BACK },
		{ IBV_MW_TYPE_1, GONE }, { IBV_MW_TYPE_2, GONE }, { IBV_MW_TYPE_2, AS_REGION },
	};
	static const char *const theirs[] = {
		"a window of type 1", "a window of another queue pair", "a region",
	};
	unsigned int i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		pair_case(p, run_misuse, &list[i], "type %d: %s is refused", list[i].type,
			  flaw_names[list[i].flaw]);
	for (i = 0; i < 3; i++)
		pair_case(p, run_not_theirs, &i, "the peer cannot invalidate %s", theirs[i]);
}

int main(int argc, char **argv)
{
	enum wrong wrong;
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "uses"))
		all_uses(&p);
	if (pair_wants(&p, "misuse"))
		all_misuse(&p);
	for (wrong = 0; wrong < WRONGS && pair_wants(&p, "wrong"); wrong++)
		pair_case(&p, run_wrong, &wrong, "%s", wrong_names[wrong]);
	return pair_close(&p);
}
