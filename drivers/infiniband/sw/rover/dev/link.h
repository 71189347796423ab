/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link - `rdma link add NAME type rover netdev DEV'
 */
#ifndef ROVER_LINK_H
#define ROVER_LINK_H

/* At module load: from now on links can be added. */
void rover_link_init(void);

/* At module unload: none can be added any more, nor is being added. */
void rover_link_exit(void);

#endif /* ROVER_LINK_H */
