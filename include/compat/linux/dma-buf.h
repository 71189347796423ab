/* SPDX-License-Identifier: GPL-2.0 */
/* Since 6.2 there are two of each: for who holds the lock, and for who does not. */
#ifndef ROVER_COMPAT_LINUX_DMA_BUF_H
#define ROVER_COMPAT_LINUX_DMA_BUF_H

#include <linux/version.h>
#include_next <linux/dma-buf.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define dma_buf_vmap_unlocked	dma_buf_vmap
#define dma_buf_vunmap_unlocked	dma_buf_vunmap
#endif

#endif /* ROVER_COMPAT_LINUX_DMA_BUF_H */
