// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a Call.
 *
 *   rpcrdma2_call_alloc()	sunrpc wants buffers
 *   rpcrdma2_call_send()	it was encoded: take a credit, marshal (which
 *				registers memory), post
 *   rpcrdma2_reply_receive()	the Reply or an RDMA2_ERROR came (reply.c)
 *   rpcrdma2_inv_local()	what the responder did not invalidate
 *   rpcrdma2_call_complete()	sunrpc may decode it
 *   rpcrdma2_call_free()	the RPC ends, with or without a Reply
 *
 * Memory: pages that a responder can reach are never given back. An RPC whose
 * Reply came is pinned in sunrpc until its registrations are invalid; one
 * that ends early (signal, timeout) waits for that in rpcrdma2_call_free(),
 * which comes before the RPC's owner sees its pages again. On a lost
 * connection sunrpc hears of it only after the QP was drained and everything
 * was deregistered.
 *
 * Credits (v2-09, 8.2, as in version 1): Calls outstanding never exceed the
 * last grant. A Call whose RPC was killed holds its credit until the
 * responder answers, or another RPC has waited in vain for it to do so.
 */
#include "requester.h"

#include <trace/events/rpcrdma2.h>

/*
 * Nobody else takes one: the caller holds the xprt's write lock. So there are never
 * fewer than it sees, and a Receive for each.
 */
static bool credit_take(struct rpcrdma2_requester *requester)
{
	/* Before the grant: an answer counts with the grant that it brought. */
	unsigned int answered = smp_load_acquire(&requester->answered);
	/* Behind the Receives for the Replies */
	unsigned int granted = smp_load_acquire(&requester->grant_in);

	/* As in rpcrdma2_requester_outstanding(): it may be less than none. */
	if ((int)(requester->credits_taken - answered) >= (int)granted)
		return false;
	WRITE_ONCE(requester->credits_taken, requester->credits_taken + 1);
	return true;
}

static void credit_return(struct rpcrdma2_requester *requester)
{
	WRITE_ONCE(requester->credits_taken, requester->credits_taken - 1);
}

/**
 * rpcrdma2_requester_wake - have sunrpc send again, if its tasks wait for that
 * @xprt: the transport
 *
 * Any context but interrupts. A transport that is not connected is left alone: the end of
 * its attempt to connect wakes everybody. A task that sent before that end would be woken
 * as if it had waited for the connection, and would send its Call twice.
 */
void rpcrdma2_requester_wake(struct rpc_xprt *xprt)
{
	if (xprt_connected(xprt))
		xprt_write_space(xprt);
}

/*
 * Allow sunrpc as many slots as there are credits, so that RPCs queue in its backlog. Then
 * a Call seldom waits for a credit. It does if killed RPCs hold some, if the grant was larger
 * before, or if the grant is smaller than the number of slots that sunrpc never frees.
 *
 * An RPC in the backlog gets the slot of an RPC that ends. If the grant rises, wake one RPC
 * for each new slot. New RPCs join the backlog while XPRT_CONGESTED is set, so clear it when
 * the backlog is empty.
 */
static void credit_limit_slots(struct rpc_xprt *xprt, unsigned int grant)
{
	unsigned int old;

	spin_lock(&xprt->reserve_lock);
	old = xprt->max_reqs;
	xprt->max_reqs = grant;
	for (; old < grant; old++) {
		if (rpc_wake_up_next(&xprt->backlog))
			continue;
		clear_bit(XPRT_CONGESTED, &xprt->state);
		break;
	}
	spin_unlock(&xprt->reserve_lock);
}

/*
 * A Call may be sent when there is a Receive for its Reply. If there is no memory for
 * some now, a Reply that comes a second later tries again.
 */
static u32 credit_limit_to_recvs(struct rpcrdma2_requester *requester,
				 u32 grant)
{
	unsigned int calls;

	calls = rpcrdma2_recv_pool_provide(requester->conn, grant,
					   RPCRDMA2_GFP_ONCE);
	return min(grant, calls);
}

/**
 * rpcrdma2_credits_update - a message with a grant came
 * @requester: whom it was for
 * @grant: its credit field
 *
 * CQ context.
 */
void rpcrdma2_credits_update(struct rpcrdma2_requester *requester, u32 grant)
{
	/* A grant of zero would be a deadlock. */
	grant = clamp_t(u32, grant, 1, requester->conn->calls_out);
	if (grant > requester->grant_in)
		grant = credit_limit_to_recvs(requester, grant);
	if (grant == requester->grant_in)
		return;
	/* Behind the Receives that it takes. */
	smp_store_release(&requester->grant_in, grant);
	trace_rpcrdma2_credits(requester);
	credit_limit_slots(requester->xprt, grant);
	rpcrdma2_requester_wake(requester->xprt);
}

/* Is it out on this connection, and not answered yet? It said so before it was posted. */
static bool call_claim(struct rpcrdma2_conn *conn, struct rpcrdma2_call *call)
{
	return cmpxchg(&call->sent_on, conn->id, 0) == conn->id;
}

/**
 * rpcrdma2_credits_answer - an answer came, and brings a credit back
 * @requester: whom it was for
 * @call: whose answer it is, which sunrpc can't end; or NULL
 *
 * CQ context. The grant that came with it is known already. Who waits for the credit hears
 * of it by rpcrdma2_credits_wake().
 *
 * Return: whether @call is out on this connection, and this is its first answer
 */
bool rpcrdma2_credits_answer(struct rpcrdma2_requester *requester,
			     struct rpcrdma2_call *call)
{
	unsigned int answered = requester->answered;
	bool ok = call && call_claim(requester->conn, call);

	/* One that nobody asked for brings none. */
	if (likely((int)(READ_ONCE(requester->credits_taken) - answered) > 0)) {
		answered++;
		rpcrdma2_conn_paid(requester->conn);
	}
	/* Behind the grant that came with it */
	smp_store_release(&requester->answered, answered);
	return ok;
}

/**
 * rpcrdma2_credits_wake - there may be a credit
 * @requester: whose
 *
 * CQ context.
 */
void rpcrdma2_credits_wake(struct rpcrdma2_requester *requester)
{
	/* Either the credit is seen in credit_wait(), or here that somebody waits. */
	smp_mb();
	if (delayed_work_pending(&requester->starved))
		cancel_delayed_work(&requester->starved);
	rpcrdma2_requester_wake(requester->xprt);
}

/*
 * A Call has waited for a credit for as long as an answer may take, and there was no
 * answer to any. sunrpc sees to that for each RPC that it has; but all credits may be
 * those of killed ones.
 */
static void credit_starved(struct work_struct *work)
{
	struct rpcrdma2_requester *requester =
		container_of(to_delayed_work(work), struct rpcrdma2_requester,
			     starved);

	/* One that came while this was queued could not cancel it. */
	if (READ_ONCE(requester->answered) == READ_ONCE(requester->starved_at))
		rpcrdma2_conn_close(requester->conn, -ETIMEDOUT);
}

/*
 * sunrpc stops sending on this xprt until xprt_write_space(). Looking again
 * after saying so closes the race with a Reply.
 */
static int credit_wait(struct rpcrdma2_requester *requester,
		       const struct rpc_rqst *rqst)
{
	struct rpcrdma2_conn *conn = requester->conn;

	xprt_wait_for_buffer_space(requester->xprt);
	/* Pairs with rpcrdma2_credits_wake(). */
	smp_mb__after_atomic();
	if (credit_take(requester)) {
		xprt_write_space(requester->xprt);
		return 0;
	}
	WRITE_ONCE(requester->starved_at, READ_ONCE(requester->answered));
	mod_delayed_work(rpcrdma2_wq, &requester->starved, rqst->rq_timeout);
	requester->stats.credit_waits++;
	trace_rpcrdma2_wait(conn, be32_to_cpu(rqst->rq_xid),
			    RPCRDMA2_WAIT_CREDIT,
			    rpcrdma2_requester_outstanding(requester),
			    requester->grant_in);
	return -EAGAIN;
}

/**
 * rpcrdma2_call_alloc - make buffers for a Call and its Reply
 * @task: an RPC with rq_callsize and rq_rcvsize set
 *
 * Called by sunrpc, process context; does not wait where the xprt serves swap.
 *
 * Return: 0 or -ENOMEM; sunrpc tries again later
 */
int rpcrdma2_call_alloc(struct rpc_task *task)
{
	struct rpcrdma2_call *call;

	call = rpcrdma2_call_buffer_alloc(task);
	if (!call)
		return -ENOMEM;
	call->rqst = task->tk_rqstp;
	INIT_LIST_HEAD(&call->mrs);
	return 0;
}

/*
 * The RPC ends before its Reply came. Nobody else has the call: sunrpc no
 * longer finds the RPC by its XID, and it is not pinned.
 */
static void call_fence(struct rpcrdma2_call *call)
{
	struct rpcrdma2_conn *conn = call->conn;
	int rc = -ENOTCONN;

	if (rpcrdma2_conn_enter(conn)) {
		init_completion(&call->fenced);
		call->waiting = true;
		rc = rpcrdma2_inv_local(conn->requester, call);
		rpcrdma2_conn_exit(conn);
	}
	if (!rc)
		wait_for_completion(&call->fenced);
	else
		rpcrdma2_conn_wait_closed(conn);
	trace_rpcrdma2_call_fenced(conn, call->rqst, 0);
	rpcrdma2_requester_wake(call->rqst->rq_xprt);
}

/**
 * rpcrdma2_call_free - the RPC is over
 * @task: an RPC on which rpcrdma2_call_alloc() succeeded
 *
 * Called by sunrpc, process context. Sleeps, for as long as the device takes
 * to invalidate memory, if the RPC ends before its Reply came.
 */
void rpcrdma2_call_free(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpcrdma2_call *call = rpcrdma2_call_of(rqst);

	if (call->conn) {
		call_fence(call);
		rpcrdma2_conn_put(call->conn);
	}
	if (likely(!call->kept)) {
		rpcrdma2_copy_free(&call->sent_copy);
		rpcrdma2_copy_free(&call->reply_copy);
		rpcrdma2_copy_free(&call->encrypted);
		rpcrdma2_call_buffer_free(call);
	}
	rqst->rq_buffer = NULL;
}

/**
 * rpcrdma2_call_prepare - allocate pages that the ULP leaves to the transport
 * @rqst: an RPC that is not queued to be sent yet
 * @buf: its Call, or its Reply
 *
 * Called by sunrpc, process context, by the RPC's own task.
 *
 * Return: 0, or -ENOMEM: sunrpc encodes it again, a moment later
 */
int rpcrdma2_call_prepare(struct rpc_rqst *rqst, struct xdr_buf *buf)
{
	unsigned int i, n;

	if (likely(!(buf->flags & XDRBUF_SPARSE_PAGES)))
		return 0;
	n = DIV_ROUND_UP(buf->page_base + buf->page_len, PAGE_SIZE);
	for (i = buf->page_base >> PAGE_SHIFT; i < n; i++) {
		if (buf->pages[i])
			continue;
		buf->pages[i] = alloc_page(rpc_task_gfp_mask());
		if (!buf->pages[i])
			return -ENOMEM;
	}
	return 0;
}

/*
 * A Call is not sent twice on one connection: its second Reply would upset the
 * credits (v2-09, 8.2), and memory that the first transmission exposed would be
 * forgotten. A lost connection leaves nothing exposed.
 */
static int call_check_retransmission(struct rpcrdma2_requester *requester,
				     struct rpcrdma2_call *call)
{
	struct rpcrdma2_conn *conn = requester->conn;

	if (call->conn == conn || READ_ONCE(call->sent_on) == conn->id) {
		rpcrdma2_conn_close(conn, -ETIMEDOUT);
		return -ENOTCONN;
	}
	if (!call->conn)
		return 0;
	rpcrdma2_conn_put(call->conn);
	call->conn = NULL;
	return 0;
}

static unsigned int call_segments(const struct rpcrdma2_chunk *chunks,
				  unsigned int n)
{
	unsigned int segments = 0;

	while (n--)
		segments += chunks[n].nsegs;
	return segments;
}

/* The caller holds the xprt's write lock. */
static void call_count(struct rpcrdma2_requester *requester,
		       const struct rpc_rqst *rqst)
{
	const struct rpcrdma2_chunk_lists *cl = &requester->hdr.chunks;
	struct rpcrdma2_stats *stats = &requester->stats;
	const struct xdr_buf *buf = &rqst->rq_snd_buf;

	rpcrdma2_count_form(&stats->calls, rpcrdma2_counted_form(cl));
	if (!cl->nreads)
		stats->pullup_octets += buf->page_len + buf->tail[0].iov_len;
	if (!cl->nsegs)
		return;
	/* Each segment is a registration. */
	stats->registrations += cl->nsegs;
	stats->read_segments += call_segments(cl->reads, cl->nreads);
	stats->write_segments += call_segments(cl->writes, cl->nwrites);
	stats->reply_segments += call_segments(&cl->reply, cl->has_reply);
	stats->read_octets += rpcrdma2_read_octets(cl);
	stats->offered_octets += rpcrdma2_write_octets(cl);
}

/* As for a credit: rpcrdma2_requester_room() ends it. */
static struct rpcrdma2_send *
call_wait_for_send(struct rpcrdma2_requester *requester,
		   const struct rpc_rqst *rqst)
{
	struct rpcrdma2_conn *conn = requester->conn;
	struct rpcrdma2_send *send;

	xprt_wait_for_buffer_space(requester->xprt);
	/* Pairs with the lock in rpcrdma2_send_put(). */
	smp_mb__after_atomic();
	send = rpcrdma2_send_get(conn);
	if (send) {
		xprt_write_space(requester->xprt);
		return send;
	}
	requester->stats.send_waits++;
	trace_rpcrdma2_wait(conn, be32_to_cpu(rqst->rq_xid),
			    RPCRDMA2_WAIT_SEND_BUFFER, conn->nr_sends,
			    conn->nr_sends);
	return NULL;
}

static int call_marshal_and_post(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_call *call)
{
	struct rpcrdma2_conn *conn = requester->conn;
	struct rpcrdma2_send *send;
	unsigned int gaps;
	int rc;

	send = rpcrdma2_send_get(conn);
	if (!send)
		send = call_wait_for_send(requester, call->rqst);
	if (!send)
		return -EAGAIN;
	rc = rpcrdma2_marshal(requester, call, send);
	if (rc)
		goto out_put;
	rpcrdma2_send_prepare(send);
	gaps = rpcrdma2_mrs_prepend(call, send);
	if (!list_empty(&call->mrs)) {
		rpcrdma2_copy_adopt(&call->encrypted, call->rqst);
		rpcrdma2_conn_get(conn);
		call->conn = conn;
	}
	trace_rpcrdma2_call_send(conn, &requester->hdr, send->sge.length);
	call->rqst->rq_xtime = ktime_get();
	call->requester = requester;
	call->unsettled = false;
	/* The limit may have been lowered meanwhile: see resize_make_request(). */
	rc = rpcrdma2_send_post_call(send, &call->sent_on);
	if (!rc) {
		call_count(requester, call->rqst);
		requester->stats.gap_registrations += gaps;
		return 0;
	}

	/* Nothing of it was posted. */
	if (call->conn)
		rpcrdma2_conn_put(call->conn);
	call->conn = NULL;
out_put:
	rpcrdma2_unregister(requester, call);
	rpcrdma2_send_put(send);
	return rc;
}

/*
 * This RPC cannot be sent, now or later. sunrpc gives a send error to the task
 * that happens to transmit, which need not be the RPC's own. Another task may be
 * running, and about to write what rpc_exit() would; tk_rpc_status is looked at
 * before each of its steps, and before it sleeps.
 */
static int call_give_up(struct rpc_rqst *rqst, int rc)
{
	struct rpc_task *task = rqst->rq_task;
	struct rpc_wait_queue *queue;

	if (rqst->rq_xprt->snd_task == task)
		return rc;
	cmpxchg(&task->tk_rpc_status, 0, rc);
	queue = READ_ONCE(task->tk_waitqueue);
	if (queue)
		rpc_wake_up_queued_task(queue, task);
	return 0;
}

static bool call_error_is_passing(int rc)
{
	return rc == -EAGAIN || rc == -ENOBUFS || rc == -ENOTCONN;
}

/**
 * rpcrdma2_call_send - send an RPC's Call
 * @requester: of a connection that the caller has entered
 * @rqst: the RPC, encoded; the caller holds the xprt's write lock
 *
 * Called by sunrpc, process context. Does not sleep, but where the device's driver does to
 * register memory.
 *
 * Return: 0; -EAGAIN: sunrpc is told by xprt_write_space() when to try again;
 * -ENOBUFS: try again soon; -ENOTCONN: reconnect first; another negative
 * errno ends the RPC
 */
int rpcrdma2_call_send(struct rpcrdma2_requester *requester,
		       struct rpc_rqst *rqst)
{
	struct rpcrdma2_call *call = rpcrdma2_call_of(rqst);
	int rc;

	trace_rpcrdma2_call_begin(requester, rqst);
	rc = call_check_retransmission(requester, call);
	if (rc)
		return rc;
	if (!credit_take(requester)) {
		rc = credit_wait(requester, rqst);
		if (rc)
			return rc;
	}
	rc = call_marshal_and_post(requester, call);
	if (!rc)
		return 0;
	credit_return(requester);
	trace_rpcrdma2_call_unsent(requester->conn, rqst, rc);
	return call_error_is_passing(rc) ? rc : call_give_up(rqst, rc);
}

/**
 * rpcrdma2_requester_create - give a connection its requester role
 * @conn: a connection that is not established yet
 * @xprt: whose RPCs it will send
 *
 * Process context.
 *
 * Return: the role; or NULL if there is no memory, or @conn has that role
 */
struct rpcrdma2_requester *
rpcrdma2_requester_create(struct rpcrdma2_conn *conn, struct rpc_xprt *xprt)
{
	struct rpcrdma2_requester *requester;

	requester = kzalloc(sizeof(*requester), GFP_KERNEL);
	if (!requester)
		return NULL;
	requester->conn = conn;
	requester->xprt = xprt;
	spin_lock_init(&requester->lock);
	requester->grant_in = 1;
	rpcrdma2_mrs_init(requester);
	INIT_DELAYED_WORK(&requester->starved, credit_starved);
	INIT_LIST_HEAD(&requester->to_deregister);
	INIT_WORK(&requester->deregister, rpcrdma2_deregister);
	/*
	 * A connection that was accepted may have its CQ running already. Since
	 * 6.12, two NFS clients on it may be given callback channels at once.
	 */
	if (cmpxchg_release(&conn->requester, NULL, requester)) {
		kfree(requester);
		return NULL;
	}
	return requester;
}

/**
 * rpcrdma2_requester_ready - the connection is ready
 * @requester: its role
 *
 * Process context: the CQ's, the CM's, or the timer's. No Call was sent yet.
 */
void rpcrdma2_requester_ready(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_conn *conn = requester->conn;

	if (conn->first_grant)
		rpcrdma2_credits_update(requester, conn->first_grant);
}

/**
 * rpcrdma2_requester_is_quiet - is no Call out?
 * @requester: the role; may be NULL
 *
 * Any context. A Call that is being marshalled counts.
 *
 * Return: whether none is
 */
bool rpcrdma2_requester_is_quiet(struct rpcrdma2_requester *requester)
{
	bool quiet;

	if (!requester)
		return true;
	spin_lock(&requester->conn->lock);
	quiet = !rpcrdma2_requester_outstanding(requester);
	spin_unlock(&requester->conn->lock);
	return quiet;
}

/**
 * rpcrdma2_requester_room - the connection has a Send buffer again
 * @requester: its role; may be NULL
 *
 * Process context.
 */
void rpcrdma2_requester_room(struct rpcrdma2_requester *requester)
{
	if (requester)
		rpcrdma2_requester_wake(requester->xprt);
}

/**
 * rpcrdma2_requester_drained - the connection is drained
 * @requester: its role
 *
 * Process context, sleeps. Afterwards nothing of any RPC is exposed or mapped.
 */
void rpcrdma2_requester_drained(struct rpcrdma2_requester *requester)
{
	/* Before the others: it may have them queued again. */
	rpcrdma2_deregister_lost(requester);
	cancel_delayed_work_sync(&requester->starved);
	rpcrdma2_mrs_stop(requester);
	rpcrdma2_mrs_destroy(requester);
}

/**
 * rpcrdma2_requester_destroy - end of the role
 * @requester: its role, drained or never ready; may be NULL
 */
void rpcrdma2_requester_destroy(struct rpcrdma2_requester *requester)
{
	kfree(requester);
}
