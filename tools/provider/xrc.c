// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * xrc.c: XRC domains, which programs share by a file. What is in a domain is made
 * elsewhere: shared receive queues in srq.c, queue pairs in qp.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "rover.h"

/**
 * rover_open_xrcd() - ibv_open_xrcd()
 * @ctx: context
 * @attr: the file, and whether the domain may be new
 */
struct ibv_xrcd *rover_open_xrcd(struct ibv_context *ctx,
				 struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp = { 0 };
	struct ibv_open_xrcd cmd = { 0 };
	struct verbs_xrcd *xrcd = calloc(1, sizeof(*xrcd));
	int err;

	if (!xrcd)
		return NULL;
	err = ibv_cmd_open_xrcd(ctx, xrcd, sizeof(*xrcd), attr, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(xrcd);
		errno = err;
		return NULL;
	}
	return &xrcd->xrcd;
}

/**
 * rover_close_xrcd() - ibv_close_xrcd()
 * @ibxrcd: domain
 *
 * Return: 0 or an errno; EBUSY as long as something of this program's is in it.
 */
int rover_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int err = ibv_cmd_close_xrcd(xrcd);

	if (!err)
		free(xrcd);
	return err;
}
