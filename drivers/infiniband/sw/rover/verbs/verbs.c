// SPDX-License-Identifier: GPL-2.0
/*
 * verbs - table of verbs, device and port attributes
 *
 * Reported limits are enforced, capabilities usable.
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/rover-abi.h>

#include "addr/ah.h"
#include "addr/mcast.h"
#include "core/dev.h"
#include "core/mmap.h"
#include "mem/advise.h"
#include "mem/dm.h"
#include "mem/fastreg.h"
#include "mem/mr.h"
#include "mem/mw.h"
#include "qp/cq.h"
#include "qp/qp.h"
#include "qp/srq.h"
#include "verbs/qp_verbs.h"
#include "verbs/counter.h"
#include "verbs/flow.h"
#include "verbs/pma.h"
#include "verbs/restrack.h"
#include "verbs/ucontext.h"
#include "verbs/verbs.h"
#include "wire/wr.h"

/* Verbs whose signature differs between kernels. */
#include <rover/verbs_ops.h>

/* create_qp enforces MAX_QP; number spaces and cgroups limit others. */
#define MAX_QP			(1U << 18)
#define MAX_OBJECTS		(1U << 20)

#define MAX_GIDS		256

/* rover has no OUI; some applications reject 0. */
#define NO_VENDOR		0xffffff

/* Longest ACK delay on a busy CPU: 4.096 us << 15. */
#define ACK_DELAY		15

/* Completion timestamps are ktime_get(), in ns. */
#define CLOCK_KHZ		(NSEC_PER_SEC / 1000)

/* UC and UD cannot receive to ODP: a packet without its page is lost. */
#define ODP_RELIABLE							\
	(IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_WRITE | \
	 IB_ODP_SUPPORT_READ | IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV)

static const struct ib_odp_caps verbs_odp_caps = {
	.general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT,
	.per_transport_caps = {
		.rc_odp_caps = ODP_RELIABLE | IB_ODP_SUPPORT_FLUSH |
			       IB_ODP_SUPPORT_ATOMIC_WRITE,
		.xrc_odp_caps = ODP_RELIABLE,
		.uc_odp_caps = IB_ODP_SUPPORT_SEND,
		.ud_odp_caps = IB_ODP_SUPPORT_SEND,
	},
};

static const struct ib_cq_caps verbs_cq_caps = {
	.max_cq_moderation_count = U16_MAX,
	.max_cq_moderation_period = U16_MAX,
};

static int verbs_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			      struct ib_udata *udata)
{
	int err = ib_is_udata_in_empty(udata);

	if (err)
		return err;
	*attr = (struct ib_device_attr) {
		.sys_image_guid = ib->node_guid,
		.vendor_id = NO_VENDOR,
		.max_mr_size = U64_MAX,
		.page_size_cap = ~((u64)PAGE_SIZE - 1),
		.max_qp = MAX_QP,
		.max_qp_wr = ROVER_MAX_QP_WR,
		.device_cap_flags = IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_CURR_QP_STATE_MOD |
				    IB_DEVICE_MEM_MGT_EXTENSIONS |
				    IB_DEVICE_MEM_WINDOW |
				    IB_DEVICE_MEM_WINDOW_TYPE_2B |
				    IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_SRQ_RESIZE |
				    IB_DEVICE_SYS_IMAGE_GUID |
				    IB_DEVICE_XRC |
				    ROVER_FLOW_INPUT_CAPS |
				    IB_DEVICE_FLUSH_GLOBAL |
				    IB_DEVICE_ATOMIC_WRITE,
		.kernel_cap_flags = IBK_ALLOW_USER_UNREG |
				    IBK_BLOCK_MULTICAST_LOOPBACK |
				    IBK_ON_DEMAND_PAGING |
				    IBK_SG_GAPS_REG,
		.max_send_sge = ROVER_MAX_SGE,
		.max_recv_sge = ROVER_MAX_SGE,
		.max_sge_rd = ROVER_MAX_SGE,
		.max_cq = MAX_OBJECTS,
		.max_cqe = ROVER_MAX_CQE,
		.max_mr = MAX_OBJECTS,
		.max_mw = MAX_OBJECTS,
		.max_pd = MAX_OBJECTS,
		.max_ah = MAX_OBJECTS,
		.max_srq = MAX_OBJECTS,
		.max_srq_wr = ROVER_MAX_QP_WR,
		.max_srq_sge = ROVER_MAX_SGE,
		.max_qp_rd_atom = ROVER_MAX_RD_ATOMIC,
		.max_qp_init_rd_atom = ROVER_MAX_RD_ATOMIC,
		.max_res_rd_atom = ROVER_MAX_RD_ATOMIC * MAX_QP,
		/* CPU instructions: atomic for the whole host. */
		.atomic_cap = IB_ATOMIC_GLOB,
		.masked_atomic_cap = IB_ATOMIC_NONE,
		.max_mcast_grp = ROVER_MAX_MCAST,
		.max_mcast_qp_attach = ROVER_MAX_MCAST_QP,
		.max_total_mcast_qp_attach = ROVER_MAX_MCAST *
					     ROVER_MAX_MCAST_QP,
		.max_fast_reg_page_list_len = ROVER_MAX_PIECES,
		.max_pkeys = 1,
		.local_ca_ack_delay = ACK_DELAY,
		.max_dm_size = ROVER_MAX_DM,
		.odp_caps = verbs_odp_caps,
		.cq_caps = verbs_cq_caps,
		.timestamp_mask = U64_MAX,
		.hca_core_clock = CLOCK_KHZ,
	};
	return 0;
}

static int verbs_modify_device(struct ib_device *ib, int mask,
			       struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ib->node_desc, modify->node_desc,
		       sizeof(ib->node_desc));
	return 0;
}

static void verbs_get_dev_fw_str(struct ib_device *ib, char *str)
{
	strscpy(str, ROVER_VERSION, IB_FW_VERSION_NAME_MAX);
}

static u64 verbs_link_speed(struct net_device *ndev)
{
	struct ethtool_link_ksettings settings = {};
	u32 speed = SPEED_UNKNOWN;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED &&
	    !__ethtool_get_link_ksettings(ndev, &settings))
		speed = settings.base.speed;
	rtnl_unlock();
	return (u64)settings.lanes << 32 | speed;
}

/*
 * Query the interface: some speed changes raise no event.  At most ten times a
 * second, since it takes RTNL for userspace. ib_get_eth_speed() logs unknown
 * speeds: call it only after a change.
 */
static int verbs_get_speed(struct rover_dev *dev, struct ib_port_attr *attr)
{
	struct rover_speed *cached = &dev->speed;
	int err = 0;
	u64 link;

	mutex_lock(&cached->lock);
	if (!cached->speed || READ_ONCE(cached->changed) ||
	    time_after(jiffies, cached->queried_at + HZ / 10)) {
		/* First: later events are for the next query. */
		WRITE_ONCE(cached->changed, false);
		link = verbs_link_speed(dev->ndev);
		if (!cached->speed || link != cached->link)
			err = ib_get_eth_speed(&dev->ib, 1, &cached->speed,
					       &cached->width);
		cached->link = link;
		cached->queried_at = jiffies;
	}
	attr->active_speed = cached->speed;
	attr->active_width = cached->width;
	mutex_unlock(&cached->lock);
	return err;
}

static int verbs_query_port(struct ib_device *ib, u32 port,
			    struct ib_port_attr *attr)
{
	struct rover_dev *dev = rover_dev(ib);
	struct net_device *ndev = dev->ndev;
	int err;

	err = verbs_get_speed(dev, attr);
	if (err)
		return err;

	attr->state = ib_get_curr_port_state(ndev);
	if (attr->state == IB_PORT_ACTIVE)
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	else if (netif_running(ndev))
		attr->phys_state = IB_PORT_PHYS_STATE_POLLING;
	else
		attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	/* Fits IPv6 headers; 0 if the link MTU is too small. */
	attr->active_mtu = iboe_get_mtu(READ_ONCE(ndev->mtu)) ?: IB_MTU_256;
	attr->gid_tbl_len = MAX_GIDS;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = ROVER_MAX_MSG;
	attr->max_vl_num = 1;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->bad_pkey_cntr = rover_counter_total(dev, ROVER_STAT_DROP_PKEY);
	attr->qkey_viol_cntr = rover_counter_total(dev,
						   ROVER_STAT_DROP_QKEY);
	attr->ip_gids = true;
	return 0;
}

static int verbs_get_port_immutable(struct ib_device *ib, u32 port,
				    struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE |
				    RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP |
				    RDMA_CORE_PORT_RAW_PACKET;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	immutable->gid_tbl_len = MAX_GIDS;
	immutable->pkey_tbl_len = 1;
	return 0;
}

static enum rdma_link_layer verbs_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int verbs_query_pkey(struct ib_device *ib, u32 port, u16 index,
			    u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = ROVER_PKEY;
	return 0;
}

static int verbs_alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	return 0;
}

static int verbs_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	return 0;
}

/* XRC domains are only compared, by pointer. */
static int verbs_alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	return 0;
}

static int verbs_dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops rover_verbs = {
	.uverbs_abi_ver = ROVER_ABI_VERSION,

	.query_device = verbs_query_device,
	.modify_device = verbs_modify_device,
	.get_dev_fw_str = verbs_get_dev_fw_str,
	.query_port = verbs_query_port,
	.get_port_immutable = verbs_get_port_immutable,
	.get_link_layer = verbs_get_link_layer,
	ROVER_OP_GET_NETDEV
	.query_pkey = verbs_query_pkey,
	.process_mad = rover_pma_process,

	.alloc_ucontext = rover_ucontext_alloc,
	.dealloc_ucontext = rover_ucontext_dealloc,
	.disassociate_ucontext = rover_ucontext_disassociate,
	.query_ucontext = rover_ucontext_query,
	.mmap = rover_mmap,
	.mmap_free = rover_mmap_free,
	.alloc_pd = verbs_alloc_pd,
	.dealloc_pd = verbs_dealloc_pd,
	.alloc_xrcd = verbs_alloc_xrcd,
	.dealloc_xrcd = verbs_dealloc_xrcd,

	.create_ah = rover_ah_create,
	.create_user_ah = rover_ah_create,
	.destroy_ah = rover_ah_destroy,
	.query_ah = rover_ah_query,

	.create_flow = rover_flow_create,
	.destroy_flow = rover_flow_destroy,
	.attach_mcast = rover_mcast_attach,
	.detach_mcast = rover_mcast_detach,

	.create_cq = rover_op_create_cq,
	.modify_cq = rover_cq_modify,
	.resize_user_cq = rover_op_resize_cq,
	.destroy_cq = rover_cq_destroy,
	.poll_cq = rover_cq_poll,
	.req_notify_cq = rover_cq_arm,

	.create_srq = rover_srq_create,
	.modify_srq = rover_srq_modify,
	.query_srq = rover_srq_query,
	.destroy_srq = rover_srq_destroy,
	.post_srq_recv = rover_post_srq_recv,

	.create_qp = rover_qp_create,
	.destroy_qp = rover_qp_destroy,
	.modify_qp = rover_qp_modify,
	.query_qp = rover_qp_query,
	.post_send = rover_post_send,
	.post_recv = rover_post_recv,

	.get_dma_mr = rover_mr_get_dma,
	.reg_user_mr = rover_op_reg_user_mr,
	.reg_user_mr_dmabuf = rover_op_reg_user_mr_dmabuf,
	.rereg_user_mr = rover_mr_rereg,
	.dereg_mr = rover_mr_dereg,
	.advise_mr = rover_advise_mr,
	.alloc_mr = rover_fastreg_alloc,
	.map_mr_sg = rover_fastreg_map,
	.alloc_mw = rover_mw_alloc,
	.dealloc_mw = rover_mw_dealloc,
	.alloc_dm = rover_dm_alloc,
	.dealloc_dm = rover_dm_dealloc,
	.reg_dm_mr = rover_dm_reg_mr,

	.alloc_hw_port_stats = rover_counter_alloc_port,
	.get_hw_stats = rover_counter_get_port,
	ROVER_OP_COUNTER
	.counter_bind_qp = rover_op_counter_bind,
	.counter_unbind_qp = rover_op_counter_unbind,
	.counter_dealloc = rover_counter_dealloc,
	.counter_alloc_stats = rover_counter_alloc_stats,
	.counter_update_stats = rover_counter_update_stats,
	.fill_res_qp_entry = rover_restrack_qp,
	.fill_res_cq_entry = rover_restrack_cq,
	.fill_res_mr_entry = rover_restrack_mr,
	.fill_stat_mr_entry = rover_restrack_mr_stat,
	ROVER_OP_FILL_RES_SRQ_ENTRY

	INIT_RDMA_OBJ_SIZE(ib_ah, rover_ibah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, rover_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, rover_ibmw, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, rover_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, rover_ibqp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, rover_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, rover_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, rover_xrcd, ib),
};
