// SPDX-License-Identifier: GPL-2.0
/*
 * Grants of a server whose connections share Receives: how many Calls a peer may have
 * outstanding.
 *
 * A grant starts small. It doubles, up to max_requests, when the peer has several Calls
 * outstanding at a time and the Queue has Receives for more (rdma/srq.c). A peer that sends
 * one Call after the other has no use for more. When Receives or memory are short, an unused
 * grant is halved. The CQ looks at a peer's use after as many Calls as it grants, or at a Call
 * ten seconds after the last look.
 *
 * The peer hears of its grant with the next Reply, and may send more Calls until then. So the
 * highest grant stays the limit beyond which a peer loses its connection.
 */
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/* A peer uses its grant if at least 1/USED_SHARE of it was outstanding at some moment. */
#define USED_SHARE	4

/* Look at the grant at a Call so long after the last look, however few Calls came. */
#define LOOK_SECS	10

static unsigned int grant_best(const struct rpcrdma2_responder *responder)
{
	const struct rpcrdma2_conn *conn = responder->conn;
	unsigned int granted = conn->ep.grant.now;

	if (responder->peak > 1 && responder->peak * USED_SHARE >= granted)
		return min(2 * granted, conn->ep.calls_in);
	if (granted > RPCRDMA2_FIRST_GRANT && rpcrdma2_recv_budget_is_short())
		return max_t(unsigned int, granted / 2, RPCRDMA2_FIRST_GRANT);
	return granted;
}

/*
 * Receives are there before a larger grant is announced. A smaller grant binds the peer only
 * after it heard of it, so @grant.most stays.
 */
static void grant_set(struct rpcrdma2_responder *responder, unsigned int wanted)
{
	struct rpcrdma2_conn *conn = responder->conn;
	struct rpcrdma2_ep *ep = &conn->ep;
	unsigned int backed;

	backed = rpcrdma2_srq_back(ep, wanted, RPCRDMA2_GFP_ONCE);
	wanted = min(wanted, backed);
	if (wanted == ep->grant.now)
		return;
	trace_rpcrdma2_grant(conn, ep->grant.now, wanted);
	if (wanted < ep->grant.now)
		rpcrdma2_jobs_trim(responder, ep->grant.now - wanted);
	WRITE_ONCE(ep->grant.now, wanted);
	ep->grant.most = max(ep->grant.most, wanted);
}

/**
 * rpcrdma2_grant_adapt - adapt a peer's grant when a Call came
 * @responder: the responder of the peer's connection
 * @outstanding: Calls of the peer that are outstanding, with this one
 *
 * Context: CQ.
 */
void rpcrdma2_grant_adapt(struct rpcrdma2_responder *responder,
			  unsigned int outstanding)
{
	struct rpcrdma2_conn *conn = responder->conn;
	struct rpcrdma2_ep *ep = &conn->ep;
	unsigned long now = jiffies;
	unsigned int wanted;

	if (!ep->srq)
		return;
	WRITE_ONCE(ep->share.call_at, now);
	responder->peak = max(responder->peak, outstanding);
	/* While this peer was idle, srq_reclaim_idle() may have promised its Receives to others. */
	if (READ_ONCE(ep->share.backed) < ep->grant.now)
		grant_set(responder, ep->grant.now);
	if (++responder->calls < ep->grant.now &&
	    time_before(now, responder->look_at))
		return;
	rpcrdma2_srq_refill(ep, RPCRDMA2_GFP_ONCE);
	wanted = grant_best(responder);
	if (wanted != ep->grant.now)
		grant_set(responder, wanted);
	responder->look_at = now + LOOK_SECS * HZ;
	responder->calls = 0;
	responder->peak = 0;
}
