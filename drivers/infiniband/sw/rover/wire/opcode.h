/* SPDX-License-Identifier: GPL-2.0 */
/* opcode - table of BTH opcodes */
#ifndef ROVER_OPCODE_H
#define ROVER_OPCODE_H

#include <linux/types.h>

/* IBTA table 38; the upper three bits are the transport. */
enum rover_bth_opcode {
	ROVER_RC_SEND_FIRST		= 0x00,
	ROVER_RC_SEND_MIDDLE		= 0x01,
	ROVER_RC_SEND_LAST		= 0x02,
	ROVER_RC_SEND_LAST_IMM		= 0x03,
	ROVER_RC_SEND_ONLY		= 0x04,
	ROVER_RC_SEND_ONLY_IMM		= 0x05,
	ROVER_RC_WRITE_FIRST		= 0x06,
	ROVER_RC_WRITE_MIDDLE		= 0x07,
	ROVER_RC_WRITE_LAST		= 0x08,
	ROVER_RC_WRITE_LAST_IMM		= 0x09,
	ROVER_RC_WRITE_ONLY		= 0x0a,
	ROVER_RC_WRITE_ONLY_IMM		= 0x0b,
	ROVER_RC_READ_REQUEST		= 0x0c,
	ROVER_RC_READ_RESP_FIRST	= 0x0d,
	ROVER_RC_READ_RESP_MIDDLE	= 0x0e,
	ROVER_RC_READ_RESP_LAST		= 0x0f,
	ROVER_RC_READ_RESP_ONLY		= 0x10,
	ROVER_RC_ACK			= 0x11,
	ROVER_RC_ATOMIC_ACK		= 0x12,
	ROVER_RC_CMP_SWAP		= 0x13,
	ROVER_RC_FETCH_ADD		= 0x14,
	ROVER_RC_SEND_LAST_INV		= 0x16,
	ROVER_RC_SEND_ONLY_INV		= 0x17,
	ROVER_RC_FLUSH			= 0x1c,
	ROVER_RC_ATOMIC_WRITE		= 0x1d,
	ROVER_UC_SEND_FIRST		= 0x20,
	ROVER_UC_SEND_MIDDLE		= 0x21,
	ROVER_UC_SEND_LAST		= 0x22,
	ROVER_UC_SEND_LAST_IMM		= 0x23,
	ROVER_UC_SEND_ONLY		= 0x24,
	ROVER_UC_SEND_ONLY_IMM		= 0x25,
	ROVER_UC_WRITE_FIRST		= 0x26,
	ROVER_UC_WRITE_MIDDLE		= 0x27,
	ROVER_UC_WRITE_LAST		= 0x28,
	ROVER_UC_WRITE_LAST_IMM		= 0x29,
	ROVER_UC_WRITE_ONLY		= 0x2a,
	ROVER_UC_WRITE_ONLY_IMM		= 0x2b,
	ROVER_UD_SEND_ONLY		= 0x64,
	ROVER_UD_SEND_ONLY_IMM		= 0x65,
	ROVER_CNP			= 0x81,	/* annex A17.9.3 */
};

enum rover_transport {
	ROVER_TRANSPORT_RC = 0,
	ROVER_TRANSPORT_UC = 1,
	ROVER_TRANSPORT_UD = 3,
	ROVER_TRANSPORT_CNP = 4,	/* of any connection */
	ROVER_TRANSPORT_XRC = 5,	/* annex A14 */
	ROVER_TRANSPORT_RAW = 7,	/* no opcode */
};

enum rover_op_class {
	ROVER_CLASS_SEND,
	ROVER_CLASS_WRITE,
	ROVER_CLASS_READ,
	ROVER_CLASS_ATOMIC,
	ROVER_CLASS_ATOMIC_WRITE,
	ROVER_CLASS_FLUSH,
	ROVER_CLASS_RESERVED,	/* of a reliable service: NAKed, not dropped */
	ROVER_CLASS_READ_RESP,
	ROVER_CLASS_ACK,
	ROVER_CLASS_ATOMIC_ACK,
	ROVER_CLASS_CNP,
};

#define ROVER_OP_START		(1U << 0)	/* first packet */
#define ROVER_OP_END		(1U << 1)	/* last packet */
#define ROVER_OP_REQUEST	(1U << 2)
#define ROVER_OP_RESPONSE	(1U << 3)
#define ROVER_OP_PAYLOAD	(1U << 4)	/* may carry payload */
#define ROVER_OP_RETH		(1U << 5)
#define ROVER_OP_ATOMETH	(1U << 6)
#define ROVER_OP_AETH		(1U << 7)
#define ROVER_OP_ATOMACK	(1U << 8)
#define ROVER_OP_IMM		(1U << 9)
#define ROVER_OP_INV		(1U << 10)	/* IETH */
#define ROVER_OP_RECV		(1U << 11)	/* message takes a receive */
#define ROVER_OP_DETH		(1U << 12)
#define ROVER_OP_FETH		(1U << 13)
#define ROVER_OP_WORD		(1U << 14)	/* eight bytes of payload */
#define ROVER_OP_XRCETH		(1U << 15)

/**
 * struct rover_opcode - a row of the table
 * @name: as in IBTA and tshark, without the transport; NULL if unsupported
 * @flags: ROVER_OP_*
 * @class: enum rover_op_class
 * @hdr_len: bytes from the BTH to the payload
 * @ext: offset of the first extended header behind an XRCETH
 * @imm: offset of immediate data or IETH; 0 for none
 *
 * Offsets count from the BTH.  At @ext is a RETH (with the word of an ATOMIC
 * WRITE), ATOMETH, AETH (with ATOMACK), DETH, or FETH with RETH.
 */
struct rover_opcode {
	const char *name;
	u16 flags;
	u8 class;
	u8 hdr_len;
	u8 ext;
	u8 imm;
};

extern const struct rover_opcode rover_opcodes[256];

/* Test whether the peer acknowledges. */
static inline bool rover_transport_reliable(u8 transport)
{
	return transport == ROVER_TRANSPORT_RC ||
	       transport == ROVER_TRANSPORT_XRC;
}

static inline bool rover_transport_dgram(u8 transport)
{
	return transport == ROVER_TRANSPORT_UD ||
	       transport == ROVER_TRANSPORT_RAW;
}

static inline u8 rover_opcode_transport(u8 opcode)
{
	return opcode >> 5;
}

/* Convert an RC opcode to another connected service. */
static inline u8 rover_opcode_in(u8 opcode, u8 transport)
{
	return opcode | transport << 5;
}

/**
 * rover_opcode_get() - return the row of a BTH opcode
 * @opcode: from the wire
 * Return: NULL if unsupported.
 */
static inline const struct rover_opcode *rover_opcode_get(u8 opcode)
{
	return rover_opcodes[opcode].name ? &rover_opcodes[opcode] : NULL;
}

#endif /* ROVER_OPCODE_H */
