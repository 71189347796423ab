/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 6.2 added variants for callers that do not hold the lock. 7.1 renamed
 * move_notify to invalidate_mappings.
 */
#ifndef ROVER_COMPAT_LINUX_DMA_BUF_H
#define ROVER_COMPAT_LINUX_DMA_BUF_H

#include <linux/version.h>
#include_next <linux/dma-buf.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define dma_buf_vmap_unlocked	dma_buf_vmap
#define dma_buf_vunmap_unlocked	dma_buf_vunmap
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define invalidate_mappings		move_notify
#define dma_buf_invalidate_mappings	dma_buf_move_notify
#endif

#endif /* ROVER_COMPAT_LINUX_DMA_BUF_H */
