// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * fake.c: the kernel and the part of libibverbs that the provider calls.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "fake.h"

struct fake_kernel kernel;
struct verbs_context fake_context;
struct rover_pd fake_pd;

static struct ibv_device fake_device = { .name = "rover_fake" };

/* Rings that live, by offset. */
static struct fake_ring rings[64];

/* Rings ********************************************************************/

static void ring_create(struct fake_ring *ring, uint32_t entries, size_t stride,
			struct rover_uapi_ring *desc)
{
	unsigned int i = 0;

	while (rings[i].hdr)
		i++;
	*ring = (struct fake_ring) { .entries = 1, .offset = (i + 1) << 20 };
	while (ring->entries < entries)
		ring->entries *= 2;
	ring->stride = (stride + 63) / 64 * 64;
	ring->size = ROVER_RING_HDR_SIZE + (size_t)ring->entries * ring->stride;
	ring->size = (ring->size + 4095) / 4096 * 4096;
	ring->hdr = aligned_alloc(4096, ring->size);
	memset(ring->hdr, 0, ring->size);
	rings[i] = *ring;
	*desc = (struct rover_uapi_ring) {
		.offset = ring->offset,
		.size = ring->size,
		.entries = ring->entries,
		.stride = kernel.bad_stride ? 32 : ring->stride,
	};
}

static void *slot(struct fake_ring *ring, uint32_t index)
{
	return (char *)ring->hdr + ROVER_RING_HDR_SIZE +
	       (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/* The memory goes with the mapping, so that a later access is seen. */
static void ring_free(void *hdr)
{
	unsigned int i;

	for (i = 0; i < 64; i++)
		if (rings[i].hdr == hdr)
			rings[i].hdr = NULL;
	free(hdr);
}

void fake_forget(struct rover_ring_hdr *hdr)
{
	ring_free(hdr);
}

void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd,
		  off_t offset);
void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd,
		  off_t offset)
{
	unsigned int i;

	(void)addr;
	(void)prot;
	if (kernel.fail_mmap && !--kernel.fail_mmap) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	for (i = 0; i < 64; i++) {
		if (!rings[i].hdr || rings[i].offset != (uint64_t)offset)
			continue;
		if (fd != FAKE_FD || flags != MAP_SHARED || size != rings[i].size)
			break;
		kernel.mapped++;
		return rings[i].hdr;
	}
	errno = EINVAL;
	return MAP_FAILED;
}

int __wrap_munmap(void *addr, size_t size);
int __wrap_munmap(void *addr, size_t size)
{
	(void)size;
	kernel.mapped--;
	ring_free(addr);
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	atomic_fetch_add(&kernel.doorbells, 1);
	if (fd != FAKE_FD || request != RDMA_VERBS_IOCTL) {
		errno = ENOTTY;
		return -1;
	}
	if (kernel.on_doorbell)
		kernel.on_doorbell();
	else
		memcpy(&kernel.request, arg, sizeof(kernel.request));
	errno = kernel.doorbell_err;
	return kernel.doorbell_err ? -1 : 0;
}

void *fake_posted(struct fake_ring *ring)
{
	/* K1 */
	if (atomic_load_explicit(rover_word(ring->hdr->tail),
				 memory_order_acquire) == ring->index)
		return NULL;
	return slot(ring, ring->index);
}

void fake_retire(struct fake_ring *ring)
{
	/* K3 */
	atomic_store_explicit(rover_word(ring->hdr->head), ++ring->index,
			      memory_order_release);
}

bool fake_room(struct fake_ring *ring)
{
	/* K5 */
	return ring->index - atomic_load_explicit(rover_word(ring->hdr->head),
						  memory_order_acquire) <
	       ring->entries;
}

bool fake_complete(struct fake_ring *ring, const struct rover_cqe *cqe,
		   bool solicited)
{
	uint32_t want = ROVER_ARM_NEXT | (solicited ? ROVER_ARM_SOLICITED : 0);
	struct rover_cqe *to = slot(ring, ring->index);
	uint32_t word;

	if (!fake_room(ring)) {
		fake_flag(ring, ROVER_RING_DEAD, true);
		return false;
	}
	memcpy(to, cqe, offsetof(struct rover_cqe, phase));
	/* K4 */
	atomic_store_explicit((atomic_uchar *)&to->phase,
			      !(ring->index & ring->entries),
			      memory_order_release);
	ring->index++;
	/* K6 */
	atomic_thread_fence(memory_order_seq_cst);
	word = atomic_load_explicit(rover_word(ring->hdr->arm),
				    memory_order_relaxed);
	if (word == ring->fired || !(word & want))
		return false;
	ring->fired = word;
	return true;
}

void fake_flag(struct fake_ring *ring, uint32_t flag, bool on)
{
	if (on)
		atomic_fetch_or(rover_word(ring->hdr->flags), flag);
	else
		atomic_fetch_and(rover_word(ring->hdr->flags), ~flag);
}

/* libibverbs ***************************************************************/

void rover_say(struct ibv_context *ctx, const char *what, int err)
{
	(void)ctx;
	(void)what;
	(void)err;
	kernel.said++;
}

#if IBVERBS_PABI_VERSION >= 59
#define PROV_ATTR struct verbs_create_cq_prov_attr *prov __attribute__((unused)),
#else
#define PROV_ATTR
#endif

int ibv_cmd_create_cq_ex(struct ibv_context *ctx,
			 const struct ibv_cq_init_attr_ex *attr, PROV_ATTR
			 struct verbs_cq *vcq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags)
{
	struct rover_create_cq_resp *full = (void *)resp;

	(void)cmd;
	(void)cmd_size;
	(void)resp_size;
	(void)cmd_flags;
	ring_create(&kernel.cq, attr->cqe, sizeof(struct rover_cqe), &full->ring);
	kernel.cq_flags = attr->wc_flags;
	kernel.objects++;
	vcq->cq.context = ctx;
	vcq->cq.cqe = kernel.cq.entries;
	return 0;
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size)
{
	struct rover_resize_cq_resp *full = (void *)resp;
	struct fake_ring old = kernel.cq;
	uint32_t head = old.hdr->head;
	struct fake_ring ring;

	(void)cmd;
	(void)cmd_size;
	(void)resp_size;
	if ((uint32_t)cqe < old.index - head)
		return errno = EINVAL;
	if (kernel.on_change)
		kernel.on_change();
	ring_create(&ring, cqe, sizeof(struct rover_cqe), &full->ring);
	for (; head != old.index; head++, ring.index++) {
		struct rover_cqe *to = slot(&ring, ring.index);

		memcpy(to, slot(&old, head), sizeof(*to));
		to->phase = !(ring.index & ring.entries);
	}
	ring.hdr->arm = old.hdr->arm;
	ring.fired = old.fired;
	kernel.cq = ring;
	cq->cqe = ring.entries;
	return 0;
}

int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      struct ibv_modify_cq *cmd, size_t cmd_size)
{
	(void)cq;
	if (cmd_size < sizeof(*cmd) || attr->attr_mask != IBV_CQ_ATTR_MODERATE)
		return errno = EINVAL;
	kernel.moderate = attr->moderate;
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	kernel.objects--;
	return 0;
}

static void create_qp(struct ibv_context *ctx, struct verbs_qp *vqp,
		      struct ibv_qp_init_attr_ex *attr,
		      struct rover_uapi_create_qp_resp *full)
{
	size_t send = attr->cap.max_send_sge * 16;

	if (send < attr->cap.max_inline_data)
		send = attr->cap.max_inline_data;
	/* A target of XRC is the kernel's own: nothing is said of it. */
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		attr->cap = (struct ibv_qp_cap) { 0 };
	else
		ring_create(&kernel.sq, attr->cap.max_send_wr,
			    ROVER_SEND_WQE_HDR + send, &full->sq);
	kernel.rq.hdr = NULL;
	vqp->qp.srq = attr->srq;
	vqp->qp.pd = attr->pd;
	if (attr->srq || attr->qp_type == IBV_QPT_XRC_SEND) {
		attr->cap.max_recv_wr = 0;
		attr->cap.max_recv_sge = 0;
	}
	if (attr->cap.max_recv_wr)
		ring_create(&kernel.rq, attr->cap.max_recv_wr,
			    ROVER_RECV_WQE_HDR + attr->cap.max_recv_sge * 16,
			    &full->rq);
	full->qpn = 0xabcdef;
	kernel.objects++;
	vqp->qp.context = ctx;
	vqp->qp.qp_type = attr->qp_type;
	vqp->qp.state = IBV_QPS_RESET;
}

int ibv_cmd_create_qp_ex(struct ibv_context *ctx, struct verbs_qp *vqp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)cmd_size;
	(void)resp_size;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		return EINVAL;
	kernel.qp_flags = 0;
	create_qp(ctx, vqp, attr,
		  &((struct rover_create_qp_resp *)resp)->drv_payload);
	return 0;
}

int ibv_cmd_create_qp_ex2(struct ibv_context *ctx, struct verbs_qp *vqp,
			  struct ibv_qp_init_attr_ex *attr,
			  struct ibv_create_qp_ex *cmd, size_t cmd_size,
			  struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size)
{
	(void)cmd;
	(void)cmd_size;
	(void)resp_size;
	kernel.qp_flags = attr->create_flags;
	create_qp(ctx, vqp, attr,
		  &((struct rover_create_qp_ex_resp *)resp)->drv_payload);
	return 0;
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size)
{
	(void)qp;
	(void)cmd;
	(void)cmd_size;
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET &&
	    qp->qp_type != IBV_QPT_XRC_RECV) {
		kernel.sq.index = 0;
		kernel.sq.hdr->head = 0;
		kernel.sq.hdr->tail = 0;
	}
	return 0;
}

int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		     struct ibv_qp_init_attr *init, struct ibv_query_qp *cmd,
		     size_t cmd_size)
{
	(void)qp;
	(void)attr;
	(void)mask;
	(void)init;
	(void)cmd;
	(void)cmd_size;
	return 0;
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	kernel.objects--;
	return 0;
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	struct rover_create_srq_resp *full = (void *)resp;

	(void)cmd;
	(void)cmd_size;
	(void)resp_size;
	attr->attr.max_sge |= 1;
	ring_create(&kernel.srq, attr->attr.max_wr,
		    ROVER_RECV_WQE_HDR + attr->attr.max_sge * 16, &full->ring);
	kernel.objects++;
	srq->context = pd->context;
	return 0;
}

int ibv_cmd_create_srq_ex(struct ibv_context *ctx, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr,
			  struct ibv_create_xsrq *cmd, size_t cmd_size,
			  struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size)
{
	struct rover_create_srq_ex_resp *full = (void *)resp;

	(void)cmd;
	(void)cmd_size;
	(void)resp_size;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD))
		return EINVAL;
	attr->attr.max_sge |= 1;
	ring_create(&kernel.srq, attr->attr.max_wr,
		    ROVER_RECV_WQE_HDR + attr->attr.max_sge * 16, &full->ring);
	kernel.objects++;
	srq->srq.context = ctx;
	srq->srq_type = attr->srq_type;
	srq->srq_num = 0x123456;
	return 0;
}

int ibv_cmd_open_xrcd(struct ibv_context *ctx, struct verbs_xrcd *xrcd,
		      int size, struct ibv_xrcd_init_attr *attr,
		      struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size)
{
	(void)size;
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	(void)resp_size;
	if (!(attr->comp_mask & IBV_XRCD_INIT_ATTR_FD))
		return EINVAL;
	kernel.objects++;
	xrcd->xrcd.context = ctx;
	return 0;
}

int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd)
{
	(void)xrcd;
	if (kernel.objects > 1)
		return EBUSY;
	kernel.objects--;
	return 0;
}

int ibv_cmd_open_qp(struct ibv_context *ctx, struct verbs_qp *vqp, int size,
		    struct ibv_qp_open_attr *attr, struct ibv_open_qp *cmd,
		    size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
		    size_t resp_size)
{
	(void)size;
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	(void)resp_size;
	if (!(attr->comp_mask & IBV_QP_OPEN_ATTR_XRCD))
		return EINVAL;
	kernel.objects++;
	vqp->qp.context = ctx;
	vqp->qp.qp_num = attr->qp_num;
	vqp->qp.qp_type = attr->qp_type;
	vqp->qp.state = IBV_QPS_UNKNOWN;
	return 0;
}

/* Posted receives have the same indices in the new ring, as the module says. */
static void resize_srq(uint32_t max_wr, struct rover_uapi_ring *desc)
{
	struct fake_ring old = kernel.srq, ring;
	uint32_t i;

	ring_create(&ring, max_wr, old.stride, desc);
	for (i = old.index; i != old.hdr->tail; i++)
		memcpy(slot(&ring, i), slot(&old, i), old.stride);
	ring.index = old.index;
	ring.hdr->head = old.hdr->head;
	ring.hdr->tail = old.hdr->tail;
	kernel.srq = ring;
}

/* Without a response, and so not for a new size. */
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size)
{
	(void)srq;
	(void)attr;
	if (cmd_size != sizeof(*cmd) || mask & IBV_SRQ_MAX_WR)
		return EINVAL;
	return kernel.srq_err;
}

/* An attribute of this number and length, or NULL. */
static const struct ib_uverbs_attr *find_attr(struct ibv_command_buffer *cmd,
					      uint16_t id, uint16_t len)
{
	const struct ib_uverbs_attr *attr = cmd->hdr.attrs;

	for (; attr < cmd->next_attr; attr++)
		if (attr->attr_id == id)
			return attr->len == len ? attr : NULL;
	return NULL;
}

/* The only command that the provider sends so: modify_srq with a new size. */
static int run_resize(struct ibv_command_buffer *cmd)
{
	struct rover_uapi_modify_srq_resp *resp;
	const struct ib_uverbs_attr *which, *in, *out;
	const struct ib_uverbs_modify_srq *core;

	which = find_attr(cmd, UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t));
	in = find_attr(cmd, UVERBS_ATTR_CORE_IN, sizeof(*core));
	out = find_attr(cmd, UVERBS_ATTR_UHW_OUT, sizeof(*resp));
	if (cmd->hdr.object_id != UVERBS_OBJECT_DEVICE ||
	    cmd->hdr.method_id != UVERBS_METHOD_INVOKE_WRITE || !which ||
	    which->data != IB_USER_VERBS_CMD_MODIFY_SRQ || !in || !out)
		return EINVAL;
	core = (const void *)(uintptr_t)in->data;
	resp = (void *)(uintptr_t)out->data;
	if (!(core->attr_mask & IBV_SRQ_MAX_WR))
		return EINVAL;
	if (kernel.on_change)
		kernel.on_change();
	if (!kernel.srq_err)
		resize_srq(core->max_wr, &resp->ring);
	return kernel.srq_err;
}

int execute_ioctl(struct ibv_context *ctx, struct ibv_command_buffer *cmd)
{
	(void)ctx;
	errno = run_resize(cmd);
	return errno;
}

int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		      struct ibv_query_srq *cmd, size_t cmd_size)
{
	(void)srq;
	(void)attr;
	(void)cmd;
	(void)cmd_size;
	return 0;
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	kernel.objects--;
	return 0;
}

int ibv_cmd_alloc_pd(struct ibv_context *ctx, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)cmd_size;
	(void)resp;
	(void)resp_size;
	kernel.objects++;
	pd->context = ctx;
	pd->handle = 5;
	return 0;
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	kernel.objects--;
	return 0;
}

struct rover_srq *fake_srq(uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr attr = { .attr = { wr, sge, 0 } };
	struct ibv_srq *srq;

	fake_context.context.device = &fake_device;
	fake_context.context.cmd_fd = FAKE_FD;
	fake_pd.pd.context = &fake_context.context;
	srq = rover_create_srq(&fake_pd.pd, &attr);
	return srq ? to_srq(srq) : NULL;
}

struct ibv_cq *fake_cq(int cqe)
{
	fake_context.context.device = &fake_device;
	fake_context.context.cmd_fd = FAKE_FD;
	return rover_create_cq(&fake_context.context, cqe, NULL, 0);
}

static struct rover_qp *qp_of_type(enum ibv_qp_type type, uint32_t wr,
				   uint32_t sge, uint32_t inl, bool ex)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { .max_send_wr = wr, .max_recv_wr = wr,
			 .max_send_sge = sge, .max_recv_sge = sge,
			 .max_inline_data = inl },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = &fake_pd.pd,
	};
	struct ibv_qp *qp;

	fake_context.context.device = &fake_device;
	fake_context.context.cmd_fd = FAKE_FD;
	if (ex) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = rover_op_all(type);
	}
	qp = rover_create_qp_ex(&fake_context.context, &attr);
	return qp ? to_qp(qp) : NULL;
}

struct rover_qp *fake_qp(uint32_t wr, uint32_t sge, uint32_t inl, bool ex)
{
	return qp_of_type(IBV_QPT_RC, wr, sge, inl, ex);
}

struct rover_qp *fake_ud_qp(uint32_t wr, bool ex)
{
	return qp_of_type(IBV_QPT_UD, wr, 2, 64, ex);
}

struct rover_qp *fake_xrc_qp(uint32_t wr, bool ex)
{
	return qp_of_type(IBV_QPT_XRC_SEND, wr, 2, 64, ex);
}

void fake_state(struct rover_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	if (!rover_modify_qp(&qp->vqp.qp, &attr, IBV_QP_STATE))
		qp->vqp.qp.state = state;
}
