// SPDX-License-Identifier: GPL-2.0
/*
 * Connection manager (CM) events: connects, accepts, and moves connections from state to
 * state.
 *
 * The end that connects goes from event to event: each handler starts the next step and
 * returns. The end that accepts waits for the layer above: rpcrdma2_conn_adopt(), then
 * rpcrdma2_conn_accept().
 *
 * Event handlers run in CM context, which all users of RDMA share. So steps that wait for a
 * device or for memory run elsewhere: in the client's connector thread, or in the workqueue
 * of accepts.
 */
#include <linux/sched/signal.h>
#include <rdma/ib_cm.h>

#include "conn.h"

#include <trace/events/rpcrdma2.h>

#define RESOLVE_TIMEOUT_MS	5000
#define RESOLVE_TIMEOUT_SECS	(RESOLVE_TIMEOUT_MS / 1000 + 1)

/*
 * TCP, below iWARP, sends its SYN after 0, 1, 3, 7, 15 and 31 s. Rather than wait for the
 * last one, connect anew. On RoCE, the CM repeats its request every 8 s.
 */
#define CONNECT_TIMEOUT_SECS	15
#define ACCEPT_TIMEOUT_SECS	30

/* A client of version 1 is silent until it has a Call to send. */
#define SPEAK_TIMEOUT_SECS	30
/*
 * A client that connects in order to send a Call does so at once. The time suffices for the
 * CM on RoCE to repeat a reply that was lost.
 */
#define SPEAK_HURRY_SECS	5

/* RDMA Reads that may be out at a time, in each direction */
#define MAX_READS		32

/* A peer that finds no Receive waits for 1.28 ms, and tries again without limit. */
#define RNR_TIMER		14
#define RNR_RETRY_FOREVER	7

static void cm_make_private_data(const struct rpcrdma2_conn *conn, u8 *buf)
{
	struct rpcrdma2_private_data pd = {
		.remote_inv	= true,
		.send_size	= conn->param.sbsiz,
		.recv_size	= conn->rbsiz_min,
	};

	rpcrdma2_encode_private_data(buf, &pd);
}

static void cm_keep_private_data(struct rpcrdma2_conn *conn,
				 const struct rdma_conn_param *param)
{
	conn->terms.have_private =
		rpcrdma2_decode_private_data(param->private_data,
					     param->private_data_len,
					     &conn->terms.peer_private);
	trace_rpcrdma2_private_data(conn);
}

static void cm_fill_conn_param(const struct rpcrdma2_conn *conn,
			       struct rdma_conn_param *param, u8 *private_data)
{
	cm_make_private_data(conn, private_data);
	param->private_data = private_data;
	param->private_data_len = RPCRDMA2_PRIVATE_DATA_LEN;
	param->retry_count = 6;
	/*
	 * A peer always finds a Receive that is not shared (recv_pool.c): retries would only
	 * hide a mistake. Shared Receives may run out (srq.c).
	 */
	param->rnr_retry_count = conn->ep.srq ? RNR_RETRY_FOREVER : 0;
}

static int cm_handle_addr_resolved(struct rpcrdma2_conn *conn)
{
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_ROUTING,
				   RESOLVE_TIMEOUT_SECS))
		return 0;
	return rdma_resolve_route(conn->ep.cm_id, RESOLVE_TIMEOUT_MS);
}

/*
 * Connect in the connector thread. CM context would not do: siw sleeps until TCP has
 * connected or given up, while all users of RDMA wait for their routes. rpcrdma2_wq would not
 * do: its threads take no signals, which end a connect.
 */
static int cm_handle_route_resolved(struct rpcrdma2_conn *conn)
{
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_CONNECTING,
				   CONNECT_TIMEOUT_SECS))
		return 0;
	rpcrdma2_conn_get(conn);
	kthread_queue_work(conn->param.connector, &conn->cm.connect_work);
	return 0;
}

/*
 * rpcrdma2_conn_close() sets CLOSING, then signals @connecting. Both happen under the lock.
 * So either this function sees CLOSING, or the signal reaches this thread.
 */
static bool cm_interruptible_begin(struct rpcrdma2_conn *conn)
{
	bool ok;

	allow_kernel_signal(SIGKILL);
	spin_lock(&conn->ep.lock);
	ok = conn->state == RPCRDMA2_CONN_CONNECTING;
	if (ok)
		conn->cm.connecting = current;
	spin_unlock(&conn->ep.lock);
	return ok;
}

static void cm_interruptible_end(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->ep.lock);
	conn->cm.connecting = NULL;
	spin_unlock(&conn->ep.lock);
	flush_signals(current);
}

static u8 cm_limit_reads(int device, u32 wanted)
{
	return min3((u32)device, wanted, (u32)MAX_READS);
}

/* RDMA Reads that this end wants to have out at a time, if it connects */
static u8 cm_wanted_reads(const struct rpcrdma2_conn *conn)
{
	return rpcrdma2_conn_moves_data(conn) ? MAX_READS :
						rpcrdma2_heartbeat_reads(conn);
}

/* Get all that RPCs need, for the QP and for the roles: later there may be no memory. */
static int cm_provide_resources(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_srq *srq;
	int rc;

	rc = rpcrdma2_qp_open(&conn->ep);
	if (rc)
		return rc;
	srq = conn->ep.srq;
	if (srq)
		rpcrdma2_conn_set_size(conn, srq->size, srq->size);
	rpcrdma2_heartbeat_init(conn);
	rc = rpcrdma2_qp_create(&conn->ep);
	if (!rc && conn->param.ops->prepare)
		rc = conn->param.ops->prepare(conn);
	return rc;
}

/*
 * A client answers RDMA Reads. It makes RDMA Reads only if Calls with chunks may come, or if
 * its heartbeats are RDMA Reads.
 */
static int cm_connect(struct rpcrdma2_conn *conn)
{
	u8 private_data[RPCRDMA2_PRIVATE_DATA_LEN];
	struct rdma_conn_param param = { };
	const struct ib_device_attr *attrs;
	int rc;

	rc = cm_provide_resources(conn);
	if (rc)
		return rc;
	cm_fill_conn_param(conn, &param, private_data);
	attrs = &conn->ep.cm_id->device->attrs;
	param.responder_resources =
		cm_limit_reads(attrs->max_qp_rd_atom, MAX_READS);
	param.initiator_depth = cm_limit_reads(attrs->max_qp_init_rd_atom,
					       cm_wanted_reads(conn));
	if (!cm_interruptible_begin(conn))
		return -ENOTCONN;
	rc = rdma_connect(conn->ep.cm_id, &param);
	cm_interruptible_end(conn);
	WRITE_ONCE(conn->ep.connected, !rc);
	return rc;
}

/* If the client may make no RDMA Reads, the server's Calls must have no chunks. */
static void cm_limit_reverse(struct rpcrdma2_conn *conn, unsigned int reads)
{
	if (!reads)
		conn->terms.own.brs = min_t(u32, conn->terms.own.brs,
					    RDMA2_RVREQSUP_INLINE);
}

/*
 * A server makes as many RDMA Reads as its peer answers. It answers RDMA Reads if its own
 * Calls may have chunks and the peer wants that, or if the peer's heartbeats are RDMA Reads.
 */
static int cm_accept(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_ep *ep = &conn->ep;
	u8 private_data[RPCRDMA2_PRIVATE_DATA_LEN];
	u8 secs = READ_ONCE(conn->cm.speak_secs);
	struct rdma_conn_param param = { };
	int rc;

	/* This end could not read the peer's Read chunks. */
	if (!conn->cm.max_reads_out)
		return -EPROTO;
	rc = cm_provide_resources(conn);
	if (!rc && ep->srq)
		rc = rdma_set_min_rnr_timer(ep->cm_id, RNR_TIMER);
	if (rc)
		return rc;
	cm_fill_conn_param(conn, &param, private_data);
	param.initiator_depth = conn->cm.max_reads_out;
	param.responder_resources =
		conn->terms.own.brs == RDMA2_RVREQSUP_GENL ? conn->cm.max_reads_in :
		min(conn->cm.max_reads_in, rpcrdma2_heartbeat_reads(conn));
	cm_limit_reverse(conn, param.responder_resources);
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_NEGOTIATING, secs))
		return -ENOTCONN;
	/* If rpcrdma2_conn_hurry() came before that, there was no timer to set. */
	if (READ_ONCE(conn->cm.speak_secs) != secs)
		rpcrdma2_conn_hurry(conn);
	rdma_lock_handler(ep->cm_id);
	rc = rdma_accept(ep->cm_id, &param);
	rdma_unlock_handler(ep->cm_id);
	WRITE_ONCE(ep->connected, !rc);
	return rc;
}

/*
 * Accepts wait for memory and for devices, and can occupy a whole workqueue. So they have one
 * of their own: works that free memory, or that others wait for, must not queue behind them.
 */
static struct workqueue_struct *accept_wq;

/**
 * rpcrdma2_accept_setup - module initialisation
 *
 * Context: Process; sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_accept_setup(void)
{
	accept_wq = alloc_workqueue("rpcrdma2_accept", WQ_UNBOUND, 0);
	return accept_wq ? 0 : -ENOMEM;
}

/**
 * rpcrdma2_accept_cleanup - module removal
 *
 * Context: Process; sleeps until no accept is under way.
 */
void rpcrdma2_accept_cleanup(void)
{
	destroy_workqueue(accept_wq);
}

/*
 * On iWARP, rdma_cm swaps the two depths in this event, but not in a request. Some drivers
 * swap them once more. So take the smaller one.
 */
static void cm_keep_read_depth(struct rpcrdma2_conn *conn,
			       const struct rdma_conn_param *param)
{
	const struct rdma_cm_id *cm_id = conn->ep.cm_id;
	bool iwarp = rdma_protocol_iwarp(cm_id->device, cm_id->port_num);
	u8 reads = param->initiator_depth;

	if (iwarp)
		reads = min(reads, param->responder_resources);
	conn->cm.max_reads_out =
		cm_limit_reads(cm_id->device->attrs.max_qp_init_rd_atom,
			       min(reads, cm_wanted_reads(conn)));
	cm_limit_reverse(conn, conn->cm.max_reads_out);
}

static void cm_handle_established(struct rpcrdma2_conn *conn,
				  struct rdma_cm_event *event)
{
	if (!conn->ep.active)
		return;
	cm_keep_private_data(conn, &event->param.conn);
	cm_keep_read_depth(conn, &event->param.conn);
	if (rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_NEGOTIATING,
				  RPCRDMA2_ANSWER_TIMEOUT_SECS))
		rpcrdma2_negotiate_start(conn);
}

/*
 * -ECONNREFUSED says that no service wants the connection. iWARP reports no reason: a peer
 * that rejects gives -ECONNREFUSED, an unreachable one another event.
 */
static int cm_reject_status(const struct rdma_cm_id *cm_id, int reason)
{
	if (rdma_protocol_iwarp(cm_id->device, cm_id->port_num))
		return -ECONNREFUSED;
	switch (reason) {
	case IB_CM_REJ_INVALID_SERVICE_ID:
	case IB_CM_REJ_CONSUMER_DEFINED:
		return -ECONNREFUSED;
	case IB_CM_REJ_TIMEOUT:
		return -ETIMEDOUT;
	case IB_CM_REJ_STALE_CONN:
	case IB_CM_REJ_DUPLICATE_LOCAL_COMM_ID:
		return -EADDRINUSE;
	default:
		return -EREMOTEIO;
	}
}

static int cm_handle_reject(struct rpcrdma2_conn *conn, int reason)
{
	conn->cm.reject = reason;
	return cm_reject_status(conn->ep.cm_id, reason);
}

/* -ECONNABORTED means that the peer hung up, which may count as an answer: see negotiate.c. */
static int cm_event_status(struct rpcrdma2_conn *conn,
			   const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return -EHOSTUNREACH;
	case RDMA_CM_EVENT_UNREACHABLE:
		return -ETIMEDOUT;
	case RDMA_CM_EVENT_REJECTED:
		return cm_handle_reject(conn, event->status);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return -ENODEV;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return -EADDRNOTAVAIL;
	default:
		/* Not -ENOTCONN: sunrpc would try again at once. */
		return -ECONNABORTED;
	}
}

static int cm_handle_event(struct rpcrdma2_conn *conn,
			   struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return cm_handle_addr_resolved(conn);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return cm_handle_route_resolved(conn);
	case RDMA_CM_EVENT_ESTABLISHED:
		cm_handle_established(conn, event);
		return 0;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return 0;
	default:
		return cm_event_status(conn, event);
	}
}

/*
 * Context: CM, with the id's handler mutex held. So this function cannot destroy the id. The
 *	teardown does.
 */
static int cm_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct rpcrdma2_conn *conn = cm_id->context;
	struct rpcrdma2_memalloc saved;
	int rc;

	trace_rpcrdma2_cm_event(conn, event);
	if (!rpcrdma2_ep_enter(&conn->ep))
		return 0;
	saved = rpcrdma2_memalloc_save(conn->param.swapper);
	rc = cm_handle_event(conn, event);
	rpcrdma2_memalloc_restore(saved);
	if (rc)
		rpcrdma2_conn_close(conn, rc);
	rpcrdma2_ep_exit(&conn->ep);
	return 0;
}

/* The route is resolved. In the client's thread; may sleep for long. The work has a reference. */
static void cm_connect_work(struct kthread_work *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  cm.connect_work);
	struct rpcrdma2_memalloc saved =
		rpcrdma2_memalloc_save(conn->param.swapper);
	int rc;

	if (rpcrdma2_ep_enter(&conn->ep)) {
		rc = cm_connect(conn);
		if (rc)
			rpcrdma2_conn_close(conn, rc);
		rpcrdma2_ep_exit(&conn->ep);
	}
	rpcrdma2_memalloc_restore(saved);
	rpcrdma2_conn_put(conn);
}

static int cm_start_connect(struct rpcrdma2_conn *conn, struct sockaddr *src,
			    struct sockaddr *dst)
{
	struct rdma_cm_id *cm_id;

	trace_rpcrdma2_conn_new(conn, dst);
	cm_id = rdma_create_id(conn->param.net, cm_event, conn, RDMA_PS_TCP,
			       IB_QPT_RC);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	conn->ep.cm_id = cm_id;
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_RESOLVING,
				   RESOLVE_TIMEOUT_SECS))
		return -ENOTCONN;
	return rdma_resolve_addr(cm_id, src, dst, RESOLVE_TIMEOUT_MS);
}

/**
 * rpcrdma2_conn_connect - start to connect
 * @conn: a connection in state NEW, with its parameters
 * @src: local address, or NULL for any
 * @dst: address and port of the peer
 *
 * The ready op or the closing op reports the outcome.
 *
 * Context: Process; may sleep.
 * Return: 0, or negative errno: the connection is closing
 */
int rpcrdma2_conn_connect(struct rpcrdma2_conn *conn, struct sockaddr *src,
			  struct sockaddr *dst)
{
	int rc;

	if (!rpcrdma2_ep_enter(&conn->ep))
		return -ENOTCONN;
	kthread_init_work(&conn->cm.connect_work, cm_connect_work);
	rc = cm_start_connect(conn, src, dst);
	if (rc)
		rpcrdma2_conn_close(conn, rc);
	rpcrdma2_ep_exit(&conn->ep);
	return rc;
}

/* The work has a reference, and may sleep for long. */
static void cm_accept_work(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  cm.accept_work);
	unsigned int nofs;
	int rc;

	if (rpcrdma2_ep_enter(&conn->ep)) {
		nofs = memalloc_nofs_save();
		rc = cm_accept(conn);
		memalloc_nofs_restore(nofs);
		if (rc)
			rpcrdma2_conn_close(conn, rc);
		rpcrdma2_ep_exit(&conn->ep);
	}
	rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_conn_request - turn a peer's request into a connection
 * @cm_id: id that the CM made for the request
 * @event: the request
 *
 * Context: CM.
 * Return: the connection, with one reference, in state ACCEPTING, which owns @cm_id; NULL
 *	without memory
 */
struct rpcrdma2_conn *rpcrdma2_conn_request(struct rdma_cm_id *cm_id,
					    struct rdma_cm_event *event)
{
	struct rpcrdma2_conn *conn;

	conn = rpcrdma2_conn_alloc(NULL, GFP_KERNEL);
	if (!conn)
		return NULL;
	INIT_WORK(&conn->cm.accept_work, cm_accept_work);
	conn->ep.cm_id = cm_id;
	cm_id->context = conn;
	cm_id->event_handler = cm_event;
	trace_rpcrdma2_conn_new(conn,
				(struct sockaddr *)&cm_id->route.addr.dst_addr);
	cm_keep_private_data(conn, &event->param.conn);
	conn->cm.max_reads_out =
		cm_limit_reads(cm_id->device->attrs.max_qp_init_rd_atom,
			       event->param.conn.initiator_depth);
	conn->cm.max_reads_in =
		cm_limit_reads(cm_id->device->attrs.max_qp_rd_atom,
			       event->param.conn.responder_resources);
	conn->cm.speak_secs = SPEAK_TIMEOUT_SECS;
	rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_ACCEPTING,
			      ACCEPT_TIMEOUT_SECS);
	return conn;
}

/**
 * rpcrdma2_conn_adopt - give an incoming connection its parameters
 * @conn: a connection that the incoming op of a listener received
 * @param: the parameters
 *
 * Context: Process; does not sleep. Takes conn->ep.lock.
 * Return: true: conn/ calls @param->ops from now on; false: the connection is closing, and
 *	conn/ never calls them
 */
bool rpcrdma2_conn_adopt(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_conn_param *param)
{
	bool ok;

	spin_lock(&conn->ep.lock);
	ok = conn->state == RPCRDMA2_CONN_ACCEPTING;
	if (ok)
		rpcrdma2_conn_set_param(conn, param);
	spin_unlock(&conn->ep.lock);
	return ok;
}

/**
 * rpcrdma2_conn_accept - start to accept a peer
 * @conn: an adopted connection; the caller has a reference
 *
 * The ready op or the closing op reports the outcome.
 *
 * Context: Any.
 */
void rpcrdma2_conn_accept(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_get(conn);
	queue_work(accept_wq, &conn->cm.accept_work);
}

/**
 * rpcrdma2_conn_hurry - shorten the peer's time to speak, as other peers wait
 * @conn: an adopted connection
 *
 * The peer has %SPEAK_HURRY_SECS from now on, or from the accept on.
 *
 * Context: Process; does not sleep. Takes conn->ep.lock.
 */
void rpcrdma2_conn_hurry(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->ep.lock);
	WRITE_ONCE(conn->cm.speak_secs, SPEAK_HURRY_SECS);
	if (conn->state == RPCRDMA2_CONN_NEGOTIATING)
		mod_delayed_work(rpcrdma2_wq, &conn->timer,
				 SPEAK_HURRY_SECS * HZ);
	spin_unlock(&conn->ep.lock);
}
