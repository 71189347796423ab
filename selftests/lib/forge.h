/* SPDX-License-Identifier: GPL-2.0 */
/*
 * forge - packets of a connection that its own device did not send
 *
 * What a network may do to a connection, doubling and delaying, and what an
 * enemy may: packets from this end's address, well formed, at a time and with a
 * sequence number of the test's choice.  Over IPv4, by a raw socket.
 */
#ifndef ROVER_SELFTEST_FORGE_H
#define ROVER_SELFTEST_FORGE_H

#include "conn.h"

struct forge {
	struct pair *p;
	struct conn *c;
	int sock;
};

/* On a connection that is ready; until the end of the case. */
struct forge *forge_new(struct conn *c);

/* The first PSN the peer waits for, as long as only forged packets have come. */
static inline uint32_t forge_psn(const struct forge *f, uint32_t number)
{
	return (f->c->own.psn + number) & 0xffffff;
}

void forge_read(struct forge *f, uint32_t psn, uint64_t addr, uint32_t rkey, uint32_t len);
void forge_send(struct forge *f, uint32_t psn, const void *data, size_t len);

#endif /* ROVER_SELFTEST_FORGE_H */
