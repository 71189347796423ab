/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dm - device memory: what a program may keep at the device
 *
 * Of a device made of software it is the machine's memory, in pages that the
 * program maps.  It is of use to programs that are written for it: without
 * registering anything of theirs, at addresses that begin with zero.
 */
#ifndef ROVER_DM_H
#define ROVER_DM_H

#include <rdma/uverbs_ioctl.h>

/* Bytes of one allocation; how many there are is up to memory cgroups. */
#define ROVER_MAX_DM	(1U << 20)

/* The method of our own by which a program learns what to map. */
extern const struct uapi_definition rover_dm_defs[];

/* Verbs; signatures are those of struct ib_device_ops. */
struct ib_dm *rover_dm_alloc(struct ib_device *ib, struct ib_ucontext *ucontext,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs);
int rover_dm_dealloc(struct ib_dm *ib, struct uverbs_attr_bundle *attrs);
struct ib_mr *rover_dm_reg_mr(struct ib_pd *pd, struct ib_dm *ib,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs);

#endif /* ROVER_DM_H */
