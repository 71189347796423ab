/* SPDX-License-Identifier: GPL-2.0 */
/*
 * craft - build packets from the steps of a rule, and compare packets with steps
 */
#ifndef ROVER_SELFTEST_CRAFT_H
#define ROVER_SELFTEST_CRAFT_H

#include "clause.h"

/**
 * struct craft - common fields of the packets of a queue pair
 * @s: testbed
 * @qpn, @peer_qpn: numbers of the queue pair and of the peer
 * @psn, @peer_psn: first PSNs of requests of the queue pair and of the peer
 * @service: transport bits of opcodes, SERVICE_*
 * @keys: keys for the peer's requests
 * @srqns: XRC: SRQ numbers for the peer's requests
 */
struct craft {
	struct testbed *s;
	uint32_t qpn, peer_qpn, psn, peer_psn;
	uint8_t service;
	uint32_t keys[KEYS], srqns[SRQS];
};

/* Send the packet of a step; @each replaces EACH. */
void craft_send(struct craft *c, const struct step *step, uint16_t each);

/* Compare the last packet that the peer received with a step; return the difference, or NULL. */
const char *craft_judge(struct craft *c, const struct step *step);

/* Is the last packet that the peer received a request? */
bool craft_is_request(struct craft *c);

/* Return the offset of the first byte that is not @fill, or @len. */
size_t craft_filled(const uint8_t *bytes, size_t len, uint8_t fill);

#endif /* ROVER_SELFTEST_CRAFT_H */
