/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mcast - multicast groups of a device
 *
 * While a group has members the host is a member of the IP group: else switches
 * and the stack would drop its packets.
 *
 * Groups and their queue pairs are read under RCU: a reader may find a queue
 * pair that is detached and destroyed by then, so not @alive.
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

/* QPN of multicast datagrams (IBTA 9.6.2.1); never assigned. */
#define ROVER_MCAST_QPN		0xffffff

/*
 * Limits: groups of a device; queue pairs of one user in a group; of all users
 * in a group, which bounds the work for a packet.
 */
#define ROVER_MAX_MCAST		4096
#define ROVER_MAX_MCAST_QP	64
#define ROVER_MAX_MCAST_ALL	256

/**
 * struct rover_mcast - a group
 * @node: entry in the hash table
 * @mgid: its address
 * @rcu: for freeing
 * @by_mac: only its Ethernet address was added, for RoCE v1
 * @end: @qps is empty from here on
 * @used: queue pairs in @qps
 * @qps: attached queue pairs, or NULL; RCU, written under rover_mcasts.lock
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
 * @uid: user ID
 * @qps: attached queue pairs
 * @groups: groups with queue pairs of this user
 *
 * Protected by rover_mcasts.lock.
 */
struct rover_mcast_user {
	kuid_t uid;
	u32 qps;
	u32 groups;
};

/**
 * struct rover_mcast_member - memberships of a queue pair
 * @user: user that attached it first; NULL while @groups is 0
 * @groups: groups that it is in
 *
 * Protected by rover_mcasts.lock.
 */
struct rover_mcast_member {
	struct rover_mcast_user *user;
	u32 groups;
};

/**
 * struct rover_mcasts - the groups of a device
 * @ht: groups by address
 * @users: struct rover_mcast_user by user ID
 * @lock: serializes writers
 */
struct rover_mcasts {
	struct rhashtable ht;
	struct xarray users;
	struct mutex lock;
};

/**
 * rover_mcast_init() - initialize without groups
 * @mcasts: to be initialized
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rover_mcast_init(struct rover_mcasts *mcasts);

/**
 * rover_mcast_exit() - free the memory
 * @mcasts: without groups
 * Context: may sleep.
 */
void rover_mcast_exit(struct rover_mcasts *mcasts);

/**
 * rover_mcast_find() - return the group that a packet was sent to
 * @dev: device
 * @l3: headers in front of the BTH
 * @ip: IP header or GRH
 * Context: rcu_read_lock().
 * Return: NULL if no queue pair is attached, or the address is unicast.
 */
const struct rover_mcast *rover_mcast_find(struct rover_dev *dev,
					   enum rover_l3 l3, const void *ip);

/* Verbs, as in struct ib_device_ops. */
int rover_mcast_attach(struct ib_qp *ib, union ib_gid *mgid, u16 lid);
int rover_mcast_detach(struct ib_qp *ib, union ib_gid *mgid, u16 lid);

#endif /* ROVER_MCAST_H */
