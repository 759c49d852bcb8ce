// SPDX-License-Identifier: GPL-2.0
/*
 * How many Calls a peer may have outstanding, where Receives are shared.
 *
 * A connection starts with a small grant. A client that has several Calls out at a time
 * gets twice as many, again and again, up to its share of the Queue (conn/srq.c) and
 * max_requests. A client that sends one Call after the other gets no more: it has no use
 * for them. The grant is looked at when as many Calls have come as were granted.
 *
 * A client hears of it with the next Reply. When more clients are busy, shares fall. A
 * client may have sent Calls before it hears of a smaller grant. So the highest one stays
 * the limit beyond which it loses its connection.
 */
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/* A client that uses this part of its grant gets a larger one. */
#define USED_SHARE	4

/* The peer may use what is granted less once more. */
static void grant(struct rpcrdma2_responder *responder, unsigned int wanted)
{
	struct rpcrdma2_conn *conn = responder->conn;

	trace_rpcrdma2_grant(conn, conn->granted, wanted);
	if (wanted < conn->granted)
		rpcrdma2_jobs_trim(responder, conn->granted - wanted);
	WRITE_ONCE(conn->granted, wanted);
	conn->granted_most = max(conn->granted_most, wanted);
}

/**
 * rpcrdma2_grant_adapt - a Call came: look at what its peer is granted
 * @responder: whose
 * @outstanding: Calls of this peer, with this one
 *
 * CQ context.
 */
void rpcrdma2_grant_adapt(struct rpcrdma2_responder *responder,
			  unsigned int outstanding)
{
	struct rpcrdma2_conn *conn = responder->conn;
	unsigned int peak, share, wanted = conn->granted;

	if (!conn->srq)
		return;
	peak = max(responder->peak, outstanding);
	responder->peak = peak;
	if (++responder->calls < conn->granted)
		return;
	if (peak > 1 && peak * USED_SHARE >= conn->granted)
		wanted = min(2 * conn->granted, conn->param.calls_in);
	share = rpcrdma2_srq_share(conn, wanted, wanted > conn->granted ||
				   peak > RPCRDMA2_FIRST_GRANT);
	wanted = min(wanted, share);
	if (wanted != conn->granted)
		grant(responder, wanted);
	responder->calls = 0;
	responder->peak = 0;
}
