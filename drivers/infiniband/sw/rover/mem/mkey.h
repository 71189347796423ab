/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mkey - memory keys, and how what they open is closed
 *
 * A key has 32 bits.  The upper 24 are a random number of the device's table
 * and stay what they are.  The lower eight are random, too, but belong to the
 * consumer where the verbs say so: what is registered or bound by work requests
 * gets new ones each time, so that whoever holds an old key is shut out.
 *
 * States.  @key is the whole key while what it stands for may be used, else 0,
 * which no key ever is.  A look-up compares the whole key and takes a
 * reference, as short as a section under a queue pair's lock.  Closing makes
 * the key worthless and waits for the references there are:
 *
 *	look-up				closing
 *	inc refs			key = 0
 *	full barrier (M1)		full barrier (M2)
 *	load-acquire key		load refs
 *
 * M1 pairs with M2: either the look-up finds no key, or closing sees its
 * reference.  Opening writes what the key stands for, then releases the key;
 * the acquire of a look-up is its partner.
 *
 * Closing spins with softirqs off, as for a lock.  So whoever holds a reference
 * has them off, too, or what interrupts him might wait for him; and he must not call
 * out to consumers in the kernel (completions, events), which might be closing the
 * very same key, nor close any key himself.  A program that is woken closes it in a
 * context of its own.
 */
#ifndef ROVER_MKEY_H
#define ROVER_MKEY_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>

#include "core/table.h"

/* The consumer's bits of a key, and the bits of the table's numbers. */
#define ROVER_MKEY_LOW		8
#define ROVER_MKEY_MASK		(U32_MAX >> ROVER_MKEY_LOW)

/**
 * struct rover_mkey - what a thing with a memory key embeds
 * @obj: upper 24 bits
 * @key: the whole key, or 0 while closed; written under @change
 * @gen: counts its openings; as @key
 * @window: it is a window's (mw), else a region's (mr)
 * @dead: retired or replaced; under @change
 * @replaced: it is not in the table any more
 * @sent_from: packets of a send queue have pointed into its memory since it was
 *	opened; only of what work requests open and close
 * @change: one opening or closing at a time; a leaf, taken with softirqs off
 * @refs: look-ups under way, and one for being alive
 * @gone: completed with the last reference
 */
struct rover_mkey {
	struct rover_obj obj;
	u32 key;
	u32 gen;
	bool window;
	bool dead;
	bool replaced;
	bool sent_from;
	spinlock_t change;
	refcount_t refs;
	struct completion gone;
};

/**
 * struct rover_mkey_id - one opening of a key
 * @number: of the table
 * @gen: as of struct rover_mkey
 *
 * A consumer's eight bits come again soon, these two do not.
 */
struct rover_mkey_id {
	u32 number;
	u32 gen;
};

/* As it is open now, with a reference. */
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
 * rover_mkey_publish() - give it a key by which it is found
 * @keys: the device's table
 * @mkey: zeroed; initialised here
 * @open: valid at once, else closed
 *
 * Context: may sleep.
 * Return: the key; 0 without memory, or when there are no more.
 */
u32 rover_mkey_publish(struct rover_table *keys, struct rover_mkey *mkey,
		       bool open);

/**
 * rover_mkey_retire() - the end: nobody finds it, nobody uses it
 * @keys: the device's table
 * @mkey: readers under RCU may still hold it: free it after a grace period
 *
 * Context: may sleep.
 */
void rover_mkey_retire(struct rover_table *keys, struct rover_mkey *mkey);

/**
 * rover_mkey_replace() - another thing is what the key opens, from now on
 * @keys: the device's table
 * @old: open; those who have found it may go on using it until they put it
 * @new: zeroed; initialised here
 *
 * No look-up fails meanwhile: it finds the one or the other.  @old has to be
 * retired, too.
 *
 * Context: may sleep.
 */
void rover_mkey_replace(struct rover_table *keys, struct rover_mkey *old,
			struct rover_mkey *new);

/**
 * rover_mkey_lock() - what a key belongs to, open or not, to change that
 * @keys: the device's table
 * @key: its upper 24 bits count
 *
 * Context: softirqs off.  Returns under rcu_read_lock() and with @change held:
 * see rover_mkey_unlock().
 * Return: NULL, and nothing is held, when there is none.
 */
struct rover_mkey *rover_mkey_lock(struct rover_table *keys, u32 key);

/* Undoes rover_mkey_lock(). */
void rover_mkey_unlock(struct rover_mkey *mkey);

/**
 * rover_mkey_open() - from now on it may be used
 * @mkey: closed; @change held
 * @key: its upper 24 bits, and eight of the consumer's
 */
void rover_mkey_open(struct rover_mkey *mkey, u32 key);

/**
 * rover_mkey_close() - nobody uses it any more when this returns
 * @mkey: open or closed; @change held
 *
 * Context: softirqs off; the caller holds no reference to any key.
 */
void rover_mkey_close(struct rover_mkey *mkey);

/**
 * rover_mkey_put() - drop the reference rover_mkey_find() took
 * @mkey: not used any more
 *
 * Context: any.
 */
static inline void rover_mkey_put(struct rover_mkey *mkey)
{
	if (refcount_dec_and_test(&mkey->refs))
		complete(&mkey->gone);
}

/**
 * rover_mkey_find_id() - is a key still open as it was?
 * @keys: the device's table
 * @id: how it was
 *
 * Context: softirqs off, until the reference is dropped.
 * Return: with a reference; NULL when it was closed since.
 */
struct rover_mkey *rover_mkey_find_id(struct rover_table *keys,
				      const struct rover_mkey_id *id);

/**
 * rover_mkey_sent_from() - may packets of a send queue point into its memory?
 * @keys: the device's table
 * @key: the whole key
 *
 * Context: softirqs off.
 */
bool rover_mkey_sent_from(struct rover_table *keys, u32 key);

/**
 * rover_mkey_find() - what a key opens
 * @keys: the device's table
 * @key: from a work request or from the wire
 *
 * Context: softirqs off, until the reference is dropped.
 * Return: with a reference; NULL when nothing has just this key now.
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
		/* A wrong guess must not hold up who waits for references. */
		if (mkey && READ_ONCE(mkey->key) != key)
			mkey = NULL;
		/* Without any, and yet with a key, it was just replaced. */
	} while (mkey && unlikely(!refcount_inc_not_zero(&mkey->refs)));
	rcu_read_unlock();
	if (!mkey)
		return NULL;
	/* M1 */
	smp_mb__after_atomic();
	/* Open, and then what it stands for is seen, too. */
	if (unlikely(smp_load_acquire(&mkey->key) != key)) {
		rover_mkey_put(mkey);
		return NULL;
	}
	return mkey;
}

#endif /* ROVER_MKEY_H */
