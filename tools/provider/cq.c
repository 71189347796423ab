// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * cq.c: completion queues are made, resized, armed and destroyed here, and
 * polled in poll.c.
 *
 * Arming
 * ======
 *
 * Verbs: a request for the next completion stands until it has fired; a
 * later request for solicited ones must not weaken it. The kernel sees one
 * word only, so the provider must not replace NEXT by SOLICITED while the NEXT
 * may still be pending. Whether it fired is known only from its event:
 *
 *   - each arm word raises one event at most, and those that were replaced
 *     before they fired raise none. So when as many events have been read as
 *     words were written, each of them has fired and nothing is pending;
 *   - as long as fewer were read, the last word may be pending: a request for
 *     solicited ones that follows a NEXT is then made a NEXT too. It is
 *     written as a new word: should the earlier one have fired after all, with
 *     its event still unread, the program is owed one more.
 *
 * So no event is ever lost. A program that mixes both kinds and arms again
 * without having read an event gets them for unsolicited completions, too, from
 * then on: how many events are still to come is not known any more.
 */
#include <errno.h>
#include <stdlib.h>

#include "compat.h"
#include "rover.h"

#define CQ_COMP_MASK	(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)
#define CQ_FLAGS	IBV_CREATE_CQ_ATTR_SINGLE_THREADED

#define CQ_TIMESTAMPS	(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define CQ_WC_FLAGS	((uint64_t)IBV_WC_STANDARD_FLAGS | CQ_TIMESTAMPS)

/* Errors are positive in here, as in verbs. */
static int map_ring(struct rover_ring *ring, struct ibv_context *ctx,
		    const struct rover_uapi_ring *desc)
{
	int err = rover_ring_map(ring, ctx->cmd_fd, desc,
				 sizeof(struct rover_cqe));

	/* Every completion queue has a ring. */
	if (!err && !ring->hdr)
		err = -EPROTO;
	return -err;
}

static struct rover_cq *create_cq(struct ibv_context *ctx,
				  const struct ibv_cq_init_attr_ex *attr,
				  bool single)
{
	struct rover_create_cq_resp resp = { 0 };
	struct rover_cq *cq = calloc(1, sizeof(*cq));
	int err;

	if (!cq)
		return NULL;
	err = rover_cmd_create_cq(ctx, attr, &cq->vcq, &resp.ibv_resp,
				  sizeof(resp));
	if (err)
		goto err_free;
	err = map_ring(&cq->ring, ctx, &resp.ring);
	if (err) {
		rover_say(ctx, "mapping a completion ring", err);
		goto err_destroy;
	}
	rover_lock_init(&cq->lock, single);
	rover_lock_init(&cq->arm_lock, false);
	return cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	free(cq);
	errno = err;
	return NULL;
}

/**
 * rover_create_cq() - ibv_create_cq()
 * @ctx: context
 * @cqe: completions it must hold
 * @channel: where its events go; may be NULL
 * @vector: completion vector
 */
struct ibv_cq *rover_create_cq(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = vector,
	};
	struct rover_cq *cq = create_cq(ctx, &attr, false);

	return cq ? &cq->vcq.cq : NULL;
}

/**
 * rover_create_cq_ex() - ibv_create_cq_ex()
 * @ctx: context
 * @attr: what is wanted; a flag that is not known is refused
 */
struct ibv_cq_ex *rover_create_cq_ex(struct ibv_context *ctx,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_pd *parent = NULL;
	struct rover_cq *cq;
	bool single;
	uint32_t flags = 0;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		flags = attr->flags;
	if (attr->comp_mask & ~CQ_COMP_MASK || flags & ~CQ_FLAGS ||
	    attr->wc_flags & ~CQ_WC_FLAGS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		parent = attr->parent_domain;
	/* To a protection domain no queue can belong. */
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!parent || !to_pd(parent)->of)) {
		errno = EINVAL;
		return NULL;
	}

	single = flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED ||
		 rover_pd_single(parent);
	cq = create_cq(ctx, attr, single);
	if (!cq)
		return NULL;
	rover_cq_set_ops(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

/*
 * The kernel has moved what was not polled to the front of a new ring, and the
 * arm word with it.
 */
static int change_ring(struct rover_cq *cq, const struct rover_uapi_ring *desc)
{
	struct rover_ring ring;
	int err = map_ring(&ring, cq->vcq.cq.context, desc);

	if (err) {
		cq->broken = true;
		return err;
	}
	rover_ring_unmap(&cq->ring);
	cq->ring = ring;
	cq->head = 0;
	cq->told = 0;
	/* What is shown to the program was not consumed, so it is the first. */
	if (cq->current)
		cq->current = rover_slot(&cq->ring, 0);
	return 0;
}

/**
 * rover_resize_cq() - ibv_resize_cq()
 * @ibcq: completion queue
 * @cqe: completions it must hold
 *
 * Others that poll or arm meanwhile sleep. It may be called between start_poll
 * and end_poll.
 *
 * Return: 0 or an errno. Nothing has changed then, unless there was no memory
 * to map the new ring: polling is an error from then on.
 */
int rover_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct rover_cq *cq = to_cq(ibcq);
	struct rover_resize_cq_resp resp = { 0 };
	struct ibv_resize_cq cmd = { 0 };
	int err;

	rover_lock_close(&cq->lock);
	rover_lock_close(&cq->arm_lock);
	/* The kernel moves what it has not been told to be consumed. */
	rover_cq_tell(cq);
	err = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp));
	if (!err)
		err = change_ring(cq, &resp.ring);
	rover_lock_open(&cq->arm_lock);
	rover_lock_open(&cq->lock);
	return err;
}

/**
 * rover_modify_cq() - ibv_modify_cq(): have events wait for more completions
 * @ibcq: completion queue
 * @attr: for how many, and for how long at most
 */
int rover_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = { 0 };

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

/**
 * rover_destroy_cq() - ibv_destroy_cq()
 * @ibcq: completion queue
 */
int rover_destroy_cq(struct ibv_cq *ibcq)
{
	struct rover_cq *cq = to_cq(ibcq);
	int err = ibv_cmd_destroy_cq(ibcq);

	if (err)
		return err;
	rover_ring_unmap(&cq->ring);
	rover_lock_destroy(&cq->lock);
	rover_lock_destroy(&cq->arm_lock);
	free(cq);
	return 0;
}

/**
 * rover_arm_cq() - ibv_req_notify_cq(), without entering the kernel
 * @ibcq: completion queue
 * @solicited_only: what the event is for; see the rule above
 */
int rover_arm_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct rover_cq *cq = to_cq(ibcq);

	rover_lock(&cq->arm_lock);
	if (!solicited_only)
		cq->wanted = ROVER_ARM_NEXT;
	else if (!cq->wanted)
		cq->wanted = ROVER_ARM_SOLICITED;
	cq->arm += ROVER_ARM_STEP;
	cq->armings++;
	rover_ring_arm(&cq->ring, cq->arm | cq->wanted);
	rover_unlock(&cq->arm_lock);
	return 0;
}

/**
 * rover_cq_event() - the program has read an event of this queue
 * @ibcq: completion queue
 */
void rover_cq_event(struct ibv_cq *ibcq)
{
	struct rover_cq *cq = to_cq(ibcq);

	rover_lock(&cq->arm_lock);
	if (cq->armings && !--cq->armings)
		cq->wanted = 0;
	rover_unlock(&cq->arm_lock);
}
