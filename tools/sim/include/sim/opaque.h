/* SPDX-License-Identifier: GPL-2.0 */
/* opaque - structs that the transport only carries along */
#ifndef SIM_OPAQUE_H
#define SIM_OPAQUE_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

struct socket;
struct dst_entry;
struct user_namespace;
struct llist_node { struct llist_node *next; };
struct llist_head { struct llist_node *first; };
struct rcu_head { void *func; };
struct work_struct { void *func; };
struct completion { bool done; };
struct tasklet_struct { void *func; };
struct iosys_map { void *vaddr; };
struct nf_hook_ops { void *hook; };
struct net { struct user_namespace *user_ns; };
struct net_device { unsigned int mtu; int reg_state; };
struct page { int flags; };
typedef struct { void *func; } call_single_data_t;
typedef struct { u32 val; } kuid_t;
enum dma_data_direction { DMA_BIDIRECTIONAL };
enum hk_type { HK_TYPE_TICK, HK_TYPE_MANAGED_IRQ };

#define NETREG_REGISTERED	1
#define CAP_NET_RAW		13
#define ASSERT_RTNL()		do { } while (0)
#define net_eq(a, b)		((a) == (b))
#define dev_net(dev)		((struct net *)NULL)
#define ns_capable(ns, cap)	true
#define cpu_is_isolated(cpu)	false
#define housekeeping_cpu(cpu, type)	true
#define complete(c)		((void)((c)->done = true))
#define init_llist_head(list)	((void)((list)->first = NULL))
#define llist_empty(list)	(!(list)->first)
#define dst_check(dst, cookie)	(dst)
#define ip6_flowinfo(h)		((h)->flow_lbl[0])

struct rhash_head { void *next; };
struct rhashtable { void *tbl; };
struct rhashtable_params {
	u16 key_len;
	u16 key_offset;
	u16 head_offset;
	bool automatic_shrinking;
};

/* No table has an object: the simulator passes pointers. */
static inline void *rhashtable_lookup(struct rhashtable *ht, const void *key,
				      struct rhashtable_params params)
{
	return NULL;
}

static inline bool ipv6_addr_equal(const struct in6_addr *a,
				   const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline void ipv6_addr_set_v4mapped(__be32 addr, struct in6_addr *v6)
{
}

/* Tracepoints: those with a PSN can be printed, others are nothing. */
void sim_trace_psn(const char *name, u32 qpn, u32 psn, u32 arg);
extern bool sim_tracing;

#define TP_PROTO(...)	__VA_ARGS__
#define TRACE_EVENT(name, proto, ...) \
	static inline void trace_##name(proto) { }
#define DECLARE_EVENT_CLASS(...)
#define DEFINE_EVENT(class, name, proto, ...) \
	static inline void trace_##name(proto) \
	{ \
		if (unlikely(sim_tracing)) \
			sim_trace_psn(#name, qpn, psn, arg); \
	}

#endif /* SIM_OPAQUE_H */
