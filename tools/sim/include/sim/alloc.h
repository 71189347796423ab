/* SPDX-License-Identifier: GPL-2.0 */
/* alloc - memory that the transport allocates, counted */
#ifndef SIM_ALLOC_H
#define SIM_ALLOC_H

typedef unsigned int gfp_t;

#define GFP_ATOMIC	0
#define GFP_KERNEL	0
#define __GFP_NOWARN	0

/* Allocations that exist */
extern long sim_allocs;

static inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	sim_allocs++;
	return calloc(n, size);
}

static inline void kfree(const void *p)
{
	sim_allocs -= !!p;
	free((void *)p);
}

#define kzalloc(size, gfp)	kcalloc(1, size, gfp)
#define kmalloc			kzalloc
#define kvzalloc		kzalloc
#define kvcalloc		kcalloc
#define kvfree			kfree
#define kmalloc_array		kcalloc

#endif /* SIM_ALLOC_H */
