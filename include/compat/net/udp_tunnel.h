/* SPDX-License-Identifier: GPL-2.0 */
/* Up to 7.1 UDP tunnels took a struct socket instead of a struct sock. */
#ifndef ROVER_COMPAT_NET_UDP_TUNNEL_H
#define ROVER_COMPAT_NET_UDP_TUNNEL_H

#include_next <net/udp_tunnel.h>

#define setup_udp_tunnel_sock(ns, s, cfg)				\
	setup_udp_tunnel_sock(ns, _Generic(&setup_udp_tunnel_sock,	\
		void (*)(struct net *, struct socket *,			\
			 struct udp_tunnel_sock_cfg *): (s)->sk_socket,	\
		default: (s)), cfg)

#define udp_tunnel_sock_release(s)					\
	udp_tunnel_sock_release(_Generic(&udp_tunnel_sock_release,	\
		void (*)(struct socket *): (s)->sk_socket,		\
		default: (s)))

#endif /* ROVER_COMPAT_NET_UDP_TUNNEL_H */
