// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * dm.c: device memory, which the kernel keeps and we map.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "rover.h"

/* Devices move words of it, and programs are used to that. */
#define WORD	4

/**
 * struct rover_dm - device memory
 * @vdm: libibverbs' part
 * @map: where we see it
 * @size: of the mapping
 * @length: bytes, as asked for
 */
struct rover_dm {
	struct verbs_dm vdm;
	char *map;
	size_t size;
	uint64_t length;
};

static struct rover_dm *to_dm(struct ibv_dm *dm)
{
	return container_of(dm, struct rover_dm, vdm.dm);
}

static bool within(const struct rover_dm *dm, uint64_t offset, size_t length)
{
	return offset % WORD == 0 && length % WORD == 0 &&
	       offset <= dm->length && length <= dm->length - offset;
}

static int copy_to(struct ibv_dm *ibdm, uint64_t offset, const void *from,
		   size_t length)
{
	struct rover_dm *dm = to_dm(ibdm);

	if (!within(dm, offset, length))
		return EINVAL;
	memcpy(dm->map + offset, from, length);
	return 0;
}

static int copy_from(void *to, struct ibv_dm *ibdm, uint64_t offset,
		     size_t length)
{
	struct rover_dm *dm = to_dm(ibdm);

	if (!within(dm, offset, length))
		return EINVAL;
	memcpy(to, dm->map + offset, length);
	return 0;
}

/* Errors are negative in here. */
static int query(struct ibv_context *ctx, uint32_t handle,
		 struct rover_uapi_dm *resp)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, ROVER_METHOD_DM_QUERY, 2);

	fill_attr_in_obj(cmd, ROVER_ATTR_DM_QUERY_DM, handle);
	fill_attr_out_ptr(cmd, ROVER_ATTR_DM_QUERY_RESP, resp);
	if (execute_ioctl(ctx, cmd))
		return -errno;
	return resp->size > SIZE_MAX || resp->length > resp->size ? -EPROTO : 0;
}

/* All that is the same for memory that is new and that is imported. */
static int show(struct rover_dm *dm, struct ibv_context *ctx, uint32_t handle)
{
	struct rover_uapi_dm resp = { 0 };
	int err = query(ctx, handle, &resp);

	if (err)
		return err;
	dm->map = mmap(NULL, resp.size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       ctx->cmd_fd, resp.offset);
	if (dm->map == MAP_FAILED)
		return -errno;
	dm->size = resp.size;
	dm->length = resp.length;
	dm->vdm.handle = handle;
	dm->vdm.dm.handle = handle;
	dm->vdm.dm.comp_mask = IBV_DM_MASK_HANDLE;
	dm->vdm.dm.context = ctx;
	dm->vdm.dm.memcpy_to_dm = copy_to;
	dm->vdm.dm.memcpy_from_dm = copy_from;
	return 0;
}

struct ibv_dm *rover_alloc_dm(struct ibv_context *ctx,
			      struct ibv_alloc_dm_attr *attr)
{
	struct rover_dm *dm;
	int err;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	err = ibv_cmd_alloc_dm(ctx, attr, &dm->vdm, NULL);
	if (err)
		goto err_free;
	err = -show(dm, ctx, dm->vdm.handle);
	if (!err)
		return &dm->vdm.dm;

	ibv_cmd_free_dm(&dm->vdm);
err_free:
	free(dm);
	errno = err;
	return NULL;
}

struct ibv_dm *rover_import_dm(struct ibv_context *ctx, uint32_t handle)
{
	struct rover_dm *dm = calloc(1, sizeof(*dm));
	int err;

	if (!dm)
		return NULL;
	err = -show(dm, ctx, handle);
	if (!err)
		return &dm->vdm.dm;
	free(dm);
	errno = err;
	return NULL;
}

void rover_unimport_dm(struct ibv_dm *ibdm)
{
	struct rover_dm *dm = to_dm(ibdm);

	munmap(dm->map, dm->size);
	free(dm);
}

int rover_free_dm(struct ibv_dm *ibdm)
{
	int err = ibv_cmd_free_dm(&to_dm(ibdm)->vdm);

	if (!err)
		rover_unimport_dm(ibdm);
	return err;
}

struct ibv_mr *rover_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
			       uint64_t offset, size_t length,
			       unsigned int access)
{
	struct verbs_mr *vmr = calloc(1, sizeof(*vmr));
	int err;

	if (!vmr)
		return NULL;
	err = ibv_cmd_reg_dm_mr(pd, &to_dm(ibdm)->vdm, offset, length, access,
				vmr, NULL);
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}
