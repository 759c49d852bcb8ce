/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sum of the counters of several connections.
 *
 * totals.c sums up a server's connections for debugfs and sysctls. netlink/present.c
 * sums up by network namespace and role.
 */
#ifndef _RPCRDMA2_TOTALS_H
#define _RPCRDMA2_TOTALS_H

#include "requester/requester.h"
#include "responder/responder.h"

/**
 * struct rpcrdma2_totals - counters of several connections
 * @traffic: counters of their Queues and messages
 * @requester: counters of this end's Calls
 * @responder: counters of the peers' Calls
 */
struct rpcrdma2_totals {
	struct rpcrdma2_traffic		traffic;
	struct rpcrdma2_stats		requester;
	struct rpcrdma2_responder_stats	responder;
};

/**
 * rpcrdma2_totals_add - add the counters of a connection
 * @sum: counters to add to
 * @conn: the connection, whose roles exist until this function returns
 *
 * Context: Process context; the caller may hold a spinlock. Takes the responder's lock.
 */
static inline void rpcrdma2_totals_add(struct rpcrdma2_totals *sum,
				       const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_requester *requester;

	/* Pairs with cmpxchg_release() in rpcrdma2_requester_create(). */
	requester = smp_load_acquire(&conn->requester);
	rpcrdma2_traffic_add(&sum->traffic, conn);
	rpcrdma2_responder_stats_add(&sum->responder, conn->responder);
	if (requester)
		rpcrdma2_counters_add(&sum->requester, &requester->stats,
				      sizeof(sum->requester));
}

/* totals.c */
void rpcrdma2_svc_stats_add(struct rpcrdma2_conn *conn);
void rpcrdma2_svc_stats_gone(struct rpcrdma2_conn *conn);
void rpcrdma2_svc_stats_refused(void);
u64 rpcrdma2_svc_stats_nr_refused(void);
void rpcrdma2_svc_stats_init(void);
void rpcrdma2_svc_stats_exit(void);

#endif /* _RPCRDMA2_TOTALS_H */
