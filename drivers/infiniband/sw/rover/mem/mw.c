// SPDX-License-Identifier: GPL-2.0
/*
 * mw - memory windows
 *
 * See IBTA 10.6.7.2.  Binding counts the window in its region first, so that
 * no two keys are locked at once.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "mem/fastreg.h"
#include "mem/mw.h"

static struct rover_table *mw_keys(struct ib_pd *pd)
{
	return &rover_dev(pd->device)->mrs;
}

static struct rover_mw *to_mw(struct rover_mkey *mkey)
{
	return container_of(mkey, struct rover_mw, mkey);
}

int rover_mw_alloc(struct ib_mw *ib, struct ib_udata *udata)
{
	struct rover_mw *mw;
	int err = ib_is_udata_in_empty(udata);

	if (err)
		return err;
	mw = kzalloc_obj(*mw, GFP_KERNEL_ACCOUNT);
	if (!mw)
		return -ENOMEM;
	mw->mkey.window = true;
	mw->pd = ib->pd;
	mw->type = ib->type;
	ib->rkey = rover_mkey_publish(mw_keys(ib->pd), &mw->mkey, false);
	if (!ib->rkey) {
		kfree(mw);
		return -ENOMEM;
	}
	container_of(ib, struct rover_ibmw, ib)->mw = mw;
	return 0;
}

static void mw_unbind(struct rover_mw *mw)
{
	if (mw->mr)
		rover_mr_unbind(mw->mr);
	mw->mr = NULL;
}

int rover_mw_dealloc(struct ib_mw *ib)
{
	struct rover_mw *mw = container_of(ib, struct rover_ibmw, ib)->mw;

	rover_mkey_retire(mw_keys(ib->pd), &mw->mkey);
	mw_unbind(mw);
	/* RCU readers may still see the closed key. */
	kfree_rcu(mw, rcu);
	return 0;
}

/* Binding ********************************************************************/

static bool mw_may_bind(const struct rover_mw *mw, struct ib_pd *pd,
			const struct rover_bind *bind)
{
	if (!mw->mkey.window || mw->pd != pd)
		return false;
	return mw->type == IB_MW_TYPE_1 || (!mw->mkey.key && bind->length);
}

static void mw_set_binding(struct rover_mw *mw, struct rover_mr *mr, u32 qpn,
			   const struct rover_bind *bind)
{
	mw->mr = mr;
	mw->qpn = qpn;
	mw->access = bind->access & ROVER_MR_REMOTE;
	mw->length = bind->length;
	mw->iova = bind->access & IB_ZERO_BASED ? 0 : bind->addr;
	mw->shift = bind->addr - mw->iova;
}

/* @mr counts the window already; NULL unbinds. */
static enum rover_fault mw_bind_to(struct rover_mr *mr, struct ib_pd *pd,
				   u32 qpn, const struct rover_bind *bind)
{
	struct rover_mkey *mkey = rover_mkey_lock(mw_keys(pd), bind->key);
	enum rover_fault fault = ROVER_FAULT_OPERATION;

	if (!mkey)
		return fault;
	if (mw_may_bind(to_mw(mkey), pd, bind)) {
		fault = ROVER_OK;
		rover_mkey_close(mkey);
		mw_unbind(to_mw(mkey));
		if (mr) {
			mw_set_binding(to_mw(mkey), mr, qpn, bind);
			rover_mkey_open(mkey, bind->key);
		}
	}
	rover_mkey_unlock(mkey);
	return fault;
}

enum rover_fault rover_mw_bind(struct ib_pd *pd, u32 qpn,
			       const struct rover_bind *bind)
{
	enum rover_fault fault;
	struct rover_mr *mr;

	/* Windows grant no local write, but applications set it. */
	if (bind->access & ~(ROVER_MR_REMOTE | IB_ACCESS_LOCAL_WRITE |
			     IB_ZERO_BASED))
		return ROVER_FAULT_OPERATION;
	if (!bind->length)
		return mw_bind_to(NULL, pd, qpn, bind);
	mr = rover_mr_bind(pd, bind->lkey, bind->access, bind->addr,
			   bind->length);
	if (!mr)
		return ROVER_FAULT_OPERATION;
	fault = mw_bind_to(mr, pd, qpn, bind);
	if (fault)
		rover_mr_unbind(mr);
	return fault;
}

/* Invalidating ***************************************************************/

/* The peer may invalidate windows of this connection only. */
static bool mw_may_invalidate(const struct rover_mw *mw, struct ib_pd *pd,
			      u32 qpn, u32 key, bool remote)
{
	return mw->type == IB_MW_TYPE_2 && mw->pd == pd && mw->mkey.key == key &&
	       (!remote || mw->qpn == qpn);
}

enum rover_fault rover_mw_invalidate(struct ib_pd *pd, u32 qpn, u32 key,
				     bool remote)
{
	struct rover_mkey *mkey = rover_mkey_lock(mw_keys(pd), key);
	enum rover_fault fault = ROVER_FAULT_OPERATION;

	if (!mkey)
		return fault;
	if (!mkey->window) {
		fault = rover_fastreg_invalidate(mkey, pd, key, remote);
	} else if (mw_may_invalidate(to_mw(mkey), pd, qpn, key, remote)) {
		fault = ROVER_OK;
		rover_mkey_close(mkey);
		mw_unbind(to_mw(mkey));
	}
	rover_mkey_unlock(mkey);
	return fault;
}

/* Looking up *****************************************************************/

static enum rover_fault mw_check(const struct rover_mw *mw,
				 struct ib_pd *pd, u32 qpn, int access,
				 u64 addr, u64 len)
{
	u64 from = addr - mw->iova;

	if (mw->pd != pd || (mw->type == IB_MW_TYPE_2 && mw->qpn != qpn))
		return ROVER_FAULT_KEY;
	if ((mw->access & access) != access)
		return ROVER_FAULT_ACCESS;
	if (addr < mw->iova || from > mw->length || len > mw->length - from)
		return ROVER_FAULT_BOUNDS;
	return ROVER_OK;
}

enum rover_fault rover_mw_find(struct ib_pd *pd, u32 qpn, u32 key, int access,
			       u64 addr, u64 len, struct rover_use *use)
{
	struct rover_mkey *mkey = rover_mkey_find(mw_keys(pd), key);
	enum rover_fault fault;
	struct rover_mw *mw;

	if (!mkey)
		return ROVER_FAULT_KEY;
	if (likely(!mkey->window))
		return rover_mr_use(mkey, pd, access, addr, len, use);
	mw = to_mw(mkey);
	fault = mw_check(mw, pd, qpn, access, addr, len);
	if (fault) {
		rover_mkey_put(mkey);
		return fault;
	}
	/* The reference keeps the window bound, and so the region. */
	*use = (struct rover_use) {
		.mr = mw->mr,
		.mkey = mkey,
		.shift = mw->shift,
	};
	return ROVER_OK;
}

enum rover_fault rover_mw_grants(struct ib_pd *pd, u32 qpn, u32 key, int access)
{
	struct rover_mkey *mkey = rover_mkey_find(mw_keys(pd), key);
	enum rover_fault fault;
	struct rover_use use;
	u64 start;

	if (!mkey)
		return ROVER_FAULT_KEY;
	if (mkey->window) {
		start = to_mw(mkey)->iova;
		fault = mw_check(to_mw(mkey), pd, qpn, access, start, 0);
		rover_mkey_put(mkey);
		return fault;
	}
	start = container_of(mkey, struct rover_mr, mkey)->iova;
	fault = rover_mr_use(mkey, pd, access, start, 0, &use);
	if (!fault)
		rover_mr_put(&use);
	return fault;
}
