/* SPDX-License-Identifier: GPL-2.0 */
/* ladder - a line for each packet and trace event */
#ifndef SIM_LADDER_H
#define SIM_LADDER_H

#include <sim/kernel.h>

void ladder_packet(const struct sk_buff *skb, const char *what);

#endif /* SIM_LADDER_H */
