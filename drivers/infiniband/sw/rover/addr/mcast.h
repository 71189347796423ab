/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mcast - multicast groups of a device, and who is attached to them
 *
 * A group is found by its address under RCU, and so are its queue pairs.  As
 * long as it has members the host is a member of the same IP group on the
 * device's interface, or neither switches nor the stack would let its packets
 * come here.
 *
 * Lifetime: the core destroys no queue pair that is attached, and detaches
 * those of a program that has gone.  A reader that still sees one that was
 * destroyed since finds it not @alive.
 */
#ifndef ROVER_MCAST_H
#define ROVER_MCAST_H

#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "wire/wire.h"

struct rover_dev;
struct rover_qp;

/* Multicast datagrams are sent to this number (IBTA 9.6.2.1); nobody has it. */
#define ROVER_MCAST_QPN		0xffffff

/*
 * Groups of a device; queue pairs that one user may attach to a group; and those of
 * all users, which bounds the work that a packet makes.  A user gets no more groups,
 * and no more places in a group, than are left for the others.
 */
#define ROVER_MAX_MCAST		4096
#define ROVER_MAX_MCAST_QP	64
#define ROVER_MAX_MCAST_ALL	256

/**
 * struct rover_mcast - a group
 * @node: the table's
 * @mgid: its address
 * @rcu: for freeing
 * @by_mac: the interface has no IPv6, and so no such IP group: RoCE v1 only
 * @end: no queue pair is in @qps from here on
 * @used: queue pairs in @qps
 * @qps: attached, and NULLs; RCU, written under rover_mcasts.lock
 */
struct rover_mcast {
	struct rhash_head node;
	union ib_gid mgid;
	struct rcu_head rcu;
	bool by_mac;
	u32 end;
	u32 used;
	struct rover_qp __rcu *qps[ROVER_MAX_MCAST_ALL];
};

/**
 * struct rover_mcast_user - a user with attached queue pairs
 * @uid: who it is
 * @qps: queue pairs that are attached to something
 * @groups: with queue pairs of this user; a group of several users counts for each
 *
 * All under rover_mcasts.lock.
 */
struct rover_mcast_user {
	kuid_t uid;
	u32 qps;
	u32 groups;
};

/**
 * struct rover_mcast_member - what a queue pair is attached to
 * @user: who attached it first; NULL while @groups is 0
 * @groups: how many groups
 *
 * All under rover_mcasts.lock.
 */
struct rover_mcast_member {
	struct rover_mcast_user *user;
	u32 groups;
};

/**
 * struct rover_mcasts - the groups of a device
 * @ht: the groups, by their address
 * @users: struct rover_mcast_user, by number
 * @lock: one change at a time
 */
struct rover_mcasts {
	struct rhashtable ht;
	struct xarray users;
	struct mutex lock;
};

/**
 * rover_mcast_init() - no groups yet
 * @mcasts: to be initialised
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rover_mcast_init(struct rover_mcasts *mcasts);

/**
 * rover_mcast_exit() - no groups any more
 * @mcasts: all queue pairs of the device are destroyed
 *
 * Context: may sleep.
 */
void rover_mcast_exit(struct rover_mcasts *mcasts);

/**
 * rover_mcast_find() - the group a packet was sent to
 * @dev: device it may be for
 * @l3: what it has in front of its BTH
 * @ip: IP header of the packet, or its GRH
 *
 * Context: under rcu_read_lock().
 * Return: NULL when nobody is attached to it, or it is no group's address.
 */
const struct rover_mcast *rover_mcast_find(struct rover_dev *dev,
					   enum rover_l3 l3, const void *ip);

/* Verbs; signatures are those of struct ib_device_ops. */
int rover_mcast_attach(struct ib_qp *ib, union ib_gid *mgid, u16 lid);
int rover_mcast_detach(struct ib_qp *ib, union ib_gid *mgid, u16 lid);

#endif /* ROVER_MCAST_H */
