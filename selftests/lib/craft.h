/* SPDX-License-Identifier: GPL-2.0 */
/*
 * craft - packets from the steps of a rule, and steps that packets have to agree with
 */
#ifndef ROVER_SELFTEST_CRAFT_H
#define ROVER_SELFTEST_CRAFT_H

#include "clause.h"

/**
 * struct craft - what the packets of a queue pair have in common
 * @s: with the peer
 * @qpn, @peer_qpn: its number, and that of the peer
 * @psn, @peer_psn: first sequence number of its requests, and of the peer's
 * @service: of its opcodes, SERVICE_*
 * @keys: of memory that the peer may name
 * @srqns: XRC: of queues that the peer may name
 */
struct craft {
	struct testbed *s;
	uint32_t qpn, peer_qpn, psn, peer_psn;
	uint8_t service;
	uint32_t keys[KEYS], srqns[SRQS];
};

/* Send what a step says; each stands for EACH. */
void craft_send(struct craft *c, const struct step *step, uint16_t each);

/* The peer's last packet has to be what a step says; what is wrong with it, or NULL. */
const char *craft_judge(struct craft *c, const struct step *step);

/* Does the peer's last packet ask for something? */
bool craft_is_request(struct craft *c);

/* All of these bytes have to be the same; the offset of the first that is not, or len. */
size_t craft_filled(const uint8_t *bytes, size_t len, uint8_t fill);

#endif /* ROVER_SELFTEST_CRAFT_H */
