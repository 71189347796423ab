// SPDX-License-Identifier: GPL-2.0
/*
 * flow_input - match received frames with flow rules
 *
 * Programs get single frames: GSO skbs are segmented.
 *
 * Frames: softirq, under rcu_read_lock(), read only, as the skb may be shared.
 * Rules: process context, under RTNL.
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
 * struct flow_input_frame - frame or GSO skb
 * @dev: the device on the receiving interface
 * @skb: as received, data behind the Ethernet header
 * @segs: its segments, data at the Ethernet header; NULL until needed
 * @no_segs: segmentation failed
 * @key: fields common to all segments
 */
struct flow_input_frame {
	struct rover_dev *dev;
	struct sk_buff *skb;
	struct sk_buff *segs;
	bool no_segs;
	union rover_flow_key key;
};

static void flow_input_drop(const struct flow_input_frame *a,
			    enum rover_stat why)
{
	rover_drop(a->dev->stats, why, 0, 0, 0);
}

/* Return false without an Ethernet header. */
static bool flow_input_read_key(struct flow_input_frame *a)
{
	u32 len = min_t(u32, a->skb->len, ROVER_FLOW_KEY_LOOK);
	bool tagged = skb_vlan_tag_present(a->skb);
	u8 data[ROVER_FLOW_KEY_LOOK];
	__be16 vlan;

	/* E.g. IP loops packets back without one. */
	if (!skb_mac_header_was_set(a->skb) ||
	    skb_mac_offset(a->skb) != -ETH_HLEN ||
	    skb_copy_bits(a->skb, 0, data, len))
		return false;
	vlan = tagged ? htons(skb_vlan_tag_get(a->skb)) : 0;
	rover_flow_key_read(&a->key, skb_mac_header(a->skb),
			    tagged ? &vlan : NULL, data, len);
	return true;
}

static bool flow_input_segment(struct flow_input_frame *a)
{
	struct sk_buff *copy, *segs = NULL;

	if (a->segs || a->no_segs)
		return a->segs;
	a->no_segs = true;
	copy = skb_clone(a->skb, GFP_ATOMIC);
	if (!copy)
		return false;
	__skb_push(copy, ETH_HLEN);
	/* Segmentation writes headers and takes the frag list apart. */
	if (!skb_cow_head(copy, 0)) {
		rover_gso_segment_prepare(copy);
		segs = __skb_gso_segment(copy, 0, false);
	}
	consume_skb(copy);
	if (IS_ERR_OR_NULL(segs))
		return false;
	a->segs = segs;
	a->no_segs = false;
	return true;
}

static void flow_input_deliver_all(struct flow_input_frame *a,
				   struct rover_qp *qp)
{
	struct rover_raw_frame pkt;

	if (!skb_is_gso(a->skb)) {
		pkt.skb = a->skb;
		pkt.payload_at = 0;
		pkt.eth = skb_mac_header(a->skb);
		rover_raw_receive(qp, &pkt);
		return;
	}
	for (pkt.skb = a->segs; pkt.skb; pkt.skb = pkt.skb->next) {
		pkt.payload_at = ETH_HLEN;
		pkt.eth = pkt.skb->data;
		if (likely(skb_headlen(pkt.skb) >= ETH_HLEN))
			rover_raw_receive(qp, &pkt);
		else
			flow_input_drop(a, ROVER_STAT_DROP_GSO);
	}
}

static void flow_input_deliver(struct flow_input_frame *a, struct rover_qp *qp)
{
	if (skb_is_gso(a->skb) && !flow_input_segment(a)) {
		flow_input_drop(a, ROVER_STAT_DROP_GSO);
		return;
	}
	spin_lock(&qp->rx_lock);
	/* Maybe destroyed since its rule was found. */
	if (qp->alive)
		flow_input_deliver_all(a, qp);
	spin_unlock(&qp->rx_lock);
	rover_run(qp);
}

/*
 * Apply rules in order up to the first that takes the frame, and all of its
 * priority. RoCE packets belong to their destination queue pairs: only sniffers
 * see them. Return true if the frame was taken.
 */
static bool flow_input_apply_rules(struct flow_input_frame *a,
				   const struct rover_qp *sender)
{
	bool roce = rover_flow_key_is_roce(&a->key);
	const struct rover_rule *rule;
	u16 priority = U16_MAX;
	bool taken = false;

	list_for_each_entry_rcu(rule, &a->dev->flow_input.rules, node) {
		if (rule->kind != ROVER_RULE_SNIFFER &&
		    (roce || (taken && (rule->kind != ROVER_RULE_NORMAL ||
					rule->priority != priority))))
			break;
		if (!rover_flow_key_match(&a->key, &rule->mask, &rule->want) ||
		    (rule->qp == sender && sender->block_mcast_loopback))
			continue;
		if (rule->kind == ROVER_RULE_NORMAL && !rule->dont_trap) {
			taken = true;
			priority = rule->priority;
		}
		flow_input_deliver(a, rule->qp);
	}
	return taken;
}

static unsigned int flow_input_hook(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	const struct rover_qp *sender = rover_raw_echo_sender(skb);
	struct flow_input_frame a = { .dev = priv, .skb = skb };
	bool taken = sender;

	/* An interface that has moved is about to lose its device. */
	if (net_eq(dev_net(skb->dev), a.dev->rnet->net) &&
	    flow_input_read_key(&a))
		taken |= flow_input_apply_rules(&a, sender);
	kfree_skb_list(a.segs);
	if (!taken)
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

/* The hook moves with its interface: pass the present namespace. */
static int flow_input_hook_add(struct rover_dev *dev)
{
	dev->flow_input.hook = (struct nf_hook_ops) {
		.hook = flow_input_hook,
		.dev = dev->ndev,
		.priv = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MIN,
	};
	return nf_register_net_hook(dev_net(dev->ndev), &dev->flow_input.hook);
}

static void flow_input_hook_remove(struct rover_dev *dev)
{
	nf_unregister_net_hook(dev_net(dev->ndev), &dev->flow_input.hook);
}

#else

static int flow_input_hook_add(struct rover_dev *dev)
{
	return -EOPNOTSUPP;
}

static void flow_input_hook_remove(struct rover_dev *dev)
{
}

#endif

/* Equal rules are matched oldest first. */
static bool flow_input_precedes(const struct rover_rule *a,
				const struct rover_rule *b)
{
	return a->kind != b->kind ? a->kind < b->kind :
				    a->priority <= b->priority;
}

int rover_flow_input_add(struct rover_dev *dev, struct rover_rule *rule)
{
	struct rover_flow_input *input = &dev->flow_input;
	struct list_head *after = &input->rules;
	struct rover_rule *other;
	int err;

	ASSERT_RTNL();
	if (input->count >= ROVER_MAX_RULES)
		return -ENOMEM;
	if (!input->count) {
		err = flow_input_hook_add(dev);
		if (err)
			return err;
	}
	list_for_each_entry(other, &input->rules, node) {
		if (!flow_input_precedes(other, rule))
			break;
		after = &other->node;
	}
	list_add_rcu(&rule->node, after);
	input->count++;
	return 0;
}

void rover_flow_input_remove(struct rover_dev *dev, struct rover_rule *rule)
{
	struct rover_flow_input *input = &dev->flow_input;

	ASSERT_RTNL();
	list_del_rcu(&rule->node);
	if (!--input->count)
		flow_input_hook_remove(dev);
}
