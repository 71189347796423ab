// SPDX-License-Identifier: GPL-2.0
/*
 * compat - what older kernels lack and a header alone cannot make up for
 *
 * Each part is there when its header in include/compat/ asks for it.
 */
#include <linux/crc32.h>
#include <linux/netdevice.h>

#ifdef ROVER_COMPAT_CRC32
#include <crypto/hash.h>

#undef crc32_le

/* Below, the way through the crypto API costs more than it saves. */
#define LEAST	256

/* Constant while the module's packets flow; NULL where there is none. */
static struct crypto_shash *shash;

u32 rover_compat_crc32_le(u32 crc, const void *data, size_t len)
{
	if (len >= LEAST && shash) {
		SHASH_DESC_ON_STACK(desc, shash);

		desc->tfm = shash;
		/* What this hash keeps in between is the running sum. */
		*(u32 *)shash_desc_ctx(desc) = crc;
		if (!crypto_shash_update(desc, data, len))
			return *(u32 *)shash_desc_ctx(desc);
	}
	return crc32_le(crc, data, len);
}

void rover_compat_crc32_init(void)
{
	shash = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(shash))
		shash = NULL;
	else if (crypto_shash_descsize(shash) != sizeof(u32))
		rover_compat_crc32_exit();
}

void rover_compat_crc32_exit(void)
{
	crypto_free_shash(shash);
	shash = NULL;
}
#endif

#ifdef ROVER_COMPAT_PTYPE
#include <linux/if_packet.h>
#include <linux/net.h>
#include <net/net_namespace.h>
#include <net/sock.h>

/* So many are asked; if there are more, one of them is taken to listen. */
#define PACKET_SOCKETS_MOST	64

/*
 * A packet socket leaves its namespace's list before its struct socket goes, with a
 * grace period in between.
 */
static bool hears_ip(const struct sock *sk)
{
	struct sockaddr_storage name = {};
	const struct sockaddr_ll *ll = (const void *)&name;
	struct socket *sock = READ_ONCE(sk->sk_socket);

	if (!sock)
		return false;
	/* SOCK_PACKET does not tell its protocol. */
	if (sock->type == SOCK_PACKET ||
	    sock->ops->getname(sock, (struct sockaddr *)&name, 0) < 0)
		return true;
	/* One of an interface is in a list of that, and one for all protocols, too. */
	return !ll->sll_ifindex && (ll->sll_protocol == htons(ETH_P_IP) ||
				    ll->sll_protocol == htons(ETH_P_IPV6));
}

bool rover_compat_ptype_specific(const struct net *net)
{
	unsigned int left = PACKET_SOCKETS_MOST;
	const struct sock *sk;

	sk_for_each_rcu(sk, &net->packet.sklist) {
		if (!left-- || hears_ip(sk))
			return true;
	}
	return false;
}
#endif
