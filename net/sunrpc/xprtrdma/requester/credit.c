// SPDX-License-Identifier: GPL-2.0
/*
 * Credits: how many Calls may be outstanding (v2-09, 8.2).
 *
 * Each answer brings a grant. A Call is sent only if fewer Calls are outstanding than the last
 * grant allows. The credit of a killed RPC returns with the answer, or with the next connection:
 * see credit_starved(). Senders take credits under the xprt's write lock; the CQ returns them.
 */
#include "requester.h"
#include "sunrpc_quirks.h"

#include <trace/events/rpcrdma2.h>

/* Only the holder of the write lock takes credits, so a credit that is seen stays. */
static bool credit_take(struct rpcrdma2_requester *requester)
{
	/* Pairs with rpcrdma2_credits_answer(): an answer counts only with its own grant. */
	unsigned int answered = smp_load_acquire(&requester->answered);
	/* Pairs with rpcrdma2_credits_update(): each credit has a Receive for its Reply. */
	unsigned int granted = smp_load_acquire(&requester->grant_in);

	/* The difference can be negative: see rpcrdma2_requester_outstanding(). */
	if ((int)(requester->credits_taken - answered) >= (int)granted)
		return false;
	WRITE_ONCE(requester->credits_taken, requester->credits_taken + 1);
	return true;
}

/* For rpcrdma2_wait_or_get(). Return: the role, if there was a credit */
static void *credit_try(struct rpcrdma2_requester *requester)
{
	return credit_take(requester) ? requester : NULL;
}

/*
 * How long to wait for an answer. A soft RPC's task sleeps for its timeout. The work must run
 * while the task sleeps: see credit_starved().
 */
static unsigned long credit_patience(const struct rpc_rqst *rqst)
{
	if (RPC_IS_SOFT(rqst->rq_task) || RPC_IS_SOFTCONN(rqst->rq_task))
		return rqst->rq_timeout - rqst->rq_timeout / 8;
	return rqst->rq_timeout;
}

/**
 * rpcrdma2_credit_get - take a credit for a Call, or have the Call wait for one
 * @requester: the role
 * @rqst: the RPC
 *
 * Context: process; the xprt's write lock is held.
 *
 * Return: 0; -EAGAIN: sunrpc sends the Call again after rpcrdma2_requester_wake()
 */
int rpcrdma2_credit_get(struct rpcrdma2_requester *requester,
			const struct rpc_rqst *rqst)
{
	unsigned int answered;

	if (credit_take(requester))
		return 0;
	/* Read this before the last look: credit_starved() must notice any later answer. */
	answered = READ_ONCE(requester->answered);
	if (rpcrdma2_wait_or_get(requester, credit_try))
		return 0;
	WRITE_ONCE(requester->starved_at, answered);
	mod_delayed_work(rpcrdma2_wq, &requester->starved, credit_patience(rqst));
	requester->stats.credit_waits++;
	trace_rpcrdma2_wait(&requester->conn->ep, be32_to_cpu(rqst->rq_xid),
			    RPCRDMA2_WAIT_CREDIT,
			    rpcrdma2_requester_outstanding(requester),
			    requester->grant_in);
	return -EAGAIN;
}

/**
 * rpcrdma2_credit_put - return the credit of a Call that was not sent
 * @requester: the role
 *
 * Context: process; the xprt's write lock is held.
 */
void rpcrdma2_credit_put(struct rpcrdma2_requester *requester)
{
	WRITE_ONCE(requester->credits_taken, requester->credits_taken - 1);
}

/*
 * Cut the grant to the Receives that are there for Replies. The next Reply tries again to
 * allocate the missing ones.
 */
static u32 credit_limit_to_recvs(struct rpcrdma2_requester *requester,
				 u32 grant)
{
	unsigned int calls;

	calls = rpcrdma2_recv_pool_provide(&requester->conn->ep, grant,
					   RPCRDMA2_GFP_ONCE);
	return min(grant, calls);
}

/**
 * rpcrdma2_credits_update - use the grant that came with a message
 * @requester: the role that the message is for
 * @grant: the message's credit field, Calls
 *
 * Cuts the grant to the range from 1 to conn->ep.calls_out. A larger grant than before first
 * allocates the Receives that it needs.
 *
 * Context: CQ, or the ready op's; takes the xprt's reserve_lock and transport_lock.
 */
void rpcrdma2_credits_update(struct rpcrdma2_requester *requester, u32 grant)
{
	/* A grant of 0 would end all traffic: only a Reply can raise it. */
	grant = clamp_t(u32, grant, 1, requester->conn->ep.calls_out);
	if (grant > requester->grant_in)
		grant = credit_limit_to_recvs(requester, grant);
	if (grant == requester->grant_in)
		return;
	/* The Receives precede the grant. Pairs with credit_take(). */
	smp_store_release(&requester->grant_in, grant);
	trace_rpcrdma2_credits(requester);
	rpcrdma2_sunrpc_set_slots(requester->xprt, grant);
	rpcrdma2_requester_wake(requester->xprt);
}

/*
 * Take the right to answer the Call: true once for each transmission, and only on the connection
 * of that transmission. rpcrdma2_send_post_call() sets @sent_on before it posts.
 */
static bool credit_claim(struct rpcrdma2_conn *conn, struct rpcrdma2_call *call)
{
	return cmpxchg(&call->sent_on, conn->ep.id, 0) == conn->ep.id;
}

/**
 * rpcrdma2_credits_answer - an answer returns a credit
 * @requester: the role that the answer is for
 * @call: the Call with the answer's XID, or NULL
 *
 * Call this after rpcrdma2_credits_update() has used the answer's grant, and before
 * rpcrdma2_credits_wake().
 *
 * Context: CQ; the xprt's queue_lock is held, which keeps @call alive.
 *
 * Return: true if @call is outstanding on this connection, and this is its first answer
 */
bool rpcrdma2_credits_answer(struct rpcrdma2_requester *requester,
			     struct rpcrdma2_call *call)
{
	unsigned int answered = requester->answered;
	bool ok = call && credit_claim(requester->conn, call);

	/* An answer that nobody asked for returns no credit. */
	if (likely((int)(READ_ONCE(requester->credits_taken) - answered) > 0)) {
		answered++;
		rpcrdma2_conn_paid(requester->conn);
	}
	/* The grant precedes the answer. Pairs with credit_take(). */
	smp_store_release(&requester->answered, answered);
	return ok;
}

/**
 * rpcrdma2_credits_wake - let a Call that waits for a credit try again
 * @requester: the role that got an answer
 *
 * Context: CQ; no locks held.
 */
void rpcrdma2_credits_wake(struct rpcrdma2_requester *requester)
{
	/* Pairs with the barrier in rpcrdma2_wait_or_get(). */
	smp_mb();
	if (delayed_work_pending(&requester->starved))
		cancel_delayed_work(&requester->starved);
	rpcrdma2_requester_wake(requester->xprt);
}

/*
 * Close a connection on which killed RPCs hold all credits for too long. sunrpc notices a missing
 * answer only for RPCs that it still has. This work runs credit_patience() after a Call last began
 * to wait for a credit. If the RPCs that waited were killed, too, nobody needs a credit, and the
 * server may take its time.
 *
 * If the connection stays, wake sunrpc. Without the wake-up, XPRT_WRITE_SPACE could stay set with
 * this work not queued: no Call would ever reach rpcrdma2_credit_get(), which queues the work.
 */
static void credit_starved(struct work_struct *work)
{
	struct rpcrdma2_requester *requester =
		container_of(to_delayed_work(work), struct rpcrdma2_requester,
			     starved);

	/* rpcrdma2_credits_wake() can't cancel work that is already queued to run. */
	bool answered = READ_ONCE(requester->answered) != READ_ONCE(requester->starved_at);

	/* Another Call began to wait as this work began to run. */
	if (delayed_work_pending(&requester->starved))
		return;
	if (!answered && rpcrdma2_sunrpc_has_unsent(requester->xprt))
		rpcrdma2_conn_close(requester->conn, -ETIMEDOUT);
	else
		rpcrdma2_requester_wake(requester->xprt);
}

/**
 * rpcrdma2_credits_init - one Call may be sent
 * @requester: a new role
 */
void rpcrdma2_credits_init(struct rpcrdma2_requester *requester)
{
	requester->grant_in = 1;
	INIT_DELAYED_WORK(&requester->starved, credit_starved);
}

/**
 * rpcrdma2_credits_stop - no Call waits for a credit any more
 * @requester: the role, on a drained connection
 *
 * Context: process; sleeps.
 */
void rpcrdma2_credits_stop(struct rpcrdma2_requester *requester)
{
	cancel_delayed_work_sync(&requester->starved);
}
