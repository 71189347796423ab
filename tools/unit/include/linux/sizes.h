/* SPDX-License-Identifier: GPL-2.0 */
/* sizes - as in the kernel */
#ifndef SHIM_SIZES_H
#define SHIM_SIZES_H

#define SZ_1K	0x400
#define SZ_16K	0x4000
#define SZ_64K	0x10000
#define SZ_1M	0x100000
#define SZ_2M	0x200000
#define SZ_16M	0x1000000

#endif /* SHIM_SIZES_H */
