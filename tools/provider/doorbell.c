// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * doorbell.c: enters the kernel when nobody there looks at a ring. The kernel
 * does the work in our context before it returns, or soon after it where it has
 * seen that more is coming.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "rover.h"

/**
 * rover_doorbell_init() - write the request, once and for all
 * @db: to be filled in
 * @qpn: number of the queue pair
 */
void rover_doorbell_init(struct rover_doorbell *db, uint32_t qpn)
{
	struct ib_uverbs_attr *attr = db->hdr.attrs;

	memset(db, 0, sizeof(*db));
	db->hdr.length = sizeof(db->hdr) + sizeof(*attr);
	db->hdr.object_id = ROVER_OBJECT_DOORBELL;
	db->hdr.method_id = ROVER_METHOD_DOORBELL_RING;
	db->hdr.num_attrs = 1;
	db->hdr.driver_id = ROVER_DRIVER_ID;

	/* Input of up to eight bytes travels inside the attribute. */
	attr->attr_id = ROVER_ATTR_DOORBELL_QPN;
	attr->len = sizeof(qpn);
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	memcpy(&attr->data, &qpn, sizeof(qpn));
}

/**
 * rover_doorbell_ring() - have the kernel look at both queues
 * @qp: something was published; no lock need be held
 *
 * Return: 0 or a negative errno, which is for the program: -EIO after the device has
 * gone. What was published stays so.
 */
int rover_doorbell_ring(const struct rover_qp *qp)
{
	int ret;

	do {
		ret = ioctl(qp->vqp.qp.context->cmd_fd, RDMA_VERBS_IOCTL,
			    &qp->doorbell.hdr);
	} while (ret && errno == EINTR);
	return ret ? -errno : 0;
}
