/* SPDX-License-Identifier: GPL-2.0 */
/*
 * skb_alloc - socket buffers that are not cleared before they are filled
 */
#ifndef ROVER_SKB_ALLOC_H
#define ROVER_SKB_ALLOC_H

#include <linux/skbuff.h>

/**
 * rover_skb_alloc() - an empty socket buffer
 * @size: bytes of its linear part; they are not initialised
 *
 * Context: softirqs off; does not sleep.
 * Return: NULL without memory.
 */
struct sk_buff *rover_skb_alloc(unsigned int size);

/**
 * rover_skb_alloc_init() - before the first device
 *
 * Return: 0 or -ENOMEM.
 */
int rover_skb_alloc_init(void);

/**
 * rover_skb_alloc_exit() - nobody gets any more; those that are out stay valid
 */
void rover_skb_alloc_exit(void);

#endif /* ROVER_SKB_ALLOC_H */
