/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ether - raw packet queue pairs of a test case, their frames and flow rules
 *
 * The network carries other things as well, the talk of the two ends among them:
 * the frames of a test end in a mark and a number, and what has no mark is not
 * looked at, unless a case asks for it.
 */
#ifndef ROVER_SELFTEST_ETHER_H
#define ROVER_SELFTEST_ETHER_H

#include "conn.h"

#define ETHER_SLOTS 128
#define ETHER_ROOM 4608

/* Ethernet's type for experiments. */
#define ETHER_TYPE 0x88b5
#define ETHER_MARK 12

/**
 * struct ether - a raw packet queue pair
 * @p: the case's
 * @c: the queue pair; conn_send() and so on work on it
 * @r: ETHER_SLOTS places for frames received; the second half of it for those sent
 * @mac: of the netdev at this end
 * @peer: of the netdev at the other end
 * @posted: receives so far; the place is this modulo ETHER_SLOTS
 * @taken: and frames
 */
struct ether {
	struct pair *p;
	struct conn *c;
	struct region *r;
	uint8_t mac[6], peer[6];
	unsigned int posted, taken;
};

/* One with all its receives posted; both ends do it. */
struct conn_attr ether_defaults(struct pair *p);
struct ether *ether_open(struct pair *p, const struct conn_attr *attr);

/* A frame as it is built: header by header, and then its end. */
struct frame {
	uint8_t bytes[ETHER_ROOM];
	unsigned int len;
};

void frame_begin(struct frame *f, const uint8_t *dst, const uint8_t *src);
void frame_tag(struct frame *f, uint16_t tci);
void frame_type(struct frame *f, uint16_t type);
void frame_put(struct frame *f, const void *bytes, unsigned int len);

/* Fill it with a pattern up to this length; the mark at its end, if there is room. */
void frame_end(struct frame *f, unsigned int len, uint32_t id);

/* Is it a datagram over IPv4 to this port? */
bool frame_is_udp(const uint8_t *bytes, unsigned int len, uint16_t port);

/* The number in a frame's mark, or -1. */
int64_t frame_id(const uint8_t *bytes, unsigned int len);

/* Send one frame in so many pieces, or inline, and wait for its completion. */
void ether_send(struct ether *e, const struct frame *f, int pieces, bool inlined);

/* The next frame received, marked or not; NULL within ms. Its place is posted again later. */
const uint8_t *ether_any(struct ether *e, unsigned int *len, unsigned int ms);

/* The next one that is marked has to be this one; or there is none within ms. */
void ether_want(struct ether *e, const struct frame *f);
void ether_quiet(struct ether *e, unsigned int ms);

/* A flow rule: begin, add what it asks for, make it. */
struct rule {
	struct ibv_flow_attr attr;
	uint8_t specs[512];
};

void rule_begin(struct rule *rule, enum ibv_flow_attr_type type, unsigned int priority,
		unsigned int flags);
void rule_add(struct rule *rule, const void *spec, unsigned int size);

/* Frames to this address (or to any) and of this type (or of any, 0). */
void rule_eth(struct rule *rule, const uint8_t *dst, uint16_t type);

/* Make it, at the end of the case it goes; or be refused, with this error. */
struct ibv_flow *rule_make(struct ether *e, struct rule *rule);
void rule_refused(struct ether *e, struct rule *rule, int error, const char *what);
void rule_drop(struct ether *e, struct ibv_flow *flow);

/* Wait until the interface listens to what the rules made so far are about. */
void rules_are_heard(struct ether *e);

/* Does the device take rules at all? Else skip the case. */
void need_rules(struct pair *p);

#endif /* ROVER_SELFTEST_ETHER_H */
