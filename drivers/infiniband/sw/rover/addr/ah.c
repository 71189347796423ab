// SPDX-License-Identifier: GPL-2.0
/*
 * ah - address handles: the path to a peer, as an object
 *
 * The core lets kernel users create and destroy address handles in atomic
 * context; what sleeps here is for programs only.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "addr/ah.h"

static_assert(sizeof(struct rover_uapi_create_ah_resp) == 8);

/*
 * An address handle is a flow.  Where its owner gave no label to tell it from
 * others a random one does, so that flows spread over the network's paths and
 * the receiver's queues; it shows in the UDP source port only.
 */
static u16 source_port(const struct ib_global_route *grh)
{
	return rdma_flow_label_to_udp_sport(grh->flow_label ?:
					    get_random_u32() &
					    IB_GRH_FLOWLABEL_MASK);
}

static void free_rcu(struct rcu_head *rcu)
{
	struct rover_ah *ah = container_of(rcu, struct rover_ah, rcu);

	rover_dst_clear(&ah->path.out);
	kfree(ah);
}

/*
 * The GID goes back at once, since the core counts them when a device goes.  The
 * route stays: a datagram that is being sent, though it has completed, has no
 * reference to it, and where the stack takes one and finds that there is none any
 * more, as the loopback device does, the datagram goes no further.
 */
static void discard(struct rover_ah *ah)
{
	rover_path_put_gid(&ah->path);
	call_rcu(&ah->rcu, free_rcu);
}

/* Give it a number, and tell the program. */
static int publish(struct rover_dev *dev, struct rover_ah *ah,
		   struct ib_udata *udata)
{
	struct rover_uapi_create_ah_resp resp = {};
	int err;

	err = rover_table_insert(&dev->ahs, &ah->obj, 1);
	if (err)
		return err;
	resp.ah = ah->obj.key;
	err = ib_respond_udata(udata, resp);
	if (err)
		rover_table_remove(&dev->ahs, &ah->obj);
	return err;
}

int rover_ah_create(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(init->ah_attr);
	struct rover_dev *dev = rover_dev(ib->device);
	gfp_t gfp = GFP_ATOMIC;
	struct rover_ah *ah;
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;
	if (udata)
		gfp = GFP_KERNEL_ACCOUNT;
	else if (init->flags & RDMA_CREATE_AH_SLEEPABLE)
		gfp = GFP_KERNEL;
	ah = kzalloc_obj(*ah, gfp);
	if (!ah)
		return -ENOMEM;
	err = rover_path_init(&ah->path, dev->rnet->net, init->ah_attr,
			      source_port(grh));
	if (err) {
		kfree(ah);
		return err;
	}
	ah->pd = ib->pd;
	ah->attr = *init->ah_attr;
	if (udata) {
		err = publish(dev, ah, udata);
		if (err) {
			/* A guess may have found it already. */
			discard(ah);
			return err;
		}
	}
	container_of(ib, struct rover_ibah, ib)->ah = ah;
	return 0;
}

int rover_ah_destroy(struct ib_ah *ib, u32 flags)
{
	struct rover_ah *ah = rover_ah(ib);

	if (ah->obj.key)
		rover_table_remove(&rover_dev(ib->device)->ahs, &ah->obj);
	discard(ah);
	return 0;
}

int rover_ah_query(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	struct rover_ah *ah = rover_ah(ib);

	*attr = ah->attr;
	attr->grh.sgid_attr = ah->path.sgid_attr;
	return 0;
}
