/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wire - layout of RoCE packets
 *
 *   Ethernet | IPv4 or IPv6 | UDP (4791) | BTH | extended headers | payload
 *            | pad to 4 bytes | ICRC             (RoCE v2, annex A17)
 *   Ethernet (0x8915) | GRH | BTH | ...          (RoCE v1, annex A16)
 *
 * InfiniBand Architecture Specification, volume 1, chapter 9.  All of wire/ is
 * pure: no state, no allocation; also compiled in userspace.
 */
#ifndef ROVER_WIRE_H
#define ROVER_WIRE_H

#include <linux/types.h>
#include <linux/bits.h>
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <asm/byteorder.h>

#define ROVER_UDP_PORT		4791
#define ROVER_ICRC_SIZE		4
#define ROVER_MAX_MTU		4096
#define ROVER_MIN_MTU		256

/**
 * enum rover_l3 - headers between Ethernet and BTH
 * @ROVER_L3_IPV4: RoCE v2: IPv4 without options, UDP
 * @ROVER_L3_IPV6: RoCE v2: IPv6 without extension headers, UDP
 * @ROVER_L3_GRH: RoCE v1: global route header, laid out as an IPv6 header
 */
enum rover_l3 {
	ROVER_L3_IPV4,
	ROVER_L3_IPV6,
	ROVER_L3_GRH,
};

/* Next header of a GRH: BTH (IBTA 8.3). */
#define ROVER_GRH_NEXT		0x1b

/* Bytes of these headers. */
static inline unsigned int rover_l3_len(enum rover_l3 l3)
{
	if (l3 == ROVER_L3_IPV4)
		return 20 + 8;
	return l3 == ROVER_L3_IPV6 ? 40 + 8 : 40;
}

/**
 * struct rover_bth - base transport header
 * @opcode: transport and operation
 * @flags: SE 1 | M 1 | PadCnt 2 | TVer 4
 * @pkey: partition key
 * @qpn: FECN 1 | BECN 1 | reserved 6 | destination QP 24
 * @psn: AckReq 1 | reserved 7, of which the first is ROVER_BTH_SACK | packet
 *	sequence number 24
 */
struct rover_bth {
	u8 opcode;
	u8 flags;
	__be16 pkey;
	__be32 qpn;
	__be32 psn;
};

#define ROVER_BTH_SE		BIT(7)
#define ROVER_BTH_MIG		BIT(6)
#define ROVER_BTH_PAD		GENMASK(5, 4)
#define ROVER_BTH_TVER		GENMASK(3, 0)
#define ROVER_BTH_FECN		BIT(31)
#define ROVER_BTH_BECN		BIT(30)
#define ROVER_BTH_RESV8A	GENMASK(31, 24)
#define ROVER_BTH_ACKREQ	BIT(31)
/* Reserved in the standard: the sender understands sack.h. */
#define ROVER_BTH_SACK		BIT(30)
#define ROVER_24BIT		GENMASK(23, 0)

/**
 * struct rover_reth - RDMA extended header
 * @va: remote address
 * @rkey: remote key
 * @length: bytes of the message
 */
struct rover_reth {
	__be64 va;
	__be32 rkey;
	__be32 length;
} __packed;

/**
 * struct rover_atometh - atomic extended header
 * @va: remote address, a multiple of eight
 * @rkey: remote key
 * @swap_add: value to swap in or add
 * @compare: value to compare
 */
struct rover_atometh {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;
	__be64 compare;
} __packed;

/**
 * struct rover_aeth - ACK extended header
 * @syndrome_msn: syndrome 8 | message sequence number 24
 */
struct rover_aeth {
	__be32 syndrome_msn;
};

/**
 * struct rover_atomack - atomic acknowledge header
 * @orig: previous value
 */
struct rover_atomack {
	__be64 orig;
} __packed;

/**
 * struct rover_immdt - immediate data, or key to invalidate (IETH)
 * @data: network order
 */
struct rover_immdt {
	__be32 data;
};

/**
 * struct rover_xrceth - header of XRC requests (annex A14)
 * @srqn: reserved 8 | shared receive queue 24
 */
struct rover_xrceth {
	__be32 srqn;
};

/**
 * struct rover_deth - datagram extended header
 * @qkey: queue key
 * @sqp: reserved 8 | source QP 24
 */
struct rover_deth {
	__be32 qkey;
	__be32 sqp;
};

/**
 * struct rover_feth - flush extended header
 * @what: reserved 26 | selectivity 2 | placement 4
 */
struct rover_feth {
	__be32 what;
};

/* Placement: independent bits.  Selectivity: range or MR. */
#define ROVER_FLUSH_GLOBAL	BIT(0)
#define ROVER_FLUSH_PERSISTENT	BIT(1)
#define ROVER_FLUSH_PLACEMENT	GENMASK(3, 0)
#define ROVER_FLUSH_SELECTIVITY	GENMASK(5, 4)
#define ROVER_FLUSH_RANGE	0
#define ROVER_FLUSH_MR		1

/**
 * struct rover_word - payload of an ATOMIC WRITE
 * @bytes: in memory order
 */
struct rover_word {
	u8 bytes[8];
};

static_assert(sizeof(struct rover_bth) == 12);
static_assert(sizeof(struct rover_reth) == 16);
static_assert(sizeof(struct rover_atometh) == 28);
static_assert(sizeof(struct rover_aeth) == 4);
static_assert(sizeof(struct rover_atomack) == 8);
static_assert(sizeof(struct rover_immdt) == 4);
static_assert(sizeof(struct rover_xrceth) == 4);
static_assert(sizeof(struct rover_deth) == 8);
static_assert(sizeof(struct rover_feth) == 4);
static_assert(sizeof(struct rover_word) == 8);

/* Zero bytes of a CNP behind the BTH. */
#define ROVER_CNP_SIZE		16

/* Longest headers behind UDP: an atomic over XRC. */
#define ROVER_MAX_HDR	(sizeof(struct rover_bth) + sizeof(struct rover_xrceth) + \
			 sizeof(struct rover_atometh))

/* AETH syndromes, IBTA tables 43 to 45: kind and five bits of detail. */
#define ROVER_AETH_KIND		GENMASK(7, 5)
#define ROVER_AETH_ACK		0x00
#define ROVER_AETH_RNR		0x20
#define ROVER_AETH_NAK		0x60
#define ROVER_AETH_VALUE	GENMASK(4, 0)
/* The responder does not report its receives (credit). */
#define ROVER_AETH_CREDITS_NONE	0x1f

#define ROVER_NAK_PSN_SEQ	0x60
#define ROVER_NAK_INV_REQ	0x61
#define ROVER_NAK_REM_ACCESS	0x62
#define ROVER_NAK_REM_OP	0x63

static inline u32 rover_bth_qpn(const struct rover_bth *bth)
{
	return be32_to_cpu(bth->qpn) & ROVER_24BIT;
}

static inline u32 rover_bth_psn(const struct rover_bth *bth)
{
	return be32_to_cpu(bth->psn) & ROVER_24BIT;
}

static inline bool rover_bth_ackreq(const struct rover_bth *bth)
{
	return be32_to_cpu(bth->psn) & ROVER_BTH_ACKREQ;
}

static inline bool rover_bth_sack(const struct rover_bth *bth)
{
	return be32_to_cpu(bth->psn) & ROVER_BTH_SACK;
}

static inline unsigned int rover_bth_pad(const struct rover_bth *bth)
{
	return FIELD_GET(ROVER_BTH_PAD, bth->flags);
}

static inline bool rover_bth_solicited(const struct rover_bth *bth)
{
	return bth->flags & ROVER_BTH_SE;
}

/* Return the padding of @len bytes. */
static inline unsigned int rover_pad(unsigned int len)
{
	return -len & 3;
}

static inline u8 rover_aeth_syndrome(const struct rover_aeth *aeth)
{
	return be32_to_cpu(aeth->syndrome_msn) >> 24;
}

static inline __be32 rover_aeth_make(u8 syndrome, u32 msn)
{
	return cpu_to_be32((u32)syndrome << 24 | (msn & ROVER_24BIT));
}

#endif /* ROVER_WIRE_H */
