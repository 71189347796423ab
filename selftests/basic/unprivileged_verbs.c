// SPDX-License-Identifier: GPL-2.0
/*
 * unprivileged_verbs - what verbs allow to root only
 *
 *	unprivileged_verbs a|b PORT [GROUP...]	see main() for the groups
 *
 * The same program runs as root and as an unprivileged user: a refusal for the user
 * only is due to the missing privilege.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/conn.h"

#define MIB (1UL << 20)

/* An answer that depends on who asks. */
static void check_answer(struct pair *p, const char *what, int error, int without)
{
	if (geteuid())
		check(p, error == without, "%s: %s", what, strerror(error));
	else
		check(p, error != without, "%s: not even root may", what);
}

static void run_qkey(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x80010000,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	struct conn *c;

	(void)arg;
	c = conn_make(p, &attr);
	check_answer(p, "the Q_Key of management", ibv_modify_qp(c->qp, &init, mask), EPERM);
	if (!geteuid())
		return;
	init.qkey = 0x7fffffff;
	check(p, !ibv_modify_qp(c->qp, &init, mask), "and one of its own is refused, too");
}

/* Root can create a raw packet queue pair; an unprivileged user cannot. */
static void run_raw(struct pair *p, const void *arg)
{
	struct queue *q = queue_new(p, 10, false, false);
	struct ibv_qp_init_attr attr = {
		.send_cq = q->cq, .recv_cq = q->cq, .qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *raw;
	int type;

	(void)arg;
	errno = 0;
	raw = ibv_create_qp(p->pd, &attr);
	check_answer(p, "a raw packet queue pair", raw ? 0 : errno, EPERM);
	check(p, !raw == !!geteuid(), "a raw packet queue pair %s", raw ? "is made" : "is refused");
	if (raw)
		check(p, !ibv_destroy_qp(raw), "ibv_destroy_qp");
	/* Those of the kernel's own management, which are nobody's. */
	for (type = 0; type < 2; type++) {
		attr.qp_type = type;
		check(p, !ibv_create_qp(p->pd, &attr), "queue pair %d is made", type);
	}
}

static int dereg(void *mr)
{
	return ibv_dereg_mr(mr);
}

static int unmap(void *map)
{
	return munmap(map, 4 * MIB);
}

static uint8_t *map_some(struct pair *p, int prot, int flags, int fd)
{
	uint8_t *map = mmap(NULL, 4 * MIB, prot, flags, fd, 0);

	check(p, map != MAP_FAILED, "mmap: %s", strerror(errno));
	undo_later(p, unmap, map, "munmap");
	return map;
}

/* The limit counts all regions, and deregistered memory no longer counts. */
static void run_memlock(struct pair *p, const void *arg)
{
	const struct rlimit limit = { 2 * MIB, 2 * MIB };
	struct ibv_mr *mr, *more;
	uint8_t *map;
	int i;

	(void)arg;
	check(p, !setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit: %s", strerror(errno));
	map = map_some(p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (i = 0; i < 5; i++) {
		mr = ibv_reg_mr(p->pd, map, MIB + MIB / 2, ALL_ACCESS);
		check(p, mr, "ibv_reg_mr, time %d: %s", i, strerror(errno));
		errno = 0;
		more = ibv_reg_mr(p->pd, map + 2 * MIB, MIB, 0);
		if (more)
			check(p, !ibv_dereg_mr(more), "ibv_dereg_mr");
		check_answer(p, "more memory than may be locked", errno, ENOMEM);
		check(p, !ibv_dereg_mr(mr), "ibv_dereg_mr");
	}
}

/* A peer cannot write to memory that the program cannot write to. */
static void run_read_only(struct pair *p, const void *arg)
{
	int fd = open("/etc/passwd", O_RDONLY);
	uint8_t *map = map_some(p, PROT_READ, MAP_SHARED, fd);
	struct ibv_mr *mr;
	int error;

	(void)arg;
	close(fd);
	mr = ibv_reg_mr(p->pd, map, 100, ALL_ACCESS);
	error = errno;
	if (mr)
		undo_later(p, dereg, mr, "ibv_dereg_mr");
	check(p, !mr && error == EFAULT, "a file that is for reading: %s",
	      mr ? "registered" : strerror(error));
}

/* These addresses are unmapped, or belong to the kernel. */
static void run_addresses(struct pair *p, const void *arg)
{
	static const uint64_t places[] = {
		0, 0x7ffffffff000, 0x800000000000, 0xffff800000000000, 0xffff888000000000,
		0xffffc90000000000, 0xffffffff81000000, 0xfffffffffffff000,
	};
	struct ibv_mr *mr;
	unsigned int i;

	(void)arg;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		mr = ibv_reg_mr(p->pd, (void *)places[i], 4096, 0);
		check(p, !mr, "%llx is registered", (unsigned long long)places[i]);
	}
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	pair_case(&p, run_qkey, NULL, "privileged Q_Keys are for root only");
	pair_case(&p, run_raw, NULL,
		  "raw packet queue pairs are for root only, queue pairs 0 and 1 for the kernel");
	pair_case(&p, run_memlock, NULL, "RLIMIT_MEMLOCK limits the registered memory");
	pair_case(&p, run_read_only, NULL, "a read-only mapping cannot be registered for writing");
	pair_case(&p, run_addresses, NULL, "unmapped and kernel addresses cannot be registered");
	return pair_close(&p);
}
