/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ether - raw packet queue pairs of a test case, their frames and flow rules
 *
 * The network carries other frames as well, such as the control connection of the
 * two ends.  Frames of a test end with a mark and a number; frames without mark are
 * ignored, except by ether_any().
 */
#ifndef ROVER_SELFTEST_ETHER_H
#define ROVER_SELFTEST_ETHER_H

#include "conn.h"

#define ETHER_SLOTS 128
#define ETHER_ROOM 4608

/* EtherType for experiments */
#define ETHER_TYPE 0x88b5
#define ETHER_MARK 12

/**
 * struct ether - a raw packet queue pair
 * @p: the pair
 * @c: the queue pair, for conn_send() and so on
 * @r: memory: ETHER_SLOTS slots for receives, and a second half for sends
 * @mac: address of the netdev at this end
 * @peer: address of the netdev at the other end
 * @posted: number of receives so far; modulo ETHER_SLOTS it is the slot
 * @taken: number of frames received so far
 */
struct ether {
	struct pair *p;
	struct conn *c;
	struct region *r;
	uint8_t mac[6], peer[6];
	unsigned int posted, taken;
};

/* Create a queue pair with all receives posted; both ends call it. */
struct conn_attr ether_defaults(struct pair *p);
struct ether *ether_open(struct pair *p, const struct conn_attr *attr);

/* A frame, built header by header */
struct frame {
	uint8_t bytes[ETHER_ROOM];
	unsigned int len;
};

void frame_begin(struct frame *f, const uint8_t *dst, const uint8_t *src);
void frame_tag(struct frame *f, uint16_t tci);
void frame_type(struct frame *f, uint16_t type);
void frame_put(struct frame *f, const void *bytes, unsigned int len);

/* Fill the frame with a pattern up to @len, with a mark at its end if there is room. */
void frame_end(struct frame *f, unsigned int len, uint32_t id);

/* Is it a datagram over IPv4 to this port? */
bool frame_is_udp(const uint8_t *bytes, unsigned int len, uint16_t port);

/* The number in a frame's mark, or -1. */
int64_t frame_id(const uint8_t *bytes, unsigned int len);

/* Send a frame in @pieces pieces, or inline, and wait for its completion. */
void ether_send(struct ether *e, const struct frame *f, int pieces, bool inlined);

/* Return the next frame, marked or not, valid until the next call; NULL after @ms. */
const uint8_t *ether_any(struct ether *e, unsigned int *len, unsigned int ms);

/* Fail unless the next marked frame is @f; fail if a marked frame comes within @ms. */
void ether_want(struct ether *e, const struct frame *f);
void ether_quiet(struct ether *e, unsigned int ms);

/* A flow rule: begin it, add specs, create it */
struct rule {
	struct ibv_flow_attr attr;
	uint8_t specs[512];
};

void rule_begin(struct rule *rule, enum ibv_flow_attr_type type, unsigned int priority,
		unsigned int flags);
void rule_add(struct rule *rule, const void *spec, unsigned int size);

/* Match frames to @dst (NULL: any) of EtherType @type (0: any). */
void rule_eth(struct rule *rule, const uint8_t *dst, uint16_t type);

/* Create a rule, destroyed at the end of the case; or fail unless it is refused with @error. */
struct ibv_flow *rule_make(struct ether *e, struct rule *rule);
void rule_refused(struct ether *e, struct rule *rule, int error, const char *what);
void rule_drop(struct ether *e, struct ibv_flow *flow);

/* Wait until the interface's filter has the addresses of all rules so far. */
void rules_are_heard(struct ether *e);

/* Skip the case if the device has no flow rules. */
void need_rules(struct pair *p);

#endif /* ROVER_SELFTEST_ETHER_H */
