/* SPDX-License-Identifier: GPL-2.0 */
/*
 * table - numbers nobody can guess, and who they belong to
 *
 * A table gives random numbers (queue pair numbers, memory keys) to objects
 * and finds the object of a number under RCU.  A number that was given back is
 * not given out again soon, so that packets of a dead object cannot reach a
 * young one.  Insert and remove may sleep; look-up runs anywhere under RCU.
 */
#ifndef ROVER_TABLE_H
#define ROVER_TABLE_H

#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/stddef.h>

#define ROVER_QUARANTINE	1024

/**
 * struct rover_obj - what an object of a table embeds
 * @key: its number; stable while it is in the table
 * @node: the table's
 */
struct rover_obj {
	u32 key;
	struct rhash_head node;
};

/**
 * struct rover_table - numbers and their objects
 * @ht: the objects
 * @mask: bits a number may have
 * @lock: protects @quarantine and @quarantined
 * @quarantine: numbers given back lately, oldest overwritten first
 * @quarantined: how many were given back; tells where the next goes, and whether
 *	@quarantine is full
 */
struct rover_table {
	struct rhashtable ht;
	u32 mask;
	struct mutex lock;
	u32 *quarantine;
	u32 quarantined;
};

/* Here, so that look-up is compiled for it. */
static const struct rhashtable_params rover_obj_params = {
	.key_len = sizeof_field(struct rover_obj, key),
	.key_offset = offsetof(struct rover_obj, key),
	.head_offset = offsetof(struct rover_obj, node),
	.automatic_shrinking = true,
};

/**
 * rover_table_init() - make an empty table
 * @table: to be initialised
 * @mask: bits its numbers may have, all ones from bit 0 up
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rover_table_init(struct rover_table *table, u32 mask);

/**
 * rover_table_destroy() - give back the memory of an empty table
 * @table: no object is in it any more
 *
 * Context: may sleep.
 */
void rover_table_destroy(struct rover_table *table);

/**
 * rover_table_insert() - give an object a random number
 * @table: into this one
 * @obj: from now on found by rover_table_find(); initialise it first
 * @min: smallest number wanted (0 and 1 are special as QPNs, 0 as a key)
 *
 * All ones is no number, either: as a QPN it is that of multicast.
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -ENOSPC when no free number was found.
 */
int rover_table_insert(struct rover_table *table, struct rover_obj *obj, u32 min);

/**
 * rover_table_remove() - take an object out and bury its number
 * @table: the object's table
 * @obj: readers under RCU may still hold it: free it after a grace period
 *
 * Context: may sleep.
 */
void rover_table_remove(struct rover_table *table, struct rover_obj *obj);

/**
 * rover_table_replace() - another object takes over a number
 * @table: the object's table
 * @old: found until now; readers under RCU may still hold it
 * @new: found from now on
 *
 * Context: may sleep.
 */
void rover_table_replace(struct rover_table *table, struct rover_obj *old,
			 struct rover_obj *new);

/**
 * rover_table_find() - the object of a number
 * @table: to look in
 * @key: the number
 *
 * Context: under rcu_read_lock().
 * Return: NULL when there is none.
 */
static inline struct rover_obj *rover_table_find(struct rover_table *table,
						 u32 key)
{
	return rhashtable_lookup(&table->ht, &key, rover_obj_params);
}

#endif /* ROVER_TABLE_H */
