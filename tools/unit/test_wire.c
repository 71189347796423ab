// SPDX-License-Identifier: GPL-2.0
/*
 * test_wire - bits of the headers, against handwritten bytes
 */
#include <string.h>

#include "ktap.h"
#include "wire/wire.h"

static const struct {
	const char *name;
	u8 bytes[12];
	u8 opcode;
	bool se, mig;
	u8 pad, tver;
	u16 pkey;
	bool fecn, becn;
	u32 qpn;
	bool ackreq;
	u32 psn;
} bths[] = {
	{
		"all zero", { 0 },
	}, {
		"all ones",
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		0xff, true, true, 3, 15, 0xffff, true, true, 0xffffff, true, 0xffffff,
	}, {
		"only opcode", { 0x81 }, .opcode = 0x81,
	}, {
		"only SE", { 0, 0x80 }, .se = true,
	}, {
		"only M", { 0, 0x40 }, .mig = true,
	}, {
		"only PadCnt", { 0, 0x20 }, .pad = 2,
	}, {
		"only TVer", { 0, 0x0a }, .tver = 10,
	}, {
		"only P_Key", { 0, 0, 0x80, 0x01 }, .pkey = 0x8001,
	}, {
		"only FECN", { 0, 0, 0, 0, 0x80 }, .fecn = true,
	}, {
		"only BECN", { 0, 0, 0, 0, 0x40 }, .becn = true,
	}, {
		"reserved bits of the QPN word", { 0, 0, 0, 0, 0x3f },
	}, {
		"only QPN", { 0, 0, 0, 0, 0, 0x12, 0x34, 0x56 }, .qpn = 0x123456,
	}, {
		"only AckReq", { [8] = 0x80 }, .ackreq = true,
	}, {
		"reserved bits of the PSN word", { [8] = 0x7f },
	}, {
		"only PSN", { [9] = 0xab, 0xcd, 0xef }, .psn = 0xabcdef,
	}, {
		"an RDMA WRITE Only as one meets it",
		{ 0x0a, 0xf0, 0xff, 0xff, 0x40, 0x00, 0x00, 0x11, 0x80, 0x00, 0x01, 0x02 },
		0x0a, true, true, 3, 0, 0xffff, false, true, 0x11, true, 0x102,
	},
};

static bool check_bth(unsigned int i)
{
	struct rover_bth bth;
	u32 qpn;

	memcpy(&bth, bths[i].bytes, sizeof(bth));
	qpn = be32_to_cpu(bth.qpn);
	return bth.opcode == bths[i].opcode &&
	       rover_bth_solicited(&bth) == bths[i].se &&
	       !!(bth.flags & ROVER_BTH_MIG) == bths[i].mig &&
	       rover_bth_pad(&bth) == bths[i].pad &&
	       FIELD_GET(ROVER_BTH_TVER, bth.flags) == bths[i].tver &&
	       be16_to_cpu(bth.pkey) == bths[i].pkey &&
	       !!(qpn & ROVER_BTH_FECN) == bths[i].fecn &&
	       !!(qpn & ROVER_BTH_BECN) == bths[i].becn &&
	       rover_bth_qpn(&bth) == bths[i].qpn &&
	       rover_bth_ackreq(&bth) == bths[i].ackreq &&
	       rover_bth_psn(&bth) == bths[i].psn;
}

static bool check_extended(void)
{
	static const u8 bytes[28] = {
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		0x11, 0x12, 0x13, 0x14,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
	};
	struct rover_atometh atometh;
	struct rover_atomack atomack;
	struct rover_immdt immdt;
	struct rover_reth reth;
	struct rover_deth deth;

	memcpy(&reth, bytes, sizeof(reth));
	memcpy(&atometh, bytes, sizeof(atometh));
	memcpy(&atomack, bytes, sizeof(atomack));
	memcpy(&immdt, bytes, sizeof(immdt));
	memcpy(&deth, bytes, sizeof(deth));
	return be64_to_cpu(reth.va) == 0x0102030405060708 &&
	       be32_to_cpu(reth.rkey) == 0x11121314 &&
	       be32_to_cpu(reth.length) == 0x21222324 &&
	       be64_to_cpu(atometh.va) == 0x0102030405060708 &&
	       be32_to_cpu(atometh.rkey) == 0x11121314 &&
	       be64_to_cpu(atometh.swap_add) == 0x2122232425262728 &&
	       be64_to_cpu(atometh.compare) == 0x3132333435363738 &&
	       be64_to_cpu(atomack.orig) == 0x0102030405060708 &&
	       be32_to_cpu(immdt.data) == 0x01020304 &&
	       be32_to_cpu(deth.qkey) == 0x01020304 &&
	       be32_to_cpu(deth.sqp) == 0x05060708;
}

static const struct {
	u8 bytes[4];
	u8 syndrome;
	u32 msn;
	u8 kind, value;
} aeths[] = {
	{ { 0x1f, 0x00, 0x00, 0x01 }, 0x1f, 1, ROVER_AETH_ACK, ROVER_AETH_CREDITS_NONE },
	{ { 0x00, 0xff, 0xff, 0xff }, 0x00, 0xffffff, ROVER_AETH_ACK, 0 },
	{ { 0x20, 0x12, 0x34, 0x56 }, 0x20, 0x123456, ROVER_AETH_RNR, 0 },
	{ { 0x3f, 0x00, 0x00, 0x00 }, 0x3f, 0, ROVER_AETH_RNR, 31 },
	{ { 0x60, 0x00, 0x01, 0x00 }, ROVER_NAK_PSN_SEQ, 0x100, ROVER_AETH_NAK, 0 },
	{ { 0x61, 0x00, 0x00, 0x02 }, ROVER_NAK_INV_REQ, 2, ROVER_AETH_NAK, 1 },
	{ { 0x62, 0x00, 0x00, 0x02 }, ROVER_NAK_REM_ACCESS, 2, ROVER_AETH_NAK, 2 },
	{ { 0x63, 0x00, 0x00, 0x02 }, ROVER_NAK_REM_OP, 2, ROVER_AETH_NAK, 3 },
};

static void test_aeth(unsigned int i)
{
	struct rover_aeth aeth;
	__be32 made = rover_aeth_make(aeths[i].syndrome, aeths[i].msn);
	/* An MSN of more than 24 bits. */
	__be32 wide = rover_aeth_make(aeths[i].syndrome, aeths[i].msn | 0xa5000000);

	memcpy(&aeth, aeths[i].bytes, sizeof(aeth));
	ktap_ok(!memcmp(&made, aeths[i].bytes, 4) && made == wide &&
		rover_aeth_syndrome(&aeth) == aeths[i].syndrome &&
		(aeths[i].bytes[0] & ROVER_AETH_KIND) == aeths[i].kind &&
		FIELD_GET(ROVER_AETH_VALUE, aeths[i].bytes[0]) == aeths[i].value,
		"AETH with syndrome %#04x", aeths[i].syndrome);
}

int main(void)
{
	static const u8 pads[] = { 0, 3, 2, 1, 0, 3, 2, 1, 0 };

	for (size_t i = 0; i < sizeof(bths) / sizeof(*bths); i++)
		ktap_ok(check_bth(i), "BTH: %s", bths[i].name);
	ktap_ok(check_extended(), "extended headers");
	for (size_t i = 0; i < sizeof(aeths) / sizeof(*aeths); i++)
		test_aeth(i);
	for (size_t i = 0; i < sizeof(pads); i++)
		ktap_eq(rover_pad(i), pads[i], "pad of %zu bytes", i);
	ktap_eq(rover_pad(0x7fffffff), 1, "pad of 2^31 - 1 bytes");
	ktap_eq(ROVER_MAX_HDR, 44, "longest run of headers");
	return ktap_done();
}
