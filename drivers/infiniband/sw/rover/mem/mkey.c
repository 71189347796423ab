// SPDX-License-Identifier: GPL-2.0
/* mkey - memory keys */
#include <linux/processor.h>
#include <linux/random.h>

#include "mem/mkey.h"

static void mkey_init(struct rover_mkey *mkey)
{
	spin_lock_init(&mkey->lock);
	refcount_set(&mkey->refs, 1);
	init_completion(&mkey->gone);
	/* Random: packets in flight may name a former key of this number. */
	mkey->gen = get_random_u32();
}

u32 rover_mkey_publish(struct rover_table *keys, struct rover_mkey *mkey,
		       bool open)
{
	u32 key;

	mkey_init(mkey);
	/* Minimum 1: no key is 0. */
	if (rover_table_insert(keys, &mkey->obj, 1))
		return 0;
	key = mkey->obj.key << ROVER_MKEY_LOW |
	      (get_random_u32() & ((1U << ROVER_MKEY_LOW) - 1));
	if (open) {
		/* Pairs with rover_mkey_find(): range, rights are visible. */
		smp_store_release(&mkey->key, key);
	}
	return key;
}

void rover_mkey_retire(struct rover_table *keys, struct rover_mkey *mkey)
{
	/* A replaced object keeps its key for its remaining users. */
	if (!mkey->replaced) {
		spin_lock_bh(&mkey->lock);
		mkey->dead = true;
		WRITE_ONCE(mkey->key, 0);
		spin_unlock_bh(&mkey->lock);
		rover_table_remove(keys, &mkey->obj);
	}
	rover_mkey_put(mkey);
	wait_for_completion(&mkey->gone);
}

void rover_mkey_replace(struct rover_table *keys, struct rover_mkey *old,
			struct rover_mkey *new)
{
	mkey_init(new);
	new->key = old->key;
	new->gen = old->gen + 1;
	spin_lock_bh(&old->lock);
	old->dead = true;
	spin_unlock_bh(&old->lock);
	rover_table_replace(keys, &old->obj, &new->obj);
	old->replaced = true;
}

struct rover_mkey *rover_mkey_lock(struct rover_table *keys, u32 key)
{
	struct rover_mkey *mkey;
	struct rover_obj *obj;

	rcu_read_lock();
	obj = rover_table_find(keys, key >> ROVER_MKEY_LOW);
	if (obj) {
		mkey = container_of(obj, struct rover_mkey, obj);
		spin_lock(&mkey->lock);
		if (!mkey->dead)
			return mkey;
		spin_unlock(&mkey->lock);
	}
	rcu_read_unlock();
	return NULL;
}

void rover_mkey_unlock(struct rover_mkey *mkey)
{
	spin_unlock(&mkey->lock);
	rcu_read_unlock();
}

void rover_mkey_open(struct rover_mkey *mkey, u32 key)
{
	lockdep_assert_held(&mkey->lock);
	WRITE_ONCE(mkey->gen, mkey->gen + 1);
	WRITE_ONCE(mkey->zcopy_sent, false);
	/* Pairs with rover_mkey_find(): range, rights, @gen are visible. */
	smp_store_release(&mkey->key, key);
}

struct rover_mkey *rover_mkey_find_id(struct rover_table *keys,
				      const struct rover_mkey_id *id)
{
	struct rover_mkey *mkey = NULL;
	struct rover_obj *obj;

	lockdep_assert_in_softirq();
	rcu_read_lock();
	obj = rover_table_find(keys, id->number);
	if (obj)
		mkey = container_of(obj, struct rover_mkey, obj);
	if (mkey && (READ_ONCE(mkey->gen) != id->gen ||
		     !refcount_inc_not_zero(&mkey->refs)))
		mkey = NULL;
	rcu_read_unlock();
	if (!mkey)
		return NULL;
	/* M1: pairs with M2 in rover_mkey_close(). */
	smp_mb__after_atomic();
	/* Pairs with rover_mkey_open(): a new @key shows its new @gen. */
	if (smp_load_acquire(&mkey->key) && READ_ONCE(mkey->gen) == id->gen)
		return mkey;
	rover_mkey_put(mkey);
	return NULL;
}

bool rover_mkey_zcopy_sent(struct rover_table *keys, u32 key)
{
	struct rover_mkey *mkey = rover_mkey_find(keys, key);
	bool zcopy_sent;

	if (!mkey)
		return false;
	zcopy_sent = READ_ONCE(mkey->zcopy_sent);
	rover_mkey_put(mkey);
	return zcopy_sent;
}

void rover_mkey_close(struct rover_mkey *mkey)
{
	lockdep_assert_held(&mkey->lock);
	WRITE_ONCE(mkey->key, 0);
	/* M2: pairs with M1 in rover_mkey_find(). */
	smp_mb();
	while (refcount_read(&mkey->refs) > 1)
		cpu_relax();
	/* Pairs with rover_mkey_put(): the users' accesses are over. */
	smp_acquire__after_ctrl_dep();
}
