/* SPDX-License-Identifier: GPL-2.0 */
/*
 * buffer - socket buffers that are not cleared before they are filled
 */
#ifndef ROVER_BUFFER_H
#define ROVER_BUFFER_H

#include <linux/skbuff.h>

/**
 * rover_buffer_get() - an empty socket buffer
 * @size: bytes of its linear part; they are not initialised
 *
 * Context: softirqs off; does not sleep.
 * Return: NULL without memory.
 */
struct sk_buff *rover_buffer_get(unsigned int size);

/**
 * rover_buffer_init() - before the first device
 *
 * Return: 0 or -ENOMEM.
 */
int rover_buffer_init(void);

/**
 * rover_buffer_exit() - nobody gets any more; those that are out stay valid
 */
void rover_buffer_exit(void);

#endif /* ROVER_BUFFER_H */
