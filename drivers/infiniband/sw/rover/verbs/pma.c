// SPDX-License-Identifier: GPL-2.0
/*
 * pma - performance management agent
 *
 * Reports the device's counters as those of IBTA 16.1, for perfquery and sysfs.
 * They never go back: Set requests fail.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "core/dev.h"
#include "verbs/counter.h"
#include "verbs/pma.h"

static const enum rover_stat pma_rcv_errors[] = {
	ROVER_STAT_DROP_SHORT, ROVER_STAT_DROP_GSO, ROVER_STAT_DROP_OPCODE,
	ROVER_STAT_DROP_LENGTH, ROVER_STAT_DROP_ICRC,
};

static const enum rover_stat pma_xmit_discards[] = {
	ROVER_STAT_TX_DROP_NOMEM, ROVER_STAT_TX_DROP_ROUTE,
	ROVER_STAT_TX_DROP_LOCAL,
};

static u64 pma_stat(struct rover_dev *dev, enum rover_stat id)
{
	return rover_counter_total(dev, id);
}

static u64 pma_sum_stats(struct rover_dev *dev,
			 const enum rover_stat *ids, unsigned int n)
{
	u64 total = 0;

	while (n--)
		total += pma_stat(dev, ids[n]);
	return total;
}

/* In units of four bytes (IBTA 16.1.3.5). */
static u64 pma_words(struct rover_dev *dev, enum rover_stat id)
{
	return pma_stat(dev, id) / 4;
}

/* PortCounters stay at their maximum. */
static __be16 pma_sat16(u64 value)
{
	return cpu_to_be16(min_t(u64, value, U16_MAX));
}

static __be32 pma_sat32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

static void pma_put_class_info(struct rover_dev *dev, void *data)
{
	struct ib_class_port_info *info = data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
}

static void pma_put_counters(struct rover_dev *dev, void *data)
{
	struct ib_pma_portcounters *pc = data;

	pc->port_rcv_errors =
		pma_sat16(pma_sum_stats(dev, pma_rcv_errors,
					ARRAY_SIZE(pma_rcv_errors)));
	pc->port_xmit_discards =
		pma_sat16(pma_sum_stats(dev, pma_xmit_discards,
					ARRAY_SIZE(pma_xmit_discards)));
	pc->port_xmit_data = pma_sat32(pma_words(dev, ROVER_STAT_TX_BYTES));
	pc->port_rcv_data = pma_sat32(pma_words(dev, ROVER_STAT_RX_BYTES));
	pc->port_xmit_packets = pma_sat32(pma_stat(dev, ROVER_STAT_TX_PACKETS));
	pc->port_rcv_packets = pma_sat32(pma_stat(dev, ROVER_STAT_RX_PACKETS));
}

static void pma_put_counters_ext(struct rover_dev *dev, void *data)
{
	struct ib_pma_portcounters_ext *pc = data;

	pc->port_xmit_data = cpu_to_be64(pma_words(dev, ROVER_STAT_TX_BYTES));
	pc->port_rcv_data = cpu_to_be64(pma_words(dev, ROVER_STAT_RX_BYTES));
	pc->port_xmit_packets = cpu_to_be64(pma_stat(dev, ROVER_STAT_TX_PACKETS));
	pc->port_rcv_packets = cpu_to_be64(pma_stat(dev, ROVER_STAT_RX_PACKETS));
	pc->port_unicast_xmit_packets = pc->port_xmit_packets;
	pc->port_unicast_rcv_packets = pc->port_rcv_packets;
}

/* ClassPortInfo has no PortSelect. */
static const struct {
	__be16 attr_id;
	bool has_port_select;
	void (*put)(struct rover_dev *dev, void *data);
} pma_attributes[] = {
	{ IB_PMA_CLASS_PORT_INFO, false, pma_put_class_info },
	{ IB_PMA_PORT_COUNTERS, true, pma_put_counters },
	{ IB_PMA_PORT_COUNTERS_EXT, true, pma_put_counters_ext },
};

static u16 pma_answer_get(struct rover_dev *dev,
			  const struct ib_pma_mad *in, struct ib_pma_mad *out)
{
	const struct ib_pma_portcounters *request = (const void *)in->data;
	unsigned int i;

	if (in->mad_hdr.class_version != 1)
		return IB_MGMT_MAD_STATUS_BAD_VERSION;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD;
	for (i = 0; i < ARRAY_SIZE(pma_attributes); i++) {
		if (pma_attributes[i].attr_id != in->mad_hdr.attr_id)
			continue;
		if (pma_attributes[i].has_port_select) {
			if (request->port_select != 1)
				return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
			memcpy(out->data, in->data,
			       offsetofend(typeof(*request), counter_select));
		}
		pma_attributes[i].put(dev, out->data);
		return 0;
	}
	return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
}

int rover_pma_process(struct ib_device *ib, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index)
{
	static_assert(sizeof(struct ib_pma_mad) == sizeof(struct ib_mad));

	/* Leave other MADs to others. */
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    (in->mad_hdr.method != IB_MGMT_METHOD_GET &&
	     in->mad_hdr.method != IB_MGMT_METHOD_SET) ||
	    *out_size < sizeof(*out))
		return IB_MAD_RESULT_SUCCESS;

	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(pma_answer_get(rover_dev(ib),
							 (const void *)in,
							 (void *)out));
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
