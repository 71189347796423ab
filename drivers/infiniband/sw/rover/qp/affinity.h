/* SPDX-License-Identifier: GPL-2.0 */
/*
 * affinity - CPUs that do heavy work
 *
 * With both ends local, softirq receives a packet on the CPU that sent it, so
 * send and receive alternate.  Long messages use two CPUs in process context,
 * where softirqs run after each train: the home CPU, where the program calls the
 * doorbell or the kernel user posts, sends; a worker on another CPU receives
 * (decision 0010).
 *
 * One CPU suffices for small messages (a context switch costs more), at queue
 * depth 1 (nothing is sent meanwhile), and for remote peers (the NIC has chosen
 * it).
 */
#ifndef ROVER_AFFINITY_H
#define ROVER_AFFINITY_H

#include "qp/qp.h"

/* A long message has at least this size. */
#define ROVER_LONG_BYTES	(16 * 1024)

/* Messages up to a train count for queue depth 1. */
#define ROVER_QD1_BYTES	(64 * 1024)

/**
 * rover_affinity_receive() - choose the CPU to receive a packet
 * @qp: receiver
 * @len: bytes of the packet or train
 * @response: to a request of @qp
 * Context: softirq, under rcu_read_lock().
 * Return: CPU; ROVER_CPU_ANY to receive here.
 */
int rover_affinity_receive(struct rover_qp *qp, unsigned int len,
			   bool response);

/**
 * rover_affinity_send() - choose the CPU to send long messages
 * @qp: sender
 * Context: any.
 * Return: CPU, for process context; ROVER_CPU_ANY for any context.
 */
int rover_affinity_send(const struct rover_qp *qp);

/**
 * rover_affinity_read() - choose the CPU to request long READs
 * @qp: requester; responses arrive on two CPUs, which must not both request
 * Context: any.
 * Return: CPU that sent last, if a local peer has not answered all; else
 *	ROVER_CPU_ANY.
 */
int rover_affinity_read(const struct rover_qp *qp);

/**
 * rover_affinity_set_home() - make this CPU home unless packets are in flight
 * @qp: sender
 * Context: any.
 */
static inline void rover_affinity_set_home(struct rover_qp *qp)
{
	int here = raw_smp_processor_id();
	int home = READ_ONCE(qp->home_cpu);

	if (home == ROVER_CPU_ANY ||
	    (home != here && !rover_qp_inflight(qp)))
		WRITE_ONCE(qp->home_cpu, here);
}

/**
 * rover_affinity_worker_cpu() - choose the CPU to continue heavy work
 * @qp: its work was begun here
 * Context: any.
 * Return: this CPU; another if the peer's worker is busy here.
 */
int rover_affinity_worker_cpu(const struct rover_qp *qp);

/**
 * rover_affinity_poll() - choose the CPU to poll a stream
 * @qp: sender
 * Context: preemption off.
 * Return: this CPU; another for a local peer with nothing in flight.
 */
int rover_affinity_poll(const struct rover_qp *qp);

/**
 * rover_affinity_peer() - find a local peer
 * @qp: connected
 * Context: under rcu_read_lock().
 * Return: NULL if the peer is remote.
 */
struct rover_qp *rover_affinity_peer(const struct rover_qp *qp);

/**
 * rover_affinity_receives() - test whether packets wait for a thread
 * @qp: requester
 * Context: any; a hint.
 * Return: true if packets were received for @qp or a local peer that no CPU has
 * processed yet.
 */
bool rover_affinity_receives(const struct rover_qp *qp);

/**
 * rover_affinity_waits() - test whether packets wait for a CPU of this host
 * @qp: requester
 * Context: any; a hint.
 * Return: true if packets from a local peer, or to it, are still queued.
 */
bool rover_affinity_waits(const struct rover_qp *qp);

/**
 * rover_affinity_queue() - queue a queue pair to a worker
 * @qp: alive or referenced
 * @cpu: CPU of the worker
 * Context: any.
 */
void rover_affinity_queue(struct rover_qp *qp, int cpu);

/**
 * rover_affinity_init() - start a worker per present CPU
 * @run: called in process context with &rover_qp.worker_kick
 * Return: 0 or -errno.
 */
int rover_affinity_init(void (*run)(struct rover_kick *kick));

/**
 * rover_affinity_exit() - stop the workers; no queue pair is left
 */
void rover_affinity_exit(void);

#endif /* ROVER_AFFINITY_H */
