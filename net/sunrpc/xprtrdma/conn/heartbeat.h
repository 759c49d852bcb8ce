/* SPDX-License-Identifier: GPL-2.0 */
/* Is the peer still there? See heartbeat.c. */
#ifndef _RPCRDMA2_HEARTBEAT_H
#define _RPCRDMA2_HEARTBEAT_H

#include <rdma/ib_verbs.h>

#include "rdma/sq.h"

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_heartbeat - state of a connection's heartbeats
 * @chain: the chain of @wr alone
 * @wr: an RDMA Write or RDMA Read of no octets
 * @sge: describes no memory
 * @possible: the devices can answer @wr
 * @heard: the connection's completions at the last look, or just after @wr completed; written
 *	by the timer and the CQ
 * @out: @chain is posted; the timer sets this, the CQ clears it
 * @due: number of WRs that had been posted at @since, and are to complete; the timer's
 * @since: time of the last look that found all due WRs completed, or of the last heartbeat, in
 *	jiffies; the timer's
 */
struct rpcrdma2_heartbeat {
	struct rpcrdma2_chain	chain;
	struct ib_rdma_wr	wr;
	struct ib_sge		sge;
	bool			possible;
	u64			heard;
	bool			out;
	u64			due;
	unsigned long		since;
};

void rpcrdma2_heartbeat_init(struct rpcrdma2_conn *conn);
u8 rpcrdma2_heartbeat_reads(const struct rpcrdma2_conn *conn);
unsigned int rpcrdma2_heartbeat_secs(const struct rpcrdma2_conn *conn);
bool rpcrdma2_heartbeat_possible(const struct rpcrdma2_conn *conn);
void rpcrdma2_heartbeat_set(struct rpcrdma2_conn *conn, unsigned int secs);
void rpcrdma2_heartbeat(struct rpcrdma2_conn *conn);

#endif /* _RPCRDMA2_HEARTBEAT_H */
