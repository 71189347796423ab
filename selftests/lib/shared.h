/* SPDX-License-Identifier: GPL-2.0 */
/*
 * shared - a shared receive queue of a case, memory for its receives, and queue
 * pairs that use it
 *
 * The memory is slots; the receive of a slot is in two pieces with a gap
 * between, and has the number of the slot as its wr_id.  What is made here
 * belongs to the current case, and has to be made before the queue pairs that
 * use it.
 */
#ifndef ROVER_SELFTEST_SHARED_H
#define ROVER_SELFTEST_SHARED_H

#include "conn.h"

#define SLOT_BYTES 8192

/* Bytes of a receive in both pieces. */
#define SLOT_ROOM (SLOT_BYTES - 128)

/**
 * struct shared - a shared receive queue
 * @init: what it was made with, as granted
 * @r: its slots
 * @ring: its ring as it was mapped at first
 * @pages: and how long that is
 * @srqn: XRC: its number
 * @recv: XRC: completions of its receives
 */
struct shared {
	struct pair *p;
	struct ibv_srq *srq;
	struct ibv_srq_init_attr init;
	struct region *r;
	void *ring;
	int pages;
	uint32_t srqn;
	struct queue *recv;
};

/* With room for so many receives, in this domain; and memory for as many. */
struct shared *shared_new(struct pair *p, struct ibv_pd *pd, uint32_t wr);

/*
 * One of XRC, for receives of so many pieces: in this domain, too, and what it
 * gives completes in this queue.
 */
struct shared *shared_xrc(struct pair *p, struct ibv_pd *pd, uint32_t wr, uint32_t sge,
			  struct ibv_xrcd *xrcd, struct queue *recv);

/* Post a receive of any kind; the error number. */
int shared_post(struct shared *s, uint64_t wr_id, struct ibv_sge *sge, int n);

/* Post the receives of slots from up to, but not including, to; it has to succeed. */
void shared_fill(struct shared *s, int from, int to);

/*
 * A slot has to hold these bytes, behind so many that do not count, and nothing
 * else; `what' tells what it is, for a failure.
 */
void shared_judge(struct shared *s, int slot, const uint8_t *want, uint32_t len, uint32_t behind,
		  const char *what);

/* Change attributes; the error number. And look at them. */
int shared_modify(struct shared *s, int mask, uint32_t max_wr, uint32_t limit);
struct ibv_srq_attr shared_query(struct shared *s);

/* This event of the queue is there within ms. */
bool shared_event(struct shared *s, enum ibv_event_type type, unsigned int ms);

/* How long an event may take. */
#define SOON(p) (5000 * (p)->slow)

/* ---- queue pairs that share ---- */

#define MAX_QPS 4
#define SLOTS 24

/* Messages of a queue pair that a has on their way. */
#define DEPTH 6

/**
 * struct group - queue pairs, of which b's share their receives and a's send
 * @s: at b, with SLOTS receives, none of which is posted
 * @send: completions of all of them
 * @recv: and of what they receive
 * @from: what a sends, a slot for each message on its way
 * @target: where WRITEs go
 * @posted: messages that a has posted to each
 * @sent: and that are completed
 * @came: messages that b has judged
 * @doomed: nobody waits for these, and they may fail
 * @broken: and these have
 */
struct group {
	struct pair *p;
	struct shared *s;
	struct queue *send, *recv;
	struct region *from, *target;
	struct conn *c[MAX_QPS];
	uint32_t qpn[MAX_QPS];
	int n, posted[MAX_QPS], sent[MAX_QPS], came[MAX_QPS];
	bool doomed[MAX_QPS], broken[MAX_QPS];
	uint8_t want[SLOT_BYTES];
};

/* Connections first, then datagrams; with ibv_wr_*() and ibv_cq_ex if they are extended. */
struct group *group_new(struct pair *p, int rc, int ud, bool extended);

/* a: the next message of queue pair i. Number k of it is the same for both ends. */
void group_send(struct group *g, int i);

/* b: what a completion has to say, and what has to be in its slot. */
void group_judge(struct group *g, const struct ibv_wc *wc);

/* Both: one message on queue pair i, from beginning to end; its receive is not posted again. */
void group_message(struct group *g, int i);

/* Both: until each has had so many messages since the beginning; receives are posted again. */
void group_go(struct group *g, int messages);

#endif /* ROVER_SELFTEST_SHARED_H */
