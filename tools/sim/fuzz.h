/* SPDX-License-Identifier: GPL-2.0 */
/* fuzz - random networks and workloads, by classes */
#ifndef SIM_FUZZ_H
#define SIM_FUZZ_H

#include <stdbool.h>
#include <linux/types.h>

/* Set the options of a seed of a class; return false if there is none. */
bool fuzz_choose(const char *name, u64 seed);

/* Run seeds of one class, or of all, and print KTAP; return the exit status. */
int fuzz_run(int seconds, const char *name);

void fuzz_print_classes(void);

#endif /* SIM_FUZZ_H */
