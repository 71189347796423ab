/* SPDX-License-Identifier: GPL-2.0 */
/* report - results of a run */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

struct pair;

void report_print(struct pair **pairs);

/* Print what senders have done since the last call. */
void report_sample(struct pair **pairs);

#endif /* SIM_REPORT_H */
