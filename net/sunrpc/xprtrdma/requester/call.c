// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a Call. Read downwards:
 *
 *	rpcrdma2_call_alloc()		sunrpc's task gets buffers
 *	rpcrdma2_call_send()		take a credit, marshal, register, post
 *	rpcrdma2_reply_receive()	CQ: a Reply or an RDMA2_ERROR arrives (reply.c)
 *	rpcrdma2_inv_local()		CQ: invalidate the rest (invalidate.c)
 *	rpcrdma2_call_complete()	CQ: hand the Reply to sunrpc (reply.c)
 *	rpcrdma2_call_free()		sunrpc's task ends the RPC, answered or not
 *
 * Memory returns to its owner only when no peer can reach it. A pin in sunrpc holds an answered
 * RPC that long. A killed RPC waits in rpcrdma2_call_free(). A lost connection is fenced before
 * sunrpc sends the RPCs again.
 */
#include "requester.h"
#include "sunrpc_quirks.h"

#include <trace/events/rpcrdma2.h>

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

static void call_fenced(struct rpcrdma2_call *call)
{
	complete(&call->fenced);
}

/*
 * End the exposure of an RPC that has no Reply yet. The caller is the only user of the Call:
 * sunrpc no longer finds the RPC by its XID, and nobody has the RPC pinned.
 */
static void call_fence(struct rpcrdma2_call *call)
{
	struct rpcrdma2_conn *conn = call->conn;
	int rc = -ENOTCONN;

	if (rpcrdma2_ep_enter(&conn->ep)) {
		init_completion(&call->fenced);
		rc = rpcrdma2_inv_local(conn->requester, call, call_fenced);
		rpcrdma2_ep_exit(&conn->ep);
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

	if (call->conn == conn || READ_ONCE(call->sent_on) == conn->ep.id) {
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

static void *call_try_send(struct rpcrdma2_requester *requester)
{
	return rpcrdma2_send_get(&requester->conn->ep);
}

/* rpcrdma2_send_put() and rpcrdma2_chain_done() wake a waiting Call. ep.lock is their barrier. */
static struct rpcrdma2_send *call_get_send(struct rpcrdma2_requester *requester,
					   const struct rpc_rqst *rqst)
{
	struct rpcrdma2_conn *conn = requester->conn;
	struct rpcrdma2_send *send;

	send = rpcrdma2_send_get(&conn->ep);
	if (!send)
		send = rpcrdma2_wait_or_get(requester, call_try_send);
	if (send)
		return send;
	requester->stats.send_waits++;
	trace_rpcrdma2_wait(&conn->ep, be32_to_cpu(rqst->rq_xid),
			    RPCRDMA2_WAIT_SEND_BUFFER, conn->ep.sends.nr,
			    conn->ep.sends.nr);
	return NULL;
}

static int call_marshal_and_post(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_call *call)
{
	struct rpcrdma2_conn *conn = requester->conn;
	struct rpcrdma2_send *send;
	unsigned int gaps;
	int rc;

	send = call_get_send(requester, call->rqst);
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
	/* Compares the size with limit.call again, which resize_make_request() may have lowered. */
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
	rc = rpcrdma2_credit_get(requester, rqst);
	if (rc)
		return rc;
	rc = call_marshal_and_post(requester, call);
	if (!rc)
		return 0;
	rpcrdma2_credit_put(requester);
	trace_rpcrdma2_call_unsent(requester->conn, rqst, rc);
	return call_error_is_passing(rc) ? rc : rpcrdma2_sunrpc_end_task(rqst, rc);
}
