/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * The contract between rover.ko and its user-space provider: the response of
 * each verb that creates something, and the rings both sides then share.
 *
 * Rules of this file: nothing kernel-private is ever stored in it; comp_mask
 * stands first in every structure of a verb; reserved fields are zero and are
 * checked; the layout is the same on 32 and 64 bits, and static_assert()s in
 * the module and in the provider pin every size.
 *
 * The rings and who writes what
 * =============================
 *
 * Every queue is one mapping: a struct rover_ring_hdr (one page, so that its
 * four cache lines never share a page with entries) and then `entries' slots
 * of `stride' bytes, both powers of two times 64.  Indices run freely over 32
 * bits and are masked on use: index & (entries - 1).
 *
 *   send and receive rings        producer: program     consumer: kernel
 *   completion ring               producer: kernel      consumer: program
 *
 * The kernel keeps its own copy of every index it owns and never reads it
 * back; it masks and range-checks what it reads of the other side, copies a
 * work request once and believes only the copy.  A program that scribbles on
 * its rings loses its own queue pair and nothing else.
 *
 * A shared receive queue, one of XRC too, is a receive ring like any other, from
 * which many queue pairs take.  Receives wait there for packets, and are never
 * flushed: it has no flags, and the program never enters the kernel for it.  A
 * program that scribbles on it loses the queue pairs that meet what it wrote.
 *
 * Barriers, each with its partner
 * ===============================
 *
 *   posting     program: write WQE; store-release hdr.tail            (P1)
 *               kernel:  load-acquire hdr.tail; read WQE              (K1)
 *               P1 pairs with K1: a tail seen means a WQE seen.
 *
 *   sleeping    program: P1; full barrier; load hdr.flags             (P2)
 *               kernel:  store hdr.flags |= NEED_WAKEUP; full barrier;
 *                        load hdr.tail once more                      (K2)
 *               P2 pairs with K2: either the kernel sees the new tail, or
 *               the program sees NEED_WAKEUP and enters the kernel.
 *
 *   restocking  program: P1; full barrier; load-acquire hdr.waits;
 *                        load hdr.waits_for                           (P7)
 *               kernel:  store hdr.waits_for; store-release
 *                        hdr.waits = 1; full barrier; load hdr.tail   (K7)
 *               P7 pairs with K7: either the kernel sees receives enough, or
 *               the program sees that it waits and enters the kernel.
 *
 *   retiring    kernel:  done with the slot; store-release hdr.head   (K3)
 *               program: load-acquire hdr.head; reuse the slot        (P3)
 *               K3 pairs with P3.
 *
 *   completing  kernel:  write CQE; store-release cqe.phase           (K4)
 *               program: load-acquire cqe.phase; read CQE             (P4)
 *               K4 pairs with P4.  The phase bit of the n-th lap around the
 *               ring is 1 for even n and 0 for odd n.
 *
 *   consuming   program: read CQE; store-release hdr.head             (P5)
 *               kernel:  load-acquire hdr.head; reuse the CQE         (K5)
 *               P5 pairs with K5.
 *
 *   arming      program: store hdr.arm; full barrier; poll again      (P6)
 *               kernel:  K4; full barrier; load hdr.arm               (K6)
 *               P6 pairs with K6: either the program finds the completion,
 *               or the kernel finds the arm word and raises the event.
 */
#ifndef ROVER_ABI_H
#define ROVER_ABI_H

#include <linux/types.h>

/* Bumped only when old and new can no longer talk at all. */
#define ROVER_ABI_VERSION	1

/*
 * Not one of enum rdma_driver_id: none is reserved for rover.  Zero would be
 * a wildcard to the core and RXE's number would give our devices to rxe's
 * rmmod.  "ROVE" in ASCII.
 */
#define ROVER_DRIVER_ID		0x524f5645

#define ROVER_SLOT_SIZE		64
#define ROVER_RING_HDR_SIZE	4096

/**
 * struct rover_ring_hdr - first page of every ring
 * @tail: index after the last entry produced.  Written by the producer: the
 *	program for send and receive rings; unused in completion rings, where
 *	the phase bit says as much.
 * @head: index of the first entry not yet consumed.  Written by the consumer:
 *	the kernel for send and receive rings, the program for completion rings.
 * @arm: completion rings, written by the program: ROVER_ARM_* in the low two
 *	bits, a count of armings above them, so that each arming is a new word.
 * @flags: ROVER_RING_*, written by the kernel.
 * @waits: receive rings of a queue pair, written by the kernel: 1 while a peer
 *	that found no receive waits for some.
 * @waits_for: and for how many: @tail is to come here, and whoever brings it here
 *	or further enters the kernel after posting.
 *
 * No cache line has two writers; @flags, @waits and @waits_for share one.
 */
struct rover_ring_hdr {
	__u32 tail;
	__u32 reserved_04[15];
	__u32 head;
	__u32 reserved_44[15];
	__u32 arm;
	__u32 reserved_84[15];
	__u32 flags;
	__u32 waits;
	__u32 waits_for;
	__u32 reserved_cc[13];
};

/* Nobody looks at this ring by itself: enter the kernel after posting. */
#define ROVER_RING_NEED_WAKEUP	(1U << 0)
/* The queue pair is in error, or the completion ring has overflowed. */
#define ROVER_RING_DEAD		(1U << 1)

#define ROVER_ARM_SOLICITED	1U
#define ROVER_ARM_NEXT		2U
#define ROVER_ARM_MASK		3U
#define ROVER_ARM_STEP		4U

/* Work request opcodes; the numbers are rover's own. */
enum rover_wqe_opcode {
	ROVER_WQE_SEND = 0,
	ROVER_WQE_SEND_IMM = 1,
	ROVER_WQE_SEND_INV = 2,
	ROVER_WQE_WRITE = 3,
	ROVER_WQE_WRITE_IMM = 4,
	ROVER_WQE_READ = 5,
	ROVER_WQE_CMP_SWAP = 6,
	ROVER_WQE_FETCH_ADD = 7,
	ROVER_WQE_LOCAL_INV = 8,
	ROVER_WQE_REG_MR = 9,		/* not for programs */
	ROVER_WQE_BIND_MW = 10,
	ROVER_WQE_ATOMIC_WRITE = 11,
	ROVER_WQE_FLUSH = 12,
	ROVER_WQE_OPCODES
};

#define ROVER_WQE_SIGNALED	(1U << 0)
#define ROVER_WQE_SOLICITED	(1U << 1)
#define ROVER_WQE_FENCE		(1U << 2)
#define ROVER_WQE_INLINE	(1U << 3)
#define ROVER_WQE_FLAGS		0xfU

/**
 * struct rover_sge - one piece of local memory
 * @addr: address in the memory region's own terms
 * @length: bytes; 0 means 0
 * @lkey: local key
 */
struct rover_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct rover_send_wqe - head of a send work request
 * @opcode: enum rover_wqe_opcode
 * @flags: ROVER_WQE_*
 * @num_sge: gather entries that follow; 0 when ROVER_WQE_INLINE is set
 * @reserved_03: zero
 * @imm: immediate data (network order); or the key to invalidate, there
 *	(SEND_INV) or here (LOCAL_INV); or how far FLUSH goes: placement in bits 0
 *	to 3, selectivity in bits 4 and 5, as in verbs; or see @remote_srqn
 * @rkey: remote key of WRITE, READ, atomics and FLUSH; a window's new key
 *	(BIND_MW), whose lower eight bits are the program's
 * @inline_len: bytes of inline data that follow; 0 without ROVER_WQE_INLINE
 * @wr_id: the program's cookie, given back in the completion
 * @remote_addr: of WRITE, READ, atomics and FLUSH
 * @compare_add: value to compare with (CMP_SWAP), to add (FETCH_ADD) or to store
 *	(ATOMIC_WRITE, as it will be in memory); bytes of FLUSH
 * @swap: value to store (CMP_SWAP)
 * @remote_srqn: XRC: number of the shared receive queue at the other end, for
 *	all that is sent there but CMP_SWAP and FETCH_ADD, which have it in @imm
 * @reserved_2c: zero
 * @ah: datagrams: number of the address handle, as create_ah returned it
 * @remote_qpn: datagrams: the queue pair at the other end
 * @remote_qkey: datagrams: its Q_Key; with bit 31 set, the sender's own instead
 * @reserved_24: zero
 * @reserved_28: zero
 * @bind_addr: BIND_MW: first byte, in the region's own terms
 * @bind_length: BIND_MW: bytes; 0 unbinds a window of type 1
 * @bind_lkey: BIND_MW: key of the region; not looked at without bytes
 * @bind_access: BIND_MW: rights of the window, enum ib_uverbs_access_flags
 *
 * Then, from byte 48 on, struct rover_sge[num_sge] or inline data.
 */
struct rover_send_wqe {
	__u8 opcode;
	__u8 flags;
	__u8 num_sge;
	__u8 reserved_03;
	__u32 imm;
	__u32 rkey;
	__u32 inline_len;
	__aligned_u64 wr_id;
	union {
		struct {
			__aligned_u64 remote_addr;
			__aligned_u64 compare_add;
			union {
				__aligned_u64 swap;
				struct {
					__u32 remote_srqn;
					__u32 reserved_2c;
				};
			};
		};
		struct {
			__u32 ah;
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 reserved_24;
			__aligned_u64 reserved_28;
		};
		struct {
			__aligned_u64 bind_addr;
			__aligned_u64 bind_length;
			__u32 bind_lkey;
			__u32 bind_access;
		};
	};
};

#define ROVER_SEND_WQE_HDR	48

/**
 * struct rover_recv_wqe - head of a receive work request
 * @wr_id: the program's cookie
 * @num_sge: scatter entries that follow
 * @reserved_0c: zero
 *
 * Then, from byte 16 on, struct rover_sge[num_sge].
 */
struct rover_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved_0c;
};

#define ROVER_RECV_WQE_HDR	16

/* What a completion is of; the numbers are rover's own. */
enum rover_cqe_opcode {
	ROVER_CQE_SEND = 0,
	ROVER_CQE_WRITE = 1,
	ROVER_CQE_READ = 2,
	ROVER_CQE_CMP_SWAP = 3,
	ROVER_CQE_FETCH_ADD = 4,
	ROVER_CQE_RECV = 5,
	ROVER_CQE_RECV_WRITE_IMM = 6,
	ROVER_CQE_LOCAL_INV = 7,
	ROVER_CQE_REG_MR = 8,		/* not for programs */
	ROVER_CQE_BIND_MW = 9,
	ROVER_CQE_ATOMIC_WRITE = 10,
	ROVER_CQE_FLUSH = 11,
	ROVER_CQE_OPCODES
};

#define ROVER_CQE_WITH_IMM	(1U << 0)
#define ROVER_CQE_WITH_INV	(1U << 1)
#define ROVER_CQE_GRH		(1U << 2)	/* 40 bytes of it precede the data */
#define ROVER_CQE_VLAN		(1U << 4)	/* @vlan_id is set */

/*
 * IBTA A17.4.5.1 wants a datagram's completion to tell IPv4 from IPv6, and verbs
 * have no field for it.  Ethernet has no service levels; where drivers of
 * hardware put it there programs look for it: over UDP 8, IPv6 1, IPv4 2.  RoCE
 * v1 is none of these: what precedes the data is a GRH itself.
 */
#define ROVER_CQE_SL_GRH	0
#define ROVER_CQE_SL_IPV6	9
#define ROVER_CQE_SL_IPV4	10

/* Completion status: enum ib_wc_status, which verbs and kernel share. */

/**
 * struct rover_cqe - one completion, one cache line
 * @wr_id: of the work request
 * @timestamp: CLOCK_MONOTONIC nanoseconds at which the kernel completed it
 * @qpn: queue pair it belongs to
 * @src_qpn: sender's queue pair (datagrams)
 * @byte_len: bytes received, read or swapped
 * @imm: immediate data (network order), or the remote key invalidated
 * @vendor_err: rover's own reason (enum rover_fault) when status is an error
 * @vlan_id: the datagram came to an address of this VLAN
 * @sl: datagrams: what kind of packet it was, ROVER_CQE_SL_*
 * @reserved_27: zero
 * @reserved_28: zero
 * @status: enum ib_wc_status
 * @opcode: enum rover_cqe_opcode
 * @flags: ROVER_CQE_*
 * @phase: bit 0, written last; see barrier K4
 */
struct rover_cqe {
	__aligned_u64 wr_id;
	__aligned_u64 timestamp;
	__u32 qpn;
	__u32 src_qpn;
	__u32 byte_len;
	__u32 imm;
	__u32 vendor_err;
	__u16 vlan_id;
	__u8 sl;
	__u8 reserved_27;
	__u32 reserved_28[5];
	__u8 status;
	__u8 opcode;
	__u8 flags;
	__u8 phase;
};

/* Verbs: requests and responses ********************************************/

/**
 * struct rover_uapi_alloc_ucontext_req - what the program knows
 * @comp_mask: zero
 * @caps: capability bits the provider understands; none is defined yet
 */
struct rover_uapi_alloc_ucontext_req {
	__aligned_u64 comp_mask;
	__aligned_u64 caps;
};

/**
 * struct rover_uapi_alloc_ucontext_resp - what the module knows
 * @comp_mask: zero
 * @caps: those of the program's bits that the module grants
 * @max_inline: largest max_inline_data of a queue pair, in bytes
 * @max_sge: largest number of gather or scatter entries
 */
struct rover_uapi_alloc_ucontext_resp {
	__aligned_u64 comp_mask;
	__aligned_u64 caps;
	__u32 max_inline;
	__u32 max_sge;
};

/**
 * struct rover_uapi_ring - where and how large a ring is
 * @offset: to give to mmap() on the context's file
 * @size: of the mapping in bytes, header included
 * @entries: power of two; 0 when the queue does not exist
 * @stride: bytes of an entry, a multiple of 64
 */
struct rover_uapi_ring {
	__aligned_u64 offset;
	__aligned_u64 size;
	__u32 entries;
	__u32 stride;
};

struct rover_uapi_create_cq_resp {
	__aligned_u64 comp_mask;
	struct rover_uapi_ring ring;
};

struct rover_uapi_resize_cq_resp {
	__aligned_u64 comp_mask;
	struct rover_uapi_ring ring;
};

/**
 * struct rover_uapi_create_qp_resp - answer of create_qp
 * @comp_mask: zero
 * @sq: send ring
 * @rq: receive ring; all zero without one: receives are those of a shared queue,
 *	or it is an initiator of XRC
 * @qpn: number of the queue pair; the doorbell method wants it
 * @reserved_3c: zero
 */
struct rover_uapi_create_qp_resp {
	__aligned_u64 comp_mask;
	struct rover_uapi_ring sq;
	struct rover_uapi_ring rq;
	__u32 qpn;
	__u32 reserved_3c;
};

struct rover_uapi_create_srq_resp {
	__aligned_u64 comp_mask;
	struct rover_uapi_ring ring;
};

/**
 * struct rover_uapi_modify_srq_req - the provider's part of modify_srq
 * @comp_mask: zero
 * @ring: address of the struct rover_uapi_ring that is to describe the new
 *	ring, since this verb has no answer to put it in; 0 without a new size
 *
 * What is posted is in the new ring, at the same indices: head and tail are
 * those of the old one.  The program posts nothing meanwhile.
 */
struct rover_uapi_modify_srq_req {
	__aligned_u64 comp_mask;
	__aligned_u64 ring;
};

/**
 * struct rover_uapi_create_ah_resp - answer of create_ah
 * @comp_mask: zero
 * @ah: its number, for work requests of queue pairs of the same domain
 *
 * The core's part of this answer is four bytes long: so nothing here may have
 * to be aligned to more.
 */
struct rover_uapi_create_ah_resp {
	__u32 comp_mask;
	__u32 ah;
};

/*
 * The doorbell: a method of rover's own on the uverbs file, entered only when
 * a ring says ROVER_RING_NEED_WAKEUP, or that a peer waits for its receives.  The
 * kernel does the work in the caller's context before it returns, or sees that
 * more is coming, clears the flag and does it soon.  One entry serves all that
 * was posted.
 */
/* 1 << UVERBS_ID_NS_SHIFT: the driver's own number space. */
#define ROVER_OBJECT_DOORBELL		0x1000
#define ROVER_METHOD_DOORBELL_RING	0x1000
/* In: __u32, a queue pair number. */
#define ROVER_ATTR_DOORBELL_QPN		0x1000

/*
 * Device memory: a method of rover's own on the core's object, which tells what
 * to map, also whoever imports it.
 */
#define ROVER_METHOD_DM_QUERY		0x1000
/* In: the handle.  Out: struct rover_uapi_dm. */
#define ROVER_ATTR_DM_QUERY_DM		0x1000
#define ROVER_ATTR_DM_QUERY_RESP	0x1001

/**
 * struct rover_uapi_dm - where device memory is
 * @comp_mask: zero
 * @offset: to give to mmap() on the context's file
 * @size: of the mapping in bytes
 * @length: of the memory, as it was asked for
 */
struct rover_uapi_dm {
	__aligned_u64 comp_mask;
	__aligned_u64 offset;
	__aligned_u64 size;
	__aligned_u64 length;
};

/*
 * What struct rover_uapi_alloc_ucontext_resp said, once more, for whoever
 * imports a context: an attribute of the core's method that queries it.
 */
#define ROVER_ATTR_QUERY_CONTEXT_RESP	0x1000

#endif /* ROVER_ABI_H */
