// SPDX-License-Identifier: GPL-2.0
/*
 * ucontext - a device that a program has opened
 *
 * What a program and the module tell each other in the beginning.  Another
 * program may be handed the file and import the context from it: it is told
 * the same, by a query.
 */
#define UVERBS_MODULE_NAME rover
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/rover-abi.h>

#include "mem/dm.h"
#include "verbs/doorbell.h"
#include "verbs/ucontext.h"
#include "wire/wr.h"

#define ABILITIES	struct rover_uapi_alloc_ucontext_resp

static const ABILITIES abilities = {
	.max_inline = ROVER_MAX_INLINE,
	.max_sge = ROVER_MAX_SGE,
};

int rover_ucontext_alloc(struct ib_ucontext *ib, struct ib_udata *udata)
{
	struct rover_uapi_alloc_ucontext_req req;
	int err;

	/* Fields we do not know are refused; abilities are just not granted. */
	err = ib_copy_validate_udata_in_cm(udata, req, caps, 0);
	if (err)
		return err;
	return ib_respond_udata(udata, abilities);
}

int rover_ucontext_query(struct ib_ucontext *ib,
			 struct uverbs_attr_bundle *attrs)
{
	return uverbs_copy_to_struct_or_zero(attrs,
					     ROVER_ATTR_QUERY_CONTEXT_RESP,
					     &abilities, sizeof(abilities));
}

void rover_ucontext_dealloc(struct ib_ucontext *ib)
{
}

/*
 * That this exists lets a device go while programs have it open.  By now the
 * core has destroyed everything of this context.  Nothing is left to do: the
 * mappings hold the pages of the rings and nothing else, so programs go on
 * reading them, and learn the rest from DEVICE_FATAL and from the flushed
 * completions.
 */
void rover_ucontext_disassociate(struct ib_ucontext *ib)
{
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(rover_query_context, UVERBS_OBJECT_DEVICE,
			     UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(ROVER_ATTR_QUERY_CONTEXT_RESP,
						 UVERBS_ATTR_STRUCT(ABILITIES, max_sge),
						 UA_MANDATORY));

const struct uapi_definition rover_ucontext_defs[] = {
	UAPI_DEF_CHAIN(rover_doorbell_defs),
	UAPI_DEF_CHAIN(rover_dm_defs),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &rover_query_context),
	{},
};
