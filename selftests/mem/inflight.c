// SPDX-License-Identifier: GPL-2.0
/*
 * inflight - memory is taken back while packets with it are in a queue
 *
 *	inflight a|b PORT [GROUP...]	see main() for the groups
 *
 * The network holds back for $HELD ms what the end with the data sends: b answers a
 * READ, or a sends a WRITE. Meanwhile that end takes its memory back and writes to it;
 * the peer must not get what was written. $SPLIT, if set, is a command that has trains
 * taken apart from then on, and $WHOLE undoes it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"

enum { OLD = 'o', NEW = 'N' };

enum how { DEREG, REREG, WINDOW, ERROR, RESET, DESTROY };

static const char *const hows[] = {
	[DEREG] = "its region is deregistered",
	[REREG] = "its region is registered again, elsewhere",
	[WINDOW] = "its window is invalidated",
	[ERROR] = "its queue pair goes to error",
	[RESET] = "its queue pair is reset",
	[DESTROY] = "its queue pair is destroyed",
};

struct form {
	bool write;
	uint32_t len;
	enum how how;
};

static unsigned int held_ms(void)
{
	const char *held = getenv("HELD");

	return held ? atoi(held) : 0;
}

static void command(struct pair *p, const char *name)
{
	const char *line = getenv(name);

	check(p, !line || !*line || !system(line), "\"%s\" fails", line);
}

static bool has_data(const struct pair *p, bool write)
{
	return write ? end_a(p) : end_b(p);
}

/* Memory that outlives its region, and where the peer's is. */
struct data {
	uint8_t *buf;
	uint32_t len;
	struct ibv_mr *mr;
	struct remote peer;
};

static struct data *memory(struct pair *p, uint32_t len, bool write)
{
	struct data *d = pair_alloc(p, sizeof(*d));

	d->buf = region_new(p, len, IBV_ACCESS_LOCAL_WRITE)->buf;
	d->len = len;
	memset(d->buf, has_data(p, write) ? OLD : 0, len);
	d->mr = mr_new(p, d->buf, len, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	d->peer = remote_swap(p, d->buf, d->mr);
	return d;
}

static int dealloc_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

/* At b: a window on all of it, whose key a is told instead of the region's. */
static struct ibv_mw *open_window(struct pair *p, struct conn *c, struct data *d)
{
	struct ibv_mw_bind_info info = {
		.mr = d->mr, .addr = (uintptr_t)d->buf, .length = d->len,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
	struct ibv_mw *mw = NULL;
	struct ibv_send_wr wr;
	uint64_t key = 0, theirs;

	if (end_b(p)) {
		mw = ibv_alloc_mw(p->pd, IBV_MW_TYPE_2);
		check(p, mw, "ibv_alloc_mw: %s", strerror(errno));
		undo_later(p, dealloc_mw, mw, "ibv_dealloc_mw");
		key = ibv_inc_rkey(mw->rkey);
		wr = wr_bind(1, mw, key, IBV_SEND_SIGNALED, &info);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		mw->rkey = key;
	}
	pair_swap(p, &key, &theirs, sizeof(key));
	if (end_a(p))
		d->peer.rkey = theirs;
	return mw;
}

/* Give the memory back to its owner by f->how; on return the owner knows. */
static void take_back(struct pair *p, const struct form *f, struct conn *c, struct data *d,
		      struct ibv_mw *mw)
{
	struct ibv_send_wr wr;
	uint8_t *other;

	switch (f->how) {
	case DEREG:
		undo_now(p, d->mr);
		break;
	case REREG:
		other = pair_alloc(p, f->len);
		check(p, !ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other,
				       f->len, 0), "ibv_rereg_mr: %s", strerror(errno));
		break;
	case WINDOW:
		wr = wr_local_inv(2, mw->rkey, IBV_SEND_SIGNALED);
		conn_send(c, &wr);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
		break;
	case ERROR:
		check(p, !conn_modify(c, IBV_QPS_ERR), "no way to ERR");
		break;
	case RESET:
		check(p, !conn_modify(c, IBV_QPS_RESET), "no way to RESET");
		break;
	case DESTROY:
		undo_now(p, c);
		break;
	}
}

static void post(struct conn *c, struct data *d, bool write)
{
	struct ibv_sge sge = { (uintptr_t)d->buf, d->len, d->mr->lkey };
	struct ibv_send_wr wr = wr_rdma(7, write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, &sge, 1,
					IBV_SEND_SIGNALED, d->peer.addr, d->peer.rkey);

	conn_send(c, &wr);
}

static void want_none_of_later(struct pair *p, const struct data *d, uint32_t len)
{
	uint32_t n = 0, i;

	for (i = 0; i < len; i++)
		n += d->buf[i] == NEW;
	check(p, !n, "%u of %u bytes were written afterwards", n, len);
}

/* A request that is in flight when its queue pair goes to error is flushed. */
static void want_flushed(struct pair *p, struct conn *c)
{
	struct ibv_wc wc;

	queue_next(c->send, &wc);
	check(p, wc.status == IBV_WC_WR_FLUSH_ERR, "the WRITE ends in \"%s\"",
	      ibv_wc_status_str(wc.status));
}

/*
 * Return false if the memory was taken back after the network had delivered the packets,
 * which a busy host causes.
 */
static bool run_in_time(struct pair *p, const void *arg)
{
	const struct form *f = arg;
	struct conn_attr attr = conn_defaults(p);
	bool here = has_data(p, f->write);
	bool late = false, other_late;
	struct ibv_mw *mw = NULL;
	struct data *d;
	struct conn *c;
	uint64_t start;

	attr.retry_cnt = 7;
	d = memory(p, f->len, f->write);
	c = conn_open(p, &attr);
	if (f->how == WINDOW)
		mw = open_window(p, c, d);
	pair_sync(p);
	start = now_ms();
	if (end_a(p))
		post(c, d, f->write);
	if (here) {
		usleep(held_ms() * 400);
		command(p, "SPLIT");
		take_back(p, f, c, d, mw);
		late = now_ms() - start >= held_ms();
		if (f->how == ERROR && f->write && !late)
			want_flushed(p, c);
		memset(d->buf, NEW, f->len);
	}
	usleep(held_ms() * 2000);
	if (here)
		command(p, "WHOLE");
	else
		want_none_of_later(p, d, f->len);
	pair_swap(p, &late, &other_late, sizeof(late));
	return !late && !other_late;
}

typedef bool in_time_fn(struct pair *p, const void *arg);

static void repeat(struct pair *p, in_time_fn *in_time, const void *arg)
{
	unsigned int tries = 1;

	while (!in_time(p, arg))
		check(p, ++tries <= 4, "this host is too slow for a delay of %u ms", held_ms());
	if (tries > 1)
		note(p, "%u tries", tries);
}

static void run(struct pair *p, const void *arg)
{
	repeat(p, run_in_time, arg);
}

/*
 * Of two connections and regions one is destroyed: packets of the other arrive without
 * retransmission.
 */
static void run_other(struct pair *p, const void *arg)
{
	bool write = *(const bool *)arg, here = has_data(p, write);
	struct conn_attr attr = conn_defaults(p);
	struct data *gone, *stays;
	struct conn *one, *other;

	gone = memory(p, 65536, write);
	stays = memory(p, 65536, write);
	one = conn_open(p, &attr);
	other = conn_open(p, &attr);
	pair_sync(p);
	if (end_a(p)) {
		post(one, gone, write);
		post(other, stays, write);
	}
	if (here) {
		usleep(held_ms() * 400);
		command(p, "SPLIT");
		undo_now(p, gone->mr);
		memset(gone->buf, NEW, gone->len);
	}
	if (end_a(p))
		queue_want(other->send, 7, IBV_WC_SUCCESS);
	if (here)
		command(p, "WHOLE");
	pair_sync(p);
	if (!here) {
		want_none_of_later(p, gone, gone->len);
		check(p, stays->buf[0] == OLD && !memcmp(stays->buf, stays->buf + 1,
							 stays->len - 1), "other bytes");
	}
	pair_sync(p);
}

static bool again_in_time(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct data *d = memory(p, 65536, false);
	struct conn *c = conn_open(p, &attr);
	bool late = false, other_late;
	uint64_t start;

	(void)arg;
	pair_sync(p);
	start = now_ms();
	if (end_a(p))
		post(c, d, false);
	if (end_b(p)) {
		usleep(held_ms() * 400);
		check(p, !ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				       ALL_ACCESS), "ibv_rereg_mr: %s", strerror(errno));
		late = now_ms() - start >= held_ms();
		memset(d->buf, NEW, d->len);
	}
	if (end_a(p))
		queue_want(c->send, 7, IBV_WC_SUCCESS);
	pair_swap(p, &late, &other_late, sizeof(late));
	if (end_a(p) && !other_late)
		check(p, d->buf[0] == NEW && !memcmp(d->buf, d->buf + 1, d->len - 1),
		      "not the data that is there now");
	return !late && !other_late;
}

/*
 * The region is registered again as it was: the response in the queue is dropped, and requested
 * again.
 */
static void run_again(struct pair *p, const void *arg)
{
	repeat(p, again_in_time, arg);
}

int main(int argc, char **argv)
{
	static const bool writes[] = { false, true };
	static const struct form forms[] = {
		{ false, 4096, DEREG }, { false, 65536, DEREG }, { false, 65536, REREG },
		{ false, 65536, WINDOW }, { false, 65536, ERROR }, { false, 65536, RESET },
		{ false, 65536, DESTROY },
		{ true, 4096, ERROR }, { true, 65536, ERROR }, { true, 65536, DEREG },
		{ true, 65536, RESET }, { true, 65536, DESTROY },
	};
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct form *f = &forms[i];

		if (pair_wants(&p, f->write ? "write" : "read") ||
		    ((f->how == DEREG || f->how == ERROR) && f->len > 4096 &&
		     pair_wants(&p, f->write ? "some_writes" : "some_reads")))
			pair_case(&p, run, f, "while a %s of %u bytes is in a queue, %s",
				  f->write ? "WRITE" : "READ response", f->len, hows[f->how]);
	}
	if (pair_wants(&p, "read"))
		pair_case(&p, run_other, &writes[0], "READ responses of another region arrive");
	if (pair_wants(&p, "write"))
		pair_case(&p, run_other, &writes[1], "WRITEs of another region arrive");
	if (pair_wants(&p, "again"))
		pair_case(&p, run_again, NULL,
			  "while a READ response is in a queue, its region is registered again");
	return pair_close(&p);
}
