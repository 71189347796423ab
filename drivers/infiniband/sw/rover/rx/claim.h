/* SPDX-License-Identifier: GPL-2.0 */
/*
 * claim - what is for our port is ours, before UDP looks whose it is
 */
#ifndef ROVER_CLAIM_H
#define ROVER_CLAIM_H

#include "core/dev.h"

/* Without it trains of the loopback device come packet by packet. */
#define ROVER_CLAIMS	IS_ENABLED(CONFIG_NETFILTER)

/**
 * rover_claim_begin() - take packets from now on
 * @rnet: namespace; as long as it has no devices, none is taken
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int rover_claim_begin(struct rover_net *rnet);

/**
 * rover_claim_end() - take them no longer
 * @rnet: begun there; whoever is at it is done after synchronize_net()
 *
 * Context: may sleep.
 */
void rover_claim_end(struct rover_net *rnet);

#endif /* ROVER_CLAIM_H */
