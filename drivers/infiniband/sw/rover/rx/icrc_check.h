/* SPDX-License-Identifier: GPL-2.0 */
/* icrc_check - verify the ICRC of a received packet */
#ifndef ROVER_ICRC_CHECK_H
#define ROVER_ICRC_CHECK_H

#include "core/stats.h"
#include "rx/packet_check.h"

/**
 * rover_icrc_check() - verify the ICRC of a packet
 * @a: has passed rover_packet_check_headers(); for zero-copy payload
 *	@a->pkt.zcopy is set, for a long GSO skb @a->pkt.packets
 * @stats: counters for packets whose payload need not be summed
 * @headerless: increased by packets that have no BTH of their own
 * Context: softirq or worker, under rcu_read_lock().
 * Return: false for a wrong ICRC.
 */
bool rover_icrc_check(struct rover_rx_pkt *a,
		      struct rover_stats __percpu *stats,
		      unsigned int *headerless);

#endif /* ROVER_ICRC_CHECK_H */
