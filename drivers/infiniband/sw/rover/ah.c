// SPDX-License-Identifier: GPL-2.0
/*
 * ah - address handles: the path to a peer, as an object
 *
 * The core lets kernel users create and destroy address handles in atomic
 * context; nothing here sleeps.
 */
#include <rdma/uverbs_ioctl.h>

#include "ah.h"
#include "dev.h"

static struct rover_ah *rover_ah(struct ib_ah *ib)
{
	return container_of(ib, struct rover_ah, ib);
}

int rover_ah_create(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(init->ah_attr);
	struct rover_dev *dev = rover_dev(ib->device);
	struct rover_ah *ah = rover_ah(ib);
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	/* No queue pair yet to take the entropy from: only the flow label. */
	err = rover_path_init(&ah->path, dev->rnet->net, init->ah_attr,
			      rdma_flow_label_to_udp_sport(grh->flow_label));
	if (err)
		return err;
	ah->attr = *init->ah_attr;
	return 0;
}

int rover_ah_destroy(struct ib_ah *ib, u32 flags)
{
	rover_path_destroy(&rover_ah(ib)->path);
	return 0;
}

int rover_ah_query(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	struct rover_ah *ah = rover_ah(ib);

	*attr = ah->attr;
	attr->grh.sgid_attr = ah->path.sgid_attr;
	return 0;
}
