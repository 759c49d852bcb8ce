/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, and how they are shown. Documentation/reference/counters.rst has them one
 * by one.
 *
 * A struct of counters has nothing but u64s, so that two of a kind can be added
 * without a look at what they count. Each counter is written in one context
 * only, or below a lock that its writer has taken anyway; what different
 * contexts write is in different cache lines. A reader takes no lock: it may
 * see one counter ahead of another.
 */
#ifndef _RPCRDMA2_STATS_H
#define _RPCRDMA2_STATS_H

#include <linux/cache.h>
#include <linux/seq_file.h>
#include <linux/sunrpc/rpcrdma2.h>

/**
 * struct rpcrdma2_forms - Calls or Replies in one direction, by their chunks
 * @messages: all of them
 * @inlined: those without any chunk
 * @read_chunks: those with Read chunks, Position-Zero ones included
 * @position_zero: those with a Position-Zero Read chunk
 * @write_chunks: those with Write chunks
 * @reply_chunk: those with a Reply chunk
 *
 * A chunk of no octets counts for none: in a Reply, an unused one.
 */
struct rpcrdma2_forms {
	u64	messages;
	u64	inlined;
	u64	read_chunks;
	u64	position_zero;
	u64	write_chunks;
	u64	reply_chunk;
};

/* One for each code, and the first for those that are not known here. */
#define RPCRDMA2_NR_ERRORS	(RDMA2_ERR_SYSTEM + 1)

/**
 * struct rpcrdma2_conn_stats - what a connection did
 *
 * Below conn->lock:
 *
 * @work_requests: WRs posted on the Send Queue
 * @send_doorbells: times that the device was told of some of them
 * @recv_doorbells: times that the device was told of Receives
 * @queue_waits: chains that found no room on the Send Queue
 * @sends: Sends among @work_requests
 * @send_octets: octets that they carried, headers included
 * @errors_sent: RDMA2_ERRORs, by code
 * @resizes: times that Receive buffers got another size
 *
 * By the connection's timer:
 *
 * @heartbeats: those that were sent
 * @heartbeats_missed: those that nothing came of
 *
 * In CQ context:
 *
 * @completions: those of either Queue
 * @receives: messages that arrived
 * @receive_octets: octets that they carried, headers included
 * @errors_received: RDMA2_ERRORs, by code
 */
struct rpcrdma2_conn_stats {
	u64	work_requests;
	u64	send_doorbells;
	u64	recv_doorbells;
	u64	queue_waits;
	u64	sends;
	u64	send_octets;
	u64	errors_sent[RPCRDMA2_NR_ERRORS];
	u64	resizes;
	u64	heartbeats;
	u64	heartbeats_missed;

	u64	completions ____cacheline_aligned_in_smp;
	u64	receives;
	u64	receive_octets;
	u64	errors_received[RPCRDMA2_NR_ERRORS];
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
void rpcrdma2_show_conn_stats(struct seq_file *seq,
			      const struct rpcrdma2_conn_stats *stats);

#endif /* _RPCRDMA2_STATS_H */
