/* SPDX-License-Identifier: GPL-2.0 */
/* qp_verbs - verbs of queue pairs: qp.c, qp_modify.c, post.c */
#ifndef ROVER_QP_VERBS_H
#define ROVER_QP_VERBS_H

#include <rdma/ib_verbs.h>

/**
 * rover_qp_create() - ib_device_ops.create_qp
 * @ib: queue pair
 * @init: attributes; @init->cap returns granted limits
 * @udata: NULL for kernel QPs
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP, -EINVAL, -EPERM, -ENOMEM, -EBUSY, -EFAULT.
 */
int rover_qp_create(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);

/**
 * rover_qp_destroy() - ib_device_ops.destroy_qp
 * @ib: queue pair
 * @udata: unused
 *
 * Afterwards rover does not touch @ib, its CQs, PD and rings.
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
 * and tail of both rings; then the provider zeroes its copies.
 * Context: may sleep.
 * Return: 0; -EINVAL, -EOPNOTSUPP, -EBUSY, -ENOMEM.
 */
int rover_qp_modify(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);

/**
 * rover_qp_query() - ib_device_ops.query_qp
 * @ib: queue pair; before 7.2 perhaps being destroyed
 * @attr: filled in, PSNs only on request
 * @mask: requested attributes
 * @init: filled in
 * Context: may sleep.
 * Return: 0, or -EINVAL (being destroyed).
 */
int rover_qp_query(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);

/**
 * rover_post_send() - ib_device_ops.post_send
 * @ib: kernel QP
 * @wr: work requests
 * @bad_wr: on error, first one not posted
 * Context: any.
 * Return: 0; -EINVAL, -EOPNOTSUPP, -ENOMEM (queue full).
 */
int rover_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);

/**
 * rover_post_recv() - ib_device_ops.post_recv
 * @ib: kernel QP
 * @wr: work requests
 * @bad_wr: on error, first one not posted
 * Context: any.
 * Return: 0; -EINVAL, -ENOMEM (queue full).
 */
int rover_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);

/**
 * rover_post_srq_recv() - ib_device_ops.post_srq_recv
 * @ib: kernel SRQ
 * @wr: work requests
 * @bad_wr: on error, first one not posted
 * Context: any.
 * Return: 0; -EINVAL, -ENOMEM (queue full).
 */
int rover_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

#endif /* ROVER_QP_VERBS_H */
