/* SPDX-License-Identifier: GPL-2.0 */
/*
 * channel - completion channels
 *
 * For each completion event ib_uverbs allocates memory until a program reads
 * the event.  Only a program's arm word limits events, so a CQ counts those that
 * may be unread.  At ROVER_CHANNEL_UNREAD_MAX its events wait until the channel
 * has been empty (decision 0053).
 */
#ifndef ROVER_CHANNEL_H
#define ROVER_CHANNEL_H

#include <linux/types.h>

struct rover_channel;
struct uverbs_attr_bundle;

/* Unread events of a CQ; twice as many if another CQ finds the channel empty. */
#define ROVER_CHANNEL_UNREAD_MAX	64

/**
 * struct rover_unread - events of a CQ that may be unread
 * @channel: NULL without a channel
 * @emptied: state of @channel when @num was 0 last
 * @num: events since then
 * @delay_ns: the last rover_channel_delay(); 0 for none since then
 */
struct rover_unread {
	struct rover_channel *channel;
	u32 emptied;
	u32 num;
	u64 delay_ns;
};

/**
 * rover_channel_open() - find the channel of a new CQ
 * @unread: initialised
 * @attrs: of the CQ's creation
 * @expected: the core will raise events there
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the core does not tell the channel, as with
 * creation by write(); -ENOMEM.
 */
int rover_channel_open(struct rover_unread *unread,
		       const struct uverbs_attr_bundle *attrs, bool expected);

/**
 * rover_channel_close() - forget the channel of a CQ
 * @unread: opened, or all zero
 * Context: may sleep.
 */
void rover_channel_close(struct rover_unread *unread);

/**
 * rover_channel_admits() - test whether an event may be raised, and count it
 * @unread: of the CQ
 * Context: lock of the CQ held; interrupts on if @unread has a channel.
 * Return: false to try again later, when the program may have read events.
 */
bool rover_channel_admits(struct rover_unread *unread);

/**
 * rover_channel_delay() - return how long to wait before the next try
 * @unread: of a CQ whose event was not admitted
 * Context: lock of the CQ held.
 * Return: nanoseconds, twice as many each time.
 */
u64 rover_channel_delay(struct rover_unread *unread);

#endif /* ROVER_CHANNEL_H */
