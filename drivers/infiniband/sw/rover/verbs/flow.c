// SPDX-License-Identifier: GPL-2.0
/*
 * flow - flow rules of raw packet queue pairs
 *
 * Compiles a verbs rule to one mask and value of union rover_flow_key, and sets
 * the interface's receive filter as packet sockets do.  Rules and interface
 * change under RTNL.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "core/dev.h"
#include "qp/qp.h"
#include "rx/flow_input.h"
#include "verbs/flow.h"

/* @len bytes: @from in a filter, @to in union rover_flow_key. */
struct flow_field {
	u8 from;
	u8 len;
	u8 to;
};

#define FLOW_FIELD(filter, name, field)					\
	{								\
		.from = offsetof(struct filter, name),			\
		.len = sizeof_field(struct filter, name) +		\
		       BUILD_BUG_ON_ZERO(sizeof_field(struct filter, name) != \
				sizeof_field(union rover_flow_key, field)), \
		.to = offsetof(union rover_flow_key, field),		\
	}

static const struct flow_field flow_eth_fields[] = {
	FLOW_FIELD(ib_flow_eth_filter, dst_mac, dst),
	FLOW_FIELD(ib_flow_eth_filter, src_mac, src),
	FLOW_FIELD(ib_flow_eth_filter, ether_type, ether_type),
	FLOW_FIELD(ib_flow_eth_filter, vlan_tag, vlan),
};

static const struct flow_field flow_ipv4_fields[] = {
	FLOW_FIELD(ib_flow_ipv4_filter, src_ip, ip4_src),
	FLOW_FIELD(ib_flow_ipv4_filter, dst_ip, ip4_dst),
	FLOW_FIELD(ib_flow_ipv4_filter, proto, ip4_proto),
	FLOW_FIELD(ib_flow_ipv4_filter, tos, ip4_tos),
	FLOW_FIELD(ib_flow_ipv4_filter, ttl, ip4_ttl),
	FLOW_FIELD(ib_flow_ipv4_filter, flags, ip4_flags),
};

static const struct flow_field flow_ipv6_fields[] = {
	FLOW_FIELD(ib_flow_ipv6_filter, src_ip, ip6_src),
	FLOW_FIELD(ib_flow_ipv6_filter, dst_ip, ip6_dst),
	FLOW_FIELD(ib_flow_ipv6_filter, flow_label, ip6_label),
	FLOW_FIELD(ib_flow_ipv6_filter, next_hdr, ip6_next),
	FLOW_FIELD(ib_flow_ipv6_filter, traffic_class, ip6_class),
	FLOW_FIELD(ib_flow_ipv6_filter, hop_limit, ip6_hops),
};

static const struct flow_field flow_port_fields[] = {
	FLOW_FIELD(ib_flow_tcp_udp_filter, dst_port, dport),
	FLOW_FIELD(ib_flow_tcp_udp_filter, src_port, sport),
};

/*
 * Type of specification: where its values and masks are, and the
 * ROVER_FLOW_KEY_* layers that a frame needs.
 */
struct flow_spec_layout {
	u32 type;
	u16 size;
	u8 val;
	u8 mask;
	u8 layers;
	const struct flow_field *fields;
	u8 num;
};

#define FLOW_SPEC(id, spec, bits, list)					\
	{								\
		.type = IB_FLOW_SPEC_##id,				\
		.size = sizeof(struct spec),				\
		.val = offsetof(struct spec, val),			\
		.mask = offsetof(struct spec, mask),			\
		.layers = (bits),					\
		.fields = (list),					\
		.num = ARRAY_SIZE(list),				\
	}

static const struct flow_spec_layout flow_spec_layouts[] = {
	FLOW_SPEC(ETH, ib_flow_spec_eth, 0, flow_eth_fields),
	FLOW_SPEC(IPV4, ib_flow_spec_ipv4, ROVER_FLOW_KEY_IPV4,
		  flow_ipv4_fields),
	FLOW_SPEC(IPV6, ib_flow_spec_ipv6, ROVER_FLOW_KEY_IPV6,
		  flow_ipv6_fields),
	FLOW_SPEC(TCP, ib_flow_spec_tcp_udp, ROVER_FLOW_KEY_TCP,
		  flow_port_fields),
	FLOW_SPEC(UDP, ib_flow_spec_tcp_udp, ROVER_FLOW_KEY_UDP,
		  flow_port_fields),
};

/* Tunnels, inner headers and actions are not supported. */
static const struct flow_spec_layout *flow_find_layout(u32 type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flow_spec_layouts); i++)
		if (flow_spec_layouts[i].type == type)
			return &flow_spec_layouts[i];
	return NULL;
}

static void flow_require_layers(struct rover_rule *rule, u8 layers)
{
	rule->mask.layers |= layers;
	rule->want.layers |= layers;
}

static void flow_add_spec(struct rover_rule *rule,
			  const struct flow_spec_layout *layout,
			  const void *spec)
{
	const u8 *val = spec + layout->val;
	const u8 *mask = spec + layout->mask;
	unsigned int i, k;

	flow_require_layers(rule, layout->layers);
	for (i = 0; i < layout->num; i++) {
		const struct flow_field *field = &layout->fields[i];
		u8 *to_mask = (u8 *)&rule->mask + field->to;
		u8 *to_want = (u8 *)&rule->want + field->to;

		for (k = 0; k < field->len; k++) {
			to_mask[k] = mask[field->from + k];
			to_want[k] = val[field->from + k] & to_mask[k];
		}
	}
	/* An untagged frame must not match VLAN 0. */
	if (rule->mask.vlan)
		flow_require_layers(rule, ROVER_FLOW_KEY_VLAN);
}

/* One specification for each layer, in any order. */
static int flow_add_specs(struct rover_rule *rule,
			  const struct ib_flow_attr *attr)
{
	const void *at = attr->flows;
	const void *end = (const void *)attr + attr->size;
	u32 layer, layers = 0;
	unsigned int i;

	for (i = 0; i < attr->num_of_specs; i++) {
		const union ib_flow_spec *spec = at;
		const struct flow_spec_layout *layout;

		if (end - at < offsetofend(union ib_flow_spec, size))
			return -EINVAL;
		layout = flow_find_layout(spec->type);
		if (!layout)
			return -EOPNOTSUPP;
		if (spec->size != layout->size || end - at < layout->size)
			return -EINVAL;
		layer = BIT(layout->type >> 4 & 0xf);
		if (layers & layer)
			return -EINVAL;
		layers |= layer;
		flow_add_spec(rule, layout, spec);
		at += layout->size;
	}
	return 0;
}

/* The interface **************************************************************/

enum flow_filter {
	FLOW_FILTER_NONE,
	FLOW_FILTER_UNICAST,
	FLOW_FILTER_MULTICAST,
	FLOW_FILTER_ALLMULTI,
	FLOW_FILTER_PROMISC,
};

static int flow_allmulti_on(struct net_device *ndev, const u8 *addr)
{
	return dev_set_allmulti(ndev, 1);
}

static int flow_allmulti_off(struct net_device *ndev, const u8 *addr)
{
	return dev_set_allmulti(ndev, -1);
}

static int flow_promisc_on(struct net_device *ndev, const u8 *addr)
{
	return dev_set_promiscuity(ndev, 1);
}

static int flow_promisc_off(struct net_device *ndev, const u8 *addr)
{
	return dev_set_promiscuity(ndev, -1);
}

/* An interface that changes namespaces loses its address lists. */
static const struct {
	int (*on)(struct net_device *ndev, const u8 *addr);
	int (*off)(struct net_device *ndev, const u8 *addr);
	bool survives_move;
} flow_filters[] = {
	[FLOW_FILTER_UNICAST]	= { dev_uc_add, dev_uc_del },
	[FLOW_FILTER_MULTICAST]	= { dev_mc_add, dev_mc_del },
	[FLOW_FILTER_ALLMULTI]	= { flow_allmulti_on, flow_allmulti_off, true },
	[FLOW_FILTER_PROMISC]		= { flow_promisc_on, flow_promisc_off,
					    true },
};

/* Only a rule for a single destination address needs a filter. */
static enum flow_filter flow_choose_filter(const struct rover_rule *rule)
{
	if (!is_broadcast_ether_addr(rule->mask.dst))
		return FLOW_FILTER_NONE;
	return is_multicast_ether_addr(rule->want.dst) ? FLOW_FILTER_MULTICAST :
							 FLOW_FILTER_UNICAST;
}

static int flow_filter_on(struct rover_dev *dev, const struct rover_rule *rule)
{
	ASSERT_RTNL();
	return flow_filters[rule->filter].on ?
	       flow_filters[rule->filter].on(dev->ndev, rule->want.dst) : 0;
}

static void flow_filter_off(struct rover_dev *dev,
			    const struct rover_rule *rule)
{
	ASSERT_RTNL();
	if (flow_filters[rule->filter].off &&
	    dev->ndev->reg_state == NETREG_REGISTERED &&
	    (flow_filters[rule->filter].survives_move || rover_dev_registered(dev)))
		flow_filters[rule->filter].off(dev->ndev, rule->want.dst);
}

/* Rules **********************************************************************/

/* Rules without specifications: all frames, or all multicast frames. */
static const struct {
	u8 kind;
	u8 filter;
	bool multicast;
} flow_plain_types[] = {
	[IB_FLOW_ATTR_ALL_DEFAULT]	= { ROVER_RULE_DEFAULT,
					    FLOW_FILTER_PROMISC },
	[IB_FLOW_ATTR_MC_DEFAULT]	= { ROVER_RULE_DEFAULT,
					    FLOW_FILTER_ALLMULTI, true },
	[IB_FLOW_ATTR_SNIFFER]		= { ROVER_RULE_SNIFFER,
					    FLOW_FILTER_PROMISC },
};

static int flow_compile_normal(struct rover_rule *rule,
			       const struct ib_flow_attr *attr)
{
	int err = flow_add_specs(rule, attr);

	rule->kind = ROVER_RULE_NORMAL;
	rule->filter = flow_choose_filter(rule);
	rule->dont_trap = attr->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP;
	return err;
}

static int flow_compile_rule(struct rover_rule *rule,
			     const struct ib_flow_attr *attr)
{
	if (attr->flags & ~IB_FLOW_ATTR_FLAGS_DONT_TRAP)
		return -EOPNOTSUPP;
	rule->priority = attr->priority;
	if (attr->type == IB_FLOW_ATTR_NORMAL)
		return flow_compile_normal(rule, attr);
	if (attr->type >= ARRAY_SIZE(flow_plain_types))
		return -EOPNOTSUPP;
	if (attr->num_of_specs || attr->flags)
		return -EINVAL;
	rule->kind = flow_plain_types[attr->type].kind;
	rule->filter = flow_plain_types[attr->type].filter;
	if (flow_plain_types[attr->type].multicast) {
		rule->mask.dst[0] = 1;
		rule->want.dst[0] = 1;
	}
	return 0;
}

static int flow_add_rule(struct rover_dev *dev, struct rover_rule *rule)
{
	int err = -ENODEV;

	rtnl_lock();
	if (!rover_dev_registered(dev))
		goto out;
	err = flow_filter_on(dev, rule);
	if (err)
		goto out;
	err = rover_flow_input_add(dev, rule);
	if (err)
		flow_filter_off(dev, rule);
out:
	rtnl_unlock();
	return err;
}

struct ib_flow *rover_flow_create(struct ib_qp *ib, struct ib_flow_attr *attr,
				  struct ib_udata *udata)
{
	struct rover_dev *dev = rover_dev(ib->device);
	struct rover_rule *rule;
	int err;

	if (ib->qp_type != IB_QPT_RAW_PACKET)
		return ERR_PTR(-EOPNOTSUPP);
	if (!rover_dev_may_raw(dev))
		return ERR_PTR(-EPERM);
	err = ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);
	rule = kzalloc_obj(*rule, GFP_KERNEL_ACCOUNT);
	if (!rule)
		return ERR_PTR(-ENOMEM);
	rule->qp = rover_qp(ib);
	err = flow_compile_rule(rule, attr);
	if (!err)
		err = flow_add_rule(dev, rule);
	if (err) {
		kfree(rule);
		return ERR_PTR(err);
	}
	return &rule->ib;
}

int rover_flow_destroy(struct ib_flow *ib)
{
	struct rover_rule *rule = container_of(ib, struct rover_rule, ib);
	struct rover_dev *dev = rover_dev(ib->device);

	rtnl_lock();
	rover_flow_input_remove(dev, rule);
	flow_filter_off(dev, rule);
	rtnl_unlock();
	kfree_rcu(rule, rcu);
	return 0;
}
