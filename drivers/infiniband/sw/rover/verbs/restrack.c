// SPDX-License-Identifier: GPL-2.0
/*
 * restrack - driver details of `rdma resource show -d'
 *
 * Values are read without locks.  Any user may read them, but PSNs, which allow
 * forging packets, need CAP_NET_ADMIN (decision 0041), as keys do in the core.
 */
#include <linux/net.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include <uapi/rdma/rdma_netlink.h>

#include "mem/mr.h"
#include "qp/cq.h"
#include "qp/qp_table.h"
#include "qp/srq.h"
#include "rc/cc.h"
#include "verbs/restrack.h"

static struct nlattr *restrack_start_table(struct sk_buff *msg)
{
	return nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
}

static int restrack_end_table(struct sk_buff *msg, struct nlattr *table,
			      int err)
{
	if (err) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

/*
 * A dump's skb belongs to a socket, whose opener and reader need the
 * capability, as in netlink_capable().  The reply for one object has no socket:
 * unprivileged.
 */
static bool restrack_privileged(const struct sk_buff *msg)
{
	const struct sock *sk = msg->sk;

	return sk && sk->sk_socket && sk->sk_socket->file &&
	       sk_capable(sk, CAP_NET_ADMIN);
}

static int restrack_put_psns(struct sk_buff *msg, const struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;
	int err;

	err = rdma_nl_put_driver_u32(msg, "una", READ_ONCE(req->una));
	err = err ?: rdma_nl_put_driver_u32(msg, "psn", READ_ONCE(req->psn));
	err = err ?: rdma_nl_put_driver_u32(msg, "next_psn",
					    READ_ONCE(req->next_psn));
	err = err ?: rdma_nl_put_driver_u32(msg, "epsn",
					    READ_ONCE(qp->rsp.psn));
	return err;
}

/* State of the network path to the peer */
static int restrack_put_network(struct sk_buff *msg, const struct rover_qp *qp)
{
	const struct rover_cc_ops *ops = READ_ONCE(qp->cc.ops);
	int err = 0;

	if (ops)
		err = rdma_nl_put_driver_string(msg, "cc", rover_cc_name(ops));
	err = err ?: rdma_nl_put_driver_u32(msg, "window",
					    READ_ONCE(qp->cc.packets));
	err = err ?: rdma_nl_put_driver_u64(msg, "rate", READ_ONCE(qp->cc.rate));
	err = err ?: rdma_nl_put_driver_u32(msg, "missing",
					    READ_ONCE(qp->gaps.missing));
	err = err ?: rdma_nl_put_driver_u32(msg, "peer_sack",
					    READ_ONCE(qp->peer_sack));
	err = err ?: rdma_nl_put_driver_u32(msg, "backoff",
					    READ_ONCE(qp->rtx.backoff));
	err = err ?: rdma_nl_put_driver_u64(msg, "srtt_ns",
					    READ_ONCE(qp->rtx.srtt));
	err = err ?: rdma_nl_put_driver_u64(msg, "min_rtt_ns",
					    READ_ONCE(qp->cc.min_rtt));
	return err ?: rdma_nl_put_driver_u64(msg, "reorder_ns",
					     READ_ONCE(qp->rtx.reorder));
}

static int restrack_put_qp(struct sk_buff *msg, const struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;
	const struct rover_rsp *rsp = &qp->rsp;
	int err = 0;

	if (restrack_privileged(msg))
		err = restrack_put_psns(msg, qp);
	err = err ?: restrack_put_network(msg, qp);
	err = err ?: rdma_nl_put_driver_u32(msg, "outstanding",
					    READ_ONCE(req->fetched) -
					    READ_ONCE(req->oldest));
	err = err ?: rdma_nl_put_driver_u32(msg, "rd_atomic",
					    READ_ONCE(req->rd_atomic));
	err = err ?: rdma_nl_put_driver_u32(msg, "msn", READ_ONCE(rsp->msn));
	err = err ?: rdma_nl_put_driver_u32(msg, "tx_skbs",
					    atomic_read(&qp->tx_skbs));
	return err;
}

int rover_restrack_qp(struct sk_buff *msg, struct ib_qp *ib)
{
	struct nlattr *table = restrack_start_table(msg);
	struct rover_qp *qp;
	int err = 0;

	if (!table)
		return -EMSGSIZE;
	qp = rover_qp_get_ib(ib);
	if (qp) {
		err = restrack_put_qp(msg, qp);
		rover_qp_put(qp);
	}
	return restrack_end_table(msg, table, err);
}

int rover_restrack_cq(struct sk_buff *msg, struct ib_cq *ib)
{
	const struct rover_cq *cq = rover_cq(ib);
	struct nlattr *table = restrack_start_table(msg);
	int err = 0;

	if (!table)
		return -EMSGSIZE;
	err = err ?: rdma_nl_put_driver_u32(msg, "produced",
					    READ_ONCE(cq->ring.tail));
	err = err ?: rdma_nl_put_driver_u32(msg, "overflow",
					    READ_ONCE(cq->overflow));
	err = err ?: rdma_nl_put_driver_u32(msg, "moderate_count",
					    READ_ONCE(cq->moderate_count));
	err = err ?: rdma_nl_put_driver_u32(msg, "moderate_usec",
					    READ_ONCE(cq->moderate_usec));
	return restrack_end_table(msg, table, err);
}

/* Old cores may call this during destroy_srq: do not read ring memory. */
int rover_restrack_srq(struct sk_buff *msg, struct ib_srq *ib)
{
	const struct rover_srq *srq = rover_srq(ib);
	struct nlattr *table = restrack_start_table(msg);
	int err = 0;

	if (!table)
		return -EMSGSIZE;
	err = err ?: rdma_nl_put_driver_u32(msg, "max_wr",
					    READ_ONCE(srq->ring.limit));
	err = err ?: rdma_nl_put_driver_u32(msg, "limit",
					    READ_ONCE(srq->limit));
	err = err ?: rdma_nl_put_driver_u32(msg, "taken",
					    READ_ONCE(srq->ring.head));
	err = err ?: rdma_nl_put_driver_u32(msg, "dead", READ_ONCE(srq->dead));
	/* The number in XRC requests, not the core's. */
	if (srq->xrcd)
		err = err ?: rdma_nl_put_driver_u32_hex(msg, "xrc_srqn",
							srq->obj.key);
	return restrack_end_table(msg, table, err);
}

int rover_restrack_mr(struct sk_buff *msg, struct ib_mr *ib)
{
	const struct rover_mr *mr = container_of(ib, struct rover_mr, ib);
	struct nlattr *table = restrack_start_table(msg);
	int err = 0;

	if (!table)
		return -EMSGSIZE;
	err = err ?: rdma_nl_put_driver_u32_hex(msg, "access", mr->access);
	err = err ?: rdma_nl_put_driver_u32(msg, "chunks", mr->nchunks);
	err = err ?: rdma_nl_put_driver_u32(msg, "chunk_shift", mr->shift);
	err = err ?: rdma_nl_put_driver_u32(msg, "pieces", mr->npieces);
	return restrack_end_table(msg, table, err);
}

/* `rdma statistic show mr': ODP pages, with the counter names of mlx5. */
int rover_restrack_mr_stat(struct sk_buff *msg, struct ib_mr *ib)
{
	const struct rover_mr *mr = container_of(ib, struct rover_mr, ib);
	struct nlattr *table;
	int err = 0, i;

	if (mr->kind != ROVER_MR_ODP)
		return 0;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < ROVER_ODP_COUNTS && !err; i++)
		err = rdma_nl_stat_hwcounter_entry(msg,
						   rover_stat_names[rover_odp_stats[i]],
						   rover_odp_read(mr->odp, i));
	return restrack_end_table(msg, table, err);
}
