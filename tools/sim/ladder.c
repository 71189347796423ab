// SPDX-License-Identifier: GPL-2.0
/* ladder - a line for each packet and trace event */
#include <stdio.h>

#include "ladder.h"
#include "pair.h"
#include "wire/opcode.h"
#include "wire/wire.h"

bool sim_tracing;

static void ladder_time(void)
{
	printf("%12.3f us ", (double)(clock_now - NSEC_PER_SEC) / NSEC_PER_USEC);
}

void ladder_packet(const struct sk_buff *skb, const char *what)
{
	const struct rover_bth *bth = (const void *)skb->data;
	const struct rover_opcode *op = rover_opcode_get(bth->opcode);
	struct rover_aeth aeth;

	ladder_time();
	printf("%-4s %s %-4s %-8s %s psn %u%s%s%s%s",
	       skb->to->peer->name, skb->to->back ? "-->" : "<--",
	       skb->to->name, what, op->name, rover_bth_psn(bth),
	       rover_bth_ackreq(bth) ? " ackreq" : "",
	       skb->again ? " again" : "", skb->copy ? " copy" : "",
	       skb->ce ? " ce" : "");
	if (op->flags & ROVER_OP_AETH) {
		memcpy(&aeth, skb->data + op->ext, sizeof(aeth));
		printf(" syndrome %#x msn %u", rover_aeth_syndrome(&aeth),
		       (u32)(be32_to_cpu(aeth.syndrome_msn) & ROVER_24BIT));
	}
	putchar('\n');
}

void sim_trace_psn(const char *name, u32 qpn, u32 psn, u32 arg)
{
	ladder_time();
	printf("qpn %u %s psn %u arg %#x\n", qpn, name, psn, arg);
}
