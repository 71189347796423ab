/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * ABI between rover.ko and its userspace provider: driver data of the verbs,
 * and the shared rings.
 *
 * Rules: nothing kernel-private is stored here; comp_mask comes first in every
 * structure of a verb; reserved fields are zero and are checked; the layout is
 * the same on 32 and 64 bits.  static_assert()s in module and provider check
 * every size.
 *
 * Rings and their writers
 * =======================
 *
 * Each queue is one mapping: a struct rover_ring_hdr (one page, whose four
 * cache lines share no page with entries), then `entries' slots, a power of two,
 * of `stride' bytes, a multiple of 64.  Indices are free-running 32-bit numbers,
 * masked on use: index & (entries - 1).
 *
 *   send and receive rings        producer: userspace   consumer: kernel
 *   completion ring               producer: kernel      consumer: userspace
 *
 * The kernel keeps its own copy of every index it owns and never reads it
 * back.  It masks and range-checks what it reads, copies each WQE once and uses
 * only the copy.  A process that corrupts its rings loses its own queue pair
 * only.
 *
 * A shared receive queue, also of XRC, is a receive ring that many queue pairs
 * take from.  Its receives are never flushed: it has no flags, and posting
 * never enters the kernel.  If corrupted, the queue pairs that read it fail.
 *
 * Barriers
 * ========
 *
 *   posting     userspace: write WQE; store-release hdr.tail          (P1)
 *               kernel:    load-acquire hdr.tail; read WQE            (K1)
 *               P1 pairs with K1: WQEs before the tail are visible.
 *
 *   sleeping    userspace: P1; full barrier; load hdr.flags           (P2)
 *               kernel:    store hdr.flags |= NEED_WAKEUP; full
 *                          barrier; load hdr.tail                     (K2)
 *               P2 pairs with K2: the kernel sees the new tail, or
 *               userspace sees NEED_WAKEUP and enters the kernel.
 *
 *   restocking  userspace: P1; full barrier; load-acquire hdr.waits;
 *                          load hdr.waits_for                         (P7)
 *               kernel:    store hdr.waits_for; store-release
 *                          hdr.waits = 1; full barrier; load hdr.tail (K7)
 *               P7 pairs with K7: the kernel sees enough receives, or
 *               userspace sees waits and enters the kernel.
 *
 *   retiring    kernel:    finish the slot; store-release hdr.head    (K3)
 *               userspace: load-acquire hdr.head; reuse the slot      (P3)
 *               K3 pairs with P3: the kernel no longer reads the slot.
 *
 *   completing  kernel:    write CQE; store-release cqe.phase         (K4)
 *               userspace: load-acquire cqe.phase; read CQE           (P4)
 *               K4 pairs with P4: the CQE is visible.  The phase bit is
 *               1 in even laps around the ring, beginning with lap 0,
 *               and 0 in odd ones.
 *
 *   consuming   userspace: read CQE; store-release hdr.head           (P5)
 *               kernel:    load-acquire hdr.head; reuse the CQE       (K5)
 *               P5 pairs with K5: userspace no longer reads the CQE.
 *
 *   arming      userspace: store hdr.arm; full barrier; poll again    (P6)
 *               kernel:    K4; full barrier; load hdr.arm             (K6)
 *               P6 pairs with K6: userspace finds the completion, or
 *               the kernel finds the arm word and raises the event.
 */
#ifndef ROVER_ABI_H
#define ROVER_ABI_H

#include <linux/types.h>

/* Incremented only when old and new cannot communicate at all. */
#define ROVER_ABI_VERSION	1

/*
 * "ROVE" in ASCII; enum rdma_driver_id has none for rover.  Zero is a wildcard
 * for the core, and with RXE's number rxe's rmmod would remove rover's devices.
 */
#define ROVER_DRIVER_ID		0x524f5645

#define ROVER_SLOT_SIZE		64
#define ROVER_RING_HDR_SIZE	4096

/**
 * struct rover_ring_hdr - first page of every ring
 * @tail: index after the last entry produced, written by the producer:
 *	userspace for send and receive rings; unused in completion rings, which
 *	have the phase bit.
 * @head: index of the first entry not consumed, written by the consumer: the
 *	kernel for send and receive rings, userspace for completion rings.
 * @arm: completion rings, written by userspace: ROVER_ARM_* in the low two
 *	bits, above them a count that makes each arming a new value.
 * @flags: ROVER_RING_*, written by the kernel.
 * @waits: receive rings of a queue pair, written by the kernel: 1 while a peer
 *	that found no receive waits.
 * @waits_for: @tail that ends the wait: userspace enters the kernel after
 *	posting up to here or further.
 *
 * Each cache line has one writer; @flags, @waits and @waits_for share one.
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

/* The ring is not polled: enter the kernel after posting. */
#define ROVER_RING_NEED_WAKEUP	(1U << 0)
/* Queue pair in error, or completion ring overflowed. */
#define ROVER_RING_DEAD		(1U << 1)

#define ROVER_ARM_SOLICITED	1U
#define ROVER_ARM_NEXT		2U
#define ROVER_ARM_MASK		3U
#define ROVER_ARM_STEP		4U

/* Work request opcodes, numbered by rover. */
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
	ROVER_WQE_REG_MR = 9,		/* kernel users only */
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
 * struct rover_sge - scatter/gather entry of local memory
 * @addr: virtual address in the region
 * @length: bytes; 0 means 0
 * @lkey: local key
 */
struct rover_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct rover_send_wqe - header of a send work request
 * @opcode: enum rover_wqe_opcode
 * @flags: ROVER_WQE_*
 * @num_sge: gather entries that follow; 0 with ROVER_WQE_INLINE
 * @reserved_03: zero
 * @imm: immediate data (network order); or the key to invalidate, remote
 *	(SEND_INV) or local (LOCAL_INV); or, as in verbs, the placement (bits 0
 *	to 3) and selectivity (bits 4 and 5) of FLUSH; or see @remote_srqn
 * @rkey: remote key of WRITE, READ, atomics and FLUSH; new key of a memory
 *	window (BIND_MW), lower eight bits chosen by userspace
 * @inline_len: bytes of inline data that follow; 0 without ROVER_WQE_INLINE
 * @wr_id: user's cookie, returned in the completion
 * @remote_addr: remote virtual address of WRITE, READ, atomics and FLUSH
 * @compare_add: value to compare with (CMP_SWAP), to add (FETCH_ADD) or to
 *	store (ATOMIC_WRITE, in memory order); bytes of FLUSH
 * @swap: value to store (CMP_SWAP)
 * @remote_srqn: XRC: remote shared receive queue, for all that is sent except
 *	CMP_SWAP and FETCH_ADD, which have it in @imm
 * @reserved_2c: zero
 * @ah: datagrams: number of the address handle, from create_ah
 * @remote_qpn: datagrams: destination queue pair
 * @remote_qkey: datagrams: its Q_Key; with bit 31 set, the sender's own
 * @reserved_24: zero
 * @reserved_28: zero
 * @bind_addr: BIND_MW: virtual address of the first byte in the region
 * @bind_length: BIND_MW: bytes; 0 unbinds a type 1 window
 * @bind_lkey: BIND_MW: key of the region; ignored if @bind_length is 0
 * @bind_access: BIND_MW: rights of the window, enum ib_uverbs_access_flags
 *
 * From byte 48 on: struct rover_sge[num_sge] or inline data.
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
 * struct rover_recv_wqe - header of a receive work request
 * @wr_id: user's cookie
 * @num_sge: scatter entries that follow
 * @reserved_0c: zero
 *
 * From byte 16 on: struct rover_sge[num_sge].
 */
struct rover_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved_0c;
};

#define ROVER_RECV_WQE_HDR	16

/* Operation of a completion, numbered by rover. */
enum rover_cqe_opcode {
	ROVER_CQE_SEND = 0,
	ROVER_CQE_WRITE = 1,
	ROVER_CQE_READ = 2,
	ROVER_CQE_CMP_SWAP = 3,
	ROVER_CQE_FETCH_ADD = 4,
	ROVER_CQE_RECV = 5,
	ROVER_CQE_RECV_WRITE_IMM = 6,
	ROVER_CQE_LOCAL_INV = 7,
	ROVER_CQE_REG_MR = 8,		/* kernel users only */
	ROVER_CQE_BIND_MW = 9,
	ROVER_CQE_ATOMIC_WRITE = 10,
	ROVER_CQE_FLUSH = 11,
	ROVER_CQE_OPCODES
};

#define ROVER_CQE_WITH_IMM	(1U << 0)
#define ROVER_CQE_WITH_INV	(1U << 1)
#define ROVER_CQE_GRH		(1U << 2)	/* 40 bytes precede the data */
#define ROVER_CQE_VLAN		(1U << 4)	/* @vlan_id is set */

/*
 * IBTA A17.4.5.1: a datagram's completion tells IPv4 from IPv6, for which verbs
 * have no field.  As drivers of hardware do, use the service level, which
 * Ethernet does not have: 8 for UDP, plus 1 for IPv6 or 2 for IPv4; 0 for RoCE
 * v1, where a GRH precedes the data.
 */
#define ROVER_CQE_SL_GRH	0
#define ROVER_CQE_SL_IPV6	9
#define ROVER_CQE_SL_IPV4	10

/*
 * Completion status: enum ib_wc_status, with the same values in verbs and
 * kernel.
 */

/**
 * struct rover_cqe - a completion, one cache line
 * @wr_id: of the work request
 * @timestamp: CLOCK_MONOTONIC time of completion in nanoseconds
 * @qpn: queue pair
 * @src_qpn: datagrams: queue pair of the sender
 * @byte_len: bytes received, read or swapped
 * @imm: immediate data (network order), or the invalidated remote key
 * @vendor_err: enum rover_fault if @status is an error
 * @vlan_id: datagrams: VLAN of the destination address
 * @sl: datagrams: kind of packet, ROVER_CQE_SL_*
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
 * struct rover_uapi_alloc_ucontext_req - capabilities of the provider
 * @comp_mask: zero
 * @caps: capability bits; none is defined yet
 */
struct rover_uapi_alloc_ucontext_req {
	__aligned_u64 comp_mask;
	__aligned_u64 caps;
};

/**
 * struct rover_uapi_alloc_ucontext_resp - capabilities of the module
 * @comp_mask: zero
 * @caps: granted bits of the provider's
 * @max_inline: maximum max_inline_data of a queue pair, in bytes
 * @max_sge: maximum number of gather or scatter entries
 */
struct rover_uapi_alloc_ucontext_resp {
	__aligned_u64 comp_mask;
	__aligned_u64 caps;
	__u32 max_inline;
	__u32 max_sge;
};

/**
 * struct rover_uapi_ring - mapping and size of a ring
 * @offset: for mmap() on the context's file
 * @size: bytes of the mapping, header included
 * @entries: power of two; 0 if the queue does not exist
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
 * struct rover_uapi_create_qp_resp - response of create_qp
 * @comp_mask: zero
 * @sq: send ring
 * @rq: receive ring; all zero with a shared receive queue, and for an XRC
 *	initiator
 * @qpn: queue pair number, for the doorbell method
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
 * struct rover_uapi_modify_srq_resp - response of modify_srq with a new size
 * @comp_mask: zero
 * @ring: the new ring
 *
 * Only UVERBS_ATTR_UHW_OUT of UVERBS_METHOD_INVOKE_WRITE has room for it: this
 * command has no response when it is written to the file.
 *
 * The new ring holds the posted receives at the same indices, with the head and
 * tail of the old one.  Userspace posts nothing meanwhile.
 */
struct rover_uapi_modify_srq_resp {
	__aligned_u64 comp_mask;
	struct rover_uapi_ring ring;
};

/**
 * struct rover_uapi_create_ah_resp - response of create_ah
 * @comp_mask: zero
 * @ah: its number, for WQEs of queue pairs of this PD
 *
 * No field may need more than four-byte alignment: the core's part of this
 * response is four bytes long.
 */
struct rover_uapi_create_ah_resp {
	__u32 comp_mask;
	__u32 ah;
};

/*
 * Doorbell: a driver method on the uverbs file, used only if a ring has
 * ROVER_RING_NEED_WAKEUP or a peer waits for receives.  The kernel executes the
 * posted WQEs in the caller's context, or, if more are likely to come, clears
 * the flag and executes them soon.  One call serves all that was posted.
 */
/* 1 << UVERBS_ID_NS_SHIFT: first number of the driver's namespace. */
#define ROVER_OBJECT_DOORBELL		0x1000
#define ROVER_METHOD_DOORBELL_RING	0x1000
/* In: __u32 queue pair number. */
#define ROVER_ATTR_DOORBELL_QPN		0x1000

/*
 * Device memory: a driver method on the core's object.  Returns the mapping,
 * also after an import.
 */
#define ROVER_METHOD_DM_QUERY		0x1000
/* In: handle.  Out: struct rover_uapi_dm. */
#define ROVER_ATTR_DM_QUERY_DM		0x1000
#define ROVER_ATTR_DM_QUERY_RESP	0x1001

/**
 * struct rover_uapi_dm - mapping of device memory
 * @comp_mask: zero
 * @offset: for mmap() on the context's file
 * @size: bytes of the mapping
 * @length: bytes of the memory, as requested
 */
struct rover_uapi_dm {
	__aligned_u64 comp_mask;
	__aligned_u64 offset;
	__aligned_u64 size;
	__aligned_u64 length;
};

/*
 * struct rover_uapi_alloc_ucontext_resp again, for an imported context: an
 * attribute of the core's query method.
 */
#define ROVER_ATTR_QUERY_CONTEXT_RESP	0x1000

#endif /* ROVER_ABI_H */
