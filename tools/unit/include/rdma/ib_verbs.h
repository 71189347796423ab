/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ib_verbs - completion statuses; their numbers are the kernel's, and
 * test_fault.c compares them with libibverbs where it is installed
 */
#ifndef UNIT_RDMA_IB_VERBS_H
#define UNIT_RDMA_IB_VERBS_H

enum ib_wc_status {
	IB_WC_SUCCESS		= 0,
	IB_WC_LOC_LEN_ERR	= 1,
	IB_WC_LOC_QP_OP_ERR	= 2,
	IB_WC_LOC_PROT_ERR	= 4,
	IB_WC_WR_FLUSH_ERR	= 5,
	IB_WC_MW_BIND_ERR	= 6,
	IB_WC_BAD_RESP_ERR	= 7,
	IB_WC_LOC_ACCESS_ERR	= 8,
	IB_WC_REM_INV_REQ_ERR	= 9,
	IB_WC_REM_ACCESS_ERR	= 10,
	IB_WC_REM_OP_ERR	= 11,
	IB_WC_RETRY_EXC_ERR	= 12,
	IB_WC_RNR_RETRY_EXC_ERR	= 13,
	IB_WC_FATAL_ERR		= 19,
	IB_WC_GENERAL_ERR	= 21,
};

#endif /* UNIT_RDMA_IB_VERBS_H */
