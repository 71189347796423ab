/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flow_input - frames of the interface, for whom flow rules say
 *
 * The rules of a device are on a list, in the order in which they are asked; it is
 * written under RTNL and read under RCU.  As long as there is one, a netfilter
 * hook looks at what the interface receives: before the host's own rules, and
 * before bridges, bonds, VLANs and protocols (decision 0022).  Without rules
 * there is no hook, and nothing is paid for it.
 *
 * Lifetime: the core destroys no queue pair that has rules, and destroys the
 * rules of a program that has gone.  A rule is freed after a grace period; a
 * reader that still sees one may find its queue pair no longer @alive.  The hook
 * is gone a grace period before the device is (rover_netns_leave()).
 */
#ifndef ROVER_FLOW_INPUT_H
#define ROVER_FLOW_INPUT_H

#include <linux/netfilter.h>
#include <rdma/ib_verbs.h>

#include "wire/flow_key.h"

struct rover_dev;
struct rover_qp;

/* What a device has room for: it bounds the work that a frame makes. */
#define ROVER_MAX_RULES		256

/* What the device says of itself; some kernels are built without the hook. */
#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)
#define ROVER_FLOW_INPUT_CAPS		IB_DEVICE_MANAGED_FLOW_STEERING
#else
#define ROVER_FLOW_INPUT_CAPS		0
#endif

/* Kinds of rules, in the order in which they are asked. */
enum rover_rule_kind {
	ROVER_RULE_SNIFFER,	/* sees all there is, and takes nothing away */
	ROVER_RULE_NORMAL,	/* takes what it matches, from the host as well */
	ROVER_RULE_DEFAULT,	/* sees what no normal rule has taken */
};

/**
 * struct rover_rule - a flow rule
 * @ib: the core's part
 * @node: in rover_flow_input.rules
 * @rcu: for freeing
 * @qp: who receives what it matches
 * @kind: enum rover_rule_kind
 * @priority: of those of a kind, smaller ones are asked first
 * @leave: what it matches is not taken from those asked later
 * @filter: what the interface was told to receive for it; see flow.c
 * @mask: bits of a frame that are asked for
 * @want: what they have to be
 */
struct rover_rule {
	struct ib_flow ib;
	struct list_head node;
	struct rcu_head rcu;
	struct rover_qp *qp;
	u8 kind;
	u16 priority;
	bool leave;
	u8 filter;
	union rover_flow_key mask;
	union rover_flow_key want;
};

/**
 * struct rover_flow_input - the rules of a device
 * @rules: in order; RCU, written under RTNL
 * @count: how many there are
 * @hook: there while there are any
 */
struct rover_flow_input {
	struct list_head rules;
	unsigned int count;
#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)
	struct nf_hook_ops hook;
#endif
};

/**
 * rover_flow_input_add() - from now on a rule holds
 * @dev: whose it is; its interface is where it should be
 * @rule: complete
 *
 * Context: RTNL held.
 * Return: 0; -ENOMEM, also for too many, -EOPNOTSUPP where the kernel has no
 * such hook.
 */
int rover_flow_input_add(struct rover_dev *dev, struct rover_rule *rule);

/**
 * rover_flow_input_remove() - a rule holds no longer
 * @dev: whose it is
 * @rule: on the list; frames may still meet it for a grace period
 *
 * Context: RTNL held.
 */
void rover_flow_input_remove(struct rover_dev *dev, struct rover_rule *rule);

#endif /* ROVER_FLOW_INPUT_H */
