/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bitfield - what stands under a mask
 */
#ifndef UNIT_LINUX_BITFIELD_H
#define UNIT_LINUX_BITFIELD_H

#define FIELD_GET(mask, reg)	(((reg) & (mask)) >> __builtin_ctzl(mask))
#define FIELD_PREP(mask, val)	(((unsigned long)(val) << __builtin_ctzl(mask)) & (mask))

#endif /* UNIT_LINUX_BITFIELD_H */
