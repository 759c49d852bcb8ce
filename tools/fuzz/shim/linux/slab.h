/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SLAB_H
#define _SHIM_LINUX_SLAB_H

#include <linux/types.h>
#include <stdlib.h>

#define GFP_KERNEL	0

/* The address sanitizer guards both ends of memory of exactly this size. */
static inline void *kmalloc(size_t size, int flags)
{
	(void)flags;
	return malloc(size);
}

static inline void *kzalloc(size_t size, int flags)
{
	(void)flags;
	return calloc(1, size);
}

static inline void kfree(const void *p)
{
	free((void *)p);
}

#endif /* _SHIM_LINUX_SLAB_H */
