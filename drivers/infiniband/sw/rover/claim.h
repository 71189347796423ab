/* SPDX-License-Identifier: GPL-2.0 */
/*
 * claim - a train for our port is for our socket, as a whole
 */
#ifndef ROVER_CLAIM_H
#define ROVER_CLAIM_H

#include <net/net_namespace.h>

/* Without it trains of the loopback device come packet by packet. */
#define ROVER_CLAIMS	IS_ENABLED(CONFIG_NETFILTER)

/**
 * rover_claim_begin() - say so from now on
 * @net: where the socket is
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int rover_claim_begin(struct net *net);

/**
 * rover_claim_end() - say so no longer
 * @net: begun there
 *
 * Context: may sleep.
 */
void rover_claim_end(struct net *net);

#endif /* ROVER_CLAIM_H */
