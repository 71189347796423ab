// SPDX-License-Identifier: GPL-2.0
/*
 * rc_order - order of requests on a reliable connection: fences, outstanding READs,
 * transfers of no bytes, SEND with invalidate
 *
 *	rc_order a|b PORT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conn.h"
#include "lib/pattern.h"

/* ---- fences, READs, order ---- */

/*
 * IBTA 10.8.3.3: a fenced request starts when all READs and atomics before it are complete.
 * Here it sends the data of the READ.
 */
static void run_fence(struct pair *p, const void *extended)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 1 << 20, ALL_ACCESS);
	int i, rounds = p->quick ? 4 : 20, size = 30000;
	struct conn *c;
	size_t at;

	attr.extended = extended;
	attr.mtu = IBV_MTU_512;
	c = conn_open(p, &attr);
	region_swap(p, r);
	for (i = 0; i < rounds; i++) {
		struct ibv_sge sge = sge_of(r, 0, size), target = sge_of(r, 65536, size);
		struct ibv_send_wr read = wr_rdma(1, IBV_WR_RDMA_READ, &sge, 1, 0,
						  r->peer_addr, r->peer_rkey);
		struct ibv_send_wr write = wr_rdma(2, IBV_WR_RDMA_WRITE, &sge, 1,
						   IBV_SEND_FENCE, r->peer_addr + 200000,
						   r->peer_rkey);
		struct ibv_send_wr send = wr_send(3, &sge, 1, IBV_SEND_SIGNALED | IBV_SEND_FENCE);

		pattern_fill(r->buf, size, end_b(p) ? i : 1000 + i);
		if (end_b(p))
			conn_recv(c, i, &target, 1);
		pair_sync(p);
		read.next = i % 2 ? &write : &send;
		write.next = &send;
		if (end_a(p)) {
			conn_send(c, &read);
			queue_want(c->send, 3, IBV_WC_SUCCESS);
		} else {
			queue_want(c->recv, i, IBV_WC_SUCCESS);
			at = pattern_differ(r->buf + 65536, r->buf, size);
			check(p, at == (size_t)size, "the fenced SEND left before byte %zu came",
			      at);
			at = i % 2 ? pattern_differ(r->buf + 200000, r->buf, size) : (size_t)size;
			check(p, at == (size_t)size, "the fenced WRITE left before byte %zu came",
			      at);
		}
		pair_sync(p);
	}
}

/* Many more READs and atomics are posted than may be outstanding. */
static void run_reads(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 1 << 20, ALL_ACCESS);
	int i, n = 64, depth = *(const int *)arg;
	struct conn *c;

	attr.send_wr = n;
	attr.rd_atomic = depth;
	attr.dest_rd_atomic = depth;
	c = conn_open(p, &attr);
	region_swap(p, r);
	if (end_b(p))
		pattern_fill(r->buf, r->len, 5);
	pair_sync(p);
	for (i = 0; i < n && end_a(p); i++) {
		struct ibv_sge sge = sge_of(r, i * 8000, i % 4 == 3 ? 8 : 7000);
		struct ibv_send_wr wr = wr_rdma(i, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED,
						r->peer_addr + i * 8000, r->peer_rkey);

		if (i % 4 == 3)
			wr = wr_atomic(i, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge,
				       r->peer_addr + i * 8000, r->peer_rkey, 1, 0);
		conn_send(c, &wr);
	}
	for (i = 0; i < n && end_a(p); i++)
		queue_want(c->send, i, IBV_WC_SUCCESS);
	if (end_a(p)) {
		uint8_t *want = malloc(r->len);

		pattern_fill(want, r->len, 5);
		for (i = 0; i < n; i++)
			check(p, !memcmp(r->buf + i * 8000, want + i * 8000,
					 i % 4 == 3 ? 8 : 7000),
			      "request %d brought wrong data", i);
		free(want);
	}
}

/* When a SEND arrives, the WRITEs before it are complete. */
static void run_order(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 1 << 20, ALL_ACCESS);
	int i, rounds = p->quick ? 10 : 100, size = 9001;
	struct conn *c;
	size_t at;

	(void)arg;
	c = conn_open(p, &attr);
	region_swap(p, r);
	for (i = 0; i < rounds; i++) {
		uint8_t *place = r->buf + (i % 8) * 16384;
		struct ibv_sge sge = sge_of(r, (i % 8) * 16384, size);
		struct ibv_send_wr write = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, 0,
						   r->peer_addr + (i % 8) * 16384, r->peer_rkey);
		struct ibv_send_wr send = wr_send(2, NULL, 0, IBV_SEND_SIGNALED);

		if (end_b(p)) {
			conn_recv(c, i, NULL, 0);
			pair_sync(p);
			queue_want(c->recv, i, IBV_WC_SUCCESS);
			pattern_fill(r->buf + 500000, size, i);
			at = pattern_differ(place, r->buf + 500000, size);
			check(p, at == (size_t)size,
			      "byte %zu of the WRITE is not there when the SEND behind it is", at);
			continue;
		}
		pattern_fill(place, size, i);
		pair_sync(p);
		write.next = &send;
		conn_send(c, &write);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
	}
}

#define WRITES 3

/* How many us a READ takes on a new connection, behind WRITEs. */
static uint64_t read_time(struct pair *p, struct region *r, int writes)
{
	struct conn_attr attr = conn_defaults(p);
	struct conn *c = conn_open(p, &attr);
	uint64_t took = 0;

	if (end_a(p)) {
		struct ibv_sge sge[] = { sge_of(r, 0, 8), sge_of(r, 4096, 65536) };
		struct ibv_send_wr read = wr_rdma(2, IBV_WR_RDMA_READ, &sge[1], 1,
						  IBV_SEND_SIGNALED, r->peer_addr + 4096,
						  r->peer_rkey);
		struct ibv_send_wr write[WRITES];
		int i;

		for (i = 0; i < writes; i++) {
			write[i] = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge[0], 1, 0, r->peer_addr,
					   r->peer_rkey);
			write[i].next = i + 1 < writes ? &write[i + 1] : &read;
		}
		took = now_us();
		conn_send(c, writes ? &write[0] : &read);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
		took = now_us() - took;
	}
	took = pair_value_of_a(p, took);
	undo_now(p, c);
	return took;
}

/*
 * Together they exceed the window of a new connection, which the WRITEs alone do not fill, so
 * none of them has AckReq. The READ must not wait for an ACK until the timer expires: the first
 * probe comes after 8 ms. A busy host needs as long for a READ alone.
 */
static void run_no_room(struct pair *p, const void *arg)
{
	uint64_t alone = UINT64_MAX, behind = UINT64_MAX, limit = 6000ull * p->slow, took;
	struct region *r = region_new(p, 1 << 20, ALL_ACCESS);
	int i;

	(void)arg;
	region_swap(p, r);
	for (i = 0; i < 20 && (!i || behind >= alone + limit); i++) {
		took = read_time(p, r, 0);
		alone = took < alone ? took : alone;
		took = read_time(p, r, WRITES);
		behind = took < behind ? took : behind;
	}
	check(p, behind < alone + limit, "%llu us at least, a READ alone %llu us",
	      (unsigned long long)behind, (unsigned long long)alone);
}

/* ---- nothing, and empty pieces ---- */

/* IBTA 9.4.x: the keys of a transfer of no bytes are not checked. */
static void run_zero(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct ibv_send_wr wr[3];
	struct conn *c;
	int i;

	attr.extended = arg;
	c = conn_open(p, &attr);
	wr[0] = wr_rdma(0, IBV_WR_RDMA_WRITE, NULL, 0, IBV_SEND_SIGNALED, 12345, 0xdeadbeef);
	wr[1] = wr_rdma(1, IBV_WR_RDMA_READ, NULL, 0, IBV_SEND_SIGNALED, 12345, 0xdeadbeef);
	wr[2] = wr_rdma(2, IBV_WR_RDMA_WRITE_WITH_IMM, NULL, 0, IBV_SEND_SIGNALED, 12345,
			0xdeadbeef);
	if (end_b(p)) {
		/* Nor is the scatter list of a receive into which nothing goes. */
		struct ibv_sge sge = { 4711, 100, 0xdeadbeef };

		conn_recv(c, 7, &sge, 1);
	}
	pair_sync(p);
	for (i = 0; i < 3 && end_a(p); i++) {
		conn_send(c, &wr[i]);
		queue_want(c->send, i, IBV_WC_SUCCESS);
	}
	if (end_b(p))
		queue_want(c->recv, 7, IBV_WC_SUCCESS);
	pair_sync(p);
	conn_want_state(c, IBV_QPS_RTS);
}

/* SGEs of no bytes, with any key, are ignored. */
static void run_empty_sge(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	struct ibv_sge sge[4] = {
		{ 0, 0, 0xdeadbeef }, sge_of(r, 1, 33), { 99, 0, 0 }, sge_of(r, 101, 2000),
	};
	struct ibv_send_wr wr;
	struct conn *c;

	attr.extended = arg;
	c = conn_open(p, &attr);
	region_swap(p, r);
	pattern_fill(r->buf, 32768, 4);
	wr = wr_rdma(3, IBV_WR_RDMA_WRITE, sge, 4, IBV_SEND_SIGNALED, r->peer_addr + 40001,
		     r->peer_rkey);
	pair_sync(p);
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, 3, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	if (end_b(p))
		check(p, !memcmp(r->buf + 40001, r->buf + 1, 33) &&
		      !memcmp(r->buf + 40034, r->buf + 101, 2000) && !r->buf[42034],
		      "wrong data");
}

/* ---- keys that end ---- */

static int dealloc_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

/* A type 2 window, if this device has such. */
static struct ibv_mw *make_window(struct pair *p)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->pd, IBV_MW_TYPE_2);

	if (!mw)
		skip(p, "no memory window of type 2 can be made: %s", strerror(errno));
	undo_later(p, dealloc_mw, mw, "ibv_dealloc_mw");
	return mw;
}

/* Bind the window to the first page of r, through c; its key. */
static uint32_t bind_window(struct conn *c, struct region *r, struct ibv_mw *mw)
{
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_BIND_MW,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		r->mr, (uintptr_t)r->buf, 4096, IBV_ACCESS_REMOTE_WRITE
	};
	check(c->p, !ibv_post_send(c->qp, &wr, &bad), "posting BIND_MW fails");
	queue_want(c->send, 1, IBV_WC_SUCCESS);
	return wr.bind_mw.rkey;
}

/* SEND with invalidate needs a key that may be invalidated: a type 2 window. */
static void run_send_inv(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	uint32_t rkey = 0, window;
	struct ibv_send_wr wr;
	struct ibv_mw *mw;
	struct ibv_sge sge;
	struct region *r;
	struct conn *c;
	struct ibv_wc wc;

	attr.extended = arg;
	undo_now(p, make_window(p));
	r = region_new(p, 8192, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	sge = sge_of(r, 4096, 8);
	c = conn_open(p, &attr);
	region_swap(p, r);
	/* Made last, so that it is the first to go. */
	mw = make_window(p);
	if (end_b(p)) {
		rkey = bind_window(c, r, mw);
		conn_recv(c, 2, &sge, 1);
	}
	pair_swap(p, &rkey, &window, sizeof(rkey));
	if (end_a(p)) {
		wr = wr_rdma(3, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			     window);
		conn_send(c, &wr);
		queue_want(c->send, 3, IBV_WC_SUCCESS);
		wr = wr_send(4, &sge, 1, IBV_SEND_SIGNALED);
		wr.opcode = IBV_WR_SEND_WITH_INV;
		wr.invalidate_rkey = window;
		conn_send(c, &wr);
		queue_want(c->send, 4, IBV_WC_SUCCESS);
		wr = wr_rdma(5, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			     window);
		conn_send(c, &wr);
		queue_want(c->send, 5, IBV_WC_REM_ACCESS_ERR);
	} else {
		queue_next(c->recv, &wc);
		check(p, !wc.status && wc.wr_id == 2 && wc.byte_len == 8,
		      "receive %llu of %u bytes: %s", (unsigned long long)wc.wr_id, wc.byte_len,
		      ibv_wc_status_str(wc.status));
		check(p, wc.opcode == IBV_WC_RECV && wc.wc_flags & IBV_WC_WITH_INV &&
		      !(wc.wc_flags & IBV_WC_WITH_IMM) && wc.invalidated_rkey == rkey,
		      "opcode %d, wc_flags 0x%x, key 0x%x not 0x%x", wc.opcode, wc.wc_flags,
		      wc.invalidated_rkey, rkey);
	}
}

/* Change the rights to what they are: refused while a window is bound. */
static int reregister(struct region *r)
{
	return ibv_rereg_mr(r->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    ALL_ACCESS | IBV_ACCESS_MW_BIND);
}

/*
 * IBTA 10.8.3.3, as above. The peer is not ready and drops the READ. Meanwhile the window has to
 * stay bound.
 */
static void run_fenced_inv(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct ibv_send_wr read, inv;
	struct ibv_sge sge;
	struct region *r;
	struct ibv_mw *mw;
	struct conn *c;

	attr.extended = arg;
	undo_now(p, make_window(p));
	r = region_new(p, 8192, ALL_ACCESS | IBV_ACCESS_MW_BIND);
	sge = sge_of(r, 4096, 8);
	region_swap(p, r);
	c = conn_make(p, &attr);
	conn_meet(c);
	if (end_a(p))
		conn_ready(c);
	pair_sync(p);
	mw = make_window(p);
	if (end_a(p)) {
		inv = wr_local_inv(3, bind_window(c, r, mw), IBV_SEND_SIGNALED | IBV_SEND_FENCE);
		read = wr_rdma(2, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			       r->peer_rkey);
		read.next = &inv;
		conn_send(c, &read);
		queue_quiet(c->send, 10);
		check(p, reregister(r), "the window is gone before the READ is complete");
	}
	pair_sync(p);
	if (end_b(p))
		conn_ready(c);
	pair_sync(p);
	if (end_b(p))
		return;
	queue_want(c->send, 2, IBV_WC_SUCCESS);
	queue_want(c->send, 3, IBV_WC_SUCCESS);
	check(p, !reregister(r), "the window is bound after its invalidation");
}

int main(int argc, char **argv)
{
	static const int depths[] = { 1, 2, 16 };
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	pair_case(&p, run_fence, NULL, "a fence delays requests behind a READ");
	pair_case(&p, run_fence, &p, "a fence delays requests behind a READ, by ibv_wr_*()");
	for (i = 0; i < 3; i++)
		pair_case(&p, run_reads, &depths[i], "64 READs and atomics, %d of them outstanding",
			  depths[i]);
	pair_case(&p, run_order, NULL, "a SEND completes after the WRITE before it");
	pair_case(&p, run_no_room, NULL,
		  "a READ that exceeds the window behind WRITEs needs no timeout");
	pair_case(&p, run_zero, NULL, "keys of transfers of no bytes are not checked");
	pair_case(&p, run_zero, &p, "keys of transfers of no bytes are not checked, by ibv_wr_*()");
	pair_case(&p, run_empty_sge, NULL, "SGEs of no bytes are ignored");
	pair_case(&p, run_empty_sge, &p, "SGEs of no bytes are ignored, by ibv_wr_*()");
	pair_case(&p, run_send_inv, NULL, "SEND with invalidate of a memory window");
	pair_case(&p, run_send_inv, &p, "SEND with invalidate of a memory window, by ibv_wr_*()");
	pair_case(&p, run_fenced_inv, NULL, "a fence delays LOCAL_INV behind a READ");
	pair_case(&p, run_fenced_inv, &p, "a fence delays LOCAL_INV behind a READ, by ibv_wr_*()");
	return pair_close(&p);
}
