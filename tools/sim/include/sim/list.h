/* SPDX-License-Identifier: GPL-2.0 */
/* list - doubly linked lists */
#ifndef SIM_LIST_H
#define SIM_LIST_H

struct list_head {
	struct list_head *next;
	struct list_head *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline void list_add(struct list_head *entry, struct list_head *prev)
{
	entry->next = prev->next;
	entry->prev = prev;
	prev->next->prev = entry;
	prev->next = entry;
}

static inline void list_add_tail(struct list_head *entry,
				 struct list_head *list)
{
	list_add(entry, list->prev);
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move_tail(struct list_head *entry,
				  struct list_head *list)
{
	list_del(entry);
	list_add_tail(entry, list);
}

#define list_entry		container_of
#define list_first_entry(list, type, member) \
	list_entry((list)->next, type, member)
#define list_last_entry(list, type, member) \
	list_entry((list)->prev, type, member)
#define list_first_entry_or_null(list, type, member) \
	(list_empty(list) ? NULL : list_first_entry(list, type, member))
#define list_next_entry(pos, member) \
	list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_for_each_entry(pos, list, member) \
	for ((pos) = list_first_entry(list, typeof(*(pos)), member); \
	     &(pos)->member != (list); \
	     (pos) = list_next_entry(pos, member))
#define list_for_each_entry_safe(pos, tmp, list, member) \
	for ((pos) = list_first_entry(list, typeof(*(pos)), member), \
	     (tmp) = list_next_entry(pos, member); \
	     &(pos)->member != (list); \
	     (pos) = (tmp), (tmp) = list_next_entry(tmp, member))

#endif /* SIM_LIST_H */
