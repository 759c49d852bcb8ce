// SPDX-License-Identifier: GPL-2.0
/*
 * The first messages of a connection, and the sorting of all later ones: what
 * the steps of handshake.c come to.
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* The XID of a CONNPROP pairs it with its answer; no RPC is involved. */
#define CONNPROP_XID	1

/* v2-09, 4.2.1 and 7. A peer of whom nothing is known may have version 1. */
static u32 negotiate_peer_recv_size(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_dialect *dialect = conn->dialect;

	if (conn->handshake == RPCRDMA2_HS_TRYING)
		return RPCRDMA2_CONNPROP_MAX;
	if (dialect->props)
		return conn->peer.rbsiz;
	return conn->have_private ? conn->peer_private.recv_size :
				    dialect->inline_default;
}

/*
 * RFC 8797, 4.1: version 2 has no property for it. A peer that says no properties may
 * not look at this end's.
 */
static u32 negotiate_peer_send_size(const struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_dialect *dialect = conn->dialect;

	if (!conn->have_private)
		return dialect->inline_default;
	if (dialect->props && !conn->have_props)
		return min(conn->peer_private.send_size,
			   dialect->inline_default);
	return conn->peer_private.send_size;
}

/**
 * rpcrdma2_negotiate_recv_limit - the size of this end's Receive buffers is another
 * @conn: the connection; the peer has been told
 */
void rpcrdma2_negotiate_recv_limit(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->lock);
	if (!conn->resizing.lower_to)
		WRITE_ONCE(conn->recv_limit,
			   min(conn->own.rbsiz,
			       negotiate_peer_send_size(conn)));
	spin_unlock(&conn->lock);
}

/*
 * Properties may come when RPCs flow, and their senders look at the limits without a
 * lock: these are not lowered, so what fits once will do so when it is sent.
 */
static void negotiate_set_terms(struct rpcrdma2_conn *conn)
{
	u32 limit;

	lockdep_assert_held(&conn->lock);

	limit = min(conn->param.sbsiz, negotiate_peer_recv_size(conn));
	limit = max(conn->send_limit, limit);
	WRITE_ONCE(conn->send_max, limit);
	WRITE_ONCE(conn->send_limit, limit);
	WRITE_ONCE(conn->send_size, max(conn->send_size, limit));
	limit = min(conn->own.rbsiz, negotiate_peer_send_size(conn));
	WRITE_ONCE(conn->recv_limit, max(conn->recv_limit, limit));
	if (conn->dialect->props)
		conn->remote_inv = conn->peer.remote_inv;
	else
		conn->remote_inv = conn->have_private &&
				   conn->peer_private.remote_inv;
}

/*
 * The handshake takes a step; this end has become @conn->dialect's, or has heard of
 * properties. The timer may be at it as well as the CQ: each looks at what holds now.
 */
static void negotiate_enter_state(struct rpcrdma2_conn *conn,
				  enum rpcrdma2_hs_state old,
				  enum rpcrdma2_hs_state next)
{
	if (old == next)
		return;
	trace_rpcrdma2_handshake(conn, old, next);
	if (!rpcrdma2_hs_calls(next))
		return;
	spin_lock(&conn->lock);
	negotiate_set_terms(conn);
	spin_unlock(&conn->lock);
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_READY,
				   rpcrdma2_heartbeat_secs(conn))) {
		if (rpcrdma2_conn_is_ready(conn))
			trace_rpcrdma2_conn_ready(conn);
		return;
	}
	conn->was_ready = true;
	rpcrdma2_debugfs_ready(conn);
	trace_rpcrdma2_conn_ready(conn);
	conn->param.ops->ready(conn);
}

static const struct rpcrdma2_hs_step *
negotiate_step_locked(struct rpcrdma2_conn *conn, enum rpcrdma2_hs_event event,
		      enum rpcrdma2_hs_state *old)
{
	const struct rpcrdma2_hs_step *step;

	lockdep_assert_held(&conn->lock);

	*old = conn->handshake;
	step = rpcrdma2_hs_step(*old, event);
	WRITE_ONCE(conn->handshake, step->next);
	return step;
}

/*
 * The CQ, the CM and the timer take steps, so each change of state is made under the
 * lock. Most messages change nothing once the dialect is decided, and take no lock.
 */
static const struct rpcrdma2_hs_step *
negotiate_step(struct rpcrdma2_conn *conn, enum rpcrdma2_hs_event event,
	       enum rpcrdma2_hs_state *old)
{
	const struct rpcrdma2_hs_step *step;

	*old = READ_ONCE(conn->handshake);
	step = rpcrdma2_hs_step(*old, event);
	if (likely(step->next == *old))
		return step;
	spin_lock(&conn->lock);
	step = negotiate_step_locked(conn, event, old);
	spin_unlock(&conn->lock);
	return step;
}

static const struct rpcrdma2_dialect *
negotiate_next_dialect(struct rpcrdma2_conn *conn)
{
	return rpcrdma2_next_dialect(&conn->param.dialects, conn->dialect, 0,
				     U32_MAX);
}

/*
 * Until the peer says its properties, it has the defaults of the dialect. A dialect
 * without properties has callbacks without chunks, and nothing else.
 */
static void negotiate_set_dialect(struct rpcrdma2_conn *conn,
				  const struct rpcrdma2_dialect *dialect)
{
	lockdep_assert_held(&conn->lock);

	conn->dialect = dialect;
	if (dialect->props)
		rpcrdma2_props_init(dialect->props, &conn->peer);
	else
		conn->peer = (struct rpcrdma2_props){
			.brs = RDMA2_RVREQSUP_INLINE,
		};
}

static int negotiate_send_connprop(struct rpcrdma2_conn *conn, u32 xid,
				   bool response)
{
	struct rpcrdma2_header hdr = {
		.xid		= xid,
		.vers		= conn->dialect->version,
		.credit		= response ? READ_ONCE(conn->grant_out) :
					     conn->calls_out,
		.kind		= RPCRDMA2_PROPS,
		.response	= response,
		.props		= conn->own,
	};

	trace_rpcrdma2_connprop_send(conn, &hdr);
	return rpcrdma2_send_header(conn, &hdr, false);
}

/*
 * Speak @dialect from now on, and move from state @old to @next. A CONNPROP of an
 * earlier dialect is forgotten.
 * Return: false if the state was no longer @old
 */
static bool negotiate_switch_dialect(struct rpcrdma2_conn *conn,
				     const struct rpcrdma2_dialect *dialect,
				     enum rpcrdma2_hs_state old,
				     enum rpcrdma2_hs_state next)
{
	bool ok;

	spin_lock(&conn->lock);
	ok = conn->handshake == old;
	if (ok) {
		negotiate_set_dialect(conn, dialect);
		WRITE_ONCE(conn->connprop_out, next == RPCRDMA2_HS_ASKING);
		WRITE_ONCE(conn->handshake, next);
	}
	spin_unlock(&conn->lock);
	return ok;
}

/*
 * In version 1 there is nothing to ask. Return: false if the timer has begun to send
 * Calls in another dialect
 */
static bool negotiate_ask_in(struct rpcrdma2_conn *conn,
			     const struct rpcrdma2_dialect *dialect,
			     enum rpcrdma2_hs_state old)
{
	enum rpcrdma2_hs_state next = rpcrdma2_hs_start(dialect);

	if (!negotiate_switch_dialect(conn, dialect, old, next))
		return false;
	negotiate_enter_state(conn, old, next);
	if (next == RPCRDMA2_HS_ASKING)
		negotiate_send_connprop(conn, CONNPROP_XID, false);
	return true;
}

/**
 * rpcrdma2_negotiate_start - the connection is established: speak first
 * @conn: a connection in state NEGOTIATING on the end that connected
 *
 * Process context.
 */
void rpcrdma2_negotiate_start(struct rpcrdma2_conn *conn)
{
	if (negotiate_ask_in(conn, conn->param.dialects.dialect[0],
			     RPCRDMA2_HS_WAITING))
		return;
	/* The server spoke before the CM did, when it was too early to be READY. */
	negotiate_enter_state(conn, RPCRDMA2_HS_WAITING,
			      READ_ONCE(conn->handshake));
}

static void negotiate_restart_timer(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_set_timer(conn, RPCRDMA2_ANSWER_TIMEOUT_SECS * HZ);
}

/**
 * rpcrdma2_negotiate_silence - the peer had its time to answer
 * @conn: the connection
 * @state: in which that time went by
 *
 * The timer's; process context.
 */
void rpcrdma2_negotiate_silence(struct rpcrdma2_conn *conn,
				enum rpcrdma2_conn_state state)
{
	const struct rpcrdma2_hs_step *step;
	enum rpcrdma2_hs_state old;

	/* The peer has as much time for a Call, once a Call is out. */
	if (READ_ONCE(conn->handshake) == RPCRDMA2_HS_TRYING &&
	    !conn->tried) {
		conn->tried = !conn->param.ops->is_quiet(conn);
		negotiate_restart_timer(conn);
		return;
	}
	step = negotiate_step(conn, RPCRDMA2_HS_SILENCE, &old);
	negotiate_enter_state(conn, old, step->next);
	if (step->action == RPCRDMA2_HS_ASSUME_NEXT)
		conn->suspect = negotiate_next_dialect(conn);
	if (step->action != RPCRDMA2_HS_NOTHING)
		rpcrdma2_conn_close(conn, -ETIMEDOUT);
	else if (step->next == RPCRDMA2_HS_TRYING)
		negotiate_restart_timer(conn);
	else if (state == RPCRDMA2_CONN_READY)
		/* The answer came just now. The timer goes on as another one. */
		rpcrdma2_heartbeat(conn);
	else if (state == RPCRDMA2_CONN_NEGOTIATING)
		/* ... so much so that whoever took it may have yet to make it READY. */
		rpcrdma2_conn_set_timer(conn, HZ);
	else
		rpcrdma2_conn_close(conn, -ETIMEDOUT);
}

/**
 * rpcrdma2_negotiate_lost - the connection is gone
 * @conn: a connection in teardown; its Queues are drained
 *
 * Afterwards @conn->suspect is the dialect to try next if the peer hung up, and
 * does so again. A failed work request, a device that fails and what this end itself
 * broke off say nothing of the peer.
 */
void rpcrdma2_negotiate_lost(struct rpcrdma2_conn *conn)
{
	bool by_peer = conn->close_status == -ECONNABORTED;
	const struct rpcrdma2_hs_step *step;
	enum rpcrdma2_hs_state old;

	step = negotiate_step(conn, RPCRDMA2_HS_LOST, &old);
	if (by_peer && step->action == RPCRDMA2_HS_ASSUME_NEXT)
		conn->suspect = negotiate_next_dialect(conn);
	negotiate_enter_state(conn, old, step->next);
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
		.credit		= READ_ONCE(conn->grant_out),
		.kind		= RPCRDMA2_ERROR,
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
static void negotiate_answer_error(struct rpcrdma2_recv *recv,
				   enum rpcrdma2_hs_event event)
{
	struct rpcrdma2_conn *conn = recv->conn;
	struct rpcrdma2_error *error = &recv->hdr.error;
	bool close_after = false;

	if (event == RPCRDMA2_HS_FOREIGN) {
		if (!rpcrdma2_hs_decided(conn->handshake))
			rpcrdma2_version_range(&conn->param.dialects,
					       &error->vers_low,
					       &error->vers_high);
	} else if (event == RPCRDMA2_HS_MALFORMED) {
		/* A peer that cannot say its properties is not kept. */
		close_after = conn->dialect->props &&
			      recv->hdr.kind == RPCRDMA2_PROPS;
	} else if (event != RPCRDMA2_HS_UNKNOWN) {
		error->code = RDMA2_ERR_BAD_XDR;
	}
	if (error->code == RDMA2_ERR_NONE || recv->hdr.response)
		rpcrdma2_conn_close(conn, -EPROTO);
	else
		rpcrdma2_send_error(conn, recv->hdr.xid, recv->hdr.vers, error,
				    close_after);
}

static void negotiate_take_props(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	trace_rpcrdma2_connprop_recv(conn, &recv->hdr);
	conn->peer = recv->hdr.props;
	conn->have_props = true;
	conn->peer_credits = recv->hdr.credit;
	/* In a CONNPROP of the peer's own, the credits are what the peer asks for. */
	if (recv->hdr.response)
		conn->first_grant = recv->hdr.credit;
	/* Either one stands for the answer. */
	conn->connprop_out = false;
}

/* When Calls have been sent in spite of it, too: that answers none of them. */
static bool negotiate_refuses_connprop(const struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	if (!READ_ONCE(conn->connprop_out) ||
	    recv->hdr.kind != RPCRDMA2_ERROR || recv->hdr.xid != CONNPROP_XID)
		return false;
	conn->connprop_out = false;
	return true;
}

/* Consumes @recv. */
static void dispatch_deliver(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	if (!rpcrdma2_conn_is_ready(conn)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return;
	}
	if (recv->hdr.kind == RPCRDMA2_ERROR) {
		if (rpcrdma2_resize_refused(conn, &recv->hdr)) {
			/* No RPC's: there is nobody who would know the handle. */
			if (recv->invalidated)
				rpcrdma2_conn_close(conn, -EPROTO);
			rpcrdma2_recv_put(recv);
			return;
		}
	} else {
		if (!conn->remote_inv)
			recv->hdr.chunks.inv_handle = 0;
		if (conn->rbsiz_max > conn->rbsiz_min)
			rpcrdma2_resize_observe(recv);
	}
	if (recv->hdr.response)
		conn->param.ops->reply(recv);
	else
		conn->param.ops->call(recv);
}

static int negotiate_hang_up_status(enum rpcrdma2_hs_event event)
{
	switch (event) {
	case RPCRDMA2_HS_SPEAKS_OTHER:
	case RPCRDMA2_HS_NO_VERSION:
	case RPCRDMA2_HS_ERROR:
		return -EPROTONOSUPPORT;
	default:
		return -EPROTO;
	}
}

static void negotiate_ask_next(struct rpcrdma2_conn *conn,
			       enum rpcrdma2_hs_event event,
			       const struct rpcrdma2_error *error,
			       enum rpcrdma2_hs_state old)
{
	const struct rpcrdma2_dialect *next;

	next = rpcrdma2_hs_next(event, error, &conn->param.dialects,
				conn->dialect);
	if (negotiate_ask_in(conn, next, old))
		return;
	conn->assume = next;
	rpcrdma2_conn_close(conn, -EPROTONOSUPPORT);
}

static void dispatch_take_step(struct rpcrdma2_recv *recv,
			       enum rpcrdma2_hs_event event)
{
	struct rpcrdma2_conn *conn = recv->conn;
	const struct rpcrdma2_hs_step *step;
	bool refused = negotiate_refuses_connprop(recv);
	enum rpcrdma2_hs_state old;

	step = negotiate_step(conn, event, &old);
	/* Whose the handle of a Reply's was is for the requester to say. */
	if (recv->invalidated &&
	    (step->action != RPCRDMA2_HS_DELIVER || !recv->hdr.response ||
	     refused)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return;
	}
	switch (step->action) {
	case RPCRDMA2_HS_DELIVER:
		if (refused)
			break;
		negotiate_enter_state(conn, old, step->next);
		dispatch_deliver(recv);
		return;
	case RPCRDMA2_HS_ANSWER_PROPS:
		negotiate_take_props(recv);
		negotiate_send_connprop(conn, recv->hdr.xid, true);
		break;
	case RPCRDMA2_HS_TAKE_PROPS:
		negotiate_take_props(recv);
		break;
	case RPCRDMA2_HS_ANSWER_ERROR:
		negotiate_answer_error(recv, event);
		break;
	case RPCRDMA2_HS_ASK_NEXT:
		negotiate_ask_next(conn, event, &recv->hdr.error, old);
		rpcrdma2_recv_put(recv);
		return;
	case RPCRDMA2_HS_ASSUME_NEXT:
		conn->assume = rpcrdma2_hs_next(event, &recv->hdr.error,
						&conn->param.dialects,
						conn->dialect);
		fallthrough;
	case RPCRDMA2_HS_HANG_UP:
		rpcrdma2_conn_close(conn, negotiate_hang_up_status(event));
		break;
	}
	rpcrdma2_recv_put(recv);
	negotiate_enter_state(conn, old, step->next);
}

/*
 * Whose a message is. An answer is in the dialect of the question, which the first message
 * is, unless this end begins to ask just then.
 */
static const struct rpcrdma2_dialect *
dispatch_find_dialect(const struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;
	const struct rpcrdma2_dialect *dialect;
	enum rpcrdma2_hs_state state;
	bool asked;

	do {
		state = READ_ONCE(conn->handshake);
		asked = state == RPCRDMA2_HS_WAITING;
		dialect = rpcrdma2_hs_dialect(state, &conn->param.dialects,
					      asked ? NULL : conn->dialect,
					      recv->buf, recv->len);
	} while (asked &&
		 !negotiate_switch_dialect(conn, dialect, state, state));
	return dialect;
}

/* The number of another text's error stands for something else here. */
static void dispatch_count_error(struct rpcrdma2_conn *conn,
				 const struct rpcrdma2_error *error)
{
	bool is_ours = !error->bare || error->code == RDMA2_ERR_VERS;

	rpcrdma2_count_error(conn->stats.errors_received,
			     is_ours ? error->code : RDMA2_ERR_NONE);
}

/**
 * rpcrdma2_dispatch - a message arrived
 * @recv: the message, @recv->len octets at its start
 *
 * CQ context. Decides by the header alone; hands the buffer on or back.
 *
 * Nothing in the protocol limits messages that use no credit, and each one takes a Receive
 * that others may share, and perhaps an answer. So each message counts, whatever is in it,
 * until whoever takes it says that it used a credit (rpcrdma2_conn_paid()).
 */
void rpcrdma2_dispatch(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;
	const struct rpcrdma2_dialect *dialect;
	struct xdr_stream *xdr = &conn->recv_xdr;
	int rc;

	if (unlikely(conn->unpaid++ >= RPCRDMA2_MAX_UNPAID)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return;
	}
	dialect = dispatch_find_dialect(recv);
	rpcrdma2_stream_decode(xdr, &conn->recv_xdr_buf, recv->buf, recv->len);
	recv->hdr.response = conn->active;
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
	dispatch_take_step(recv, rpcrdma2_hs_event(&recv->hdr, rc,
						   &conn->param.dialects,
						   conn->dialect));
}
