/* SPDX-License-Identifier: GPL-2.0 */
/*
 * string - what the kernel has under this name
 */
#ifndef UNIT_LINUX_STRING_H
#define UNIT_LINUX_STRING_H

#include <string.h>

#endif /* UNIT_LINUX_STRING_H */
