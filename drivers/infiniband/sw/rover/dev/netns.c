// SPDX-License-Identifier: GPL-2.0
/*
 * netns - sockets, hooks and devices of a namespace
 *
 * UDP port 4791 is open while the namespace has a device.  One packet type for
 * RoCE v1 serves all namespaces.  Sockets and device list change under
 * netns_mutex; the list is read under RCU.
 *
 * Lifetime: an interface that goes or moves unregisters its device
 * asynchronously; the namespace's exit waits for its last device.
 */
#define pr_fmt(fmt) "rover: " fmt

#include <linux/udp.h>
#include <linux/wait_bit.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>

#include "dev/cc_admin.h"
#include "dev/netns.h"
#include "rc/cc.h"
#include "rx/gro.h"
#include "rx/nf_input.h"
#include "rx/rocev1.h"
#include "rx/steer.h"
#include "tx/nf_output.h"

static unsigned int netns_id __read_mostly;

/* Global: struct rover_net may be freed during mutex_unlock(). */
static DEFINE_MUTEX(netns_mutex);

/* RoCE v1 ********************************************************************/

static DEFINE_MUTEX(netns_rocev1_mutex);
static unsigned int netns_rocev1_users;

/* Softirq, under rcu_read_lock(). */
static int netns_receive_rocev1(struct sk_buff *skb, struct net_device *ndev,
				struct packet_type *type,
				struct net_device *orig_dev)
{
	rover_rocev1_receive(net_generic(dev_net(ndev), netns_id), skb);
	return 0;
}

static struct packet_type netns_rocev1_type __read_mostly = {
	.type = cpu_to_be16(ETH_P_IBOE),
	.func = netns_receive_rocev1,
};

static void netns_open_rocev1(void)
{
	mutex_lock(&netns_rocev1_mutex);
	if (!netns_rocev1_users++)
		dev_add_pack(&netns_rocev1_type);
	mutex_unlock(&netns_rocev1_mutex);
}

static void netns_close_rocev1(void)
{
	mutex_lock(&netns_rocev1_mutex);
	if (!--netns_rocev1_users)
		dev_remove_pack(&netns_rocev1_type);
	mutex_unlock(&netns_rocev1_mutex);
}

/* RoCE v2 ********************************************************************/

static struct socket *netns_open_socket(struct rover_net *rnet,
					sa_family_t family)
{
	/* The ICRC replaces the UDP checksum, over IPv6 too. */
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(ROCE_V2_UDP_DPORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = rnet,
		.encap_type = 1,
		.encap_rcv = rover_steer_encap_rcv,
		.gro_receive = rover_gro_receive,
		.gro_complete = rover_gro_complete,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(rnet->net, &port, &sock);
	if (err)
		return ERR_PTR(err);
	setup_udp_tunnel_sock(rnet->net, sock->sk, &tunnel);
	/* Receive a train as one skb. */
	udp_allow_gso(sock->sk);
	return sock;
}

static void netns_close_sockets(struct rover_net *rnet)
{
	rover_nf_output_unregister(rnet);
	rover_nf_input_unregister(rnet);
	if (rnet->sk6)
		udp_tunnel_sock_release(rnet->sk6->sk);
	if (rnet->sk4)
		udp_tunnel_sock_release(rnet->sk4->sk);
	rnet->sk6 = NULL;
	rnet->sk4 = NULL;
	/* Packets may have found a socket or hook before. */
	synchronize_net();
}

static int netns_open_sockets(struct rover_net *rnet)
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
	sock = netns_open_socket(rnet, AF_INET);
	if (IS_ERR(sock)) {
		netns_close_sockets(rnet);
		return PTR_ERR(sock);
	}
	rnet->sk4 = sock;

	sock = netns_open_socket(rnet, AF_INET6);
	if (!IS_ERR(sock)) {
		rnet->sk6 = sock;
	} else if (PTR_ERR(sock) != -EAFNOSUPPORT) {
		netns_close_sockets(rnet);
		return PTR_ERR(sock);
	}
	return 0;
}

/* Devices ********************************************************************/

int rover_netns_join(struct rover_dev *dev, struct net *net)
{
	struct rover_net *rnet = net_generic(net, netns_id);
	int err = 0;

	mutex_lock(&netns_mutex);
	if (!rnet->devices)
		err = netns_open_sockets(rnet);
	if (!err) {
		WRITE_ONCE(rnet->devices, rnet->devices + 1);
		dev->rnet = rnet;
		list_add_tail_rcu(&dev->net_node, &rnet->devs);
	}
	mutex_unlock(&netns_mutex);

	if (!err)
		netns_open_rocev1();
	if (err == -EADDRINUSE)
		pr_warn("%s: UDP port %u is in use in this network namespace: unload rdma_rxe or stop the program that has it\n",
			netdev_name(dev->ndev), ROCE_V2_UDP_DPORT);
	else if (err)
		pr_warn("%s: cannot open UDP port %u: error %d\n",
			netdev_name(dev->ndev), ROCE_V2_UDP_DPORT, err);
	return err;
}

void rover_netns_leave(struct rover_dev *dev)
{
	struct rover_net *rnet = dev->rnet;

	netns_close_rocev1();
	mutex_lock(&netns_mutex);
	list_del_rcu(&dev->net_node);
	if (rnet->devices == 1)
		netns_close_sockets(rnet);
	else
		synchronize_net();
	/*
	 * Pairs with smp_load_acquire() in netns_exit_net(): @rnet is unused.
	 */
	store_release_wake_up(&rnet->devices, rnet->devices - 1);
	mutex_unlock(&netns_mutex);
}

static int __net_init netns_init_net(struct net *net)
{
	struct rover_net *rnet = net_generic(net, netns_id), *init_rnet;

	rnet->net = net;
	INIT_LIST_HEAD(&rnet->devs);
	/* As those of TCP, a new namespace takes what the initial one has. */
	init_rnet = net_generic(&init_net, netns_id);
	rnet->cc_ops = READ_ONCE(init_rnet->cc_ops) ?: rover_cc_default;
	return rover_cc_admin_init(rnet);
}

static void __net_exit netns_exit_net(struct net *net)
{
	struct rover_net *rnet = net_generic(net, netns_id);

	/* Pairs with store_release_wake_up() in rover_netns_leave(). */
	wait_var_event(&rnet->devices, !smp_load_acquire(&rnet->devices));
	rover_cc_admin_exit(rnet);
}

static struct pernet_operations netns_ops = {
	.init = netns_init_net,
	.exit = netns_exit_net,
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
