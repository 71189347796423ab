/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel - the kernel's headers, as far as the transport needs them
 *
 * The Makefile generates linux/NAME.h that include this one, except those in
 * tools/unit/include.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>
#include <asm/byteorder.h>
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include <sim/lang.h>
#include <sim/alloc.h>
#include <sim/bitops.h>
#include <sim/list.h>
#include <sim/lock.h>
#include <sim/time.h>
#include <sim/skb.h>
#include <sim/opaque.h>

#endif /* SIM_KERNEL_H */
