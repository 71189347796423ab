// SPDX-License-Identifier: GPL-2.0
/*
 * opcode - table of BTH opcodes
 *
 * Offsets and lengths follow from the headers that a row names.  XRC has the
 * operations of RC, and one more header in requests.
 */
#include "wire/opcode.h"
#include "wire/wire.h"

#define FIRST		ROVER_OP_START
#define MIDDLE		0
#define LAST		ROVER_OP_END
#define ONLY		(ROVER_OP_START | ROVER_OP_END)

/* Packets that differ only in their place in the message. */
#define SEND_PKT	(ROVER_OP_REQUEST | ROVER_OP_PAYLOAD | ROVER_OP_RECV)
#define WRITE_PKT	(ROVER_OP_REQUEST | ROVER_OP_PAYLOAD)
#define RESP_PKT	(ROVER_OP_RESPONSE | ROVER_OP_PAYLOAD)
#define ATOMIC_PKT	(ROVER_OP_REQUEST | ROVER_OP_ATOMETH)

#define RETH		ROVER_OP_RETH
#define AETH		ROVER_OP_AETH
#define DETH		ROVER_OP_DETH
#define IMM		ROVER_OP_IMM
#define INV		ROVER_OP_INV
/* Of a WRITE, only the packet with immediate data takes a receive. */
#define WRITE_IMM_PKT	(WRITE_PKT | IMM | ROVER_OP_RECV)

#define LEN_IF(flags, flag, header)	\
	((flags) & (flag) ? sizeof(struct header) : 0)

/* Extended headers follow the BTH and any XRCETH. */
#define EXT_AT(flags)						\
	(sizeof(struct rover_bth) + LEN_IF(flags, ROVER_OP_XRCETH, rover_xrceth))

#define EXT_LEN(flags)						\
	(LEN_IF(flags, ROVER_OP_RETH, rover_reth) +		\
	 LEN_IF(flags, ROVER_OP_ATOMETH, rover_atometh) +	\
	 LEN_IF(flags, ROVER_OP_AETH, rover_aeth) +		\
	 LEN_IF(flags, ROVER_OP_DETH, rover_deth) +		\
	 LEN_IF(flags, ROVER_OP_FETH, rover_feth) +		\
	 LEN_IF(flags, ROVER_OP_WORD, rover_word) +		\
	 LEN_IF(flags, ROVER_OP_ATOMACK, rover_atomack))

#define IMM_LEN(flags)	LEN_IF(flags, IMM | INV, rover_immdt)
#define IMM_AT(flags)	(EXT_AT(flags) + EXT_LEN(flags))

#define PUT_ROW(opcode, of_class, bits, text)			\
	[opcode] = {						\
		.name = text,					\
		.flags = (bits),				\
		.class = of_class,				\
		.hdr_len = IMM_AT(bits) + IMM_LEN(bits),	\
		.ext = EXT_AT(bits),				\
		.imm = IMM_LEN(bits) ? IMM_AT(bits) : 0,	\
	}

#define ROW(opcode, kind, bits, text)				\
	PUT_ROW(ROVER_##opcode, ROVER_CLASS_##kind, bits, text)

#define XRC(opcode)	(ROVER_TRANSPORT_XRC << 5 | (opcode))
#define XRC_BITS(bits)						\
	((bits) | ((bits) & ROVER_OP_REQUEST ? ROVER_OP_XRCETH : 0))

/* Opcodes of RC and XRC. */
#define RELIABLE(opcode, kind, bits, text)			\
	PUT_ROW(ROVER_RC_##opcode, ROVER_CLASS_##kind, bits, text), \
	PUT_ROW(XRC(ROVER_RC_##opcode), ROVER_CLASS_##kind,	\
		XRC_BITS(bits), text)

/* Payload of reserved opcodes is never read. */
#define RESERVED(opcode)					\
	PUT_ROW(opcode, ROVER_CLASS_RESERVED, ROVER_OP_REQUEST | ONLY, \
		"reserved opcode"),				\
	PUT_ROW(XRC(opcode), ROVER_CLASS_RESERVED,		\
		XRC_BITS(ROVER_OP_REQUEST | ONLY), "reserved opcode")

/* Opcodes of UC as well. */
#define EACH(opcode, kind, bits, text)				\
	PUT_ROW(ROVER_RC_##opcode, ROVER_CLASS_##kind, bits, text), \
	PUT_ROW(ROVER_UC_##opcode, ROVER_CLASS_##kind, bits, text), \
	PUT_ROW(XRC(ROVER_RC_##opcode), ROVER_CLASS_##kind,	\
		XRC_BITS(bits), text)

const struct rover_opcode rover_opcodes[256] = {
	EACH(SEND_FIRST, SEND, SEND_PKT | FIRST, "SEND First"),
	EACH(SEND_MIDDLE, SEND, SEND_PKT | MIDDLE, "SEND Middle"),
	EACH(SEND_LAST, SEND, SEND_PKT | LAST, "SEND Last"),
	EACH(SEND_LAST_IMM, SEND, SEND_PKT | LAST | IMM, "SEND Last with Immediate"),
	EACH(SEND_ONLY, SEND, SEND_PKT | ONLY, "SEND Only"),
	EACH(SEND_ONLY_IMM, SEND, SEND_PKT | ONLY | IMM, "SEND Only with Immediate"),

	EACH(WRITE_FIRST, WRITE, WRITE_PKT | FIRST | RETH, "RDMA WRITE First"),
	EACH(WRITE_MIDDLE, WRITE, WRITE_PKT | MIDDLE, "RDMA WRITE Middle"),
	EACH(WRITE_LAST, WRITE, WRITE_PKT | LAST, "RDMA WRITE Last"),
	EACH(WRITE_LAST_IMM, WRITE, WRITE_IMM_PKT | LAST,
	     "RDMA WRITE Last with Immediate"),
	EACH(WRITE_ONLY, WRITE, WRITE_PKT | ONLY | RETH, "RDMA WRITE Only"),
	EACH(WRITE_ONLY_IMM, WRITE, WRITE_IMM_PKT | ONLY | RETH,
	     "RDMA WRITE Only with Immediate"),

	RELIABLE(READ_REQUEST, READ, ROVER_OP_REQUEST | ONLY | RETH,
		 "RDMA READ Request"),
	RELIABLE(READ_RESP_FIRST, READ_RESP, RESP_PKT | FIRST | AETH,
		 "RDMA READ response First"),
	RELIABLE(READ_RESP_MIDDLE, READ_RESP, RESP_PKT | MIDDLE,
		 "RDMA READ response Middle"),
	RELIABLE(READ_RESP_LAST, READ_RESP, RESP_PKT | LAST | AETH,
		 "RDMA READ response Last"),
	RELIABLE(READ_RESP_ONLY, READ_RESP, RESP_PKT | ONLY | AETH,
		 "RDMA READ response Only"),

	RELIABLE(ACK, ACK, ROVER_OP_RESPONSE | ONLY | AETH, "Acknowledge"),
	RELIABLE(ATOMIC_ACK, ATOMIC_ACK,
		 ROVER_OP_RESPONSE | ONLY | AETH | ROVER_OP_ATOMACK,
		 "ATOMIC Acknowledge"),
	RELIABLE(CMP_SWAP, ATOMIC, ATOMIC_PKT | ONLY, "CmpSwap"),
	RELIABLE(FETCH_ADD, ATOMIC, ATOMIC_PKT | ONLY, "FetchAdd"),

	RELIABLE(FLUSH, FLUSH, ROVER_OP_REQUEST | ONLY | ROVER_OP_FETH | RETH,
		 "FLUSH"),
	RELIABLE(ATOMIC_WRITE, ATOMIC_WRITE,
		 ROVER_OP_REQUEST | ONLY | RETH | ROVER_OP_WORD, "ATOMIC WRITE"),

	RELIABLE(SEND_LAST_INV, SEND, SEND_PKT | LAST | INV, "SEND Last with Invalidate"),
	RELIABLE(SEND_ONLY_INV, SEND, SEND_PKT | ONLY | INV, "SEND Only with Invalidate"),

	/* IBTA 9.7.4.1.4: NAK reserved opcodes as invalid requests. */
	RESERVED(0x15), RESERVED(0x18), RESERVED(0x19), RESERVED(0x1a),
	RESERVED(0x1b), RESERVED(0x1e), RESERVED(0x1f),

	ROW(UD_SEND_ONLY, SEND, SEND_PKT | ONLY | DETH, "SEND Only"),
	ROW(UD_SEND_ONLY_IMM, SEND, SEND_PKT | ONLY | DETH | IMM,
	    "SEND Only with Immediate"),

	ROW(CNP, CNP, ROVER_OP_RESPONSE | ONLY, "Congestion Notification"),
};
