/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mkey - memory keys: look-up, opening and closing
 *
 * The upper 24 bits of a key are a random table number.  The lower eight are
 * random at first; consumers change them with each fast registration and window
 * binding, so that old keys fail.
 *
 * A key is open while rover_mkey.key holds it; 0 means closed.  A look-up
 * compares all 32 bits and takes a reference, for at most a section under a
 * queue pair's lock (decision 0009).  Closing waits for the references:
 *
 *	look-up				closing
 *	inc refs			key = 0
 *	full barrier (M1)		full barrier (M2)
 *	load-acquire key		load refs
 *
 * M1 pairs with M2: the look-up sees 0, or closing sees its reference.  Opening
 * store-releases @key after range and rights; pairs with the load-acquire.
 *
 * Closing spins with softirqs off.  So a reference holder keeps softirqs off,
 * closes no key, and calls no kernel consumer, which might close this one.
 */
#ifndef ROVER_MKEY_H
#define ROVER_MKEY_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#include "core/table.h"

/* Consumer's bits of a key; mask of table numbers. */
#define ROVER_MKEY_LOW		8
#define ROVER_MKEY_MASK		(U32_MAX >> ROVER_MKEY_LOW)

/**
 * struct rover_mkey - memory key, embedded in a region or window
 * @obj: upper 24 bits
 * @key: all 32 bits; 0 while closed; written under @lock
 * @gen: number of openings; written under @lock
 * @window: embedded in a window
 * @dead: retired or replaced: never opened again; under @lock
 * @replaced: not in the table
 * @zcopy_sent: packets sent since opening point to the fast registration
 * @lock: serialises opening and closing; innermost, softirqs off
 * @refs: look-ups, plus one until retired
 * @gone: completed when @refs is 0
 */
struct rover_mkey {
	struct rover_obj obj;
	u32 key;
	u32 gen;
	bool window;
	bool dead;
	bool replaced;
	bool zcopy_sent;
	spinlock_t lock;
	refcount_t refs;
	struct completion gone;
};

/**
 * struct rover_mkey_id - one opening of a key
 * @number: table number
 * @gen: rover_mkey.gen; unlike the lower eight bits not reused soon
 */
struct rover_mkey_id {
	u32 number;
	u32 gen;
};

/* Caller holds a reference. */
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
 * rover_mkey_publish() - assign a key
 * @keys: key table
 * @mkey: zeroed; initialised here
 * @open: open it, too
 * Context: may sleep.
 * Return: the key; 0 if out of memory or numbers.
 */
u32 rover_mkey_publish(struct rover_table *keys, struct rover_mkey *mkey,
		       bool open);

/**
 * rover_mkey_retire() - remove a key, wait for its users
 * @keys: key table
 * @mkey: to be freed after a grace period
 * Context: may sleep.
 */
void rover_mkey_retire(struct rover_table *keys, struct rover_mkey *mkey);

/**
 * rover_mkey_replace() - hand over a key to a new object
 * @keys: key table
 * @old: open; must be retired next
 * @new: zeroed; initialised here
 *
 * Concurrent look-ups find one or the other.
 * Context: may sleep.
 */
void rover_mkey_replace(struct rover_table *keys, struct rover_mkey *old,
			struct rover_mkey *new);

/**
 * rover_mkey_lock() - find and lock a key, open or closed
 * @keys: key table
 * @key: upper 24 bits count
 * Context: softirqs off.
 * Return: the key, under rcu_read_lock() and rover_mkey.lock until
 * rover_mkey_unlock(); NULL if there is none.
 */
struct rover_mkey *rover_mkey_lock(struct rover_table *keys, u32 key);

void rover_mkey_unlock(struct rover_mkey *mkey);

/**
 * rover_mkey_open() - open a key
 * @mkey: closed; locked
 * @key: all 32 bits
 */
void rover_mkey_open(struct rover_mkey *mkey, u32 key);

/**
 * rover_mkey_close() - close a key and wait for its users
 * @mkey: locked
 * Context: softirqs off; no key referenced.
 */
void rover_mkey_close(struct rover_mkey *mkey);

/**
 * rover_mkey_put() - drop a reference
 * @mkey: key
 * Context: any.
 */
static inline void rover_mkey_put(struct rover_mkey *mkey)
{
	if (refcount_dec_and_test(&mkey->refs))
		complete(&mkey->gone);
}

/**
 * rover_mkey_find_id() - look up a key unless closed since
 * @keys: key table
 * @id: opening
 * Context: softirqs off until rover_mkey_put().
 * Return: the key, referenced, or NULL.
 */
struct rover_mkey *rover_mkey_find_id(struct rover_table *keys,
				      const struct rover_mkey_id *id);

/**
 * rover_mkey_zcopy_sent() - return rover_mkey.zcopy_sent of a key
 * @keys: key table
 * @key: all 32 bits
 * Context: softirqs off.
 */
bool rover_mkey_zcopy_sent(struct rover_table *keys, u32 key);

/**
 * rover_mkey_find() - look up an open key
 * @keys: key table
 * @key: from a WQE or the wire
 * Context: softirqs off until rover_mkey_put().
 * Return: the key, referenced, or NULL.
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
		/* Take no reference for a wrong key: it would delay closing. */
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
