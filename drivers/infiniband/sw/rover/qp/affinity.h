/* SPDX-License-Identifier: GPL-2.0 */
/*
 * affinity - where the heavy work is done
 *
 * Where both ends of a connection are on this machine, what one sends is at
 * once received by the other on the same processor, in softirq: summing at
 * one end would wait for summing and copying at the other, and packets for
 * both until a softirq is over.  Large messages are therefore spread over two
 * processors, in process context, where softirqs deliver after every train: the
 * sender stays where its program rings the doorbell, its home, and the receiver
 * is given another processor.
 *
 * Small messages stay where they are: there a change of context would cost more
 * than the work.  So does a message that is alone, since nothing is sent meanwhile,
 * and all that comes from a real network: the NIC has chosen a processor already.
 */
#ifndef ROVER_AFFINITY_H
#define ROVER_AFFINITY_H

#include "qp/qp.h"

/* Bytes from which on work is heavy. */
#define ROVER_BULK	(16 * 1024)

/* And up to which one that is alone is done on one processor; a train at most. */
#define ROVER_ALONE	(64 * 1024)

/**
 * rover_affinity_receive() - where to receive what has just arrived
 * @qp: addressee
 * @len: bytes of the packet or train
 * @response: to a request of its own
 *
 * Context: softirq, under rcu_read_lock().
 * Return: a processor; ROVER_CPU_ANY to receive it here and now.
 */
int rover_affinity_receive(struct rover_qp *qp, unsigned int len, bool response);

/**
 * rover_affinity_send() - where to send what is large
 * @qp: sender
 *
 * Context: any.
 * Return: a processor, on which it is to be done in process context;
 *	ROVER_CPU_ANY for any context.
 */
int rover_affinity_send(const struct rover_qp *qp);

/**
 * rover_affinity_ask() - where to ask for what is large
 * @qp: sender
 *
 * Answers are received on two processors in turn, a long one by a thread and its end
 * where it arrives, and each of the two makes room for another question.
 *
 * Context: any.
 * Return: the processor that asked last, when questions from here could pass those;
 *	ROVER_CPU_ANY for any.
 */
int rover_affinity_ask(const struct rover_qp *qp);

/**
 * rover_affinity_home() - this is where large messages are to be sent from
 * @qp: sender
 *
 * With packets on their way the home stays where it is: those sent here could
 * pass those sent there.
 *
 * Context: any.
 */
static inline void rover_affinity_home(struct rover_qp *qp)
{
	int here = raw_smp_processor_id();
	int home = READ_ONCE(qp->home_cpu);

	if (home == ROVER_CPU_ANY ||
	    (home != here && !rover_qp_inflight(qp)))
		WRITE_ONCE(qp->home_cpu, here);
}

/**
 * rover_affinity_on() - where to go on with heavy work
 * @qp: of which some was done here
 *
 * Where that of its peer waits for this processor too, with another one idle perhaps,
 * one of the two leaves.
 *
 * Context: any.
 * Return: a processor.
 */
int rover_affinity_on(const struct rover_qp *qp);

/**
 * rover_affinity_poll() - where to look after a stream of small messages
 * @qp: sender
 *
 * With packets on their way that is here: those sent there could pass them.
 *
 * Context: preemption off.
 * Return: another processor where the peer is of this machine; else this one.
 */
int rover_affinity_poll(const struct rover_qp *qp);

/**
 * rover_affinity_peer() - the queue pair at the other end
 * @qp: connected
 *
 * Context: under rcu_read_lock().
 * Return: NULL where it is not of this machine.
 */
struct rover_qp *rover_affinity_peer(const struct rover_qp *qp);

/**
 * rover_affinity_to() - have the heavy work of a queue pair done
 * @qp: alive or referenced
 * @cpu: by which processor
 *
 * Context: any.
 */
void rover_affinity_to(struct rover_qp *qp, int cpu);

/**
 * rover_affinity_init() - at module load: threads for the processors there are
 * @run: called by them with &rover_qp.heavy, in process context
 *
 * Return: 0 or -errno.
 */
int rover_affinity_init(void (*run)(struct rover_kick *heavy));

/**
 * rover_affinity_exit() - at module unload, after the last queue pair
 */
void rover_affinity_exit(void);

#endif /* ROVER_AFFINITY_H */
