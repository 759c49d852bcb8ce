/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module parameters and what is fixed instead.
 */
#ifndef _RPCRDMA2_MODULE_H
#define _RPCRDMA2_MODULE_H

#include <linux/compiler.h>
#include <linux/sunrpc/rpcrdma2.h>

/* Reverse-direction Calls that a client allows, and a server uses. */
#define RPCRDMA2_REVERSE_CREDITS	8

/* Send Queue entries to plan for: Send, a registration, an invalidation. */
#define RPCRDMA2_XPRT_WRS_PER_CALL	3

/* Send Queue entries to plan for: RDMA Writes or Reads, and the Send. */
#define RPCRDMA2_SVC_WRS_PER_CALL	4

extern unsigned int rpcrdma2_inline_size;
extern unsigned int rpcrdma2_slot_table_entries;
extern unsigned int rpcrdma2_svc_credits;
extern unsigned int rpcrdma2_read_memory;
extern unsigned int rpcrdma2_version;
extern unsigned int rpcrdma2_version_retry;

/**
 * rpcrdma2_versions - what a new connection may speak
 * @low: the lowest version
 * @high: the highest version
 */
static inline void rpcrdma2_versions(u32 *low, u32 *high)
{
	u32 only = READ_ONCE(rpcrdma2_version);

	*low = only ?: RPCRDMA2_VERSION_1;
	*high = only ?: RPCRDMA2_VERSION_2;
}

#endif /* _RPCRDMA2_MODULE_H */
