// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * domain.c: protection domains, and the two kinds that only a provider knows.
 *
 * What is made in a thread domain is used by one thread at a time, and so does
 * without locks. A parent domain joins a protection domain and a thread domain:
 * to the kernel it is the former, to what is made in it, both.
 *
 * A parent domain may come with functions that allocate what the provider needs
 * for queues. This one needs nothing: rings are the kernel's memory. So they are
 * taken, and never called.
 */
#include <errno.h>
#include <stdlib.h>

#include "rover.h"

#define PARENT_COMP_MASK	(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | \
				 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)

static struct rover_td *to_td(struct ibv_td *td)
{
	return container_of(td, struct rover_td, td);
}

struct ibv_pd *rover_alloc_pd(struct ibv_context *ctx)
{
	struct ib_uverbs_alloc_pd_resp resp = { 0 };
	struct ibv_alloc_pd cmd = { 0 };
	struct rover_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	if (ibv_cmd_alloc_pd(ctx, &pd->pd, &cmd, sizeof(cmd), &resp,
			     sizeof(resp))) {
		free(pd);
		return NULL;
	}
	return &pd->pd;
}

/* Parent domains are the provider's alone: the kernel would not miss theirs. */
int rover_dealloc_pd(struct ibv_pd *ibpd)
{
	struct rover_pd *pd = to_pd(ibpd);
	int err;

	if (atomic_load(&pd->parents))
		return EBUSY;
	if (pd->of) {
		atomic_fetch_sub(&pd->of->parents, 1);
		if (pd->td)
			atomic_fetch_sub(&pd->td->parents, 1);
	} else {
		err = ibv_cmd_dealloc_pd(ibpd);
		if (err)
			return err;
	}
	free(pd);
	return 0;
}

struct ibv_pd *rover_alloc_parent_domain(struct ibv_context *ctx,
					 struct ibv_parent_domain_init_attr *attr)
{
	struct rover_pd *pd;

	if (!attr->pd || attr->pd->context != ctx || to_pd(attr->pd)->of ||
	    (attr->td && attr->td->context != ctx)) {
		errno = EINVAL;
		return NULL;
	}
	if (attr->comp_mask & ~PARENT_COMP_MASK) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ibv_initialize_parent_domain(&pd->pd, attr->pd);
	pd->of = to_pd(attr->pd);
	atomic_fetch_add(&pd->of->parents, 1);
	if (attr->td) {
		pd->td = to_td(attr->td);
		atomic_fetch_add(&pd->td->parents, 1);
	}
	return &pd->pd;
}

struct ibv_td *rover_alloc_td(struct ibv_context *ctx,
			      struct ibv_td_init_attr *attr)
{
	struct rover_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = ctx;
	return &td->td;
}

int rover_dealloc_td(struct ibv_td *ibtd)
{
	struct rover_td *td = to_td(ibtd);

	if (atomic_load(&td->parents))
		return EBUSY;
	free(td);
	return 0;
}

/* One that somebody else made, in this context, who also destroys it. */
struct ibv_pd *rover_import_pd(struct ibv_context *ctx, uint32_t handle)
{
	struct rover_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->pd.context = ctx;
	pd->pd.handle = handle;
	return &pd->pd;
}

void rover_unimport_pd(struct ibv_pd *pd)
{
	free(to_pd(pd));
}
