/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every rpc_xprt shows of itself: addresses and statistics.
 */
#ifndef _RPCRDMA2_SHOW_H
#define _RPCRDMA2_SHOW_H

#include <linux/seq_file.h>
#include <linux/sunrpc/xprt.h>

struct rpcrdma2_stats;

/* show.c */
void rpcrdma2_format_addresses(struct rpc_xprt *xprt);
void rpcrdma2_free_addresses(struct rpc_xprt *xprt);
void rpcrdma2_print_stats(struct rpc_xprt *xprt,
			  const struct rpcrdma2_stats *stats,
			  struct seq_file *seq);

#endif /* _RPCRDMA2_SHOW_H */
