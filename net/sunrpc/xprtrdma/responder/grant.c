// SPDX-License-Identifier: GPL-2.0
/*
 * How many Calls a peer may have outstanding, where Receives are shared.
 *
 * Few at first. A client that has several out at a time gets twice as many, again and
 * again, as long as its Queue has Receives for them (conn/srq.c), up to max_requests.
 * One that sends one Call after the other gets no more: it has no use for them. When
 * Receives or memory are short, a client has half of what it doesn't use taken away. Its
 * use is looked at when it has made as many Calls as it was granted, or after ten seconds.
 *
 * A client hears of it with the next Reply. It may have sent Calls before it hears of a
 * smaller grant; so the highest one stays the limit beyond which it loses its connection.
 */
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/* At least this part of what was granted is used, or else it is too much. */
#define USED_SHARE	4

/* A Call comes that long after the last look: look, however few there were */
#define LOOK_SECS	10

static unsigned int grant_best(const struct rpcrdma2_responder *responder)
{
	const struct rpcrdma2_conn *conn = responder->conn;
	unsigned int granted = conn->grant_out;

	if (responder->peak > 1 && responder->peak * USED_SHARE >= granted)
		return min(2 * granted, conn->calls_in);
	if (granted > RPCRDMA2_FIRST_GRANT && rpcrdma2_recv_budget_is_short())
		return max_t(unsigned int, granted / 2, RPCRDMA2_FIRST_GRANT);
	return granted;
}

/*
 * What is granted more is there before it is granted; what is granted less, the peer may
 * use once more.
 */
static void grant_set(struct rpcrdma2_responder *responder, unsigned int wanted)
{
	struct rpcrdma2_conn *conn = responder->conn;
	unsigned int backed;

	backed = rpcrdma2_srq_back(conn, wanted, RPCRDMA2_GFP_ONCE);
	wanted = min(wanted, backed);
	if (wanted == conn->grant_out)
		return;
	trace_rpcrdma2_grant(conn, conn->grant_out, wanted);
	if (wanted < conn->grant_out)
		rpcrdma2_jobs_trim(responder, conn->grant_out - wanted);
	WRITE_ONCE(conn->grant_out, wanted);
	conn->grant_out_max = max(conn->grant_out_max, wanted);
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
	unsigned long now = jiffies;
	unsigned int wanted;

	if (!conn->srq)
		return;
	WRITE_ONCE(conn->call_at, now);
	responder->peak = max(responder->peak, outstanding);
	/* Others may have been promised what it had. */
	if (READ_ONCE(conn->backed) < conn->grant_out)
		grant_set(responder, conn->grant_out);
	if (++responder->calls < conn->grant_out &&
	    time_before(now, responder->look_at))
		return;
	rpcrdma2_srq_refill(conn, RPCRDMA2_GFP_ONCE);
	wanted = grant_best(responder);
	if (wanted != conn->grant_out)
		grant_set(responder, wanted);
	responder->look_at = now + LOOK_SECS * HZ;
	responder->calls = 0;
	responder->peak = 0;
}
