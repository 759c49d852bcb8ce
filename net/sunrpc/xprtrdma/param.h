/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module parameters and what is fixed instead.
 */
#ifndef _RPCRDMA2_PARAM_H
#define _RPCRDMA2_PARAM_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/sunrpc/rpcrdma2.h>
#include <linux/sunrpc/svc.h>
#include <linux/types.h>

/* Octets of data that one RPC carries, either way: as sunrpc allows a server */
#define RPCRDMA2_MAX_PAYLOAD		RPCSVC_MAXPAYLOAD

/* The same for a callback, for which each client has jobs in reserve */
#define RPCRDMA2_REVERSE_PAYLOAD	SZ_1M

/* Seconds: the longest period of heartbeats */
#define RPCRDMA2_HEARTBEAT_MAX		3600

/* Reverse-direction Calls that a client allows, and a server uses. */
#define RPCRDMA2_REVERSE_CREDITS	8

/* Send Queue entries to plan for: Send, a registration, an invalidation. */
#define RPCRDMA2_XPRT_WRS_PER_CALL	3

/* Send Queue entries to plan for: RDMA Writes or Reads, and the Send. */
#define RPCRDMA2_SVC_WRS_PER_CALL	4

extern unsigned int rpcrdma2_inline_size;
extern unsigned int rpcrdma2_inline_min;
extern unsigned int rpcrdma2_inline_idle;
extern unsigned int rpcrdma2_slot_table_entries;
extern unsigned int rpcrdma2_svc_credits;
extern unsigned int rpcrdma2_read_memory;
extern bool rpcrdma2_use_srq;
extern unsigned int rpcrdma2_srq_size;
extern unsigned int rpcrdma2_receive_memory;
extern unsigned int rpcrdma2_heartbeat_period;
extern unsigned int rpcrdma2_version;
extern unsigned int rpcrdma2_version_retry;
extern u32 rpcrdma2_reverse;

struct rpcrdma2_dialects;

/**
 * struct rpcrdma2_range - a module parameter, and the values that it takes
 * @value: the parameter
 * @min: the least value
 * @max: the largest value
 * @unit: each value is a multiple of it
 */
struct rpcrdma2_range {
	unsigned int	*value;
	unsigned int	min;
	unsigned int	max;
	unsigned int	unit;
};

extern struct rpcrdma2_range rpcrdma2_inline_size_range;
extern struct rpcrdma2_range rpcrdma2_slot_table_range;
extern struct rpcrdma2_range rpcrdma2_max_requests_range;

/**
 * rpcrdma2_inline_start - what size the Receive buffers of a connection have at first
 *
 * Return: octets, not more than %rpcrdma2_inline_size
 */
static inline u32 rpcrdma2_inline_start(void)
{
	u32 size = READ_ONCE(rpcrdma2_inline_size);
	u32 start = READ_ONCE(rpcrdma2_inline_min);

	return start ? min(start, size) : size;
}

/* param.c */
void rpcrdma2_param_init(void);
int rpcrdma2_param_set_in_range(const struct rpcrdma2_range *range,
				const char *name, const char *val);
void rpcrdma2_param_client_dialects(struct rpcrdma2_dialects *dialects);
void rpcrdma2_param_server_dialects(struct rpcrdma2_dialects *dialects);

/* sysctl.c */
void rpcrdma2_sysctl_init(void);
void rpcrdma2_sysctl_exit(void);

#endif /* _RPCRDMA2_PARAM_H */
