/* SPDX-License-Identifier: GPL-2.0 */
/* nf_output - drop RoCE packets that are not rover's */
#ifndef ROVER_NF_OUTPUT_H
#define ROVER_NF_OUTPUT_H

#include <linux/netfilter.h>

#include "core/dev.h"

/* The hook, which is no observer for the shortcut. */
unsigned int rover_nf_output(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state);

/**
 * rover_nf_output_register() - start dropping foreign RoCE packets
 * @rnet: namespace
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int rover_nf_output_register(struct rover_net *rnet);

/**
 * rover_nf_output_unregister() - stop dropping them
 * @rnet: registered; the hook may run until synchronize_net()
 * Context: may sleep.
 */
void rover_nf_output_unregister(struct rover_net *rnet);

#endif /* ROVER_NF_OUTPUT_H */
