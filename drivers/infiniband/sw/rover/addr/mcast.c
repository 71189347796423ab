// SPDX-License-Identifier: GPL-2.0
/*
 * mcast - multicast groups of a device, and who is attached to them
 *
 * A group's address is an IPv4 multicast address in IPv6's mapped form, or an
 * IPv6 one: what the core makes of the address of an IP group (rdma_cm).  It is
 * the same group to RoCE v1 and v2.
 *
 * A queue pair of a program joins as many groups as a socket of its namespace may
 * (net.ipv4.igmp_max_memberships), of either family: IPv6 has no limit in numbers of
 * its own.  What a device has room for is shared between users such that each one
 * leaves as much as it has: one alone gets half of it.
 *
 * Process context, but for rover_mcast_find().
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

static const struct rhashtable_params params = {
	.key_len = sizeof_field(struct rover_mcast, mgid),
	.key_offset = offsetof(struct rover_mcast, mgid),
	.head_offset = offsetof(struct rover_mcast, node),
	.automatic_shrinking = true,
};

int rover_mcast_init(struct rover_mcasts *mcasts)
{
	int err = rhashtable_init(&mcasts->ht, &params);

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
	return rhashtable_lookup(&dev->mcasts.ht, &mgid, params);
}

/* Membership of the host *****************************************************/

/*
 * The stack counts members, so others (rdma_cm, programs with sockets) may come
 * and go as they like.  An interface that has left the namespace has left its
 * groups, too.
 */

static int join_v4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, addr);
	return 0;
}

static void leave_v4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

/*
 * RoCE v1 needs no IP group, but what comes with one: the Ethernet address, by the
 * same rule (rdma_get_mcast_mac).
 */
static int join_v6(struct net_device *ndev, struct rover_mcast *group)
{
	const struct in6_addr *addr = (const void *)group->mgid.raw;
	u8 mac[ETH_ALEN];

	if (IS_ENABLED(CONFIG_IPV6) && __in6_dev_get(ndev))
		return ipv6_dev_mc_inc(ndev, addr);
	group->by_mac = true;
	ipv6_eth_mc_map(addr, mac);
	return dev_mc_add(ndev, mac);
}

static void leave_v6(struct net_device *ndev, const struct rover_mcast *group)
{
	const struct in6_addr *addr = (const void *)group->mgid.raw;
	u8 mac[ETH_ALEN];

	ipv6_eth_mc_map(addr, mac);
	if (group->by_mac)
		dev_mc_del(ndev, mac);
	else if (IS_ENABLED(CONFIG_IPV6))
		ipv6_dev_mc_dec(ndev, addr);
}

static int join(const struct rover_dev *dev, struct rover_mcast *group)
{
	const struct in6_addr *addr = (const void *)group->mgid.raw;
	int err = -ENODEV;

	rtnl_lock();
	if (!rover_dev_here(dev))
		goto out;
	if (ipv6_addr_v4mapped(addr))
		err = join_v4(dev->ndev, addr->s6_addr32[3]);
	else
		err = join_v6(dev->ndev, group);
out:
	rtnl_unlock();
	return err;
}

static void leave(const struct rover_dev *dev, const struct rover_mcast *group)
{
	const struct in6_addr *addr = (const void *)group->mgid.raw;

	rtnl_lock();
	if (!rover_dev_here(dev))
		goto out;
	if (ipv6_addr_v4mapped(addr))
		leave_v4(dev->ndev, addr->s6_addr32[3]);
	else
		leave_v6(dev->ndev, group);
out:
	rtnl_unlock();
}

/* Users **********************************************************************/

static struct rover_mcast_user *user_get(struct rover_mcasts *mcasts)
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

static void user_put(struct rover_mcasts *mcasts, struct rover_mcast_user *user)
{
	if (--user->qps)
		return;
	WARN_ON(user->groups);
	xa_erase(&mcasts->users, __kuid_val(user->uid));
	kfree(user);
}

static int member_begin(struct rover_mcasts *mcasts, struct rover_qp *qp)
{
	const struct net *net = qp->dev->rnet->net;
	struct rover_mcast_member *member = &qp->mcast;

	if (qp->user && member->groups >=
	    READ_ONCE(net->ipv4.sysctl_igmp_max_memberships))
		return -ENOBUFS;
	if (!member->groups) {
		member->user = user_get(mcasts);
		if (!member->user)
			return -ENOMEM;
	}
	member->groups++;
	return 0;
}

static void member_end(struct rover_mcasts *mcasts, struct rover_qp *qp)
{
	struct rover_mcast_member *member = &qp->mcast;

	if (--member->groups)
		return;
	user_put(mcasts, member->user);
	member->user = NULL;
}

/* Members ********************************************************************/

#define qp_at(mcasts, group, i)						\
	rcu_dereference_protected((group)->qps[i],			\
				  lockdep_is_held(&(mcasts)->lock))

/* For changes: what is found stays while the lock is held. */
static struct rover_mcast *find(struct rover_mcasts *mcasts,
				const union ib_gid *mgid)
{
	lockdep_assert_held(&mcasts->lock);
	return rhashtable_lookup_fast(&mcasts->ht, mgid, params);
}

/* Where in the group it is; or, of NULL, the first place that is free. */
static u32 index_of(struct rover_mcasts *mcasts, const struct rover_mcast *group,
		    const struct rover_qp *qp)
{
	u32 i = 0;

	while (i < ROVER_MAX_MCAST_ALL && qp_at(mcasts, group, i) != qp)
		i++;
	return i;
}

/* How many queue pairs of this user are in the group? */
static u32 count_of(struct rover_mcasts *mcasts, const struct rover_mcast *group,
		    const struct rover_mcast_user *user)
{
	u32 i, count = 0;

	for (i = 0; i < group->end; i++) {
		const struct rover_qp *qp = qp_at(mcasts, group, i);

		if (qp && qp->mcast.user == user)
			count++;
	}
	return count;
}

/* @qp has a user. */
static int add(struct rover_mcasts *mcasts, struct rover_mcast *group,
	       struct rover_qp *qp)
{
	u32 own = count_of(mcasts, group, qp->mcast.user);
	u32 i = index_of(mcasts, group, NULL);

	if (index_of(mcasts, group, qp) < ROVER_MAX_MCAST_ALL)
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

/* The first member brings the host along.  @qp has a user. */
static int found(struct rover_dev *dev, struct rover_qp *qp,
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
	err = join(dev, group);
	if (err)
		goto err_free;
	err = rhashtable_insert_fast(&mcasts->ht, &group->node, params);
	if (err)
		goto err_leave;
	qp->mcast.user->groups++;
	return 0;

err_leave:
	leave(dev, group);
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
	err = member_begin(mcasts, qp);
	if (err)
		goto out;
	group = find(mcasts, mgid);
	err = group ? add(mcasts, group, qp) : found(dev, qp, mgid);
	if (err)
		member_end(mcasts, qp);
out:
	mutex_unlock(&mcasts->lock);
	return err;
}

/* The last member takes the host along. */
static void remove(struct rover_dev *dev, struct rover_mcast *group, u32 i)
{
	struct rover_mcasts *mcasts = &dev->mcasts;
	struct rover_qp *qp = qp_at(mcasts, group, i);
	u32 end = group->end;

	RCU_INIT_POINTER(group->qps[i], NULL);
	while (end && !qp_at(mcasts, group, end - 1))
		end--;
	WRITE_ONCE(group->end, end);
	group->used--;
	if (!count_of(mcasts, group, qp->mcast.user))
		qp->mcast.user->groups--;
	member_end(mcasts, qp);
	if (end)
		return;
	WARN_ON(rhashtable_remove_fast(&mcasts->ht, &group->node, params));
	leave(dev, group);
	kfree_rcu(group, rcu);
}

int rover_mcast_detach(struct ib_qp *ib, union ib_gid *mgid, u16 lid)
{
	struct rover_dev *dev = rover_dev(ib->device);
	struct rover_mcasts *mcasts = &dev->mcasts;
	u32 i = ROVER_MAX_MCAST_ALL;
	struct rover_mcast *group;

	mutex_lock(&mcasts->lock);
	group = find(mcasts, mgid);
	if (group)
		i = index_of(mcasts, group, rover_qp(ib));
	if (i < ROVER_MAX_MCAST_ALL)
		remove(dev, group, i);
	mutex_unlock(&mcasts->lock);
	return i < ROVER_MAX_MCAST_ALL ? 0 : -EINVAL;
}
