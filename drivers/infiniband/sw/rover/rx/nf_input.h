/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nf_input - what is for our port is ours, before UDP looks whose it is
 */
#ifndef ROVER_NF_INPUT_H
#define ROVER_NF_INPUT_H

#include "core/dev.h"

/* Without it trains of the loopback device come packet by packet. */
#define ROVER_NF_INPUT	IS_ENABLED(CONFIG_NETFILTER)

/**
 * rover_nf_input_register() - take packets from now on
 * @rnet: namespace; as long as it has no devices, none is taken
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int rover_nf_input_register(struct rover_net *rnet);

/**
 * rover_nf_input_unregister() - take them no longer
 * @rnet: begun there; whoever is at it is done after synchronize_net()
 *
 * Context: may sleep.
 */
void rover_nf_input_unregister(struct rover_net *rnet);

#endif /* ROVER_NF_INPUT_H */
