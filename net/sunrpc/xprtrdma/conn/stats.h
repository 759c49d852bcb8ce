/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, and their lines in debugfs. Documentation/reference/counters.rst explains each
 * counter.
 *
 * A struct of counters has only u64 members, so rpcrdma2_counters_add() can add two of a
 * kind. Each counter is written in one context, or under a lock that its writer holds anyway.
 * Those that change with each message have a cache line for each context. Readers take no
 * lock, so they may see one counter ahead of another.
 */
#ifndef _RPCRDMA2_STATS_H
#define _RPCRDMA2_STATS_H

#include <linux/cache.h>
#include <linux/seq_file.h>
#include <linux/sunrpc/rpcrdma2.h>

#include "rdma/ep.h"

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_forms - Calls or Replies in one direction, by their chunks
 * @messages: all of them
 * @inlined: those without chunks
 * @read_chunks: those with Read chunks, Position-Zero Read chunks included
 * @position_zero: those with a Position-Zero Read chunk
 * @write_chunks: those with Write chunks
 * @reply_chunk: those with a Reply chunk
 *
 * A chunk of no octets does not count. In a Reply, that is an unused chunk.
 */
struct rpcrdma2_forms {
	u64	messages;
	u64	inlined;
	u64	read_chunks;
	u64	position_zero;
	u64	write_chunks;
	u64	reply_chunk;
};

/* One per error code; the first is for codes that this end does not know. */
#define RPCRDMA2_NR_ERRORS	(RDMA2_ERR_SYSTEM + 1)

/**
 * struct rpcrdma2_conn_stats - what a connection did, besides struct rpcrdma2_ep_stats
 *
 * Written under the endpoint's lock:
 *
 * @errors_sent: RDMA2_ERRORs sent, by code
 * @resizes: changes of the size of this end's Receive buffers
 *
 * Written by the connection's timer:
 *
 * @heartbeats: heartbeats posted
 * @heartbeats_missed: heartbeats that did not complete in time
 *
 * Written in CQ context:
 *
 * @errors_received: RDMA2_ERRORs received, by code
 */
struct rpcrdma2_conn_stats {
	u64	errors_sent[RPCRDMA2_NR_ERRORS];
	u64	resizes;
	u64	heartbeats;
	u64	heartbeats_missed;

	u64	errors_received[RPCRDMA2_NR_ERRORS];
};

/**
 * struct rpcrdma2_traffic - counters of one or several connections
 * @ep: their endpoints' counters
 * @conn: the other counters
 */
struct rpcrdma2_traffic {
	struct rpcrdma2_ep_stats	ep;
	struct rpcrdma2_conn_stats	conn;
};

u32 rpcrdma2_counted_form(const struct rpcrdma2_chunk_lists *cl);
void rpcrdma2_count_form(struct rpcrdma2_forms *forms, u32 form);
void rpcrdma2_count_error(u64 errors[RPCRDMA2_NR_ERRORS], u32 code);
void rpcrdma2_counters_add(void *sum, const void *counters, size_t size);

__printf(3, 4)
void rpcrdma2_show(struct seq_file *seq, const char *name, const char *fmt,
		   ...);
void rpcrdma2_show_count(struct seq_file *seq, const char *name, u64 count);
void rpcrdma2_show_forms(struct seq_file *seq, const char *kind,
			 const struct rpcrdma2_forms *forms);
void rpcrdma2_traffic_add(struct rpcrdma2_traffic *sum,
			  const struct rpcrdma2_conn *conn);
void rpcrdma2_show_traffic(struct seq_file *seq,
			   const struct rpcrdma2_traffic *traffic);

#endif /* _RPCRDMA2_STATS_H */
