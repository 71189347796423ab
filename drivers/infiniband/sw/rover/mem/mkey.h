/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mkey - memory keys: look-up, opening and closing
 *
 * The upper 24 bits of a key are a random number in the device's table and
 * never change.  The lower eight are random until the consumer changes them, as
 * verbs allow for fast registrations and windows: holders of an old key are
 * shut out.
 *
 * A key is open while rover_mkey.key holds it, and closed while that is 0,
 * which no key is.  A look-up compares all 32 bits and takes a reference, for
 * at most a section under a queue pair's lock (decision 0009).  Closing clears
 * @key and waits for the references:
 *
 *	look-up				closing
 *	inc refs			key = 0
 *	full barrier (M1)		full barrier (M2)
 *	load-acquire key		load refs
 *
 * M1 pairs with M2: the look-up sees 0, or closing sees its reference.  Opening
 * writes range and rights, then store-releases @key, which pairs with the
 * look-up's load-acquire.
 *
 * Closing spins with softirqs off.  So the holder of a reference keeps softirqs
 * off (a softirq on its CPU might spin), closes no key, and calls no kernel
 * consumer (completion, event), which might close the same key.  Userspace that
 * is woken closes keys in its own context.
 */
#ifndef ROVER_MKEY_H
#define ROVER_MKEY_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#include "core/table.h"

/* Consumer's bits of a key; mask of the table's numbers. */
#define ROVER_MKEY_LOW		8
#define ROVER_MKEY_MASK		(U32_MAX >> ROVER_MKEY_LOW)

/**
 * struct rover_mkey - memory key, embedded in a region or window
 * @obj: upper 24 bits
 * @key: all 32 bits, 0 while closed; written under @lock
 * @gen: number of openings; written under @lock
 * @window: of a window (mw), else of a region (mr)
 * @dead: retired or replaced; under @lock
 * @replaced: not in the table
 * @sent_from: sent packets have pointed into the memory since it was opened;
 *	fast registrations only
 * @lock: serialises opening and closing; leaf, taken with softirqs off
 * @refs: look-ups in progress, plus one until retired
 * @gone: completed when @refs drops to 0
 */
struct rover_mkey {
	struct rover_obj obj;
	u32 key;
	u32 gen;
	bool window;
	bool dead;
	bool replaced;
	bool sent_from;
	spinlock_t lock;
	refcount_t refs;
	struct completion gone;
};

/**
 * struct rover_mkey_id - one opening of a key
 * @number: number in the table
 * @gen: rover_mkey.gen
 *
 * The consumer's eight bits are soon reused; these two are not.
 */
struct rover_mkey_id {
	u32 number;
	u32 gen;
};

/* Current opening of @mkey; caller holds a reference. */
static inline struct rover_mkey_id rover_mkey_id(const struct rover_mkey *mkey)
{
	return (struct rover_mkey_id) { mkey->obj.key, mkey->gen };
}

static inline bool rover_mkey_id_is(const struct rover_mkey_id *one,
				    const struct rover_mkey_id *other)
{
	return one->number == other->number && one->gen == other->gen;
}

/**
 * rover_mkey_publish() - assign a key and add it to the table
 * @keys: the device's table
 * @mkey: zeroed; initialised here
 * @open: open it at once
 *
 * Context: may sleep.
 * Return: the key; 0 if out of memory or numbers.
 */
u32 rover_mkey_publish(struct rover_table *keys, struct rover_mkey *mkey,
		       bool open);

/**
 * rover_mkey_retire() - close a key for good and wait for its users
 * @keys: the device's table
 * @mkey: to be freed after a grace period
 *
 * Context: may sleep.
 */
void rover_mkey_retire(struct rover_table *keys, struct rover_mkey *mkey);

/**
 * rover_mkey_replace() - let a new object take over a key
 * @keys: the device's table
 * @old: open; its users may continue until they put it; retire it next
 * @new: zeroed; initialised here
 *
 * A concurrent look-up finds one or the other.
 *
 * Context: may sleep.
 */
void rover_mkey_replace(struct rover_table *keys, struct rover_mkey *old,
			struct rover_mkey *new);

/**
 * rover_mkey_lock() - find a key, open or closed, and lock it
 * @keys: the device's table
 * @key: only the upper 24 bits count
 *
 * Context: softirqs off.  Returns under rcu_read_lock() with rover_mkey.lock
 * held, until rover_mkey_unlock().
 * Return: the key; NULL, with nothing held, if there is none.
 */
struct rover_mkey *rover_mkey_lock(struct rover_table *keys, u32 key);

/* Undo rover_mkey_lock(). */
void rover_mkey_unlock(struct rover_mkey *mkey);

/**
 * rover_mkey_open() - open a key
 * @mkey: closed; its lock held
 * @key: its upper 24 bits, and eight of the consumer's
 */
void rover_mkey_open(struct rover_mkey *mkey, u32 key);

/**
 * rover_mkey_close() - close a key and wait for its users
 * @mkey: open or closed; its lock held
 *
 * Context: softirqs off; the caller holds no reference to any key.
 */
void rover_mkey_close(struct rover_mkey *mkey);

/**
 * rover_mkey_put() - drop a look-up's reference
 * @mkey: key found
 *
 * Context: any.
 */
static inline void rover_mkey_put(struct rover_mkey *mkey)
{
	if (refcount_dec_and_test(&mkey->refs))
		complete(&mkey->gone);
}

/**
 * rover_mkey_find_id() - look up an opening of a key
 * @keys: the device's table
 * @id: the opening
 *
 * Context: softirqs off until the reference is dropped.
 * Return: the key, referenced; NULL if it has been closed since.
 */
struct rover_mkey *rover_mkey_find_id(struct rover_table *keys,
				      const struct rover_mkey_id *id);

/**
 * rover_mkey_sent_from() - test rover_mkey.sent_from of a key
 * @keys: the device's table
 * @key: all 32 bits
 *
 * Context: softirqs off.
 */
bool rover_mkey_sent_from(struct rover_table *keys, u32 key);

/**
 * rover_mkey_find() - look up an open key
 * @keys: the device's table
 * @key: from a WQE or from the wire
 *
 * Context: softirqs off until the reference is dropped.
 * Return: the key, referenced; NULL if no open key has this value.
 */
static inline struct rover_mkey *rover_mkey_find(struct rover_table *keys,
						 u32 key)
{
	struct rover_mkey *mkey;
	struct rover_obj *obj;

	lockdep_assert_in_softirq();
	rcu_read_lock();
	do {
		obj = rover_table_find(keys, key >> ROVER_MKEY_LOW);
		mkey = obj ? container_of(obj, struct rover_mkey, obj) : NULL;
		/* A wrong key takes no reference: it would delay closing. */
		if (mkey && READ_ONCE(mkey->key) != key)
			mkey = NULL;
		/* Open without references: just replaced, look again. */
	} while (mkey && unlikely(!refcount_inc_not_zero(&mkey->refs)));
	rcu_read_unlock();
	if (!mkey)
		return NULL;
	/* M1: pairs with M2 in rover_mkey_close(). */
	smp_mb__after_atomic();
	/* Pairs with rover_mkey_open(): range and rights are visible. */
	if (unlikely(smp_load_acquire(&mkey->key) != key)) {
		rover_mkey_put(mkey);
		return NULL;
	}
	return mkey;
}

#endif /* ROVER_MKEY_H */
