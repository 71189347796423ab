/* SPDX-License-Identifier: GPL-2.0 */
/*
 * shared - a shared receive queue of a case, memory for its receives, and queue
 * pairs that use it
 *
 * The memory is slots; the receive of a slot is in two pieces with a gap
 * between, and has the number of the slot as its wr_id.  A shared receive queue
 * belongs to the current case, and is created before the queue pairs that use
 * it.
 */
#ifndef ROVER_SELFTEST_SHARED_H
#define ROVER_SELFTEST_SHARED_H

#include "conn.h"

#define SLOT_BYTES 8192

/* Length of a receive, both pieces */
#define SLOT_ROOM (SLOT_BYTES - 128)

/**
 * struct shared - a shared receive queue
 * @init: attributes as granted
 * @r: memory of the slots
 * @ring: first mapping of the ring
 * @pages: length of that mapping
 * @srqn: XRC: SRQ number
 * @recv: XRC: completion queue
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

/* Create a queue for @wr receives, with memory for them. */
struct shared *shared_new(struct pair *p, struct ibv_pd *pd, uint32_t wr);

/* Create an XRC queue for receives of @sge pieces; they complete in @recv. */
struct shared *shared_xrc(struct pair *p, struct ibv_pd *pd, uint32_t wr, uint32_t sge,
			  struct ibv_xrcd *xrcd, struct queue *recv);

/* Post a receive; return the error number. */
int shared_post(struct shared *s, uint64_t wr_id, struct ibv_sge *sge, int n);

/* Post the receives of slots @from to @to - 1; fail on error. */
void shared_fill(struct shared *s, int from, int to);

/*
 * Fail unless the slot has @want at offset @behind, and is unchanged elsewhere; the
 * @behind bytes before are not compared.  @what names the message in a failure.
 */
void shared_judge(struct shared *s, int slot, const uint8_t *want, uint32_t len, uint32_t behind,
		  const char *what);

/* Modify attributes, return the error number; query attributes. */
int shared_modify(struct shared *s, int mask, uint32_t max_wr, uint32_t limit);
struct ibv_srq_attr shared_query(struct shared *s);

/* Wait at most @ms for this event of the queue. */
bool shared_event(struct shared *s, enum ibv_event_type type, unsigned int ms);

/* Longest time until an event, in ms */
#define SOON(p) (5000 * (p)->slow)

/* ---- queue pairs that share a receive queue ---- */

#define MAX_QPS 4
#define SLOTS 24

/* Messages in flight of a queue pair of end a */
#define DEPTH 6

/**
 * struct group - queue pairs: those of end a send, those of end b share receives
 * @s: queue at end b, with SLOTS receives, none of them posted
 * @send: completion queue of all sends
 * @recv: completion queue of all receives
 * @from: messages of end a, a slot for each message in flight
 * @target: memory for WRITEs
 * @posted: messages posted by end a, by queue pair
 * @sent: completed messages of these
 * @came: messages received and checked by end b, by queue pair
 * @doomed: queue pairs that may fail, and are not waited for
 * @broken: queue pairs that have failed
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

/* Create @rc RC and then @ud UD queue pairs; if extended, with ibv_wr_*() and ibv_cq_ex. */
struct group *group_new(struct pair *p, int rc, int ud, bool extended);

/* End a: post the next message of queue pair @i. Both ends know the contents of each message. */
void group_send(struct group *g, int i);

/* End b: check a completion and its slot. */
void group_judge(struct group *g, const struct ibv_wc *wc);

/* Both ends: transfer one message on queue pair @i, without posting its receive again. */
void group_message(struct group *g, int i);

/* Both ends: go on until each queue pair has transferred @messages; post receives again. */
void group_go(struct group *g, int messages);

#endif /* ROVER_SELFTEST_SHARED_H */
