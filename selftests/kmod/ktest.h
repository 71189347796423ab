/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktest - what the cases of rover_ktest stand on
 *
 * A stage is two queue pairs of one device, connected with each other, in one
 * protection domain.  Side A asks and side B answers, wherever it matters.  All
 * of it runs in one thread, that of whoever loads the module; completions come in
 * whatever context the completion queue is polled in.
 *
 * A request has a mark, in which its completion is found.  Marks are the side's
 * and last as long as its queues, so that a completion nobody expects any more
 * finds a place, too.
 */
#ifndef ROVER_KTEST_H
#define ROVER_KTEST_H

#include <linux/completion.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#define PORT		1
#define BUF_ORDER	4
#define BUF_SIZE	(PAGE_SIZE << BUF_ORDER)
#define SEEDS		4096
#define MARKS		256
#define MOST_SGE	4
#define DEPTH		32

/* The rights that all but those who test them use. */
#define ALL_RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* And those of the queue pairs. */
#define QP_RIGHTS	(ALL_RIGHTS | IB_ACCESS_FLUSH_GLOBAL)

/* Of queue pairs for datagrams, and what is in front of each of these. */
#define QKEY		0x11223344
#define GRH_BYTES	40

/* Where their receives are; what is sent is at the beginning. */
#define INBOX		(BUF_SIZE / 2)

struct side;

/**
 * struct ktest - the run, and the case under way
 * @dev: device
 * @gid_index: of the address that both sides have
 * @gid: which it is
 * @ipv4: it is of IPv4
 * @quick: fewer rounds
 * @slow: all takes this many times as long
 * @pattern: BUF_SIZE + SEEDS bytes at random
 * @text: KTAP
 * @used: bytes of it
 * @number: cases so far
 * @bad: this one has failed
 * @skip: why this one is skipped, or NULL
 */
struct ktest {
	struct ib_device *dev;
	u16 gid_index;
	union ib_gid gid;
	bool ipv4;
	bool quick;
	unsigned int slow;
	u8 *pattern;
	char *text;
	size_t used;
	unsigned int number;
	bool bad;
	const char *skip;
};

/**
 * struct kind - what the queue pairs of a stage are
 * @type: of service
 * @how: their completion queues are polled
 * @beside: a stage whose protection domain they are in; NULL for one of their own
 * @srq: where they take their receives from, or NULL
 * @hear: called when one of their completion queues that is armed has something,
 *	with the side; such queues are polled by us alone, whatever @how says
 * @vector: on whose processor @hear is called
 */
struct kind {
	enum ib_qp_type type;
	enum ib_poll_context how;
	const struct stage *beside;
	struct ib_srq *srq;
	ib_comp_handler hear;
	int vector;
};

/**
 * struct mark - a request and its completion
 * @cqe: by which the core finds it
 * @side: whose
 * @shared: a receive for any queue pair, whoever posted it
 * @ah: goes with its completion, or NULL
 * @done: it has come
 * @wc: what it says
 * @err: what posting it returned
 * @order: how many of this side came before it
 * @times: and how often it has come
 */
struct mark {
	struct ib_cqe cqe;
	struct side *side;
	bool shared;
	struct ib_ah *ah;
	struct completion done;
	struct ib_wc wc;
	int err;
	unsigned int order;
	unsigned int times;
};

/**
 * struct side - a queue pair with what it needs
 * @t: the run
 * @pd: protection domain, of both sides
 * @cq: of sends and receives
 * @direct: nobody polls it but us
 * @heard: and somebody hears of what is in there
 * @arg: for whoever that is
 * @qp: queue pair
 * @cap: as granted
 * @buf: BUF_SIZE bytes
 * @dma: and where they are
 * @lock: protects what follows
 * @events: asynchronous events seen, a bit each
 * @told: and how many they were
 * @came: completions so far
 * @marks: in order of their use
 * @used: of these
 */
struct side {
	struct ktest *t;
	struct ib_pd *pd;
	struct ib_cq *cq;
	bool direct;
	bool heard;
	void *arg;
	struct ib_qp *qp;
	struct ib_qp_cap cap;
	u8 *buf;
	u64 dma;
	spinlock_t lock;
	unsigned long events;
	unsigned int told;
	unsigned int came;
	unsigned int used;
	struct mark marks[MARKS];
};

struct stage {
	struct ktest *t;
	struct ib_pd *pd;
	bool beside;
	struct side a;
	struct side b;
};

/**
 * struct region - memory that is registered by work requests
 * @mr: the core's
 * @dev: device
 * @sg: what it consists of
 * @nents: of it
 * @mapped: and those for the device
 */
struct region {
	struct ib_mr *mr;
	struct ib_device *dev;
	struct scatterlist sg[8];
	int nents;
	int mapped;
};

/* Pieces of a side's buffer; one without length is the end. */
struct piece {
	u32 at;
	u32 len;
};

/**
 * struct dgram - a datagram to be sent
 * @ah: where to
 * @gone: that is given back with the completion
 * @qpn: to which queue pair
 * @qkey: and with which key
 * @at: where in the side's buffer it is
 * @len: bytes
 * @lkey: another key than the domain's own, or 0
 * @imm: immediate data, or 0 for none
 */
struct dgram {
	struct ib_ah *ah;
	bool gone;
	u32 qpn;
	u32 qkey;
	u32 at;
	u32 len;
	u32 lkey;
	u32 imm;
};

/* main */
void ktest_say(struct ktest *t, const char *fmt, ...) __printf(2, 3);
void ktest_run(struct ktest *t, void (*fn)(struct stage *st, const void *arg),
	       const void *arg, const char *fmt, ...) __printf(4, 5);
bool ktest_check(struct ktest *t, bool good, const char *where, int line,
		 const char *fmt, ...) __printf(5, 6);

/* True when it holds; else the case has failed, and why is told. */
#define check(t, cond, ...) \
	ktest_check(t, cond, __func__, __LINE__, __VA_ARGS__)
#define ktest_wrong(t, where, line, ...) \
	ktest_check(t, false, where, line, __VA_ARGS__)

/* side: objects */
struct stage *stage_open(struct ktest *t, enum ib_poll_context how, int cqes);
struct stage *stage_open_of(struct ktest *t, const struct kind *kind, int cqes);
void stage_close(struct stage *st);
int stage_connect(struct stage *st, int rights);
int stage_reset(struct stage *st);
int stage_again(struct stage *st);
bool stage_untold(struct stage *st, const char *where, int line);
int side_modify(struct side *s, enum ib_qp_state state, int rights, u32 peer);
int side_resume(struct side *s);
void side_destroy(struct side *s);
bool side_state(struct side *s, enum ib_qp_state state, const char *where);
bool side_event(struct side *s, enum ib_event_type event, const char *where);
void side_fill(struct side *s, unsigned int seed);
const u8 *ktest_pattern(const struct ktest *t, unsigned int seed);

/* How a queue pair is, and what it was told of; or that neither was told anything. */
#define want_state(s, state)	side_state(s, state, __func__)
#define want_event(s, event)	side_event(s, event, __func__)
#define want_untold(st)		stage_untold(st, __func__, __LINE__)

/* request: work requests and their completions */
struct mark *mark_new(struct side *s);
struct mark *post_marked(struct mark *m, struct ib_send_wr *wr);
struct mark *post_wr(struct side *s, struct ib_send_wr *wr);
struct mark *post_rdma(struct side *s, enum ib_wr_opcode op, u64 addr, u32 len,
		       u32 lkey, u64 remote, u32 rkey);
struct mark *post_send(struct side *s, u64 addr, u32 len, u32 lkey);
struct mark *post_send_inv(struct side *s, u32 key);
struct mark *post_recv(struct side *s, u64 addr, u32 len, u32 lkey);
struct mark *post_reg(struct side *s, struct ib_mr *mr, u32 key, int access);
struct mark *post_inv(struct side *s, u32 key, int flags);
struct mark *post_atomic(struct side *s, enum ib_wr_opcode op, u64 addr,
			 u64 remote, u32 rkey, u64 compare_add, u64 swap);
bool mark_await(struct mark *m, unsigned int ms);
bool mark_status(struct mark *m, enum ib_wc_status status, const char *where,
		 int line);

#define want(mark, status)	mark_status(mark, status, __func__, __LINE__)

/* region */
bool region_new(struct side *s, struct ib_pd *pd, struct region *r,
		enum ib_mr_type type, u32 max);
bool region_map(struct side *s, struct region *r, const struct piece *pieces,
		unsigned int *offset, unsigned int page_size);
bool region_simple(struct side *s, struct region *r, int access);
void region_free(struct region *r);

/* ud */
int ktest_ah_attr(struct ktest *t, struct rdma_ah_attr *attr);
struct ib_ah *ktest_ah(struct stage *st, u32 flags);
struct mark *post_dgram(struct side *s, const struct dgram *d);
struct mark *post_inbox(struct side *s, u32 len);

/* The groups of cases. */
void ktest_reg(struct ktest *t);
void ktest_address(struct ktest *t);
void ktest_inv(struct ktest *t);
void ktest_word(struct ktest *t);
void ktest_post(struct ktest *t);
void ktest_flow(struct ktest *t);
void ktest_srq(struct ktest *t);
void ktest_ud(struct ktest *t);
void ktest_uc(struct ktest *t);
void ktest_mcast(struct ktest *t);
void ktest_vector(struct ktest *t);
void ktest_heard(struct ktest *t);
void ktest_crowd(struct ktest *t);
void ktest_alone(struct ktest *t);

#endif /* ROVER_KTEST_H */
