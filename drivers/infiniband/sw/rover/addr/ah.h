/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ah - address handles: the path to a peer, as an object
 *
 * Programs name an address handle in their rings by a number, kernel users by
 * its address.  A number is looked up for each datagram in the table of the
 * device, and good only for queue pairs of the same protection domain: what a
 * hostile program can name is its own.
 *
 * Lifetime: found by number under RCU; gone from the table with destroy_ah, and
 * freed after a grace period.  Kernel users keep theirs until the sends that
 * name it are completed (IBTA 11.2.2.3).
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
 * @obj: its number, of a program's
 * @pd: protection domain; to be compared and never followed
 * @attr: as given, for query; its GID reference is the path's
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
 * struct rover_ibah - what the core allocates, and frees when it likes
 * @ib: the core's part
 * @ah: ours
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
 * rover_ah_find() - a program's address handle by its number
 * @dev: device of the queue pair
 * @pd: protection domain of the queue pair
 * @number: from a work request
 *
 * Context: under rcu_read_lock().
 * Return: NULL when there is none in this domain.
 */
static inline struct rover_ah *rover_ah_find(struct rover_dev *dev,
					     const struct ib_pd *pd, u32 number)
{
	struct rover_obj *obj = rover_table_find(&dev->ahs, number);
	struct rover_ah *ah = obj ? container_of(obj, struct rover_ah, obj) :
				    NULL;

	return ah && ah->pd == pd ? ah : NULL;
}

/*
 * Rings of kernel users are memory nobody else sees, hence the place for a
 * pointer in their work requests.
 */
static inline struct rover_ah **rover_ah_of_kernel(struct rover_send_wqe *wqe)
{
	static_assert(sizeof(wqe->reserved_28) >= sizeof(struct rover_ah *));
	return (struct rover_ah **)&wqe->reserved_28;
}

/* Verbs; signatures are those of struct ib_device_ops. */
int rover_ah_create(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int rover_ah_destroy(struct ib_ah *ib, u32 flags);
int rover_ah_query(struct ib_ah *ib, struct rdma_ah_attr *attr);

#endif /* ROVER_AH_H */
