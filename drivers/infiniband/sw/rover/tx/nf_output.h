/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nf_output - RoCE that is not rover's does not leave by this host's addresses
 */
#ifndef ROVER_NF_OUTPUT_H
#define ROVER_NF_OUTPUT_H

#include <linux/netfilter.h>

#include "core/dev.h"

/* The hook function, by which the shortcut knows its entries. */
unsigned int rover_nf_output(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);

/**
 * rover_nf_output_register() - drop foreign RoCE packets from now on
 * @rnet: namespace
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int rover_nf_output_register(struct rover_net *rnet);

/**
 * rover_nf_output_unregister() - let them pass again
 * @rnet: rover_nf_output_register() succeeded; the last call of the hook has
 *	returned after synchronize_net()
 *
 * Context: may sleep.
 */
void rover_nf_output_unregister(struct rover_net *rnet);

#endif /* ROVER_NF_OUTPUT_H */
