// SPDX-License-Identifier: GPL-2.0
/*
 * mcast - multicast groups of a device
 *
 * Addresses are v4-mapped or IPv6; RoCE v1 and v2 share them.
 *
 * A user QP joins at most net.ipv4.igmp_max_memberships groups, IPv4 and IPv6.
 * A user gets no more groups, and queue pairs in a group, than it leaves to
 * others (decision 0040).
 *
 * Process context, except rover_mcast_find().
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>

#include "addr/mcast.h"
#include "addr/path.h"
#include "core/dev.h"
#include "qp/qp.h"

static const struct rhashtable_params mcast_params = {
	.key_len = sizeof_field(struct rover_mcast, mgid),
	.key_offset = offsetof(struct rover_mcast, mgid),
	.head_offset = offsetof(struct rover_mcast, node),
	.automatic_shrinking = true,
};

int rover_mcast_init(struct rover_mcasts *mcasts)
{
	int err = rhashtable_init(&mcasts->ht, &mcast_params);

	if (err)
		return err;
	mutex_init(&mcasts->lock);
	xa_init(&mcasts->users);
	return 0;
}

void rover_mcast_exit(struct rover_mcasts *mcasts)
{
	WARN_ON(atomic_read(&mcasts->ht.nelems));
	WARN_ON(!xa_empty(&mcasts->users));
	rhashtable_destroy(&mcasts->ht);
	mutex_destroy(&mcasts->lock);
}

const struct rover_mcast *rover_mcast_find(struct rover_dev *dev,
					   enum rover_l3 l3, const void *ip)
{
	union ib_gid mgid;

	rover_path_dgid(&mgid, l3, ip);
	return rhashtable_lookup(&dev->mcasts.ht, &mgid, mcast_params);
}

/* Membership of the host *****************************************************/

/*
 * The stack counts members: rdma_cm and sockets may join and leave, too.  An
 * interface that left the namespace has left its groups.
 */

static int mcast_join_v4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, addr);
	return 0;
}

static void mcast_leave_v4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

/* Without IPv6 join for RoCE v1 only, by address: see rdma_get_mcast_mac(). */
static int mcast_join_v6(struct net_device *ndev, struct rover_mcast *group)
{
	const struct in6_addr *addr = (const void *)group->mgid.raw;
	u8 mac[ETH_ALEN];

	if (IS_ENABLED(CONFIG_IPV6) && __in6_dev_get(ndev))
		return ipv6_dev_mc_inc(ndev, addr);
	group->by_mac = true;
	ipv6_eth_mc_map(addr, mac);
	return dev_mc_add(ndev, mac);
}

static void mcast_leave_v6(struct net_device *ndev,
			   const struct rover_mcast *group)
{
	const struct in6_addr *addr = (const void *)group->mgid.raw;
	u8 mac[ETH_ALEN];

	ipv6_eth_mc_map(addr, mac);
	if (group->by_mac)
		dev_mc_del(ndev, mac);
	else if (IS_ENABLED(CONFIG_IPV6))
		ipv6_dev_mc_dec(ndev, addr);
}

static int mcast_join_host(const struct rover_dev *dev,
			   struct rover_mcast *group)
{
	const struct in6_addr *addr = (const void *)group->mgid.raw;
	int err = -ENODEV;

	rtnl_lock();
	if (!rover_dev_registered(dev))
		goto out;
	if (ipv6_addr_v4mapped(addr))
		err = mcast_join_v4(dev->ndev, addr->s6_addr32[3]);
	else
		err = mcast_join_v6(dev->ndev, group);
out:
	rtnl_unlock();
	return err;
}

static void mcast_leave_host(const struct rover_dev *dev,
			     const struct rover_mcast *group)
{
	const struct in6_addr *addr = (const void *)group->mgid.raw;

	rtnl_lock();
	if (!rover_dev_registered(dev))
		goto out;
	if (ipv6_addr_v4mapped(addr))
		mcast_leave_v4(dev->ndev, addr->s6_addr32[3]);
	else
		mcast_leave_v6(dev->ndev, group);
out:
	rtnl_unlock();
}

/* Users **********************************************************************/

static struct rover_mcast_user *mcast_user_get(struct rover_mcasts *mcasts)
{
	kuid_t uid = current_uid();
	struct rover_mcast_user *user = xa_load(&mcasts->users, __kuid_val(uid));

	if (!user) {
		user = kzalloc_obj(*user, GFP_KERNEL_ACCOUNT);
		if (!user)
			return NULL;
		user->uid = uid;
		if (xa_err(xa_store(&mcasts->users, __kuid_val(uid), user,
				    GFP_KERNEL_ACCOUNT))) {
			kfree(user);
			return NULL;
		}
	}
	user->qps++;
	return user;
}

static void mcast_user_put(struct rover_mcasts *mcasts,
			   struct rover_mcast_user *user)
{
	if (--user->qps)
		return;
	WARN_ON(user->groups);
	xa_erase(&mcasts->users, __kuid_val(user->uid));
	kfree(user);
}

static int mcast_member_begin(struct rover_mcasts *mcasts, struct rover_qp *qp)
{
	const struct net *net = qp->dev->rnet->net;
	struct rover_mcast_member *member = &qp->mcast;

	if (qp->user && member->groups >=
	    READ_ONCE(net->ipv4.sysctl_igmp_max_memberships))
		return -ENOBUFS;
	if (!member->groups) {
		member->user = mcast_user_get(mcasts);
		if (!member->user)
			return -ENOMEM;
	}
	member->groups++;
	return 0;
}

static void mcast_member_end(struct rover_mcasts *mcasts, struct rover_qp *qp)
{
	struct rover_mcast_member *member = &qp->mcast;

	if (--member->groups)
		return;
	mcast_user_put(mcasts, member->user);
	member->user = NULL;
}

/* Members ********************************************************************/

#define mcast_qp_at(mcasts, group, i)					\
	rcu_dereference_protected((group)->qps[i],			\
				  lockdep_is_held(&(mcasts)->lock))

/* The result is valid while the lock is held. */
static struct rover_mcast *mcast_find_locked(struct rover_mcasts *mcasts,
					     const union ib_gid *mgid)
{
	lockdep_assert_held(&mcasts->lock);
	return rhashtable_lookup_fast(&mcasts->ht, mgid, mcast_params);
}

/* For NULL, the first free index. */
static u32 mcast_index_of(struct rover_mcasts *mcasts,
			  const struct rover_mcast *group,
			  const struct rover_qp *qp)
{
	u32 i = 0;

	while (i < ROVER_MAX_MCAST_ALL && mcast_qp_at(mcasts, group, i) != qp)
		i++;
	return i;
}

static u32 mcast_count_qps(struct rover_mcasts *mcasts,
			   const struct rover_mcast *group,
			   const struct rover_mcast_user *user)
{
	u32 i, count = 0;

	for (i = 0; i < group->end; i++) {
		const struct rover_qp *qp = mcast_qp_at(mcasts, group, i);

		if (qp && qp->mcast.user == user)
			count++;
	}
	return count;
}

/* @qp->mcast.user is set. */
static int mcast_add_qp(struct rover_mcasts *mcasts, struct rover_mcast *group,
			struct rover_qp *qp)
{
	u32 own = mcast_count_qps(mcasts, group, qp->mcast.user);
	u32 i = mcast_index_of(mcasts, group, NULL);

	if (mcast_index_of(mcasts, group, qp) < ROVER_MAX_MCAST_ALL)
		return -EEXIST;
	if (own >= min(ROVER_MAX_MCAST_QP, ROVER_MAX_MCAST_ALL - group->used))
		return -ENOMEM;
	rcu_assign_pointer(group->qps[i], qp);
	WRITE_ONCE(group->end, max(group->end, i + 1));
	group->used++;
	if (!own)
		qp->mcast.user->groups++;
	return 0;
}

/* The group's first member; @qp->mcast.user is set. */
static int mcast_create_group(struct rover_dev *dev, struct rover_qp *qp,
			      const union ib_gid *mgid)
{
	struct rover_mcasts *mcasts = &dev->mcasts;
	u32 used = atomic_read(&mcasts->ht.nelems);
	struct rover_mcast *group;
	int err;

	if (qp->mcast.user->groups + used >= ROVER_MAX_MCAST)
		return -ENOMEM;
	group = kzalloc_obj(*group, GFP_KERNEL_ACCOUNT);
	if (!group)
		return -ENOMEM;
	group->mgid = *mgid;
	group->end = 1;
	group->used = 1;
	RCU_INIT_POINTER(group->qps[0], qp);
	err = mcast_join_host(dev, group);
	if (err)
		goto err_free;
	err = rhashtable_insert_fast(&mcasts->ht, &group->node, mcast_params);
	if (err)
		goto err_leave;
	qp->mcast.user->groups++;
	return 0;

err_leave:
	mcast_leave_host(dev, group);
err_free:
	kfree(group);
	return err;
}

int rover_mcast_attach(struct ib_qp *ib, union ib_gid *mgid, u16 lid)
{
	struct rover_dev *dev = rover_dev(ib->device);
	struct rover_mcasts *mcasts = &dev->mcasts;
	struct rover_qp *qp = rover_qp(ib);
	struct rover_mcast *group;
	int err;

	mutex_lock(&mcasts->lock);
	err = mcast_member_begin(mcasts, qp);
	if (err)
		goto out;
	group = mcast_find_locked(mcasts, mgid);
	err = group ? mcast_add_qp(mcasts, group, qp) :
		      mcast_create_group(dev, qp, mgid);
	if (err)
		mcast_member_end(mcasts, qp);
out:
	mutex_unlock(&mcasts->lock);
	return err;
}

/* With the last member the host leaves the group. */
static void mcast_remove_qp(struct rover_dev *dev, struct rover_mcast *group,
			    u32 i)
{
	struct rover_mcasts *mcasts = &dev->mcasts;
	struct rover_qp *qp = mcast_qp_at(mcasts, group, i);
	u32 end = group->end;

	RCU_INIT_POINTER(group->qps[i], NULL);
	while (end && !mcast_qp_at(mcasts, group, end - 1))
		end--;
	WRITE_ONCE(group->end, end);
	group->used--;
	if (!mcast_count_qps(mcasts, group, qp->mcast.user))
		qp->mcast.user->groups--;
	mcast_member_end(mcasts, qp);
	if (end)
		return;
	WARN_ON(rhashtable_remove_fast(&mcasts->ht, &group->node,
				       mcast_params));
	mcast_leave_host(dev, group);
	kfree_rcu(group, rcu);
}

int rover_mcast_detach(struct ib_qp *ib, union ib_gid *mgid, u16 lid)
{
	struct rover_dev *dev = rover_dev(ib->device);
	struct rover_mcasts *mcasts = &dev->mcasts;
	u32 i = ROVER_MAX_MCAST_ALL;
	struct rover_mcast *group;

	mutex_lock(&mcasts->lock);
	group = mcast_find_locked(mcasts, mgid);
	if (group)
		i = mcast_index_of(mcasts, group, rover_qp(ib));
	if (i < ROVER_MAX_MCAST_ALL)
		mcast_remove_qp(dev, group, i);
	mutex_unlock(&mcasts->lock);
	return i < ROVER_MAX_MCAST_ALL ? 0 : -EINVAL;
}
