// SPDX-License-Identifier: GPL-2.0
/*
 * flow - which frames are for which raw packet queue pair
 *
 * A rule as verbs have it is a list of headers, each with values and masks.  Here
 * it is proved and becomes one mask and one value over the fields of a frame; and
 * the interface is told to receive what the rule is about, as it is for packet
 * sockets.
 *
 * Process context; rules and interface change under RTNL.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "core/dev.h"
#include "qp/qp.h"
#include "rx/flow_input.h"
#include "verbs/flow.h"

/* Specifications *************************************************************/

/* A field of a specification's filter, and where it is in a frame. */
struct field {
	u8 from;
	u8 len;
	u8 to;
};

#define FIELD(filter, name, field)					\
	{								\
		.from = offsetof(struct filter, name),			\
		.len = sizeof_field(struct filter, name) +		\
		       BUILD_BUG_ON_ZERO(sizeof_field(struct filter, name) != \
				sizeof_field(union rover_flow_key, field)), \
		.to = offsetof(union rover_flow_key, field),		\
	}

static const struct field eth_fields[] = {
	FIELD(ib_flow_eth_filter, dst_mac, dst),
	FIELD(ib_flow_eth_filter, src_mac, src),
	FIELD(ib_flow_eth_filter, ether_type, ether_type),
	FIELD(ib_flow_eth_filter, vlan_tag, vlan),
};

static const struct field ipv4_fields[] = {
	FIELD(ib_flow_ipv4_filter, src_ip, ip4_src),
	FIELD(ib_flow_ipv4_filter, dst_ip, ip4_dst),
	FIELD(ib_flow_ipv4_filter, proto, ip4_proto),
	FIELD(ib_flow_ipv4_filter, tos, ip4_tos),
	FIELD(ib_flow_ipv4_filter, ttl, ip4_ttl),
	FIELD(ib_flow_ipv4_filter, flags, ip4_flags),
};

static const struct field ipv6_fields[] = {
	FIELD(ib_flow_ipv6_filter, src_ip, ip6_src),
	FIELD(ib_flow_ipv6_filter, dst_ip, ip6_dst),
	FIELD(ib_flow_ipv6_filter, flow_label, ip6_label),
	FIELD(ib_flow_ipv6_filter, next_hdr, ip6_next),
	FIELD(ib_flow_ipv6_filter, traffic_class, ip6_class),
	FIELD(ib_flow_ipv6_filter, hop_limit, ip6_hops),
};

static const struct field port_fields[] = {
	FIELD(ib_flow_tcp_udp_filter, dst_port, dport),
	FIELD(ib_flow_tcp_udp_filter, src_port, sport),
};

/**
 * struct kind - a kind of specification
 * @type: enum ib_flow_spec_type
 * @size: bytes of it
 * @val: where the values are
 * @mask: where the masks are
 * @layers: ROVER_FLOW_KEY_* that a frame has to have for it
 * @fields: of values and masks
 * @num: how many
 */
struct kind {
	u32 type;
	u16 size;
	u8 val;
	u8 mask;
	u8 layers;
	const struct field *fields;
	u8 num;
};

#define KIND(id, spec, bits, list)					\
	{								\
		.type = IB_FLOW_SPEC_##id,				\
		.size = sizeof(struct spec),				\
		.val = offsetof(struct spec, val),			\
		.mask = offsetof(struct spec, mask),			\
		.layers = (bits),					\
		.fields = (list),					\
		.num = ARRAY_SIZE(list),				\
	}

static const struct kind kinds[] = {
	KIND(ETH, ib_flow_spec_eth, 0, eth_fields),
	KIND(IPV4, ib_flow_spec_ipv4, ROVER_FLOW_KEY_IPV4, ipv4_fields),
	KIND(IPV6, ib_flow_spec_ipv6, ROVER_FLOW_KEY_IPV6, ipv6_fields),
	KIND(TCP, ib_flow_spec_tcp_udp, ROVER_FLOW_KEY_TCP, port_fields),
	KIND(UDP, ib_flow_spec_tcp_udp, ROVER_FLOW_KEY_UDP, port_fields),
};

/* Tunnels, what is in them, and actions: not there. */
static const struct kind *kind_of(u32 type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

/* All of @layers have to be there. */
static void require(struct rover_rule *rule, u8 layers)
{
	rule->mask.layers |= layers;
	rule->want.layers |= layers;
}

static void add_spec(struct rover_rule *rule, const struct kind *kind,
		     const void *spec)
{
	const u8 *val = spec + kind->val;
	const u8 *mask = spec + kind->mask;
	unsigned int i, k;

	require(rule, kind->layers);
	for (i = 0; i < kind->num; i++) {
		const struct field *field = &kind->fields[i];
		u8 *to_mask = (u8 *)&rule->mask + field->to;
		u8 *to_want = (u8 *)&rule->want + field->to;

		for (k = 0; k < field->len; k++) {
			to_mask[k] = mask[field->from + k];
			to_want[k] = val[field->from + k] & to_mask[k];
		}
	}
	/* A frame without a tag has not the tag 0. */
	if (rule->mask.vlan)
		require(rule, ROVER_FLOW_KEY_VLAN);
}

/* One specification for each layer, in any order. */
static int add_specs(struct rover_rule *rule, const struct ib_flow_attr *attr)
{
	const void *at = attr->flows;
	const void *end = (const void *)attr + attr->size;
	u32 layer, layers = 0;
	unsigned int i;

	for (i = 0; i < attr->num_of_specs; i++) {
		const union ib_flow_spec *spec = at;
		const struct kind *kind;

		if (end - at < offsetofend(union ib_flow_spec, size))
			return -EINVAL;
		kind = kind_of(spec->type);
		if (!kind)
			return -EOPNOTSUPP;
		if (spec->size != kind->size || end - at < kind->size)
			return -EINVAL;
		layer = BIT(kind->type >> 4 & 0xf);
		if (layers & layer)
			return -EINVAL;
		layers |= layer;
		add_spec(rule, kind, spec);
		at += kind->size;
	}
	return 0;
}

/* The interface **************************************************************/

/* What it has to receive for a rule, beyond what it does anyhow. */
enum filter {
	FILTER_NONE,
	FILTER_UNICAST,
	FILTER_MULTICAST,
	FILTER_ALL_MULTICAST,
	FILTER_ALL,
};

static int all_multicast(struct net_device *ndev, const u8 *addr)
{
	return dev_set_allmulti(ndev, 1);
}

static int not_all_multicast(struct net_device *ndev, const u8 *addr)
{
	return dev_set_allmulti(ndev, -1);
}

static int all(struct net_device *ndev, const u8 *addr)
{
	return dev_set_promiscuity(ndev, 1);
}

static int not_all(struct net_device *ndev, const u8 *addr)
{
	return dev_set_promiscuity(ndev, -1);
}

/* Addresses an interface forgets when it moves to another namespace. */
static const struct {
	int (*on)(struct net_device *ndev, const u8 *addr);
	int (*off)(struct net_device *ndev, const u8 *addr);
	bool stays;
} filters[] = {
	[FILTER_UNICAST]	= { dev_uc_add, dev_uc_del },
	[FILTER_MULTICAST]	= { dev_mc_add, dev_mc_del },
	[FILTER_ALL_MULTICAST]	= { all_multicast, not_all_multicast, true },
	[FILTER_ALL]		= { all, not_all, true },
};

/* A rule about one address is for that one; others get what there is. */
static enum filter filter_of(const struct rover_rule *rule)
{
	if (!is_broadcast_ether_addr(rule->mask.dst))
		return FILTER_NONE;
	return is_multicast_ether_addr(rule->want.dst) ? FILTER_MULTICAST :
							 FILTER_UNICAST;
}

static int filter_on(struct rover_dev *dev, const struct rover_rule *rule)
{
	ASSERT_RTNL();
	return filters[rule->filter].on ?
	       filters[rule->filter].on(dev->ndev, rule->want.dst) : 0;
}

static void filter_off(struct rover_dev *dev, const struct rover_rule *rule)
{
	ASSERT_RTNL();
	if (filters[rule->filter].off &&
	    dev->ndev->reg_state == NETREG_REGISTERED &&
	    (filters[rule->filter].stays || rover_dev_here(dev)))
		filters[rule->filter].off(dev->ndev, rule->want.dst);
}

/* Rules **********************************************************************/

/* What those are that name no headers: all frames, or all that go to many. */
static const struct {
	u8 kind;
	u8 filter;
	bool multicast;
} plain[] = {
	[IB_FLOW_ATTR_ALL_DEFAULT]	= { ROVER_RULE_DEFAULT, FILTER_ALL },
	[IB_FLOW_ATTR_MC_DEFAULT]	= { ROVER_RULE_DEFAULT,
					    FILTER_ALL_MULTICAST, true },
	[IB_FLOW_ATTR_SNIFFER]		= { ROVER_RULE_SNIFFER, FILTER_ALL },
};

static int compile_normal(struct rover_rule *rule,
			  const struct ib_flow_attr *attr)
{
	int err = add_specs(rule, attr);

	rule->kind = ROVER_RULE_NORMAL;
	rule->filter = filter_of(rule);
	rule->leave = attr->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP;
	return err;
}

static int compile(struct rover_rule *rule, const struct ib_flow_attr *attr)
{
	if (attr->flags & ~IB_FLOW_ATTR_FLAGS_DONT_TRAP)
		return -EOPNOTSUPP;
	rule->priority = attr->priority;
	if (attr->type == IB_FLOW_ATTR_NORMAL)
		return compile_normal(rule, attr);
	if (attr->type >= ARRAY_SIZE(plain))
		return -EOPNOTSUPP;
	if (attr->num_of_specs || attr->flags)
		return -EINVAL;
	rule->kind = plain[attr->type].kind;
	rule->filter = plain[attr->type].filter;
	if (plain[attr->type].multicast) {
		rule->mask.dst[0] = 1;
		rule->want.dst[0] = 1;
	}
	return 0;
}

static int add(struct rover_dev *dev, struct rover_rule *rule)
{
	int err = -ENODEV;

	rtnl_lock();
	if (!rover_dev_here(dev))
		goto out;
	err = filter_on(dev, rule);
	if (err)
		goto out;
	err = rover_flow_input_add(dev, rule);
	if (err)
		filter_off(dev, rule);
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
	if (!rover_may_raw(dev))
		return ERR_PTR(-EPERM);
	err = ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);
	rule = kzalloc_obj(*rule, GFP_KERNEL_ACCOUNT);
	if (!rule)
		return ERR_PTR(-ENOMEM);
	rule->qp = rover_qp(ib);
	err = compile(rule, attr);
	if (!err)
		err = add(dev, rule);
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
	filter_off(dev, rule);
	rtnl_unlock();
	kfree_rcu(rule, rcu);
	return 0;
}
