// SPDX-License-Identifier: GPL-2.0
/*
 * verbs: opens the device, makes the queue pairs of a setting, connects them with the other end's
 *
 * Everything stays from one run to the next as long as the settings are alike: what takes turns
 * with another device shall not pay for connecting each time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs.h"

/*
 * From what is sent to what is received: no power of two. Both ends have these in huge pages, so
 * that otherwise each page would be copied to one whose address differs in high bits only. The
 * emulator keeps both in the same place of its TLB, which has room for one: 64 KiB took twice the
 * time, in some guests, and by perftest never. Who copies by way of a buffer of its own, as
 * rdma_rxe and TCP do, does not meet that.
 */
#define APART (MAX_SIZE + 17 * 4096)

struct bench_verbs verbs;

/* RoCE v2 with an IPv4 address. */
static bool find_gid(void)
{
	struct ibv_gid_entry entry;

	for (int i = 0; i < 64; i++) {
		if (ibv_query_gid_ex(verbs.context, 1, i, &entry, 0) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    !IN6_IS_ADDR_V4MAPPED((struct in6_addr *)entry.gid.raw))
			continue;
		verbs.gid_index = i;
		verbs.gid = entry.gid;
		return true;
	}
	return false;
}

static bool open_verbs(const char *device)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	size_t room = APART + MAX_SIZE;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			verbs.context = ibv_open_device(list[i]);
	if (!verbs.context || !find_gid()) {
		fprintf(stderr, "peer: %s: no such device, or no RoCE v2 IPv4 GID\n", device);
		return false;
	}
	ibv_query_device(verbs.context, &verbs.attr);
	verbs.out = mmap(NULL, room, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	memset(verbs.out, 0x5a, room);
	verbs.in = verbs.out + APART;
	verbs.pd = ibv_alloc_pd(verbs.context);
	verbs.mr = verbs.pd ? ibv_reg_mr(verbs.pd, verbs.out, room,
					 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						 IBV_ACCESS_REMOTE_READ) :
			      NULL;
	if (!verbs.mr)
		perror("peer: ibv_reg_mr");
	return verbs.mr;
}

static void reset_verbs(void)
{
	for (unsigned int i = 0; i < verbs.count; i++) {
		if (verbs.pairs[i].qp)
			ibv_destroy_qp(verbs.pairs[i].qp);
		if (verbs.pairs[i].ah)
			ibv_destroy_ah(verbs.pairs[i].ah);
	}
	if (verbs.cq)
		ibv_destroy_cq(verbs.cq);
	if (verbs.channel)
		ibv_destroy_comp_channel(verbs.channel);
	free(verbs.pairs);
	verbs.pairs = NULL;
	verbs.cq = NULL;
	verbs.channel = NULL;
	verbs.count = 0;
	verbs.made = false;
}

/* Room for one receive and one signalled send of each slot, within what the device has. */
static bool make_cq(const struct setting *set)
{
	unsigned int cqes = set->qps * (set->depth / signal_every(set) + 1);

	if (takes_receives(set))
		cqes += set->qps * (set->qps > 1 ? set->depth : RECV_DEPTH);
	if (cqes > (unsigned int)verbs.attr.max_cqe)
		cqes = verbs.attr.max_cqe;
	verbs.channel = ibv_create_comp_channel(verbs.context);
	if (!verbs.channel)
		return false;
	verbs.cq = ibv_create_cq(verbs.context, cqes, NULL, verbs.channel, 0);
	return verbs.cq;
}

static bool to_init(struct ibv_qp *qp, bool ud)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	return !ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static bool make_pair(struct pair *pair, const struct setting *set)
{
	struct ibv_qp_init_attr init = {
		.send_cq = verbs.cq,
		.recv_cq = verbs.cq,
		.qp_type = set->op == OP_UD ? IBV_QPT_UD : IBV_QPT_RC,
		.cap = {
			.max_send_wr = set->depth,
			.max_recv_wr = !takes_receives(set) ? 1 :
				       set->qps > 1	    ? set->depth :
							      RECV_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = set->ping ? INLINE_MAX : 0,
		},
	};

	pair->qp = ibv_create_qp(verbs.pd, &init);
	if (!pair->qp || !to_init(pair->qp, set->op == OP_UD))
		return false;
	pair->credits = set->depth;
	pair->mine = (struct place){
		.qpn = pair->qp->qp_num,
		.psn = pair->qp->qp_num * 7919 & 0xffffff,
		.rkey = verbs.mr->rkey,
		.gid = verbs.gid,
		.addr = (uintptr_t)verbs.in,
	};
	return true;
}

static struct ibv_ah_attr way_to(const struct place *there)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = there->gid, .sgid_index = verbs.gid_index, .hop_limit = 64},
	};
}

static int reads(void)
{
	return verbs.attr.max_qp_rd_atom < READS ? verbs.attr.max_qp_rd_atom : READS;
}

static bool connect_rc(struct pair *pair, const struct setting *set)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = set->mtu >= 4096 ? IBV_MTU_4096 :
			    set->mtu >= 2048 ? IBV_MTU_2048 :
			    set->mtu >= 1024 ? IBV_MTU_1024 :
					       IBV_MTU_512,
		.dest_qp_num = pair->there.qpn,
		.rq_psn = pair->there.psn,
		.max_dest_rd_atomic = reads(),
		.min_rnr_timer = 12,
		.ah_attr = way_to(&pair->there),
	};

	if (ibv_modify_qp(pair->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER))
		return false;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = pair->mine.psn;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = reads();
	return !ibv_modify_qp(pair->qp, &attr,
			      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				      IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static bool connect_ud(struct pair *pair)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct ibv_ah_attr way = way_to(&pair->there);

	if (ibv_modify_qp(pair->qp, &attr, IBV_QP_STATE))
		return false;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = pair->mine.psn;
	if (ibv_modify_qp(pair->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		return false;
	pair->ah = ibv_create_ah(verbs.pd, &way);
	return pair->ah;
}

static bool connect_pair(struct pair *pair, const struct setting *set)
{
	return set->op == OP_UD ? connect_ud(pair) : connect_rc(pair, set);
}

static bool alike(const struct setting *a, const struct setting *b)
{
	return a->op == b->op && a->ping == b->ping && a->mtu == b->mtu && a->qps == b->qps &&
	       a->depth == b->depth && signal_every(a) == signal_every(b);
}

/* As many as the setting says, after those there are. */
static bool make_pairs(struct run *run, const struct setting *set)
{
	unsigned int first = verbs.count;

	verbs.pairs = realloc(verbs.pairs, (first + set->qps) * sizeof(*verbs.pairs));
	memset(&verbs.pairs[first], 0, set->qps * sizeof(*verbs.pairs));
	verbs.count += set->qps;
	for (unsigned int i = first; i < verbs.count; i++) {
		if (make_pair(&verbs.pairs[i], set))
			continue;
		fail(run, "making a queue pair", errno);
		return false;
	}
	return true;
}

/* Once what others have just given back is there. */
static uint64_t settled_memory(void)
{
	uint64_t before, now = free_memory();

	for (int i = 0; i < 50; i++) {
		before = now;
		usleep(20 * 1000);
		now = free_memory();
		if (now >= before ? now - before < (64 << 10) : before - now < (64 << 10))
			break;
	}
	return now;
}

/*
 * What queue pairs take of the machine's memory, ready to send. They are connected to themselves,
 * and no end has them but this one. They stay until another setting comes: what is made after
 * others were destroyed takes their memory, which the kernel has not counted as free meanwhile.
 */
static bool weigh(struct run *run)
{
	struct setting few = run->set;
	unsigned int first;
	uint64_t before, after;

	if (!run->driving)
		return true;
	if (!verbs.made || !alike(&verbs.made_for, &run->set))
		reset_verbs();
	few.op = OP_SEND;
	if (!verbs.cq && !make_cq(&few)) {
		fail(run, "making a completion queue", errno);
		return false;
	}
	first = verbs.count;
	before = settled_memory();
	if (!make_pairs(run, &few))
		return false;
	for (unsigned int i = first; i < verbs.count; i++) {
		verbs.pairs[i].there = verbs.pairs[i].mine;
		if (connect_pair(&verbs.pairs[i], &few))
			continue;
		fail(run, "connecting a queue pair", errno);
		return false;
	}
	after = free_memory();
	if (after > before) {
		fail(run, "somebody else gave memory back", 0);
		return false;
	}
	run->tally.bytes_per_qp = (before - after) / few.qps;
	verbs.made_for = run->set;
	verbs.made = true;
	return true;
}

/* Tell one another where the queue pairs are, in portions that fit any socket buffer. */
static bool meet(int control)
{
	struct place mine[64], theirs[64];

	for (unsigned int at = 0; at < verbs.count; at += 64) {
		unsigned int n = verbs.count - at < 64 ? verbs.count - at : 64;

		for (unsigned int i = 0; i < n; i++)
			mine[i] = verbs.pairs[at + i].mine;
		if (!swap(control, mine, theirs, n * sizeof(mine[0])))
			return false;
		for (unsigned int i = 0; i < n; i++)
			verbs.pairs[at + i].there = theirs[i];
	}
	return true;
}

static void connect_all(struct run *run)
{
	for (unsigned int i = 0; i < verbs.count; i++) {
		if (!connect_pair(&verbs.pairs[i], &run->set)) {
			fail(run, "connecting a queue pair", errno);
			return;
		}
	}
}

static bool prepare_verbs(struct run *run, int control)
{
	bool keep = verbs.made && alike(&verbs.made_for, &run->set), there;
	char state, other;

	if (run->set.op == OP_MEMORY)
		return weigh(run);
	/* Either both still have theirs or both make new ones; then they are connected. */
	if (!swap(control, &keep, &there, sizeof(keep)))
		return false;
	if (!keep || !there) {
		reset_verbs();
		if (!make_cq(&run->set))
			fail(run, "making a completion queue", errno);
		else
			make_pairs(run, &run->set);
		state = !run->tally.failure[0];
		if (!swap(control, &state, &other, 1) || !state || !other)
			return false;
		if (!meet(control))
			return false;
		connect_all(run);
	}
	verbs.in[run->set.size - 1] = 0;
	verbs.made_for = run->set;
	verbs.made = !run->tally.failure[0];
	for (unsigned int i = 0; verbs.made && takes_receives(&run->set) && i < verbs.count; i++)
		if (!post_receives(run, i))
			break;
	return verbs.made;
}

static void move_verbs(struct run *run)
{
	if (run->set.ping)
		ping(run);
	else
		flow(run);
}

const struct carrier verbs_carrier = {open_verbs, prepare_verbs, move_verbs, reset_verbs};
