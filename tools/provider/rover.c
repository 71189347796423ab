// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * rover.c: how libibverbs finds the provider, the device and the context, and
 * the table of everything else.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ccan/array_size.h>
#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "compat.h"
#include "release.h"
#include "rover.h"

#define OPENING		"opening the device"
#define OTHER_VERSION	"module and provider are of different versions: " \
			"build and install both from one tree (README.md)"

/* Once a process, in words: no program can make up for it. */
static void refuse_versions(const char *device, const char *what)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		fprintf(stderr, "librover: %s: %s: " OTHER_VERSION "\n", device,
			what);
}

/**
 * rover_say() - tell the user of an error
 * @ctx: of the device
 * @what: was being done
 * @err: errno of it
 *
 * The program gets the errno. On stderr comes only what an administrator has to
 * mend, as libibverbs itself does when it has no provider for a device; the rest
 * is for those who ask for it (VERBS_LOG_LEVEL).
 */
void rover_say(struct ibv_context *ctx, const char *what, int err)
{
	if (err == EPROTO)
		refuse_versions(ctx->device->name, what);
	else
		verbs_err(verbs_get_ctx(ctx), "librover: %s: %s: %s\n",
			  ctx->device->name, what, strerror(err));
	errno = err;
}

static int query_device_ex(struct ibv_context *ctx,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = { 0 };
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int err;

	err = ibv_cmd_query_device_any(ctx, input, attr, attr_size, &resp,
				       &resp_size);
	if (err)
		return err;
	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(fw >> 32) & 0xffff,
		 (unsigned int)(fw >> 16) & 0xffff, (unsigned int)fw & 0xffff);
	return 0;
}

static int query_port(struct ibv_context *ctx, uint8_t port,
		      struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = { 0 };

	return ibv_cmd_query_port(ctx, port, attr, &cmd, sizeof(cmd));
}

/* The clock of completions, counted in nanoseconds. */
static int query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values)
{
	uint32_t mask = 0;
	struct timespec now;

	(void)ctx;
	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		values->raw_clock.tv_sec = 0;
		values->raw_clock.tv_nsec = now.tv_sec * 1000000000 + now.tv_nsec;
		mask |= IBV_VALUES_MASK_RAW_CLOCK;
	}
	values->comp_mask = mask;
	return 0;
}

static void free_context(struct ibv_context *ibctx)
{
	struct rover_context *ctx =
		container_of(ibctx, struct rover_context, vctx.context);

	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops context_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_dm = rover_alloc_dm,
	.alloc_mw = rover_alloc_mw,
	.alloc_parent_domain = rover_alloc_parent_domain,
	.alloc_pd = rover_alloc_pd,
	.alloc_td = rover_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = rover_bind_mw,
	.close_xrcd = rover_close_xrcd,
	.cq_event = rover_cq_event,
	.create_ah = rover_create_ah,
	.create_cq = rover_create_cq,
	.create_cq_ex = rover_create_cq_ex,
	.create_flow = rover_create_flow,
	.create_qp = rover_create_qp,
	.create_qp_ex = rover_create_qp_ex,
	.create_srq = rover_create_srq,
	.create_srq_ex = rover_create_srq_ex,
	.dealloc_mw = rover_dealloc_mw,
	.dealloc_pd = rover_dealloc_pd,
	.dealloc_td = rover_dealloc_td,
	.dereg_mr = rover_dereg_mr,
	.destroy_ah = rover_destroy_ah,
	.destroy_cq = rover_destroy_cq,
	.destroy_flow = rover_destroy_flow,
	.destroy_qp = rover_destroy_qp,
	.destroy_srq = rover_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = free_context,
	.free_dm = rover_free_dm,
	.get_srq_num = rover_get_srq_num,
	.import_dm = rover_import_dm,
	.import_mr = rover_import_mr,
	.import_pd = rover_import_pd,
	.modify_cq = rover_modify_cq,
	.modify_qp = rover_modify_qp,
	.modify_srq = rover_modify_srq,
	.open_qp = rover_open_qp,
	.open_xrcd = rover_open_xrcd,
	.poll_cq = rover_poll_cq,
	.post_recv = rover_post_recv,
	.post_send = rover_post_send,
	.post_srq_recv = rover_post_srq_recv,
	.query_device_ex = query_device_ex,
	.query_port = query_port,
	.query_qp = rover_query_qp,
	.query_rt_values = query_rt_values,
	.query_srq = rover_query_srq,
	.reg_dm_mr = rover_reg_dm_mr,
	.reg_dmabuf_mr = rover_reg_dmabuf_mr,
	.reg_mr = rover_reg_mr,
	.req_notify_cq = rover_arm_cq,
	.rereg_mr = rover_rereg_mr,
	.resize_cq = rover_resize_cq,
	.unimport_dm = rover_unimport_dm,
	.unimport_mr = rover_unimport_mr,
	.unimport_pd = rover_unimport_pd,
};

/* A new context, still to be filled in by what the module says. */
static struct rover_context *new_context(struct ibv_device *ibdev, int cmd_fd)
{
	struct rover_device *dev =
		container_of(ibdev, struct rover_device, vdev.device);
	struct rover_context *ctx;
	int err;

	/* What stands before this has the same layout in all releases. */
	err = rover_release_fits(ibdev->name, verbs_register_driver);
	if (err) {
		errno = err;
		return NULL;
	}
	if (dev->abi != ROVER_ABI_VERSION) {
		refuse_versions(ibdev->name, OPENING);
		errno = EPROTO;
		return NULL;
	}
	return verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx,
					    ROVER_DRIVER_ID);
}

static struct verbs_context *
finish_context(struct rover_context *ctx, int err,
	       const struct rover_uapi_alloc_ucontext_resp *resp)
{
	if (err) {
		/* The request is one that this module does not know. */
		rover_say(&ctx->vctx.context, OPENING,
			  err == EINVAL ? EPROTO : err);
		verbs_uninit_context(&ctx->vctx);
		free(ctx);
		errno = err;
		return NULL;
	}
	ctx->caps = resp->caps;
	ctx->max_inline = resp->max_inline;
	ctx->max_sge = resp->max_sge;
	verbs_set_ops(&ctx->vctx, &context_ops);
	return &ctx->vctx;
}

static struct verbs_context *alloc_context(struct ibv_device *ibdev, int cmd_fd,
					   void *private_data)
{
	struct rover_context *ctx = new_context(ibdev, cmd_fd);
	struct rover_get_context_resp resp = { 0 };
	struct rover_get_context cmd = { 0 };
	int err;

	(void)private_data;
	if (!ctx)
		return NULL;
	err = rover_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	return finish_context(ctx, err, &resp.drv_payload);
}

/* Of a file that was opened by somebody else, who has made the context. */
static struct verbs_context *import_context(struct ibv_device *ibdev, int cmd_fd)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DEVICE,
			       UVERBS_METHOD_QUERY_CONTEXT, 1);
	struct rover_context *ctx = new_context(ibdev, cmd_fd);
	struct rover_uapi_alloc_ucontext_resp resp = { 0 };
	int err;

	if (!ctx)
		return NULL;
	fill_attr_out_ptr(cmd, ROVER_ATTR_QUERY_CONTEXT_RESP, &resp);
	err = ibv_cmd_query_context(&ctx->vctx.context, cmd) ? errno : 0;
	return finish_context(ctx, err, &resp);
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs)
{
	struct rover_device *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	dev->abi = sysfs->abi_ver;
	return &dev->vdev;
}

static void uninit_device(struct verbs_device *vdev)
{
	free(container_of(vdev, struct rover_device, vdev));
}

/* The number decides; the name is for kernels that do not tell the number. */
static const struct verbs_match_ent match_table[] = {
	VERBS_DRIVER_ID(ROVER_DRIVER_ID),
	VERBS_NAME_MATCH("rover", NULL),
	{},
};

/* Any ABI version is taken here, to be refused in plain words on opening. */
static const struct verbs_device_ops rover_device_ops = {
	.name = "rover",
	.match_min_abi_version = 0,
	.match_max_abi_version = UINT32_MAX,
	.match_table = match_table,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
	.alloc_context = alloc_context,
	.import_context = import_context,
};

PROVIDER_DRIVER(rover, rover_device_ops);
