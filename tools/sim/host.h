/* SPDX-License-Identifier: GPL-2.0 */
/* host - a receiving CPU: batches of packets, as rx/netrx.c makes them */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include <sim/kernel.h>

/* What receivers have seen beside what rover counts. */
struct host_counts {
	u64 batches;
	u64 packets;
	u64 spurious;	/* data that was received before */
};

extern struct host_counts host_counts;

void host_receive(struct sk_buff *skb);

/*
 * If the CPU of @end does something else now, return when it is back; else 0.
 * Packets, timers and the program wait until then.
 */
u64 host_away(struct end *end);

/* Drop what has arrived. */
void host_forget(struct end *end);

#endif /* SIM_HOST_H */
