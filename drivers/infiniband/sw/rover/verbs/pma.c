// SPDX-License-Identifier: GPL-2.0
/*
 * pma - what the performance management agent of a port answers
 *
 * The counters of IBTA 16.1, for perfquery and for the `counters' folder of the
 * port in sysfs, which asks in the same way.  They are counted for others
 * anyway (stats); here they only get their old names and widths.  They never go
 * back, so requests to set them are refused.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "core/dev.h"
#include "verbs/pma.h"

/* Packets nobody could make sense of, and packets of ours that never left. */
static const enum rover_stat rcv_errors[] = {
	ROVER_STAT_DROP_SHORT, ROVER_STAT_DROP_GSO, ROVER_STAT_DROP_OPCODE,
	ROVER_STAT_DROP_LENGTH, ROVER_STAT_DROP_ICRC,
};

static const enum rover_stat xmit_discards[] = {
	ROVER_STAT_TX_DROP_NOMEM, ROVER_STAT_TX_DROP_ROUTE,
	ROVER_STAT_TX_DROP_LOCAL,
};

static u64 get(const struct rover_dev *dev, enum rover_stat id)
{
	return rover_stat_read(dev->stats, id);
}

static u64 sum(const struct rover_dev *dev, const enum rover_stat *ids,
	       unsigned int n)
{
	u64 all = 0;

	while (n--)
		all += get(dev, ids[n]);
	return all;
}

/* Data is counted in words of four bytes (IBTA 16.1.3.5). */
static u64 words(const struct rover_dev *dev, enum rover_stat id)
{
	return get(dev, id) / 4;
}

/* Classic counters stay at their largest value once they have reached it. */
static __be16 saturate16(u64 value)
{
	return cpu_to_be16(min_t(u64, value, U16_MAX));
}

static __be32 saturate32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

static void put_class(const struct rover_dev *dev, void *data)
{
	struct ib_class_port_info *info = data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
}

static void put_counters(const struct rover_dev *dev, void *data)
{
	struct ib_pma_portcounters *pc = data;

	pc->port_rcv_errors = saturate16(sum(dev, rcv_errors,
					     ARRAY_SIZE(rcv_errors)));
	pc->port_xmit_discards = saturate16(sum(dev, xmit_discards,
						ARRAY_SIZE(xmit_discards)));
	pc->port_xmit_data = saturate32(words(dev, ROVER_STAT_TX_BYTES));
	pc->port_rcv_data = saturate32(words(dev, ROVER_STAT_RX_BYTES));
	pc->port_xmit_packets = saturate32(get(dev, ROVER_STAT_TX_PACKETS));
	pc->port_rcv_packets = saturate32(get(dev, ROVER_STAT_RX_PACKETS));
}

static void put_counters_ext(const struct rover_dev *dev, void *data)
{
	struct ib_pma_portcounters_ext *pc = data;

	pc->port_xmit_data = cpu_to_be64(words(dev, ROVER_STAT_TX_BYTES));
	pc->port_rcv_data = cpu_to_be64(words(dev, ROVER_STAT_RX_BYTES));
	pc->port_xmit_packets = cpu_to_be64(get(dev, ROVER_STAT_TX_PACKETS));
	pc->port_rcv_packets = cpu_to_be64(get(dev, ROVER_STAT_RX_PACKETS));
	pc->port_unicast_xmit_packets = pc->port_xmit_packets;
	pc->port_unicast_rcv_packets = pc->port_rcv_packets;
}

/* What can be asked for; PortSelect stands in all but the first. */
static const struct {
	__be16 attr_id;
	bool of_port;
	void (*put)(const struct rover_dev *dev, void *data);
} attributes[] = {
	{ IB_PMA_CLASS_PORT_INFO, false, put_class },
	{ IB_PMA_PORT_COUNTERS, true, put_counters },
	{ IB_PMA_PORT_COUNTERS_EXT, true, put_counters_ext },
};

/* Return the status of the answer, whose data is filled in. */
static u16 answer(const struct rover_dev *dev, const struct ib_pma_mad *in,
		  struct ib_pma_mad *out)
{
	const struct ib_pma_portcounters *wanted = (const void *)in->data;
	unsigned int i;

	if (in->mad_hdr.class_version != 1)
		return IB_MGMT_MAD_STATUS_BAD_VERSION;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD;
	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		if (attributes[i].attr_id != in->mad_hdr.attr_id)
			continue;
		if (attributes[i].of_port) {
			if (wanted->port_select != 1)
				return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
			memcpy(out->data, in->data, offsetofend(typeof(*wanted),
								counter_select));
		}
		attributes[i].put(dev, out->data);
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

	/* Not what answers, or wants no answer: others may have asked for it. */
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    (in->mad_hdr.method != IB_MGMT_METHOD_GET &&
	     in->mad_hdr.method != IB_MGMT_METHOD_SET) ||
	    *out_size < sizeof(*out))
		return IB_MAD_RESULT_SUCCESS;

	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(answer(rover_dev(ib), (const void *)in,
						 (void *)out));
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
