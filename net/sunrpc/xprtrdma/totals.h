/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of connections, added up: for debugfs and sysctls over all of a server's
 * connections (svc/stats.c), for netlink by network namespace and role (netlink/present.c).
 */
#ifndef _RPCRDMA2_TOTALS_H
#define _RPCRDMA2_TOTALS_H

#include "requester/requester.h"
#include "responder/responder.h"

/**
 * struct rpcrdma2_totals - what connections did
 * @conn: their Queues
 * @requester: Calls of this end
 * @responder: Calls of the peers
 */
struct rpcrdma2_totals {
	struct rpcrdma2_conn_stats	conn;
	struct rpcrdma2_stats		requester;
	struct rpcrdma2_responder_stats	responder;
};

/**
 * rpcrdma2_totals_add - add what a connection did
 * @sum: what others did
 * @conn: the connection; its roles exist until this returns
 *
 * Any context but interrupts.
 */
static inline void rpcrdma2_totals_add(struct rpcrdma2_totals *sum,
				       const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_requester *requester;

	/* Pairs with the release in rpcrdma2_requester_create(). */
	requester = smp_load_acquire(&conn->requester);
	rpcrdma2_counters_add(&sum->conn, &conn->stats, sizeof(sum->conn));
	rpcrdma2_responder_stats_add(&sum->responder, conn->responder);
	if (requester)
		rpcrdma2_counters_add(&sum->requester, &requester->stats,
				      sizeof(sum->requester));
}

#endif /* _RPCRDMA2_TOTALS_H */
