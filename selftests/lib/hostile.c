// SPDX-License-Identifier: GPL-2.0
/*
 * hostile - helpers for programs that overwrite their own rings
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/rover-abi.h>

#include "hostile.h"
#include "pattern.h"

void list_maps(struct pair *p, struct maps *maps)
{
	unsigned long from, to;
	char line[512];
	FILE *file = fopen("/proc/self/maps", "r");

	check(p, file, "/proc/self/maps: %s", strerror(errno));
	maps->n = 0;
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, "/dev/infiniband/uverbs") || maps->n == MAX_MAPS ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		maps->map[maps->n].from = (uint8_t *)from;
		maps->map[maps->n++].len = to - from;
	}
	fclose(file);
}

/* /proc/self/maps may merge adjacent mappings of a file, so compare the sum, too. */
static bool known(const struct maps *maps, const uint8_t *at)
{
	int i;

	for (i = 0; i < maps->n; i++)
		if (at >= maps->map[i].from && at < maps->map[i].from + maps->map[i].len)
			return true;
	return false;
}

int fresh_pages(const struct maps *before, const struct maps *now, uint8_t **page, int n)
{
	int i, found = 0;
	size_t at;

	for (i = 0; i < now->n; i++)
		for (at = 0; at < now->map[i].len && found < n; at += 4096)
			if (!known(before, now->map[i].from + at))
				page[found++] = now->map[i].from + at;
	return found;
}

uint32_t nasty(uint64_t *seed, uint32_t near)
{
	static const uint32_t edges[] = {
		0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x10000, 0xffff,
	};

	switch (draw(seed, 0, 3)) {
	case 0:
		return edges[draw(seed, 0, 8)];
	case 1:
		return near + draw(seed, 0, 200) - 100;
	case 2:
		return near ^ 1U << draw(seed, 0, 31);
	default:
		return draw(seed, 0, UINT32_MAX);
	}
}

/* ---- without the provider ---- */

int doorbell(struct pair *p, uint32_t qpn)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} request = {
		.hdr = {
			.length = sizeof(request), .object_id = ROVER_OBJECT_DOORBELL,
			.method_id = ROVER_METHOD_DOORBELL_RING, .num_attrs = 1,
			.driver_id = ROVER_DRIVER_ID,
		},
		.attr = {
			.attr_id = ROVER_ATTR_DOORBELL_QPN, .len = 4,
			.flags = UVERBS_ATTR_F_MANDATORY, .data = qpn,
		},
	};

	return ioctl(p->ctx->cmd_fd, RDMA_VERBS_IOCTL, &request) ? errno : 0;
}
