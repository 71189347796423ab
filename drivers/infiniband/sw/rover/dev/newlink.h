/* SPDX-License-Identifier: GPL-2.0 */
/* newlink - `rdma link add NAME type rover netdev DEV' */
#ifndef ROVER_NEWLINK_H
#define ROVER_NEWLINK_H

/* Allow new links. */
void rover_newlink_init(void);

/* Forbid new links; none is being added on return. */
void rover_newlink_exit(void);

#endif /* ROVER_NEWLINK_H */
