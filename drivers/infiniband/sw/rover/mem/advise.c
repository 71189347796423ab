// SPDX-License-Identifier: GPL-2.0
/*
 * advise - prefetch of ODP pages
 *
 * All ranges are resolved first: wrong advice has no effect.  With FLUSH the
 * caller prefetches, else a thread of the process that has the first range; it
 * does not delay deregistration.
 *
 * Process context.
 */
#include <linux/bottom_half.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "mem/advise.h"
#include "mem/mr.h"

/**
 * struct advise_request - ranges to prefetch
 * @work: prefetches, unless FLUSH is set
 * @want: access wanted
 * @num: ranges resolved
 * @range: ranges, their memory referenced
 */
struct advise_request {
	struct work_struct work;
	enum rover_odp_want want;
	u32 num;
	struct {
		struct rover_odp *odp;
		u64 va;
		u32 len;
	} range[];
};

static void advise_free(struct advise_request *req)
{
	while (req->num)
		rover_odp_put(req->range[--req->num].odp);
	kvfree(req);
}

static int advise_prefetch(const struct advise_request *req)
{
	int err = 0;
	u32 i;

	for (i = 0; i < req->num && !err; i++)
		err = rover_odp_prefetch(req->range[i].odp,
					 req->range[i].va,
					 req->range[i].len, req->want);
	return err;
}

static void advise_work_fn(struct work_struct *work)
{
	struct advise_request *req = container_of(work, struct advise_request,
						  work);

	advise_prefetch(req);
	advise_free(req);
}

static int advise_resolve(struct advise_request *req, struct ib_pd *pd,
			  const struct ib_sge *sge, u32 num)
{
	int access = req->want == ROVER_ODP_WRITE ? IB_ACCESS_LOCAL_WRITE : 0;
	u32 i;

	for (i = 0; i < num; i++) {
		struct rover_odp *odp;
		u64 va;

		local_bh_disable();
		odp = rover_mr_find_odp(pd, sge[i].lkey, access, sge[i].addr,
					sge[i].length, &va);
		local_bh_enable();
		if (IS_ERR(odp))
			return PTR_ERR(odp);
		req->range[req->num].odp = odp;
		req->range[req->num].va = va;
		req->range[req->num++].len = sge[i].length;
	}
	return 0;
}

static int advise_to_want(enum ib_uverbs_advise_mr_advice advice)
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

int rover_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 num,
		    struct uverbs_attr_bundle *attrs)
{
	int want = advise_to_want(advice), err;
	struct advise_request *req;

	if (want < 0)
		return want;
	req = kvzalloc(struct_size(req, range, num), GFP_KERNEL_ACCOUNT);
	if (!req)
		return -ENOMEM;
	req->want = want;
	err = advise_resolve(req, pd, sge, num);
	if (!err && req->num && !(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) {
		INIT_WORK(&req->work, advise_work_fn);
		rover_odp_queue_advice(req->range[0].odp, &req->work);
		return 0;
	}
	err = err ?: advise_prefetch(req);
	advise_free(req);
	return err;
}
