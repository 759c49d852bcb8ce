// SPDX-License-Identifier: GPL-2.0
/*
 * Replies that are longer than the buffers for them.
 *
 * Some procedures name no limit for what they return: a server answers NFS's GETXATTR with
 * the whole value, however little the application has room for. A ULP that gets the start
 * of such a Reply finds the value's length in it, and can tell its caller (ERANGE). TCP
 * gives it that start, so this transport has to.
 *
 * A Reply that comes inline is cut as it is copied (reply.c). A Reply that has no place in
 * the Reply chunk does not come at all: the responder refuses the Call. The Call is sent
 * again, once, with a Reply chunk of pages that are the transport's. The start of what the
 * responder writes there is copied to the ULP's buffers.
 *
 * The requester remembers such procedures until its connection ends, since an NFSv4.1
 * session executes no request twice:
 *
 *   1. The server executes GETXATTR, and has no room for the Reply.
 *   2. The requester sends the same Call again, with more room.
 *   3. The server recognizes the request, of which it has kept no Reply, and answers
 *	NFS4ERR_RETRY_UNCACHED_REP.
 *   4. The client makes a new RPC of the request. That has the room from the start. Without
 *	it, steps 1 to 4 would follow each other for ever.
 */
#include "requester.h"

/* The smallest offer: room for the largest extended attribute and its RPC message */
#define LONG_REPLY	(SZ_64K + SZ_4K)

/* Octets around the largest payload */
#define AROUND		SZ_4K

/* A procedure of another program may have the same number: its Calls offer more, too. */
static unsigned int long_reply_procedure(const struct rpcrdma2_call *call)
{
	const struct rpc_procinfo *proc = call->rqst->rq_task->tk_msg.rpc_proc;

	return proc->p_statidx % RPCRDMA2_PROCEDURES;
}

/* Is there page data, of a length that the Call does not limit? */
static bool long_reply_is_unlimited(const struct rpcrdma2_call *call)
{
	const struct xdr_buf *buf = &call->rqst->rq_rcv_buf;

	return buf->page_len && !(buf->flags & XDRBUF_READ);
}

static void long_reply_remember(struct rpcrdma2_requester *requester,
				const struct rpcrdma2_call *call)
{
	if (call->reply_needed > requester->long_reply)
		WRITE_ONCE(requester->long_reply, call->reply_needed);
	set_bit(long_reply_procedure(call), requester->long_procedures);
}

/**
 * rpcrdma2_long_reply_refused - the responder had no room for a Reply
 * @requester: sent the Call
 * @call: the Call; pinned
 * @needed: octets of Reply chunk that the responder asks for; 0: it has not said
 *
 * CQ context. Sees to it that the next transmission of @call offers so much. Where the
 * responder can't say what it needs, it may have refused the Call for another reason. So the
 * Call is sent again only if there is more to offer.
 *
 * Return: 0; -EREMOTEIO: sending @call again would not help
 */
int rpcrdma2_long_reply_refused(struct rpcrdma2_requester *requester,
				struct rpcrdma2_call *call, u32 needed)
{
	u32 most = requester->xprt->max_payload + AROUND;
	u32 room = rpcrdma2_room(&call->rqst->rq_rcv_buf);
	u32 offer = needed;

	if (!needed || needed > room) {
		if (!long_reply_is_unlimited(call) || needed > most)
			return -EREMOTEIO;
		offer = max_t(u32, needed, min_t(u32, LONG_REPLY, most));
	}
	if (offer <= call->reply_offered)
		return -EREMOTEIO;
	call->reply_needed = offer;
	if (long_reply_is_unlimited(call))
		long_reply_remember(requester, call);
	return 0;
}

/**
 * rpcrdma2_long_reply_expect - offer as much as earlier Calls of the procedure needed
 * @requester: sends the Call; has seen a long Reply
 * @call: the Call
 *
 * The caller holds the xprt's write lock.
 */
void rpcrdma2_long_reply_expect(const struct rpcrdma2_requester *requester,
				struct rpcrdma2_call *call)
{
	u32 offer = READ_ONCE(requester->long_reply);

	if (long_reply_is_unlimited(call) &&
	    test_bit(long_reply_procedure(call), requester->long_procedures))
		call->reply_needed = max(call->reply_needed, offer);
}
