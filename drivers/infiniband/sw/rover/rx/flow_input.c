// SPDX-License-Identifier: GPL-2.0
/*
 * flow_input - frames of the interface, for whom flow rules say
 *
 * Softirq, from the receiving stack under rcu_read_lock(): the socket buffer may
 * be others' as well, and is only read.  What came as one from another sender on
 * this host, or was merged on the way in (GSO), becomes the frames that it stands
 * for before a program sees it.
 *
 * Rules change in process context, under RTNL.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <net/gso.h>

#include "core/dev.h"
#include "core/trace.h"
#include "qp/qp_table.h"
#include "run/run.h"
#include "rx/flow_input.h"
#include "tx/gso_segment.h"
#include "ud/raw.h"

#if IS_ENABLED(CONFIG_NETFILTER_INGRESS)

/**
 * struct arrival - what the interface has received
 * @dev: the device on it
 * @skb: as it came, data behind the Ethernet header
 * @frames: of many that came as one, each, data at the Ethernet header; NULL
 *	until somebody wants them
 * @bad: there is no way to have these
 * @frame: the fields, those of all if they are many
 */
struct arrival {
	struct rover_dev *dev;
	struct sk_buff *skb;
	struct sk_buff *frames;
	bool bad;
	union rover_flow_key frame;
};

static void dropped(const struct arrival *a, enum rover_stat why)
{
	rover_drop(a->dev->stats, why, 0, 0, 0);
}

/* Return false when it is no frame of Ethernet. */
static bool read_frame(struct arrival *a)
{
	u32 len = min_t(u32, a->skb->len, ROVER_FLOW_KEY_LOOK);
	bool tagged = skb_vlan_tag_present(a->skb);
	u8 data[ROVER_FLOW_KEY_LOOK];
	__be16 vlan;

	/* What IP sends back to itself has no header, for instance. */
	if (!skb_mac_header_was_set(a->skb) ||
	    skb_mac_offset(a->skb) != -ETH_HLEN ||
	    skb_copy_bits(a->skb, 0, data, len))
		return false;
	vlan = tagged ? htons(skb_vlan_tag_get(a->skb)) : 0;
	rover_flow_key_read(&a->frame, skb_mac_header(a->skb),
			 tagged ? &vlan : NULL, data, len);
	return true;
}

/* The frames that one stands for.  Their checksums are made on the way. */
static bool make_frames(struct arrival *a)
{
	struct sk_buff *copy, *frames = NULL;

	if (a->frames || a->bad)
		return a->frames;
	a->bad = true;
	copy = skb_clone(a->skb, GFP_ATOMIC);
	if (!copy)
		return false;
	__skb_push(copy, ETH_HLEN);
	/* Headers are written to on the way, and a list is taken apart. */
	if (!skb_cow_head(copy, 0)) {
		rover_gso_segment_prepare(copy);
		frames = __skb_gso_segment(copy, 0, false);
	}
	consume_skb(copy);
	if (IS_ERR_OR_NULL(frames))
		return false;
	a->frames = frames;
	a->bad = false;
	return true;
}

static void give_each(struct arrival *a, struct rover_qp *qp)
{
	struct rover_raw pkt;

	if (!skb_is_gso(a->skb)) {
		pkt.skb = a->skb;
		pkt.at = 0;
		pkt.eth = skb_mac_header(a->skb);
		rover_raw_receive(qp, &pkt);
		return;
	}
	for (pkt.skb = a->frames; pkt.skb; pkt.skb = pkt.skb->next) {
		pkt.at = ETH_HLEN;
		pkt.eth = pkt.skb->data;
		if (likely(skb_headlen(pkt.skb) >= ETH_HLEN))
			rover_raw_receive(qp, &pkt);
		else
			dropped(a, ROVER_STAT_DROP_GSO);
	}
}

static void give(struct arrival *a, struct rover_qp *qp)
{
	if (skb_is_gso(a->skb) && !make_frames(a)) {
		dropped(a, ROVER_STAT_DROP_GSO);
		return;
	}
	spin_lock(&qp->rx_lock);
	/* It may have died since its rule was found. */
	if (qp->alive)
		give_each(a, qp);
	spin_unlock(&qp->rx_lock);
	/* What another context has left to us. */
	rover_run(qp);
}

/*
 * All rules are asked that are in the list before the first which takes the frame
 * away, and those of that one's priority: so which of them was there first does
 * not matter.  RoCE's own packets belong to the queue pairs they are sent to.
 *
 * Return true when it was taken away.
 */
static bool ask_rules(struct arrival *a, const struct rover_qp *sender)
{
	bool roce = rover_flow_key_is_roce(&a->frame);
	const struct rover_rule *rule;
	u16 priority = U16_MAX;
	bool taken = false;

	list_for_each_entry_rcu(rule, &a->dev->tap.rules, node) {
		if (rule->kind != ROVER_RULE_SNIFFER &&
		    (roce || (taken && (rule->kind != ROVER_RULE_NORMAL ||
					rule->priority != priority))))
			break;
		if (!rover_flow_key_match(&a->frame, &rule->mask, &rule->want) ||
		    (rule->qp == sender && sender->no_echo))
			continue;
		if (rule->kind == ROVER_RULE_NORMAL && !rule->leave) {
			taken = true;
			priority = rule->priority;
		}
		give(a, rule->qp);
	}
	return taken;
}

static unsigned int look(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	const struct rover_qp *sender = rover_raw_echo_of(skb);
	struct arrival a = { .dev = priv, .skb = skb };
	bool taken = sender;

	/* Elsewhere by now, and about to lose its device? */
	if (net_eq(dev_net(skb->dev), a.dev->rnet->net) && read_frame(&a))
		taken |= ask_rules(&a, sender);
	kfree_skb_list(a.frames);
	if (!taken)
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

/*
 * The hook is the interface's, and goes with it where it goes; of the namespace
 * netfilter only wants to know which one that is at the moment.
 */
static int begin(struct rover_dev *dev)
{
	dev->tap.hook = (struct nf_hook_ops) {
		.hook = look,
		.dev = dev->ndev,
		.priv = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MIN,
	};
	return nf_register_net_hook(dev_net(dev->ndev), &dev->tap.hook);
}

static void end(struct rover_dev *dev)
{
	nf_unregister_net_hook(dev_net(dev->ndev), &dev->tap.hook);
}

#else

static int begin(struct rover_dev *dev)
{
	return -EOPNOTSUPP;
}

static void end(struct rover_dev *dev)
{
}

#endif

/* Of those that are alike the oldest is asked first. */
static bool precedes(const struct rover_rule *a, const struct rover_rule *b)
{
	return a->kind != b->kind ? a->kind < b->kind :
				    a->priority <= b->priority;
}

int rover_flow_input_add(struct rover_dev *dev, struct rover_rule *rule)
{
	struct rover_flow_input *tap = &dev->tap;
	struct list_head *after = &tap->rules;
	struct rover_rule *other;
	int err;

	ASSERT_RTNL();
	if (tap->count >= ROVER_MAX_RULES)
		return -ENOMEM;
	if (!tap->count) {
		err = begin(dev);
		if (err)
			return err;
	}
	list_for_each_entry(other, &tap->rules, node) {
		if (!precedes(other, rule))
			break;
		after = &other->node;
	}
	list_add_rcu(&rule->node, after);
	tap->count++;
	return 0;
}

void rover_flow_input_remove(struct rover_dev *dev, struct rover_rule *rule)
{
	struct rover_flow_input *tap = &dev->tap;

	ASSERT_RTNL();
	list_del_rcu(&rule->node);
	if (!--tap->count)
		end(dev);
}
