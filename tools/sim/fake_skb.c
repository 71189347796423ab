// SPDX-License-Identifier: GPL-2.0
/* fake_skb - skbs of one size, counted */
#include <stdio.h>

#include <sim/kernel.h>

long sim_skbs;
static unsigned int skb_room;

/* With ASan each skb is allocated, so that a use after free is seen. */
#ifdef SIM_CHECK
#define KEEP	false

/* New memory costs more than memory used before. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:quarantine_size_mb=4:max_malloc_fill_size=0";
}
#else
#define KEEP	true
#endif

static struct sk_buff *skb_free_list;

struct sk_buff *sim_skb_alloc(void)
{
	struct sk_buff *skb = skb_free_list;

	if (skb)
		skb_free_list = skb->next;
	else
		skb = malloc(sizeof(*skb) + skb_room);
	*skb = (struct sk_buff) {
		.users = { 1 },
		.truesize = skb_room,
	};
	skb->data = skb->buf;
	sim_skbs++;
	return skb;
}

struct sk_buff *sim_skb_copy(const struct sk_buff *skb)
{
	struct sk_buff *copy = sim_skb_alloc();

	memcpy(copy->buf, skb->buf, skb->len);
	copy->len = skb->len;
	copy->to = skb->to;
	copy->wire = skb->wire;
	copy->again = skb->again;
	copy->ce = skb->ce;
	copy->copy = true;
	return copy;
}

void sim_skb_free(struct sk_buff *skb)
{
	sim_skbs--;
	if (KEEP) {
		skb->next = skb_free_list;
		skb_free_list = skb;
	} else {
		free(skb);
	}
}

void sim_skb_init(unsigned int room)
{
	while (skb_free_list) {
		struct sk_buff *skb = skb_free_list;

		skb_free_list = skb->next;
		free(skb);
	}
	skb_room = room;
}

void sim_bug(const char *file, int line, const char *what)
{
	fflush(stdout);
	fprintf(stderr, "# %.6f ms: %s:%d: %s\n",
		(double)(clock_now - NSEC_PER_SEC) / NSEC_PER_MSEC, file, line,
		what);
	abort();
}
