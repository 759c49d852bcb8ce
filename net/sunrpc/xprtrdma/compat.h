/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels that this module is built for. Each
 * name below reads as in the newest kernel, or hides what changed.
 */
#ifndef _RPCRDMA2_COMPAT_H
#define _RPCRDMA2_COMPAT_H

#include <linux/version.h>

/* 6.10 dropped the second argument of __assign_str(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst)
#else
#define rpcrdma2_assign_str(dst, src)	__assign_str(dst, src)
#endif

#endif /* _RPCRDMA2_COMPAT_H */
