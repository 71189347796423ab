// SPDX-License-Identifier: GPL-2.0
/*
 * doorbell - ioctl to report posted requests
 *
 * Finds the queue pair by number, not in the core's object tables.  The core's
 * SRCU read lock keeps the device.
 */
#define UVERBS_MODULE_NAME rover
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/rover-abi.h>

#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "run/poller.h"
#include "run/run.h"
#include "rx/backlog.h"
#include "verbs/doorbell.h"

/* Not macros: the core pastes these names. */
enum {
	DOORBELL_OBJECT = ROVER_OBJECT_DOORBELL,
	DOORBELL_RING = ROVER_METHOD_DOORBELL_RING,
};

static int UVERBS_HANDLER(DOORBELL_RING)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ucontext = ib_uverbs_get_ucontext(attrs);
	struct rover_qp *qp;
	bool flush, recvs;
	u32 qpn;
	int err;

	if (IS_ERR(ucontext))
		return PTR_ERR(ucontext);
	err = uverbs_copy_from(&qpn, attrs, ROVER_ATTR_DOORBELL_QPN);
	if (err)
		return err;

	rcu_read_lock();
	qp = rover_qp_find(qpn);
	/* One error for both hides which numbers others use. */
	if (!qp || qp->ucontext != ucontext) {
		err = -EINVAL;
		goto out;
	}
	rover_qp_count(qp, ROVER_STAT_DOORBELLS);
	rover_qp_set_work(qp, ROVER_WORK_TX);
	flush = rover_qp_allows(qp, ROVER_MUST_FLUSH);
	recvs = flush || READ_ONCE(qp->rsp.peer_waits);
	if (recvs)
		rover_qp_set_work(qp, ROVER_WORK_RX);
	/* A queued poll sends: do not also send from this CPU. */
	if (recvs && !flush && rover_kick_queued(&qp->stream.kick))
		rover_run_receives(qp);
	else if (recvs || !rover_poller_doorbell(qp))
		rover_backlog_doorbell(qp);
out:
	rcu_read_unlock();
	return err;
}

DECLARE_UVERBS_NAMED_METHOD(DOORBELL_RING,
			    UVERBS_ATTR_PTR_IN(ROVER_ATTR_DOORBELL_QPN,
					       UVERBS_ATTR_TYPE(u32),
					       UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(DOORBELL_OBJECT, &UVERBS_METHOD(DOORBELL_RING));

const struct uapi_definition rover_doorbell_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(DOORBELL_OBJECT),
	{},
};
