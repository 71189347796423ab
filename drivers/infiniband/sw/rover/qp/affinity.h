/* SPDX-License-Identifier: GPL-2.0 */
/*
 * affinity - CPUs that do heavy work
 *
 * With both ends on this machine, a packet is received in softirq on the CPU
 * that sent it, so send and receive would alternate.  Long messages use two
 * CPUs in process context, where softirqs run after each train: the home CPU,
 * where userspace rings the doorbell, sends; a worker on another one receives
 * (decision 0010).
 *
 * Small messages stay on one CPU: a context switch costs more than their work.
 * So do messages at queue depth 1, since nothing is sent meanwhile, and packets
 * of remote peers: the NIC has chosen a CPU.
 */
#ifndef ROVER_AFFINITY_H
#define ROVER_AFFINITY_H

#include "qp/qp.h"

/* Bytes that make a message long. */
#define ROVER_LONG_BYTES	(16 * 1024)

/* Longest message that stays on one CPU at queue depth 1: at most a train. */
#define ROVER_QD1_BYTES	(64 * 1024)

/**
 * rover_affinity_receive() - choose the CPU to receive a packet
 * @qp: receiver
 * @len: bytes of the packet or train
 * @response: response to a request of @qp
 *
 * Context: softirq, under rcu_read_lock().
 * Return: CPU; ROVER_CPU_ANY to receive here.
 */
int rover_affinity_receive(struct rover_qp *qp, unsigned int len,
			   bool response);

/**
 * rover_affinity_send() - choose the CPU to send long messages
 * @qp: sender
 *
 * Context: any.
 * Return: CPU, for process context; ROVER_CPU_ANY for any context.
 */
int rover_affinity_send(const struct rover_qp *qp);

/**
 * rover_affinity_read() - choose the CPU to request long READs
 * @qp: requester
 *
 * A worker receives long responses, and the CPU where they arrive their ends:
 * both could then send the next request.
 *
 * Context: any.
 * Return: CPU that sent last, if requests of this CPU could pass those in
 *	flight; else ROVER_CPU_ANY.
 */
int rover_affinity_read(const struct rover_qp *qp);

/**
 * rover_affinity_set_home() - make this CPU the home CPU
 * @qp: sender
 *
 * Not with packets in flight, which those sent here could pass.
 *
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
 * @qp: queue pair whose work was begun here
 *
 * Leaves this CPU if the peer's work waits for it too.
 *
 * Context: any.
 * Return: CPU.
 */
int rover_affinity_worker_cpu(const struct rover_qp *qp);

/**
 * rover_affinity_poll() - choose the CPU to poll a stream
 * @qp: sender
 *
 * Context: preemption off.
 * Return: another CPU for a local peer, unless packets are in flight, which
 *	those sent there could pass; else this CPU.
 */
int rover_affinity_poll(const struct rover_qp *qp);

/**
 * rover_affinity_peer() - find a local peer
 * @qp: connected
 *
 * Context: under rcu_read_lock().
 * Return: peer; NULL if it is remote.
 */
struct rover_qp *rover_affinity_peer(const struct rover_qp *qp);

/**
 * rover_affinity_queue() - queue a queue pair to a worker
 * @qp: alive or referenced
 * @cpu: CPU of the worker
 *
 * Context: any.
 */
void rover_affinity_queue(struct rover_qp *qp, int cpu);

/**
 * rover_affinity_init() - start a worker per present CPU at module load
 * @run: called by workers with &rover_qp.heavy, in process context
 *
 * Return: 0 or -errno.
 */
int rover_affinity_init(void (*run)(struct rover_kick *heavy));

/**
 * rover_affinity_exit() - stop workers at module unload; no queue pair is left
 */
void rover_affinity_exit(void);

#endif /* ROVER_AFFINITY_H */
