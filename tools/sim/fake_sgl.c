// SPDX-License-Identifier: GPL-2.0
/*
 * fake_sgl - mem/: addresses are pointers, keys are always good
 *
 * A cursor in use holds a reference, which must be gone when no lock is held.
 */
#include "mem/fastreg.h"
#include "mem/mw.h"
#include "mem/odp.h"
#include "mem/sgl.h"
#include "model.h"
#include "pair.h"

static struct rover_mkey sgl_key = { .refs = { 1 } };
static struct rover_mr sgl_region;

unsigned int sim_locks;
bool sim_softirq;

void sim_unlocked(void)
{
	sim_assert(refcount_read(&sgl_key.refs) == 1);
}

static struct end *sgl_end(const struct rover_sgl *sgl)
{
	return container_of(sgl->pd, struct end, pd.ib);
}

static void sgl_use(struct rover_sgl *sgl)
{
	if (sgl->use.mr)
		return;
	refcount_inc(&sgl_key.refs);
	sgl->use = (struct rover_use) { .mr = &sgl_region, .mkey = &sgl_key };
}

void rover_sgl_seek(struct rover_sgl *sgl, u64 pos)
{
	u8 cur = 0;

	while (cur < sgl->num && pos >= sgl->sge[cur].length)
		pos -= sgl->sge[cur++].length;
	sgl->cur = cur;
	sgl->off = cur < sgl->num ? pos : 0;
}

static bool sgl_writes(const struct rover_sgl *sgl)
{
	return sgl->access & ROVER_MR_WRITES;
}

enum rover_fault rover_sgl_check(struct rover_sgl *sgl)
{
	u8 i;

	for (i = 0; i < sgl->num; i++) {
		const struct rover_sge *sge = &sgl->sge[i];

		if (!sge->length || sgl->access & IB_ACCESS_FLUSH_GLOBAL)
			continue;
		sgl_use(sgl);
		if (!model_owns(sgl_end(sgl), (u8 *)(uintptr_t)sge->addr,
				sge->length, sgl_writes(sgl))) {
			model_fail(sgl_end(sgl), "%u bytes of nowhere",
				   sge->length);
			return ROVER_FAULT_BOUNDS;
		}
	}
	return ROVER_OK;
}

/* The next contiguous bytes, at most @max; NULL at the end of the list. */
static u8 *sgl_run(struct rover_sgl *sgl, u32 max, u32 *len)
{
	const struct rover_sge *sge;
	u8 *at;

	while (sgl->cur < sgl->num && sgl->off >= sgl->sge[sgl->cur].length) {
		sgl->cur++;
		sgl->off = 0;
	}
	if (sgl->cur == sgl->num)
		return NULL;
	sge = &sgl->sge[sgl->cur];
	at = (u8 *)(uintptr_t)sge->addr + sgl->off;
	*len = min(max, sge->length - sgl->off);
	sgl->off += *len;
	sgl_use(sgl);
	if (model_owns(sgl_end(sgl), at, *len, sgl_writes(sgl)))
		return at;
	model_fail(sgl_end(sgl), "%u bytes of nowhere", *len);
	return NULL;
}

static enum rover_fault sgl_write(struct rover_sgl *sgl, const u8 *from, u32 len)
{
	u32 n;

	while (len) {
		u8 *at = sgl_run(sgl, len, &n);

		if (!at)
			return ROVER_FAULT_LENGTH;
		memcpy(at, from, n);
		model_placed(sgl_end(sgl), at, n);
		from += n;
		len -= n;
	}
	return ROVER_OK;
}

enum rover_fault rover_sgl_write(struct rover_sgl *sgl, const struct sk_buff *skb,
				 int from, u32 len)
{
	sim_assert(from >= 0 && from + len <= skb->len);
	return sgl_write(sgl, skb->data + from, len);
}

enum rover_fault rover_sgl_write_mem(struct rover_sgl *sgl, const void *from,
				     u32 len)
{
	return sgl_write(sgl, from, len);
}

enum rover_fault rover_sgl_read(struct rover_sgl *sgl, void *to, u32 len)
{
	u32 n;

	while (len) {
		const u8 *at = sgl_run(sgl, len, &n);

		if (!at)
			return ROVER_FAULT_LENGTH;
		memcpy(to, at, n);
		to += n;
		len -= n;
	}
	return ROVER_OK;
}

enum rover_fault rover_sgl_atomic(struct rover_sgl *sgl, bool swap, u64 compare,
				  u64 swap_add, u64 *orig)
{
	u32 n;
	u64 *word = (u64 *)sgl_run(sgl, sizeof(*word), &n);

	if (!word)
		return ROVER_FAULT_BOUNDS;
	*orig = *word;
	if (!swap)
		*word += swap_add;
	else if (*word == compare)
		*word = swap_add;
	model_atomic(sgl_end(sgl), *orig);
	return ROVER_OK;
}

enum rover_fault rover_sgl_store(struct rover_sgl *sgl, u64 word)
{
	return sgl_write(sgl, (const u8 *)&word, sizeof(word));
}

enum rover_fault rover_mw_bind(struct ib_pd *pd, u32 qpn,
			       const struct rover_bind *bind)
{
	return ROVER_OK;
}

/* Closing a key would wait for a reference for ever. */
enum rover_fault rover_mw_invalidate(struct ib_pd *pd, u32 qpn, u32 key,
				     bool remote)
{
	sim_assert(refcount_read(&sgl_key.refs) == 1);
	return ROVER_OK;
}

enum rover_fault rover_mw_grants(struct ib_pd *pd, u32 qpn, u32 key, int access)
{
	return ROVER_OK;
}

enum rover_fault rover_fastreg_register(struct ib_pd *pd,
					const struct rover_fastreg *reg)
{
	return ROVER_OK;
}

bool rover_mkey_zcopy_sent(struct rover_table *keys, u32 key)
{
	return key & 1;
}
