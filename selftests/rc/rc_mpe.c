// SPDX-License-Identifier: GPL-2.0
/*
 * rc_mpe - memory placement extensions (IBTA A19): ATOMIC WRITE and FLUSH
 *
 *	rc_mpe a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <string.h>

#include "lib/conn.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define ROOM 8192
#define NEEDED (IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH)

static struct conn_attr word_defaults(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	attr.extended = true;
	attr.more_ops = NEEDED;
	attr.access |= IBV_ACCESS_FLUSH_GLOBAL;
	return attr;
}

static void post_word(struct conn *c, uint64_t wr_id, uint64_t addr, uint32_t rkey, uint64_t word)
{
	int error;

	ibv_wr_start(c->qpx);
	c->qpx->wr_id = wr_id;
	c->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(c->qpx, rkey, addr, &word);
	error = ibv_wr_complete(c->qpx);
	check(c->p, !error, "ATOMIC WRITE is not posted: %s", strerror(error));
}

static int post_flush(struct conn *c, uint64_t wr_id, uint64_t addr, uint32_t rkey, size_t len,
		      uint8_t type, uint8_t level)
{
	ibv_wr_start(c->qpx);
	c->qpx->wr_id = wr_id;
	c->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(c->qpx, rkey, addr, len, type, level);
	return ibv_wr_complete(c->qpx);
}

/* A region that may be flushed, where the kernel has such. */
static struct region *region_flushed(struct pair *p)
{
	int access = ALL_ACCESS | IBV_ACCESS_FLUSH_GLOBAL;
	struct ibv_mr *mr;
	char byte;

	mr = ibv_reg_mr(p->pd, &byte, 1, access);
	if (!mr)
		skip(p, "no memory that may be flushed: %s", strerror(errno));
	ibv_dereg_mr(mr);
	return region_new(p, ROOM, access);
}

static uint64_t word_of(unsigned int i)
{
	return mix(i) | 1;
}

/* Words are written one after the other, more than may be outstanding; none is torn. */
static void run_words(struct pair *p, const void *arg)
{
	struct conn_attr attr = word_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	unsigned int many = p->quick ? 200 : 2000, i, done = 0, last = 0, count = 0;
	uint64_t *words = (uint64_t *)r->buf;
	struct conn *c = conn_open(p, &attr);
	struct ibv_wc wc;

	(void)arg;
	region_swap(p, r);
	for (i = 0; i < many && end_a(p); i++) {
		for (; i - done >= attr.send_wr; done++) {
			queue_next(c->send, &wc);
			check(p, !wc.status && wc.opcode == IBV_WC_ATOMIC_WRITE && wc.wr_id == done,
			      "completion %llu: %s, opcode %d", (unsigned long long)wc.wr_id,
			      ibv_wc_status_str(wc.status), wc.opcode);
		}
		post_word(c, i, r->peer_addr + i % 2 * 4096, r->peer_rkey, word_of(i));
	}
	for (; done < many && end_a(p); done++)
		queue_want(c->send, done, IBV_WC_SUCCESS);
	/* At b: what is seen comes in order, and is one of them. */
	while (end_b(p) && last + 2 < many) {
		uint64_t word = __atomic_load_n(words, __ATOMIC_ACQUIRE);

		for (i = last; i < many && word && word != word_of(i); i += 2)
			;
		check(p, i < many || !word, "%#llx is no word after word %u",
		      (unsigned long long)word, last);
		if (word)
			last = i;
		relax(p, &count);
	}
	pair_sync(p);
	if (end_b(p))
		check(p, words[0] == word_of(many - 2) && words[512] == word_of(many - 1) &&
		      !words[1] && !words[511] && !words[513], "the last words are %#llx, %#llx",
		      (unsigned long long)words[0], (unsigned long long)words[512]);
}

/* WRITE, FLUSH, and a word as a signal: a program that sees the word sees the data. */
static void run_flush(struct pair *p, const void *arg)
{
	struct conn_attr attr = word_defaults(p);
	struct region *r = region_flushed(p);
	struct ibv_sge sge = sge_of(r, 0, 4000);
	struct conn *c = conn_open(p, &attr);
	unsigned int rounds = p->quick ? 20 : 200, i, count = 0;
	uint64_t *flag = (uint64_t *)(r->buf + 4096);
	uint8_t level;
	uint8_t want[4000];
	struct ibv_send_wr wr;
	size_t at;

	(void)arg;
	region_swap(p, r);
	for (i = 1; i <= rounds; i++) {
		pattern_fill(want, sizeof(want), i);
		if (end_a(p)) {
			memcpy(r->buf, want, sizeof(want));
			wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, 0, r->peer_addr, r->peer_rkey);
			conn_send(c, &wr);
			level = i % 2 ? IBV_FLUSH_RANGE : IBV_FLUSH_MR;
			check(p, !post_flush(c, 2, r->peer_addr, r->peer_rkey, i % 2 ? 4000 : 0,
					     IBV_FLUSH_GLOBAL, level), "FLUSH is not posted");
			post_word(c, 3, r->peer_addr + 4096, r->peer_rkey, i);
			queue_want(c->send, 2, IBV_WC_SUCCESS);
			queue_want(c->send, 3, IBV_WC_SUCCESS);
		} else {
			while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != i)
				relax(p, &count);
			at = pattern_differ(r->buf, want, sizeof(want));
			check(p, at == sizeof(want), "round %u: byte %zu is not there yet", i, at);
		}
		pair_sync(p);
	}
}

/* Each invalid request ends the connection with the right status. */
static void run_refused(struct pair *p, const void *arg)
{
	static const struct {
		const char *what;
		int off;
		uint32_t key;
		uint8_t type, level;
		enum ibv_wc_status status;
	} tries[] = {
		{ "ATOMIC WRITE to an unaligned address", 4, 0, 0, 0, IBV_WC_REM_INV_REQ_ERR },
		{ "ATOMIC WRITE out of bounds", ROOM, 0, 0, 0, IBV_WC_REM_ACCESS_ERR },
		{ "ATOMIC WRITE with a wrong key", 0, 1, 0, 0, IBV_WC_REM_ACCESS_ERR },
		{ "FLUSH that the queue pair does not allow", 0, 0, IBV_FLUSH_PERSISTENT, 0,
			IBV_WC_REM_INV_REQ_ERR },
		{ "FLUSH out of bounds", ROOM - 8, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
			IBV_WC_REM_ACCESS_ERR },
		{ "FLUSH with a wrong key", 0, 1, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR,
			IBV_WC_REM_ACCESS_ERR },
	};
	struct conn_attr attr = word_defaults(p);
	struct region *r = region_flushed(p);
	struct conn *c;
	unsigned int i;

	(void)arg;
	region_swap(p, r);
	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		c = conn_open(p, &attr);
		if (end_a(p)) {
			uint64_t addr = r->peer_addr + tries[i].off;
			uint32_t key = r->peer_rkey ^ tries[i].key;
			struct ibv_wc wc;

			if (tries[i].type)
				post_flush(c, i, addr, key, 64, tries[i].type, tries[i].level);
			else
				post_word(c, i, addr, key, 1);
			queue_next(c->send, &wc);
			check(p, wc.status == tries[i].status, "%s: %s", tries[i].what,
			      ibv_wc_status_str(wc.status));
		}
		pair_sync(p);
	}
	c = conn_open(p, &attr);
	check(p, post_flush(c, 1, 0, 0, 8, 0, 0) == EINVAL &&
	      post_flush(c, 1, 0, 0, 8, 4, 0) == EINVAL &&
	      post_flush(c, 1, 0, 0, 8, 1, 2) == EINVAL, "a FLUSH of no kind is posted");
	for (i = 0; i < ROOM; i++)
		check(p, !r->buf[i], "byte %u was written", i);
}

int main(int argc, char **argv)
{
	struct pair p;
	int ipv6;

	pair_open(&p, argc, argv);
	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		const char *family = ipv6 ? "IPv6" : "IPv4";

		pair_family(&p, ipv6);
		if (pair_wants(&p, "words"))
			pair_case(&p, run_words, NULL,
				  "%s: ATOMIC WRITEs are stored whole and in order",
				  family);
		if (pair_wants(&p, "flush"))
			pair_case(&p, run_flush, NULL,
				  "%s: WRITEs are visible after a FLUSH", family);
	}
	pair_family(&p, false);
	if (pair_wants(&p, "refused"))
		pair_case(&p, run_refused, NULL, "invalid ATOMIC WRITEs and FLUSHes are refused");
	return pair_close(&p);
}
