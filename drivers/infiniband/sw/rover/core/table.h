/* SPDX-License-Identifier: GPL-2.0 */
/*
 * table - numbered objects
 *
 * Objects with random numbers (QPNs, memory keys), found under RCU.  A released
 * number is quarantined: late packets must not reach a new object.
 */
#ifndef ROVER_TABLE_H
#define ROVER_TABLE_H

#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/stddef.h>

#define ROVER_QUARANTINE	1024

/**
 * struct rover_obj - embedded in an object
 * @key: its number; constant while in the table
 * @node: in the hash table
 */
struct rover_obj {
	u32 key;
	struct rhash_head node;
};

/**
 * struct rover_table - numbered objects
 * @ht: the objects
 * @mask: bits of a number
 * @lock: to assign and release numbers
 * @quarantine: released numbers; the oldest is overwritten
 * @quarantined: count of released numbers, and next index in @quarantine
 */
struct rover_table {
	struct rhashtable ht;
	u32 mask;
	struct mutex lock;
	u32 *quarantine;
	u32 quarantined;
};

static const struct rhashtable_params rover_obj_params = {
	.key_len = sizeof_field(struct rover_obj, key),
	.key_offset = offsetof(struct rover_obj, key),
	.head_offset = offsetof(struct rover_obj, node),
	.automatic_shrinking = true,
};

/**
 * rover_table_init() - initialize an empty table
 * @table: table
 * @mask: bits of a number, from bit 0 up
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rover_table_init(struct rover_table *table, u32 mask);

/**
 * rover_table_destroy() - free an empty table
 * @table: has no objects
 * Context: may sleep.
 */
void rover_table_destroy(struct rover_table *table);

/**
 * rover_table_insert() - assign a random number to an object
 * @table: table
 * @obj: initialized; can be found from now on
 * @min: smallest number (QPNs 0 and 1 are special, as is key 0); all ones, the
 *	QPN of multicast, is never assigned
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -ENOSPC if no free number was found.
 */
int rover_table_insert(struct rover_table *table, struct rover_obj *obj, u32 min);

/**
 * rover_table_remove() - remove an object and quarantine its number
 * @table: table
 * @obj: free it after a grace period
 * Context: may sleep.
 */
void rover_table_remove(struct rover_table *table, struct rover_obj *obj);

/**
 * rover_table_replace() - pass a number to another object
 * @table: table
 * @old: RCU readers may still use it
 * @new: found from now on
 * Context: may sleep.
 */
void rover_table_replace(struct rover_table *table, struct rover_obj *old,
			 struct rover_obj *new);

/**
 * rover_table_find() - return the object of a number
 * @table: table
 * @key: the number
 * Context: under rcu_read_lock().
 * Return: NULL if there is none.
 */
static inline struct rover_obj *rover_table_find(struct rover_table *table,
						 u32 key)
{
	return rhashtable_lookup(&table->ht, &key, rover_obj_params);
}

#endif /* ROVER_TABLE_H */
