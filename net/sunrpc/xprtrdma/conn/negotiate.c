// SPDX-License-Identifier: GPL-2.0
/*
 * The first messages of a connection, and the sorting of all later ones.
 *
 * The end that connected speaks first, with a CONNPROP that fits the smallest
 * Receive buffer any peer has, and sends nothing else until it is answered.
 * The other end learns from that message what its peer speaks, and answers
 * with a CONNPROP that has the RESPONSE flag, so that its credit field is a
 * grant (v2-09, 5.3.4 and 7). A peer that starts with an RPC message has the
 * default properties (v2-09, 5.3.4).
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* The XID of a CONNPROP pairs it with its answer; no RPC is involved. */
#define CONNPROP_XID	1

static void set_limits(struct rpcrdma2_conn *conn)
{
	u32 peer_sends = conn->param.rbsiz;

	if (conn->have_private)
		peer_sends = conn->peer_private.send_size;
	conn->send_limit = min(conn->param.sbsiz, conn->peer.rbsiz);
	conn->recv_limit = min(conn->param.rbsiz, peer_sends);
}

static void become_ready(struct rpcrdma2_conn *conn)
{
	set_limits(conn);
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_READY, 0))
		return;
	conn->was_ready = true;
	trace_rpcrdma2_conn_ready(conn);
	conn->param.ops->ready(conn);
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
			.brs	= RDMA2_RVREQSUP_INLINE,
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
	send_connprop(conn, CONNPROP_XID, false);
}

/**
 * rpcrdma2_answer_error - report what is wrong with a message
 * @recv: the message; stays the caller's
 * @error: what to report; RDMA2_ERR_NONE closes the connection without a word
 * @close_after: close the connection when it is sent
 *
 * Process context, between enter and exit or in the CQ. Only a Call can be
 * answered: errors never flow from requester to responder (v2-09, 5.3.3), so
 * a bad Reply closes the connection.
 */
void rpcrdma2_answer_error(struct rpcrdma2_recv *recv,
			   const struct rpcrdma2_error *error,
			   bool close_after)
{
	struct rpcrdma2_conn *conn = recv->conn;
	struct rpcrdma2_header hdr = {
		.xid		= recv->hdr.xid,
		.vers		= recv->hdr.vers,
		.credit		= conn->param.calls_in,
		.htype		= RDMA2_ERROR,
		.response	= true,
		.error		= *error,
	};

	if (error->code == RDMA2_ERR_NONE ||
	    (recv->hdr.response && recv->hdr.vers == conn->dialect->version)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		return;
	}
	trace_rpcrdma2_error_send(conn, hdr.xid, error);
	rpcrdma2_send_header(conn, &hdr, close_after);
}

static void refuse(struct rpcrdma2_recv *recv, u32 code, bool close_after)
{
	struct rpcrdma2_error error = { .code = code };

	rpcrdma2_answer_error(recv, &error, close_after);
	rpcrdma2_recv_put(recv);
}

/* Properties do not change: v2-09, 5.3.4. */
static void receive_connprop(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;
	struct rpcrdma2_header *hdr = &recv->hdr;

	trace_rpcrdma2_connprop_recv(conn, hdr);
	if (conn->got_connprop || hdr->response != conn->active ||
	    conn->state != RPCRDMA2_CONN_NEGOTIATING) {
		refuse(recv, RDMA2_ERR_BAD_XDR, false);
		return;
	}
	conn->got_connprop = true;
	conn->peer = hdr->props;
	if (conn->active)
		conn->first_grant = hdr->credit;
	else
		send_connprop(conn, hdr->xid, true);
	rpcrdma2_recv_put(recv);
	become_ready(conn);
}

static void receive_rpc(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	if (conn->state == RPCRDMA2_CONN_NEGOTIATING && !conn->active)
		become_ready(conn);
	if (!rpcrdma2_conn_is_ready(conn)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		return;
	}
	if (recv->hdr.response)
		conn->param.ops->reply(recv);
	else
		conn->param.ops->call(recv);
}

static void receive_error(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	trace_rpcrdma2_error_recv(conn, recv->hdr.xid, &recv->hdr.error);
	if (rpcrdma2_conn_is_ready(conn))
		conn->param.ops->reply(recv);
	else
		/* The peer does not speak this version, or refuses it. */
		rpcrdma2_conn_close(conn, -EPROTONOSUPPORT);
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
	struct xdr_stream xdr;
	struct xdr_buf buf;

	rpcrdma2_stream_decode(&xdr, &buf, recv->buf, recv->len);
	if (conn->dialect->decode(&xdr, &recv->hdr)) {
		/* A peer that cannot say its properties is not kept. */
		rpcrdma2_answer_error(recv, &recv->hdr.error,
				      recv->hdr.htype == RDMA2_CONNPROP);
		rpcrdma2_recv_put(recv);
		return;
	}
	recv->offset = xdr_stream_pos(&xdr);
	recv->len -= recv->offset;

	switch (recv->hdr.htype) {
	case RDMA2_CONNPROP:
		receive_connprop(recv);
		break;
	case RDMA2_ERROR:
		receive_error(recv);
		break;
	default:
		receive_rpc(recv);
	}
}
