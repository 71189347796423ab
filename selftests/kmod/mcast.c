// SPDX-License-Identifier: GPL-2.0
/*
 * mcast - multicast: only members of a group get its datagrams
 *
 * The cases have UD queue pairs of their own.  Both are on one device, which
 * delivers to its own members, the sender included.
 *
 * Process context.
 */
#include <linux/ip.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "ktest.h"

/* Milliseconds without a datagram that prove that none was sent. */
#define SILENCE_MS	20

struct mcast_group {
	union ib_gid gid;
	struct ib_ah *ah;
};

/* Make a group of the address family of the sides. */
static void mcast_name_group(const struct ktest *t, union ib_gid *gid, u8 number)
{
	struct in6_addr *addr = (struct in6_addr *)gid->raw;

	if (t->ipv4)
		ipv6_addr_set_v4mapped(htonl(0xef4d0900 | number), addr);
	else
		ipv6_addr_set(addr, htonl(0xff150000), 0, 0, htonl(0x4d0900 | number));
}

/* Return false, with a failed case, on error. */
static bool mcast_group_new(struct stage *st, struct mcast_group *g, u8 number)
{
	const struct in6_addr *addr = (struct in6_addr *)g->gid.raw;
	struct rdma_ah_attr attr;

	mcast_name_group(st->t, &g->gid, number);
	if (!check(st->t, !ktest_ah_attr(st->t, &attr), "the address is gone"))
		return false;
	rdma_ah_set_dgid_raw(&attr, g->gid.raw);
	attr.grh.hop_limit = 1;
	if (st->t->ipv4)
		ip_eth_mc_map(addr->s6_addr32[3], attr.roce.dmac);
	else
		ipv6_eth_mc_map(addr, attr.roce.dmac);
	g->ah = rdma_create_ah(st->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	return check(st->t, !IS_ERR(g->ah), "no address handle: %ld", PTR_ERR(g->ah));
}

static void mcast_group_free(struct mcast_group *g)
{
	rdma_destroy_ah(g->ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static bool mcast_attach(struct side *s, struct mcast_group *g)
{
	int err = ib_attach_mcast(s->qp, &g->gid, 0);

	return check(s->t, !err, "not attached: %d", err);
}

static void mcast_detach(struct side *s, struct mcast_group *g)
{
	int err = ib_detach_mcast(s->qp, &g->gid, 0);

	check(s->t, !err, "not detached: %d", err);
}

static bool mcast_send(struct side *from, const struct mcast_group *g, u32 len)
{
	return want(post_dgram(from, &(struct dgram){
		.ah = g->ah, .qpn = IB_MULTICAST_QPN, .qkey = QKEY, .len = len,
	}), IB_WC_SUCCESS);
}

/* A datagram from @from reached @s, and its header has the group. */
static void mcast_check_came(struct mark *m, struct side *s, struct side *from,
			     const struct mcast_group *g, u32 len)
{
	const struct in6_addr *addr = (const void *)g->gid.raw;
	const union rdma_network_hdr *hdr = (void *)(s->buf + INBOX);

	if (!want(m, IB_WC_SUCCESS))
		return;
	check(s->t, m->wc.byte_len == GRH_BYTES + len &&
	      m->wc.src_qp == from->qp->qp_num, "%u bytes from %u", m->wc.byte_len,
	      m->wc.src_qp);
	check(s->t, s->t->ipv4 ? hdr->roce4grh.daddr == addr->s6_addr32[3] :
	      !memcmp(&hdr->ibgrh.dgid, &g->gid, sizeof(g->gid)), "another group");
	check(s->t, !memcmp(s->buf + INBOX + GRH_BYTES, from->buf, len), "wrong data");
}

/* Members join and leave one after the other. */
static void mcast_test_members(struct stage *st)
{
	struct side *a = &st->a, *b = &st->b;
	struct mark *at_a, *at_b;
	struct mcast_group g;

	if (!mcast_group_new(st, &g, 1))
		return;
	side_fill(a, 1);
	side_fill(b, 2);
	at_a = post_inbox(a, 900);
	at_b = post_inbox(b, 900);
	mcast_send(a, &g, 100);
	check(st->t, !mark_await(at_b, SILENCE_MS) && !at_a->times,
	      "a queue pair that never joined gets the datagram");
	if (!mcast_attach(b, &g))
		goto out;
	mcast_send(a, &g, 200);
	mcast_check_came(at_b, b, a, &g, 200);
	check(st->t, !mark_await(at_a, SILENCE_MS),
	      "another queue pair gets the datagram");
	if (!mcast_attach(a, &g))
		goto detach;
	at_b = post_inbox(b, 900);
	mcast_send(b, &g, 900);
	mcast_check_came(at_b, b, b, &g, 900);
	mcast_check_came(at_a, a, b, &g, 900);
	at_a = post_inbox(a, 900);
	at_b = post_inbox(b, 900);
	mcast_detach(b, &g);
	mcast_send(b, &g, 0);
	mcast_check_came(at_a, a, b, &g, 0);
	at_a = post_inbox(a, 900);
	mcast_detach(a, &g);
	mcast_send(a, &g, 300);
	check(st->t, !mark_await(at_b, SILENCE_MS) && !at_a->times,
	      "a queue pair that has left gets the datagram");
	goto out;
detach:
	mcast_detach(b, &g);
out:
	mcast_group_free(&g);
}

/* In many groups at once. */
static void mcast_test_many(struct stage *st)
{
	const unsigned int n = st->t->quick ? 4 : 40;
	struct side *a = &st->a, *b = &st->b;
	unsigned int i, attached = 0;
	struct mcast_group groups[40];

	side_fill(a, 3);
	for (i = 0; i < n; i++) {
		if (!mcast_group_new(st, &groups[i], 1 + i))
			break;
		if (!mcast_attach(b, &groups[i])) {
			mcast_group_free(&groups[i]);
			break;
		}
		attached++;
	}
	for (i = 0; i < attached; i++) {
		struct mark *recv = post_inbox(b, 1000);

		mcast_send(a, &groups[i], 500 + i);
		mcast_check_came(recv, b, a, &groups[i], 500 + i);
	}
	for (i = 0; i < attached; i++) {
		mcast_detach(b, &groups[i]);
		mcast_group_free(&groups[i]);
	}
}

/* IBTA 10.5: who may attach, and the errors. */
static void mcast_test_rules(struct stage *st)
{
	const struct kind kind = {
		.type = IB_QPT_RC, .how = IB_POLL_WORKQUEUE, .beside = st,
	};
	struct stage *rc = stage_open_of(st->t, &kind, DEPTH);
	struct mcast_group g;
	int err;

	if (!rc)
		return;
	mcast_name_group(st->t, &g.gid, 9);
	err = ib_attach_mcast(rc->a.qp, &g.gid, 0);
	check(st->t, err == -EINVAL, "an RC queue pair joins: %d", err);
	stage_close(rc);
	err = ib_attach_mcast(st->a.qp, &st->t->gid, 0);
	check(st->t, err == -EINVAL, "a unicast address: %d", err);
	err = ib_detach_mcast(st->a.qp, &g.gid, 0);
	check(st->t, err == -EINVAL, "leaving without having joined: %d", err);
	if (!mcast_attach(&st->a, &g))
		return;
	err = ib_attach_mcast(st->a.qp, &g.gid, 0);
	check(st->t, err == -EEXIST, "joining twice: %d", err);
	err = ib_detach_mcast(st->b.qp, &g.gid, 0);
	check(st->t, err == -EINVAL, "another queue pair leaves: %d", err);
	err = ib_destroy_qp(st->a.qp);
	if (!check(st->t, err == -EBUSY, "destroyed while in a group: %d", err))
		st->a.qp = NULL;
	else
		mcast_detach(&st->a, &g);
}

struct mcast_case {
	void (*fn)(struct stage *st);
	const char *name;
};

static const struct mcast_case mcast_cases[] = {
	{ mcast_test_members, "only members of a group get its datagrams" },
	{ mcast_test_many, "a queue pair can be in many groups" },
	{ mcast_test_rules, "invalid attach and detach are refused" },
};

static void mcast_run_case(struct stage *rc, const void *arg)
{
	const struct kind kind = {
		.type = IB_QPT_UD, .how = IB_POLL_SOFTIRQ, .beside = rc,
	};
	const struct mcast_case *c = arg;
	struct stage *st = stage_open_of(rc->t, &kind, 4 * DEPTH);

	if (!st)
		return;
	c->fn(st);
	stage_close(st);
}

void ktest_mcast(struct ktest *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mcast_cases); i++)
		ktest_run(t, mcast_run_case, &mcast_cases[i], "multicast: %s",
			  mcast_cases[i].name);
}
