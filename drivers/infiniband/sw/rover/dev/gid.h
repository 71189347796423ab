/* SPDX-License-Identifier: GPL-2.0 */
/* gid - entries of the GID table */
#ifndef ROVER_GID_H
#define ROVER_GID_H

struct ib_gid_attr;

/**
 * rover_gid_add() - allow an entry
 * @attr: of the entry, not published yet
 * @context: unused
 *
 * Refuses upper interfaces in other namespaces, where packets would need routes
 * and sockets (decision 0039).  The core asks again when one moves.
 *
 * Return: 0; -EXDEV for another namespace; -EOPNOTSUPP for RoCE v1 on an
 * interface that does not receive it.
 */
int rover_gid_add(const struct ib_gid_attr *attr, void **context);

/**
 * rover_gid_del() - let an entry go
 * @attr: of the entry
 * @context: unused
 * Return: 0.
 */
int rover_gid_del(const struct ib_gid_attr *attr, void **context);

#endif /* ROVER_GID_H */
