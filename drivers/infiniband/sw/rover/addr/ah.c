// SPDX-License-Identifier: GPL-2.0
/*
 * ah - address handles
 *
 * Those of kernel users may be created and destroyed in atomic context.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "addr/ah.h"

static_assert(sizeof(struct rover_uapi_create_ah_resp) == 8);

/*
 * Without a flow label take a random one, to spread flows over paths and
 * receive queues.
 */
static u16 ah_source_port(const struct ib_global_route *grh)
{
	return rdma_flow_label_to_udp_sport(grh->flow_label ?:
					    get_random_u32() &
					    IB_GRH_FLOWLABEL_MASK);
}

static void ah_free_rcu(struct rcu_head *rcu)
{
	struct rover_ah *ah = container_of(rcu, struct rover_ah, rcu);

	rover_dst_clear(&ah->path.out);
	kfree(ah);
}

/*
 * Put the GID at once: the RDMA core expects that when it unregisters a device.
 * Keep the route for a grace period: a datagram in flight without a reference
 * is dropped where it cannot take one (loopback device).
 */
static void ah_release(struct rover_ah *ah)
{
	rover_path_put_gid(&ah->path);
	call_rcu(&ah->rcu, ah_free_rcu);
}

/* Assign a number and pass it to userspace. */
static int ah_publish(struct rover_dev *dev, struct rover_ah *ah,
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
			      ah_source_port(grh));
	if (err) {
		kfree(ah);
		return err;
	}
	ah->pd = ib->pd;
	ah->attr = *init->ah_attr;
	if (udata) {
		err = ah_publish(dev, ah, udata);
		if (err) {
			/* RCU readers may have found it already. */
			ah_release(ah);
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
	ah_release(ah);
	return 0;
}

int rover_ah_query(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	struct rover_ah *ah = rover_ah(ib);

	*attr = ah->attr;
	attr->grh.sgid_attr = ah->path.sgid_attr;
	return 0;
}
