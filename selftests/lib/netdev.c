// SPDX-License-Identifier: GPL-2.0
/*
 * netdev - the interface below this end's device
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netdev.h"

const char *netdev_name(struct pair *p)
{
	const char *name = getenv(end_a(p) ? "NDEV_A" : "NDEV_B");

	check(p, name, "NDEV_A and NDEV_B tell the interfaces, and are not there");
	return name;
}

static void read_line(struct pair *p, const char *what, char *line, int len)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", netdev_name(p), what);
	file = fopen(path, "r");
	check(p, file && fgets(line, len, file), "%s: %s", path, strerror(errno));
	fclose(file);
}

unsigned int netdev_mtu(struct pair *p)
{
	char line[32];

	read_line(p, "mtu", line, sizeof(line));
	return atoi(line);
}

void netdev_meet(struct pair *p, uint8_t own[6], uint8_t peer[6])
{
	unsigned int at[6], i;
	char line[64];

	read_line(p, "address", line, sizeof(line));
	check(p, sscanf(line, "%x:%x:%x:%x:%x:%x", at, at + 1, at + 2, at + 3, at + 4, at + 5) == 6,
	      "no Ethernet address: %s", line);
	for (i = 0; i < 6; i++)
		own[i] = at[i];
	pair_swap(p, own, peer, 6);
}
