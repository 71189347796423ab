/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * compat.h: all that differs between the rdma-core versions rover is built in.
 *
 * IBVERBS_PABI_VERSION: 34 is rdma-core 39 to 56 (Debian 12 and 13); 57, 59,
 * 64 and 65 are those releases and the ones that follow them.
 */
#ifndef PROVIDER_COMPAT_H
#define PROVIDER_COMPAT_H

#include <infiniband/driver.h>

static inline int
rover_cmd_get_context(struct verbs_context *vctx,
		      struct ibv_get_context *cmd, size_t cmd_size,
		      struct ib_uverbs_get_context_resp *resp, size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 57
	return ibv_cmd_get_context(vctx, cmd, cmd_size, NULL, resp, resp_size);
#else
	return ibv_cmd_get_context(vctx, cmd, cmd_size, resp, resp_size);
#endif
}

#endif /* PROVIDER_COMPAT_H */
