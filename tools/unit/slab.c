// SPDX-License-Identifier: GPL-2.0
/* slab - how much is allocated, and whether there is more */
#include <linux/slab.h>

long unit_allocs;
bool unit_alloc_fails;
