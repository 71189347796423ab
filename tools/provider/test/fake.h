/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * fake.h: the kernel's part, played in the test's own process. Rings are
 * malloc'ed, so that the sanitizers see what both sides do to the same bytes;
 * mmap(), munmap() and ioctl() of the provider end here (ld --wrap).
 */
#ifndef PROVIDER_FAKE_H
#define PROVIDER_FAKE_H

#include "../op.h"

/* File number of a context; no real file. */
#define FAKE_FD	7777

/**
 * struct fake_ring - the kernel's side of a ring
 * @hdr: memory of the ring
 * @size: bytes of it
 * @offset: announced to the program
 * @entries: power of two
 * @stride: bytes of an entry
 * @index: of the kernel: consumer of queues, producer of completions
 * @fired: arm word that was answered
 */
struct fake_ring {
	struct rover_ring_hdr *hdr;
	size_t size;
	uint64_t offset;
	uint32_t entries;
	uint32_t stride;
	uint32_t index;
	uint32_t fired;
};

/**
 * struct fake_kernel - what the tests set and look at
 * @cq: ring of the last completion queue created
 * @sq: send ring of the last queue pair created
 * @rq: its receive ring
 * @srq: ring of the last shared receive queue created, or its new one
 * @srq_err: errno that modify_srq gives
 * @mapped: rings mapped now
 * @objects: objects alive now
 * @fail_mmap: which mmap() from now on fails; 0 none
 * @bad_stride: announce rings whose entries are too small
 * @doorbells: times the kernel was entered
 * @doorbell_err: errno that entering gives
 * @request: the last request
 * @on_doorbell: called on entering
 * @on_change: called while a queue is resized
 * @said: complaints to the user
 * @moderate: what modify_cq has said last
 * @cq_flags: extended attributes seen by the last create_cq
 * @qp_flags: flags seen by the last create_qp
 */
struct fake_kernel {
	struct fake_ring cq;
	struct fake_ring sq;
	struct fake_ring rq;
	struct fake_ring srq;
	int srq_err;
	int mapped;
	int objects;
	int fail_mmap;
	bool bad_stride;
	atomic_int doorbells;
	int doorbell_err;
	struct rover_doorbell request;
	void (*on_doorbell)(void);
	void (*on_change)(void);
	int said;
	struct ibv_moderate_cq moderate;
	uint64_t cq_flags;
	uint32_t qp_flags;
};

extern struct fake_kernel kernel;
extern struct verbs_context fake_context;
extern struct rover_pd fake_pd;

/* As the module: K1, K3, K4 to K6. */
void *fake_posted(struct fake_ring *ring);
void fake_retire(struct fake_ring *ring);
bool fake_room(struct fake_ring *ring);
bool fake_complete(struct fake_ring *ring, const struct rover_cqe *cqe,
		   bool solicited);
void fake_flag(struct fake_ring *ring, uint32_t flag, bool on);

/* A ring that was never mapped goes without an munmap(). */
void fake_forget(struct rover_ring_hdr *hdr);

/* What libibverbs does around the provider. */
struct ibv_cq *fake_cq(int cqe);
struct rover_qp *fake_qp(uint32_t wr, uint32_t sge, uint32_t inl, bool ex);
struct rover_srq *fake_srq(uint32_t wr, uint32_t sge);

/* The same for datagrams. */
struct rover_qp *fake_ud_qp(uint32_t wr, bool ex);

/* And an initiator of XRC. */
struct rover_qp *fake_xrc_qp(uint32_t wr, bool ex);
void fake_state(struct rover_qp *qp, enum ibv_qp_state state);

#endif /* PROVIDER_FAKE_H */
