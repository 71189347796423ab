// SPDX-License-Identifier: GPL-2.0
/*
 * raw - Ethernet frames of raw packet QPs
 *
 * A SEND is a frame, copied and sent as by a packet socket.  A receive takes a
 * frame as on the wire, with VLAN tag and checksums, which the stack may have
 * stripped or left out.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/checksum.h>

#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "tx/nettx.h"
#include "ud/dgram.h"
#include "ud/raw.h"
#include "wire/psn.h"

/* Above RAW_LINEAR_MAX bytes, only RAW_HEADER_LEN are linear. */
#define RAW_LINEAR_MAX	SKB_MAX_ORDER(0, 0)
#define RAW_HEADER_LEN		256

/* Sending ********************************************************************/

/* Allow a VLAN tag, see raw_frame_valid(). */
static bool raw_length_valid(const struct rover_dev *dev, u64 length)
{
	return length >= ETH_HLEN &&
	       length <= (u64)READ_ONCE(dev->ndev->mtu) + VLAN_ETH_HLEN;
}

static struct sk_buff *raw_alloc_frame(const struct net_device *ndev, u32 len)
{
	/* Read once: it may change when @ndev becomes a bridge port. */
	u32 head = LL_RESERVED_SPACE(ndev);
	u32 reserve = head + READ_ONCE(ndev->needed_tailroom);
	u32 linear = RAW_HEADER_LEN;
	struct sk_buff *skb;
	int err;

	/* raw_copy_payload() needs inline data to be linear. */
	if (len <= ROVER_MAX_INLINE || len + reserve <= RAW_LINEAR_MAX)
		linear = len;
	skb = alloc_skb_with_frags(reserve + linear, len - linear, 0, &err,
				   GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, head);
	skb_put(skb, linear);
	skb->len = len;
	skb->data_len = len - linear;
	return skb;
}

/* Userspace may change its frame: only the copy is parsed. */
static enum rover_fault raw_copy_payload(struct rover_qp *qp,
					 struct sk_buff *skb)
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
		       &qp->tx_pagein);
	fault = rover_sgl_read(sgl, skb->data, skb_headlen(skb));
	for (i = 0; !fault && i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		fault = rover_sgl_read(sgl, skb_frag_address(frag),
				       skb_frag_size(frag));
	}
	return fault;
}

/* As packet sockets do. */
static void raw_set_headers(struct sk_buff *skb, struct net_device *ndev)
{
	skb->dev = ndev;
	skb_reset_mac_header(skb);
	skb->protocol = eth_hdr(skb)->h_proto;
	skb_set_network_header(skb, ETH_HLEN);
	if (eth_type_vlan(skb->protocol) && skb_headlen(skb) >= VLAN_ETH_HLEN)
		skb_set_network_header(skb, VLAN_ETH_HLEN);
	skb_probe_transport_header(skb);
}

/* Only a VLAN tag may exceed the MTU. */
static bool raw_frame_valid(const struct rover_dev *dev,
			    const struct sk_buff *skb)
{
	return skb->len <= READ_ONCE(dev->ndev->mtu) + ETH_HLEN ||
	       eth_type_vlan(skb->protocol);
}

static void raw_echo_destructor(struct sk_buff *skb)
{
	rover_qp_put(skb_shinfo(skb)->destructor_arg);
}

/* Loop multicast back to the device's flow rules, as a switch does. */
static void raw_echo_multicast(struct rover_qp *qp, struct sk_buff *skb)
{
	struct rover_dev *dev = qp->dev;
	struct sk_buff *copy;

	/* A loopback interface returns the frame itself. */
	if (!is_multicast_ether_addr(skb->data) ||
	    list_empty(&dev->flow_input.rules) || dev->ndev->flags & IFF_LOOPBACK)
		return;
	copy = skb_clone(skb, GFP_ATOMIC);
	if (!copy)
		return;
	rover_qp_get(qp);
	/* Shared with @skb: rover_nettx_send_frame() stores the same pointer. */
	skb_shinfo(copy)->destructor_arg = qp;
	copy->destructor = raw_echo_destructor;
	copy->protocol = eth_type_trans(copy, dev->ndev);
	copy->pkt_type = PACKET_LOOPBACK;
	netif_rx(copy);
}

const struct rover_qp *rover_raw_echo_sender(const struct sk_buff *skb)
{
	return skb->destructor == raw_echo_destructor ?
	       skb_shinfo(skb)->destructor_arg : NULL;
}

static void raw_transmit_frame(struct rover_qp *qp, struct sk_buff *skb)
{
	raw_echo_multicast(qp, skb);
	rover_nettx_send_frame(qp, skb);
}

static enum rover_fault raw_send_frame(struct rover_qp *qp, void *arg, u32 *len)
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
	if (!raw_length_valid(dev, length))
		return ROVER_FAULT_SEND_LENGTH;
	*len = length;
	skb = raw_alloc_frame(dev->ndev, length);
	if (!skb) {
		/* Lost, as on the wire. */
		rover_qp_drop(qp, ROVER_STAT_TX_DROP_NOMEM, 0, 0);
		return ROVER_OK;
	}
	fault = raw_copy_payload(qp, skb);
	if (!fault) {
		raw_set_headers(skb, dev->ndev);
		if (!raw_frame_valid(dev, skb))
			fault = ROVER_FAULT_SEND_LENGTH;
	}
	if (fault)
		kfree_skb(skb);
	else
		raw_transmit_frame(qp, skb);
	return fault;
}

static bool raw_tx_full(struct rover_qp *qp, void *arg)
{
	return rover_nettx_throttled(qp);
}

static const struct rover_dgram_ops raw_dgram_ops = {
	.full = raw_tx_full,
	.emit = raw_send_frame,
};

void rover_raw_send(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	rover_dgram_send(qp, &raw_dgram_ops, NULL);
	if (READ_ONCE(qp->state) == IB_QPS_SQD)
		rover_qp_drained(qp);
}

/* Receiving ******************************************************************/

/* Restore a stripped VLAN tag; return the length. */
static u32 raw_make_header(const struct rover_raw_frame *pkt,
			   u8 header[VLAN_ETH_HLEN])
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

/* A local sender left the checksum to the device.  SCTP's is not supported. */
static bool raw_needs_csum(const struct sk_buff *skb, int at)
{
	int start = skb_checksum_start_offset(skb);

	return skb->ip_summed == CHECKSUM_PARTIAL && !skb_csum_is_sctp((struct sk_buff *)skb) &&
	       start >= at &&
	       start + skb->csum_offset + (int)sizeof(__sum16) <= (int)skb->len;
}

static enum rover_fault raw_place_data(struct rover_sgl *dst,
				       const struct sk_buff *skb, int at)
{
	int start, csum_at, rest;
	enum rover_fault fault;
	__sum16 csum;

	if (!raw_needs_csum(skb, at))
		return rover_sgl_write(dst, skb, at, skb->len - at);
	start = skb_checksum_start_offset(skb);
	csum_at = start + skb->csum_offset;
	rest = csum_at + sizeof(csum);
	csum = csum_fold(skb_checksum(skb, start, skb->len - start, 0)) ?:
	      CSUM_MANGLED_0;
	fault = rover_sgl_write(dst, skb, at, csum_at - at);
	if (!fault)
		fault = rover_sgl_write_mem(dst, &csum, sizeof(csum));
	if (!fault)
		fault = rover_sgl_write(dst, skb, rest, skb->len - rest);
	return fault;
}

static enum rover_fault raw_place_frame(struct rover_qp *qp,
					const struct rover_raw_frame *pkt,
					const u8 *header, u32 header_len)
{
	struct rover_sgl *dst = &qp->rsp.dst;
	enum rover_fault fault;

	fault = rover_sgl_write_mem(dst, header, header_len);
	if (!fault)
		fault = raw_place_data(dst, pkt->skb, pkt->payload_at);
	return rover_fault_of_recv(fault);
}

void rover_raw_receive(struct rover_qp *qp, const struct rover_raw_frame *pkt)
{
	struct rover_cqe cqe = { .opcode = ROVER_CQE_RECV };
	u8 header[VLAN_ETH_HLEN];
	u32 header_len, len;

	lockdep_assert_held(&qp->rx_lock);
	if (!rover_qp_allows(qp, ROVER_MAY_RECEIVE)) {
		rover_qp_drop(qp, ROVER_STAT_DROP_STATE, 0, 0);
		return;
	}
	header_len = raw_make_header(pkt, header);
	len = header_len + pkt->skb->len - pkt->payload_at;
	if (!rover_dgram_take_recv(qp, len, 0, 0) ||
	    !rover_dgram_finish_recv(qp,
				     raw_place_frame(qp, pkt, header,
						     header_len), 0, 0))
		return;
	cqe.wr_id = qp->rsp.wqe.wr_id;
	cqe.byte_len = len;
	rover_qp_count(qp, ROVER_STAT_RX_RAW);
	rover_wqe_recv_complete(qp, &cqe, false);
}
