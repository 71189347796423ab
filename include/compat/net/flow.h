/* SPDX-License-Identifier: GPL-2.0 */
/* Newer kernels have flowi4_dscp of type dscp_t instead of flowi4_tos. */
#ifndef ROVER_COMPAT_NET_FLOW_H
#define ROVER_COMPAT_NET_FLOW_H

#include_next <net/flow.h>
#include <net/inet_dscp.h>

static inline void rover_flowi4_set_tos(struct flowi4 *fl, u8 tos)
{
#ifdef flowi4_dscp
	fl->flowi4_dscp = inet_dsfield_to_dscp(tos);
#else
	fl->flowi4_tos = tos & INET_DSCP_MASK;
#endif
}

#endif /* ROVER_COMPAT_NET_FLOW_H */
