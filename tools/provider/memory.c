// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * memory.c: memory regions and windows, and address handles, which the kernel keeps all
 * by itself. Of an address handle we know its number.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "rover.h"

/* Of all there is to go wrong, this needs a hint: nothing looks wrong. */
static void explain_memlock(struct ibv_context *ctx, size_t length)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return;
	verbs_err(verbs_get_ctx(ctx),
		  "no memory for a region of %zu bytes; this user may lock %llu in all: raise it with ulimit -l, or as root with prlimit --memlock=unlimited --pid PID\n",
		  length, (unsigned long long)limit.rlim_cur);
}

struct ibv_mr *rover_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access)
{
	struct ib_uverbs_reg_mr_resp resp = { 0 };
	struct ibv_reg_mr cmd = { 0 };
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));
	int err;

	if (!vmr)
		return NULL;
	err = ibv_cmd_reg_mr(pd, addr, length, iova, access, vmr, &cmd,
			     sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		if (err == ENOMEM)
			explain_memlock(pd->context, length);
		free(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

/*
 * The command is made here: rdma-core's own function for it takes one argument
 * more since 54, under the same name and private version.
 */
static int reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t length,
		      uint64_t iova, int fd, int access, struct verbs_mr *vmr)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_MR,
			       UVERBS_METHOD_REG_DMABUF_MR, 9);
	struct ib_uverbs_attr *handle =
		fill_attr_out_obj(cmd, UVERBS_ATTR_REG_DMABUF_MR_HANDLE);

	fill_attr_out_ptr(cmd, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY,
			  &vmr->ibv_mr.lkey);
	fill_attr_out_ptr(cmd, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY,
			  &vmr->ibv_mr.rkey);
	fill_attr_in_obj(cmd, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd->handle);
	fill_attr_in_uint64(cmd, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset);
	fill_attr_in_uint64(cmd, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, length);
	fill_attr_in_uint64(cmd, UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova);
	fill_attr_in_uint32(cmd, UVERBS_ATTR_REG_DMABUF_MR_FD, fd);
	fill_attr_in_uint32(cmd, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, access);
	if (execute_ioctl(pd->context, cmd))
		return errno;
	vmr->ibv_mr.handle =
		read_attr_obj(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, handle);
	vmr->ibv_mr.context = pd->context;
	vmr->mr_type = IBV_MR_TYPE_DMABUF_MR;
	return 0;
}

struct ibv_mr *rover_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access)
{
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));
	int err;

	if (!vmr)
		return NULL;
	err = reg_dmabuf(pd, offset, length, iova, fd, access, vmr);
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

int rover_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp = { 0 };
	struct ibv_rereg_mr cmd = { 0 };
	int err;

	err = ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr, access,
			       pd, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err == ENOMEM)
		explain_memlock(vmr->ibv_mr.context, length);
	return err;
}

int rover_dereg_mr(struct verbs_mr *vmr)
{
	int err = ibv_cmd_dereg_mr(vmr);

	if (!err)
		free(vmr);
	return err;
}

struct ibv_mw *rover_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp = { 0 };
	struct ibv_alloc_mw cmd = { 0 };
	struct ibv_mw *mw = calloc(1, sizeof(*mw));
	int err;

	if (!mw)
		return NULL;
	err = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (err) {
		free(mw);
		errno = err;
		return NULL;
	}
	return mw;
}

int rover_dealloc_mw(struct ibv_mw *mw)
{
	int err = ibv_cmd_dealloc_mw(mw);

	if (!err)
		free(mw);
	return err;
}

/* One that somebody else made, in this context, who also destroys it. */
struct ibv_mr *rover_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));
	int err;

	if (!vmr)
		return NULL;
	err = ibv_cmd_query_mr(pd, vmr, handle);
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

void rover_unimport_mr(struct ibv_mr *mr)
{
	free(verbs_get_mr(mr));
}

struct ibv_ah *rover_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct rover_create_ah_resp resp = { 0 };
	struct rover_ah *ah = calloc(1, sizeof(*ah));

	if (!ah)
		return NULL;
	if (ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.ibv_resp,
			      sizeof(resp))) {
		free(ah);
		return NULL;
	}
	ah->number = resp.drv_payload.ah;
	return &ah->ah;
}

int rover_destroy_ah(struct ibv_ah *ah)
{
	int err = ibv_cmd_destroy_ah(ah);

	if (!err)
		free(to_ah(ah));
	return err;
}
