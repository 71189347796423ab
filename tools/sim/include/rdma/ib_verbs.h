/* SPDX-License-Identifier: GPL-2.0 */
/* ib_verbs - objects and attributes of the RDMA core, as far as used */
#ifndef SIM_RDMA_IB_VERBS_H
#define SIM_RDMA_IB_VERBS_H

#include_next <rdma/ib_verbs.h>
#include <sim/kernel.h>

struct ib_udata;
struct ib_dmah;
struct ib_umem;
struct ib_wc;
struct ib_cq_init_attr;
struct ib_srq_attr;
struct ib_srq_init_attr;
struct ib_gid_attr;
struct rdma_ah_attr;
struct uverbs_attr_bundle;

enum ib_qp_state {
	IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD,
	IB_QPS_SQE, IB_QPS_ERR,
};

enum ib_event_type {
	IB_EVENT_CQ_ERR, IB_EVENT_QP_FATAL, IB_EVENT_QP_REQ_ERR,
	IB_EVENT_QP_ACCESS_ERR, IB_EVENT_COMM_EST, IB_EVENT_SQ_DRAINED,
	IB_EVENT_QP_LAST_WQE_REACHED = 16,
};

enum {
	IB_ACCESS_LOCAL_WRITE = 1,
	IB_ACCESS_REMOTE_WRITE = 2,
	IB_ACCESS_REMOTE_READ = 4,
	IB_ACCESS_REMOTE_ATOMIC = 8,
	IB_ACCESS_MW_BIND = 16,
	IB_ACCESS_FLUSH_GLOBAL = 256,
	IB_ACCESS_FLUSH_PERSISTENT = 512,
};

enum ib_mtu { IB_MTU_256 = 1 };
enum ib_port_state { IB_PORT_NOP };
enum ib_mr_type { IB_MR_TYPE_MEM_REG };
enum ib_cq_notify_flags { IB_CQ_SOLICITED = 1 };
enum ib_srq_attr_mask { IB_SRQ_LIMIT = 2 };

union ib_gid { u8 raw[16]; };
struct ib_device { int ops; };
struct ib_pd { struct ib_device *device; };
struct ib_cq { struct ib_device *device; atomic_t usecnt; };
struct ib_mr { struct ib_pd *pd; };
struct ib_mw { struct ib_pd *pd; };
struct ib_srq { struct ib_pd *pd; };
struct ib_flow { void *qp; };
struct ib_xrcd { void *device; };
struct ib_ucontext { void *device; };

struct ib_event {
	struct ib_device *device;
	union {
		struct ib_qp *qp;
		struct ib_cq *cq;
	} element;
	enum ib_event_type event;
};

struct ib_qp {
	struct ib_device *device;
	void (*event_handler)(struct ib_event *event, void *context);
	void *qp_context;
};

struct ib_qp_attr {
	u32 rq_psn;
	u32 sq_psn;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 en_sqd_async_notify;
};

#define iboe_get_mtu(mtu)	IB_MTU_256

#endif /* SIM_RDMA_IB_VERBS_H */
