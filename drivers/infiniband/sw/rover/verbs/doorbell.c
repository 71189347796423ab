// SPDX-License-Identifier: GPL-2.0
/*
 * doorbell - how a program enters the kernel after posting
 *
 * One ioctl on the uverbs file with a queue pair's number.  Nothing is looked
 * up in the core's tables and no lock of the core's is held but its SRCU read
 * lock, which keeps the device: the number leads to the queue pair, and the
 * queue pair says whose it is.
 */
#define UVERBS_MODULE_NAME rover
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/rover-abi.h>

#include "qp/qp_table.h"
#include "run/poller.h"
#include "run/run.h"
#include "rx/ingress.h"
#include "verbs/doorbell.h"

/* The core's macros paste the numbers' names, so they must not be macros. */
enum {
	DOORBELL = ROVER_OBJECT_DOORBELL,
	RING = ROVER_METHOD_DOORBELL_RING,
};

static int UVERBS_HANDLER(RING)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ucontext = ib_uverbs_get_ucontext(attrs);
	struct rover_qp *qp;
	bool flush, receives;
	u32 qpn;
	int err;

	if (IS_ERR(ucontext))
		return PTR_ERR(ucontext);
	err = uverbs_copy_from(&qpn, attrs, ROVER_ATTR_DOORBELL_QPN);
	if (err)
		return err;

	rcu_read_lock();
	qp = rover_qp_find(qpn);
	/* The same answer to both: numbers of others are not to be probed. */
	if (!qp || qp->owner != ucontext) {
		err = -EINVAL;
		goto out;
	}
	rover_qp_count(qp, ROVER_STAT_DOORBELLS);
	set_bit(ROVER_WORK_TX, &qp->work);
	/* In error receives are flushed, and else there may be a peer who waits for some. */
	flush = rover_qp_allows(qp, ROVER_MUST_FLUSH);
	receives = flush || READ_ONCE(qp->rsp.peer_waits);
	if (receives)
		set_bit(ROVER_WORK_RX, &qp->work);
	/* The poller sends what it is going to look at: do not send that here, too. */
	if (receives && !flush && rover_kick_queued(&qp->stream.kick))
		rover_run_receives(qp);
	else if (receives || !rover_poller_takes(qp))
		rover_ingress_posted(qp);
out:
	rcu_read_unlock();
	return err;
}

DECLARE_UVERBS_NAMED_METHOD(RING,
			    UVERBS_ATTR_PTR_IN(ROVER_ATTR_DOORBELL_QPN,
					       UVERBS_ATTR_TYPE(u32),
					       UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(DOORBELL, &UVERBS_METHOD(RING));

const struct uapi_definition rover_doorbell_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(DOORBELL),
	{},
};
