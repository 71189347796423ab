/* SPDX-License-Identifier: GPL-2.0 */
/* skb_alloc - socket buffers that are not cleared */
#ifndef ROVER_SKB_ALLOC_H
#define ROVER_SKB_ALLOC_H

#include <linux/skbuff.h>

/**
 * rover_skb_alloc() - allocate an empty skb
 * @size: linear bytes, uninitialised
 * Context: softirqs off.
 * Return: NULL without memory.
 */
struct sk_buff *rover_skb_alloc(unsigned int size);

/**
 * rover_skb_alloc_init() - at module load
 * Return: 0 or -ENOMEM.
 */
int rover_skb_alloc_init(void);

/**
 * rover_skb_alloc_exit() - at module unload; skbs in flight stay valid
 */
void rover_skb_alloc_exit(void);

#endif /* ROVER_SKB_ALLOC_H */
