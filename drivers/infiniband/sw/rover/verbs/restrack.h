/* SPDX-License-Identifier: GPL-2.0 */
/* restrack - driver details of `rdma resource show -d' */
#ifndef ROVER_RESTRACK_H
#define ROVER_RESTRACK_H

#include <rdma/ib_verbs.h>

struct sk_buff;

/* ib_device_ops.fill_*_entry; the core holds a reference. */
int rover_restrack_qp(struct sk_buff *msg, struct ib_qp *ib);
int rover_restrack_cq(struct sk_buff *msg, struct ib_cq *ib);
int rover_restrack_mr(struct sk_buff *msg, struct ib_mr *ib);
int rover_restrack_mr_stat(struct sk_buff *msg, struct ib_mr *ib);
int rover_restrack_srq(struct sk_buff *msg, struct ib_srq *ib);

#endif /* ROVER_RESTRACK_H */
