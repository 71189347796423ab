/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Verbs whose signature in struct ib_device_ops depends on the version.  The
 * driver has the newest one; here each gets a name for this kernel.  Include
 * after the headers that declare the verbs.
 */
#ifndef ROVER_COMPAT_VERBS_OPS_H
#define ROVER_COMPAT_VERBS_OPS_H

#include <linux/version.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
static inline int rover_op_create_cq(struct ib_cq *cq,
				     const struct ib_cq_init_attr *attr,
				     struct ib_udata *udata)
{
	return rover_cq_create(cq, attr, udata ?
			rdma_udata_to_uverbs_attr_bundle(udata) : NULL);
}
#else
#define rover_op_create_cq	rover_cq_create
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define resize_user_cq		resize_cq

static inline int rover_op_resize_cq(struct ib_cq *cq, int cqe,
				     struct ib_udata *udata)
{
	/* The newer core checks this. */
	if (!udata)
		return -EOPNOTSUPP;
	if (cqe <= 0)
		return -EINVAL;
	return rover_cq_resize(cq, cqe, udata);
}
#else
#define rover_op_resize_cq	rover_cq_resize
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
static inline struct ib_mr *rover_op_reg_user_mr(struct ib_pd *pd, u64 start,
						 u64 length, u64 iova,
						 int access,
						 struct ib_udata *udata)
{
	return rover_mr_reg_user(pd, start, length, iova, access, NULL, udata);
}
#else
#define rover_op_reg_user_mr	rover_mr_reg_user
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
static inline struct ib_mr *
rover_op_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 iova,
			    int fd, int access, struct ib_udata *udata)
{
	return rover_mr_reg_dmabuf(pd, offset, length, iova, fd, access, NULL,
				   rdma_udata_to_uverbs_attr_bundle(udata));
}
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
static inline struct ib_mr *
rover_op_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 iova,
			    int fd, int access,
			    struct uverbs_attr_bundle *attrs)
{
	return rover_mr_reg_dmabuf(pd, offset, length, iova, fd, access, NULL,
				   attrs);
}
#else
#define rover_op_reg_user_mr_dmabuf	rover_mr_reg_dmabuf
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
static inline int rover_op_counter_bind(struct rdma_counter *counter,
					struct ib_qp *qp)
{
	return rover_counter_bind(counter, qp, 1);
}

static inline int rover_op_counter_unbind(struct ib_qp *qp)
{
	return rover_counter_unbind(qp, 1);
}

#define ROVER_OP_COUNTER
#else
#define rover_op_counter_bind	rover_counter_bind
#define rover_op_counter_unbind	rover_counter_unbind
#define ROVER_OP_COUNTER						\
	.size_rdma_counter = sizeof(struct rdma_counter),		\
	.counter_init = rover_counter_init,
#endif

/* Before 6.7 the RDMA core did not ask drivers about SRQs. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define ROVER_OP_FILL_RES_SRQ_ENTRY
#else
#define ROVER_OP_FILL_RES_SRQ_ENTRY	.fill_res_srq_entry = rover_restrack_srq,
#endif

/* Before 6.12 users such as SMC asked the driver for a port's netdev. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
static inline struct net_device *rover_op_get_netdev(struct ib_device *ib,
						     u32 port)
{
	struct net_device *ndev = rover_dev(ib)->ndev;

	dev_hold(ndev);
	return ndev;
}

#define ROVER_OP_GET_NETDEV	.get_netdev = rover_op_get_netdev,
#else
#define ROVER_OP_GET_NETDEV
#endif

#endif /* ROVER_COMPAT_VERBS_OPS_H */
