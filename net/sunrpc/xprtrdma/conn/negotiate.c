// SPDX-License-Identifier: GPL-2.0
/*
 * Carries out the handshake.
 *
 * handshake.c has the table: which event leads from which state to which action. This file
 * feeds events to the table and acts. Events come from four threads: the CQ (messages), the CM
 * (established), the timer (silence) and the teardown (lost). So conn->ep.lock protects each
 * change of conn->negotiation.state. Once the dialect is decided, dispatch.c passes RPC messages
 * on without this file.
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* Pairs a CONNPROP with its answer; belongs to no RPC */
#define CONNPROP_XID	1

/*
 * The handshake has gone from @old to @next: set the terms, and make the connection READY if
 * RPCs may flow. The CQ and the timer may both be here at a time. Each uses the present
 * terms, and one of them makes the connection READY.
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
	spin_lock(&conn->ep.lock);
	rpcrdma2_terms_set(conn);
	spin_unlock(&conn->ep.lock);
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_READY,
				   rpcrdma2_heartbeat_secs(conn))) {
		if (rpcrdma2_conn_is_ready(conn))
			trace_rpcrdma2_conn_ready(conn);
		return;
	}
	conn->was_ready = true;
	conn->ready_at = jiffies;
	trace_rpcrdma2_conn_ready(conn);
	conn->param.ops->ready(conn);
}

static const struct rpcrdma2_hs_step *
negotiate_step_locked(struct rpcrdma2_conn *conn, enum rpcrdma2_hs_event event,
		      enum rpcrdma2_hs_state *old)
{
	const struct rpcrdma2_hs_step *step;

	lockdep_assert_held(&conn->ep.lock);

	*old = conn->negotiation.state;
	step = rpcrdma2_hs_step(*old, event);
	WRITE_ONCE(conn->negotiation.state, step->next);
	return step;
}

/* Take a step. Most messages change nothing once the dialect is decided, and need no lock. */
static const struct rpcrdma2_hs_step *
negotiate_step(struct rpcrdma2_conn *conn, enum rpcrdma2_hs_event event,
	       enum rpcrdma2_hs_state *old)
{
	const struct rpcrdma2_hs_step *step;

	*old = READ_ONCE(conn->negotiation.state);
	step = rpcrdma2_hs_step(*old, event);
	if (likely(step->next == *old))
		return step;
	spin_lock(&conn->ep.lock);
	step = negotiate_step_locked(conn, event, old);
	spin_unlock(&conn->ep.lock);
	return step;
}

static const struct rpcrdma2_dialect *
negotiate_next_dialect(struct rpcrdma2_conn *conn)
{
	return rpcrdma2_next_dialect(&conn->param.dialects, conn->terms.dialect, 0,
				     U32_MAX);
}

/*
 * Give the peer the default properties of the dialect until it sends its own. Without
 * properties, a dialect allows only inline Calls in the reverse direction.
 */
static void negotiate_set_dialect(struct rpcrdma2_conn *conn,
				  const struct rpcrdma2_dialect *dialect)
{
	lockdep_assert_held(&conn->ep.lock);

	conn->terms.dialect = dialect;
	if (dialect->props)
		rpcrdma2_props_init(dialect->props, &conn->terms.peer);
	else
		conn->terms.peer = (struct rpcrdma2_props){
			.brs = RDMA2_RVREQSUP_INLINE,
		};
}

static int negotiate_send_connprop(struct rpcrdma2_conn *conn, u32 xid,
				   bool response)
{
	struct rpcrdma2_header hdr = {
		.xid		= xid,
		.vers		= conn->terms.dialect->version,
		.credit		= response ? READ_ONCE(conn->ep.grant.now) :
					     conn->ep.calls_out,
		.kind		= RPCRDMA2_PROPS,
		.response	= response,
		.props		= conn->terms.own,
	};

	trace_rpcrdma2_connprop_send(conn, &hdr);
	return rpcrdma2_send_header(conn, &hdr, false);
}

/*
 * Speak @dialect from now on, and move from state @old to @next. Forget a CONNPROP of an
 * earlier dialect. Return: false if the state was no longer @old
 */
static bool negotiate_switch_dialect(struct rpcrdma2_conn *conn,
				     const struct rpcrdma2_dialect *dialect,
				     enum rpcrdma2_hs_state old,
				     enum rpcrdma2_hs_state next)
{
	bool ok;

	spin_lock(&conn->ep.lock);
	ok = conn->negotiation.state == old;
	if (ok) {
		negotiate_set_dialect(conn, dialect);
		WRITE_ONCE(conn->negotiation.connprop_out, next == RPCRDMA2_HS_ASKING);
		WRITE_ONCE(conn->negotiation.state, next);
	}
	spin_unlock(&conn->ep.lock);
	return ok;
}

/*
 * Start the handshake in @dialect. Version 1 has no CONNPROP to send. Return: false if the
 * state was no longer @old: another event came first
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
 * rpcrdma2_negotiate_start - start the handshake on the end that connected
 * @conn: a connection in state NEGOTIATING
 *
 * Context: Process: the CM's handler.
 */
void rpcrdma2_negotiate_start(struct rpcrdma2_conn *conn)
{
	if (negotiate_ask_in(conn, conn->param.dialects.dialect[0],
			     RPCRDMA2_HS_WAITING))
		return;
	/*
	 * The server's first message overtook the CM's event, when the connection could not
	 * become READY yet. Make it READY now.
	 */
	negotiate_enter_state(conn, RPCRDMA2_HS_WAITING,
			      READ_ONCE(conn->negotiation.state));
}

static void negotiate_restart_timer(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_set_timer(conn, RPCRDMA2_ANSWER_TIMEOUT_SECS * HZ);
}

/**
 * rpcrdma2_negotiate_silence - the time to answer is over
 * @conn: the connection
 * @state: the connection's state when the timer ran
 *
 * Context: The timer's work.
 */
void rpcrdma2_negotiate_silence(struct rpcrdma2_conn *conn,
				enum rpcrdma2_conn_state state)
{
	const struct rpcrdma2_hs_step *step;
	enum rpcrdma2_hs_state old;

	/*
	 * This end is sending Calls, to see whether the peer answers them. The time for that
	 * begins with the first Call.
	 */
	if (READ_ONCE(conn->negotiation.state) == RPCRDMA2_HS_TRYING &&
	    !conn->negotiation.tried) {
		conn->negotiation.tried = !conn->param.ops->is_quiet(conn);
		negotiate_restart_timer(conn);
		return;
	}
	step = negotiate_step(conn, RPCRDMA2_HS_SILENCE, &old);
	negotiate_enter_state(conn, old, step->next);
	if (step->action == RPCRDMA2_HS_ASSUME_NEXT)
		conn->negotiation.suspect = negotiate_next_dialect(conn);
	if (step->action != RPCRDMA2_HS_NOTHING)
		rpcrdma2_conn_close(conn, -ETIMEDOUT);
	else if (step->next == RPCRDMA2_HS_TRYING)
		negotiate_restart_timer(conn);
	else if (state == RPCRDMA2_CONN_READY)
		/* The answer has just come. From now on, the timer serves the heartbeat. */
		rpcrdma2_heartbeat(conn);
	else if (state == RPCRDMA2_CONN_NEGOTIATING)
		/*
		 * The CQ has taken the step, but has not made the connection READY: look
		 * again in a second.
		 */
		rpcrdma2_conn_set_timer(conn, HZ);
	else
		rpcrdma2_conn_close(conn, -ETIMEDOUT);
}

/**
 * rpcrdma2_negotiate_lost - the connection has ended: what does that say about the dialect?
 * @conn: a connection in teardown; its Queues are drained
 *
 * If the peer hung up during the handshake, sets @suspect to the dialect to try next. Only
 * the peer's hang-up counts. A failed work request, a failed device, or a close by this end
 * say nothing about the peer.
 *
 * Context: Process: the teardown.
 */
void rpcrdma2_negotiate_lost(struct rpcrdma2_conn *conn)
{
	bool by_peer = conn->close.status == -ECONNABORTED;
	const struct rpcrdma2_hs_step *step;
	enum rpcrdma2_hs_state old;

	step = negotiate_step(conn, RPCRDMA2_HS_LOST, &old);
	if (by_peer && step->action == RPCRDMA2_HS_ASSUME_NEXT)
		conn->negotiation.suspect = negotiate_next_dialect(conn);
	negotiate_enter_state(conn, old, step->next);
}

/*
 * Answer a Call with an error. A bad Reply closes the connection, as no error flows from
 * requester to responder (v2-09, 5.3.3).
 */
static void negotiate_answer_error(struct rpcrdma2_recv *recv,
				   enum rpcrdma2_hs_event event)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	struct rpcrdma2_error *error = &recv->hdr.error;
	bool close_after = false;

	if (event == RPCRDMA2_HS_FOREIGN) {
		if (!rpcrdma2_hs_decided(conn->negotiation.state))
			rpcrdma2_version_range(&conn->param.dialects,
					       &error->vers_low,
					       &error->vers_high);
	} else if (event == RPCRDMA2_HS_MALFORMED) {
		/* Without the peer's properties, the connection is of no use. */
		close_after = conn->terms.dialect->props &&
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
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	struct rpcrdma2_terms *terms = &conn->terms;

	trace_rpcrdma2_connprop_recv(conn, &recv->hdr);
	terms->peer = recv->hdr.props;
	terms->have_props = true;
	terms->peer_credits = recv->hdr.credit;
	/* In a CONNPROP that is not an answer, the credits are a request. */
	if (recv->hdr.response)
		terms->first_grant = recv->hdr.credit;
	/* A CONNPROP of the peer's own counts as an answer, too. */
	conn->negotiation.connprop_out = false;
}

/*
 * Does this error refuse this end's CONNPROP? If so, note that the CONNPROP is answered.
 * Calls may have been sent meanwhile: the error answers none of them.
 */
static bool negotiate_refuses_connprop(const struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);

	if (!READ_ONCE(conn->negotiation.connprop_out) ||
	    recv->hdr.kind != RPCRDMA2_ERROR || recv->hdr.xid != CONNPROP_XID)
		return false;
	conn->negotiation.connprop_out = false;
	return true;
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
				conn->terms.dialect);
	if (negotiate_ask_in(conn, next, old))
		return;
	conn->negotiation.assume = next;
	rpcrdma2_conn_close(conn, -EPROTONOSUPPORT);
}

/**
 * rpcrdma2_negotiate_adopt - speak the dialect of the peer's first message
 * @conn: a connection that has found its handshake WAITING
 * @dialect: the dialect
 *
 * Context: CQ.
 * Return: false if this end has begun to ask meanwhile
 */
bool rpcrdma2_negotiate_adopt(struct rpcrdma2_conn *conn,
			      const struct rpcrdma2_dialect *dialect)
{
	return negotiate_switch_dialect(conn, dialect, RPCRDMA2_HS_WAITING,
					RPCRDMA2_HS_WAITING);
}

/**
 * rpcrdma2_negotiate_message - have a message take a step of the handshake
 * @recv: the message; the caller's only if true is returned
 * @event: what it is to the handshake
 *
 * Context: CQ.
 * Return: whether the message is for the layer above
 */
bool rpcrdma2_negotiate_message(struct rpcrdma2_recv *recv,
				enum rpcrdma2_hs_event event)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	const struct rpcrdma2_hs_step *step;
	bool refused = negotiate_refuses_connprop(recv);
	enum rpcrdma2_hs_state old;

	step = negotiate_step(conn, event, &old);
	/* Only a Reply may invalidate a handle, and the requester checks which one. */
	if (recv->invalidated &&
	    (step->action != RPCRDMA2_HS_DELIVER || !recv->hdr.response ||
	     refused)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return false;
	}
	switch (step->action) {
	case RPCRDMA2_HS_DELIVER:
		if (refused)
			break;
		negotiate_enter_state(conn, old, step->next);
		return true;
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
		return false;
	case RPCRDMA2_HS_ASSUME_NEXT:
		conn->negotiation.assume =
			rpcrdma2_hs_next(event, &recv->hdr.error,
					 &conn->param.dialects, conn->terms.dialect);
		fallthrough;
	case RPCRDMA2_HS_HANG_UP:
		rpcrdma2_conn_close(conn, negotiate_hang_up_status(event));
		break;
	}
	rpcrdma2_recv_put(recv);
	negotiate_enter_state(conn, old, step->next);
	return false;
}
