// SPDX-License-Identifier: GPL-2.0
/* fake_xarray - pointers by index: a sorted array */
#include <sim/kernel.h>

struct xarray_entry {
	unsigned long index;
	void *pointer;
};

struct xarray_head {
	unsigned int num;
	unsigned int max;
	struct xarray_entry list[];
};

/* Position of the first entry from @index on */
static unsigned int xarray_find(const struct xarray_head *head,
				unsigned long index)
{
	unsigned int low = 0, high = head ? head->num : 0;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (head->list[mid].index < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void *xa_store(struct xarray *xa, unsigned long index, void *pointer, gfp_t gfp)
{
	struct xarray_head *head = xa->head;
	unsigned int i = xarray_find(head, index);

	sim_assert(!head || i == head->num || head->list[i].index != index);
	if (!head || head->num == head->max) {
		unsigned int max = head ? 2 * head->max : 16;

		unit_allocs += !head;
		head = realloc(head, sizeof(*head) +
			       max * sizeof(head->list[0]));
		if (!xa->head)
			head->num = 0;
		head->max = max;
		xa->head = head;
	}
	memmove(&head->list[i + 1], &head->list[i],
		(head->num - i) * sizeof(head->list[0]));
	head->list[i] = (struct xarray_entry) { index, pointer };
	head->num++;
	return NULL;
}

void *xa_erase(struct xarray *xa, unsigned long index)
{
	struct xarray_head *head = xa->head;
	unsigned int i = xarray_find(head, index);
	void *pointer;

	if (!head || i == head->num || head->list[i].index != index)
		return NULL;
	pointer = head->list[i].pointer;
	head->num--;
	memmove(&head->list[i], &head->list[i + 1],
		(head->num - i) * sizeof(head->list[0]));
	if (!head->num) {
		kfree(head);
		xa->head = NULL;
	}
	return pointer;
}

void *sim_xa_next(struct xarray *xa, unsigned long *index)
{
	struct xarray_head *head = xa->head;
	unsigned int i = xarray_find(head, *index);

	if (!head || i == head->num)
		return NULL;
	*index = head->list[i].index;
	return head->list[i].pointer;
}
