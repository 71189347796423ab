/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktest - structures and helpers of the cases of rover_ktest
 *
 * A stage is two queue pairs of one device, connected with each other, in one
 * protection domain.  In most cases side A is the requester and side B the
 * responder.  All cases run in one thread, that of the process which loads the
 * module; completions run in the context in which the completion queue is
 * polled.
 *
 * A mark stands for a request and records its completion.  Marks belong to the
 * side and live as long as its queues, so that an unexpected late completion
 * has a place, too.
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

/* Access rights in cases that do not test rights */
#define ALL_RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* Access rights of the queue pairs */
#define QP_RIGHTS	(ALL_RIGHTS | IB_ACCESS_FLUSH_GLOBAL)

/* UD queue pairs: Q_Key, and length of the header before each datagram */
#define QKEY		0x11223344
#define GRH_BYTES	40

/* Offset of receives in a side's buffer; sends use its beginning. */
#define INBOX		(BUF_SIZE / 2)

struct side;

/**
 * struct ktest - state of the run and of the current case
 * @dev: device
 * @gid_index: index of the GID that both sides use
 * @gid: that GID
 * @ipv4: it is an IPv4 address
 * @quick: run fewer rounds
 * @slow: factor for time limits
 * @pattern: BUF_SIZE + SEEDS random bytes
 * @text: KTAP output
 * @used: length of @text
 * @number: number of cases so far
 * @bad: the current case has failed
 * @skip: reason to skip the current case, or NULL
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
 * struct kind - attributes of the queue pairs of a stage
 * @type: transport
 * @how: context in which their completion queues are polled
 * @beside: stage whose protection domain they share; NULL: they have their own
 * @srq: shared receive queue, or NULL
 * @comp_handler: completion handler, called with the side; if it is set, the
 *	core does not poll the completion queues, and @how is ignored
 * @vector: completion vector of @comp_handler
 */
struct kind {
	enum ib_qp_type type;
	enum ib_poll_context how;
	const struct stage *beside;
	struct ib_srq *srq;
	ib_comp_handler comp_handler;
	int vector;
};

/**
 * struct mark - a request and its completion
 * @cqe: callback of the core for the completion
 * @side: side that posted the request
 * @shared: receive of an SRQ: any queue pair may complete it
 * @ah: address handle to destroy on completion, or NULL
 * @done: the request has completed
 * @wc: work completion
 * @err: return value of posting
 * @order: number of completions of this side before this one
 * @times: number of completions of this request; must not exceed 1
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
 * struct side - a queue pair with its completion queue and buffer
 * @t: the run
 * @pd: protection domain, of both sides
 * @cq: completion queue of sends and receives
 * @direct: the cases poll @cq, not the core
 * @has_handler: @cq has a completion handler
 * @arg: for that handler
 * @qp: queue pair
 * @cap: capabilities as granted
 * @buf: BUF_SIZE bytes
 * @dma: DMA address of @buf
 * @lock: protects the following fields
 * @events: bits of the asynchronous events seen
 * @num_events: number of these events
 * @came: number of completions so far
 * @used: number of marks used so far
 * @marks: ring of marks, in order of their use
 */
struct side {
	struct ktest *t;
	struct ib_pd *pd;
	struct ib_cq *cq;
	bool direct;
	bool has_handler;
	void *arg;
	struct ib_qp *qp;
	struct ib_qp_cap cap;
	u8 *buf;
	u64 dma;
	spinlock_t lock;
	unsigned long events;
	unsigned int num_events;
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
 * @mr: memory region
 * @dev: device
 * @sg: scatterlist
 * @nents: its number of entries
 * @mapped: number of entries mapped for DMA
 */
struct region {
	struct ib_mr *mr;
	struct ib_device *dev;
	struct scatterlist sg[8];
	int nents;
	int mapped;
};

/* A piece of a side's buffer; length 0 ends an array of pieces. */
struct piece {
	u32 at;
	u32 len;
};

/**
 * struct dgram - a datagram to be sent
 * @ah: address handle
 * @destroy_ah: the completion destroys @ah
 * @qpn: number of the destination queue pair
 * @qkey: Q_Key
 * @at: offset of the payload in the side's buffer
 * @len: length of the payload
 * @lkey: key of the payload; 0: the domain's local_dma_lkey
 * @imm: immediate data, or 0 for none
 */
struct dgram {
	struct ib_ah *ah;
	bool destroy_ah;
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

/* Return @cond; if it is false, fail the case with a message. */
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
bool stage_no_event(struct stage *st, const char *where, int line);
int side_modify(struct side *s, enum ib_qp_state state, int rights, u32 peer);
int side_resume(struct side *s);
void side_destroy(struct side *s);
bool side_state(struct side *s, enum ib_qp_state state, const char *where);
bool side_event(struct side *s, enum ib_event_type event, const char *where);
void side_fill(struct side *s, unsigned int seed);
const u8 *ktest_pattern(const struct ktest *t, unsigned int seed);

/* Wait for a state or an event of a queue pair; check that there was no event. */
#define want_state(s, state)	side_state(s, state, __func__)
#define want_event(s, event)	side_event(s, event, __func__)
#define want_no_event(st)	stage_no_event(st, __func__, __LINE__)

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

/* Groups of cases */
void ktest_reg(struct ktest *t);
void ktest_iova(struct ktest *t);
void ktest_invalidate(struct ktest *t);
void ktest_atomics(struct ktest *t);
void ktest_post(struct ktest *t);
void ktest_cq(struct ktest *t);
void ktest_srq(struct ktest *t);
void ktest_ud(struct ktest *t);
void ktest_uc(struct ktest *t);
void ktest_mcast(struct ktest *t);
void ktest_vector(struct ktest *t);
void ktest_handler(struct ktest *t);
void ktest_stream(struct ktest *t);
void ktest_qd1(struct ktest *t);

#endif /* ROVER_KTEST_H */
