/* SPDX-License-Identifier: GPL-2.0 */
/* load - the programs: they post messages and receives */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include <sim/kernel.h>

struct end;

void load_start(struct end *end);
/* A completion was written: the program will see it. */
void load_wake(struct end *end);
/* Receives that are posted at a time. */
u32 load_receives(void);

#endif /* SIM_LOAD_H */
