/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flow_input - match received frames with flow rules
 *
 * A device's rules are in match order, written under RTNL and read under RCU.
 * While it has rules, a netfilter ingress hook sees the interface's frames
 * before the rest of the stack does (decision 0022).
 *
 * Lifetime: the core destroys a queue pair after its rules. A rule is freed
 * after a grace period; readers may find its queue pair not @alive. The hook is
 * gone a grace period before the device (rover_netns_leave()).
 */
#ifndef ROVER_FLOW_INPUT_H
#define ROVER_FLOW_INPUT_H

#include <linux/netfilter.h>
#include <rdma/ib_verbs.h>

#include "wire/flow_key.h"

struct rover_dev;
struct rover_qp;

/* Bounds the work per frame. */
#define ROVER_MAX_RULES		256

#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)
#define ROVER_FLOW_INPUT_CAPS		IB_DEVICE_MANAGED_FLOW_STEERING
#else
#define ROVER_FLOW_INPUT_CAPS		0
#endif

/* Kinds of rules, in match order. */
enum rover_rule_kind {
	ROVER_RULE_SNIFFER,	/* sees all frames, takes none */
	ROVER_RULE_NORMAL,	/* takes frames away from the host */
	ROVER_RULE_DEFAULT,	/* sees what normal rules left */
};

/**
 * struct rover_rule - flow rule
 * @ib: the core's part
 * @node: in rover_flow_input.rules
 * @rcu: for freeing
 * @qp: receives the matches
 * @kind: enum rover_rule_kind
 * @priority: within a kind, lower ones match first
 * @dont_trap: leaves matches to later rules and the host
 * @filter: frames the interface must receive; see verbs/flow.c
 * @mask: bits to compare
 * @want: their values
 */
struct rover_rule {
	struct ib_flow ib;
	struct list_head node;
	struct rcu_head rcu;
	struct rover_qp *qp;
	u8 kind;
	u16 priority;
	bool dont_trap;
	u8 filter;
	union rover_flow_key mask;
	union rover_flow_key want;
};

/**
 * struct rover_flow_input - flow rules of a device
 * @rules: in match order; RCU, written under RTNL
 * @count: number of rules
 * @hook: registered while @count is not 0
 */
struct rover_flow_input {
	struct list_head rules;
	unsigned int count;
#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)
	struct nf_hook_ops hook;
#endif
};

/**
 * rover_flow_input_add() - activate a rule
 * @dev: its interface has not left its namespace
 * @rule: complete
 * Context: RTNL held.
 * Return: 0; -ENOMEM, also for too many rules; -EOPNOTSUPP without the hook.
 */
int rover_flow_input_add(struct rover_dev *dev, struct rover_rule *rule);

/**
 * rover_flow_input_remove() - deactivate a rule
 * @dev: device
 * @rule: active; frames may match for another grace period
 * Context: RTNL held.
 */
void rover_flow_input_remove(struct rover_dev *dev, struct rover_rule *rule);

#endif /* ROVER_FLOW_INPUT_H */
