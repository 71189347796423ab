// SPDX-License-Identifier: GPL-2.0
/*
 * test_fault - the table of faults against IBTA's, and its consistency
 */
#include <string.h>

#include <linux/build_bug.h>
#include <rdma/ib_verbs.h>

#include "wire/fault.h"
#include "ktap.h"
#include "wire/wire.h"

#if __has_include("infiniband/verbs.h")
#include <infiniband/verbs.h>
#define SAME(name)	static_assert((int)IB_WC_##name == (int)IBV_WC_##name)
SAME(SUCCESS);
SAME(LOC_LEN_ERR);
SAME(LOC_QP_OP_ERR);
SAME(LOC_PROT_ERR);
SAME(WR_FLUSH_ERR);
SAME(MW_BIND_ERR);
SAME(BAD_RESP_ERR);
SAME(LOC_ACCESS_ERR);
SAME(REM_INV_REQ_ERR);
SAME(REM_ACCESS_ERR);
SAME(REM_OP_ERR);
SAME(RETRY_EXC_ERR);
SAME(RNR_RETRY_EXC_ERR);
SAME(FATAL_ERR);
SAME(GENERAL_ERR);
#endif

#define NONE	ROVER_EVENT_NONE
#define FATAL	ROVER_EVENT_QP_FATAL
#define REQ	ROVER_EVENT_QP_REQ_ERR
#define ACC	ROVER_EVENT_QP_ACCESS_ERR

/*
 * Syndrome, receive completion, send completion, event: values of the wire and
 * of verbs.
 */
static const struct rover_fault_info rows[ROVER_FAULTS] = {
	[ROVER_OK]			= { "", 0x00, 0, 0, NONE },
	[ROVER_FAULT_OPCODE]		= { "", 0x61, 9, 0, REQ },
	[ROVER_FAULT_LENGTH]		= { "", 0x61, 1, 1, ACC },
	[ROVER_FAULT_TOO_LONG]		= { "", 0x61, 1, 0, NONE },
	[ROVER_FAULT_RD_ATOMIC]		= { "", 0x61, 9, 0, ACC },
	[ROVER_FAULT_UNALIGNED]		= { "", 0x61, 9, 0, ACC },
	[ROVER_FAULT_XRCETH]		= { "", 0x61, 9, 0, REQ },
	[ROVER_FAULT_RNR]		= { "", 0x20, 0, 0, NONE },
	[ROVER_FAULT_RQ_CORRUPT]	= { "", 0x63, 2, 0, NONE },
	[ROVER_FAULT_RQ_RING]		= { "", 0x63, 0, 0, FATAL },
	[ROVER_FAULT_RECV_MEMORY]	= { "", 0x63, 4, 0, NONE },
	[ROVER_FAULT_KEY]		= { "", 0x62, 8, 4, ACC },
	[ROVER_FAULT_ACCESS]		= { "", 0x62, 8, 4, ACC },
	[ROVER_FAULT_BOUNDS]		= { "", 0x62, 8, 4, ACC },
	[ROVER_FAULT_MEMORY]		= { "", 0x63, 8, 4, ACC },
	[ROVER_FAULT_PAGE]		= { "", 0x20, 0, 0, NONE },
	[ROVER_FAULT_REVOKED]		= { "", 0x00, 0, 0, NONE },
	[ROVER_FAULT_INVALIDATE]	= { "", 0x62, 9, 0, NONE },
	[ROVER_FAULT_WQE]		= { "", 0x00, 0, 2, NONE },
	[ROVER_FAULT_SEND_LENGTH]	= { "", 0x00, 0, 1, NONE },
	[ROVER_FAULT_AH]		= { "", 0x00, 0, 2, NONE },
	[ROVER_FAULT_OPERATION]		= { "", 0x00, 0, 6, NONE },
	[ROVER_FAULT_BAD_RESP]		= { "", 0x00, 0, 7, NONE },
	[ROVER_FAULT_REM_INV_REQ]	= { "", 0x00, 0, 9, NONE },
	[ROVER_FAULT_REM_ACCESS]	= { "", 0x00, 0, 10, NONE },
	[ROVER_FAULT_REM_OP]		= { "", 0x00, 0, 11, NONE },
	[ROVER_FAULT_RETRY]		= { "", 0x00, 0, 12, NONE },
	[ROVER_FAULT_RNR_RETRY]		= { "", 0x00, 0, 13, NONE },
	[ROVER_FAULT_FLUSH]		= { "", 0x00, 5, 5, NONE },
	[ROVER_FAULT_CQ]		= { "", 0x63, 0, 0, FATAL },
};

static bool check_row(unsigned int i)
{
	const struct rover_fault_info *got = &rover_faults[i], *want = &rows[i];

	if (!want->name)
		return ktap_note("fault %u is not in this test", i);
	return (got->syndrome == want->syndrome && got->resp_wc == want->resp_wc &&
		got->req_wc == want->req_wc && got->resp_event == want->resp_event) ||
	       ktap_note("syndrome %#04x, completions %u and %u, event %u", got->syndrome,
			 got->resp_wc, got->req_wc, got->resp_event);
}

static bool names_differ(void)
{
	for (unsigned int i = 0; i < ROVER_FAULTS; i++) {
		if (!rover_faults[i].name)
			return ktap_note("fault %u has none", i);
		for (unsigned int j = 0; j < i; j++)
			if (!strcmp(rover_faults[i].name, rover_faults[j].name))
				return ktap_note("%u and %u share one", i, j);
	}
	return true;
}

/* A sequence error is no fault: the responder sends that NAK itself. */
static bool syndromes_valid(void)
{
	for (unsigned int i = 0; i < ROVER_FAULTS; i++) {
		u8 syndrome = rover_faults[i].syndrome;

		if (syndrome && syndrome != ROVER_AETH_RNR &&
		    (syndrome < ROVER_NAK_INV_REQ || syndrome > ROVER_NAK_REM_OP))
			return ktap_note("%s: %#04x", rover_faults[i].name, syndrome);
	}
	return true;
}

/* A fatal NAK needs a receive completion or an event as well. */
static bool naks_are_told(void)
{
	for (unsigned int i = 0; i < ROVER_FAULTS; i++) {
		const struct rover_fault_info *info = &rover_faults[i];

		if (info->syndrome >= ROVER_AETH_NAK && !info->resp_wc && !info->resp_event)
			return ktap_note("%s", info->name);
	}
	return true;
}

static bool no_fault_succeeds(void)
{
	for (unsigned int i = ROVER_OK + 1; i < ROVER_FAULTS; i++) {
		const struct rover_fault_info *info = &rover_faults[i];

		/* The packet counts as lost in the network. */
		if (i == ROVER_FAULT_REVOKED)
			continue;
		if (!info->syndrome && !info->resp_wc && !info->req_wc)
			return ktap_note("%s has no consequence", info->name);
		if (i > ROVER_FAULT_INVALIDATE && i != ROVER_FAULT_CQ && !info->req_wc)
			return ktap_note("%s completes a request well", info->name);
	}
	return true;
}

static bool recv_maps(void)
{
	for (unsigned int i = 0; i < ROVER_FAULTS; i++) {
		enum rover_fault want = i;

		if (i == ROVER_FAULT_LENGTH)
			want = ROVER_FAULT_TOO_LONG;
		if (i >= ROVER_FAULT_KEY && i <= ROVER_FAULT_MEMORY)
			want = ROVER_FAULT_RECV_MEMORY;
		if (rover_fault_of_recv(i) != want)
			return ktap_note("%s", rover_faults[i].name);
	}
	return true;
}

int main(void)
{
	ktap_eq(ROVER_OK, 0, "no fault is zero");
	for (unsigned int i = 0; i < ROVER_FAULTS; i++)
		ktap_ok(check_row(i), "%s", rover_faults[i].name ?: "?");
	ktap_ok(names_differ(), "each fault has a name of its own");
	ktap_ok(syndromes_valid(), "syndromes are RNR or a NAK code");
	ktap_ok(naks_are_told(), "a NAK comes with a completion or an event");
	ktap_ok(no_fault_succeeds(), "no fault is without consequence");
	ktap_ok(recv_maps(), "the SGL of a receive is no fault of the peer");
	return ktap_done();
}
