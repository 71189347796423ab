/* SPDX-License-Identifier: GPL-2.0 */
/*
 * icrc - the invariant CRC of a packet (IBTA 7.8, annexes A16, A17)
 *
 * CRC-32 over eight bytes of ones, IP and UDP headers or GRH, BTH, extended
 * headers, payload and pad.  Variant fields count as ones: TOS, TTL, checksum
 * (IPv4); traffic class, flow label, hop limit (IPv6, GRH); UDP checksum; FECN,
 * BECN and reserved byte of the BTH.
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
 * rover_icrc_begin4() - start the ICRC of an IPv4 packet
 * @ip: header without options
 * @udp: header
 * @bth: header, followed by the rest of the packet
 * @bth_len: bytes to sum from @bth on, at least the BTH
 * @udp_len: UDP length; @ip and @udp may have a train's
 * @id: IPv4 identification
 * Return: running CRC, for rover_icrc_add().
 */
u32 rover_icrc_begin4(const struct iphdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, unsigned int bth_len,
		      u16 udp_len, __be16 id);

/**
 * rover_icrc_begin6() - start the ICRC of an IPv6 packet
 * @ip: header, without extension headers
 * @udp: header
 * @bth: see rover_icrc_begin4()
 * @bth_len: see rover_icrc_begin4()
 * @udp_len: see rover_icrc_begin4()
 * Return: running CRC.
 */
u32 rover_icrc_begin6(const struct ipv6hdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, unsigned int bth_len,
		      u16 udp_len);

/**
 * rover_icrc_begin_grh() - start the ICRC of a RoCE v1 packet
 * @grh: header
 * @bth: see rover_icrc_begin4()
 * @bth_len: see rover_icrc_begin4()
 * @len: bytes from the BTH to the ICRC
 * Return: running CRC.
 */
u32 rover_icrc_begin_grh(const struct ipv6hdr *grh, const struct rover_bth *bth,
			 unsigned int bth_len, u16 len);

/**
 * rover_icrc_begin() - start the ICRC of any packet
 * @l3: kind of packet
 * @ip: IP header or GRH
 * @udp: header; unused for a GRH
 * @bth: see rover_icrc_begin4()
 * @bth_len: see rover_icrc_begin4()
 * @len: bytes from the BTH to the ICRC
 * Return: running CRC.
 */
u32 rover_icrc_begin(enum rover_l3 l3, const void *ip, const struct udphdr *udp,
		     const struct rover_bth *bth, unsigned int bth_len,
		     unsigned int len);

/**
 * rover_icrc_add() - add bytes to the ICRC
 * @crc: running CRC
 * @data: bytes
 * @len: of @data
 * Return: running CRC.
 */
static inline u32 rover_icrc_add(u32 crc, const void *data, size_t len)
{
	return crc32_le(crc, data, len);
}

/**
 * rover_icrc_end() - return the ICRC as on the wire
 * @crc: running CRC of the packet
 */
static inline __le32 rover_icrc_end(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif /* ROVER_ICRC_H */
