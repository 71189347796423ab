// SPDX-License-Identifier: GPL-2.0
/*
 * uc_data - unreliable connections: messages arrive whole, or are lost whole
 * without notice
 *
 *	uc_data a|b PORT [GROUP...]	see main() for the groups
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "lib/pattern.h"
#include "lib/plan.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define ROOM 8192

static struct conn_attr uc_defaults(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	attr.type = IBV_QPT_UC;
	attr.inline_data = 64;
	return attr;
}

/* ---- data ---- */

static const enum ibv_wr_opcode ops[] = {
	IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
};

struct data_arg {
	enum ibv_mtu mtu;
	bool extended, from_b;
};

/*
 * All operations in turn. The last one is a SEND: when it has arrived, the WRITEs before it
 * have.
 */
static void run_sizes(struct pair *p, const void *data)
{
	static const uint32_t sizes[] = {
		0, 1, 3, 4, 64, 255, 256, 257, 1023, 1024, 1025, 4095, 4097, 8192, 65537,
	};
	const struct data_arg *arg = data;
	struct plan *plan = plan_new(p, arg->from_b, 100 + arg->mtu);
	struct conn_attr attr = uc_defaults(p);
	unsigned int i, op;

	attr.mtu = arg->mtu;
	attr.extended = arg->extended;
	for (i = 0; i < ARRAY_SIZE(sizes) - !!p->quick; i++)
		for (op = 0; op < ARRAY_SIZE(ops); op++)
			plan_add(plan, ops[op], sizes[i], sizes[i] ? 2 : 0, sizes[i] ? 3 : 0,
				 sizes[i] <= 64);
	plan_add(plan, IBV_WR_SEND, 10, 1, 1, false);
	plan_run(conn_open(p, &attr), plan);
}

/* ---- errors ---- */

/* A message from a to b of two packets: shows that the queue pairs are well. */
static void one_good(struct conn *c, struct region *r, uint64_t wr_id)
{
	struct ibv_sge sge = sge_of(r, 0, 1500);
	struct ibv_send_wr wr = wr_send(wr_id, &sge, 1, IBV_SEND_SIGNALED);

	if (end_b(c->p))
		conn_recv(c, wr_id, &sge, 1);
	pair_sync(c->p);
	if (end_a(c->p))
		conn_send(c, &wr);
	queue_want(end_a(c->p) ? c->send : c->recv, wr_id, IBV_WC_SUCCESS);
	pair_sync(c->p);
}

/* At a: nothing is known there of what becomes of it. */
static void send_blindly(struct conn *c, struct ibv_send_wr wr)
{
	wr.send_flags = IBV_SEND_SIGNALED;
	conn_send(c, &wr);
	queue_want(c->send, wr.wr_id, IBV_WC_SUCCESS);
}

/* No receive; and a short one, which stays for the next message. */
static void run_no_room(struct pair *p, const void *arg)
{
	struct conn_attr attr = uc_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 3000), to = sge_of(r, 4096, 2000);
	struct conn *c = conn_open(p, &attr);
	struct ibv_wc wc;

	(void)arg;
	if (end_a(p))
		send_blindly(c, wr_send(1, &sge, 1, 0));
	pair_sync(p);
	if (end_b(p)) {
		queue_quiet(c->recv, 30);
		conn_recv(c, 2, &to, 1);
	}
	pair_sync(p);
	if (end_a(p)) {
		send_blindly(c, wr_send(3, &sge, 1, 0));
		sge.length = 1999;
		send_blindly(c, wr_send(4, &sge, 1, 0));
	} else {
		queue_next(c->recv, &wc);
		check(p, wc.wr_id == 2 && !wc.status && wc.byte_len == 1999,
		      "receive %llu, %s, %u bytes", (unsigned long long)wc.wr_id,
		      ibv_wc_status_str(wc.status), wc.byte_len);
		check(p, event_next(p, NULL, 0) < 0, "an event at the receiver");
	}
	conn_want_state(c, IBV_QPS_RTS);
	one_good(c, r, 9);
}

/* A wrong key, bad bounds, a missing right: no data is written, and no receive is used. */
static void run_bad_target(struct pair *p, const void *arg)
{
	struct conn_attr attr = uc_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct region *no = region_new(p, ROOM, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = sge_of(r, 0, 1500);
	struct conn *c = conn_open(p, &attr);
	const enum ibv_wr_opcode op = IBV_WR_RDMA_WRITE_WITH_IMM;
	size_t i;

	(void)arg;
	region_swap(p, r);
	region_swap(p, no);
	memset(r->buf, end_a(p) ? 0x22 : 0x11, r->len);
	memset(no->buf, 0x11, no->len);
	if (end_b(p))
		conn_recv(c, 1, NULL, 0);
	pair_sync(p);
	if (end_a(p)) {
		send_blindly(c, wr_rdma(1, op, &sge, 1, 0, r->peer_addr, r->peer_rkey ^ 1));
		send_blindly(c, wr_rdma(2, op, &sge, 1, 0, r->peer_addr + ROOM - 100,
					r->peer_rkey));
		send_blindly(c, wr_rdma(3, op, &sge, 1, 0, no->peer_addr, no->peer_rkey));
		pair_sync(p);
		send_blindly(c, wr_rdma(4, op, &sge, 1, 0, r->peer_addr + 4096, r->peer_rkey));
	} else {
		pair_sync(p);
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
		for (i = 0; i < ROOM; i++) {
			bool hit = i >= 4096 && i < 4096 + 1500;

			check(p, r->buf[i] == (hit ? 0x22 : 0x11) && no->buf[i] == 0x11,
			      "byte %zu is %#x, and %#x", i, r->buf[i], no->buf[i]);
		}
		check(p, event_next(p, NULL, 0) < 0, "an event at the receiver");
	}
	conn_want_state(c, IBV_QPS_RTS);
	one_good(c, r, 9);
}

/* A local error of the sender: later requests are flushed, and the queue pair can return to RTS. */
static void run_bad_source(struct pair *p, const void *arg)
{
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_RTS };
	struct conn_attr attr = uc_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge bad = sge_of(r, 0, 1500), good = bad;
	struct ibv_send_wr second = wr_send(2, &good, 1, IBV_SEND_SIGNALED);
	struct ibv_send_wr first = wr_send(1, &bad, 1, IBV_SEND_SIGNALED);
	struct conn *c = conn_open(p, &attr);

	(void)arg;
	bad.lkey ^= 1;
	first.next = &second;
	if (end_a(p)) {
		conn_send(c, &first);
		queue_want(c->send, 1, IBV_WC_LOC_PROT_ERR);
		queue_want(c->send, 2, IBV_WC_WR_FLUSH_ERR);
		conn_want_state(c, IBV_QPS_SQE);
		check(p, !ibv_modify_qp(c->qp, &to, IBV_QP_STATE), "no way back to RTS");
	}
	one_good(c, r, 9);
}

/* A local error of the receiver: its queue pair goes to ERR, and the sender gets no notice. */
static void run_bad_receive(struct pair *p, const void *arg)
{
	struct conn_attr attr = uc_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 1500), bad = sge;
	struct conn *c = conn_open(p, &attr);

	(void)arg;
	bad.lkey ^= 1;
	if (end_b(p)) {
		conn_recv(c, 1, &bad, 1);
		conn_recv(c, 2, &sge, 1);
	}
	pair_sync(p);
	if (end_a(p))
		send_blindly(c, wr_send(1, &sge, 1, 0));
	if (end_b(p)) {
		queue_want(c->recv, 1, IBV_WC_LOC_PROT_ERR);
		queue_want(c->recv, 2, IBV_WC_WR_FLUSH_ERR);
		conn_want_state(c, IBV_QPS_ERR);
	}
	pair_sync(p);
	if (end_a(p)) {
		send_blindly(c, wr_send(2, &sge, 1, 0));
		queue_quiet(c->send, 30);
		conn_want_state(c, IBV_QPS_RTS);
	}
}

/* Operations that need a response are refused. */
static void run_refused(struct pair *p, const void *arg)
{
	struct conn_attr attr = uc_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct conn *c = conn_open(p, &attr);
	struct ibv_send_wr tries[] = {
		wr_rdma(1, IBV_WR_RDMA_READ, &sge, 1, 0, 0, 0),
		wr_atomic(2, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 0, 0, 1, 0),
		wr_rdma(3, IBV_WR_SEND_WITH_INV, &sge, 1, 0, 0, 0),
	};
	unsigned int i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tries); i++)
		check(p, conn_post(c, &tries[i]) == EINVAL, "opcode %d is not refused",
		      tries[i].opcode);
	one_good(c, r, 9);
}

/* Drained, flushed, reset and used again. */
static void run_life(struct pair *p, const void *arg)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_RTS };
	struct conn_attr attr = uc_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 1500);
	struct ibv_send_wr wr = wr_send(2, &sge, 1, IBV_SEND_SIGNALED);
	struct conn *c = conn_open(p, &attr);

	(void)arg;
	one_good(c, r, 1);
	if (end_a(p)) {
		check(p, !ibv_modify_qp(c->qp, &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		      "no way to SQD");
		check(p, event_wait(p, IBV_EVENT_SQ_DRAINED, c->qp, 3000 * p->slow), "not drained");
		conn_send(c, &wr);
		queue_quiet(c->send, 30);
		check(p, !ibv_modify_qp(c->qp, &to, IBV_QP_STATE), "no way back to RTS");
		queue_want(c->send, 2, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	conn_recv(c, 3, &sge, 1);
	to.qp_state = IBV_QPS_ERR;
	check(p, !ibv_modify_qp(c->qp, &to, IBV_QP_STATE), "no way to ERR");
	wr.wr_id = 5;
	conn_send(c, &wr);
	queue_want(c->send, 5, IBV_WC_WR_FLUSH_ERR);
	queue_want(c->recv, 3, IBV_WC_WR_FLUSH_ERR);
	check(p, !conn_modify(c, IBV_QPS_RESET), "no way to RESET");
	pair_sync(p);
	conn_ready(c);
	one_good(c, r, 9);
}

/* ---- on a network that loses ---- */

/* Longer than a train, which a network on this machine loses as a whole. */
#define LOSSY_LEN 20000
#define LOSSY_ROOM 20480
#define LOSSY_MANY 200

/* Each message has its number in the immediate data, and a pattern of its own. */
static void lossy_send(struct conn *c, struct region *r, unsigned int i)
{
	struct ibv_sge sge = sge_of(r, 0, LOSSY_LEN);
	struct ibv_send_wr wr;

	pattern_fill(r->buf, LOSSY_LEN, i);
	wr = wr_rdma(i, IBV_WR_SEND_WITH_IMM, &sge, 1, 0, 0, 0);
	wr.imm_data = htonl(i);
	send_blindly(c, wr);
}

/* Each message has a receive of its own; returns how many have arrived. */
static unsigned int lossy_receive(struct conn *c, struct region *r, unsigned int many)
{
	struct pair *p = c->p;
	uint64_t until = now_ms() + 2000 * p->slow;
	unsigned int got = 0, next = 0, count = 0;
	uint8_t want[LOSSY_LEN];
	struct ibv_wc wc;
	size_t at;

	while (now_ms() < until && next < many) {
		if (!queue_poll(c->recv, &wc, 1)) {
			relax(p, &count);
			continue;
		}
		until = now_ms() + 2000 * p->slow;
		check(p, !wc.status && wc.byte_len == LOSSY_LEN, "receive %llu: %s, %u bytes",
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), wc.byte_len);
		check(p, ntohl(wc.imm_data) >= next, "message %u after %u", ntohl(wc.imm_data),
		      next);
		next = ntohl(wc.imm_data);
		pattern_fill(want, LOSSY_LEN, next++);
		at = pattern_differ(r->buf + wc.wr_id * LOSSY_ROOM, want, LOSSY_LEN);
		check(p, at == LOSSY_LEN, "message %u has a wrong byte %zu", next - 1, at);
		got++;
	}
	return got;
}

static void run_lossy(struct pair *p, const void *arg)
{
	unsigned int many = p->quick ? LOSSY_MANY / 2 : LOSSY_MANY, got, i;
	bool rxe = end_a(p) ? p->rxe : p->peer_rxe;
	struct region *r = region_new(p, (size_t)many * LOSSY_ROOM, ALL_ACCESS);
	struct conn_attr attr = uc_defaults(p);
	struct ibv_sge sge;
	struct conn *c;

	(void)arg;
	/* More than 64 packets may stop rdma_rxe for ever (interop.rst): 20, message by message. */
	attr.mtu = rxe ? IBV_MTU_1024 : IBV_MTU_256;
	attr.recv_wr = many;
	c = conn_open(p, &attr);
	for (i = 0; i < many && end_b(p); i++) {
		sge = sge_of(r, i * LOSSY_ROOM, LOSSY_LEN);
		conn_recv(c, i, &sge, 1);
	}
	pair_sync(p);
	for (i = 0; i < many; i++) {
		if (end_a(p))
			lossy_send(c, r, i);
		if (rxe)
			pair_sync(p);
	}
	/* However long the sender takes. */
	pair_sync(p);
	if (end_b(p)) {
		got = lossy_receive(c, r, many);
		note(p, "%u of %u messages have arrived", got, many);
		/* One train in ten is lost, and each message is two of them. */
		check(p, got > many / 3 && got < many, "%u of %u messages", got, many);
	}
	pair_sync(p);
	conn_want_state(c, IBV_QPS_RTS);
}

/* Every path MTU, over both families, in both directions. */
static void all_ways(struct pair *p)
{
	struct data_arg arg;
	int i;

	for (i = 0; i < 4; i++) {
		pair_family(p, i / 2);
		arg.from_b = i % 2;
		for (arg.mtu = IBV_MTU_256; arg.mtu <= p->port.active_mtu; arg.mtu++) {
			arg.extended = (arg.mtu + i) % 2;
			pair_case(p, run_sizes, &arg, "%s: UC operations of end %c at MTU %u",
				  p->ipv6 ? "IPv6" : "IPv4", arg.from_b ? 'b' : 'a',
				  128U << arg.mtu);
		}
	}
	pair_family(p, false);
}

int main(int argc, char **argv)
{
	struct data_arg arg = { .extended = false };
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "sizes")) {
		for (arg.mtu = IBV_MTU_256; arg.mtu <= p.port.active_mtu; arg.mtu++) {
			arg.extended = arg.mtu % 2;
			arg.from_b = arg.extended;
			pair_family(&p, arg.mtu == IBV_MTU_2048);
			pair_case(&p, run_sizes, &arg, "all UC operations at MTU %u%s%s",
				  128U << arg.mtu, arg.extended ? ", by ibv_wr_*()" : "",
				  p.ipv6 ? ", IPv6" : "");
		}
		pair_family(&p, false);
	}
	/* The same and more, for those to whom both ends are not the same. */
	if (argc > 3 && pair_wants(&p, "ways"))
		all_ways(&p);
	if (pair_wants(&p, "errors")) {
		pair_case(&p, run_no_room, NULL,
			  "messages without a receive, and with a short one, are dropped");
		pair_case(&p, run_bad_target, NULL,
			  "WRITEs with bad keys, ranges and rights are dropped");
		pair_case(&p, run_bad_source, NULL,
			  "a local error of the sender completes in error");
		pair_case(&p, run_bad_receive, NULL,
			  "a local error of the receiver ends its queue pair only");
		pair_case(&p, run_refused, NULL, "READs and atomics are refused");
		pair_case(&p, run_life, NULL,
			  "a UC queue pair is drained, flushed, reset and used again");
	}
	/* Only where the network loses. */
	if (argc > 3 && !strcmp(argv[3], "lossy"))
		pair_case(&p, run_lossy, NULL,
			  "a lossy network: messages arrive whole or not at all");
	return pair_close(&p);
}
