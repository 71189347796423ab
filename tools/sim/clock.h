/* SPDX-License-Identifier: GPL-2.0 */
/* clock - virtual time and its events */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <sim/kernel.h>

/* Call @fn(@arg) at @at; events of one time come in the order of calls. */
u64 clock_at(u64 at, void (*fn)(void *arg), void *arg);

/* Run the next event; return false if there is none. */
bool clock_step(void);

/* Forget all events, and begin again. */
void clock_reset(void);

#endif /* SIM_CLOCK_H */
