// SPDX-License-Identifier: GPL-2.0
/*
 * mkey - memory keys, and how what they open is closed
 *
 * Opening and closing may be asked for by several queue pairs at once, and by
 * a verb that ends it all: @change sees to it that they come one by one, and
 * @dead that nothing is opened again after the end.
 */
#include <linux/processor.h>
#include <linux/random.h>

#include "mem/mkey.h"

static void init(struct rover_mkey *mkey)
{
	spin_lock_init(&mkey->change);
	refcount_set(&mkey->refs, 1);
	init_completion(&mkey->gone);
	/* Packets may be on their way still from one that had the same number. */
	mkey->gen = get_random_u32();
}

u32 rover_mkey_publish(struct rover_table *keys, struct rover_mkey *mkey,
		       bool open)
{
	u32 key;

	init(mkey);
	/* Above 0: so no whole key is 0. */
	if (rover_table_insert(keys, &mkey->obj, 1))
		return 0;
	key = mkey->obj.key << ROVER_MKEY_LOW |
	      (get_random_u32() & ((1U << ROVER_MKEY_LOW) - 1));
	if (open) {
		/* What it stands for is seen, too: see rover_mkey_find(). */
		smp_store_release(&mkey->key, key);
	}
	return key;
}

void rover_mkey_retire(struct rover_table *keys, struct rover_mkey *mkey)
{
	/* One that was replaced keeps its key for those who have found it. */
	if (!mkey->replaced) {
		spin_lock_bh(&mkey->change);
		mkey->dead = true;
		WRITE_ONCE(mkey->key, 0);
		spin_unlock_bh(&mkey->change);
		rover_table_remove(keys, &mkey->obj);
	}
	rover_mkey_put(mkey);
	wait_for_completion(&mkey->gone);
}

void rover_mkey_replace(struct rover_table *keys, struct rover_mkey *old,
			struct rover_mkey *new)
{
	init(new);
	new->key = old->key;
	new->gen = old->gen + 1;
	spin_lock_bh(&old->change);
	old->dead = true;
	spin_unlock_bh(&old->change);
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
		spin_lock(&mkey->change);
		if (!mkey->dead)
			return mkey;
		spin_unlock(&mkey->change);
	}
	rcu_read_unlock();
	return NULL;
}

void rover_mkey_unlock(struct rover_mkey *mkey)
{
	spin_unlock(&mkey->change);
	rcu_read_unlock();
}

void rover_mkey_open(struct rover_mkey *mkey, u32 key)
{
	lockdep_assert_held(&mkey->change);
	WRITE_ONCE(mkey->gen, mkey->gen + 1);
	WRITE_ONCE(mkey->sent_from, false);
	/* As above. */
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
	/* Without any reference it is at its end, or was just replaced. */
	if (mkey && (READ_ONCE(mkey->gen) != id->gen ||
		     !refcount_inc_not_zero(&mkey->refs)))
		mkey = NULL;
	rcu_read_unlock();
	if (!mkey)
		return NULL;
	/* M1 */
	smp_mb__after_atomic();
	/* Opened again since, it has another generation, and that is seen then. */
	if (smp_load_acquire(&mkey->key) && READ_ONCE(mkey->gen) == id->gen)
		return mkey;
	rover_mkey_put(mkey);
	return NULL;
}

bool rover_mkey_sent_from(struct rover_table *keys, u32 key)
{
	struct rover_mkey *mkey = rover_mkey_find(keys, key);
	bool sent_from;

	if (!mkey)
		return false;
	sent_from = READ_ONCE(mkey->sent_from);
	rover_mkey_put(mkey);
	return sent_from;
}

void rover_mkey_close(struct rover_mkey *mkey)
{
	lockdep_assert_held(&mkey->change);
	WRITE_ONCE(mkey->key, 0);
	/* M2 */
	smp_mb();
	while (refcount_read(&mkey->refs) > 1)
		cpu_relax();
	/* What they did is over before what the caller does next. */
	smp_acquire__after_ctrl_dep();
}
