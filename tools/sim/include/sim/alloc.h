/* SPDX-License-Identifier: GPL-2.0 */
/* alloc - memory that the transport allocates, counted */
#ifndef SIM_ALLOC_H
#define SIM_ALLOC_H

/* By its path: here linux/slab.h is sim/kernel.h. */
#include "../../../unit/include/linux/slab.h"

#define totalram_pages()	(16UL << 20)

#define kvzalloc		kzalloc
#define kvcalloc		kcalloc
#define kvfree			kfree

struct xarray { void *head; };

#define xa_init(xa)		((void)((xa)->head = NULL))
#define xa_err(entry)		((void)(entry), 0)

void *xa_store(struct xarray *xa, unsigned long index, void *pointer, gfp_t gfp);
void *xa_erase(struct xarray *xa, unsigned long index);
void *sim_xa_next(struct xarray *xa, unsigned long *index);

#define xa_for_each_range(xa, index, entry, from, last) \
	for ((index) = (from); ((entry) = sim_xa_next(xa, &(index))) && \
	     (index) <= (last); (index)++)

#endif /* SIM_ALLOC_H */
