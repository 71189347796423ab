// SPDX-License-Identifier: GPL-2.0
/*
 * netns - rover in each network namespace: UDP port 4791 while a link exists
 *
 * Nothing listens on a machine that merely has the module loaded, to the port or
 * to the EtherType of RoCE v1.  That one is for all namespaces at once: a frame's
 * interface tells which one it is in.
 *
 * Devices of a namespace are on a list that is read under RCU and written under a
 * mutex; so are the sockets.
 *
 * Lifetime: a namespace ends when its interfaces have ended or moved away.
 * Both unregister our devices, but asynchronously, so the end of a namespace
 * waits here for the last device to leave.
 */
#define pr_fmt(fmt) "rover: " fmt

#include <linux/udp.h>
#include <linux/wait_bit.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>

#include "dev/netns.h"
#include "rx/gro.h"
#include "rx/ingress.h"
#include "rx/nf_input.h"
#include "rx/rocev1.h"
#include "tx/nf_output.h"

static unsigned int netns_id __read_mostly;

/* Of all namespaces: one of a namespace's own could end while it is being let go. */
static DEFINE_MUTEX(lock);

/* RoCE v1 ********************************************************************/

/* Devices of all namespaces: while there are any, their frames come here. */
static DEFINE_MUTEX(frames_lock);
static unsigned int frames_users;

/* Softirq, under rcu_read_lock(). */
static int receive_frame(struct sk_buff *skb, struct net_device *ndev,
			 struct packet_type *type, struct net_device *first)
{
	rover_rocev1_receive(net_generic(dev_net(ndev), netns_id), skb);
	return 0;
}

static struct packet_type frames __read_mostly = {
	.type = cpu_to_be16(ETH_P_IBOE),
	.func = receive_frame,
};

static void open_frames(void)
{
	mutex_lock(&frames_lock);
	if (!frames_users++)
		dev_add_pack(&frames);
	mutex_unlock(&frames_lock);
}

static void close_frames(void)
{
	mutex_lock(&frames_lock);
	if (!--frames_users)
		dev_remove_pack(&frames);
	mutex_unlock(&frames_lock);
}

/* RoCE v2 ********************************************************************/

static struct socket *open_socket(struct rover_net *rnet, sa_family_t family)
{
	/* RoCEv2 has its own checksum: UDP's is zero, over IPv6 as well. */
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(ROCE_V2_UDP_DPORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = rnet,
		.encap_type = 1,
		.encap_rcv = rover_ingress_encap_rcv,
		.gro_receive = rover_gro_receive,
		.gro_complete = rover_gro_complete,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(rnet->net, &port, &sock);
	if (err)
		return ERR_PTR(err);
	setup_udp_tunnel_sock(rnet->net, sock->sk, &tunnel);
	/* Trains come in whole, by one call. */
	udp_allow_gso(sock->sk);
	return sock;
}

static void close_sockets(struct rover_net *rnet)
{
	rover_nf_output_unregister(rnet);
	rover_nf_input_unregister(rnet);
	if (rnet->sk6)
		udp_tunnel_sock_release(rnet->sk6->sk);
	if (rnet->sk4)
		udp_tunnel_sock_release(rnet->sk4->sk);
	rnet->sk6 = NULL;
	rnet->sk4 = NULL;
	/* Packets that found a socket or hook before may still be in arrive. */
	synchronize_net();
}

static int open_sockets(struct rover_net *rnet)
{
	struct socket *sock;
	int err;

	err = rover_nf_output_register(rnet);
	if (err)
		return err;
	err = rover_nf_input_register(rnet);
	if (err) {
		rover_nf_output_unregister(rnet);
		return err;
	}
	sock = open_socket(rnet, AF_INET);
	if (IS_ERR(sock)) {
		close_sockets(rnet);
		return PTR_ERR(sock);
	}
	rnet->sk4 = sock;

	sock = open_socket(rnet, AF_INET6);
	if (!IS_ERR(sock)) {
		rnet->sk6 = sock;
	} else if (PTR_ERR(sock) != -EAFNOSUPPORT) {
		close_sockets(rnet);
		return PTR_ERR(sock);
	}
	return 0;
}

/* Devices ********************************************************************/

int rover_netns_join(struct rover_dev *dev, struct net *net)
{
	struct rover_net *rnet = net_generic(net, netns_id);
	int err = 0;

	mutex_lock(&lock);
	if (!rnet->links)
		err = open_sockets(rnet);
	if (!err) {
		WRITE_ONCE(rnet->links, rnet->links + 1);
		dev->rnet = rnet;
		list_add_tail_rcu(&dev->net_node, &rnet->devs);
	}
	mutex_unlock(&lock);

	if (!err)
		open_frames();
	if (err == -EADDRINUSE)
		pr_warn("%s: UDP port %u is taken in this network namespace; is another soft-RoCE (rdma_rxe) loaded?\n",
			netdev_name(dev->ndev), ROCE_V2_UDP_DPORT);
	else if (err)
		pr_warn("%s: cannot open UDP port %u: error %d\n",
			netdev_name(dev->ndev), ROCE_V2_UDP_DPORT, err);
	return err;
}

void rover_netns_leave(struct rover_dev *dev)
{
	struct rover_net *rnet = dev->rnet;

	close_frames();
	mutex_lock(&lock);
	list_del_rcu(&dev->net_node);
	if (rnet->links == 1)
		close_sockets(rnet);
	else
		synchronize_net();
	/* The last of it that is touched: the namespace may end. */
	store_release_wake_up(&rnet->links, rnet->links - 1);
	mutex_unlock(&lock);
}

static int __net_init init_net_ns(struct net *net)
{
	struct rover_net *rnet = net_generic(net, netns_id);

	rnet->net = net;
	INIT_LIST_HEAD(&rnet->devs);
	return 0;
}

static void __net_exit exit_net_ns(struct net *net)
{
	struct rover_net *rnet = net_generic(net, netns_id);

	/* Pairs with the release in rover_netns_leave(). */
	wait_var_event(&rnet->links, !smp_load_acquire(&rnet->links));
}

static struct pernet_operations netns_ops = {
	.init = init_net_ns,
	.exit = exit_net_ns,
	.id = &netns_id,
	.size = sizeof(struct rover_net),
};

int rover_netns_init(void)
{
	return register_pernet_subsys(&netns_ops);
}

void rover_netns_exit(void)
{
	unregister_pernet_subsys(&netns_ops);
}
