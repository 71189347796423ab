/* SPDX-License-Identifier: GPL-2.0 */
/* run - one simulation, from the options to its results */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>

/* Return false if a rule was broken. */
bool run_once(bool report);

#endif /* SIM_RUN_H */
