// SPDX-License-Identifier: GPL-2.0
/*
 * A received message: decodes its header, and hands it to the requester, to the responder, to
 * resize.c, or to the handshake.
 *
 * Runs in CQ context. The buffer of each message goes on with it, or is given back.
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* Messages in a row that use no credit */
#define MAX_UNPAID	32

/* Hand a message to the layer above, or to resize.c. Consumes @recv. */
static void dispatch_deliver(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);

	if (!rpcrdma2_conn_is_ready(conn)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return;
	}
	if (recv->hdr.kind == RPCRDMA2_ERROR) {
		if (rpcrdma2_resize_refused(conn, &recv->hdr)) {
			/*
			 * The refused REQUEST belongs to no RPC, so it has no handle to
			 * invalidate.
			 */
			if (recv->invalidated)
				rpcrdma2_conn_close(conn, -EPROTO);
			rpcrdma2_recv_put(recv);
			return;
		}
	} else {
		if (!conn->terms.remote_inv)
			recv->hdr.chunks.inv_handle = 0;
		if (conn->rbsiz_max > conn->rbsiz_min)
			rpcrdma2_resize_observe(recv);
	}
	if (recv->hdr.response)
		conn->param.ops->reply(recv);
	else
		conn->param.ops->call(recv);
}

/* Most messages take no step of the handshake once the dialect is decided. */
static bool dispatch_is_settled(const struct rpcrdma2_recv *recv,
				enum rpcrdma2_hs_event event)
{
	enum rpcrdma2_hs_state state = READ_ONCE(rpcrdma2_recv_conn(recv)->negotiation.state);
	const struct rpcrdma2_hs_step *step = rpcrdma2_hs_step(state, event);

	return step->action == RPCRDMA2_HS_DELIVER && step->next == state &&
	       recv->hdr.kind != RPCRDMA2_ERROR &&
	       (!recv->invalidated || recv->hdr.response);
}

/*
 * Find the dialect to decode a message with. While WAITING, the first message decides the
 * dialect. If this end begins to ask in that moment, look again: then the message must be an
 * answer, in the dialect of the question.
 */
static const struct rpcrdma2_dialect *
dispatch_find_dialect(const struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	const struct rpcrdma2_dialect *dialect;
	enum rpcrdma2_hs_state state;
	bool waiting;

	do {
		state = READ_ONCE(conn->negotiation.state);
		waiting = state == RPCRDMA2_HS_WAITING;
		dialect = rpcrdma2_hs_dialect(state, &conn->param.dialects,
					      waiting ? NULL : conn->terms.dialect,
					      recv->buf, recv->len);
	} while (waiting && !rpcrdma2_negotiate_adopt(conn, dialect));
	return dialect;
}

static void dispatch_count_error(struct rpcrdma2_conn *conn,
				 const struct rpcrdma2_error *error)
{
	rpcrdma2_count_error(conn->stats.errors_received,
			     rpcrdma2_error_is_foreign(error) ? RDMA2_ERR_NONE :
								error->code);
}

/**
 * rpcrdma2_dispatch - handle a received message
 * @recv: the message: @recv->len octets at the start of its buffer
 *
 * Decodes the header, and hands the buffer on or gives it back.
 *
 * The protocol does not limit messages that use no credit. Yet each takes a Receive, which
 * may be shared, and perhaps an answer. So this counts all messages in a row, until
 * rpcrdma2_conn_paid() reports that one used a credit. At %MAX_UNPAID it closes the
 * connection.
 *
 * Context: CQ.
 */
void rpcrdma2_dispatch(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	const struct rpcrdma2_dialect *dialect;
	struct xdr_stream *xdr = &conn->recv_xdr;
	enum rpcrdma2_hs_event event;
	int rc;

	if (unlikely(conn->unpaid++ >= MAX_UNPAID)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return;
	}
	dialect = dispatch_find_dialect(recv);
	rpcrdma2_stream_decode(xdr, &conn->recv_xdr_buf, recv->buf, recv->len);
	recv->hdr.response = conn->ep.active;
	rc = rpcrdma2_decode(dialect, xdr, &recv->hdr);
	if (rc) {
		trace_rpcrdma2_bad_message(conn, recv->hdr.xid,
					   &recv->hdr.error);
	} else {
		recv->offset = xdr_stream_pos(xdr);
		recv->len -= recv->offset;
		if (recv->hdr.kind == RPCRDMA2_ERROR) {
			trace_rpcrdma2_error_recv(conn, recv->hdr.xid,
						  &recv->hdr.error);
			dispatch_count_error(conn, &recv->hdr.error);
		}
	}
	if (!rc && rpcrdma2_is_change(recv->hdr.kind)) {
		if (rpcrdma2_resize_receive(recv))
			return;
		recv->hdr.response = false;
		rc = rpcrdma2_refuse(&recv->hdr, RDMA2_ERR_INVAL_HTYPE);
	}
	event = rpcrdma2_hs_event(&recv->hdr, rc, &conn->param.dialects, conn->terms.dialect);
	if (dispatch_is_settled(recv, event) || rpcrdma2_negotiate_message(recv, event))
		dispatch_deliver(recv);
}
