// SPDX-License-Identifier: GPL-2.0
/*
 * advise - a program tells what memory on demand it is going to use
 *
 * Everything is proved first, so that wrong advice has no effect at all.  Then it
 * is followed, by the program itself if it wants to wait (FLUSH), else by a
 * thread that does not hold up the end of the regions.
 *
 * Process context; keys are looked at with softirqs off (mkey).
 */
#include <linux/bottom_half.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "mem/advise.h"
#include "mem/mr.h"

/**
 * struct advice - what is to be followed
 * @work: by whom
 * @want: how the memory is wanted
 * @num: ranges proved so far
 * @range: referenced memory, and what of it
 */
struct advice {
	struct work_struct work;
	enum rover_odp_want want;
	u32 num;
	struct {
		struct rover_odp *odp;
		u64 va;
		u32 len;
	} range[];
};

/* No hurry: what is in a hurry is demanded (odp). */
static struct workqueue_struct *followers;

static void free_advice(struct advice *advice)
{
	while (advice->num)
		rover_odp_put(advice->range[--advice->num].odp);
	kvfree(advice);
}

/* Return the first error; what comes behind it is of no use without it. */
static int follow(const struct advice *advice)
{
	int err = 0;
	u32 i;

	for (i = 0; i < advice->num && !err; i++)
		err = rover_odp_prefetch(advice->range[i].odp,
					 advice->range[i].va,
					 advice->range[i].len, advice->want);
	return err;
}

static void follow_work(struct work_struct *work)
{
	struct advice *advice = container_of(work, struct advice, work);

	/* Nobody has asked how it went. */
	follow(advice);
	free_advice(advice);
}

static int prove(struct advice *advice, struct ib_pd *pd,
		 const struct ib_sge *sge, u32 num)
{
	int access = advice->want == ROVER_ODP_WRITE ? IB_ACCESS_LOCAL_WRITE : 0;
	u32 i;

	for (i = 0; i < num; i++) {
		struct rover_odp *odp;
		u64 va;

		local_bh_disable();
		odp = rover_mr_find_demand(pd, sge[i].lkey, access, sge[i].addr,
					   sge[i].length, &va);
		local_bh_enable();
		if (IS_ERR(odp))
			return PTR_ERR(odp);
		advice->range[advice->num].odp = odp;
		advice->range[advice->num].va = va;
		advice->range[advice->num++].len = sge[i].length;
	}
	return 0;
}

static int want_of(enum ib_uverbs_advise_mr_advice advice)
{
	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		return ROVER_ODP_READ;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		return ROVER_ODP_WRITE;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		return ROVER_ODP_PRESENT;
	default:
		return -EOPNOTSUPP;
	}
}

int rover_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice what,
		    u32 flags, struct ib_sge *sge, u32 num,
		    struct uverbs_attr_bundle *attrs)
{
	int want = want_of(what), err;
	struct advice *advice;

	if (want < 0)
		return want;
	advice = kvzalloc(struct_size(advice, range, num), GFP_KERNEL_ACCOUNT);
	if (!advice)
		return -ENOMEM;
	advice->want = want;
	err = prove(advice, pd, sge, num);
	if (!err && !(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) {
		INIT_WORK(&advice->work, follow_work);
		queue_work(followers, &advice->work);
		return 0;
	}
	err = err ?: follow(advice);
	free_advice(advice);
	return err;
}

int rover_advise_init(void)
{
	followers = alloc_workqueue("rover_advise", WQ_UNBOUND, 0);
	return followers ? 0 : -ENOMEM;
}

void rover_advise_exit(void)
{
	destroy_workqueue(followers);
}
