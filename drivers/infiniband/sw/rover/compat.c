// SPDX-License-Identifier: GPL-2.0
/*
 * compat - what older kernels lack and a header alone cannot make up for
 *
 * Each part is there when its header in include/compat/ asks for it.
 */
#include <linux/crc32.h>

#ifdef ROVER_COMPAT_CRC32
#include <crypto/hash.h>

#undef crc32_le

/* Below, the way through the crypto API costs more than it saves. */
#define LEAST	256

/* Constant while the module's packets flow; NULL where there is none. */
static struct crypto_shash *shash;

u32 rover_compat_crc32_le(u32 crc, const void *data, size_t len)
{
	if (len >= LEAST && shash) {
		SHASH_DESC_ON_STACK(desc, shash);

		desc->tfm = shash;
		/* What this hash keeps in between is the running sum. */
		*(u32 *)shash_desc_ctx(desc) = crc;
		if (!crypto_shash_update(desc, data, len))
			return *(u32 *)shash_desc_ctx(desc);
	}
	return crc32_le(crc, data, len);
}

void rover_compat_crc32_init(void)
{
	shash = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(shash))
		shash = NULL;
	else if (crypto_shash_descsize(shash) != sizeof(u32))
		rover_compat_crc32_exit();
}

void rover_compat_crc32_exit(void)
{
	crypto_free_shash(shash);
	shash = NULL;
}
#endif
