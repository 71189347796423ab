// SPDX-License-Identifier: GPL-2.0
/*
 * table - numbers nobody can guess, and who they belong to
 *
 * @lock is held over both steps of giving a number and of taking it back, so
 * that no number is free and yet not buried.
 */
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/table.h"

/*
 * Numbers are random, so that even with half of them in use as many tries in a
 * row fail about never.
 */
#define TRIES	64

int rover_table_init(struct rover_table *table, u32 mask)
{
	int err;

	table->quarantine = kzalloc_objs(*table->quarantine, ROVER_QUARANTINE);
	if (!table->quarantine)
		return -ENOMEM;
	err = rhashtable_init(&table->ht, &rover_obj_params);
	if (err) {
		kfree(table->quarantine);
		table->quarantine = NULL;
		return err;
	}
	table->mask = mask;
	table->quarantined = 0;
	mutex_init(&table->lock);
	return 0;
}

void rover_table_destroy(struct rover_table *table)
{
	WARN_ON(atomic_read(&table->ht.nelems));
	rhashtable_destroy(&table->ht);
	kfree(table->quarantine);
	mutex_destroy(&table->lock);
}

static bool is_buried(const struct rover_table *table, u32 key)
{
	u32 n = min_t(u32, table->quarantined, ROVER_QUARANTINE);
	u32 i;

	lockdep_assert_held(&table->lock);
	for (i = 0; i < n; i++)
		if (table->quarantine[i] == key)
			return true;
	return false;
}

static void bury(struct rover_table *table, u32 key)
{
	lockdep_assert_held(&table->lock);
	table->quarantine[table->quarantined % ROVER_QUARANTINE] = key;
	/* Stays above the size once it is: only full or not full matters. */
	if (++table->quarantined == 2 * ROVER_QUARANTINE)
		table->quarantined = ROVER_QUARANTINE;
}

int rover_table_insert(struct rover_table *table, struct rover_obj *obj, u32 min)
{
	int tries, err = -ENOSPC;

	mutex_lock(&table->lock);
	for (tries = 0; tries < TRIES; tries++) {
		u32 key = get_random_u32() & table->mask;

		if (key < min || key == table->mask || is_buried(table, key))
			continue;
		obj->key = key;
		err = rhashtable_lookup_insert_fast(&table->ht, &obj->node,
						    rover_obj_params);
		if (!err || err == -ENOMEM)
			break;
		/* Taken, or the table is just growing: another number. */
		err = -ENOSPC;
		cond_resched();
	}
	mutex_unlock(&table->lock);
	return err;
}

void rover_table_remove(struct rover_table *table, struct rover_obj *obj)
{
	mutex_lock(&table->lock);
	if (!WARN_ON(rhashtable_remove_fast(&table->ht, &obj->node,
					    rover_obj_params)))
		bury(table, obj->key);
	mutex_unlock(&table->lock);
}

void rover_table_replace(struct rover_table *table, struct rover_obj *old,
			 struct rover_obj *new)
{
	mutex_lock(&table->lock);
	new->key = old->key;
	WARN_ON(rhashtable_replace_fast(&table->ht, &old->node, &new->node,
					rover_obj_params));
	mutex_unlock(&table->lock);
}
