/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pma - what the performance management agent of a port answers
 */
#ifndef ROVER_PMA_H
#define ROVER_PMA_H

#include <rdma/ib_verbs.h>

/**
 * rover_pma_process() - ib_device_ops.process_mad
 * @ib: registered device
 * @flags: not looked at
 * @port: 1
 * @wc: completion it came with; NULL when the core itself asks, for sysfs
 * @grh: header it came with, or NULL
 * @in: a management datagram, from anybody
 * @out: zeroed, for the answer
 * @out_size: of @out
 * @out_pkey_index: not changed
 *
 * Context: process.
 * Return: IB_MAD_RESULT_SUCCESS, with IB_MAD_RESULT_REPLY when @out is to be
 * sent; without it the datagram is somebody else's.
 */
int rover_pma_process(struct ib_device *ib, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);

#endif /* ROVER_PMA_H */
