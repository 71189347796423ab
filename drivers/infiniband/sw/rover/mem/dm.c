// SPDX-License-Identifier: GPL-2.0
/*
 * dm - device memory: host pages that userspace maps
 *
 * Regions take no reference: the core frees no device memory that has any.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#define UVERBS_MODULE_NAME rover
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/rover-abi.h>

#include "core/mmap.h"
#include "mem/dm.h"
#include "mem/mr.h"

static_assert(sizeof(struct rover_uapi_dm) == 32);

/**
 * struct rover_dm - device memory
 * @ib: the core's part
 * @pages: the memory
 * @offset: for mmap()
 */
struct rover_dm {
	struct ib_dm ib;
	struct rover_pages *pages;
	u64 offset;
};

static struct rover_dm *to_dm(struct ib_dm *ib)
{
	return container_of(ib, struct rover_dm, ib);
}

struct ib_dm *rover_dm_alloc(struct ib_device *ib, struct ib_ucontext *ucontext,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs)
{
	struct rover_dm *dm;
	int err;

	/* The alignment is a log2; memory is page-aligned. */
	if (!attr->length || attr->length > ROVER_MAX_DM ||
	    attr->alignment > PAGE_SHIFT)
		return ERR_PTR(-EINVAL);
	dm = kzalloc_obj(*dm, GFP_KERNEL_ACCOUNT);
	if (!dm)
		return ERR_PTR(-ENOMEM);
	dm->pages = rover_mmap_pages_alloc(PAGE_ALIGN(attr->length) >> PAGE_SHIFT);
	if (!dm->pages) {
		err = -ENOMEM;
		goto free_dm;
	}
	err = rover_mmap_offer(dm->pages, ucontext, &dm->offset);
	if (!err)
		return &dm->ib;

	rover_mmap_pages_free(dm->pages);
free_dm:
	kfree(dm);
	return ERR_PTR(err);
}

int rover_dm_dealloc(struct ib_dm *ib, struct uverbs_attr_bundle *attrs)
{
	struct rover_dm *dm = to_dm(ib);

	rover_mmap_pages_free(dm->pages);
	kfree(dm);
	return 0;
}

struct ib_mr *rover_dm_reg_mr(struct ib_pd *pd, struct ib_dm *ib,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs)
{
	/* The core has checked the range. */
	return rover_mr_reg_pages(pd, to_dm(ib)->pages->page, attr->offset,
				  attr->length, attr->access_flags);
}

/* The core's macros paste these names, which must not be macros. */
enum {
	DM_QUERY = ROVER_METHOD_DM_QUERY,
};

static int UVERBS_HANDLER(DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ib = uverbs_attr_get_obj(attrs, ROVER_ATTR_DM_QUERY_DM);
	struct rover_uapi_dm resp = {};

	if (IS_ERR(ib))
		return PTR_ERR(ib);
	resp.offset = to_dm(ib)->offset;
	resp.size = (u64)to_dm(ib)->pages->num << PAGE_SHIFT;
	resp.length = ib->length;
	return uverbs_copy_to_struct_or_zero(attrs, ROVER_ATTR_DM_QUERY_RESP,
					     &resp, sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(DM_QUERY,
			    UVERBS_ATTR_IDR(ROVER_ATTR_DM_QUERY_DM,
					    UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(ROVER_ATTR_DM_QUERY_RESP,
						UVERBS_ATTR_STRUCT(struct rover_uapi_dm,
								   length),
						UA_MANDATORY));

ADD_UVERBS_METHODS(rover_dm_methods, UVERBS_OBJECT_DM, &UVERBS_METHOD(DM_QUERY));

const struct uapi_definition rover_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &rover_dm_methods),
	{},
};
