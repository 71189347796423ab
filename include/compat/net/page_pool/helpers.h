/* SPDX-License-Identifier: GPL-2.0 */
/* 6.6 split the header of page pools. */
#ifndef ROVER_COMPAT_NET_PAGE_POOL_HELPERS_H
#define ROVER_COMPAT_NET_PAGE_POOL_HELPERS_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#include <net/page_pool.h>
#else
#include_next <net/page_pool/helpers.h>
#endif

#endif /* ROVER_COMPAT_NET_PAGE_POOL_HELPERS_H */
