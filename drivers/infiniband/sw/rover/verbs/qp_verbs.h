/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qp_verbs - the verbs of queue pairs: qp.c, qp_modify.c and post.c
 */
#ifndef ROVER_QP_VERBS_H
#define ROVER_QP_VERBS_H

#include <rdma/ib_verbs.h>

/**
 * rover_qp_create() - ib_device_ops.create_qp
 * @ib: queue pair
 * @init: attributes; @init->cap returns what is granted
 * @udata: NULL for kernel QPs
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for unsupported types and flags, -EINVAL for invalid
 * sizes, -EPERM, -ENOMEM, -EBUSY, -EFAULT.
 */
int rover_qp_create(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);

/**
 * rover_qp_destroy() - ib_device_ops.destroy_qp
 * @ib: queue pair
 * @udata: unused
 *
 * On return rover no longer touches @ib or its CQs, PD and rings.
 *
 * Context: may sleep.
 * Return: 0.
 */
int rover_qp_destroy(struct ib_qp *ib, struct ib_udata *udata);

/**
 * rover_qp_modify() - ib_device_ops.modify_qp
 * @ib: queue pair
 * @attr: new attributes
 * @mask: valid fields of @attr
 * @udata: unused
 *
 * An error changes nothing.  RESET drops all posted requests and zeroes head
 * and tail of both rings; the provider then zeroes its own copies.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for what IBTA forbids, -EOPNOTSUPP for unsupported
 * attributes, -EBUSY, -ENOMEM.
 */
int rover_qp_modify(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);

/**
 * rover_qp_query() - ib_device_ops.query_qp
 * @ib: queue pair; cores before 7.2 may be destroying it
 * @attr: filled in, PSNs only if in @mask
 * @mask: requested attributes
 * @init: filled in
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL if @ib is being destroyed.
 */
int rover_qp_query(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);

/**
 * rover_post_send() - ib_device_ops.post_send
 * @ib: kernel QP
 * @wr: work requests
 * @bad_wr: on error, the first one not posted
 *
 * Context: any.
 * Return: 0; -EINVAL, -EOPNOTSUPP for unsupported opcodes, -ENOMEM if the
 * queue is full.
 */
int rover_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);

/**
 * rover_post_recv() - ib_device_ops.post_recv
 * @ib: kernel QP
 * @wr: work requests
 * @bad_wr: on error, the first one not posted
 *
 * Context: any.
 * Return: 0; -EINVAL, -ENOMEM if the queue is full.
 */
int rover_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);

/**
 * rover_post_srq_recv() - ib_device_ops.post_srq_recv
 * @ib: kernel SRQ
 * @wr: work requests
 * @bad_wr: on error, the first one not posted
 *
 * Context: any.
 * Return: 0; -EINVAL, -ENOMEM if the queue is full.
 */
int rover_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

#endif /* ROVER_QP_VERBS_H */
