/* SPDX-License-Identifier: GPL-2.0 */
/* advise - prefetch of ODP pages */
#ifndef ROVER_ADVISE_H
#define ROVER_ADVISE_H

#include <rdma/ib_verbs.h>

struct uverbs_attr_bundle;

/* Verb, as in struct ib_device_ops. */
int rover_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 num,
		    struct uverbs_attr_bundle *attrs);

#endif /* ROVER_ADVISE_H */
