// SPDX-License-Identifier: GPL-2.0
/*
 * A Reply arrives.
 *
 * All of it happens in CQ context. The RPC is found by its XID and pinned;
 * what came inline is copied to where sunrpc wants it, so that the Receive
 * goes back at once; what is still registered is invalidated; then the RPC is
 * completed and unpinned. With nothing registered all this is one pass; with a
 * short Reply, too, it takes sunrpc's lock once.
 */
#include "requester.h"

#include <trace/events/rpcrdma2.h>

/* Octets */
#define SHORT_REPLY	1024

/* The RPC stays as it was; sunrpc will send it again elsewhere. */
static void call_unpin(struct rpcrdma2_call *call)
{
	struct rpc_xprt *xprt = call->rqst->rq_xprt;

	spin_lock(&xprt->queue_lock);
	xprt_unpin_rqst(call->rqst);
	spin_unlock(&xprt->queue_lock);
}

/*
 * End the RPC with an error, or have sunrpc send it again. sunrpc takes either only from a
 * task that sleeps until its Reply comes.
 *
 * Return: false if the task does not sleep there
 */
static bool call_settle(struct rpcrdma2_call *call)
{
	struct rpc_rqst *rqst = call->rqst;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct rpc_task *task = rqst->rq_task;

	lockdep_assert_held(&xprt->queue_lock);

	if (!RPC_IS_QUEUED(task) || task->tk_waitqueue != &xprt->pending)
		return false;
	task->tk_status = call->received;
	if (call->received == -EAGAIN) {
		/* It encodes again what was sent on another connection. */
		rqst->rq_connect_cookie = xprt->connect_cookie - 1;
		rpc_wake_up_queued_task(&xprt->pending, task);
	} else {
		xprt_complete_rqst(task, 0);
	}
	return true;
}

/**
 * rpcrdma2_call_wait - let an RPC sleep until its Reply comes
 * @task: the RPC, whose Call was sent
 *
 * The wait_for_reply_request op: called by the RPC's own task, with the xprt's queue_lock
 * held. On SMP, an error may be faster than the task. It then waits in the Call until here.
 */
void rpcrdma2_call_wait(struct rpc_task *task)
{
	struct rpcrdma2_call *call = rpcrdma2_call_of(task->tk_rqstp);

	xprt_wait_for_reply_request_def(task);
	if (unlikely(call->unsettled))
		call->unsettled = !call_settle(call);
}

/* Where the page data starts in the message, and how much of it there is. */
static void reply_show_placed(struct xdr_buf *buf,
			      const struct rpcrdma2_call *call)
{
	buf->head[0].iov_len = call->head;
	buf->page_len = call->placed;
}

/* Not before: an RPC that is sent again needs its buffers as they were. */
static void call_complete_rqst(struct rpcrdma2_call *call)
{
	struct rpc_rqst *rqst = call->rqst;

	lockdep_assert_held(&rqst->rq_xprt->queue_lock);
	/* Nothing of it is exposed. */
	WARN_ON_ONCE(!list_empty(&call->mrs));

	if (call->placed) {
		reply_show_placed(&rqst->rq_rcv_buf, call);
		reply_show_placed(&rqst->rq_private_buf, call);
	}
	xprt_complete_rqst(rqst->rq_task, call->received);
}

/* The Reply is where the responder wrote it, not yet where sunrpc expects it. */
static void reply_take_copy(struct rpcrdma2_call *call)
{
	if (call->received > 0 && call->external && call->reply_copied)
		call->received = rpcrdma2_copy_back(&call->reply_copy,
						    &call->rqst->rq_rcv_buf,
						    call->received);
}

/*
 * What a decoder sees to where the RPC message is inline (v2-09, 3.2): only now may
 * what the responder wrote be looked at.
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
 * rpcrdma2_call_complete - nothing of an answered RPC is exposed any more
 * @call: a pinned Call, with @call->received set
 *
 * CQ context, or the teardown. Ends the use of @call.
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
	/* Before its task can run. */
	trace_rpcrdma2_call_complete(requester->conn, call->rqst,
				     call->received);

	spin_lock(&xprt->queue_lock);
	if (call->received > 0)
		call_complete_rqst(call);
	else
		call->unsettled = !call_settle(call);
	xprt_unpin_rqst(call->rqst);
	spin_unlock(&xprt->queue_lock);
	rpcrdma2_requester_wake(requester->xprt);
}

/* The end of a Reply that is longer than its buffers is cut: see long.c. Return: octets copied */
static int reply_copy_out(struct rpcrdma2_requester *requester,
			  const struct xdr_buf *buf, unsigned int to,
			  void *from, unsigned int len)
{
	if (!len)
		return 0;
	if (to + len <= buf->head[0].iov_len) {
		/* All of most Replies, and faster than below */
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
 * The responder wrote @placed octets of page data. What came inline is what
 * stands before that data and what follows it. The former is as long as the ULP
 * expects, or shorter, if it lacks what is optional, like NFSv3's attributes;
 * then nothing follows. The data's round-up did not travel, and sunrpc expects
 * to find it behind the data.
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
		/* Room for the data only */
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

/* Each kind of error leads to at most one resend of an RPC. */
static int reply_resend_once(struct rpcrdma2_call *call, u32 code)
{
	return __test_and_set_bit(code, &call->resent) ? -EREMOTEIO : -EAGAIN;
}

/* @needed: octets; 0 where the responder can't say it */
static int reply_resend_for_room(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_call *call, u32 needed)
{
	int rc = rpcrdma2_long_reply_refused(requester, call, needed);

	return rc ?: reply_resend_once(call, RDMA2_ERR_REPLY_RESOURCE);
}

/* v2-09, 5.3.3, from the requester's side. */
static int reply_receive_error(struct rpcrdma2_requester *requester,
			       struct rpcrdma2_recv *recv,
			       struct rpcrdma2_call *call)
{
	const struct rpcrdma2_dialect *dialect = requester->conn->dialect;
	const struct rpcrdma2_error *error = &recv->hdr.error;

	switch (error->code) {
	case RDMA2_ERR_BAD_XDR:
		/* So says whoever has no error for a Reply that is too long. */
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
		/* The whole buffer was offered, but a Reply chunk has more. */
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

/* What the RPC ends with, once nothing of it is exposed. */
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

/* The Call exposed no memory, and to copy its Reply takes no longer than to lock again. */
static bool reply_is_short(const struct rpcrdma2_recv *recv,
			   const struct rpcrdma2_call *call)
{
	return recv->hdr.kind == RPCRDMA2_MSG && recv->len <= SHORT_REPLY &&
	       !recv->hdr.chunks.nwrites && !recv->invalidated && !call->conn;
}

/* Where it was found. Return: false if it can't be: the Reply has no place in its buffers */
static bool reply_complete_short(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_recv *recv,
				 struct rpcrdma2_call *call)
{
	call->received = reply_receive_message(requester, recv, call);
	if (call->received <= 0)
		return false;
	/* Before its task can run. */
	trace_rpcrdma2_call_complete(requester->conn, call->rqst,
				     call->received);
	requester->xprt->reestablish_timeout = 0;
	call_complete_rqst(call);
	return true;
}

/* What an answer turns out to be */
enum answer {
	ANSWER_UNMATCHED,	/* the RPC was killed */
	ANSWER_UNASKED,		/* a second one, or to a Call that was never sent */
	ANSWER_COMPLETE,	/* short, and the RPC is completed */
	ANSWER_PINNED,		/* the RPC is pinned, and to be completed */
};

/* Find the RPC that it is for, which brings the credit back. @call: gets that, if pinned */
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
		 * Also to complete it here: its task may go on in the midst of that, and
		 * only a pin has it wait for the lock before it frees the RPC.
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

/* The RPC was killed; its memory is fenced or being fenced. */
static void reply_receive_unmatched(struct rpcrdma2_requester *requester,
				    struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;
	u32 invalidated = recv->invalidated;
	bool mine = true;

	trace_rpcrdma2_reply_unmatched(conn, &recv->hdr);
	if (invalidated)
		mine = rpcrdma2_inv_stray(requester, recv->hdr.xid, invalidated);
	rpcrdma2_recv_put(recv);
	if (!mine)
		rpcrdma2_conn_close(conn, -EPROTO);
}

/* @call is pinned. */
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
		/* The responder touches what it was not offered. */
		call_unpin(call);
		rpcrdma2_conn_close(requester->conn, -EPROTO);
		return;
	}
	/* Should a server that answers be lost, it is connected to at once. */
	if (call->received > 0)
		requester->xprt->reestablish_timeout = 0;
	if (rpcrdma2_inv_local(requester, call))
		call_unpin(call);
}

/**
 * rpcrdma2_reply_receive - a Reply or an RDMA2_ERROR arrived
 * @recv: the message; given back before the RPC completes, or just after that
 *
 * CQ context; the reply op of every connection with a requester.
 */
void rpcrdma2_reply_receive(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;
	struct rpcrdma2_requester *requester = conn->requester;
	struct rpcrdma2_header *hdr = &recv->hdr;
	struct rpcrdma2_call *call;

	/* The credit field of an RDMA2_ERROR is not a grant: v2-09, 5.3.3. */
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
