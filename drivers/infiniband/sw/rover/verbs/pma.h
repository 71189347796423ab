/* SPDX-License-Identifier: GPL-2.0 */
/* pma - performance management agent */
#ifndef ROVER_PMA_H
#define ROVER_PMA_H

#include <rdma/ib_verbs.h>

/**
 * rover_pma_process() - ib_device_ops.process_mad
 * @ib: registered device
 * @flags: unused
 * @port: 1
 * @wc: NULL if the core asks for sysfs
 * @grh: GRH or NULL
 * @in: untrusted MAD
 * @out: zeroed, for the reply
 * @out_size: of @out
 * @out_pkey_index: unchanged
 * Context: process.
 * Return: IB_MAD_RESULT_SUCCESS, with IB_MAD_RESULT_REPLY if @out is valid.
 */
int rover_pma_process(struct ib_device *ib, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);

#endif /* ROVER_PMA_H */
