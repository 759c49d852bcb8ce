// SPDX-License-Identifier: GPL-2.0
/*
 * The terms of a connection: limits by what both ends have said, and messages in its dialect.
 *
 * conn->ep.lock protects the limits while they change. Senders read them without it. terms.h says
 * which members only the CQ or the CM writes.
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

/*
 * Size of the peer's Receives: v2-09, 4.2.1 and 7. A peer that this end is TRYING may have
 * version 1, so use the size that every peer has.
 */
static u32 terms_peer_recv_size(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_terms *terms = &conn->terms;
	const struct rpcrdma2_dialect *dialect = terms->dialect;

	if (conn->negotiation.state == RPCRDMA2_HS_TRYING)
		return RPCRDMA2_CONNPROP_MAX;
	if (dialect->props)
		return terms->peer.rbsiz;
	return terms->have_private ? terms->peer_private.recv_size :
				     dialect->inline_default;
}

/*
 * Size of the peer's Sends, from private data (RFC 8797, 4.1): version 2 has no property for
 * it. A peer without properties may ignore the size that this end announces.
 */
static u32 terms_peer_send_size(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_terms *terms = &conn->terms;
	const struct rpcrdma2_dialect *dialect = terms->dialect;

	if (!terms->have_private)
		return dialect->inline_default;
	if (dialect->props && !terms->have_props)
		return min(terms->peer_private.send_size,
			   dialect->inline_default);
	return terms->peer_private.send_size;
}

/**
 * rpcrdma2_terms_set_recv_limit - let Replies use the present size of this end's Receives
 * @conn: the connection; the peer has been told of the size
 *
 * Does nothing while the peer's request for a lower size is pending.
 *
 * Context: Process; does not sleep. Takes conn->ep.lock.
 */
void rpcrdma2_terms_set_recv_limit(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->ep.lock);
	if (!conn->resizing.lower_to)
		WRITE_ONCE(conn->terms.recv_limit,
			   min(conn->terms.own.rbsiz,
			       terms_peer_send_size(conn)));
	spin_unlock(&conn->ep.lock);
}

/*
 * Derive the limits from what both ends have said. Never lower a limit here: properties may
 * come while RPCs flow, and senders read the limits without the lock. So a message that
 * fitted when it was built fits when it is sent.
 */
void rpcrdma2_terms_set(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_ep *ep = &conn->ep;
	struct rpcrdma2_terms *terms = &conn->terms;
	u32 limit;

	lockdep_assert_held(&ep->lock);

	limit = min(conn->param.sbsiz, terms_peer_recv_size(conn));
	limit = max(ep->limit.call, limit);
	WRITE_ONCE(ep->limit.reply, limit);
	WRITE_ONCE(ep->limit.call, limit);
	WRITE_ONCE(ep->sends.size, max(ep->sends.size, limit));
	limit = min(terms->own.rbsiz, terms_peer_send_size(conn));
	WRITE_ONCE(terms->recv_limit, max(terms->recv_limit, limit));
	if (terms->dialect->props)
		terms->remote_inv = terms->peer.remote_inv;
	else
		terms->remote_inv = terms->have_private &&
				    terms->peer_private.remote_inv;
}

/**
 * rpcrdma2_send_encode - write the header of a message
 * @send: the buffer, which is the caller's
 * @hdr: the header
 *
 * Context: Any; the buffer is the caller's.
 * Return: 0 or an error of rpcrdma2_encode()
 */
int rpcrdma2_send_encode(struct rpcrdma2_send *send,
			 const struct rpcrdma2_header *hdr)
{
	struct xdr_stream xdr __uninitialized;
	struct xdr_buf buf __uninitialized;
	int rc;

	rpcrdma2_stream_encode(&xdr, &buf, send->buf, send->size);
	rc = rpcrdma2_encode(rpcrdma2_conn_of(send->ep)->terms.dialect, &xdr, hdr);
	send->sge.length = buf.len;
	return rc;
}

/**
 * rpcrdma2_send_header - send a message that is only a header
 * @conn: the connection; the caller is between enter and exit, or is the CQ
 * @hdr: the header
 * @close_after: close the connection once the message has been sent
 *
 * Closes the connection if the message cannot be posted.
 *
 * Context: Process; does not sleep.
 * Return: 0; -ENOBUFS: there is no free Send buffer; -EMSGSIZE: the message is too long;
 *	-ENOTCONN: the connection is closing; an error of rpcrdma2_encode()
 */
int rpcrdma2_send_header(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_header *hdr, bool close_after)
{
	struct rpcrdma2_send *send;
	int rc = -ENOBUFS;

	send = rpcrdma2_send_get(&conn->ep);
	if (!send)
		goto out_close;
	rc = rpcrdma2_send_encode(send, hdr);
	if (rc)
		goto out_put;
	send->close_after = close_after;
	rpcrdma2_send_prepare(send);
	rc = rpcrdma2_send_post(send);
	if (!rc)
		return 0;
out_put:
	rpcrdma2_send_put(send);
out_close:
	rpcrdma2_conn_close(conn, rc);
	return rc;
}

/**
 * rpcrdma2_send_error - answer a Call with an RDMA2_ERROR (v2-09, 5.3.3)
 * @conn: the connection; the caller is between enter and exit, or is the CQ
 * @xid: XID of the Call
 * @vers: version of the Call
 * @error: the error
 * @close_after: close the connection once the message has been sent
 *
 * Closes the connection if the message cannot be posted.
 *
 * Context: Process; does not sleep.
 */
void rpcrdma2_send_error(struct rpcrdma2_conn *conn, u32 xid, u32 vers,
			 const struct rpcrdma2_error *error, bool close_after)
{
	struct rpcrdma2_header hdr = {
		.xid		= xid,
		.vers		= vers,
		.credit		= READ_ONCE(conn->ep.grant.now),
		.kind		= RPCRDMA2_ERROR,
		.response	= true,
		.error		= *error,
	};

	trace_rpcrdma2_error_send(conn, xid, error);
	if (rpcrdma2_send_header(conn, &hdr, close_after))
		return;
	spin_lock(&conn->ep.lock);
	rpcrdma2_count_error(conn->stats.errors_sent, error->code);
	spin_unlock(&conn->ep.lock);
}
