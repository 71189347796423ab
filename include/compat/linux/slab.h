/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_LINUX_SLAB_H
#define ROVER_COMPAT_LINUX_SLAB_H

#include_next <linux/slab.h>

/* In 7.0 and late stable releases of 6.12: no version to test. */
#ifndef kzalloc_obj
#define rover_gfp_of(unused, gfp, ...)	gfp
#define rover_gfp(...)			rover_gfp_of(, ##__VA_ARGS__, GFP_KERNEL)
#define kmalloc_obj(P, ...)						\
	((typeof(P) *)kmalloc(sizeof(typeof(P)), rover_gfp(__VA_ARGS__)))
#define kzalloc_obj(P, ...)						\
	((typeof(P) *)kzalloc(sizeof(typeof(P)), rover_gfp(__VA_ARGS__)))
#define kzalloc_objs(P, COUNT, ...)					\
	((typeof(P) *)kcalloc(COUNT, sizeof(typeof(P)),			\
			      rover_gfp(__VA_ARGS__)))
#define kvmalloc_objs(P, COUNT, ...)					\
	((typeof(P) *)kvmalloc_array(COUNT, sizeof(typeof(P)),		\
				     rover_gfp(__VA_ARGS__)))
#define kvzalloc_objs(P, COUNT, ...)					\
	((typeof(P) *)kvcalloc(COUNT, sizeof(typeof(P)),		\
			       rover_gfp(__VA_ARGS__)))
#endif

#endif /* ROVER_COMPAT_LINUX_SLAB_H */
