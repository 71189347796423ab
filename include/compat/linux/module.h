/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_LINUX_MODULE_H
#define ROVER_COMPAT_LINUX_MODULE_H

#include <linux/version.h>
#include_next <linux/module.h>

/* 6.13 made the name a string. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns)	MODULE_INFO(import_ns, ns)
#endif

#endif /* ROVER_COMPAT_LINUX_MODULE_H */
