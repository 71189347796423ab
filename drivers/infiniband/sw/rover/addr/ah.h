/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ah - address handles: the path to a peer
 *
 * WQEs of user QPs name an address handle by number, those of kernel QPs by
 * pointer (union rover_kernel_wqe).
 *
 * Lifetime: found by number under RCU, freed a grace period after destroy_ah.
 * Kernel users keep theirs until all sends with it have completed (IBTA
 * 11.2.2.3).
 */
#ifndef ROVER_AH_H
#define ROVER_AH_H

#include <rdma/ib_verbs.h>
#include <rdma/rover-abi.h>

#include "addr/path.h"
#include "core/dev.h"
#include "core/table.h"

/**
 * struct rover_ah - an address handle
 * @obj: its number, if of userspace
 * @pd: PD; only compared
 * @attr: for query; its GID reference is that of @path
 * @path: headers and route
 * @rcu: for freeing
 */
struct rover_ah {
	struct rover_obj obj;
	const struct ib_pd *pd;
	struct rdma_ah_attr attr;
	struct rover_path path;
	struct rcu_head rcu;
};

/**
 * struct rover_ibah - allocated and freed by the RDMA core
 * @ib: the core's part
 * @ah: the address handle
 */
struct rover_ibah {
	struct ib_ah ib;
	struct rover_ah *ah;
};

static inline struct rover_ah *rover_ah(struct ib_ah *ib)
{
	return container_of(ib, struct rover_ibah, ib)->ah;
}

/**
 * rover_ah_find() - look up an address handle
 * @dev: device of the queue pair
 * @pd: PD of the queue pair
 * @number: from a WQE
 * Context: rcu_read_lock().
 * Return: NULL if there is none in this PD.
 */
static inline struct rover_ah *rover_ah_find(struct rover_dev *dev,
					     const struct ib_pd *pd, u32 number)
{
	struct rover_obj *obj = rover_table_find(&dev->ahs, number);
	struct rover_ah *ah = obj ? container_of(obj, struct rover_ah, obj) :
				    NULL;

	return ah && ah->pd == pd ? ah : NULL;
}

/* Verbs, as in struct ib_device_ops. */
int rover_ah_create(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int rover_ah_destroy(struct ib_ah *ib, u32 flags);
int rover_ah_query(struct ib_ah *ib, struct rdma_ah_attr *attr);

#endif /* ROVER_AH_H */
