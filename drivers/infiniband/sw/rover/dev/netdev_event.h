/* SPDX-License-Identifier: GPL-2.0 */
/* netdev_event - events of the interfaces that have a device */
#ifndef ROVER_NETDEV_EVENT_H
#define ROVER_NETDEV_EVENT_H

/**
 * rover_netdev_event_init() - watch interfaces
 * Return: 0 or an error.
 */
int rover_netdev_event_init(void);

/* After rover_device_exit(): a device must hear of the end of its interface. */
void rover_netdev_event_exit(void);

#endif /* ROVER_NETDEV_EVENT_H */
