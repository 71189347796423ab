/* SPDX-License-Identifier: GPL-2.0 */
/* link - `rdma link add NAME type rover netdev DEV' */
#ifndef ROVER_LINK_H
#define ROVER_LINK_H

/* Allow new links. */
void rover_link_init(void);

/* Forbid new links; none is being added on return. */
void rover_link_exit(void);

#endif /* ROVER_LINK_H */
