// SPDX-License-Identifier: GPL-2.0
/* compat - code for older kernels, see include/compat/ */
#include <linux/crc32.h>

#include "core/netdev.h"

#ifdef ROVER_COMPAT_CRC32
#include <crypto/hash.h>

#undef crc32_le

/* For less, calling the crypto API costs more than it saves. */
#define CRC32_SHASH_MIN	256

/* NULL without crc32 in the crypto API; constant while packets flow */
static struct crypto_shash *compat_crc32_shash;

u32 rover_compat_crc32_le(u32 crc, const void *data, size_t len)
{
	if (len >= CRC32_SHASH_MIN && compat_crc32_shash) {
		SHASH_DESC_ON_STACK(desc, compat_crc32_shash);

		desc->tfm = compat_crc32_shash;
		/* Its context is the running CRC. */
		*(u32 *)shash_desc_ctx(desc) = crc;
		if (!crypto_shash_update(desc, data, len))
			return *(u32 *)shash_desc_ctx(desc);
	}
	return crc32_le(crc, data, len);
}

void rover_compat_crc32_init(void)
{
	compat_crc32_shash = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(compat_crc32_shash))
		compat_crc32_shash = NULL;
	else if (crypto_shash_descsize(compat_crc32_shash) != sizeof(u32))
		rover_compat_crc32_exit();
}

void rover_compat_crc32_exit(void)
{
	crypto_free_shash(compat_crc32_shash);
	compat_crc32_shash = NULL;
}
#endif

#ifdef ROVER_COMPAT_PTYPE
#include <linux/if_packet.h>
#include <linux/net.h>
#include <net/net_namespace.h>
#include <net/sock.h>

/* Packet sockets tested; with more, assume that one listens. */
#define PACKET_SOCKETS_MAX	64

/* Packet sockets leave the list a grace period before sk_socket is freed. */
static bool compat_ptype_hears_ip(const struct sock *sk)
{
	struct sockaddr_storage name = {};
	const struct sockaddr_ll *ll = (const void *)&name;
	struct socket *sock = READ_ONCE(sk->sk_socket);

	if (!sock)
		return false;
	/* SOCK_PACKET does not report its protocol. */
	if (sock->type == SOCK_PACKET ||
	    sock->ops->getname(sock, (struct sockaddr *)&name, 0) < 0)
		return true;
	/* ptype_specific has those for one protocol and no interface. */
	return !ll->sll_ifindex && (ll->sll_protocol == htons(ETH_P_IP) ||
				    ll->sll_protocol == htons(ETH_P_IPV6));
}

bool rover_compat_has_ptype(const struct net *net)
{
	unsigned int left = PACKET_SOCKETS_MAX;
	const struct sock *sk;

	sk_for_each_rcu(sk, &net->packet.sklist) {
		if (!left-- || compat_ptype_hears_ip(sk))
			return true;
	}
	return false;
}
#endif
