/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * release.h: the release of rdma-core that the provider was built for, and the
 * one whose libibverbs has loaded it.
 */
#ifndef PROVIDER_RELEASE_H
#define PROVIDER_RELEASE_H

#include <stddef.h>

/* Longest release with its terminating 0, as "56.1". */
#define ROVER_RELEASE_MAX	24

/**
 * rover_release_of() - the release in the name of a libibverbs file
 * @path: path of the file, as /usr/lib/libibverbs.so.1.14.56.1
 * @release: for the release, ROVER_RELEASE_MAX bytes
 *
 * rdma-core names the file libibverbs.so.1.MINOR.RELEASE.
 *
 * Return: 0, or -1 when the name has no release in it.
 */
int rover_release_of(const char *path, char *release);

/**
 * rover_release_path() - the file that an address of this process is mapped from
 * @address: of a function
 * @path: for the path
 * @size: of @path
 *
 * Return: 0, or -1 when that is not known.
 */
int rover_release_path(const void *address, char *path, size_t size);

/**
 * rover_release_fits() - was the provider built for the loaded libibverbs?
 * @device: name of the device that is being opened
 * @inside: address of a function of libibverbs
 *
 * The layout of private structures differs between releases that share a
 * private ABI version, so any other release is refused: with a line on stderr,
 * once a process, that says what to do.
 *
 * Return: 0 or EPROTO.
 */
int rover_release_fits(const char *device, const void *inside);

#endif /* PROVIDER_RELEASE_H */
