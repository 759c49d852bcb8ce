// SPDX-License-Identifier: GPL-2.0
/*
 * The first messages of a connection, and the sorting of all later ones: what
 * the steps of handshake.c come to.
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* The XID of a CONNPROP pairs it with its answer; no RPC is involved. */
#define CONNPROP_XID	1

static const struct rpcrdma2_dialect *dialect_of(u32 version)
{
	return version == RPCRDMA2_VERSION_1 ? &rpcrdma2_v1 : &rpcrdma2_v2_09;
}

/* v2-09, 4.2.1; RFC 8797, 4.1. There is no property for what a peer sends. */
static void set_terms(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_private_data *pd = &conn->peer_private;
	const struct rpcrdma2_dialect *dialect = conn->dialect;
	u32 peer_receives, peer_sends;

	if (dialect->connprop) {
		peer_receives = conn->peer.rbsiz;
		peer_sends = conn->have_private ? pd->send_size :
						  conn->param.rbsiz;
		conn->remote_inv = true;
	} else {
		peer_receives = conn->have_private ? pd->recv_size :
						     dialect->inline_default;
		peer_sends = conn->have_private ? pd->send_size :
						  dialect->inline_default;
		conn->remote_inv = conn->have_private && pd->remote_inv;
	}
	conn->send_limit = min(conn->param.sbsiz, peer_receives);
	conn->recv_limit = min(conn->param.rbsiz, peer_sends);
}

static void become_ready(struct rpcrdma2_conn *conn)
{
	set_terms(conn);
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_READY, 0))
		return;
	conn->was_ready = true;
	rpcrdma2_debugfs_ready(conn);
	trace_rpcrdma2_conn_ready(conn);
	conn->param.ops->ready(conn);
}

/* RPCs may flow as soon as the version is known. */
static void set_state(struct rpcrdma2_conn *conn, enum rpcrdma2_hs_state next)
{
	enum rpcrdma2_hs_state old = conn->handshake;

	if (old == next)
		return;
	conn->handshake = next;
	trace_rpcrdma2_handshake(conn, old, next);
	if (!rpcrdma2_hs_decided(next))
		return;
	conn->dialect = dialect_of(rpcrdma2_hs_version(next, 0, 0, NULL, 0));
	become_ready(conn);
}

static int send_connprop(struct rpcrdma2_conn *conn, u32 xid, bool response)
{
	struct rpcrdma2_header hdr = {
		.xid		= xid,
		.vers		= conn->dialect->version,
		.credit		= response ? conn->param.calls_in :
					     conn->param.calls_out,
		.htype		= RDMA2_CONNPROP,
		.response	= response,
		.props		= {
			.rbsiz	= conn->param.rbsiz,
			.brs	= RPCRDMA2_OFFERED_BRS,
		},
	};

	trace_rpcrdma2_connprop_send(conn, &hdr);
	return rpcrdma2_send_header(conn, &hdr, false);
}

/**
 * rpcrdma2_negotiate_start - the connection is established: speak first
 * @conn: a connection in state NEGOTIATING on the end that connected
 *
 * Process context.
 */
void rpcrdma2_negotiate_start(struct rpcrdma2_conn *conn)
{
	if (conn->param.version_high == RPCRDMA2_VERSION_1) {
		set_state(conn, RPCRDMA2_HS_VERSION_1);
		return;
	}
	set_state(conn, RPCRDMA2_HS_ASKING);
	send_connprop(conn, CONNPROP_XID, false);
}

/**
 * rpcrdma2_negotiate_lost - the connection is gone
 * @conn: a connection in teardown; its Queues are drained
 *
 * Afterwards @conn->assume_1 says whether the peer ought to be spoken to in
 * version 1. What this end itself broke off says nothing of the peer.
 */
void rpcrdma2_negotiate_lost(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_hs_step *step =
		rpcrdma2_hs_step(conn->handshake, RPCRDMA2_HS_LOST);
	int status = conn->close_status;
	bool by_peer = status == -ECONNRESET || status == -ECONNABORTED ||
		       status == -ETIMEDOUT;

	conn->assume_1 = by_peer && step->action == RPCRDMA2_HS_ASSUME_1 &&
			 conn->param.version_low == RPCRDMA2_VERSION_1;
	set_state(conn, step->next);
}

/**
 * rpcrdma2_send_error - answer a Call with an RDMA2_ERROR (v2-09, 5.3.3)
 * @conn: its connection; the caller is between enter and exit, or is the CQ
 * @xid: of the Call
 * @vers: version of the Call
 * @error: what to report
 * @close_after: close the connection when it is sent
 *
 * Process context.
 */
void rpcrdma2_send_error(struct rpcrdma2_conn *conn, u32 xid, u32 vers,
			 const struct rpcrdma2_error *error, bool close_after)
{
	struct rpcrdma2_header hdr = {
		.xid		= xid,
		.vers		= vers,
		.credit		= conn->param.calls_in,
		.htype		= RDMA2_ERROR,
		.response	= true,
		.error		= *error,
	};

	trace_rpcrdma2_error_send(conn, xid, error);
	if (rpcrdma2_send_header(conn, &hdr, close_after))
		return;
	spin_lock(&conn->lock);
	rpcrdma2_count_error(conn->stats.errors_sent, error->code);
	spin_unlock(&conn->lock);
}

/*
 * Only a Call can be answered: errors never flow from requester to responder
 * (v2-09, 5.3.3), so a bad Reply closes the connection.
 */
static void answer_error(struct rpcrdma2_recv *recv,
			 enum rpcrdma2_hs_event event)
{
	struct rpcrdma2_conn *conn = recv->conn;
	struct rpcrdma2_error *error = &recv->hdr.error;
	bool close_after = false;

	if (event == RPCRDMA2_HS_FOREIGN) {
		if (!rpcrdma2_hs_decided(conn->handshake)) {
			error->vers_low = conn->param.version_low;
			error->vers_high = conn->param.version_high;
		}
	} else if (event == RPCRDMA2_HS_MALFORMED) {
		/* A peer that cannot say its properties is not kept. */
		close_after = conn->dialect->connprop &&
			      recv->hdr.htype == RDMA2_CONNPROP;
	} else {
		error->code = RDMA2_ERR_BAD_XDR;
	}
	if (error->code == RDMA2_ERR_NONE || recv->hdr.response)
		rpcrdma2_conn_close(conn, -EPROTO);
	else
		rpcrdma2_send_error(conn, recv->hdr.xid, recv->hdr.vers, error,
				    close_after);
}

static void take_props(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	trace_rpcrdma2_connprop_recv(conn, &recv->hdr);
	conn->peer = recv->hdr.props;
	conn->have_props = true;
	conn->peer_credits = recv->hdr.credit;
	if (conn->active)
		conn->first_grant = recv->hdr.credit;
}

/* Consumes @recv. */
static void deliver(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	if (!rpcrdma2_conn_is_ready(conn)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		return;
	}
	if (recv->hdr.htype != RDMA2_ERROR && !conn->remote_inv)
		recv->hdr.chunks.inv_handle = 0;
	if (recv->hdr.response)
		conn->param.ops->reply(recv);
	else
		conn->param.ops->call(recv);
}

static int why_hang_up(enum rpcrdma2_hs_event event)
{
	switch (event) {
	case RPCRDMA2_HS_SPEAKS_1:
	case RPCRDMA2_HS_NO_VERSION:
	case RPCRDMA2_HS_ERROR:
		return -EPROTONOSUPPORT;
	default:
		return -EPROTO;
	}
}

static void take_step(struct rpcrdma2_recv *recv, enum rpcrdma2_hs_event event)
{
	struct rpcrdma2_conn *conn = recv->conn;
	const struct rpcrdma2_hs_step *step =
		rpcrdma2_hs_step(conn->handshake, event);

	/* Whose the handle of a Reply's was is for the requester to say. */
	if (recv->invalidated &&
	    (step->action != RPCRDMA2_HS_DELIVER || !recv->hdr.response)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		return;
	}
	switch (step->action) {
	case RPCRDMA2_HS_DELIVER:
		set_state(conn, step->next);
		deliver(recv);
		return;
	case RPCRDMA2_HS_ANSWER_PROPS:
		take_props(recv);
		send_connprop(conn, recv->hdr.xid, true);
		break;
	case RPCRDMA2_HS_TAKE_PROPS:
		take_props(recv);
		break;
	case RPCRDMA2_HS_ANSWER_ERROR:
		answer_error(recv, event);
		break;
	case RPCRDMA2_HS_HANG_UP:
		rpcrdma2_conn_close(conn, why_hang_up(event));
		break;
	}
	rpcrdma2_recv_put(recv);
	set_state(conn, step->next);
}

/**
 * rpcrdma2_dispatch - a message arrived
 * @recv: the message, @recv->len octets at its start
 *
 * CQ context. Decides by the header alone; hands the buffer on or back.
 */
void rpcrdma2_dispatch(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;
	const struct rpcrdma2_dialect *dialect;
	struct xdr_stream xdr;
	struct xdr_buf buf;
	int rc;

	dialect = dialect_of(rpcrdma2_hs_version(conn->handshake,
						 conn->param.version_low,
						 conn->param.version_high,
						 recv->buf, recv->len));
	/* An answer is in the dialect of the question. */
	if (conn->handshake == RPCRDMA2_HS_WAITING)
		conn->dialect = dialect;
	rpcrdma2_stream_decode(&xdr, &buf, recv->buf, recv->len);
	recv->hdr.response = conn->active;
	rc = dialect->decode(&xdr, &recv->hdr);
	if (rc) {
		trace_rpcrdma2_bad_message(conn, recv->hdr.xid,
					   &recv->hdr.error);
	} else {
		recv->offset = xdr_stream_pos(&xdr);
		recv->len -= recv->offset;
		if (recv->hdr.htype == RDMA2_ERROR) {
			trace_rpcrdma2_error_recv(conn, recv->hdr.xid,
						  &recv->hdr.error);
			rpcrdma2_count_error(conn->stats.errors_received,
					     recv->hdr.error.code);
		}
	}
	take_step(recv, rpcrdma2_hs_event(&recv->hdr, rc,
					  conn->param.version_low));
}
