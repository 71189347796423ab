// SPDX-License-Identifier: GPL-2.0
/*
 * ud - datagrams: address handles, headers before the payload, losses
 *
 * The cases have queue pairs of their own, with one address: an address handle
 * reaches either.
 *
 * Process context.
 */
#include <linux/ip.h>
#include <net/checksum.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "ktest.h"

/* Length of UDP header, BTH, DETH, payload and ICRC. */
#define UDP_LEN(len, imm)	(8 + 12 + 8 + ((imm) ? 4 : 0) + ALIGN(len, 4) + 4)

/* Attributes of the address that both sides have. */
int ktest_ah_attr(struct ktest *t, struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(t->dev, PORT, t->gid_index);
	int err;

	if (IS_ERR(gid))
		return PTR_ERR(gid);
	*attr = (struct rdma_ah_attr){ .type = rdma_ah_find_type(t->dev, PORT) };
	rdma_ah_set_port_num(attr, PORT);
	rdma_ah_set_grh(attr, &t->gid, 0, t->gid_index, 64, 0);
	err = rdma_read_gid_l2_fields(gid, NULL, attr->roce.dmac);
	rdma_put_gid_attr(gid);
	return err;
}

/* Return NULL, with a failed case, on error. */
struct ib_ah *ktest_ah(struct stage *st, u32 flags)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;

	if (!check(st->t, !ktest_ah_attr(st->t, &attr), "the address is gone"))
		return NULL;
	/* Without RDMA_CREATE_AH_SLEEPABLE it must not sleep. */
	if (!(flags & RDMA_CREATE_AH_SLEEPABLE))
		local_bh_disable();
	ah = rdma_create_ah(st->pd, &attr, flags);
	if (!(flags & RDMA_CREATE_AH_SLEEPABLE))
		local_bh_enable();
	return check(st->t, !IS_ERR(ah), "no address handle: %ld", PTR_ERR(ah)) ?
	       ah : NULL;
}

struct mark *post_dgram(struct side *s, const struct dgram *d)
{
	struct ib_sge sge = {
		.addr = s->dma + d->at, .length = d->len,
		.lkey = d->lkey ?: s->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.opcode = d->imm ? IB_WR_SEND_WITH_IMM : IB_WR_SEND,
			.sg_list = &sge, .num_sge = d->len ? 1 : 0,
			.ex.imm_data = cpu_to_be32(d->imm),
		},
		.ah = d->ah,
		.remote_qpn = d->qpn,
		.remote_qkey = d->qkey,
	};
	struct mark *m = mark_new(s);

	if (d->destroy_ah)
		m->ah = d->ah;
	return post_marked(m, &wr.wr);
}

static u32 ud_port_mtu(struct ktest *t)
{
	struct ib_port_attr port = {};

	return check(t, !ib_query_port(t->dev, PORT, &port), "no port") ?
	       ib_mtu_enum_to_int(port.active_mtu) : 256;
}

/* Post a receive of @len bytes and the header. */
struct mark *post_inbox(struct side *s, u32 len)
{
	return post_recv(s, s->dma + INBOX, GRH_BYTES + len, s->pd->local_dma_lkey);
}

/* A datagram of @len bytes. */
static struct dgram ud_dgram_to(const struct side *to, struct ib_ah *ah, u32 len)
{
	return (struct dgram){
		.ah = ah, .qpn = to->qp->qp_num, .qkey = QKEY, .len = len,
	};
}

/* RFC 791; in RoCE behind twenty zero bytes. */
static void ud_check_ipv4(struct ktest *t, const union rdma_network_hdr *hdr,
			  u32 size)
{
	const struct iphdr *ip = &hdr->roce4grh;
	__be32 addr;

	memcpy(&addr, t->gid.raw + 12, 4);
	check(t, !memchr_inv(hdr->reserved, 0, sizeof(hdr->reserved)),
	      "the bytes before the header are not zero");
	check(t, ip->version == 4 && ip->ihl == 5 && ip->protocol == IPPROTO_UDP &&
	      ip->saddr == addr && ip->daddr == addr, "%20ph", ip);
	check(t, ntohs(ip->tot_len) == sizeof(*ip) + size,
	      "%u bytes in the header", ntohs(ip->tot_len));
	check(t, !ip_fast_csum(ip, ip->ihl), "wrong checksum in the header");
}

/* RFC 8200. */
static void ud_check_ipv6(struct ktest *t, const union rdma_network_hdr *hdr,
			  u32 size)
{
	const struct ipv6hdr *ip = (const void *)&hdr->ibgrh;

	check(t, ip->version == 6 && ip->nexthdr == IPPROTO_UDP && ip->hop_limit == 64,
	      "%8ph", ip);
	check(t, ntohs(ip->payload_len) == size, "%u bytes in the header",
	      ntohs(ip->payload_len));
}

static enum rdma_network_type ud_network_type(const struct ktest *t)
{
	return t->ipv4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
}

static void ud_check_header(struct side *s, u32 len, bool imm)
{
	const union rdma_network_hdr *hdr = (void *)(s->buf + INBOX);
	struct ktest *t = s->t;
	union ib_gid from, to;

	(t->ipv4 ? ud_check_ipv4 : ud_check_ipv6)(t, hdr, UDP_LEN(len, imm));
	check(t, !ib_get_gids_from_rdma_hdr(hdr, ud_network_type(t), &from, &to) &&
	      !memcmp(&from, &t->gid, sizeof(from)) &&
	      !memcmp(&to, &t->gid, sizeof(to)), "from %pI6 to %pI6", &from, &to);
}

/* A receive at @s has the datagram from @from. */
static bool ud_check_came(struct mark *m, struct side *s,
			  const struct side *from, const struct dgram *d)
{
	const int always = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	const struct ib_wc *wc = &m->wc;

	if (!want(m, IB_WC_SUCCESS))
		return false;
	check(s->t, wc->opcode == IB_WC_RECV && wc->byte_len == GRH_BYTES + d->len,
	      "opcode %d, %u bytes", wc->opcode, wc->byte_len);
	check(s->t, wc->src_qp == from->qp->qp_num, "from %u", wc->src_qp);
	check(s->t, wc->wc_flags == (always | (d->imm ? IB_WC_WITH_IMM : 0)) &&
	      wc->network_hdr_type == ud_network_type(s->t) &&
	      wc->port_num == PORT && !wc->pkey_index,
	      "flags 0x%x, header %d, port %u, key %u", wc->wc_flags,
	      wc->network_hdr_type, wc->port_num, wc->pkey_index);
	check(s->t, !d->imm || be32_to_cpu(wc->ex.imm_data) == d->imm, "data 0x%x",
	      be32_to_cpu(wc->ex.imm_data));
	ud_check_header(s, d->len, d->imm);
	return check(s->t, !memcmp(s->buf + INBOX + GRH_BYTES, from->buf + d->at,
				   d->len), "wrong data");
}

/* Send one from @from to @to, with a receive of its own. */
static bool ud_pass_one(struct side *from, struct side *to, struct dgram d)
{
	struct mark *recv = post_inbox(to, d.len);

	return want(post_dgram(from, &d), IB_WC_SUCCESS) &&
	       ud_check_came(recv, to, from, &d);
}

static void ud_test_data(struct stage *st, struct ib_ah *ah)
{
	const u32 mtu = ud_port_mtu(st->t);
	const u32 lens[] = { 0, 1, 3, 4, 255, 1000, 1025, mtu - 1, mtu };
	struct side *a = &st->a, *b = &st->b;
	unsigned int i;
	struct dgram d;

	for (i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		side_fill(a, i);
		memset(b->buf, 0xee, BUF_SIZE);
		d = ud_dgram_to(b, ah, lens[i / 2]);
		d.imm = i % 2 ? 0x80000001 + i : 0;
		ud_pass_one(a, b, d);
		check(st->t, !memchr_inv(b->buf + INBOX + GRH_BYTES + d.len, 0xee,
					 BUF_SIZE - INBOX - GRH_BYTES - d.len),
		      "%u bytes: more was written", d.len);
	}
}

/* Make an address handle from a completion, in two ways. */
static struct ib_ah *ud_ah_from(struct stage *st, const struct mark *m, u8 *grh,
				bool by_attr)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;
	int err;

	if (!by_attr)
		return ib_create_ah_from_wc(st->pd, &m->wc, (void *)grh, PORT);
	err = ib_init_ah_attr_from_wc(st->t->dev, PORT, &m->wc, (void *)grh, &attr);
	if (err)
		return ERR_PTR(err);
	check(st->t, attr.type == RDMA_AH_ATTR_TYPE_ROCE &&
	      !memcmp(&attr.grh.dgid, &st->t->gid, 16) &&
	      attr.grh.sgid_attr->index == st->t->gid_index,
	      "to %pI6 from address %u", &attr.grh.dgid, attr.grh.sgid_attr->index);
	ah = rdma_create_ah(st->pd, &attr, 0);
	rdma_destroy_ah_attr(&attr);
	return ah;
}

static void ud_test_answer(struct stage *st, struct ib_ah *ah)
{
	struct side *a = &st->a, *b = &st->b;
	struct dgram d = ud_dgram_to(b, ah, 50);
	struct mark *recv;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		side_fill(a, i);
		recv = post_inbox(b, 50);
		want(post_dgram(a, &d), IB_WC_SUCCESS);
		if (!ud_check_came(recv, b, a, &d))
			return;
		ah = ud_ah_from(st, recv, b->buf + INBOX, i);
		if (!check(st->t, !IS_ERR(ah), "no address handle for the answer: %ld",
			   PTR_ERR(ah)))
			return;
		side_fill(b, 10 + i);
		ud_pass_one(b, a, (struct dgram){
			.ah = ah, .qpn = recv->wc.src_qp, .qkey = QKEY, .len = 60,
			.imm = 7,
		});
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
}

static void ud_test_handle(struct stage *st, struct ib_ah *ah)
{
	struct rdma_ah_attr attr = {}, bad;

	check(st->t, ah->pd == st->pd && ah->type == RDMA_AH_ATTR_TYPE_ROCE,
	      "wrong domain or type");
	if (check(st->t, !rdma_query_ah(ah, &attr), "rdma_query_ah() failed"))
		check(st->t, rdma_ah_get_port_num(&attr) == PORT &&
		      rdma_ah_get_ah_flags(&attr) & IB_AH_GRH &&
		      !memcmp(&attr.grh.dgid, &st->t->gid, 16) &&
		      attr.grh.sgid_index == st->t->gid_index &&
		      attr.grh.hop_limit == 64, "to %pI6 from address %u",
		      &attr.grh.dgid, attr.grh.sgid_index);
	check(st->t, rdma_modify_ah(ah, &attr) == -EOPNOTSUPP, "rdma_modify_ah() works");

	if (!check(st->t, !ktest_ah_attr(st->t, &attr), "the address is gone"))
		return;
	bad = attr;
	rdma_ah_set_port_num(&bad, PORT + 1);
	check(st->t, IS_ERR(rdma_create_ah(st->pd, &bad, 0)), "a handle for another port");
	bad = attr;
	rdma_ah_set_ah_flags(&bad, 0);
	check(st->t, IS_ERR(rdma_create_ah(st->pd, &bad, 0)), "a handle without GRH");
	bad = attr;
	bad.grh.sgid_index = 255;
	check(st->t, IS_ERR(rdma_create_ah(st->pd, &bad, 0)),
	      "a handle for an invalid GID index");
}

static u32 ud_qkey_violations(struct ktest *t)
{
	struct ib_port_attr port = {};

	check(t, !ib_query_port(t->dev, PORT, &port), "no port");
	return port.qkey_viol_cntr;
}

/* The top bit stands for the queue pair's own Q_Key (IBTA 10.2.5). */
static void ud_test_qkey(struct stage *st, struct ib_ah *ah)
{
	static const u32 bad[] = { QKEY ^ 1, 0, QKEY ^ BIT(30), ~QKEY & 0x7fffffff };
	struct side *a = &st->a, *b = &st->b;
	u32 before = ud_qkey_violations(st->t);
	struct dgram d = ud_dgram_to(b, ah, 30);
	struct mark *recv = post_inbox(b, 100);
	unsigned int i;

	side_fill(a, 1);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		d.qkey = bad[i];
		want(post_dgram(a, &d), IB_WC_SUCCESS);
	}
	d = ud_dgram_to(b, ah, 31);
	d.qkey = BIT(31);
	want(post_dgram(a, &d), IB_WC_SUCCESS);
	ud_check_came(recv, b, a, &d);
	check(st->t, ud_qkey_violations(st->t) - before == ARRAY_SIZE(bad),
	      "%u violations are counted", ud_qkey_violations(st->t) - before);
	d.qkey = BIT(31) | 5;
	ud_pass_one(a, b, d);
	ud_pass_one(a, b, ud_dgram_to(b, ah, 32));
}

/* To no queue pair, and to one that is not UD. */
static void ud_test_nobody(struct stage *st, struct ib_ah *ah)
{
	const struct kind kind = { .type = IB_QPT_RC, .how = IB_POLL_WORKQUEUE };
	struct stage *other = stage_open_of(st->t, &kind, DEPTH);
	struct dgram d = ud_dgram_to(&st->b, ah, 30);
	struct mark *recv;

	if (!other)
		return;
	recv = post_recv(&other->a, other->a.dma, 4096, other->pd->local_dma_lkey);
	d.qpn = other->a.qp->qp_num;
	want(post_dgram(&st->a, &d), IB_WC_SUCCESS);
	d.qpn = 0;
	want(post_dgram(&st->a, &d), IB_WC_SUCCESS);
	ud_pass_one(&st->a, &st->b, ud_dgram_to(&st->b, ah, 32));
	check(st->t, !recv->times && !other->a.events, "the RC queue pair received it");
	want(post_send(&other->b, other->b.dma, 2000, other->pd->local_dma_lkey),
	     IB_WC_SUCCESS);
	want(recv, IB_WC_SUCCESS);
	stage_close(other);
}

/* Without a receive a datagram is lost; a receive too short stays. */
static void ud_test_short(struct stage *st, struct ib_ah *ah)
{
	struct side *a = &st->a, *b = &st->b;
	struct dgram d = ud_dgram_to(b, ah, 100);
	struct mark *recv;

	want(post_dgram(a, &d), IB_WC_SUCCESS);
	/* A later datagram to itself shows that the first one has arrived. */
	ud_pass_one(b, a, ud_dgram_to(a, ah, 10));
	memset(b->buf, 0xee, BUF_SIZE);
	side_fill(a, 4);
	recv = post_inbox(b, 99);
	want(post_dgram(a, &d), IB_WC_SUCCESS);
	d.len = 99;
	want(post_dgram(a, &d), IB_WC_SUCCESS);
	ud_check_came(recv, b, a, &d);
	check(st->t, !memchr_inv(b->buf + INBOX + GRH_BYTES + 99, 0xee, 100),
	      "more was written");

	/* Too short even for the header. */
	recv = post_recv(b, b->dma + INBOX, GRH_BYTES - 1, b->pd->local_dma_lkey);
	d.len = 0;
	want(post_dgram(a, &d), IB_WC_SUCCESS);
	check(st->t, !mark_await(recv, 20), "received without room for the header");
	want_no_event(st);
	want_state(b, IB_QPS_RTS);
}

/* A send error leads to SQE, which stops sending only. */
static void ud_check_fails(struct stage *st, struct ib_ah *ah,
			   const struct dgram *d, enum ib_wc_status status)
{
	struct side *a = &st->a, *b = &st->b;
	struct dgram next = ud_dgram_to(b, ah, 10);
	struct mark *recv = post_inbox(b, 100);

	want(post_dgram(a, d), status);
	want(post_dgram(a, &next), IB_WC_WR_FLUSH_ERR);
	want_state(a, IB_QPS_SQE);
	/* It still receives. */
	ud_pass_one(b, a, ud_dgram_to(a, ah, 20));
	check(st->t, !side_resume(a), "SQE to RTS failed");
	want(post_dgram(a, &next), IB_WC_SUCCESS);
	ud_check_came(recv, b, a, &next);
	want_no_event(st);
}

static void ud_test_wrong(struct stage *st, struct ib_ah *ah)
{
	struct dgram d = ud_dgram_to(&st->b, ah, ud_port_mtu(st->t) + 1);
	struct mark *recv;

	ud_check_fails(st, ah, &d, IB_WC_LOC_LEN_ERR);
	d.len = 20000;
	ud_check_fails(st, ah, &d, IB_WC_LOC_LEN_ERR);
	d = ud_dgram_to(&st->b, ah, 100);
	d.lkey = st->pd->local_dma_lkey ^ 1;
	ud_check_fails(st, ah, &d, IB_WC_LOC_PROT_ERR);

	/* A bad receive fails the receiver, not the sender. */
	d = ud_dgram_to(&st->b, ah, 100);
	recv = post_recv(&st->b, st->b.dma, 1000, st->pd->local_dma_lkey ^ 1);
	want(post_dgram(&st->a, &d), IB_WC_SUCCESS);
	want(recv, IB_WC_LOC_PROT_ERR);
	want_state(&st->b, IB_QPS_ERR);
	want_state(&st->a, IB_QPS_RTS);
}

/* A refused request has no effect. */
static void ud_test_refused(struct stage *st, struct ib_ah *ah)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ,
		IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_SEND_WITH_INV, IB_WR_LOCAL_INV, IB_WR_REG_MR, IB_WR_LSO,
	};
	struct ib_pd *pd = ib_alloc_pd(st->t->dev, 0);
	struct side *a = &st->a, *b = &st->b;
	struct dgram d = ud_dgram_to(b, NULL, 10);
	struct rdma_ah_attr attr;
	unsigned int i;
	int err;

	err = post_dgram(a, &d)->err;
	check(st->t, err == -EINVAL, "without address handle: %d", err);
	d = ud_dgram_to(b, ah, 10);
	d.qpn |= BIT(24);
	err = post_dgram(a, &d)->err;
	check(st->t, err == -EINVAL, "to a number with 25 bits: %d", err);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		struct ib_ud_wr wr = {
			.wr.opcode = ops[i], .ah = ah, .remote_qpn = b->qp->qp_num,
			.remote_qkey = QKEY,
		};

		err = post_wr(a, &wr.wr)->err;
		check(st->t, err == -EOPNOTSUPP, "operation %d: %d", ops[i], err);
	}
	if (!check(st->t, !IS_ERR(pd) && !ktest_ah_attr(st->t, &attr), "no domain"))
		return;
	d = ud_dgram_to(b, rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE), 10);
	if (check(st->t, !IS_ERR(d.ah), "no address handle")) {
		err = post_dgram(a, &d)->err;
		check(st->t, err == -EINVAL, "address handle of another domain: %d", err);
		rdma_destroy_ah(d.ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
	ib_dealloc_pd(pd);
	want_state(a, IB_QPS_RTS);
	check(st->t, !a->came && !b->came && !a->events, "a refused request had an effect");
}

/* An address handle per datagram, destroyed in its completion (softirq). */
static void ud_test_handles(struct stage *st, struct ib_ah *ah)
{
	struct side *a = &st->a, *b = &st->b;
	struct mark *sent[16], *got[16];
	struct dgram d;
	unsigned int i, n;

	for (n = 0; n < (st->t->quick ? 4 : 60); n++) {
		side_fill(a, n);
		for (i = 0; i < ARRAY_SIZE(got); i++)
			got[i] = post_recv(b, b->dma + i * 1024, 1024,
					   b->pd->local_dma_lkey);
		for (i = 0; i < ARRAY_SIZE(sent); i++) {
			d = ud_dgram_to(b, ktest_ah(st, 0), 500 + i);
			if (!d.ah)
				return;
			d.destroy_ah = true;
			d.imm = 1 + i;
			sent[i] = post_dgram(a, &d);
		}
		for (i = 0; i < ARRAY_SIZE(sent); i++) {
			want(sent[i], IB_WC_SUCCESS);
			check(st->t, !sent[i]->ah, "the completion did not destroy the handle");
		}
		/*
		 * Order is kept on one path only, and each of these has its
		 * own.
		 */
		for (i = 0; i < ARRAY_SIZE(got); i++)
			if (want(got[i], IB_WC_SUCCESS))
				check(st->t, got[i]->wc.byte_len == GRH_BYTES + 499 +
				      be32_to_cpu(got[i]->wc.ex.imm_data) &&
				      !memcmp(b->buf + i * 1024 + GRH_BYTES, a->buf, 500),
				      "round %u, receive %u", n, i);
	}
}

static void ud_test_flush(struct stage *st, struct ib_ah *ah)
{
	struct side *a = &st->a, *b = &st->b;
	struct dgram d = ud_dgram_to(b, ah, 10), back = ud_dgram_to(a, ah, 10);
	unsigned int i, first = b->came;
	struct mark *recv[8];

	for (i = 0; i < ARRAY_SIZE(recv); i++)
		recv[i] = post_inbox(b, 100);
	check(st->t, !side_modify(b, IB_QPS_ERR, 0, 0), "no ERR");
	for (i = 0; i < ARRAY_SIZE(recv); i++)
		if (want(recv[i], IB_WC_WR_FLUSH_ERR))
			check(st->t, recv[i]->order == first + i, "out of order");
	want(post_dgram(b, &back), IB_WC_WR_FLUSH_ERR);
	want(post_inbox(b, 100), IB_WC_WR_FLUSH_ERR);
	/* Lost at the receiver; the sender is not affected. */
	want(post_dgram(a, &d), IB_WC_SUCCESS);
	want_state(a, IB_QPS_RTS);
	want_no_event(st);
}

/*
 * After a drain all requests have completed.  The drain posts a WRITE, which UD
 * cannot send; in error it is flushed.
 */
static void ud_test_drain(struct stage *st, struct ib_ah *ah)
{
	struct dgram d = ud_dgram_to(&st->b, ah, 100);
	struct mark *m[16], *recv[8];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(recv); i++)
		recv[i] = post_inbox(&st->a, 100);
	for (i = 0; i < ARRAY_SIZE(m); i++)
		m[i] = post_dgram(&st->a, &d);
	ib_drain_qp(st->a.qp);
	want_state(&st->a, IB_QPS_ERR);
	want(post_rdma(&st->a, IB_WR_RDMA_WRITE, 0, 0, 0, 0, 0), IB_WC_WR_FLUSH_ERR);
	for (i = 0; i < ARRAY_SIZE(m); i++)
		check(st->t, m[i]->times == 1, "datagram %u", i);
	for (i = 0; i < ARRAY_SIZE(recv); i++)
		check(st->t, recv[i]->times == 1 &&
		      recv[i]->wc.status == IB_WC_WR_FLUSH_ERR, "receive %u", i);
}

/* Destroy the sending or the receiving queue pair under traffic. */
static void ud_test_destroy(struct stage *unused, struct ib_ah *ah)
{
	const struct kind kind = {
		.type = IB_QPT_UD, .how = IB_POLL_SOFTIRQ, .beside = unused,
	};
	struct ktest *t = unused->t;
	unsigned int i, n;

	for (i = 0; i < (t->quick ? 6 : 100); i++) {
		struct stage *st = stage_open_of(t, &kind, 4 * DEPTH);
		struct dgram d;

		if (!st)
			return;
		d = ud_dgram_to(&st->b, ah, 1000);
		for (n = 0; n < DEPTH; n++)
			post_inbox(&st->b, 1000);
		for (n = 0; n < DEPTH; n++)
			post_dgram(&st->a, &d);
		side_destroy(i % 2 ? &st->a : &st->b);
		stage_close(st);
	}
}

struct ud_case {
	void (*fn)(struct stage *st, struct ib_ah *ah);
	const char *name;
};

static const struct ud_case ud_cases[] = {
	{ ud_test_data, "payload and header arrive" },
	{ ud_test_answer, "a completion yields an address handle for the answer" },
	{ ud_test_handle, "address handles are checked, and can be queried" },
	{ ud_test_qkey, "a wrong Q_Key is counted" },
	{ ud_test_nobody, "datagrams to no UD queue pair are dropped" },
	{ ud_test_short, "datagrams without a large enough receive are dropped" },
	{ ud_test_wrong, "invalid requests and receives fail" },
	{ ud_test_refused, "invalid requests are not posted" },
	{ ud_test_handles, "a completion can destroy the address handle" },
	{ ud_test_flush, "a queue pair in error flushes requests" },
	{ ud_test_drain, "a drain completes all requests" },
	{ ud_test_destroy, "queue pairs are destroyed under traffic" },
};

/* Run the case, then check that the queue pairs still work. */
static void ud_run_case(struct stage *rc, const void *arg)
{
	const struct kind kind = {
		.type = IB_QPT_UD, .how = IB_POLL_SOFTIRQ, .beside = rc,
	};
	const struct ud_case *c = arg;
	struct ktest *t = rc->t;
	struct ib_ah *ah = ktest_ah(rc, RDMA_CREATE_AH_SLEEPABLE);
	struct stage *st;

	if (!ah)
		return;
	st = stage_open_of(t, &kind, 4 * DEPTH);
	if (st) {
		c->fn(st, ah);
		if (check(t, !stage_again(st), "the queue pairs cannot be connected again")) {
			side_fill(&st->a, 78);
			ud_pass_one(&st->a, &st->b, ud_dgram_to(&st->b, ah, 200));
			ud_pass_one(&st->b, &st->a, ud_dgram_to(&st->a, ah, 201));
		}
		stage_close(st);
	}
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

void ktest_ud(struct ktest *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ud_cases); i++)
		ktest_run(t, ud_run_case, &ud_cases[i], "datagrams: %s",
			  ud_cases[i].name);
}
