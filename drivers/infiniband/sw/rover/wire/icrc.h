/* SPDX-License-Identifier: GPL-2.0 */
/*
 * icrc - the invariant CRC that ends every packet (IBTA 7.8, annexes A16, A17)
 *
 * CRC-32 over eight bytes of ones, the IP and UDP headers or the GRH, and the
 * BTH with their variant fields set to ones, the extended headers, the payload
 * and the pad.  Variant are: TOS, TTL and checksum (IPv4); traffic class, flow
 * label and hop limit (IPv6, GRH); the UDP checksum; BTH's FECN, BECN and
 * reserved byte.
 *
 * Pure: also compiled in user space.
 */
#ifndef ROVER_ICRC_H
#define ROVER_ICRC_H

#include <linux/types.h>
#include <linux/crc32.h>

#include "wire/wire.h"

struct iphdr;
struct ipv6hdr;
struct udphdr;

/**
 * rover_icrc_begin4() - sum the headers of an IPv4 packet
 * @ip: header without options
 * @udp: header
 * @bth: header; what follows it in memory is summed, too
 * @own: bytes to sum from there on; BTH's at least, the others are the caller's
 * @udp_len: UDP length of this packet alone, in bytes, header included.  The
 *	lengths in @ip and @udp are not read: in the head of a train they are
 *	the train's.
 * @id: IPv4 identification of this packet (network order)
 *
 * Return: the running CRC, for rover_icrc_add().
 */
u32 rover_icrc_begin4(const struct iphdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, unsigned int own, u16 udp_len,
		      __be16 id);

/**
 * rover_icrc_begin6() - sum the headers of an IPv6 packet
 * @ip: header; nothing between it and @udp
 * @udp: header
 * @bth: header; what follows it in memory is summed, too
 * @own: bytes to sum from there on; BTH's at least, the others are the caller's
 * @udp_len: UDP length of this packet alone, in bytes, header included
 *
 * Return: the running CRC, for rover_icrc_add().
 */
u32 rover_icrc_begin6(const struct ipv6hdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, unsigned int own, u16 udp_len);

/**
 * rover_icrc_begin_grh() - sum the headers of a RoCE v1 packet
 * @grh: header
 * @bth: header; what follows it in memory is summed, too
 * @own: bytes to sum from there on; BTH's at least, the others are the caller's
 * @len: what follows the GRH, in bytes, from the BTH to the ICRC
 *
 * Return: the running CRC, for rover_icrc_add().
 */
u32 rover_icrc_begin_grh(const struct ipv6hdr *grh, const struct rover_bth *bth,
			 unsigned int own, u16 len);

/**
 * rover_icrc_begin() - sum the headers of a packet of either kind
 * @l3: which
 * @ip: its IPv4 or IPv6 header, or its GRH
 * @udp: header; not read for a GRH
 * @bth: header; what follows it in memory is summed, too
 * @own: bytes to sum from there on; BTH's at least, the others are the caller's
 * @len: from the BTH to the ICRC, both included, in bytes
 *
 * Return: the running CRC, for rover_icrc_add().
 */
u32 rover_icrc_begin(enum rover_l3 l3, const void *ip, const struct udphdr *udp,
		     const struct rover_bth *bth, unsigned int own,
		     unsigned int len);

/**
 * rover_icrc_add() - sum some more
 * @crc: running CRC
 * @data: bytes
 * @len: how many
 *
 * Return: the running CRC.
 */
static inline u32 rover_icrc_add(u32 crc, const void *data, size_t len)
{
	return crc32_le(crc, data, len);
}

/**
 * rover_icrc_end() - the four bytes that go on the wire
 * @crc: running CRC over all of the packet before the ICRC
 *
 * Return: the trailer; the CRC travels least significant byte first.
 */
static inline __le32 rover_icrc_end(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif /* ROVER_ICRC_H */
