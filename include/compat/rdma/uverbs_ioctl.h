/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_RDMA_UVERBS_IOCTL_H
#define ROVER_COMPAT_RDMA_UVERBS_IOCTL_H

#include <linux/uaccess.h>
#include <linux/version.h>
#include <rdma/ib_verbs.h>
#include_next <rdma/uverbs_ioctl.h>

/* Driver data of verbs, with the checks of 7.2. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
static inline int _ib_copy_validate_udata_in(struct ib_udata *udata, void *req,
					     size_t kernel_size,
					     size_t minimum_size)
{
	int err;

	if (udata->inlen < minimum_size)
		return -EINVAL;
	err = copy_struct_from_user(req, kernel_size, udata->inbuf,
				    udata->inlen);
	return err == -E2BIG ? -EOPNOTSUPP : err;
}

#define ib_copy_validate_udata_in(_udata, _req, _end_member)		\
	_ib_copy_validate_udata_in(_udata, &(_req), sizeof(_req),	\
				   offsetofend(typeof(_req), _end_member))

#define ib_copy_validate_udata_in_cm(_udata, _req, _end_member, _valid_cm) \
({									\
	int __err = ib_copy_validate_udata_in(_udata, _req, _end_member); \
									\
	if (!__err && ((_req).comp_mask & ~(_valid_cm)))		\
		__err = -EOPNOTSUPP;					\
	__err;								\
})

static inline int ib_is_udata_in_empty(struct ib_udata *udata)
{
	if (!udata || udata->inlen == 0)
		return 0;
	return _ib_copy_validate_udata_in(udata, NULL, 0, 0);
}

static inline int _ib_respond_udata(struct ib_udata *udata, const void *src,
				    size_t len)
{
	size_t n = min(len, udata->outlen);

	if (copy_to_user(udata->outbuf, src, n) ||
	    clear_user(udata->outbuf + n, udata->outlen - n))
		return -EFAULT;
	return 0;
}

#define ib_respond_udata(_udata, _rep)					\
	_ib_respond_udata(_udata, &(_rep), sizeof(_rep))

static inline int ib_respond_empty_udata(struct ib_udata *udata)
{
	if (udata && udata->outlen && clear_user(udata->outbuf, udata->outlen))
		return -EFAULT;
	return 0;
}

static inline int ib_no_udata_io(struct ib_udata *udata)
{
	int ret = ib_is_udata_in_empty(udata);

	if (ret)
		return ret;
	return ib_respond_empty_udata(udata);
}
#endif

#endif /* ROVER_COMPAT_RDMA_UVERBS_IOCTL_H */
