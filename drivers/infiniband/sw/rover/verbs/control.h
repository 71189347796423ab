/* SPDX-License-Identifier: GPL-2.0 */
/*
 * control - the verbs of queue pairs
 *
 * Door of qp.c (create, destroy, query), qp_modify.c and post.c.  Signatures
 * are those of struct ib_device_ops.
 */
#ifndef ROVER_CONTROL_H
#define ROVER_CONTROL_H

#include <rdma/ib_verbs.h>

/**
 * rover_qp_create() - ib_device_ops.create_qp
 * @ib: the core's queue pair, zeroed but for what the core fills in
 * @init: what is wanted; @init->cap becomes what is granted
 * @udata: of a program, NULL for kernel users
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for kinds and flags rover does not have, -EINVAL for
 * sizes beyond those of the device, -ENOMEM, -EFAULT.
 */
int rover_qp_create(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);

/**
 * rover_qp_destroy() - ib_device_ops.destroy_qp
 * @ib: created; no other verb on it is under way
 * @udata: of a program, NULL for kernel users
 *
 * Afterwards nothing of rover touches the completion queues, the protection
 * domain, the rings or @ib on behalf of this queue pair.
 *
 * Context: may sleep.
 * Return: 0.
 */
int rover_qp_destroy(struct ib_qp *ib, struct ib_udata *udata);

/**
 * rover_qp_modify() - ib_device_ops.modify_qp
 * @ib: created
 * @attr: new attributes
 * @mask: which of them; IB_QP_*
 * @udata: of a program, NULL for kernel users; nothing is passed in it
 *
 * All or nothing: what is wrong is found before anything changes.
 *
 * A queue pair that goes to RESET forgets what was posted, and the kernel
 * stores zero in head and tail of both rings: the program's provider sets its
 * own copies to zero when the verb has succeeded.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for transitions and values that IBTA does not allow,
 * -EOPNOTSUPP for attributes rover does not have, -EBUSY, -ENOMEM.
 */
int rover_qp_modify(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);

/**
 * rover_qp_query() - ib_device_ops.query_qp
 * @ib: created; old cores may be destroying it meanwhile
 * @attr: to be filled in; all of it
 * @mask: not looked at
 * @init: to be filled in
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL when it was being destroyed.
 */
int rover_qp_query(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);

/**
 * rover_post_send() - ib_device_ops.post_send, for kernel users
 * @ib: not a program's
 * @wr: list of work requests
 * @bad_wr: the first that was not posted, on failure
 *
 * Context: any.
 * Return: 0; -EINVAL for wrong states and work requests, -EOPNOTSUPP for
 * opcodes rover does not have, -ENOMEM when the queue is full.
 */
int rover_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);

/**
 * rover_post_recv() - ib_device_ops.post_recv, for kernel users
 * @ib: not a program's
 * @wr: list of work requests
 * @bad_wr: the first that was not posted, on failure
 *
 * Context: any.
 * Return: as rover_post_send().
 */
int rover_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);

/**
 * rover_post_srq_recv() - ib_device_ops.post_srq_recv, for kernel users
 * @ib: not a program's
 * @wr: list of work requests
 * @bad_wr: the first that was not posted, on failure
 *
 * Context: any.
 * Return: 0; -EINVAL for wrong work requests, -ENOMEM when the queue is full.
 */
int rover_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

#endif /* ROVER_CONTROL_H */
