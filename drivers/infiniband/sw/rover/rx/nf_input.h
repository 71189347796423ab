/* SPDX-License-Identifier: GPL-2.0 */
/* nf_input - receive RoCE packets in netfilter, before UDP */
#ifndef ROVER_NF_INPUT_H
#define ROVER_NF_INPUT_H

#include "core/dev.h"

/* Without netfilter, trains over the loopback device are segmented. */
#define ROVER_NF_INPUT	IS_ENABLED(CONFIG_NETFILTER)

/**
 * rover_nf_input_register() - register the input hooks
 * @rnet: namespace; nothing is received until it has devices
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int rover_nf_input_register(struct rover_net *rnet);

/**
 * rover_nf_input_unregister() - unregister the input hooks
 * @rnet: registered; hooks may run until synchronize_net()
 * Context: may sleep.
 */
void rover_nf_input_unregister(struct rover_net *rnet);

#endif /* ROVER_NF_INPUT_H */
