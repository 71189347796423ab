// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * release.c: refuses to work under a libibverbs of another release than the one
 * that the provider was built for.
 *
 * No function of libibverbs tells its release. The name of its file does, and
 * the kernel knows that name for as long as the file is mapped, also when a
 * package upgrade has put another file in its place.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "release.h"

/* tools/install-provider looks for this text in the library. */
static const char built_for[] = "rover: built for rdma-core " ROVER_RELEASE;

#define REFUSED		"this provider was built for rdma-core %s, " \
			"and the libibverbs here is %s (%s); "
#define MENDED_BY	"in rover's source tree: " \
			"make provider && sudo tools/install-provider build/own/provider"

int rover_release_of(const char *path, char *release)
{
	static const char stem[] = "libibverbs.so.1.";
	const char *name = strrchr(path, '/');
	size_t len;

	name = name ? name + 1 : path;
	if (strncmp(name, stem, sizeof(stem) - 1))
		return -1;
	name += sizeof(stem) - 1;
	name += strspn(name, "0123456789");
	if (*name != '.')
		return -1;
	name++;
	len = strspn(name, "0123456789.");
	if (!len || len >= ROVER_RELEASE_MAX)
		return -1;
	memcpy(release, name, len);
	release[len] = '\0';
	return 0;
}

/* One line of maps: START-END PERMISSIONS OFFSET DEVICE INODE PATH */
static const char *path_in(char *line, uintptr_t address)
{
	unsigned long start, end;
	char *path;

	if (sscanf(line, "%lx-%lx", &start, &end) != 2 || address < start ||
	    address >= end)
		return NULL;
	path = strchr(line, '/');
	if (path)
		path[strcspn(path, "\n")] = '\0';
	return path;
}

int rover_release_path(const void *address, char *path, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	const char *found = NULL;
	char line[4352];

	if (!maps)
		return -1;
	while (!found && fgets(line, sizeof(line), maps))
		found = path_in(line, (uintptr_t)address);
	fclose(maps);
	if (!found || strlen(found) >= size)
		return -1;
	strcpy(path, found);
	return 0;
}

static atomic_flag said = ATOMIC_FLAG_INIT;
static atomic_int fits;

int rover_release_fits(const char *device, const void *inside)
{
	const char *wanted = strrchr(built_for, ' ') + 1;
	char path[4096] = "a file that is not known";
	char there[ROVER_RELEASE_MAX] = "of an unknown release";

	if (atomic_load(&fits))
		return 0;
	if (!rover_release_path(inside, path, sizeof(path)) &&
	    !rover_release_of(path, there) && !strcmp(there, wanted)) {
		atomic_store(&fits, 1);
		return 0;
	}
	if (!atomic_flag_test_and_set(&said))
		fprintf(stderr, "librover: %s: " REFUSED MENDED_BY "\n", device,
			wanted, there, path);
	return EPROTO;
}
