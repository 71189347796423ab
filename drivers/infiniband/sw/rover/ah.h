/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ah - address handles: the path to a peer, as an object
 */
#ifndef ROVER_AH_H
#define ROVER_AH_H

#include <rdma/ib_verbs.h>

#include "route.h"

/**
 * struct rover_ah - an address handle
 * @ib: the core's part
 * @attr: as given, for query; its GID reference is the core's
 * @path: headers and route
 */
struct rover_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
	struct rover_path path;
};

/* Verbs; signatures are those of struct ib_device_ops. */
int rover_ah_create(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int rover_ah_destroy(struct ib_ah *ib, u32 flags);
int rover_ah_query(struct ib_ah *ib, struct rdma_ah_attr *attr);

#endif /* ROVER_AH_H */
