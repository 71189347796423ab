/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clause - rules: cases in which a crafted peer talks to a queue pair
 *
 * A rule is a row of a table: what the queue pair is like, and steps.  A step is a
 * packet that the peer sends (IN), one that it has to be sent (OUT, ACK, NAK), a work
 * request, a completion, an event, a state or what memory holds.  Whatever is not
 * among the steps must not happen: a rule ends with a look for further packets,
 * completions and events.
 *
 * Sequence numbers count from the first one of either side, which lies just before
 * the end of the 24 bits.  Opcodes are those of RC; they become those of the
 * queue pair's own service unless RAW_OP() says which one is meant.
 */
#ifndef ROVER_SELFTEST_CLAUSE_H
#define ROVER_SELFTEST_CLAUSE_H

#include "peer.h"
#include "shared.h"

/* BTH opcodes, IBTA table 38, without the service. */
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
/* Each opcode of clause.each in its turn. */
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
/* What a rule may name of memory, where its receives are, and what its work requests use. */
#define REMOTE_ROOM	8192
#define RECV_ROOM	4096
#define LOCAL_ROOM	4096
#define RECV_EACH	512
/* The peer's memory, as work requests name it. */
#define PEER_VA		0x0123456789ab0000ULL
#define PEER_RKEY	0x5eed5eedU
#define PEER_IMM	0xfeedf00dU
#define PEER_QKEY	0x11223344U
#define RNR_TIMER	1
/* A length of zero where another one would be taken. */
#define NO_BYTES	UINT32_MAX

/* Keys of the memory a rule may name. */
enum clause_key {
	KEY_ALL,		/* all rights */
	KEY_READ,		/* may be read only */
	KEY_WRITE,		/* may be written only */
	KEY_NONE,		/* no remote rights */
	KEY_FLUSH,		/* all rights, and may be flushed */
	KEY_FOREIGN,		/* of another protection domain */
	KEY_WINDOW,		/* of a memory window of type 2, bound to this queue pair */
	KEY_NOBODY,		/* no such key */
	KEYS
};

/* XRC: which shared receive queue a request names. */
enum clause_srq { SRQ_OWN, SRQ_SECOND, SRQ_FOREIGN, SRQ_NOBODY, SRQS };

enum step_kind {
	STEP_END, STEP_IN, STEP_OUT, STEP_SILENCE, STEP_NOT_DONE, STEP_POST, STEP_RECV,
	STEP_SENT, STEP_GOT, STEP_EVENT, STEP_STATE, STEP_MEMORY, STEP_RECEIVED, STEP_LOCAL,
	STEP_POKE, STEP_WORD, STEP_LOCAL_WORD, STEP_SHELL, STEP_IGNORE,
};

/**
 * struct step - one step of a rule
 * @kind: what it is; the other fields are of some kinds only
 * @op: opcode of a packet; enum ibv_wr_opcode of a work request
 * @psn: sequence number, from the first one
 * @len: bytes of payload, or of memory
 * @fill: what each of them is; 0: what fill_of() makes of @psn
 * @times: 0 is once; so many packets, each with the next number, and the next MSN
 * @key, @at, @dma: of a RETH or ATOMETH: key, offset and length (0: @len)
 * @absolute: @at is an address
 * @no_ackreq, @ackreq: AckReq of a packet sent by the peer, which only packets that end a message
 *	have by themselves; of one received: it must not, or must have it
 * @flags: more bits of the BTH, of the byte with SE, M, pad and TVer
 * @pkey: the P_Key, if not the default one
 * @qpn_bits, @psn_bits: bits of these words of the BTH that are changed
 * @qkey, @feth, @srq: of a DETH (0: the right one), FETH and XRCETH
 * @cut: bytes that are left out before the ICRC
 * @spoil: PEER_BAD_*
 * @aeth: syndrome; credits of an ACK count only with @credits, else it is one without limit
 * @msn: message sequence number
 * @sack: of an ACK received: it is a selective one; @duplicates, @held, @held_end: what it
 *	says has arrived twice, and behind a gap: from the one to before the other
 * @value, @compare: of an atomic: to swap in or to add, to compare; an original value
 * @status: of a completion: enum ibv_wc_status; type of an event; a state
 * @wc_flags: of a completion of a receive; more flags of a work request
 * @id: number of a work request or receive, from 1
 * @text, @undo: a shell command, and another that is done at the end
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
	bool no_ackreq, ackreq, credits;
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
/* Nothing is sent, and what was received so far has been looked at. */
#define SILENCE			{ .kind = STEP_SILENCE }
/* SILENCE, and no send work request is completed either. */
#define NOT_DONE		{ .kind = STEP_NOT_DONE }
/* What was sent so far has been looked at; what is sent in answer does not matter. */
#define IGNORE			{ .kind = STEP_IGNORE }
/* A zero-length WRITE is executed: the queue pair expects this number. */
#define ALIVE(number, messages)						\
	IN(WRITE_ONLY, number), ACK(number, messages)
/* Post a work request; one receive of RECV_EACH bytes or of the rule's. */
#define POST(opcode, ...)						\
	{ .kind = STEP_POST, .op = IBV_WR_##opcode, ##__VA_ARGS__ }
#define RECV			{ .kind = STEP_RECV }
#define SENT(number, what)						\
	{ .kind = STEP_SENT, .id = (number), .status = IBV_WC_##what }
#define GOT(number, what, ...)						\
	{ .kind = STEP_GOT, .id = (number), .status = IBV_WC_##what, ##__VA_ARGS__ }
#define EVENT(what)		{ .kind = STEP_EVENT, .status = IBV_EVENT_##what }
#define STATE(what)		{ .kind = STEP_STATE, .status = IBV_QPS_##what }
/* The memory that the peer names, that of a receive, and that of work requests. */
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
/* A command, and one for the end of the rule, however that comes. */
#define SHELL(command, finally)						\
	{ .kind = STEP_SHELL, .text = (command), .undo = (finally) }
/* The queue pair is in error, and nothing but flushes is to follow. */
#define DEAD			STATE(ERR)
#define DEAD_EVENT(what)	EVENT(what), STATE(ERR)

#define STEPS			.steps = (const struct step[])
#define END			{ STEP_END }
#define OPCODES(...)							\
	.each = (const uint16_t[]){ __VA_ARGS__ },			\
	.repeat = sizeof((const uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t)

/* Memory is filled with this at first. */
#define UNTOUCHED		0xee
#define LOCAL_FILL		0x5a
/* Payload of the peer's packet with this number. */
#define FILL(number)		(0x40 + ((number) & 0x3f))

/**
 * struct clause - a row
 * @name: the clause of IBTA, and what it says
 * @type: of the queue pair; IBV_QPT_RC is 2, so 0 is RC, too
 * @state: in which it is; 0 is RTS
 * @deny: remote rights that it does not have
 * @grant: and others that it has
 * @recvs, @recv_len: receives that are posted, and how long they are; 0 is RECV_EACH
 * @rd_atomic: READs and atomics at a time that it takes, and makes; 0 is 4
 * @rnr_retry: 0 is 7, without end; NO_RETRY is none
 * @retry_cnt: 0 is 7
 * @timeout: 0 is one that does not come
 * @each, @repeat: the rule is done for each of these opcodes
 * @not_v1: it is about something that RoCE v1 has not
 * @steps: up to STEP_END
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
 * struct testbed - what all rules have in common
 * @pd, @foreign: protection domains
 * @remote, @recv, @local: memory
 * @mrs: that of @remote, by key
 * @bystander: a connection that answers as long as all is well: what came before is done then
 * @xrc, @domains: two domains of XRC, in programs that use them
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

/* Set up the testbed, in place of the one before; run rules on it, each as a case. */
void clause_begin(struct testbed *s, struct pair *p, enum peer_net net, bool xrc);
void clause_run_all(struct testbed *s, const struct clause *clauses, unsigned int n);

/* One table of rules, as clause_main() takes them. */
struct clause_table {
	const struct clause *clauses;
	unsigned int n;
};

#define CLAUSES(table)		{ table, sizeof(table) / sizeof((table)[0]) }

/* All @tables, over each kind of header that the command line asks for. */
int clause_main(int argc, char **argv, bool xrc, const struct clause_table *tables,
		unsigned int n);

#endif /* ROVER_SELFTEST_CLAUSE_H */
