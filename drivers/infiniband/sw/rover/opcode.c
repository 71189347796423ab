// SPDX-License-Identifier: GPL-2.0
/*
 * opcode - the table: one row for each BTH opcode that rover speaks
 *
 * A row says only what a packet is and which headers follow its BTH; offsets
 * and lengths come from the sizes of those headers.
 */
#include "opcode.h"
#include "wire.h"

#define FIRST		ROVER_OP_START
#define MIDDLE		0
#define LAST		ROVER_OP_END
#define ONLY		(ROVER_OP_START | ROVER_OP_END)

/* Four kinds of packet that differ only in their place within a message. */
#define SEND_PKT	(ROVER_OP_REQUEST | ROVER_OP_PAYLOAD | ROVER_OP_RECV)
#define WRITE_PKT	(ROVER_OP_REQUEST | ROVER_OP_PAYLOAD)
#define RESP_PKT	(ROVER_OP_RESPONSE | ROVER_OP_PAYLOAD)
#define ATOMIC_PKT	(ROVER_OP_REQUEST | ROVER_OP_ATOMETH)

#define RETH		ROVER_OP_RETH
#define AETH		ROVER_OP_AETH
#define DETH		ROVER_OP_DETH
#define IMM		ROVER_OP_IMM
#define INV		ROVER_OP_INV
/* Of the packets of a WRITE only the one with immediate data takes a receive. */
#define WRITE_IMM_PKT	(WRITE_PKT | IMM | ROVER_OP_RECV)

#define LEN_IF(flags, flag, header)	\
	((flags) & (flag) ? sizeof(struct header) : 0)

/* Length of what stands between the BTH and the immediate data. */
#define EXT_LEN(flags)						\
	(LEN_IF(flags, ROVER_OP_RETH, rover_reth) +		\
	 LEN_IF(flags, ROVER_OP_ATOMETH, rover_atometh) +	\
	 LEN_IF(flags, ROVER_OP_AETH, rover_aeth) +		\
	 LEN_IF(flags, ROVER_OP_DETH, rover_deth) +		\
	 LEN_IF(flags, ROVER_OP_FETH, rover_feth) +		\
	 LEN_IF(flags, ROVER_OP_WORD, rover_word) +		\
	 LEN_IF(flags, ROVER_OP_ATOMACK, rover_atomack))

#define IMM_LEN(flags)	LEN_IF(flags, IMM | INV, rover_immdt)
#define IMM_AT(flags)	(sizeof(struct rover_bth) + EXT_LEN(flags))

#define PUT_ROW(opcode, of_class, bits, text)			\
	[opcode] = {						\
		.name = text,					\
		.flags = (bits),				\
		.class = of_class,				\
		.hdr_len = IMM_AT(bits) + IMM_LEN(bits),	\
		.ext = sizeof(struct rover_bth),		\
		.imm = IMM_LEN(bits) ? IMM_AT(bits) : 0,	\
	}

#define ROW(opcode, kind, bits, text)				\
	PUT_ROW(ROVER_##opcode, ROVER_CLASS_##kind, bits, text)

/* What reliable and unreliable connections have in common. */
#define BOTH(opcode, kind, bits, text)				\
	PUT_ROW(ROVER_RC_##opcode, ROVER_CLASS_##kind, bits, text), \
	PUT_ROW(ROVER_UC_##opcode, ROVER_CLASS_##kind, bits, text)

const struct rover_opcode rover_opcodes[256] = {
	BOTH(SEND_FIRST, SEND, SEND_PKT | FIRST, "SEND First"),
	BOTH(SEND_MIDDLE, SEND, SEND_PKT | MIDDLE, "SEND Middle"),
	BOTH(SEND_LAST, SEND, SEND_PKT | LAST, "SEND Last"),
	BOTH(SEND_LAST_IMM, SEND, SEND_PKT | LAST | IMM, "SEND Last with Immediate"),
	BOTH(SEND_ONLY, SEND, SEND_PKT | ONLY, "SEND Only"),
	BOTH(SEND_ONLY_IMM, SEND, SEND_PKT | ONLY | IMM, "SEND Only with Immediate"),

	BOTH(WRITE_FIRST, WRITE, WRITE_PKT | FIRST | RETH, "RDMA WRITE First"),
	BOTH(WRITE_MIDDLE, WRITE, WRITE_PKT | MIDDLE, "RDMA WRITE Middle"),
	BOTH(WRITE_LAST, WRITE, WRITE_PKT | LAST, "RDMA WRITE Last"),
	BOTH(WRITE_LAST_IMM, WRITE, WRITE_IMM_PKT | LAST,
	     "RDMA WRITE Last with Immediate"),
	BOTH(WRITE_ONLY, WRITE, WRITE_PKT | ONLY | RETH, "RDMA WRITE Only"),
	BOTH(WRITE_ONLY_IMM, WRITE, WRITE_IMM_PKT | ONLY | RETH,
	     "RDMA WRITE Only with Immediate"),

	ROW(RC_READ_REQUEST, READ, ROVER_OP_REQUEST | ONLY | RETH,
	    "RDMA READ Request"),
	ROW(RC_READ_RESP_FIRST, READ_RESP, RESP_PKT | FIRST | AETH,
	    "RDMA READ response First"),
	ROW(RC_READ_RESP_MIDDLE, READ_RESP, RESP_PKT | MIDDLE,
	    "RDMA READ response Middle"),
	ROW(RC_READ_RESP_LAST, READ_RESP, RESP_PKT | LAST | AETH,
	    "RDMA READ response Last"),
	ROW(RC_READ_RESP_ONLY, READ_RESP, RESP_PKT | ONLY | AETH,
	    "RDMA READ response Only"),

	ROW(RC_ACK, ACK, ROVER_OP_RESPONSE | ONLY | AETH, "Acknowledge"),
	ROW(RC_ATOMIC_ACK, ATOMIC_ACK,
	    ROVER_OP_RESPONSE | ONLY | AETH | ROVER_OP_ATOMACK,
	    "ATOMIC Acknowledge"),
	ROW(RC_CMP_SWAP, ATOMIC, ATOMIC_PKT | ONLY, "CmpSwap"),
	ROW(RC_FETCH_ADD, ATOMIC, ATOMIC_PKT | ONLY, "FetchAdd"),

	ROW(RC_FLUSH, FLUSH, ROVER_OP_REQUEST | ONLY | ROVER_OP_FETH | RETH,
	    "FLUSH"),
	ROW(RC_ATOMIC_WRITE, ATOMIC_WRITE,
	    ROVER_OP_REQUEST | ONLY | RETH | ROVER_OP_WORD, "ATOMIC WRITE"),

	ROW(RC_SEND_LAST_INV, SEND, SEND_PKT | LAST | INV, "SEND Last with Invalidate"),
	ROW(RC_SEND_ONLY_INV, SEND, SEND_PKT | ONLY | INV, "SEND Only with Invalidate"),

	ROW(UD_SEND_ONLY, SEND, SEND_PKT | ONLY | DETH, "SEND Only"),
	ROW(UD_SEND_ONLY_IMM, SEND, SEND_PKT | ONLY | DETH | IMM,
	    "SEND Only with Immediate"),

	/* What stands behind its BTH is reserved: payload that nobody reads. */
	ROW(CNP, CNP, ROVER_OP_RESPONSE | ONLY, "Congestion Notification"),
};
