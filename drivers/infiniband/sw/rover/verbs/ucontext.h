/* SPDX-License-Identifier: GPL-2.0 */
/* ucontext - device contexts of userspace */
#ifndef ROVER_UCONTEXT_H
#define ROVER_UCONTEXT_H

#include <rdma/uverbs_ioctl.h>

/* rover's own uverbs methods. */
extern const struct uapi_definition rover_ucontext_defs[];

/* ib_device_ops */
int rover_ucontext_alloc(struct ib_ucontext *ib, struct ib_udata *udata);
void rover_ucontext_dealloc(struct ib_ucontext *ib);
void rover_ucontext_disassociate(struct ib_ucontext *ib);
int rover_ucontext_query(struct ib_ucontext *ib,
			 struct uverbs_attr_bundle *attrs);

#endif /* ROVER_UCONTEXT_H */
