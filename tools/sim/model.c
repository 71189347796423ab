// SPDX-License-Identifier: GPL-2.0
/*
 * model - what IBTA requires to be seen, checked while it is done
 *
 * The last byte of a message is the one that programs poll: it comes once, when
 * all others are there, and after those of all earlier messages.  Completions
 * come in order, once, after their effects.
 */
#include <stdarg.h>
#include <stdio.h>

#include "clock.h"
#include "model.h"
#include "options.h"
#include "pair.h"
#include "random.h"
#include "rc/retransmit.h"
#include "wire/psn.h"
#include "wire/wr.h"

bool model_failed, model_closing;
u64 model_progress_at;
u8 *model_data;

static u64 *model_times;
static size_t model_times_used, model_times_room;

/* The longest message may begin anywhere. */
static void model_make_data(void)
{
	static u64 longest;
	u64 rng, *word;

	if (model_data && opts.size <= longest)
		return;
	longest = opts.size;
	free(model_data);
	model_data = malloc(MODEL_DATA + opts.size + 8);
	random_seed(&rng, 1, 1);
	for (word = (u64 *)model_data;
	     (u8 *)word < model_data + MODEL_DATA + opts.size; word++)
		*word = random_next(&rng);
}

void model_reset(void)
{
	model_make_data();
	model_failed = false;
	model_closing = false;
	model_progress_at = clock_now;
	model_times_used = 0;
}

void model_fail(const struct end *end, const char *format, ...)
{
	va_list args;

	if (model_failed)
		return;
	model_failed = true;
	printf("# %.6f ms, %s: ",
	       (double)(clock_now - NSEC_PER_SEC) / NSEC_PER_MSEC,
	       end ? end->name : "network");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* Placement ******************************************************************/

static u16 model_flags(const struct message *row)
{
	return rover_wrs[row->opcode].flags;
}

/* Test whether a message has bytes for the receiver's memory. */
static bool model_places(const struct message *row)
{
	return row->len && (model_flags(row) & ROVER_WR_GATHER ||
			    row->opcode == ROVER_WQE_ATOMIC_WRITE);
}

/* Test whether it has bytes for the sender's. */
static bool model_fetches(const struct message *row)
{
	return row->len && model_flags(row) & ROVER_WR_SCATTER;
}

/* Go on to the first message that is neither visible nor without bytes. */
static u32 model_advance(struct flow *flow, u32 *next, u32 end,
			 bool (*has_bytes)(const struct message *row))
{
	while (*next < end) {
		const struct message *row = flow_row(flow, *next);

		if (has_bytes(row) && !row->visible)
			break;
		++*next;
	}
	return *next;
}

static void model_place(struct end *end, struct flow *flow, u32 number,
			u8 *slot, u8 *at, u32 len, bool answer)
{
	struct message *row = flow_row(flow, number);
	u32 off = at - slot;

	model_progress_at = clock_now;
	if (row->visible) {
		model_fail(end, "message %u: bytes %u to %u come again", number,
			   off, off + len);
		return;
	}
	if (off + len < row->len)
		return;
	if (off + len > row->len ||
	    model_advance(flow, answer ? &flow->answered : &flow->visible,
			  number, answer ? model_fetches : model_places) !=
	    number) {
		model_fail(end, "message %u is visible early", number);
		return;
	}
	if (memcmp(slot, row->from, row->len)) {
		model_fail(end, "message %u: wrong bytes", number);
		return;
	}
	row->visible = true;
}

/* The newest number below @count in a slot; -1 for none. */
static s64 model_newest(u32 count, u32 slot, u32 slots)
{
	if (count <= slot)
		return -1;
	return count - 1 - (count - 1 - slot) % slots;
}

static bool model_in(const u8 *base, size_t bytes, const u8 *at, u32 len)
{
	return base && at >= base && at + len <= base + bytes;
}

static u32 model_receives(void)
{
	return opts.receives == OPTION_SAME ? 2 * opts.depth : opts.receives;
}

bool model_owns(struct end *end, const u8 *at, u32 len, bool write)
{
	struct flow *in = end->in, *out = &end->out;

	return (!write && model_in(model_data, MODEL_DATA + opts.size, at, len)) ||
	       model_in(in->slots, in->slot * opts.depth, at, len) ||
	       model_in(in->recv_slots, in->slot * model_receives(), at, len) ||
	       model_in(out->read_slots, out->slot * opts.depth, at, len) ||
	       model_in((u8 *)&in->atomic, sizeof(in->atomic), at, len);
}

static void model_place_recv(struct end *end, u8 *at, u32 len)
{
	struct flow *in = end->in;
	u32 slot = (at - in->recv_slots) / in->slot;
	s64 recv = model_newest(end->recv_posted, slot, model_receives());
	u32 number;

	if (recv < 0 || recv >= in->recvs) {
		model_fail(end, "bytes for receive %lld, which no message takes",
			   (long long)recv);
		return;
	}
	number = in->recv_rows[recv & in->mask];
	flow_row(in, number)->to = in->recv_slots + slot * in->slot;
	model_place(end, in, number, in->recv_slots + slot * in->slot, at, len,
		    false);
}

void model_placed(struct end *end, u8 *at, u32 len)
{
	struct flow *in = end->in, *out = &end->out, *flow;
	bool answer = model_in(out->read_slots, out->slot * opts.depth, at, len);
	u8 *base;
	s64 number;
	u32 slot;

	if (model_in(in->recv_slots, in->slot * model_receives(), at, len)) {
		model_place_recv(end, at, len);
		return;
	}
	flow = answer ? out : in;
	base = answer ? out->read_slots : in->slots;
	slot = (at - base) / flow->slot;
	number = model_newest(flow->posted, slot, opts.depth);
	if (number < 0 || !(answer ? model_fetches : model_places)
			    (flow_row(flow, number))) {
		model_fail(end, "bytes in slot %u, which has no message", slot);
		return;
	}
	model_place(end, flow, number, base + slot * flow->slot, at, len, answer);
}

static bool model_is_atomic(const struct message *row)
{
	return model_flags(row) & ROVER_WR_ATOMIC;
}

void model_atomic(struct end *end, u64 orig)
{
	struct flow *flow = end->in;
	struct message *row;

	model_progress_at = clock_now;
	while (flow->atomic_next < flow->posted &&
	       !model_is_atomic(flow_row(flow, flow->atomic_next)))
		flow->atomic_next++;
	row = flow_row(flow, flow->atomic_next);
	if (flow->atomic_next == flow->posted || row->value != orig) {
		model_fail(end, "atomic %u finds %#llx: out of turn",
			   flow->atomic_next, (unsigned long long)orig);
		return;
	}
	if (model_advance(flow, &flow->visible, flow->atomic_next,
			  model_places) != flow->atomic_next)
		model_fail(end, "atomic %u is executed early", flow->atomic_next);
	row->executed = true;
	flow->atomic_next++;
}

/*
 * The peer keeps resources for so many READs and atomics.  Those that were sent
 * count until they are answered: all from una on.
 */
void model_rd_atomic(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	u32 piece = rover_retransmit_piece(qp), used = 0, i;
	s32 end = max(rover_psn_diff(req->next_psn, req->una),
		      rover_psn_diff(req->psn, req->una) + 1);

	for (i = req->oldest; i != req->fetched; i++) {
		struct rover_sent *row = rover_retransmit_row(qp, i);
		s32 at = rover_psn_diff(row->psn, req->una);
		s32 from = max(-at, 0);
		s32 to = min_t(s32, end - at, rover_retransmit_packets(qp, row));

		if (rover_retransmit_is_rd_atomic(row) && from < to)
			used += (to - 1) / piece - from / piece + 1;
	}
	if (used > opts.rd_atomic)
		model_fail(pair_end(qp), "%u READs and atomics are in flight",
			   used);
}

/* Completions ****************************************************************/

static bool model_takes_recv(const struct message *row)
{
	return model_flags(row) & ROVER_WR_RECV;
}

static void model_check_recv(struct end *end, const struct message *row,
			     u32 number, const struct rover_cqe *cqe)
{
	struct flow *flow = end->in;
	u8 opcode = row->opcode == ROVER_WQE_WRITE_IMM ?
		    ROVER_CQE_RECV_WRITE_IMM : ROVER_CQE_RECV;
	u8 flags = model_flags(row) & ROVER_WR_IMM ? ROVER_CQE_WITH_IMM :
		   model_flags(row) & ROVER_WR_INV ? ROVER_CQE_WITH_INV : 0;

	if (cqe->opcode != opcode || cqe->byte_len != row->len ||
	    cqe->flags != flags || (flags && cqe->imm != row->imm))
		model_fail(end, "message %u: wrong receive: opcode %u, %u bytes, imm %#x",
			   number, cqe->opcode, cqe->byte_len, cqe->imm);
	if (model_advance(flow, &flow->visible, number, model_places) < number ||
	    (row->len && !row->visible))
		model_fail(end, "message %u: receive is complete early", number);
}

void model_recv_done(struct end *end, const struct rover_cqe *cqe)
{
	struct flow *flow = end->in;
	struct message *row;
	u32 number;

	model_progress_at = clock_now;
	if (cqe->wr_id != end->recv_done) {
		model_fail(end, "receive %llu is complete, not %u",
			   (unsigned long long)cqe->wr_id, end->recv_done);
		return;
	}
	end->recv_done++;
	if (cqe->status) {
		if (cqe->status != IB_WC_WR_FLUSH_ERR ||
		    !(model_closing || opts.dead))
			model_fail(end, "receive %u: status %u, fault %u",
				   end->recv_done - 1, cqe->status,
				   cqe->vendor_err);
		return;
	}
	if (flow->recv_done == flow->recvs) {
		model_fail(end, "a receive without a message");
		return;
	}
	number = flow->recv_rows[flow->recv_done++ & flow->mask];
	row = flow_row(flow, number);
	model_check_recv(end, row, number, cqe);
	row->executed = true;
}

static void model_add_time(u64 time)
{
	if (model_times_used == model_times_room) {
		model_times_room = max_t(size_t, 2 * model_times_room, 1024);
		model_times = realloc(model_times,
				      model_times_room * sizeof(*model_times));
	}
	model_times[model_times_used++] = time;
}

/* The oldest message is done: so are its effects. */
static void model_check_done(struct end *end, u32 number)
{
	struct flow *flow = &end->out;
	struct message *row = flow_row(flow, number);

	if ((model_places(row) || model_fetches(row)) && !row->visible)
		model_fail(end, "message %u: complete without its bytes", number);
	if ((model_takes_recv(row) || model_is_atomic(row)) && !row->executed)
		model_fail(end, "message %u: complete, but not at the peer",
			   number);
	flow->done++;
	/* The rows of these messages are used again. */
	flow->visible = max(flow->visible, flow->done);
	flow->answered = max(flow->answered, flow->done);
	flow->atomic_next = max(flow->atomic_next, flow->done);
	flow->bytes += row->len;
	flow->ended = clock_now;
	model_add_time(clock_now - row->posted_at);
}

static void model_send_failed(struct end *end, const struct rover_cqe *cqe)
{
	struct flow *flow = &end->out;
	u8 first = IB_WC_RETRY_EXC_ERR;

	if (cqe->status != (flow->failed ? IB_WC_WR_FLUSH_ERR : first) ||
	    !opts.dead)
		model_fail(end, "message %u: status %u, fault %u", flow->done,
			   cqe->status, cqe->vendor_err);
	flow->failed = true;
	flow->done++;
	if (flow->done == flow->posted)
		flow->limit = flow->posted;
}

void model_send_done(struct end *end, const struct rover_cqe *cqe)
{
	struct flow *flow = &end->out;
	u32 number = cqe->wr_id;

	model_progress_at = clock_now;
	while (!flow->failed && flow->done < number &&
	       flow->done < flow->posted &&
	       !flow_row(flow, flow->done)->signaled)
		model_check_done(end, flow->done);
	if (number != flow->done || number >= flow->posted ||
	    (!cqe->status && flow->failed)) {
		model_fail(end, "message %u is complete, not %u", number,
			   flow->done);
		return;
	}
	if (cqe->status)
		model_send_failed(end, cqe);
	else
		model_check_done(end, number);
}

static int model_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

u64 *model_latencies(size_t *count)
{
	qsort(model_times, model_times_used, sizeof(*model_times), model_compare);
	*count = model_times_used;
	return model_times;
}
