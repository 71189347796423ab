// SPDX-License-Identifier: GPL-2.0
/*
 * ucontext - device contexts of userspace
 *
 * Tells the provider capabilities; a process that imports the context by its
 * file descriptor uses the query method.
 */
#define UVERBS_MODULE_NAME rover
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/rover-abi.h>

#include "mem/dm.h"
#include "verbs/doorbell.h"
#include "verbs/ucontext.h"
#include "wire/wr.h"

#define UCONTEXT_RESP	struct rover_uapi_alloc_ucontext_resp

static const UCONTEXT_RESP ucontext_resp = {
	.max_inline = ROVER_MAX_INLINE,
	.max_sge = ROVER_MAX_SGE,
};

int rover_ucontext_alloc(struct ib_ucontext *ib, struct ib_udata *udata)
{
	struct rover_uapi_alloc_ucontext_req req;
	int err;

	/* Unknown fields are an error; unknown caps are not granted. */
	err = ib_copy_validate_udata_in_cm(udata, req, caps, 0);
	if (err)
		return err;
	return ib_respond_udata(udata, ucontext_resp);
}

int rover_ucontext_query(struct ib_ucontext *ib,
			 struct uverbs_attr_bundle *attrs)
{
	return uverbs_copy_to_struct_or_zero(attrs,
					     ROVER_ATTR_QUERY_CONTEXT_RESP,
					     &ucontext_resp,
					     sizeof(ucontext_resp));
}

void rover_ucontext_dealloc(struct ib_ucontext *ib)
{
}

/*
 * This op lets the core remove a device in use.  The core has destroyed the
 * context's objects; mappings keep only the pages of the rings.
 */
void rover_ucontext_disassociate(struct ib_ucontext *ib)
{
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(rover_query_context, UVERBS_OBJECT_DEVICE,
			     UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(ROVER_ATTR_QUERY_CONTEXT_RESP,
						 UVERBS_ATTR_STRUCT(UCONTEXT_RESP, max_sge),
						 UA_MANDATORY));

const struct uapi_definition rover_ucontext_defs[] = {
	UAPI_DEF_CHAIN(rover_doorbell_defs),
	UAPI_DEF_CHAIN(rover_dm_defs),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &rover_query_context),
	{},
};
