// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a Call, and the credits. Read downwards:
 *
 *	rpcrdma2_call_alloc()		sunrpc's task gets buffers
 *	rpcrdma2_call_send()		take a credit, marshal, register, post
 *	rpcrdma2_reply_receive()	CQ: a Reply or an RDMA2_ERROR arrives (reply.c)
 *	rpcrdma2_inv_local()		CQ: invalidate the rest (invalidate.c)
 *	rpcrdma2_call_complete()	CQ: hand the Reply to sunrpc
 *	rpcrdma2_call_free()		sunrpc's task ends the RPC, answered or not
 *
 * Memory returns to its owner only when no peer can reach it. A pin in sunrpc holds an answered
 * RPC that long. A killed RPC waits in rpcrdma2_call_free(). A lost connection is fenced before
 * sunrpc sends the RPCs again. No Call is sent beyond the last grant (v2-09, 8.2). The credit of
 * a killed RPC returns with the answer, or with the next connection: see credit_starved().
 */
#include "requester.h"

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

static void credit_return(struct rpcrdma2_requester *requester)
{
	WRITE_ONCE(requester->credits_taken, requester->credits_taken - 1);
}

/**
 * rpcrdma2_requester_wake - let sunrpc's waiting tasks send again
 * @xprt: the transport
 *
 * Does nothing until the transport is connected. connect_end_attempt() wakes all tasks then.
 * An earlier wake-up could lead to this:
 *
 *  1. A task sends its Call, and sleeps until the Reply comes.
 *  2. connect_end_attempt() wakes all sleeping tasks, to try again.
 *  3. The task sends the same Call a second time.
 *
 * Context: any but interrupts; takes the xprt's transport_lock.
 */
void rpcrdma2_requester_wake(struct rpc_xprt *xprt)
{
	if (xprt_connected(xprt))
		xprt_write_space(xprt);
}

/*
 * Make sunrpc's slots as many as the credits. RPCs then queue in sunrpc's backlog, and a Call
 * seldom finds no credit. A Call still waits for a credit in three cases: killed RPCs hold some,
 * the grant has fallen, or the grant is less than the slots that sunrpc keeps forever.
 *
 * sunrpc hands the slot of a finished RPC to the backlog. So a larger grant must wake one RPC
 * for each additional slot. XPRT_CONGESTED sends new RPCs to the backlog, so an empty backlog
 * clears the flag.
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
 * Cut the grant to the Receives that are there for Replies. The next Reply tries again to
 * allocate the missing ones.
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
 * rpcrdma2_credits_update - use the grant that came with a message
 * @requester: the role that the message is for
 * @grant: the message's credit field, Calls
 *
 * Cuts the grant to the range from 1 to conn->calls_out. A larger grant than before first
 * allocates the Receives that it needs.
 *
 * Context: CQ; takes the xprt's reserve_lock and transport_lock.
 */
void rpcrdma2_credits_update(struct rpcrdma2_requester *requester, u32 grant)
{
	/* A grant of 0 would end all traffic: only a Reply can raise it. */
	grant = clamp_t(u32, grant, 1, requester->conn->calls_out);
	if (grant > requester->grant_in)
		grant = credit_limit_to_recvs(requester, grant);
	if (grant == requester->grant_in)
		return;
	/* The Receives precede the grant. Pairs with credit_take(). */
	smp_store_release(&requester->grant_in, grant);
	trace_rpcrdma2_credits(requester);
	credit_limit_slots(requester->xprt, grant);
	rpcrdma2_requester_wake(requester->xprt);
}

/*
 * Take the right to answer the Call: true once for each transmission, and only on the connection
 * of that transmission. rpcrdma2_send_post_call() sets @sent_on before it posts.
 */
static bool call_claim(struct rpcrdma2_conn *conn, struct rpcrdma2_call *call)
{
	return cmpxchg(&call->sent_on, conn->id, 0) == conn->id;
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
	bool ok = call && call_claim(requester->conn, call);

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
	/* Pairs with the barrier in credit_wait(). */
	smp_mb();
	if (delayed_work_pending(&requester->starved))
		cancel_delayed_work(&requester->starved);
	rpcrdma2_requester_wake(requester->xprt);
}

/*
 * Close a connection on which killed RPCs hold all credits for too long. sunrpc notices a missing
 * answer only for RPCs that it still has. This work runs when a Call has waited for a credit for
 * the RPC's timeout, and no answer has come.
 */
static void credit_starved(struct work_struct *work)
{
	struct rpcrdma2_requester *requester =
		container_of(to_delayed_work(work), struct rpcrdma2_requester,
			     starved);

	/* rpcrdma2_credits_wake() can't cancel work that is already queued to run. */
	if (READ_ONCE(requester->answered) == READ_ONCE(requester->starved_at))
		rpcrdma2_conn_close(requester->conn, -ETIMEDOUT);
}

/*
 * Have sunrpc stop sending on this xprt, then look for a credit again. One side sees the other:
 *
 *	credit_wait()			the CQ
 *	set XPRT_WRITE_SPACE		raise @answered
 *	smp_mb__after_atomic()		smp_mb() in rpcrdma2_credits_wake()
 *	read @answered			test XPRT_WRITE_SPACE: wake
 *
 * Return: 0 with a credit, or -EAGAIN
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
 * rpcrdma2_call_alloc - allocate the buffers of an RPC
 * @task: the RPC's task; its rq_callsize and rq_rcvsize are set, in octets
 *
 * The buf_alloc op: one allocation holds struct rpcrdma2_call, the Call and the Reply.
 *
 * Context: process; may sleep for memory as far as rpc_task_gfp_mask() allows.
 *
 * Return: 0; -ENOMEM: sunrpc tries again later
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
 * End the exposure of an RPC that has no Reply yet. The caller is the only user of the Call:
 * sunrpc no longer finds the RPC by its XID, and nobody has the RPC pinned.
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
 * rpcrdma2_call_free - free the buffers of an RPC
 * @task: the RPC's task, after rpcrdma2_call_alloc() has succeeded
 *
 * The buf_free op. sunrpc calls it before the RPC's owner gets the pages back.
 *
 * Context: process. If memory of the RPC may still be exposed, sleeps until the device has
 * invalidated that memory, or until the connection is CLOSED.
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
 * rpcrdma2_call_prepare - allocate the pages that the ULP leaves to the transport
 * @rqst: the RPC, not in the transmit queue yet
 * @buf: the RPC's Call or Reply; only XDRBUF_SPARSE_PAGES buffers have missing pages
 *
 * The prepare_request op.
 *
 * Context: process, in the RPC's own task; may sleep for memory as far as rpc_task_gfp_mask()
 * allows.
 *
 * Return: 0; -ENOMEM: sunrpc encodes the RPC again a moment later
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
 * Never send an unanswered Call twice on one connection. A second Reply would upset the credits
 * (v2-09, 8.2), and the registrations of the first transmission would be forgotten. If the Call
 * was sent on an earlier connection, the teardown of that connection has fenced the memory.
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

/* Called with the xprt's write lock held, which protects these counters. */
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
	/* Each segment is one registration. */
	stats->registrations += cl->nsegs;
	stats->read_segments += call_segments(cl->reads, cl->nreads);
	stats->write_segments += call_segments(cl->writes, cl->nwrites);
	stats->reply_segments += call_segments(&cl->reply, cl->has_reply);
	stats->read_octets += rpcrdma2_read_octets(cl);
	stats->offered_octets += rpcrdma2_write_octets(cl);
}

/* Wait for a Send buffer as credit_wait() waits for a credit; the room op wakes the Call. */
static struct rpcrdma2_send *
call_wait_for_send(struct rpcrdma2_requester *requester,
		   const struct rpc_rqst *rqst)
{
	struct rpcrdma2_conn *conn = requester->conn;
	struct rpcrdma2_send *send;

	xprt_wait_for_buffer_space(requester->xprt);
	/* Pairs with conn->lock in rpcrdma2_send_put() and rpcrdma2_chain_done(). */
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
	/* Compares the size with send_limit again, which resize_make_request() may have lowered. */
	rc = rpcrdma2_send_post_call(send, &call->sent_on);
	if (!rc) {
		call_count(requester, call->rqst);
		requester->stats.gap_registrations += gaps;
		return 0;
	}

	/* Nothing was posted, so no registration is valid. */
	if (call->conn)
		rpcrdma2_conn_put(call->conn);
	call->conn = NULL;
out_put:
	rpcrdma2_unregister(requester, call);
	rpcrdma2_send_put(send);
	return rc;
}

/*
 * End an RPC that can never be sent. sunrpc reports a send error to the task that transmits, and
 * that need not be the RPC's own task. If it is not, set the RPC's tk_rpc_status: sunrpc looks at
 * it before each step of a task, and before the task sleeps. The RPC's task may be running and
 * may set the status too, so cmpxchg() lets the first status win.
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
 * @requester: the role, on a connection that the caller has entered
 * @rqst: the RPC, encoded
 *
 * Context: process, in any of sunrpc's tasks; the xprt's write lock is held. Sleeps only if the
 * device's driver sleeps to register memory.
 *
 * Return: 0; -EAGAIN: sunrpc tries again after xprt_write_space(); -ENOBUFS: sunrpc tries again
 * soon; -ENOTCONN: sunrpc connects first; any other negative errno ends the RPC
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
 * @conn: a new connection, or an accepted connection that the caller has entered
 * @xprt: the transport whose RPCs the role will send
 *
 * Context: process; sleeps for memory.
 *
 * Return: the role; NULL if there is no memory, or if @conn has a requester already
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
	 * On an accepted connection the CQ may look for the role now, and a second NFS client may
	 * create one at the same time. The release pairs with the acquires of conn->requester in
	 * svc/transport.c, netlink/fill.c and rpcrdma2_totals_add().
	 */
	if (cmpxchg_release(&conn->requester, NULL, requester)) {
		kfree(requester);
		return NULL;
	}
	return requester;
}

/**
 * rpcrdma2_requester_ready - use the grant of the peer's CONNPROP, if there was one
 * @requester: the role, on a connection that has become READY
 *
 * Context: process: a completion handler, a CM handler or the connection's timer.
 */
void rpcrdma2_requester_ready(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_conn *conn = requester->conn;

	if (conn->first_grant)
		rpcrdma2_credits_update(requester, conn->first_grant);
}

/**
 * rpcrdma2_requester_is_quiet - check that no Call is outstanding
 * @requester: the role, or NULL
 *
 * A Call that is being marshaled counts. The connection's lock orders the check behind all Calls
 * that were posted before.
 *
 * Context: any but interrupts; takes conn->lock.
 *
 * Return: true if no Call holds a credit
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
 * rpcrdma2_requester_room - let Calls that wait for a Send buffer try again
 * @requester: the role, or NULL
 *
 * Context: any but interrupts; takes the xprt's transport_lock.
 */
void rpcrdma2_requester_room(struct rpcrdma2_requester *requester)
{
	if (requester)
		rpcrdma2_requester_wake(requester->xprt);
}

/**
 * rpcrdma2_requester_drained - free everything that the role has of the device
 * @requester: the role, on a drained connection, after rpcrdma2_mrs_fence()
 *
 * Afterwards no memory of any RPC is exposed or mapped, except memory that the device refused to
 * give up.
 *
 * Context: process, in the connection's teardown; sleeps.
 */
void rpcrdma2_requester_drained(struct rpcrdma2_requester *requester)
{
	/* Complete these Calls while their registrations still exist. */
	rpcrdma2_deregister_lost(requester);
	cancel_delayed_work_sync(&requester->starved);
	rpcrdma2_mrs_stop(requester);
	rpcrdma2_mrs_destroy(requester);
}

/**
 * rpcrdma2_requester_destroy - free the role
 * @requester: the role, drained or never ready; may be NULL
 *
 * Context: any that allows kfree().
 */
void rpcrdma2_requester_destroy(struct rpcrdma2_requester *requester)
{
	kfree(requester);
}
