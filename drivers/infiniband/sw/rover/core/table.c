// SPDX-License-Identifier: GPL-2.0
/* table - numbered objects */
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/table.h"

/* With half of the numbers in use, all tries practically never fail. */
#define TABLE_TRIES	64

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

static bool table_is_quarantined(const struct rover_table *table, u32 key)
{
	u32 n = min_t(u32, table->quarantined, ROVER_QUARANTINE);
	u32 i;

	lockdep_assert_held(&table->lock);
	for (i = 0; i < n; i++)
		if (table->quarantine[i] == key)
			return true;
	return false;
}

static void table_quarantine_key(struct rover_table *table, u32 key)
{
	lockdep_assert_held(&table->lock);
	table->quarantine[table->quarantined % ROVER_QUARANTINE] = key;
	/* Once full, it stays full. */
	if (++table->quarantined == 2 * ROVER_QUARANTINE)
		table->quarantined = ROVER_QUARANTINE;
}

int rover_table_insert(struct rover_table *table, struct rover_obj *obj, u32 min)
{
	int tries, err = -ENOSPC;

	mutex_lock(&table->lock);
	for (tries = 0; tries < TABLE_TRIES; tries++) {
		u32 key = get_random_u32() & table->mask;

		if (key < min || key == table->mask ||
		    table_is_quarantined(table, key))
			continue;
		obj->key = key;
		err = rhashtable_lookup_insert_fast(&table->ht, &obj->node,
						    rover_obj_params);
		if (!err || err == -ENOMEM)
			break;
		/* In use, or the table is growing: try another. */
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
		table_quarantine_key(table, obj->key);
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
