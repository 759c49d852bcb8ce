// SPDX-License-Identifier: GPL-2.0
/*
 * A Reply or an RDMA2_ERROR arrives. In CQ context:
 *
 *  1. reply_match() finds the RPC by its XID and pins it in sunrpc. A credit returns.
 *  2. reply_evaluate() copies an inline Reply to the RPC's buffers, or reads the error.
 *  3. The Receive goes back.
 *  4. Registrations that are still valid are invalidated (invalidate.c).
 *  5. rpcrdma2_call_complete() completes and unpins the RPC.
 *
 * If nothing is registered, no step waits. A short Reply is then copied and completed within
 * reply_match(), so that sunrpc's queue_lock is taken once.
 */
#include "requester.h"
#include "sunrpc_quirks.h"

#include <trace/events/rpcrdma2.h>

/* Octets of RPC message: up to this length, copying is cheaper than taking a lock again. */
#define SHORT_REPLY	1024

/* Leave the RPC unanswered. sunrpc sends it again on the next connection. */
static void call_unpin(struct rpcrdma2_call *call)
{
	struct rpc_xprt *xprt = call->rqst->rq_xprt;

	spin_lock(&xprt->queue_lock);
	xprt_unpin_rqst(call->rqst);
	spin_unlock(&xprt->queue_lock);
}

/**
 * rpcrdma2_call_wait - let an RPC's task sleep until the Reply comes
 * @task: the RPC's task, whose Call is sent
 *
 * The wait_for_reply_request op. On SMP an error can arrive before the task sleeps. The Call
 * keeps that error (@unsettled), and this function delivers it.
 *
 * Context: process, in the RPC's own task; the xprt's queue_lock is held.
 */
void rpcrdma2_call_wait(struct rpc_task *task)
{
	struct rpcrdma2_call *call = rpcrdma2_call_of(task->tk_rqstp);

	xprt_wait_for_reply_request_def(task);
	if (unlikely(call->unsettled))
		call->unsettled = !rpcrdma2_sunrpc_settle(call->rqst, call->received);
}

/* Tell sunrpc where the page data starts in the Reply, and how long the data is. */
static void reply_show_placed(struct xdr_buf *buf,
			      const struct rpcrdma2_call *call)
{
	buf->head[0].iov_len = call->head;
	buf->page_len = call->placed;
}

/*
 * Complete an RPC. The lengths of its buffers change only here: an RPC that is sent again needs
 * the buffers as they were.
 */
static void call_complete_rqst(struct rpcrdma2_call *call)
{
	struct rpc_rqst *rqst = call->rqst;

	lockdep_assert_held(&rqst->rq_xprt->queue_lock);
	/* A peer must not reach memory that returns to its owner. */
	WARN_ON_ONCE(!list_empty(&call->mrs));

	if (call->placed) {
		reply_show_placed(&rqst->rq_rcv_buf, call);
		reply_show_placed(&rqst->rq_private_buf, call);
	}
	xprt_complete_rqst(rqst->rq_task, call->received);
}

/* Copy a Reply from the transport's own pages to the buffers where sunrpc expects it. */
static void reply_take_copy(struct rpcrdma2_call *call)
{
	if (call->received > 0 && call->external && call->reply_copied)
		call->received = rpcrdma2_copy_back(&call->reply_copy,
						    &call->rqst->rq_rcv_buf,
						    call->received);
}

/*
 * Check XID and direction of a Reply in the Reply chunk (v2-09, 3.2). The decoder has checked
 * inline Replies. The memory of a Reply chunk may be read only after its invalidation.
 */
static bool reply_is_of_call(const struct rpcrdma2_call *call)
{
	const struct rpc_rqst *rqst = call->rqst;
	__be32 words[2];

	if (call->received < 0 || !call->external)
		return true;
	return !read_bytes_from_xdr_buf(&rqst->rq_rcv_buf, 0, words,
					sizeof(words)) &&
	       rpcrdma2_rpc_agrees(words, be32_to_cpu(rqst->rq_xid), true);
}

/**
 * rpcrdma2_call_complete - end an answered RPC whose memory is no longer exposed
 * @call: the pinned Call; its received is set. The caller must not use it afterwards
 *
 * Completes the RPC, ends it with an error, or has sunrpc send it again. Then unpins the RPC.
 *
 * Context: process: CQ, rpcrdma2_deregister(), or the connection's teardown. No locks held; takes
 * the xprt's queue_lock.
 */
void rpcrdma2_call_complete(struct rpcrdma2_call *call)
{
	struct rpcrdma2_requester *requester = call->requester;
	struct rpc_xprt *xprt = call->rqst->rq_xprt;

	if (call->conn) {
		trace_rpcrdma2_call_fenced(call->conn, call->rqst,
					   call->received);
		rpcrdma2_conn_put(call->conn);
	}
	call->conn = NULL;
	reply_take_copy(call);
	if (!reply_is_of_call(call)) {
		requester->stats.bad_replies++;
		rpcrdma2_conn_close(requester->conn, -EPROTO);
		call_unpin(call);
		return;
	}
	/* Trace before the RPC is completed: afterwards its task may run, and change the RPC. */
	trace_rpcrdma2_call_complete(requester->conn, call->rqst,
				     call->received);

	spin_lock(&xprt->queue_lock);
	if (call->received > 0)
		call_complete_rqst(call);
	else
		call->unsettled = !rpcrdma2_sunrpc_settle(call->rqst, call->received);
	xprt_unpin_rqst(call->rqst);
	spin_unlock(&xprt->queue_lock);
	rpcrdma2_requester_wake(requester->xprt);
}

/*
 * Copy @len octets of a Receive to the RPC's buffers, from offset @to on. Octets behind the end
 * of the buffers are dropped: see long.c.
 *
 * Return: octets that were copied, or -EMSGSIZE
 */
static int reply_copy_out(struct rpcrdma2_requester *requester,
			  const struct xdr_buf *buf, unsigned int to,
			  void *from, unsigned int len)
{
	if (!len)
		return 0;
	if (to + len <= buf->head[0].iov_len) {
		/* Most Replies end here, and memcpy() is faster than the function below. */
		memcpy(buf->head[0].iov_base + to, from, len);
	} else {
		len = min(len, rpcrdma2_room(buf) - to);
		if (write_bytes_to_xdr_buf(buf, to, from, len))
			return -EMSGSIZE;
	}
	requester->stats.fixup_octets += len;
	return len;
}

/*
 * Copy the inline part of a Reply around @placed octets of page data in the Write chunk:
 *
 *	inline		head, as long as the ULP expects
 *	Write chunk	page data
 *	not sent	the data's round-up, which sunrpc expects behind the data
 *	inline		the rest
 *
 * A head without optional parts, such as NFSv3's attributes, is shorter. Then no rest follows.
 *
 * Return: octets of Reply, or negative errno
 */
static int reply_receive_around(struct rpcrdma2_requester *requester,
				struct rpcrdma2_recv *recv,
				struct rpcrdma2_call *call, u32 placed)
{
	struct xdr_buf buf = call->rqst->rq_rcv_buf;
	void *data = recv->buf + recv->offset;
	u32 head = min_t(u32, recv->len, buf.head[0].iov_len);
	u32 pad = xdr_pad_size(placed);
	int rc;

	rc = reply_copy_out(requester, &buf, 0, data, head);
	if (rc < 0)
		return rc;
	requester->stats.written_octets += placed;
	buf.head[0].iov_len = head;
	buf.page_len = placed;
	call->head = head;
	call->placed = placed;
	if (pad > buf.tail[0].iov_len)
		/* The buffers end with the page data. */
		return head + placed;
	if (pad)
		memset(buf.tail[0].iov_base, 0, pad);
	rc = reply_copy_out(requester, &buf, head + placed + pad, data + head,
			    recv->len - head);
	return rc < 0 ? rc : head + placed + pad + rc;
}

static int reply_receive_inline(struct rpcrdma2_requester *requester,
				struct rpcrdma2_recv *recv,
				struct rpc_rqst *rqst)
{
	return reply_copy_out(requester, &rqst->rq_rcv_buf, 0,
			      recv->buf + recv->offset, recv->len);
}

static int reply_receive_message(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_recv *recv,
				 struct rpcrdma2_call *call)
{
	const struct rpcrdma2_chunk_lists *cl = &recv->hdr.chunks;
	u32 placed;

	call->placed = 0;
	call->external = recv->hdr.kind == RPCRDMA2_NOMSG;
	if (call->external) {
		if (cl->nwrites || cl->reply.length > call->reply_offered)
			return -EPROTO;
		requester->stats.written_octets += cl->reply.length;
		return cl->reply.length;
	}
	if (cl->nwrites > 1)
		return -EPROTO;
	placed = cl->nwrites ? cl->writes[0].length : 0;
	if (!placed)
		return reply_receive_inline(requester, recv, call->rqst);
	if (placed > call->write_offered)
		return -EPROTO;
	return reply_receive_around(requester, recv, call, placed);
}

/* Allow one resend of an RPC for each error code, so that no RPC is sent forever. */
static int reply_resend_once(struct rpcrdma2_call *call, u32 code)
{
	return __test_and_set_bit(code, &call->resent) ? -EREMOTEIO : -EAGAIN;
}

/* Send the Call again with a longer Reply chunk. @needed: octets, or 0 if unknown */
static int reply_resend_for_room(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_call *call, u32 needed)
{
	int rc = rpcrdma2_long_reply_refused(requester, call, needed);

	return rc ?: reply_resend_once(call, RDMA2_ERR_REPLY_RESOURCE);
}

/*
 * Act on an RDMA2_ERROR (v2-09, 5.3.3).
 *
 * Return: -EAGAIN to send the Call again in another form, or -EREMOTEIO
 */
static int reply_receive_error(struct rpcrdma2_requester *requester,
			       struct rpcrdma2_recv *recv,
			       struct rpcrdma2_call *call)
{
	const struct rpcrdma2_dialect *dialect = requester->conn->terms.dialect;
	const struct rpcrdma2_error *error = &recv->hdr.error;

	switch (error->code) {
	case RDMA2_ERR_BAD_XDR:
		/* Without REPLY_RESOURCE, a dialect reports a long Reply as BAD_XDR. */
		if (rpcrdma2_error_of(dialect, RDMA2_ERR_REPLY_RESOURCE))
			return -EREMOTEIO;
		return reply_resend_for_room(requester, call, 0);
	case RDMA2_ERR_READ_CHUNKS:
		if (call->position_zero)
			return -EREMOTEIO;
		call->no_read_chunks = true;
		return reply_resend_once(call, error->code);
	case RDMA2_ERR_WRITE_CHUNKS:
		call->no_write_chunks = true;
		return reply_resend_once(call, error->code);
	case RDMA2_ERR_WRITE_RESOURCE:
		/* The Write chunk had all the room for page data. A Reply chunk has more. */
		if (!error->length_needed)
			return -EREMOTEIO;
		call->no_write_chunks = true;
		return reply_resend_once(call, error->code);
	case RDMA2_ERR_REPLY_RESOURCE:
		if (!error->length_needed)
			return -EREMOTEIO;
		return reply_resend_for_room(requester, call,
					     error->length_needed);
	case RDMA2_ERR_SEGMENTS:
		if (!error->max_segments)
			return -EREMOTEIO;
		call->max_segments = error->max_segments;
		return reply_resend_once(call, error->code);
	default:
		return -EREMOTEIO;
	}
}

/* Return: the value of @received that ends the RPC, once its memory is fenced */
static int reply_evaluate(struct rpcrdma2_requester *requester,
			  struct rpcrdma2_recv *recv,
			  struct rpcrdma2_call *call)
{
	int rc;

	if (recv->hdr.kind == RPCRDMA2_ERROR)
		return reply_receive_error(requester, recv, call);
	rc = reply_receive_message(requester, recv, call);
	if (rc > 0)
		return rc;
	requester->stats.bad_replies++;
	return rc == -EPROTO ? rc : -EIO;
}

/* May the RPC be completed under queue_lock? The Call must have exposed no memory. */
static bool reply_is_short(const struct rpcrdma2_recv *recv,
			   const struct rpcrdma2_call *call)
{
	return recv->hdr.kind == RPCRDMA2_MSG && recv->len <= SHORT_REPLY &&
	       !recv->hdr.chunks.nwrites && !recv->invalidated && !call->conn;
}

/*
 * Copy a short Reply and complete its RPC, under queue_lock.
 *
 * Return: false if the Reply is unusable, which reply_evaluate() then reports
 */
static bool reply_complete_short(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_recv *recv,
				 struct rpcrdma2_call *call)
{
	call->received = reply_receive_message(requester, recv, call);
	if (call->received <= 0)
		return false;
	/* Trace before the RPC is completed: afterwards its task may run, and change the RPC. */
	trace_rpcrdma2_call_complete(requester->conn, call->rqst,
				     call->received);
	requester->xprt->reestablish_timeout = 0;
	call_complete_rqst(call);
	return true;
}

/* Outcomes of reply_match() */
enum answer {
	ANSWER_UNMATCHED,	/* the RPC was killed */
	ANSWER_UNASKED,		/* a second answer, or the Call was not sent here */
	ANSWER_COMPLETE,	/* a short Reply; the RPC is completed */
	ANSWER_PINNED,		/* the RPC is pinned; the caller completes it */
};

/* Find the RPC of an answer and return its credit. @call: set only for ANSWER_PINNED */
static enum answer reply_match(struct rpcrdma2_requester *requester,
			       struct rpcrdma2_recv *recv, struct rpcrdma2_call **call)
{
	struct rpc_xprt *xprt = requester->xprt;
	enum answer answer = ANSWER_UNMATCHED;
	struct rpcrdma2_call *found = NULL;
	struct rpc_rqst *rqst;
	bool claimed;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(recv->hdr.xid));
	if (rqst)
		found = rpcrdma2_call_of(rqst);
	claimed = rpcrdma2_credits_answer(requester, found);
	if (claimed) {
		/*
		 * Pin even a short Reply's RPC. Once the RPC is completed, its task may free
		 * it. If the RPC is pinned, the task takes queue_lock first.
		 */
		xprt_pin_rqst(rqst);
		answer = ANSWER_PINNED;
		*call = found;
		if (reply_is_short(recv, found) &&
		    reply_complete_short(requester, recv, found)) {
			xprt_unpin_rqst(rqst);
			answer = ANSWER_COMPLETE;
		}
	} else if (found) {
		answer = ANSWER_UNASKED;
	}
	spin_unlock(&xprt->queue_lock);
	rpcrdma2_credits_wake(requester);
	return answer;
}

/* Handle an answer to a killed RPC. Its task fences the memory, or has done so. */
static void reply_receive_unmatched(struct rpcrdma2_requester *requester,
				    struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	u32 invalidated = recv->invalidated;
	bool mine = true;

	trace_rpcrdma2_reply_unmatched(conn, &recv->hdr);
	if (invalidated)
		mine = rpcrdma2_inv_stray(requester, recv->hdr.xid, invalidated);
	rpcrdma2_recv_put(recv);
	if (!mine)
		rpcrdma2_conn_close(conn, -EPROTO);
}

static void reply_receive_pinned(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_recv *recv,
				 struct rpcrdma2_call *call)
{
	u32 invalidated = recv->invalidated;
	bool mine = true;

	call->received = reply_evaluate(requester, recv, call);
	if (recv->hdr.kind == RPCRDMA2_MSG && !call->placed)
		rpcrdma2_nothing_placed(call);
	rpcrdma2_recv_put(recv);

	if (invalidated)
		mine = rpcrdma2_inv_remote(requester, call, invalidated);
	if (!mine || call->received == -EPROTO) {
		/* The responder used a handle or a chunk that the Call has not offered. */
		call_unpin(call);
		rpcrdma2_conn_close(requester->conn, -EPROTO);
		return;
	}
	/* A server that answers is worth an immediate attempt to connect, should it be lost. */
	if (call->received > 0)
		requester->xprt->reestablish_timeout = 0;
	if (rpcrdma2_inv_local(requester, call, rpcrdma2_call_complete))
		call_unpin(call);
}

/**
 * rpcrdma2_reply_receive - handle a Reply or an RDMA2_ERROR
 * @recv: the message; the Receive goes back before the RPC completes, or just after
 *
 * The reply op of every connection that has a requester. A second answer, or an answer that
 * breaks the protocol, closes the connection. An answer to a killed RPC only returns the credit.
 *
 * Context: CQ; no locks held.
 */
void rpcrdma2_reply_receive(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	struct rpcrdma2_requester *requester = conn->requester;
	struct rpcrdma2_header *hdr = &recv->hdr;
	struct rpcrdma2_call *call;

	/* The credit field of an RDMA2_ERROR is no grant (v2-09, 5.3.3). */
	if (hdr->kind != RPCRDMA2_ERROR) {
		trace_rpcrdma2_reply_recv(conn, hdr, recv->offset + recv->len);
		rpcrdma2_count_form(&requester->stats.replies,
				    rpcrdma2_counted_form(&hdr->chunks));
		rpcrdma2_credits_update(requester, hdr->credit);
	}
	switch (reply_match(requester, recv, &call)) {
	case ANSWER_UNMATCHED:
		reply_receive_unmatched(requester, recv);
		break;
	case ANSWER_UNASKED:
		rpcrdma2_conn_close(conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		break;
	case ANSWER_COMPLETE:
		rpcrdma2_recv_put(recv);
		break;
	case ANSWER_PINNED:
		reply_receive_pinned(requester, recv, call);
		break;
	}
}
