// SPDX-License-Identifier: GPL-2.0
/*
 * hold_objects - makes objects on a device and keeps them, one end only
 *
 *	hold_objects DEVICE [--qps N] [--mrs N] [--dms N] [--dmabufs N] [--cqes N]
 *		[--kbuf] [--gid INDEX] [--stream] [--moderate] [--mcast MGID]
 *		[--once]
 *
 * Prints a line for each ("qp 0x11", "mr LKEY RKEY"), the bytes of its own that
 * it takes ("anonymous N", "rings N"), then "ready", and keeps all until its
 * standard input ends.  Device memory is registered, too, and of what dma-bufs
 * there are nobody but their regions has hold.  With a GID the queue
 * pairs are brought to RTS, each connected to itself; with --stream two and two,
 * an even number, and all of them send, all the time.  Moderated, the completion
 * queue has events that wait as long as they can.  With the address of a
 * multicast group they are UD and attached to it.  When the device goes away it
 * prints "fatal", tries to use what it has, closes it, and exits with status 3.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "kmod/kbuf.h"
#include "lib/buffer.h"

static char memory[4096];
static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp **qps;
static struct ibv_mr **mrs;
static struct ibv_dm **dms;
static struct ibv_mr **dm_mrs;
static struct ibv_mr **buf_mrs;
static int n_qps, n_mrs, n_dms, n_bufs, gid = -1;
static bool streaming, moderated, kbufs;
static union ibv_gid mgid;
static const char *group;

static void die(const char *what)
{
	printf("error: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void connect_to(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		die("modify to INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .sgid_index = gid, .hop_limit = 1 } },
	};
	if (ibv_query_gid(ctx, 1, gid, &attr.ah_attr.grh.dgid))
		die("query_gid");
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		die("modify to RTR");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("modify to RTS");
}

#define DM_SIZE 5000

/* The whole of it, and a part that begins in the middle. */
static void make_dm(int i)
{
	struct ibv_alloc_dm_attr attr = { .length = DM_SIZE };
	int access = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	dms[i] = ibv_alloc_dm(ctx, &attr);
	if (!dms[i])
		die("alloc_dm");
	dm_mrs[i] = ibv_reg_dm_mr(pd, dms[i], i % 2 ? 1000 : 0, i % 2 ? 4000 : DM_SIZE, access);
	if (!dm_mrs[i])
		die("reg_dm_mr");
	if (ibv_reg_dm_mr(pd, dms[i], 1004, DM_SIZE - 1000, access))
		die("more than there is of it can be registered");
	if (!ibv_free_dm(dms[i]))
		die("it can be freed while it is registered");
	printf("mr 0x%08x 0x%08x\n", dm_mrs[i]->lkey, dm_mrs[i]->rkey);
}

/* Of the tests' own exporter, if that is there. */
static int kbuf_make(void)
{
	struct kbuf_make make = { .pages = 16 };
	int dev = open("/dev/rover_kbuf", O_RDWR | O_CLOEXEC);

	if (dev < 0 || ioctl(dev, KBUF_MAKE, &make))
		return -1;
	close(dev);
	return make.fd;
}

static void make_buf(int i)
{
	int fd = kbufs ? kbuf_make() :
		 buffer_make(i % 2 ? BUFFER_HEAP : BUFFER_UDMABUF, 65536, O_RDWR);

	if (fd < 0)
		die("dma-buf");
	buf_mrs[i] = ibv_reg_dmabuf_mr(pd, 0, 65536, 0, fd, IBV_ACCESS_LOCAL_WRITE);
	if (!buf_mrs[i])
		die("reg_dmabuf_mr");
	close(fd);
}

/* It is the program's as long as that maps it, whatever becomes of the device. */
static void use_dm(int i)
{
	uint32_t in[] = { i, ~i }, out[2] = { 0 };

	if (ibv_memcpy_to_dm(dms[i], DM_SIZE - sizeof(in), in, sizeof(in)) ||
	    ibv_memcpy_from_dm(out, dms[i], DM_SIZE - sizeof(in), sizeof(in)) ||
	    memcmp(in, out, sizeof(in)))
		die("device memory does not keep what is written there");
}

static void make_all(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .cap = { streaming ? 64 : 1, 1, 1, 1, 0 },
		.send_cq = cq, .recv_cq = cq,
	};
	int i;

	if (group)
		init.qp_type = IBV_QPT_UD;
	for (i = 0; i < n_qps; i++) {
		qps[i] = ibv_create_qp(pd, &init);
		if (!qps[i])
			die("create_qp");
		printf("qp 0x%x\n", qps[i]->qp_num);
		if (group && ibv_attach_mcast(qps[i], &mgid, 0))
			die("attach_mcast");
	}
	for (i = 0; i < n_qps && gid >= 0; i++)
		connect_to(qps[i], qps[streaming ? i ^ 1 : i]);
	for (i = 0; i < n_mrs; i++) {
		mrs[i] = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE |
				    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
		if (!mrs[i])
			die("reg_mr");
		printf("mr 0x%08x 0x%08x\n", mrs[i]->lkey, mrs[i]->rkey);
	}
	for (i = 0; i < n_dms; i++) {
		make_dm(i);
		use_dm(i);
	}
	for (i = 0; i < n_bufs; i++)
		make_buf(i);
}

/* How much of this process is its own, and how much is mapped from the device. */
static void account(void)
{
	unsigned long from, to, rings = 0, anonymous = 0;
	char line[512];
	FILE *file = fopen("/proc/self/maps", "r");

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "/dev/infiniband/uverbs") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			rings += to - from;
	if (file)
		fclose(file);
	file = fopen("/proc/self/smaps_rollup", "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Anonymous: %lu kB", &from) == 1)
			anonymous = from * 1024;
	if (file)
		fclose(file);
	printf("anonymous %lu\nrings %lu\n", anonymous, rings);
}

/* An empty WRITE, which needs no receive; every 16th makes room for all before it. */
static int post_one(struct ibv_qp *qp)
{
	static unsigned int posted;
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = ++posted % 16 ? 0 : IBV_SEND_SIGNALED,
	}, *bad;

	return ibv_post_send(qp, &wr, &bad);
}

/* The rings of a device that has gone take nothing more. Until that is known time may pass. */
static void stream(void)
{
	int i, left, err = 0;
	struct ibv_wc wc;

	for (i = 0; i < n_qps; i++) {
		for (left = 16, err = 0; left && !err; left--)
			err = post_one(qps[i]);
		if (err && err != ENOMEM)
			streaming = false;
	}
	if (err)
		ibv_poll_cq(cq, 1, &wc);
	if (moderated)
		ibv_req_notify_cq(cq, 0);
}

/* Of whose events most are waiting: nobody reads those that come. */
static void make_cq(int cqes)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = UINT16_MAX, .cq_period = UINT16_MAX },
	};
	struct ibv_comp_channel *channel = moderated ? ibv_create_comp_channel(ctx) : NULL;

	cq = ibv_create_cq(ctx, cqes, NULL, channel, 0);
	if (!cq || (moderated && !channel))
		die("CQ");
	if (moderated && ibv_modify_cq(cq, &attr))
		die("modify_cq");
}

/* Every verb must still return, with an error or not; destruction must succeed. */
static int after_the_end(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	int i, err;

	for (i = 0; i < n_dms; i++)
		use_dm(i);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), 0);
	if (mr)
		die("memory can be registered on a device that is gone");
	for (i = 0; i < n_qps; i++) {
		/* Flushed by now: there is room.  To one not connected nothing can be posted. */
		err = gid < 0 ? EIO : post_one(qps[i]);
		if (err != EIO) {
			errno = err;
			die("to post on a device that is gone should be an I/O error");
		}
		if (!ibv_query_qp(qps[i], &attr, IBV_QP_STATE, &init))
			die("a QP of a device that is gone answers");
	}
	ibv_poll_cq(cq, 1, &wc);
	ibv_req_notify_cq(cq, 0);
	return 3;
}

static void destroy_all(bool there)
{
	int i;

	for (i = 0; i < n_mrs; i++)
		if (ibv_dereg_mr(mrs[i]))
			die("dereg_mr");
	for (i = 0; i < n_dms; i++)
		if (ibv_dereg_mr(dm_mrs[i]) || ibv_free_dm(dms[i]))
			die("free_dm");
	for (i = 0; i < n_bufs; i++)
		if (ibv_dereg_mr(buf_mrs[i]))
			die("dereg_mr of a dma-buf");
	for (i = 0; i < n_qps; i++) {
		/* A device that went has detached it. */
		if (group && ibv_detach_mcast(qps[i], &mgid, 0) && there)
			die("detach_mcast");
		if (ibv_destroy_qp(qps[i]))
			die("destroy_qp");
	}
	if (ibv_destroy_cq(cq))
		die("destroy_cq");
	if (ibv_dealloc_pd(pd))
		die("dealloc_pd");
	if (ibv_close_device(ctx))
		die("close_device");
}

static int keep(void)
{
	struct pollfd fds[2] = { { 0, POLLIN }, { ctx->async_fd, POLLIN } };
	struct ibv_async_event event;
	char dust[64];

	for (;;) {
		if (poll(fds, 2, streaming ? 0 : -1) < 0)
			return 1;
		if (streaming)
			stream();
		if (fds[1].revents) {
			if (ibv_get_async_event(ctx, &event))
				die("get_async_event");
			ibv_ack_async_event(&event);
			printf("event %s\n", ibv_event_type_str(event.event_type));
			if (event.event_type != IBV_EVENT_DEVICE_FATAL)
				continue;
			printf("fatal\n");
			return after_the_end();
		}
		if (fds[0].revents && read(0, dust, sizeof(dust)) <= 0)
			return 0;
	}
}

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **at;

	for (at = list; at && *at; at++)
		if (!strcmp(ibv_get_device_name(*at), name))
			ctx = ibv_open_device(*at);
	if (!ctx)
		die(name);
	ibv_free_device_list(list);
}

int main(int argc, char **argv)
{
	int i, cqes = 16, once = 0, status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--once"))
			once = 1;
		else if (!strcmp(argv[i], "--stream"))
			streaming = true;
		else if (!strcmp(argv[i], "--moderate"))
			moderated = true;
		else if (!strcmp(argv[i], "--kbuf"))
			kbufs = true;
		else if (i + 1 == argc)
			break;
		else if (!strcmp(argv[i], "--qps"))
			n_qps = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--mrs"))
			n_mrs = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--dms"))
			n_dms = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--dmabufs"))
			n_bufs = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--cqes"))
			cqes = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--gid"))
			gid = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--mcast"))
			group = argv[++i];
	}
	if (argc < 2 || i < argc || (group && inet_pton(AF_INET6, group, &mgid) != 1)) {
		fprintf(stderr, "usage: hold_objects DEVICE [OPTION...]\n");
		return 2;
	}
	open_device(argv[1]);
	pd = ibv_alloc_pd(ctx);
	make_cq(cqes);
	qps = calloc(n_qps + 1, sizeof(*qps));
	mrs = calloc(n_mrs + 1, sizeof(*mrs));
	dms = calloc(n_dms + 1, sizeof(*dms));
	dm_mrs = calloc(n_dms + 1, sizeof(*dm_mrs));
	buf_mrs = calloc(n_bufs + 1, sizeof(*buf_mrs));
	if (!pd || !qps || !mrs || !dms || !dm_mrs || !buf_mrs)
		die("PD");
	make_all();
	account();
	printf("ready\n");
	status = once ? 0 : keep();
	destroy_all(status != 3);
	printf("done\n");
	return status;
}
