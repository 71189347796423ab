/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slab - memory, counted; the simulator uses it, too
 */
#ifndef UNIT_LINUX_SLAB_H
#define UNIT_LINUX_SLAB_H

#include <stdbool.h>
#include <stdlib.h>

typedef unsigned int gfp_t;

#define GFP_ATOMIC	0
#define GFP_KERNEL	0
#define __GFP_NOWARN	0

/* Allocations that exist; whether there is no memory */
extern long unit_allocs;
extern bool unit_alloc_fails;

static inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	(void)gfp;
	if (unit_alloc_fails)
		return NULL;
	unit_allocs++;
	return calloc(n, size);
}

/* Nothing is zero but what was asked to be. */
static inline void *kmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	unsigned char *p = kcalloc(n, size, gfp);

	for (size_t i = 0; p && i < n * size; i++)
		p[i] = 0xa5;
	return p;
}

static inline void kfree(const void *p)
{
	unit_allocs -= !!p;
	free((void *)p);
}

#define kzalloc(size, gfp)	kcalloc(1, size, gfp)
#define kmalloc(size, gfp)	kmalloc_array(1, size, gfp)
#define kmalloc_obj(p, gfp)	kmalloc(sizeof(p), gfp)

#endif /* UNIT_LINUX_SLAB_H */
