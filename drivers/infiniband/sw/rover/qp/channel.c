// SPDX-License-Identifier: GPL-2.0
/* channel - completion channels */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "qp/channel.h"

/* Between two looks at a channel with unread events; doubles. */
#define DELAY_MIN_NS	(1 * NSEC_PER_MSEC)
#define DELAY_MAX_NS	(256 * NSEC_PER_MSEC)

/**
 * struct rover_channel - a completion channel
 * @node: in channel_table
 * @file: its file, referenced
 * @users: CQs; under channel_mutex
 * @emptied: how often it was seen empty
 */
struct rover_channel {
	struct hlist_node node;
	struct file *file;
	unsigned int users;
	atomic_t emptied;
};

/* By address of the file */
static DEFINE_HASHTABLE(channel_table, 8);
static DEFINE_MUTEX(channel_mutex);

static struct rover_channel *channel_find(const struct file *file)
{
	struct rover_channel *channel;

	lockdep_assert_held(&channel_mutex);
	hash_for_each_possible(channel_table, channel, node, (unsigned long)file)
		if (channel->file == file)
			return channel;
	return NULL;
}

static struct rover_channel *channel_new(struct file *file)
{
	struct rover_channel *channel = kzalloc_obj(*channel, GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&channel_mutex);
	if (!channel)
		return NULL;
	channel->file = get_file(file);
	hash_add(channel_table, &channel->node, (unsigned long)file);
	return channel;
}

static struct rover_channel *channel_get(struct file *file)
{
	struct rover_channel *channel;

	mutex_lock(&channel_mutex);
	channel = channel_find(file) ?: channel_new(file);
	if (channel)
		channel->users++;
	mutex_unlock(&channel_mutex);
	return channel;
}

static void channel_put(struct rover_channel *channel)
{
	bool last;

	mutex_lock(&channel_mutex);
	last = !--channel->users;
	if (last)
		hash_del(&channel->node);
	mutex_unlock(&channel_mutex);
	if (!last)
		return;
	fput(channel->file);
	kfree(channel);
}

/* The object of a channel is its open file. */
static struct file *channel_file(const struct uverbs_attr_bundle *attrs)
{
	const struct ib_uobject *uobj;
	struct file *file;

	uobj = uverbs_attr_get_uobject(attrs,
				       UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
	if (IS_ERR(uobj))
		return NULL;
	file = uobj->object;
	return file && file->private_data == uobj ? file : NULL;
}

int rover_channel_open(struct rover_unread *unread,
		       const struct uverbs_attr_bundle *attrs, bool expected)
{
	struct file *file;

	*unread = (struct rover_unread) {};
	if (!expected)
		return 0;
	file = channel_file(attrs);
	if (!file)
		return -EOPNOTSUPP;
	unread->channel = channel_get(file);
	return unread->channel ? 0 : -ENOMEM;
}

void rover_channel_close(struct rover_unread *unread)
{
	if (unread->channel)
		channel_put(unread->channel);
	unread->channel = NULL;
}

/* Test whether all events of this CQ have been read, by any CQ's look. */
static bool channel_is_read(struct rover_unread *unread)
{
	struct rover_channel *channel = unread->channel;

	if (atomic_read(&channel->emptied) == unread->emptied) {
		if (vfs_poll(channel->file, NULL) & EPOLLIN)
			return false;
		atomic_inc(&channel->emptied);
	}
	unread->emptied = atomic_read(&channel->emptied);
	return true;
}

bool rover_channel_admits(struct rover_unread *unread)
{
	if (!unread->channel)
		return true;
	if (unread->num >= ROVER_CHANNEL_UNREAD_MAX) {
		if (!channel_is_read(unread))
			return false;
		unread->num = 0;
		unread->delay_ns = 0;
	}
	unread->num++;
	return true;
}

u64 rover_channel_delay(struct rover_unread *unread)
{
	unread->delay_ns = clamp_t(u64, 2 * unread->delay_ns, DELAY_MIN_NS,
				   DELAY_MAX_NS);
	return unread->delay_ns;
}
