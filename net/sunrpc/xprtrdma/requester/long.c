// SPDX-License-Identifier: GPL-2.0
/*
 * Replies that are longer than their buffers, such as NFS's GETXATTR. A ULP finds the length in
 * the start of such a Reply, and reports ERANGE. So this transport must deliver the start.
 *
 * reply.c cuts inline Replies. A responder refuses a Call if its Reply outgrows the Reply chunk.
 * The Call is sent again, once, with a Reply chunk of the transport's own pages. The requester
 * remembers the procedure for the life of the connection, or an NFSv4.1 session would loop:
 *
 *  1. The server executes GETXATTR, finds no room for the Reply, and refuses the Call.
 *  2. The requester sends the same Call again, with more room.
 *  3. The server has no Reply in its session's cache, and answers NFS4ERR_RETRY_UNCACHED_REP.
 *  4. The client sends the operation in a new RPC, which must have the room from the start.
 *
 * CQ context learns from refusals. Senders use the result.
 */
#include "requester.h"

/* The smallest larger offer: the longest extended attribute, and the RPC message around it */
#define LONG_REPLY	(SZ_64K + SZ_4K)

/* Octets of RPC message around the largest payload */
#define AROUND		SZ_4K

/* Programs share the numbers: a procedure with the same number offers more room, too. */
static unsigned int long_reply_procedure(const struct rpcrdma2_call *call)
{
	const struct rpc_procinfo *proc = call->rqst->rq_task->tk_msg.rpc_proc;

	return proc->p_statidx % RPCRDMA2_PROCEDURES;
}

/* Has the Reply page data whose length the Call does not limit? */
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
 * rpcrdma2_long_reply_refused - offer more room after a responder had too little
 * @requester: the role that sent the Call
 * @call: the Call, pinned
 * @needed: octets of Reply chunk that the responder asks for; 0 if it does not say
 *
 * Sets @call->reply_needed for the next transmission. A responder that names no size may have
 * refused for another reason. So the Call is sent again only if the requester can offer more.
 *
 * Context: CQ.
 *
 * Return: 0; -EREMOTEIO: no larger offer is possible, so the RPC fails
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
 * rpcrdma2_long_reply_expect - offer the room that earlier Calls of the procedure needed
 * @requester: the role that sends the Call; its long_reply is not 0
 * @call: the Call; its reply_needed may rise
 *
 * Context: process; the xprt's write lock is held.
 */
void rpcrdma2_long_reply_expect(const struct rpcrdma2_requester *requester,
				struct rpcrdma2_call *call)
{
	u32 offer = READ_ONCE(requester->long_reply);

	if (long_reply_is_unlimited(call) &&
	    test_bit(long_reply_procedure(call), requester->long_procedures))
		call->reply_needed = max(call->reply_needed, offer);
}
