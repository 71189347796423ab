/* SPDX-License-Identifier: GPL-2.0 */
/* flow - messages from one end to the other, and what the model knows of them */
#ifndef SIM_FLOW_H
#define SIM_FLOW_H

#include <linux/types.h>

struct end;

/**
 * struct message - a work request
 * @opcode: enum rover_wqe_opcode
 * @signaled: has a completion
 * @len: bytes
 * @imm: immediate data
 * @recv: number of the receive that it takes
 * @from: source of WRITE and SEND, or remote source of READ
 * @to: destination; of a SEND unknown until it is placed
 * @value: atomic: value that is found; ATOMIC WRITE: value to store
 * @posted_at: time
 * @visible: its last byte is placed; no more bytes may come
 * @executed: its receive is complete, or its atomic done
 */
struct message {
	u8 opcode;
	bool signaled;
	u32 len;
	u32 imm;
	u32 recv;
	const u8 *from;
	u8 *to;
	u64 value;
	u64 posted_at;
	bool visible;
	bool executed;
};

/**
 * struct flow - one direction of a connection
 * @from: sender
 * @to: receiver
 * @rng: of the workload
 * @mask: numbers of rows are a power of two, more than are posted at a time
 * @rows: messages by number
 * @recv_rows: number of the message that takes a receive
 * @posted: messages
 * @done: messages completed
 * @seen: messages that the program has seen complete
 * @visible: all before are placed at the receiver, or place nothing there
 * @answered: all before are placed at the sender, or place nothing there
 * @recvs: receives that messages take
 * @recv_done: of these, completed
 * @atomics: executed
 * @atomic_next: number of the atomic to be executed next
 * @limit: messages to post
 * @slot: bytes of a slot
 * @slots: destinations of WRITEs
 * @recv_slots: destinations of SENDs
 * @read_slots: destinations of READs, at the sender
 * @atomic: variable that atomics change; @atomic_model is its value when all
 *	posted ones are done
 * @failed: a completion was in error; the rest is flushed
 * @begun: when the first message was posted
 * @ended: when the last one was complete
 * @bytes: completed
 * @next_at: earliest post
 * @waiting: an event will post
 */
struct flow {
	struct end *from;
	struct end *to;
	u64 rng;
	u32 mask;
	struct message *rows;
	u32 *recv_rows;
	u32 posted;
	u32 done;
	u32 seen;
	u32 visible;
	u32 answered;
	u32 recvs;
	u32 recv_done;
	u32 atomics;
	u32 atomic_next;
	u32 limit;
	size_t slot;
	u8 *slots;
	u8 *recv_slots;
	u8 *read_slots;
	u64 atomic;
	u64 atomic_model;
	bool failed;
	u64 begun;
	u64 ended;
	u64 bytes;
	u64 next_at;
	bool waiting;
};

static inline struct message *flow_row(struct flow *flow, u32 number)
{
	return &flow->rows[number & flow->mask];
}

static inline bool flow_over(const struct flow *flow)
{
	return flow->done == flow->limit;
}

#endif /* SIM_FLOW_H */
