// SPDX-License-Identifier: GPL-2.0
/*
 * zcopy - revocable zero-copy payload
 *
 * A CPU has at most one reader, as softirqs are off, and publishes its sender.
 * A revoke scans all CPUs, but is rare.  Kernel users close keys for each
 * request: so readers hold a reference to the key.
 */
#include <linux/percpu.h>
#include <linux/processor.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "qp/zcopy.h"

/* Sender of the payload being read; compare only */
static DEFINE_PER_CPU(const struct rover_qp *, zcopy_sender);

/* rcu_read_lock() keeps the device. */
static bool zcopy_valid(struct rover_qp *qp, const struct rover_zcopy *zcopy,
			struct rover_mkey **mkey)
{
	*mkey = NULL;
	if (!READ_ONCE(qp->alive) ||
	    READ_ONCE(qp->zcopy_gen[zcopy->response]) != zcopy->gen)
		return false;
	if (!zcopy->key.number)
		return true;
	*mkey = rover_mkey_find_id(&qp->dev->mrs, &zcopy->key);
	return *mkey;
}

bool rover_zcopy_begin(const struct rover_zcopy *zcopy,
		       struct rover_mkey **mkey)
{
	struct rover_qp *qp;

	lockdep_assert_in_softirq();
	rcu_read_lock();
	qp = rover_qp_find(zcopy->qpn);
	if (!qp) {
		rcu_read_unlock();
		return false;
	}
	__this_cpu_write(zcopy_sender, qp);
	/* Z1.  Pairs with Z2: this reader is visible to a revoke. */
	smp_mb();
	if (likely(zcopy_valid(qp, zcopy, mkey)))
		return true;
	rover_zcopy_end(NULL);
	return false;
}

void rover_zcopy_end(struct rover_mkey *mkey)
{
	/* Pairs with smp_acquire__after_ctrl_dep() in zcopy_wait(): read. */
	smp_store_release(this_cpu_ptr(&zcopy_sender), NULL);
	if (mkey)
		rover_mkey_put(mkey);
	rcu_read_unlock();
}

void rover_zcopy_drop(const struct rover_zcopy *zcopy)
{
	struct rover_qp *qp;

	rcu_read_lock();
	qp = rover_qp_find(zcopy->qpn);
	rover_drop(qp && READ_ONCE(qp->alive) ? qp->dev->stats : NULL,
		   ROVER_STAT_TX_DROP_REVOKED, zcopy->qpn, 0, 0);
	rcu_read_unlock();
}

enum rover_fault rover_zcopy_write(struct rover_sgl *sgl,
				   const struct sk_buff *skb, int from, u32 len,
				   const struct rover_zcopy *zcopy)
{
	enum rover_fault fault;
	struct rover_mkey *mkey;

	if (!rover_zcopy_begin(zcopy, &mkey))
		return ROVER_FAULT_REVOKED;
	fault = rover_sgl_write(sgl, skb, from, len);
	rover_zcopy_end(mkey);
	return fault;
}

/* A reader copies or sums one packet or GSO skb. */
static void zcopy_wait(const struct rover_qp *qp)
{
	int cpu;

	/* Z2.  Pairs with Z1: the new generation is visible to readers. */
	smp_mb();
	for_each_possible_cpu(cpu)
		while (READ_ONCE(per_cpu(zcopy_sender, cpu)) == qp)
			cpu_relax();
	/* Pairs with smp_store_release() in rover_zcopy_end(): read. */
	smp_acquire__after_ctrl_dep();
}

/* Return true if there may be readers. */
static bool zcopy_next_gen(struct rover_qp *qp, bool *used, bool response)
{
	if (!*used)
		return false;
	*used = false;
	WRITE_ONCE(qp->zcopy_gen[response], qp->zcopy_gen[response] + 1);
	return true;
}

void rover_zcopy_revoke_send(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	if (zcopy_next_gen(qp, &qp->req.zcopy, false))
		zcopy_wait(qp);
}

void rover_zcopy_revoke(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	rover_zcopy_revoke_send(qp);
	if (zcopy_next_gen(qp, &qp->rsp.zcopy, true))
		zcopy_wait(qp);
}
