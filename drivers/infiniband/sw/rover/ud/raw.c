// SPDX-License-Identifier: GPL-2.0
/*
 * raw - Ethernet frames of raw packet queue pairs, in both directions
 *
 * Each SEND is a whole frame, Ethernet header on, which goes to the interface as
 * one of a packet socket does; it is copied, so its buffer is the program's again
 * at the completion.  A frame that arrives for a flow rule is written whole to
 * one receive: as a wire would have carried it, with its VLAN tag and checksums,
 * wherever the stack keeps these.
 *
 * Under a queue pair's lock, with softirqs off.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/checksum.h>

#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "tx/nettx.h"
#include "ud/dgram.h"
#include "ud/raw.h"
#include "wire/psn.h"

/* A frame up to here is in one piece; of a longer one so much is, for headers. */
#define ONE_PIECE	SKB_MAX_ORDER(0, 0)
#define HEADERS		256

/* Sending ********************************************************************/

/* A frame of this length may have to have a VLAN tag. */
static bool length_good(const struct rover_dev *dev, u64 length)
{
	return length >= ETH_HLEN &&
	       length <= (u64)READ_ONCE(dev->ndev->mtu) + VLAN_ETH_HLEN;
}

static struct sk_buff *alloc_frame(const struct net_device *ndev, u32 len)
{
	/* Once: whoever makes its interface a port of a bridge may alter it now. */
	u32 head = LL_RESERVED_SPACE(ndev);
	u32 room = head + READ_ONCE(ndev->needed_tailroom);
	u32 linear = HEADERS;
	struct sk_buff *skb;
	int err;

	/* What is inline is copied in one go. */
	if (len <= ROVER_MAX_INLINE || len + room <= ONE_PIECE)
		linear = len;
	skb = alloc_skb_with_frags(room + linear, len - linear, 0, &err,
				   GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, head);
	skb_put(skb, linear);
	skb->len = len;
	skb->data_len = len - linear;
	return skb;
}

/* The program's bytes, once; what they say is looked at only in the copy. */
static enum rover_fault fill(struct rover_qp *qp, struct sk_buff *skb)
{
	struct rover_sgl *sgl = &qp->req.sgl;
	const struct rover_wqe *wqe = &qp->req.wqe;
	enum rover_fault fault;
	unsigned int i;

	if (wqe->hdr.flags & ROVER_WQE_INLINE) {
		memcpy(skb->data, rover_ring_slot(&qp->sq, wqe->index) +
		       ROVER_SEND_WQE_HDR, skb_headlen(skb));
		return ROVER_OK;
	}
	rover_sgl_init(sgl, qp->pd, wqe->sge, wqe->hdr.num_sge, 0,
		       &qp->tx_demand);
	fault = rover_sgl_read(sgl, skb->data, skb_headlen(skb));
	for (i = 0; !fault && i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		fault = rover_sgl_read(sgl, skb_frag_address(frag),
				       skb_frag_size(frag));
	}
	return fault;
}

/* What a packet socket says of a frame that it knows only by its bytes. */
static void describe(struct sk_buff *skb, struct net_device *ndev)
{
	skb->dev = ndev;
	skb_reset_mac_header(skb);
	skb->protocol = eth_hdr(skb)->h_proto;
	skb_set_network_header(skb, ETH_HLEN);
	if (eth_type_vlan(skb->protocol) && skb_headlen(skb) >= VLAN_ETH_HLEN)
		skb_set_network_header(skb, VLAN_ETH_HLEN);
	skb_probe_transport_header(skb);
}

/* One that is longer than the others must have the tag it is longer by. */
static bool frame_good(const struct rover_dev *dev, const struct sk_buff *skb)
{
	return skb->len <= READ_ONCE(dev->ndev->mtu) + ETH_HLEN ||
	       eth_type_vlan(skb->protocol);
}

/* The device's own flow rules see what goes to many, as a switch would do it. */
static void echo_done(struct sk_buff *skb)
{
	rover_qp_put(skb_shinfo(skb)->destructor_arg);
}

static void echo(struct rover_qp *qp, struct sk_buff *skb)
{
	struct rover_dev *dev = qp->dev;
	struct sk_buff *copy;

	/* From a loopback interface it comes back by itself. */
	if (!is_multicast_ether_addr(skb->data) ||
	    list_empty(&dev->tap.rules) || dev->ndev->flags & IFF_LOOPBACK)
		return;
	copy = skb_clone(skb, GFP_ATOMIC);
	if (!copy)
		return;
	rover_qp_get(qp);
	/* The shared info is that of both: the same there. */
	skb_shinfo(copy)->destructor_arg = qp;
	copy->destructor = echo_done;
	copy->protocol = eth_type_trans(copy, dev->ndev);
	copy->pkt_type = PACKET_LOOPBACK;
	netif_rx(copy);
}

const struct rover_qp *rover_raw_echo_of(const struct sk_buff *skb)
{
	return skb->destructor == echo_done ?
	       skb_shinfo(skb)->destructor_arg : NULL;
}

static void transmit(struct rover_qp *qp, struct sk_buff *skb)
{
	echo(qp, skb);
	rover_nettx_frame(qp, skb);
}

/* The oldest work request becomes a frame. */
static enum rover_fault send_frame(struct rover_qp *qp, void *arg, u32 *len)
{
	const struct rover_send_wqe *hdr = &qp->req.wqe.hdr;
	struct rover_dev *dev = qp->dev;
	enum rover_fault fault;
	struct sk_buff *skb;
	u64 length;

	fault = rover_wqe_copy(qp, qp->sq.head, &qp->req.wqe, &length);
	if (fault)
		return fault;
	if (!rover_wr_fits(&rover_wrs[hdr->opcode], qp->transport) ||
	    hdr->remote_addr || hdr->compare_add || hdr->swap)
		return ROVER_FAULT_WQE;
	if (!length_good(dev, length))
		return ROVER_FAULT_SEND_LENGTH;
	*len = length;
	skb = alloc_frame(dev->ndev, length);
	if (!skb) {
		/* Lost, and counted, like any other on the way. */
		rover_qp_drop(qp, ROVER_STAT_TX_DROP_NOMEM, 0, 0);
		return ROVER_OK;
	}
	fault = fill(qp, skb);
	if (!fault) {
		describe(skb, dev->ndev);
		if (!frame_good(dev, skb))
			fault = ROVER_FAULT_SEND_LENGTH;
	}
	if (fault)
		kfree_skb(skb);
	else
		transmit(qp, skb);
	return fault;
}

static bool full(struct rover_qp *qp, void *arg)
{
	return rover_nettx_full(qp);
}

static const struct rover_sending sending = {
	.full = full,
	.emit = send_frame,
};

void rover_raw_send(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	rover_dgram_send(qp, &sending, NULL);
	if (READ_ONCE(qp->state) == IB_QPS_SQD)
		rover_qp_drained(qp);
}

/* Receiving ******************************************************************/

/* With the VLAN tag, if it was taken out: return how long it is. */
static u32 make_header(const struct rover_raw *pkt, u8 header[VLAN_ETH_HLEN])
{
	struct vlan_hdr tag;

	memcpy(header, pkt->eth, ETH_HLEN);
	if (!skb_vlan_tag_present(pkt->skb))
		return ETH_HLEN;
	tag.h_vlan_TCI = htons(skb_vlan_tag_get(pkt->skb));
	memcpy(&tag.h_vlan_encapsulated_proto, header + 2 * ETH_ALEN,
	       sizeof(__be16));
	memcpy(header + 2 * ETH_ALEN, &pkt->skb->vlan_proto, sizeof(__be16));
	memcpy(header + ETH_HLEN, &tag, sizeof(tag));
	return VLAN_ETH_HLEN;
}

/* Does its sender, on this host, leave a checksum to whoever needs it? */
static bool lacks_sum(const struct sk_buff *skb, int at)
{
	int start = skb_checksum_start_offset(skb);

	return skb->ip_summed == CHECKSUM_PARTIAL && !skb_csum_is_sctp((struct sk_buff *)skb) &&
	       start >= at &&
	       start + skb->csum_offset + (int)sizeof(__sum16) <= (int)skb->len;
}

/* Behind the Ethernet header: the payload, and in it the checksum, if need be. */
static enum rover_fault place_data(struct rover_sgl *dst,
				   const struct sk_buff *skb, int at)
{
	int start, sum_at, after;
	enum rover_fault fault;
	__sum16 sum;

	if (!lacks_sum(skb, at))
		return rover_sgl_write(dst, skb, at, skb->len - at);
	start = skb_checksum_start_offset(skb);
	sum_at = start + skb->csum_offset;
	after = sum_at + sizeof(sum);
	sum = csum_fold(skb_checksum(skb, start, skb->len - start, 0)) ?:
	      CSUM_MANGLED_0;
	fault = rover_sgl_write(dst, skb, at, sum_at - at);
	if (!fault)
		fault = rover_sgl_write_mem(dst, &sum, sizeof(sum));
	if (!fault)
		fault = rover_sgl_write(dst, skb, after, skb->len - after);
	return fault;
}

static enum rover_fault place(struct rover_qp *qp,
			      const struct rover_raw *pkt,
			      const u8 *header, u32 header_len)
{
	struct rover_sgl *dst = &qp->rsp.dst;
	enum rover_fault fault;

	fault = rover_sgl_write_mem(dst, header, header_len);
	if (!fault)
		fault = place_data(dst, pkt->skb, pkt->at);
	return rover_fault_of_recv(fault);
}

void rover_raw_receive(struct rover_qp *qp, const struct rover_raw *pkt)
{
	struct rover_cqe cqe = { .opcode = ROVER_CQE_RECV };
	u8 header[VLAN_ETH_HLEN];
	u32 header_len, len;

	lockdep_assert_held(&qp->rx_lock);
	if (!rover_qp_allows(qp, ROVER_MAY_RECEIVE)) {
		rover_qp_drop(qp, ROVER_STAT_DROP_STATE, 0, 0);
		return;
	}
	header_len = make_header(pkt, header);
	len = header_len + pkt->skb->len - pkt->at;
	if (!rover_dgram_take(qp, len, 0, 0) ||
	    !rover_dgram_end(qp, place(qp, pkt, header, header_len), 0, 0))
		return;
	cqe.wr_id = qp->rsp.wqe.wr_id;
	cqe.byte_len = len;
	rover_qp_count(qp, ROVER_STAT_RX_RAW);
	rover_wqe_recv_complete(qp, &cqe, false);
}
