// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * domain_test.c: domains of threads, and those that join them with protection.
 */
#include <errno.h>

#include "test.h"

static struct ibv_pd *parent_of(struct ibv_pd *pd, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };

	return rover_alloc_parent_domain(&fake_context.context, &attr);
}

static struct ibv_td *new_td(void)
{
	struct ibv_td_init_attr attr = { .comp_mask = 0 };

	return rover_alloc_td(&fake_context.context, &attr);
}

/* To the kernel there is one domain, and it goes last. */
static void test_life(void)
{
	struct ibv_pd *pd = rover_alloc_pd(&fake_context.context);
	struct ibv_td *td = new_td();
	struct ibv_pd *one = parent_of(pd, NULL);
	struct ibv_pd *two = parent_of(pd, td);

	expect(kernel.objects == 1);
	expect(one->handle == pd->handle && two->handle == pd->handle);
	expect(one->context == pd->context);
	expect(rover_dealloc_pd(pd) == EBUSY && rover_dealloc_td(td) == EBUSY);
	expect(!rover_dealloc_pd(two) && !rover_dealloc_td(td));
	expect(rover_dealloc_pd(pd) == EBUSY);
	expect(!rover_dealloc_pd(one) && kernel.objects == 1);
	expect(!rover_dealloc_pd(pd));
}

static void test_refusals(void)
{
	struct ibv_parent_domain_init_attr attr = { .comp_mask = 1U << 31 };
	struct ibv_td_init_attr td_attr = { .comp_mask = 1 };
	struct ibv_pd *pd = rover_alloc_pd(&fake_context.context);
	struct ibv_pd *parent = parent_of(pd, NULL);
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = pd,
	};

	expect(!parent_of(NULL, NULL) && errno == EINVAL);
	expect(!parent_of(parent, NULL) && errno == EINVAL);
	attr.pd = pd;
	expect(!rover_alloc_parent_domain(&fake_context.context, &attr) &&
	       errno == EOPNOTSUPP);
	expect(!rover_alloc_td(&fake_context.context, &td_attr) &&
	       errno == EOPNOTSUPP);
	expect(!rover_create_cq_ex(&fake_context.context, &cq) &&
	       errno == EINVAL);
	rover_dealloc_pd(parent);
	rover_dealloc_pd(pd);
}

/* In a thread's domain nobody waits for a lock: not even for a taken one. */
static void test_single(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 2, .max_send_sge = 1,
			 .max_recv_wr = 2, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = { .wr_id = 9 }, *bad_recv;
	struct ibv_pd *pd = rover_alloc_pd(&fake_context.context);
	struct ibv_td *td = new_td();
	struct ibv_pd *parent = parent_of(pd, td);
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = parent,
	};
	struct ibv_poll_cq_attr poll = { .comp_mask = 0 };
	struct ibv_cq_ex *cq;
	struct rover_qp *qp;

	fake_context.context.cmd_fd = FAKE_FD;
	qp = to_qp(rover_create_qp(parent, &attr));
	cq = rover_create_cq_ex(&fake_context.context, &cq_attr);
	qp->vqp.qp.state = IBV_QPS_RTS;
	pthread_spin_lock(&qp->sq.lock.spin);
	pthread_spin_lock(&qp->rq.lock.spin);
	pthread_spin_lock(&to_cq_ex(cq)->lock.spin);
	expect(!rover_post_send(&qp->vqp.qp, &send, &bad_send));
	expect(!rover_post_recv(&qp->vqp.qp, &recv, &bad_recv));
	expect(cq->start_poll(cq, &poll) == ENOENT);
	pthread_spin_unlock(&to_cq_ex(cq)->lock.spin);
	pthread_spin_unlock(&qp->rq.lock.spin);
	pthread_spin_unlock(&qp->sq.lock.spin);

	rover_destroy_qp(&qp->vqp.qp);
	rover_destroy_cq(&to_cq_ex(cq)->vcq.cq);
	rover_dealloc_pd(parent);
	rover_dealloc_td(td);
	rover_dealloc_pd(pd);
}

/* An imported domain is not destroyed when it is unimported. */
static void test_import(void)
{
	struct ibv_pd *pd = rover_import_pd(&fake_context.context, 7);

	expect(pd->handle == 7 && pd->context == &fake_context.context);
	rover_unimport_pd(pd);
	expect(!kernel.objects);
}

const struct test domain_tests[] = {
	{ "domains: parents keep their parts alive", test_life },
	{ "domains: what makes no sense is refused", test_refusals },
	{ "domains: one thread needs no locks", test_single },
	{ "domains: imported and forgotten", test_import },
	{ NULL, NULL },
};
