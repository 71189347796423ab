/* SPDX-License-Identifier: GPL-2.0 */
/* skb - small socket buffers: linear, with references */
#ifndef SIM_SKB_H
#define SIM_SKB_H

struct end;
struct net_device;
struct dst_entry;

/* A list and its entries start alike, as in the kernel. */
struct sk_buff {
	struct sk_buff *next;
	struct sk_buff *prev;
	refcount_t users;
	unsigned int len;
	unsigned int data_len;
	unsigned int truesize;
	u8 *data;
	char cb[48] __attribute__((aligned(8)));
	u16 protocol;
	int skb_iif;
	struct net_device *dev;
	/* of the network */
	struct end *to;
	u32 wire;		/* bytes on the wire */
	u64 train;		/* packets that are lost together */
	bool last;		/* of what was sent at once */
	bool again;		/* a retransmission */
	bool copy;		/* duplicated by the network */
	bool ect;
	bool ce;
	u8 buf[] __attribute__((aligned(8)));
};

struct sk_buff_head {
	struct sk_buff *next;
	struct sk_buff *prev;
	u32 qlen;
	spinlock_t lock;
};

/* skbs that exist */
extern long sim_skbs;

/* No skb exists; the next ones have buffers of @room bytes. */
void sim_skb_init(unsigned int room);
struct sk_buff *sim_skb_alloc(void);
struct sk_buff *sim_skb_copy(const struct sk_buff *skb);
void sim_skb_free(struct sk_buff *skb);

static inline struct sk_buff *skb_get(struct sk_buff *skb)
{
	refcount_inc(&skb->users);
	return skb;
}

static inline void kfree_skb(struct sk_buff *skb)
{
	if (skb && refcount_dec_and_test(&skb->users))
		sim_skb_free(skb);
}

#define consume_skb	kfree_skb
#define skb_shared(skb)	(refcount_read(&(skb)->users) != 1)
#define skb_is_gso(skb)	false
#define skb_shinfo(skb)	((struct { u16 gso_segs; } *)NULL)
#define skb_dst_drop(skb)	((void)(skb))
#define skb_dst(skb)	((struct dst_entry *)NULL)

static inline unsigned int skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline int skb_copy_bits(const struct sk_buff *skb, int from, void *to,
				int len)
{
	if (from < 0 || len < 0 || (unsigned int)(from + len) > skb->len)
		return -EFAULT;
	memcpy(to, skb->data + from, len);
	return 0;
}

static inline void __skb_queue_head_init(struct sk_buff_head *list)
{
	list->next = (struct sk_buff *)list;
	list->prev = (struct sk_buff *)list;
	list->qlen = 0;
}

#define skb_queue_head_init	__skb_queue_head_init
#define skb_queue_len(list)	((list)->qlen)
#define skb_queue_empty(list)	((list)->next == (struct sk_buff *)(list))
#define skb_peek(list)		(skb_queue_empty(list) ? NULL : (list)->next)
#define skb_peek_tail(list)	(skb_queue_empty(list) ? NULL : (list)->prev)
#define skb_queue_is_last(list, skb)	((skb)->next == (struct sk_buff *)(list))
#define skb_queue_next(list, skb)	((skb)->next)
#define skb_queue_prev(list, skb)	((skb)->prev)
#define skb_queue_walk(list, skb) \
	for ((skb) = (list)->next; (skb) != (struct sk_buff *)(list); \
	     (skb) = (skb)->next)
#define skb_queue_walk_safe(list, skb, tmp) \
	for ((skb) = (list)->next, (tmp) = (skb)->next; \
	     (skb) != (struct sk_buff *)(list); \
	     (skb) = (tmp), (tmp) = (skb)->next)
#define skb_queue_reverse_walk(list, skb) \
	for ((skb) = (list)->prev; (skb) != (struct sk_buff *)(list); \
	     (skb) = (skb)->prev)

static inline void __skb_insert(struct sk_buff *skb, struct sk_buff *prev,
				struct sk_buff *next, struct sk_buff_head *list)
{
	skb->next = next;
	skb->prev = prev;
	next->prev = skb;
	prev->next = skb;
	list->qlen++;
}

static inline void __skb_queue_tail(struct sk_buff_head *list,
				    struct sk_buff *skb)
{
	__skb_insert(skb, list->prev, (struct sk_buff *)list, list);
}

static inline void __skb_queue_head(struct sk_buff_head *list,
				    struct sk_buff *skb)
{
	__skb_insert(skb, (struct sk_buff *)list, list->next, list);
}

static inline void __skb_queue_before(struct sk_buff_head *list,
				      struct sk_buff *next, struct sk_buff *skb)
{
	__skb_insert(skb, next->prev, next, list);
}

static inline void __skb_queue_after(struct sk_buff_head *list,
				     struct sk_buff *prev, struct sk_buff *skb)
{
	__skb_insert(skb, prev, prev->next, list);
}

static inline void __skb_unlink(struct sk_buff *skb, struct sk_buff_head *list)
{
	list->qlen--;
	skb->next->prev = skb->prev;
	skb->prev->next = skb->next;
	skb->next = NULL;
	skb->prev = NULL;
}

static inline struct sk_buff *__skb_dequeue(struct sk_buff_head *list)
{
	struct sk_buff *skb = skb_peek(list);

	if (skb)
		__skb_unlink(skb, list);
	return skb;
}

static inline void __skb_queue_purge(struct sk_buff_head *list)
{
	while (!skb_queue_empty(list))
		kfree_skb(__skb_dequeue(list));
}

#define skb_queue_purge	__skb_queue_purge

#endif /* SIM_SKB_H */
