/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module parameters, and constants where a parameter would help nobody. All files of the
 * module may include this header.
 */
#ifndef _RPCRDMA2_PARAM_H
#define _RPCRDMA2_PARAM_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/sunrpc/rpcrdma2.h>
#include <linux/sunrpc/svc.h>
#include <linux/types.h>

/* Limit of an RPC's data in either direction, octets: sunrpc's limit for servers */
#define RPCRDMA2_MAX_PAYLOAD		RPCSVC_MAXPAYLOAD

/* Limit of a callback's data in either direction, octets: a client sizes its jobs by it */
#define RPCRDMA2_REVERSE_PAYLOAD	SZ_1M

/* Limit of the heartbeat period, seconds */
#define RPCRDMA2_HEARTBEAT_MAX		3600

/* Callbacks that a client lets a server have outstanding, and that a server uses */
#define RPCRDMA2_REVERSE_CREDITS	8

/* Send Queue entries that a client plans for each Call: registration, Send, invalidation */
#define RPCRDMA2_XPRT_WRS_PER_CALL	3

/* Send Queue entries that a server plans for each Call: RDMA Reads or Writes, and the Send */
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
 * struct rpcrdma2_range - a module parameter and its allowed values
 * @value: the parameter
 * @min: smallest value
 * @max: largest value
 * @unit: each value is a multiple of this
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
 * rpcrdma2_inline_start - the first size of a new connection's Receive buffers
 *
 * Context: Any context.
 * Return: octets, at most the parameter inline_size
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
