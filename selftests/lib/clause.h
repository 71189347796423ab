/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clause - rules: cases in which a crafted peer talks to a queue pair
 *
 * A rule is a row of a table: attributes of the queue pair, and steps.  A step is a
 * packet that the peer sends (IN), a packet that it has to receive (OUT, ACK, NAK), a
 * work request, a completion, an event, a state or the contents of memory.  Nothing
 * else may happen: at the end of a rule there must be no further packet, completion
 * or event.
 *
 * PSNs count from the first one of either side, which lies just before the end of
 * the 24 bits.  Opcodes are those of RC; they are converted to those of the queue
 * pair's transport, except RAW_OP().
 */
#ifndef ROVER_SELFTEST_CLAUSE_H
#define ROVER_SELFTEST_CLAUSE_H

#include "peer.h"
#include "shared.h"

/* BTH opcodes, IBTA table 38, without the transport */
enum {
	SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY, SEND_ONLY_IMM,
	WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM,
	READ_REQUEST, RESP_FIRST, RESP_MIDDLE, RESP_LAST, RESP_ONLY, ACKNOWLEDGE, ATOMIC_ACK,
	CMP_SWAP, FETCH_ADD, SEND_LAST_INV = 0x16, SEND_ONLY_INV, FLUSH = 0x1c, ATOMIC_WRITE,
};

#define SERVICE_RC	0x00
#define SERVICE_UC	0x20
#define SERVICE_UD	0x60
#define SERVICE_XRC	0xa0
#define OP_CNP		0x81
#define RAW_OP(opcode)	(0x100 | (opcode))
/* Stands for each opcode of clause.each in turn. */
#define EACH		0x200

/* AETH syndromes, IBTA tables 44 to 47. */
#define AETH_ACK	0x00
#define AETH_NO_LIMIT	0x1f
#define AETH_RNR	0x20
#define NAK_SEQ		0x60
#define NAK_INVALID	0x61
#define NAK_ACCESS	0x62
#define NAK_OPERATION	0x63

/* Path MTU of all rules. */
#define MTU		256
/* Sizes of memory: for the peer's requests, for receives, for work requests */
#define REMOTE_ROOM	8192
#define RECV_ROOM	4096
#define LOCAL_ROOM	16384
#define RECV_EACH	512
/* Address, key and so on of the peer's memory, in work requests */
#define PEER_VA		0x0123456789ab0000ULL
#define PEER_RKEY	0x5eed5eedU
#define PEER_IMM	0xfeedf00dU
#define PEER_QKEY	0x11223344U
#define RNR_TIMER	1
/* Length zero, where 0 selects a default */
#define NO_BYTES	UINT32_MAX

/* Keys for the peer's requests */
enum clause_key {
	KEY_ALL,		/* all rights */
	KEY_READ,		/* remote read only */
	KEY_WRITE,		/* remote write only */
	KEY_NONE,		/* no remote rights */
	KEY_FLUSH,		/* all rights, and FLUSH */
	KEY_FOREIGN,		/* of another protection domain */
	KEY_WINDOW,		/* of a memory window of type 2, bound to this queue pair */
	KEY_NOBODY,		/* unknown key */
	KEYS
};

/* XRC: SRQ that a request names */
enum clause_srq { SRQ_OWN, SRQ_SECOND, SRQ_FOREIGN, SRQ_NOBODY, SRQS };

enum step_kind {
	STEP_END, STEP_IN, STEP_OUT, STEP_SILENCE, STEP_NOT_DONE, STEP_POST, STEP_RECV,
	STEP_SENT, STEP_GOT, STEP_EVENT, STEP_STATE, STEP_MODIFY, STEP_MEMORY, STEP_RECEIVED,
	STEP_LOCAL, STEP_POKE, STEP_WORD, STEP_LOCAL_WORD, STEP_SHELL, STEP_IGNORE,
};

/**
 * struct step - one step of a rule
 * @kind: kind of step, which decides what other fields are used
 * @op: opcode of a packet; enum ibv_wr_opcode of a work request
 * @psn: PSN, counted from the first one
 * @len: length of payload or memory
 * @fill: value of each of these bytes; 0: fill_of() computes it from @psn
 * @times: number of packets, each with the next PSN and MSN; 0 is one
 * @key, @at, @dma: key, offset and length (0: @len) in a RETH or ATOMETH
 * @absolute: @at is an address
 * @no_ackreq, @ackreq: a packet of the peer has AckReq if it ends a message; these change that.
 *	A received packet must not have AckReq, or must have it
 * @pause: the packet is sent a round trip after the newest request, or later
 * @promptly: the packet does not wait for a timeout, or none expires during the silence
 * @flags: more bits of the BTH, in the byte with SE, M, pad and TVer
 * @pkey: P_Key, if not the default one
 * @qpn_bits, @psn_bits: bits to change in these words of the BTH
 * @qkey, @feth, @srq: fields of a DETH (0: the right Q_Key), FETH and XRCETH
 * @cut: bytes omitted before the ICRC
 * @spoil: PEER_BAD_*
 * @aeth: syndrome; an ACK has credits only with @credits, else it advertises no limit
 * @msn: message sequence number
 * @sack: a received ACK is a selective one
 * @duplicates, @held, @held_end: number of duplicates, and range of held packets that it reports
 * @value, @compare: operands of an atomic: swap or add, compare; its result
 * @status: status of a completion, type of an event, or state
 * @wc_flags: flags of a receive completion; more flags of a work request
 * @id: number of a work request or receive, from 1
 * @text, @undo: shell command, and a command for the end of the rule
 */
struct step {
	enum step_kind kind;
	uint16_t op;
	int32_t psn;
	unsigned int times;
	uint32_t len;
	uint8_t fill;
	enum clause_key key;
	uint64_t at;
	bool absolute;
	uint32_t dma;
	bool no_ackreq, ackreq, credits, pause, promptly;
	uint8_t flags;
	uint16_t pkey;
	uint32_t qpn_bits, psn_bits;
	uint32_t qkey;
	uint32_t feth;
	enum clause_srq srq;
	unsigned int spoil;
	uint32_t cut;
	uint8_t aeth;
	uint32_t msn;
	bool sack;
	uint32_t duplicates;
	int32_t held, held_end;
	uint64_t value, compare;
	int status;
	unsigned int id, wc_flags;
	const char *text, *undo;
};

#define IN(opcode, number, ...)						\
	{ .kind = STEP_IN, .op = (opcode), .psn = (number), ##__VA_ARGS__ }
#define OUT(opcode, number, ...)					\
	{ .kind = STEP_OUT, .op = (opcode), .psn = (number), ##__VA_ARGS__ }
#define ACK(number, messages)						\
	OUT(ACKNOWLEDGE, number, .msn = (messages))
#define SACK(number, messages, from, to, ...)				\
	OUT(ACKNOWLEDGE, number, .msn = (messages), .sack = true,	\
	    .held = (from), .held_end = (to), ##__VA_ARGS__)
#define NAK(syndrome, number, messages)					\
	OUT(ACKNOWLEDGE, number, .aeth = (syndrome), .msn = (messages))
#define RNR(number, messages)						\
	NAK(AETH_RNR | RNR_TIMER, number, messages)
/* All packets so far have been processed, and nothing is sent. */
#define SILENCE			{ .kind = STEP_SILENCE }
/* SILENCE, and the queue pair repeats no request after a timeout. */
#define NO_REPEAT		{ .kind = STEP_SILENCE, .promptly = true }
/* SILENCE, and no send completes. */
#define NOT_DONE		{ .kind = STEP_NOT_DONE }
/* All packets so far have been processed; answers do not matter. */
#define IGNORE			{ .kind = STEP_IGNORE }
/* A zero-length WRITE is executed: the queue pair expects this PSN. */
#define ALIVE(number, messages)						\
	IN(WRITE_ONLY, number), ACK(number, messages)
/* Post a work request; post a receive of RECV_EACH bytes or of the rule's length. */
#define POST(opcode, ...)						\
	{ .kind = STEP_POST, .op = IBV_WR_##opcode, ##__VA_ARGS__ }
#define RECV			{ .kind = STEP_RECV }
#define SENT(number, what)						\
	{ .kind = STEP_SENT, .id = (number), .status = IBV_WC_##what }
#define GOT(number, what, ...)						\
	{ .kind = STEP_GOT, .id = (number), .status = IBV_WC_##what, ##__VA_ARGS__ }
#define EVENT(what)		{ .kind = STEP_EVENT, .status = IBV_EVENT_##what }
#define STATE(what)		{ .kind = STEP_STATE, .status = IBV_QPS_##what }
/* Modify the queue pair to this state. */
#define MODIFY(what)		{ .kind = STEP_MODIFY, .status = IBV_QPS_##what }
/* Contents of memory: for the peer's requests, of a receive, for work requests */
#define MEMORY(from, bytes, what)					\
	{ .kind = STEP_MEMORY, .at = (from), .len = (bytes), .fill = (what) }
#define RECEIVED(number, from, bytes, what)				\
	{ .kind = STEP_RECEIVED, .id = (number), .at = (from), .len = (bytes), .fill = (what) }
#define LOCAL(from, bytes, what)					\
	{ .kind = STEP_LOCAL, .at = (from), .len = (bytes), .fill = (what) }
#define POKE(from, bytes, what)						\
	{ .kind = STEP_POKE, .at = (from), .len = (bytes), .fill = (what) }
#define WORD(from, what)	{ .kind = STEP_WORD, .at = (from), .value = (what) }
#define LOCAL_WORD(from, what)	{ .kind = STEP_LOCAL_WORD, .at = (from), .value = (what) }
/* A shell command, and one that runs at the end of the rule in any case. */
#define SHELL(command, finally)						\
	{ .kind = STEP_SHELL, .text = (command), .undo = (finally) }
/* The queue pair is in error; only flushed completions may follow. */
#define DEAD			STATE(ERR)
#define DEAD_EVENT(what)	EVENT(what), STATE(ERR)

#define STEPS			.steps = (const struct step[])
#define END			{ STEP_END }
#define OPCODES(...)							\
	.each = (const uint16_t[]){ __VA_ARGS__ },			\
	.repeat = sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)

/* Initial contents of memory */
#define UNTOUCHED		0xee
#define LOCAL_FILL		0x5a
/* Payload bytes of the peer's packet with this PSN */
#define FILL(number)		(0x40 + ((number) & 0x3f))

/**
 * struct clause - a rule
 * @name: clause of IBTA, and its contents
 * @type: type of the queue pair; 0 is RC (IBV_QPT_RC is 2)
 * @state: state of the queue pair; 0 is RTS
 * @deny: usual remote rights that the queue pair does not have
 * @grant: additional remote rights
 * @recvs, @recv_len: number and length (0: RECV_EACH) of posted receives
 * @rd_atomic: outstanding READs and atomics, in both directions; 0 is 4
 * @rnr_retry: 0 is 7 (unlimited); NO_RETRY is 0
 * @retry_cnt: 0 is 7
 * @timeout: 0 is no timeout
 * @each, @repeat: the rule runs for each of these opcodes
 * @not_v1: does not apply to RoCE v1
 * @steps: steps, up to STEP_END
 */
struct clause {
	const char *name;
	enum ibv_qp_type type;
	enum ibv_qp_state state;
	int deny, grant;
	unsigned int recvs, recv_len;
	uint8_t rd_atomic, rnr_retry, retry_cnt, timeout;
	const uint16_t *each;
	unsigned int repeat;
	bool not_v1;
	const struct step *steps;
};

#define NO_RETRY 99

/**
 * struct testbed - objects that all rules share
 * @pd, @foreign: protection domains
 * @remote, @recv, @local: memory for the peer's requests, receives, work requests
 * @mrs: regions of @remote, by enum clause_key
 * @bystander: another connection; when it answers, earlier packets have been processed
 * @xrc, @domains: two XRC domains, if the program uses them
 */
struct testbed {
	struct pair *p;
	struct peer peer;
	struct ibv_pd *pd, *foreign;
	struct region *remote, *recv, *local;
	struct ibv_mr *mrs[KEYS];
	struct conn *bystander;
	uint32_t bystander_psn, bystander_msn;
	bool xrc;
	struct domain *domains[2];
};

/* Set up the testbed, replacing an earlier one; run each rule as a case. */
void clause_begin(struct testbed *s, struct pair *p, enum peer_net net, bool xrc);
void clause_run_all(struct testbed *s, const struct clause *clauses, unsigned int n);

/* Table of rules for clause_main() */
struct clause_table {
	const struct clause *clauses;
	unsigned int n;
};

#define CLAUSES(table)		{ table, sizeof(table) / sizeof((table)[0]) }

/* Run all @tables with each kind of header named on the command line. */
int clause_main(int argc, char **argv, bool xrc, const struct clause_table *tables,
		unsigned int n);

#endif /* ROVER_SELFTEST_CLAUSE_H */
