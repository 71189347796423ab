// SPDX-License-Identifier: GPL-2.0
/*
 * dropper - drop, duplicate, hold, delay or mark chosen packets
 * (rover_dropper.ko)
 *
 * A netfilter hook in each network namespace sees RoCE v2 packets as they
 * arrive, before routing.  It counts how often each packet has come (its
 * "pass"), records all packets, and applies the rules.  Captures show dropped
 * packets too: they are taken before this hook.
 *
 * In /sys/kernel/debug/rover_dropper:
 *
 * rules: a line written adds a rule; "clear" removes rules and records.
 *
 *	ACTION NETDEV PACKET NTH PASS [ARG [QPN]]
 *
 *	ACTION is drop, double, mark (ECN CE), hold (until ARG later packets
 *	have passed, HOLD_MAX at most) or delay (by ARG microseconds).  NETDEV
 *	receives.  PACKET is a name of dropper_names, or "any".  The rule
 *	applies to the NTH (0: each) of the packets that come for the PASS-th
 *	time (0: any).  QPN is the destination in hex; 0 is any.
 *
 *	A line read is a rule, packets that fit it, and packets it was applied
 *	to.
 *
 * log: a packet per line: ns, netdev, QPN (hex), PSN, packet, pass, action.
 *
 * Trains pass, and are counted in the line "trains" of the rules.
 */
#include <linux/debugfs.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#define ROCE_PORT	4791
#define MAX_RULES	32
#define LOG_SIZE	(1 << 14)
#define PASS_BITS	15
#define PASS_SIZE	(1 << PASS_BITS)
#define PASS_PROBES	64

/* A held packet waits for no more than this. */
#define HOLD_MAX	(20 * NSEC_PER_MSEC)
#define DELAY_MAX_US	(10 * USEC_PER_SEC)

/* The transport, RC or XRC, is in the upper three. */
#define OPCODE_BITS	0x1f
#define OPCODE_ACK	0x11
#define OPCODE_CNP	0x81

/* Beyond opcodes: what an acknowledge says. */
enum {
	PACKET_NAK = 0x20,
	PACKET_RNR,
	PACKET_CNP,
	PACKETS,
	PACKET_ANY,
};

static const char * const dropper_names[PACKETS] = {
	[0x00] = "send_first",		[0x01] = "send_middle",
	[0x02] = "send_last",		[0x03] = "send_last_imm",
	[0x04] = "send_only",		[0x05] = "send_only_imm",
	[0x06] = "write_first",		[0x07] = "write_middle",
	[0x08] = "write_last",		[0x09] = "write_last_imm",
	[0x0a] = "write_only",		[0x0b] = "write_only_imm",
	[0x0c] = "read_request",	[0x0d] = "read_first",
	[0x0e] = "read_middle",		[0x0f] = "read_last",
	[0x10] = "read_only",		[OPCODE_ACK] = "ack",
	[0x12] = "atomic_ack",		[0x13] = "cmp_swap",
	[0x14] = "fetch_add",		[0x16] = "send_last_inv",
	[0x17] = "send_only_inv",	[0x1c] = "flush",
	[0x1d] = "atomic_write",	[PACKET_NAK] = "nak",
	[PACKET_RNR] = "rnr",		[PACKET_CNP] = "cnp",
};

enum dropper_action {
	ACTION_PASS,
	ACTION_DROP,
	ACTION_DOUBLE,
	ACTION_MARK,
	ACTION_HOLD,
	ACTION_DELAY,
	ACTIONS,
};

static const char * const dropper_actions[ACTIONS] = {
	"pass", "drop", "double", "mark", "hold", "delay",
};

/**
 * struct dropper_rule - an action for chosen packets
 * @netdev: receiving netdev
 * @action: enum dropper_action
 * @packet: index of dropper_names, or PACKET_ANY
 * @nth: number of the matching packet; 0 for each
 * @pass: number of its transmission; 0 for any
 * @arg: packets or microseconds
 * @qpn: destination; 0 for any
 * @seen: matching packets
 * @done: packets that the action was applied to
 */
struct dropper_rule {
	char netdev[IFNAMSIZ];
	u8 action;
	u8 packet;
	u32 nth;
	u32 pass;
	u32 arg;
	u32 qpn;
	u32 seen;
	u32 done;
};

/* As it is recorded. */
struct dropper_packet {
	u64 ns;
	u32 qpn;
	u32 psn;
	u32 pass;
	u8 packet;
	u8 action;
	char netdev[IFNAMSIZ];
};

struct dropper_pass {
	u64 key;
	u32 count;
};

/**
 * struct dropper_held - a packet that waits
 * @list: in dropper_held_list
 * @skb: the packet; @dev of it is referenced
 * @dev: that received it
 * @net: of @dev
 * @okfn: what receives it next
 * @qpn: destination
 * @left: packets to @qpn that still go before it
 * @due: when it goes in any case
 */
struct dropper_held {
	struct list_head list;
	struct sk_buff *skb;
	struct net_device *dev;
	struct net *net;
	int (*okfn)(struct net *net, struct sock *sk, struct sk_buff *skb);
	u32 qpn;
	u32 left;
	u64 due;
};

/* Hooks of a namespace. */
struct dropper_net {
	struct nf_hook_ops hooks[2];
};

/* All that follows but the timer. */
static DEFINE_SPINLOCK(dropper_lock);
static struct dropper_rule dropper_rules[MAX_RULES];
static unsigned int dropper_rule_count;
static struct dropper_packet *dropper_log;
static unsigned int dropper_log_count;
static struct dropper_pass *dropper_passes;
static LIST_HEAD(dropper_held_list);
static unsigned int dropper_unrecorded;
static atomic_t dropper_trains;

static struct hrtimer dropper_timer;
static unsigned int dropper_net_id;

/* Held packets ***************************************************************/

static void dropper_deliver(struct list_head *ready)
{
	struct dropper_held *held, *next;

	list_for_each_entry_safe(held, next, ready, list) {
		held->okfn(held->net, NULL, held->skb);
		dev_put(held->dev);
		kfree(held);
	}
}

/* Move to @ready what is due at @now. */
static void dropper_take_due(u64 now, struct list_head *ready)
{
	struct dropper_held *held, *next;
	u64 first = U64_MAX;

	list_for_each_entry_safe(held, next, &dropper_held_list, list) {
		if (held->due <= now)
			list_move_tail(&held->list, ready);
		else
			first = min(first, held->due);
	}
	if (first != U64_MAX)
		hrtimer_start(&dropper_timer, ns_to_ktime(first),
			      HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart dropper_expired(struct hrtimer *timer)
{
	LIST_HEAD(ready);

	spin_lock(&dropper_lock);
	dropper_take_due(ktime_get_ns(), &ready);
	spin_unlock(&dropper_lock);
	rcu_read_lock();
	dropper_deliver(&ready);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* A packet arrives behind those that are held: move to @ready what it frees. */
static void dropper_take_passed(const struct dropper_packet *pkt,
				const struct net_device *dev,
				struct list_head *ready)
{
	struct dropper_held *held, *next;

	list_for_each_entry_safe(held, next, &dropper_held_list, list) {
		if (held->dev != dev || held->qpn != pkt->qpn)
			continue;
		if (held->left)
			held->left--;
		else
			list_move_tail(&held->list, ready);
	}
}

static bool dropper_hold(struct sk_buff *skb, const struct nf_hook_state *state,
			 const struct dropper_packet *pkt, u32 left, u64 ns)
{
	struct dropper_held *held = kzalloc(sizeof(*held), GFP_ATOMIC);

	if (!held)
		return false;
	held->skb = skb;
	held->dev = skb->dev;
	dev_hold(held->dev);
	held->net = state->net;
	held->okfn = state->okfn;
	held->qpn = pkt->qpn;
	held->left = left;
	held->due = pkt->ns + ns;
	list_add_tail(&held->list, &dropper_held_list);
	if (!hrtimer_active(&dropper_timer) ||
	    held->due < ktime_to_ns(hrtimer_get_expires(&dropper_timer)))
		hrtimer_start(&dropper_timer, ns_to_ktime(held->due),
			      HRTIMER_MODE_ABS_SOFT);
	return true;
}

/* Free what is held for @net, or for all. */
static void dropper_purge(const struct net *net)
{
	struct dropper_held *held, *next;

	spin_lock_bh(&dropper_lock);
	list_for_each_entry_safe(held, next, &dropper_held_list, list) {
		if (net && held->net != net)
			continue;
		list_del(&held->list);
		kfree_skb(held->skb);
		dev_put(held->dev);
		kfree(held);
	}
	spin_unlock_bh(&dropper_lock);
}

/* Packets ********************************************************************/

/* Offset of the BTH, or 0. */
static unsigned int dropper_bth_at(const struct sk_buff *skb, u8 family)
{
	const struct iphdr *ip = ip_hdr(skb);
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);
	const struct udphdr *udp;
	struct udphdr buf;
	unsigned int at;

	if (family == NFPROTO_IPV4) {
		if (ip->protocol != IPPROTO_UDP || ip_is_fragment(ip))
			return 0;
		at = ip_hdrlen(skb);
	} else {
		if (ip6->nexthdr != IPPROTO_UDP)
			return 0;
		at = sizeof(*ip6);
	}
	udp = skb_header_pointer(skb, skb_network_offset(skb) + at,
				 sizeof(buf), &buf);
	if (!udp || udp->dest != htons(ROCE_PORT))
		return 0;
	return skb_network_offset(skb) + at + sizeof(*udp);
}

static u8 dropper_packet_of(u8 opcode, u8 syndrome)
{
	u8 packet = opcode & OPCODE_BITS;

	if (opcode == OPCODE_CNP)
		return PACKET_CNP;
	if (packet != OPCODE_ACK || !(syndrome & 0x60))
		return packet;
	return (syndrome & 0x60) == 0x20 ? PACKET_RNR : PACKET_NAK;
}

/* Requests, data of responses, ACKs and NAKs have passes of their own. */
static u64 dropper_key(const struct dropper_packet *pkt, int ifindex)
{
	u64 class = 0;

	if (pkt->packet >= PACKET_NAK)
		class = pkt->packet;
	else if (pkt->packet >= 0x0d && pkt->packet <= 0x12)
		class = pkt->packet >= OPCODE_ACK ? 2 : 1;
	return 1ULL << 63 | class << 56 | (u64)(ifindex & 0xff) << 48 |
	       (u64)pkt->qpn << 24 | pkt->psn;
}

/* One more than the times the packet has come before; 0 if there is no room. */
static u32 dropper_count_pass(const struct dropper_packet *pkt, int ifindex)
{
	u64 key = dropper_key(pkt, ifindex);
	u32 at = hash_64(key, PASS_BITS), i;

	for (i = 0; i < PASS_PROBES; i++) {
		struct dropper_pass *pass =
			&dropper_passes[(at + i) % PASS_SIZE];

		if (pass->key == key)
			return ++pass->count;
		if (!pass->key) {
			pass->key = key;
			pass->count = 1;
			return 1;
		}
	}
	return 0;
}

static bool dropper_parse(struct dropper_packet *pkt, const struct sk_buff *skb,
			  u8 family)
{
	unsigned int at = dropper_bth_at(skb, family);
	const u8 *bth;
	u8 buf[13];

	if (!at)
		return false;
	/* With the first byte behind it: the syndrome of an AETH. */
	bth = skb_header_pointer(skb, at, sizeof(buf), buf);
	if (!bth)
		return false;
	memset(pkt, 0, sizeof(*pkt));
	pkt->ns = ktime_get_ns();
	pkt->packet = dropper_packet_of(bth[0], bth[12]);
	pkt->qpn = bth[5] << 16 | bth[6] << 8 | bth[7];
	pkt->psn = bth[9] << 16 | bth[10] << 8 | bth[11];
	strscpy(pkt->netdev, skb->dev->name, sizeof(pkt->netdev));
	return true;
}

static bool dropper_fits(const struct dropper_rule *rule,
			 const struct dropper_packet *pkt)
{
	return !strcmp(rule->netdev, pkt->netdev) &&
	       (rule->packet == PACKET_ANY || rule->packet == pkt->packet) &&
	       (!rule->pass || rule->pass == pkt->pass) &&
	       (!rule->qpn || rule->qpn == pkt->qpn);
}

/* The first rule that applies; all that fit count the packet. */
static struct dropper_rule *dropper_find_rule(const struct dropper_packet *pkt)
{
	struct dropper_rule *found = NULL;
	unsigned int i;

	for (i = 0; i < dropper_rule_count; i++) {
		struct dropper_rule *rule = &dropper_rules[i];

		if (!dropper_fits(rule, pkt))
			continue;
		rule->seen++;
		if (!found && (!rule->nth || rule->seen == rule->nth))
			found = rule;
	}
	if (found)
		found->done++;
	return found;
}

static void dropper_record(const struct dropper_packet *pkt)
{
	if (dropper_log_count == LOG_SIZE) {
		dropper_unrecorded++;
		return;
	}
	dropper_log[dropper_log_count] = *pkt;
	/* Pairs with smp_load_acquire() in dropper_log_start(). */
	smp_store_release(&dropper_log_count, dropper_log_count + 1);
}

static void dropper_mark(struct sk_buff *skb)
{
	/* With a BTH no packet is shorter. */
	if (!skb_ensure_writable(skb, sizeof(struct ipv6hdr)))
		INET_ECN_set_ce(skb);
}

static void dropper_double(struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC);

	if (copy)
		state->okfn(state->net, NULL, copy);
}

static unsigned int dropper_hook(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	unsigned int verdict = NF_ACCEPT;
	struct dropper_rule *rule;
	struct dropper_packet pkt;
	LIST_HEAD(ready);

	if (!dropper_parse(&pkt, skb, state->pf))
		return NF_ACCEPT;
	if (skb_is_gso(skb)) {
		atomic_inc(&dropper_trains);
		return NF_ACCEPT;
	}
	spin_lock_bh(&dropper_lock);
	pkt.pass = dropper_count_pass(&pkt, skb->dev->ifindex);
	rule = dropper_find_rule(&pkt);
	pkt.action = rule ? rule->action : ACTION_PASS;
	dropper_record(&pkt);
	dropper_take_passed(&pkt, skb->dev, &ready);
	if (pkt.action == ACTION_DROP)
		verdict = NF_DROP;
	else if (pkt.action == ACTION_HOLD &&
		 dropper_hold(skb, state, &pkt, rule->arg, HOLD_MAX))
		verdict = NF_STOLEN;
	else if (pkt.action == ACTION_DELAY &&
		 dropper_hold(skb, state, &pkt, U32_MAX,
			      (u64)rule->arg * NSEC_PER_USEC))
		verdict = NF_STOLEN;
	spin_unlock_bh(&dropper_lock);

	dropper_deliver(&ready);
	if (pkt.action == ACTION_MARK)
		dropper_mark(skb);
	else if (pkt.action == ACTION_DOUBLE)
		dropper_double(skb, state);
	return verdict;
}

/* Files **********************************************************************/

static const char *dropper_name_of(u8 packet)
{
	if (packet == PACKET_ANY)
		return "any";
	return packet < PACKETS && dropper_names[packet] ?
	       dropper_names[packet] : "other";
}

static int dropper_find_name(const char * const *names, unsigned int n,
			     const char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -EINVAL;
}

static int dropper_parse_rule(struct dropper_rule *rule, const char *line)
{
	char action[8], packet[16];
	int found;

	memset(rule, 0, sizeof(*rule));
	if (sscanf(line, "%7s %15s %15s %u %u %u %x", action, rule->netdev,
		   packet, &rule->nth, &rule->pass, &rule->arg,
		   &rule->qpn) < 5)
		return -EINVAL;
	found = dropper_find_name(dropper_actions, ACTIONS, action);
	if (found < 0)
		return found;
	rule->action = found;
	found = strcmp(packet, "any") ?
		dropper_find_name(dropper_names, PACKETS, packet) : PACKET_ANY;
	if (found < 0)
		return found;
	rule->packet = found;
	return rule->action == ACTION_DELAY && rule->arg > DELAY_MAX_US ?
	       -EINVAL : 0;
}

static void dropper_clear(void)
{
	dropper_rule_count = 0;
	dropper_log_count = 0;
	atomic_set(&dropper_trains, 0);
	dropper_unrecorded = 0;
	memset(dropper_passes, 0, PASS_SIZE * sizeof(*dropper_passes));
}

static ssize_t dropper_write(struct file *file, const char __user *buf,
			     size_t len, loff_t *at)
{
	struct dropper_rule rule;
	char line[128] = "";
	int err;

	if (len >= sizeof(line) || copy_from_user(line, buf, len))
		return -EINVAL;
	strim(line);
	if (!strcmp(line, "clear")) {
		spin_lock_bh(&dropper_lock);
		dropper_clear();
		spin_unlock_bh(&dropper_lock);
		return len;
	}
	err = dropper_parse_rule(&rule, line);
	if (err)
		return err;

	spin_lock_bh(&dropper_lock);
	if (dropper_rule_count < MAX_RULES)
		dropper_rules[dropper_rule_count++] = rule;
	else
		err = -ENOSPC;
	spin_unlock_bh(&dropper_lock);
	return err ?: len;
}

static int dropper_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	spin_lock_bh(&dropper_lock);
	for (i = 0; i < dropper_rule_count; i++) {
		const struct dropper_rule *rule = &dropper_rules[i];

		seq_printf(seq, "%s %s %s %u %u %u %x: seen %u done %u\n",
			   dropper_actions[rule->action], rule->netdev,
			   dropper_name_of(rule->packet), rule->nth, rule->pass,
			   rule->arg, rule->qpn, rule->seen, rule->done);
	}
	seq_printf(seq, "trains %u unrecorded %u\n",
		   atomic_read(&dropper_trains), dropper_unrecorded);
	spin_unlock_bh(&dropper_lock);
	return 0;
}

static int dropper_open(struct inode *inode, struct file *file)
{
	return single_open(file, dropper_show, NULL);
}

static const struct file_operations dropper_fops = {
	.owner = THIS_MODULE,
	.open = dropper_open,
	.read = seq_read,
	.write = dropper_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static void *dropper_log_start(struct seq_file *seq, loff_t *at)
{
	/* Pairs with smp_store_release() in dropper_record(). */
	return *at < smp_load_acquire(&dropper_log_count) ?
	       &dropper_log[*at] : NULL;
}

static void *dropper_log_next(struct seq_file *seq, void *v, loff_t *at)
{
	++*at;
	return dropper_log_start(seq, at);
}

static void dropper_log_stop(struct seq_file *seq, void *v)
{
}

static int dropper_log_show(struct seq_file *seq, void *v)
{
	const struct dropper_packet *pkt = v;

	seq_printf(seq, "%llu %s %x %u %s %u %s\n", pkt->ns, pkt->netdev,
		   pkt->qpn, pkt->psn, dropper_name_of(pkt->packet), pkt->pass,
		   dropper_actions[pkt->action]);
	return 0;
}

static const struct seq_operations dropper_log_sops = {
	.start = dropper_log_start,
	.next = dropper_log_next,
	.stop = dropper_log_stop,
	.show = dropper_log_show,
};
DEFINE_SEQ_ATTRIBUTE(dropper_log);

/* Beginning and end **********************************************************/

static int __net_init dropper_net_init(struct net *net)
{
	struct dropper_net *dnet = net_generic(net, dropper_net_id);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dnet->hooks); i++)
		dnet->hooks[i] = (struct nf_hook_ops) {
			.hook = dropper_hook,
			.priv = dnet,
			.pf = i ? NFPROTO_IPV6 : NFPROTO_IPV4,
			.hooknum = NF_INET_PRE_ROUTING,
			.priority = NF_IP_PRI_FIRST,
		};
	return nf_register_net_hooks(net, dnet->hooks, ARRAY_SIZE(dnet->hooks));
}

static void __net_exit dropper_net_exit(struct net *net)
{
	struct dropper_net *dnet = net_generic(net, dropper_net_id);

	nf_unregister_net_hooks(net, dnet->hooks, ARRAY_SIZE(dnet->hooks));
	dropper_purge(net);
}

static struct pernet_operations dropper_net_ops = {
	.init = dropper_net_init,
	.exit = dropper_net_exit,
	.id = &dropper_net_id,
	.size = sizeof(struct dropper_net),
};

static struct dentry *dropper_dir;

static void dropper_free(void)
{
	vfree(dropper_passes);
	vfree(dropper_log);
}

static int __init dropper_init(void)
{
	int err;

	dropper_log = vzalloc(LOG_SIZE * sizeof(*dropper_log));
	dropper_passes = vzalloc(PASS_SIZE * sizeof(*dropper_passes));
	if (!dropper_log || !dropper_passes) {
		dropper_free();
		return -ENOMEM;
	}
	hrtimer_setup(&dropper_timer, dropper_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	err = register_pernet_subsys(&dropper_net_ops);
	if (err) {
		dropper_free();
		return err;
	}
	dropper_dir = debugfs_create_dir("rover_dropper", NULL);
	debugfs_create_file("rules", 0600, dropper_dir, NULL, &dropper_fops);
	debugfs_create_file("log", 0400, dropper_dir, NULL, &dropper_log_fops);
	return 0;
}
module_init(dropper_init);

static void __exit dropper_exit(void)
{
	debugfs_remove(dropper_dir);
	unregister_pernet_subsys(&dropper_net_ops);
	hrtimer_cancel(&dropper_timer);
	dropper_purge(NULL);
	dropper_free();
}
module_exit(dropper_exit);

MODULE_DESCRIPTION("Loses, doubles, delays and marks chosen packets for tests");
MODULE_LICENSE("GPL");
