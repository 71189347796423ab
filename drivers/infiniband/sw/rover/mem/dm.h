/* SPDX-License-Identifier: GPL-2.0 */
/* dm - device memory: host pages that userspace maps */
#ifndef ROVER_DM_H
#define ROVER_DM_H

#include <rdma/uverbs_ioctl.h>

/* Bytes per allocation; memory cgroups limit the total. */
#define ROVER_MAX_DM	(1U << 20)

/* Driver-specific method that returns the mmap() offset. */
extern const struct uapi_definition rover_dm_defs[];

/* Verbs, as in struct ib_device_ops. */
struct ib_dm *rover_dm_alloc(struct ib_device *ib, struct ib_ucontext *ucontext,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs);
int rover_dm_dealloc(struct ib_dm *ib, struct uverbs_attr_bundle *attrs);
struct ib_mr *rover_dm_reg_mr(struct ib_pd *pd, struct ib_dm *ib,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs);

#endif /* ROVER_DM_H */
