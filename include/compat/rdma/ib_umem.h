/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_RDMA_IB_UMEM_H
#define ROVER_COMPAT_RDMA_IB_UMEM_H

#include <linux/version.h>
#include_next <rdma/ib_umem.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define ib_umem_get_va ib_umem_get
#endif

#endif /* ROVER_COMPAT_RDMA_IB_UMEM_H */
