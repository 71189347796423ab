// SPDX-License-Identifier: GPL-2.0
/*
 * mcast - multicast: a datagram to a group reaches each attached queue pair at both
 * ends once, and no other
 *
 *	mcast a|b PORT [GROUP...]	see main() for the groups
 *
 * End a sends. No rdma_cm joins the group.
 */
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/pattern.h"

#define MCAST_QPN 0xffffff
#define ROOM 4608

/* Groups nobody else uses: 239.77.0.N and, for this site, ff15::4d:N. */
static union ibv_gid mgid_of(struct pair *p, unsigned int n)
{
	union ibv_gid v4 = { .raw = { [10] = 0xff, 0xff, 239, 77, n >> 8, n } };
	union ibv_gid v6 = { .raw = { 0xff, 0x15, [13] = 0x4d, n >> 8, n } };

	return p->ipv6 ? v6 : v4;
}

static int try_attach(struct conn *c, unsigned int n)
{
	union ibv_gid mgid = mgid_of(c->p, n);

	return ibv_attach_mcast(c->qp, &mgid, 0);
}

static int try_detach(struct conn *c, unsigned int n)
{
	union ibv_gid mgid = mgid_of(c->p, n);

	return ibv_detach_mcast(c->qp, &mgid, 0);
}

/* At its end a case destroys queue pairs, and attached they cannot be. */
struct member {
	struct conn *c;
	unsigned int n;
};

static int undo_attach(void *what)
{
	struct member member = *(struct member *)what;

	free(what);
	return try_detach(member.c, member.n);
}

static struct member *attach(struct conn *c, unsigned int n)
{
	struct member *member = malloc(sizeof(*member));
	int error = try_attach(c, n);

	check(c->p, !error, "ibv_attach_mcast to group %u: %s", n, strerror(error));
	*member = (struct member){ c, n };
	undo_later(c->p, undo_attach, member, "ibv_detach_mcast");
	return member;
}

/*
 * Who has attached is deaf for another moment where the interface is a real one:
 * drivers (virtio_net) may tell their device of a new address a moment later.
 */
static void settle(struct pair *p)
{
	const char *topology = getenv("TOPOLOGY");

	if (topology && !strcmp(topology, "pair"))
		usleep(100000 * p->slow);
	pair_sync(p);
}

static struct ibv_ah *ah_to(struct pair *p, unsigned int n, uint8_t hops)
{
	union ibv_gid mgid = mgid_of(p, n);
	struct ibv_ah_attr attr = ah_attr_to(p, &mgid);

	attr.grh.hop_limit = hops;
	return ah_new(p, p->pd, &attr);
}

static struct ibv_send_wr wr_mcast(struct ibv_ah *ah, uint32_t qkey, uint64_t wr_id,
				   struct ibv_sge *sge)
{
	return wr_dgram_to(ah, MCAST_QPN, qkey, wr_id, sge, 1, IBV_SEND_SIGNALED);
}

/* A datagram that came: from whom, to which group, after how many hops. */
static void judge(struct conn *c, const uint8_t *buf, uint64_t wr_id, uint32_t size,
		  const struct conn_id *from, unsigned int n, uint8_t hops)
{
	const struct iphdr *ip4 = (const void *)(buf + 20);
	const struct ip6_hdr *ip6 = (const void *)buf;
	union ibv_gid to = mgid_of(c->p, n);
	struct pair *p = c->p;
	struct ibv_wc wc;

	queue_next(c->recv, &wc);
	check(p, !wc.status && wc.wr_id == wr_id && wc.opcode == IBV_WC_RECV &&
	      wc.qp_num == c->qp->qp_num, "receive %llu of QP 0x%x: %s, not receive %llu",
	      (unsigned long long)wc.wr_id, wc.qp_num, ibv_wc_status_str(wc.status),
	      (unsigned long long)wr_id);
	check(p, wc.byte_len == size + GRH_BYTES && wc.wc_flags & IBV_WC_GRH &&
	      wc.src_qp == from->qpn, "%u bytes, flags 0x%x, from QP 0x%x: not %u from 0x%x",
	      wc.byte_len, wc.wc_flags, wc.src_qp, size + GRH_BYTES, from->qpn);
	/* RoCE v1 has an IPv6 header, so to speak, for either. */
	if (p->ipv6 || p->v1)
		check(p, !memcmp(&ip6->ip6_src, &from->gid, 16) &&
		      !memcmp(&ip6->ip6_dst, &to, 16) && ip6->ip6_hlim == hops,
		      "wrong addresses or hop limit (%u) in the GRH", ip6->ip6_hlim);
	else
		check(p, !memcmp(&ip4->saddr, from->gid.raw + 12, 4) &&
		      !memcmp(&ip4->daddr, to.raw + 12, 4) && ip4->ttl == hops,
		      "wrong addresses or TTL (%u) in the GRH", ip4->ttl);
}

#define MEMBERS 5

/* From a to many members at b, in all sizes. */
static void run_sizes(struct pair *p, const void *arg)
{
	const uint32_t sizes[] = { 0, 1, 3, 64, 511, 1024, 128U << p->port.active_mtu };
	struct region *r = region_new(p, (MEMBERS + 1) * ROOM, ALL_ACCESS);
	struct conn_attr attr = dgram_defaults(p);
	struct conn *c[MEMBERS];
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_ah *ah;
	unsigned int i, k;

	attr.extended = arg;
	for (i = 0; i < MEMBERS; i++) {
		c[i] = conn_open(p, &attr);
		if (end_b(p))
			attach(c[i], 1);
	}
	ah = ah_to(p, 1, 7);
	settle(p);
	for (k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		uint8_t *want = r->buf + MEMBERS * ROOM;

		pattern_fill(want, sizes[k], k);
		for (i = 0; i < MEMBERS && end_b(p); i++) {
			sge = sge_of(r, i * ROOM, ROOM);
			conn_recv(c[i], k, &sge, 1);
		}
		pair_sync(p);
		if (end_a(p)) {
			sge = sge_of(r, MEMBERS * ROOM, sizes[k]);
			wr = wr_mcast(ah, attr.qkey, k, &sge);
			conn_send(c[0], &wr);
			queue_want(c[0]->send, k, IBV_WC_SUCCESS);
		}
		for (i = 0; i < MEMBERS && end_b(p); i++) {
			judge(c[i], r->buf + i * ROOM, k, sizes[k], &c[0]->peer, 1, 7);
			check(p, !memcmp(r->buf + i * ROOM + GRH_BYTES, want, sizes[k]),
			      "%u bytes are wrong at member %u", sizes[k], i);
		}
		pair_sync(p);
	}
	for (i = 0; i < MEMBERS; i++)
		queue_quiet(c[i]->recv, i ? 0 : 20);
}

/* The hop limit is that of the address handle, and datagrams to other groups are not received. */
static void run_hops(struct pair *p, const void *arg)
{
	static const uint8_t hops[] = { 1, 64, 255 };
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct conn_attr attr = dgram_defaults(p);
	struct ibv_sge sge = sge_of(r, 0, 100);
	struct ibv_send_wr wr;
	struct conn *c;
	unsigned int i;

	(void)arg;
	c = conn_open(p, &attr);
	if (end_b(p))
		attach(c, 2);
	settle(p);
	for (i = 0; i < sizeof(hops); i++) {
		if (end_b(p))
			conn_recv(c, i, &sge, 1);
		pair_sync(p);
		if (end_b(p)) {
			judge(c, r->buf, i, 10, &c->peer, 2, hops[i]);
			continue;
		}
		sge.length = 10;
		wr = wr_mcast(ah_to(p, 3, hops[i]), attr.qkey, 8, &sge);
		conn_send(c, &wr);
		wr = wr_mcast(ah_to(p, 2, hops[i]), attr.qkey, 9, &sge);
		conn_send(c, &wr);
		queue_want(c->send, 8, IBV_WC_SUCCESS);
		queue_want(c->send, 9, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	queue_quiet(c->recv, 20);
}

/*
 * A datagram loops back to attached queue pairs of the sender's end, and to the sender itself
 * unless it was created with BLOCK_SELF_MCAST_LB.
 */
static void run_loopback(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 4 * ROOM, ALL_ACCESS);
	struct conn_attr attr = dgram_defaults(p);
	struct conn *c[3];
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_ah *ah;
	int i, k;

	(void)arg;
	attr.extended = true;
	for (i = 0; i < 3; i++) {
		attr.create_flags = i == 2 ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0;
		c[i] = conn_open(p, &attr);
		attach(c[i], 4);
	}
	ah = ah_to(p, 4, 1);
	settle(p);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 3; i++) {
			sge = sge_of(r, i * ROOM, ROOM);
			conn_recv(c[i], k, &sge, 1);
		}
		pair_sync(p);
		if (end_a(p)) {
			sge = sge_of(r, 3 * ROOM, 300);
			wr = wr_mcast(ah, attr.qkey, k, &sge);
			conn_send(c[k], &wr);
			queue_want(c[k]->send, k, IBV_WC_SUCCESS);
		}
		for (i = 0; i < 3; i++)
			if (end_b(p) || k < 2 || i != k)
				judge(c[i], r->buf + i * ROOM, k, 300,
				      end_a(p) ? &c[k]->own : &c[k]->peer, 4, 1);
		pair_sync(p);
	}
	for (i = 0; i < 3; i++)
		queue_quiet(c[i]->recv, i ? 0 : 20);
}

/* Each queue pair receives the datagrams of its own groups, as often as they are sent. */
static void run_groups(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 16 * 256, ALL_ACCESS);
	struct conn_attr attr = dgram_defaults(p);
	struct ibv_send_wr wr;
	struct conn *c[4];
	struct ibv_sge sge;
	int i, n;

	(void)arg;
	for (i = 0; i < 4; i++) {
		c[i] = conn_open(p, &attr);
		/* QP i is in the groups 10 + i, 11 + i, 12 + i. */
		for (n = 0; n < 3 && end_b(p); n++) {
			attach(c[i], 10 + i + n);
			sge = sge_of(r, (i * 3 + n) * 256, 256);
			conn_recv(c[i], n, &sge, 1);
		}
	}
	settle(p);
	for (n = 10; n < 16 && end_a(p); n++) {
		sge = sge_of(r, 0, n);
		wr = wr_mcast(ah_to(p, n, 1), attr.qkey, n, &sge);
		conn_send(c[0], &wr);
		queue_want(c[0]->send, n, IBV_WC_SUCCESS);
	}
	for (i = 0; i < 4 && end_b(p); i++)
		for (n = 0; n < 3; n++)
			judge(c[i], r->buf + (i * 3 + n) * 256, n, 10 + i + n, &c[0]->peer,
			      10 + i + n, 1);
	pair_sync(p);
	queue_quiet(c[0]->recv, 10);
}

/* Many in a row: a train. All arrive, in order, at each member, also at the sender's end. */
static void run_train(struct pair *p, const void *both)
{
	enum { N = 48 };
	struct region *r = region_new(p, (3 * N + 1) * 256, ALL_ACCESS);
	struct conn_attr attr = dgram_defaults(p);
	bool hears = end_b(p) || both;
	struct ibv_send_wr wr[N];
	struct ibv_sge sge[N];
	struct conn *c[3];
	struct ibv_ah *ah;
	int i, k;

	attr.send_wr = N;
	for (i = 0; i < 3; i++) {
		c[i] = conn_open(p, &attr);
		if (hears)
			attach(c[i], 5);
		for (k = 0; k < N && hears; k++) {
			sge[0] = sge_of(r, (i * N + k) * 256, 256);
			conn_recv(c[i], k, sge, 1);
		}
	}
	ah = ah_to(p, 5, 1);
	settle(p);
	for (k = 0; k < N && end_a(p); k++) {
		sge[k] = sge_of(r, 3 * N * 256, 64 + k);
		wr[k] = wr_mcast(ah, attr.qkey, k, &sge[k]);
		wr[k].next = k + 1 < N ? &wr[k + 1] : NULL;
	}
	if (end_a(p)) {
		conn_send(c[0], wr);
		for (k = 0; k < N; k++)
			queue_want(c[0]->send, k, IBV_WC_SUCCESS);
	}
	for (i = 0; i < 3 && hears; i++)
		for (k = 0; k < N; k++)
			judge(c[i], r->buf + (i * N + k) * 256, k, 64 + k,
			      end_a(p) ? &c[0]->own : &c[0]->peer, 5, 1);
}

/* ---- what is dropped, and refused ---- */

/* Wrong Q_Keys, no receive, a wrong QP number: each affects some members only. */
static void run_drops(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 3 * 256, ALL_ACCESS);
	struct conn_attr attr = dgram_defaults(p);
	struct conn *c[3];
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_ah *ah;
	int i;

	(void)arg;
	for (i = 0; i < 3; i++) {
		attr.qkey = 0x5000 + (i == 1);
		c[i] = conn_open(p, &attr);
		if (end_b(p))
			attach(c[i], 6);
		sge = sge_of(r, i * 256, 256);
		if (end_b(p) && i < 2)
			conn_recv(c[i], 1, &sge, 1);
	}
	ah = ah_to(p, 6, 1);
	settle(p);
	if (end_a(p)) {
		sge = sge_of(r, 0, 20);
		/* A group's address with a queue pair's number, and the other way round. */
		wr = wr_dgram_to(ah, c[0]->peer.qpn, 0x5000, 1, &sge, 1, IBV_SEND_SIGNALED);
		conn_send(c[0], &wr);
		wr = wr_dgram_to(c[0]->ah, MCAST_QPN, 0x5000, 2, &sge, 1, IBV_SEND_SIGNALED);
		conn_send(c[0], &wr);
		sge.length = 21;
		wr = wr_mcast(ah, 0x5000, 3, &sge);
		conn_send(c[0], &wr);
		for (i = 1; i <= 3; i++)
			queue_want(c[0]->send, i, IBV_WC_SUCCESS);
	} else {
		judge(c[0], r->buf, 1, 21, &c[0]->peer, 6, 1);
		queue_quiet(c[1]->recv, 30);
		conn_want_state(c[2], IBV_QPS_RTS);
	}
}

static void run_refusals(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct ibv_ah_attr ah_attr;
	union ibv_gid wrong;
	struct conn *c, *rc;
	struct ibv_ah *ah;

	(void)arg;
	c = conn_open(p, &attr);
	attr = conn_defaults(p);
	rc = conn_make(p, &attr);
	check(p, try_attach(rc, 7) == EINVAL, "an RC queue pair can be attached");
	check(p, ibv_attach_mcast(c->qp, &p->gid, 0) == EINVAL, "a host's address is no group");
	check(p, try_detach(c, 7) == EINVAL, "what was not attached can be detached");
	check(p, !try_attach(c, 7), "ibv_attach_mcast");
	/* Twice is no more than once. */
	check(p, !try_attach(c, 7), "ibv_attach_mcast again");
	check(p, ibv_destroy_qp(c->qp) == EBUSY, "an attached queue pair can be destroyed");
	check(p, !try_detach(c, 7), "ibv_detach_mcast");
	check(p, try_detach(c, 7) == EINVAL, "attached once, detached twice");

	/*
	 * No connection leads to a group, and no address handle to one of another family; to
	 * RoCE v1 they are GIDs, and of one family.
	 */
	pair_family(p, !p->ipv6);
	wrong = mgid_of(p, 7);
	pair_family(p, !p->ipv6);
	ah_attr = ah_attr_to(p, &wrong);
	ah = ibv_create_ah(p->pd, &ah_attr);
	if (p->v1)
		check(p, ah && !ibv_destroy_ah(ah), "no address handle between families");
	else
		check(p, !ah && errno == EINVAL, "an address handle from IPv%d to the other",
		      p->ipv6 ? 6 : 4);
	conn_meet(rc);
	rc->peer.gid = mgid_of(p, 7);
	check(p, !conn_modify(rc, IBV_QPS_INIT) && conn_modify(rc, IBV_QPS_RTR) == EINVAL,
	      "a connection with a group");
}

/* Detached and attached again: a queue pair receives while it is attached. */
static void run_detach(struct pair *p, const void *arg)
{
	int rounds = p->quick ? 3 : 20, i, k, at = 0;
	struct region *r = region_new(p, 256, ALL_ACCESS);
	struct conn_attr attr = dgram_defaults(p);
	struct ibv_sge sge = sge_of(r, 0, 256);
	struct member *member = NULL;
	struct ibv_send_wr wr;
	struct ibv_ah *ah;
	struct conn *c;

	(void)arg;
	c = conn_open(p, &attr);
	ah = ah_to(p, 8, 1);
	for (i = 0; i < rounds; i++) {
		if (end_b(p)) {
			conn_recv(c, i, &sge, 1);
			member = attach(c, 8);
		}
		settle(p);
		for (k = 0; k < 2; k++) {
			if (end_a(p)) {
				sge.length = 2;
				wr = wr_mcast(ah, attr.qkey, at, &sge);
				conn_send(c, &wr);
				queue_want(c->send, at++, IBV_WC_SUCCESS);
			} else if (!k) {
				judge(c, r->buf, i, 2, &c->peer, 8, 1);
				undo_now(p, member);
				/* For what must not come. */
				if (!i)
					conn_recv(c, rounds, &sge, 1);
			}
			pair_sync(p);
		}
		if (!i && end_b(p)) {
			queue_quiet(c->recv, 20);
			check(p, !conn_modify(c, IBV_QPS_RESET), "ibv_modify_qp");
			conn_ready(c);
		}
	}
}

/* ---- limits ---- */

static void run_many_members(struct pair *p, const void *arg)
{
	int max = p->attr.max_mcast_qp_attach, i;
	struct conn_attr attr = dgram_defaults(p);
	struct member *third = NULL;
	struct ibv_send_wr wr;
	struct conn *c[128];
	struct ibv_sge sge;
	struct region *r;

	(void)arg;
	check(p, max > 1 && max < 128, "max_mcast_qp_attach is %d", max);
	r = region_new(p, max * 256, ALL_ACCESS);
	attr.recv_wr = 1;
	attr.entries = 4;
	for (i = 0; i <= max; i++) {
		c[i] = conn_make(p, &attr);
		c[i]->peer = c[i]->own;
		conn_ready(c[i]);
		if (i == max)
			continue;
		if (i == 3)
			third = attach(c[i], 9);
		else
			attach(c[i], 9);
		sge = sge_of(r, i * 256, 256);
		if (end_b(p))
			conn_recv(c[i], i, &sge, 1);
	}
	check(p, try_attach(c[max], 9) == ENOMEM, "more than the device has room for");
	pair_swap(p, &c[0]->own, &c[0]->peer, sizeof(c[0]->own));
	settle(p);
	if (end_a(p)) {
		sge = sge_of(r, 0, 9);
		wr = wr_mcast(ah_to(p, 9, 1), attr.qkey, 1, &sge);
		conn_send(c[0], &wr);
		queue_want(c[0]->send, 1, IBV_WC_SUCCESS);
	}
	for (i = 0; i < max && end_b(p); i++)
		judge(c[i], r->buf + i * 256, i, 9, &c[0]->peer, 9, 1);
	/* One goes, another may come. */
	undo_now(p, third);
	attach(c[max], 9);
}

/* One user may join half of the groups: others can join as many. */
static void run_many_groups(struct pair *p, const void *arg)
{
	int max = p->attr.max_mcast_grp / 2, i, error = 0;
	struct conn_attr attr = dgram_defaults(p);
	struct conn *c;

	(void)arg;
	c = conn_open(p, &attr);
	for (i = 0; i <= max && !error; i++)
		error = try_attach(c, 256 + i);
	check(p, i == max + 1 && error == ENOMEM, "%d groups of %d, then: %s", i - 1, max,
	      strerror(error));
	while (i-- > 1)
		check(p, !try_detach(c, 256 + i - 1), "ibv_detach_mcast");
}

/* A queue pair may join as many groups as a socket. */
static void run_memberships(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	int max = 0, i, error = 0;
	struct conn *c, *other;
	FILE *file;

	(void)arg;
	file = fopen("/proc/sys/net/ipv4/igmp_max_memberships", "r");
	check(p, file && fscanf(file, "%d", &max) == 1 && max > 0, "igmp_max_memberships");
	fclose(file);
	c = conn_open(p, &attr);
	other = conn_open(p, &attr);
	for (i = 0; i <= max && !error; i++)
		error = try_attach(c, 256 + i);
	check(p, i == max + 1 && error == ENOBUFS, "%d groups, the limit is %d, then: %s",
	      i - !!error, max, strerror(error));
	attach(other, 256);
	/* One is left, another may be joined. */
	check(p, !try_detach(c, 257), "ibv_detach_mcast");
	check(p, !try_attach(c, 255), "no place for another");
	for (i = 0; i < max; i++)
		check(p, !try_detach(c, i == 1 ? 255 : 256 + i), "ibv_detach_mcast");
}

int main(int argc, char **argv)
{
	struct pair p;
	int ipv6;

	pair_open(&p, argc, argv);
	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		const char *family = ipv6 ? "IPv6" : "IPv4";

		pair_family(&p, ipv6);
		if (pair_wants(&p, "data")) {
			pair_case(&p, run_sizes, NULL,
				  "%s: datagrams of all sizes reach all members", family);
			pair_case(&p, run_loopback, NULL,
				  "%s: loopback to local members, not with BLOCK_SELF_MCAST_LB",
				  family);
			pair_case(&p, run_train, NULL,
				  "%s: many datagrams in a row arrive in order", family);
			pair_case(&p, run_train, &p,
				  "%s: many datagrams in a row arrive in order at both ends",
				  family);
		}
		if (pair_wants(&p, "data") || pair_wants(&p, "hops"))
			pair_case(&p, run_hops, NULL,
				  "%s: the hop limit is kept, other groups are not received",
				  family);
		if (pair_wants(&p, "drops"))
			pair_case(&p, run_drops, NULL,
				  "%s: wrong Q_Keys, missing receives and wrong QP numbers",
				  family);
		if (pair_wants(&p, "member")) {
			pair_case(&p, run_groups, NULL,
				  "%s: each queue pair receives its own groups only",
				  family);
			pair_case(&p, run_detach, NULL,
				  "%s: a queue pair receives only while attached", family);
			pair_case(&p, run_refusals, NULL,
				  "%s: invalid attachments are refused", family);
		}
		if (pair_wants(&p, "limit")) {
			pair_case(&p, run_many_members, NULL,
				  "%s: the limit of members of a group", family);
			pair_case(&p, run_memberships, NULL,
				  "%s: a queue pair joins as many groups as a socket", family);
		}
	}
	pair_family(&p, false);
	if (pair_wants(&p, "data"))
		pair_case(&p, run_sizes, &p,
			  "datagrams reach all members by ibv_wr_*() and ibv_cq_ex");
	if (pair_wants(&p, "groups"))
		pair_case(&p, run_many_groups, NULL,
			  "the limit of groups of one user");
	return pair_close(&p);
}
