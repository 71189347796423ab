/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * rover.h: the provider's objects, and which file does what to them.
 */
#ifndef PROVIDER_ROVER_H
#define PROVIDER_ROVER_H

#include <infiniband/driver.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <util/util.h>

#include "ring.h"

/**
 * struct rover_device - a device as libibverbs lists it
 * @vdev: libibverbs' part
 * @abi: ABI version of the module that made it
 */
struct rover_device {
	struct verbs_device vdev;
	uint32_t abi;
};

/**
 * struct rover_context - an open device
 * @vctx: libibverbs' part
 * @caps: what program and module both understand
 * @max_inline: largest max_inline_data the module gives
 * @max_sge: largest number of gather or scatter entries
 */
struct rover_context {
	struct verbs_context vctx;
	uint64_t caps;
	uint32_t max_inline;
	uint32_t max_sge;
};

/**
 * struct rover_cq - a completion queue
 * @vcq: libibverbs' part
 * @ring: what is shared
 * @head: index of the first completion not yet consumed
 * @told: the last @head that the kernel was told
 * @current: completion between start_poll and end_poll; NULL past the last
 * @lock: polling and resizing; held between start_poll and end_poll
 * @broken: a resize lost the ring
 * @arm_lock: @ring while arming, and all below; taken inside @lock
 * @arm: count part of the last arm word
 * @wanted: ROVER_ARM_* of the last arm word; 0 when none can be pending
 * @armings: arm words not answered yet by an event that the program has read
 */
struct rover_cq {
	struct verbs_cq vcq;
	struct rover_ring ring;
	uint32_t head;
	uint32_t told;
	const struct rover_cqe *current;
	struct rover_lock lock;
	bool broken;
	struct rover_lock arm_lock;
	uint32_t arm;
	uint32_t wanted;
	uint32_t armings;
};

/**
 * struct rover_doorbell - the way into the kernel, made once
 * @hdr: request of the doorbell method, complete with its one attribute
 * @room: for that attribute
 *
 * The kernel only reads it, so that threads may share it.
 */
struct rover_doorbell {
	union {
		struct ib_uverbs_ioctl_hdr hdr;
		uint64_t room[(sizeof(struct ib_uverbs_ioctl_hdr) +
			       sizeof(struct ib_uverbs_attr)) / 8];
	};
};

/**
 * struct rover_ah - an address handle
 * @ah: libibverbs' part
 * @number: what the kernel knows it by
 */
struct rover_ah {
	struct ibv_ah ah;
	uint32_t number;
};

/**
 * struct rover_td - a thread domain: what is made in it, one thread uses
 * @td: libibverbs' part
 * @parents: parent domains that it is part of
 */
struct rover_td {
	struct ibv_td td;
	atomic_uint parents;
};

/**
 * struct rover_pd - a protection domain, or a parent domain
 * @pd: libibverbs' part
 * @of: of a parent domain, the protection domain that it is to the kernel
 * @td: of a parent domain, its thread domain, if it has one
 * @parents: parent domains that it is part of
 */
struct rover_pd {
	struct ibv_pd pd;
	struct rover_pd *of;
	struct rover_td *td;
	atomic_uint parents;
};

struct rover_op;

/**
 * struct rover_qp - a queue pair
 * @vqp: libibverbs' part
 * @sq: send queue; takes nothing where it only receives
 * @rq: receive queue; takes nothing where receives are shared, or there are none
 * @max_inline: bytes, as granted
 * @doorbell: enters the kernel for this queue pair
 * @next: ibv_wr_*: index the next work request gets; under @sq.lock, as the rest
 * @wqe: ibv_wr_*: work request being built; NULL before the first
 * @op: ibv_wr_*: its row
 * @err: ibv_wr_*: first error since wr_start
 */
struct rover_qp {
	struct verbs_qp vqp;
	struct rover_queue sq;
	struct rover_queue rq;
	uint32_t max_inline;
	struct rover_doorbell doorbell;
	uint32_t next;
	struct rover_send_wqe *wqe;
	const struct rover_op *op;
	int err;
};

/**
 * struct rover_srq - a shared receive queue
 * @vsrq: libibverbs' part
 * @rq: receives; its lock is closed while the kernel changes the ring
 */
struct rover_srq {
	struct verbs_srq vsrq;
	struct rover_queue rq;
};

static inline struct rover_cq *to_cq(struct ibv_cq *ibcq)
{
	return container_of(ibcq, struct rover_cq, vcq.cq);
}

static inline struct rover_cq *to_cq_ex(struct ibv_cq_ex *ex)
{
	return container_of(ex, struct rover_cq, vcq.cq_ex);
}

static inline struct rover_ah *to_ah(struct ibv_ah *ah)
{
	return container_of(ah, struct rover_ah, ah);
}

static inline struct rover_srq *to_srq(struct ibv_srq *ibsrq)
{
	return container_of(ibsrq, struct rover_srq, vsrq.srq);
}

static inline struct rover_qp *to_qp(struct ibv_qp *ibqp)
{
	return container_of(ibqp, struct rover_qp, vqp.qp);
}

static inline struct rover_qp *to_qp_ex(struct ibv_qp_ex *ex)
{
	return container_of(ex, struct rover_qp, vqp.qp_ex);
}

static inline struct rover_pd *to_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct rover_pd, pd);
}

/* Is all that is made in this domain used by one thread at a time? */
static inline bool rover_pd_single(struct ibv_pd *pd)
{
	return pd && to_pd(pd)->td;
}

/* xrc.c */
struct ibv_xrcd *rover_open_xrcd(struct ibv_context *ctx,
				 struct ibv_xrcd_init_attr *attr);
int rover_close_xrcd(struct ibv_xrcd *xrcd);

/* flow.c */
struct ibv_flow *rover_create_flow(struct ibv_qp *ibqp,
				   struct ibv_flow_attr *attr);
int rover_destroy_flow(struct ibv_flow *flow);

/* rover.c */
void rover_say(struct ibv_context *ctx, const char *what, int err);

/* doorbell.c */
void rover_doorbell_init(struct rover_doorbell *db, uint32_t qpn);
int rover_doorbell_ring(const struct rover_qp *qp);

/* domain.c */
struct ibv_pd *rover_alloc_pd(struct ibv_context *ctx);
int rover_dealloc_pd(struct ibv_pd *ibpd);
struct ibv_pd *rover_alloc_parent_domain(struct ibv_context *ctx,
					 struct ibv_parent_domain_init_attr *attr);
struct ibv_td *rover_alloc_td(struct ibv_context *ctx,
			      struct ibv_td_init_attr *attr);
int rover_dealloc_td(struct ibv_td *ibtd);
struct ibv_pd *rover_import_pd(struct ibv_context *ctx, uint32_t handle);
void rover_unimport_pd(struct ibv_pd *pd);

/* dm.c */
struct ibv_dm *rover_alloc_dm(struct ibv_context *ctx,
			      struct ibv_alloc_dm_attr *attr);
int rover_free_dm(struct ibv_dm *ibdm);
struct ibv_dm *rover_import_dm(struct ibv_context *ctx, uint32_t handle);
void rover_unimport_dm(struct ibv_dm *ibdm);
struct ibv_mr *rover_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
			       uint64_t offset, size_t length,
			       unsigned int access);

/* memory.c */
struct ibv_mr *rover_import_mr(struct ibv_pd *pd, uint32_t handle);
void rover_unimport_mr(struct ibv_mr *mr);
struct ibv_mr *rover_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access);
struct ibv_mr *rover_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
int rover_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access);
int rover_dereg_mr(struct verbs_mr *vmr);
struct ibv_mw *rover_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int rover_dealloc_mw(struct ibv_mw *mw);
struct ibv_ah *rover_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int rover_destroy_ah(struct ibv_ah *ah);

/* cq.c */
struct ibv_cq *rover_create_cq(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel, int vector);
struct ibv_cq_ex *rover_create_cq_ex(struct ibv_context *ctx,
				     struct ibv_cq_init_attr_ex *attr);
int rover_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int rover_resize_cq(struct ibv_cq *ibcq, int cqe);
int rover_destroy_cq(struct ibv_cq *ibcq);
int rover_arm_cq(struct ibv_cq *ibcq, int solicited_only);
void rover_cq_event(struct ibv_cq *ibcq);

/* poll.c */
int rover_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc);
void rover_cq_tell(struct rover_cq *cq);
void rover_cq_forget(struct ibv_cq *ibcq, uint32_t qpn);
void rover_cq_set_ops(struct rover_cq *cq, uint64_t wc_flags);

/* srq.c */
struct ibv_srq *rover_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr);
struct ibv_srq *rover_create_srq_ex(struct ibv_context *ctx,
				    struct ibv_srq_init_attr_ex *attr);
int rover_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num);
int rover_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask);
int rover_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int rover_destroy_srq(struct ibv_srq *ibsrq);

/* qp.c */
struct ibv_qp *rover_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *rover_create_qp_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *rover_open_qp(struct ibv_context *ctx,
			     struct ibv_qp_open_attr *attr);
int rover_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int rover_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init);
int rover_destroy_qp(struct ibv_qp *ibqp);

/* post.c */
int rover_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad);
int rover_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind);
int rover_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad);

int rover_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad);

/* build.c */
void rover_qp_set_ops(struct rover_qp *qp, uint64_t send_ops);
void rover_qp_restart_build(struct rover_qp *qp);

#endif /* PROVIDER_ROVER_H */
