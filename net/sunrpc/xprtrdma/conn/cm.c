// SPDX-License-Identifier: GPL-2.0
/*
 * Connection manager events become state transitions.
 *
 * The end that connects goes from event to event; nobody waits. The end that
 * accepts is asked by the layer above. What takes a device its time is done in
 * a thread of the client's, or in a workqueue of its own.
 */
#include <linux/sched/signal.h>
#include <rdma/ib_cm.h>

#include "conn.h"

#include <trace/events/rpcrdma2.h>

#define RESOLVE_TIMEOUT_MS	5000
#define RESOLVE_TIMEOUT_SECS	(RESOLVE_TIMEOUT_MS / 1000 + 1)

/*
 * TCP, below iWARP, asks after 0, 1, 3, 7, 15, 31 s: rather begin anew than wait for the
 * last of these. On RoCE the CM asks every 8 s or so.
 */
#define CONNECT_TIMEOUT_SECS	15
#define ACCEPT_TIMEOUT_SECS	30

/* A client of version 1 speaks when it has something to say. */
#define SPEAK_TIMEOUT_SECS	30
/*
 * It speaks at once, if it connected to say something: as Linux does. In this time, the CM
 * on RoCE repeats an answer that was lost.
 */
#define SPEAK_HURRY_SECS	5

/* RDMA Reads that are under way at a time */
#define MAX_READS		32

/* How long a peer waits that found no Receive, 1.28 ms, and how often it tries again */
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
	conn->have_private =
		rpcrdma2_decode_private_data(param->private_data,
					     param->private_data_len,
					     &conn->peer_private);
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
	 * Receives of this end's own never run out: see recv_pool.c. That a peer tried again
	 * would only hide a mistake. Those that are shared may: see srq.c.
	 */
	param->rnr_retry_count = conn->srq ? RNR_RETRY_FOREVER : 0;
}

static int cm_handle_addr_resolved(struct rpcrdma2_conn *conn)
{
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_ROUTING,
				   RESOLVE_TIMEOUT_SECS))
		return 0;
	return rdma_resolve_route(conn->cm_id, RESOLVE_TIMEOUT_MS);
}

/*
 * Not in CM context: siw's driver sleeps until TCP has connected, or given up, and
 * all users of RDMA share the thread that resolves their routes. Nor in rpcrdma2_wq,
 * whose threads take no signals.
 */
static int cm_handle_route_resolved(struct rpcrdma2_conn *conn)
{
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_CONNECTING,
				   CONNECT_TIMEOUT_SECS))
		return 0;
	rpcrdma2_conn_get(conn);
	kthread_queue_work(conn->param.connector, &conn->connect_work);
	return 0;
}

/* A signal that was sent before this would be lost: so it looks at the state, too. */
static bool cm_interruptible_begin(struct rpcrdma2_conn *conn)
{
	bool ok;

	allow_kernel_signal(SIGKILL);
	spin_lock(&conn->lock);
	ok = conn->state == RPCRDMA2_CONN_CONNECTING;
	if (ok)
		conn->connecting = current;
	spin_unlock(&conn->lock);
	return ok;
}

static void cm_interruptible_end(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->lock);
	conn->connecting = NULL;
	spin_unlock(&conn->lock);
	flush_signals(current);
}

/**
 * rpcrdma2_connect_interrupt - a connect that is under way is not wanted any more
 * @conn: a connection that is closing
 *
 * Any context that allows spin_lock.
 */
void rpcrdma2_connect_interrupt(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->lock);
	if (conn->connecting)
		send_sig(SIGKILL, conn->connecting, 1);
	spin_unlock(&conn->lock);
}

static u8 cm_limit_reads(int device, u32 wanted)
{
	return min3((u32)device, wanted, (u32)MAX_READS);
}

/* RDMA Reads that an end which connects would make at a time */
static u8 cm_wanted_reads(const struct rpcrdma2_conn *conn)
{
	return rpcrdma2_conn_moves_data(conn) ? MAX_READS :
						rpcrdma2_heartbeat_reads(conn);
}

/* All that RPCs need, whatever memory there is later: the device's part, and the roles' */
static int cm_provide_resources(struct rpcrdma2_conn *conn)
{
	int rc = rpcrdma2_qp_create(conn);

	if (!rc && conn->param.ops->prepare)
		rc = conn->param.ops->prepare(conn);
	return rc;
}

/*
 * A client answers RDMA Reads. It makes some where Calls with chunks may come, and where
 * heartbeats are Reads.
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
	attrs = &conn->cm_id->device->attrs;
	param.responder_resources =
		cm_limit_reads(attrs->max_qp_rd_atom, MAX_READS);
	param.initiator_depth = cm_limit_reads(attrs->max_qp_init_rd_atom,
					       cm_wanted_reads(conn));
	if (!cm_interruptible_begin(conn))
		return -ENOTCONN;
	rc = rdma_connect(conn->cm_id, &param);
	cm_interruptible_end(conn);
	WRITE_ONCE(conn->connected, !rc);
	return rc;
}

/**
 * rpcrdma2_connect_work - the route is resolved: connect
 * @work: of the connection, which is referenced
 *
 * The client's thread; may sleep for long.
 */
void rpcrdma2_connect_work(struct kthread_work *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  connect_work);
	struct rpcrdma2_memalloc saved =
		rpcrdma2_memalloc_save(conn->param.swapper);
	int rc;

	if (rpcrdma2_conn_enter(conn)) {
		rc = cm_connect(conn);
		if (rc)
			rpcrdma2_conn_close(conn, rc);
		rpcrdma2_conn_exit(conn);
	}
	rpcrdma2_memalloc_restore(saved);
	rpcrdma2_conn_put(conn);
}

/* Where RDMA Reads can't be made or answered, there are no Calls to be read by them. */
static void cm_limit_reverse(struct rpcrdma2_conn *conn, unsigned int reads)
{
	if (!reads)
		conn->own.brs = min_t(u32, conn->own.brs,
				      RDMA2_RVREQSUP_INLINE);
}

/*
 * A server makes RDMA Reads, as many as its peer can answer. It answers some where its
 * Calls may have chunks, and the peer wants that; and heartbeats.
 */
static int cm_accept(struct rpcrdma2_conn *conn)
{
	u8 private_data[RPCRDMA2_PRIVATE_DATA_LEN];
	struct rdma_conn_param param = { };
	int rc;

	/* Its Read chunks could not be read. */
	if (!conn->max_reads_out)
		return -EPROTO;
	rc = cm_provide_resources(conn);
	if (!rc && conn->srq)
		rc = rdma_set_min_rnr_timer(conn->cm_id, RNR_TIMER);
	if (rc)
		return rc;
	cm_fill_conn_param(conn, &param, private_data);
	param.initiator_depth = conn->max_reads_out;
	param.responder_resources =
		conn->own.brs == RDMA2_RVREQSUP_GENL ? conn->max_reads_in :
		min(conn->max_reads_in, rpcrdma2_heartbeat_reads(conn));
	cm_limit_reverse(conn, param.responder_resources);
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_NEGOTIATING,
				   READ_ONCE(conn->speak_secs)))
		return -ENOTCONN;
	rdma_lock_handler(conn->cm_id);
	rc = rdma_accept(conn->cm_id, &param);
	rdma_unlock_handler(conn->cm_id);
	WRITE_ONCE(conn->connected, !rc);
	return rc;
}

/*
 * As many may be accepted at a time as a workqueue does, each waiting for memory or for the
 * device. What has others go on, or gives memory back, must not wait for them.
 */
static struct workqueue_struct *accept_wq;

/**
 * rpcrdma2_accept_setup - module initialisation
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_accept_setup(void)
{
	accept_wq = alloc_workqueue("rpcrdma2_accept", WQ_UNBOUND, 0);
	return accept_wq ? 0 : -ENOMEM;
}

/**
 * rpcrdma2_accept_cleanup - module removal; waits until nobody is being accepted
 */
void rpcrdma2_accept_cleanup(void)
{
	destroy_workqueue(accept_wq);
}

/**
 * rpcrdma2_accept_work - a peer came: accept it
 * @work: of the connection, which is referenced
 *
 * Workqueue; may sleep for long.
 */
void rpcrdma2_accept_work(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(work, struct rpcrdma2_conn,
						  accept_work);
	unsigned int nofs;
	int rc;

	if (rpcrdma2_conn_enter(conn)) {
		nofs = memalloc_nofs_save();
		rc = cm_accept(conn);
		memalloc_nofs_restore(nofs);
		if (rc)
			rpcrdma2_conn_close(conn, rc);
		rpcrdma2_conn_exit(conn);
	}
	rpcrdma2_conn_put(conn);
}

/*
 * For iWARP, rdma_cm has them the other way round here, but not in a request; and some
 * drivers turn them round once more.
 */
static void cm_keep_read_depth(struct rpcrdma2_conn *conn,
			       const struct rdma_conn_param *param)
{
	const struct rdma_cm_id *cm_id = conn->cm_id;
	bool iwarp = rdma_protocol_iwarp(cm_id->device, cm_id->port_num);
	u8 reads = param->initiator_depth;

	if (iwarp)
		reads = min(reads, param->responder_resources);
	conn->max_reads_out =
		cm_limit_reads(cm_id->device->attrs.max_qp_init_rd_atom,
			       min(reads, cm_wanted_reads(conn)));
	cm_limit_reverse(conn, conn->max_reads_out);
}

static void cm_handle_established(struct rpcrdma2_conn *conn,
				  struct rdma_cm_event *event)
{
	if (!conn->active)
		return;
	cm_keep_private_data(conn, &event->param.conn);
	cm_keep_read_depth(conn, &event->param.conn);
	if (rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_NEGOTIATING,
				  RPCRDMA2_ANSWER_TIMEOUT_SECS))
		rpcrdma2_negotiate_start(conn);
}

/*
 * Only the first two mean that nobody wants a connection there. On iWARP there are no
 * reasons: a peer that refuses is told from one that can't be reached, and that is all.
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
	conn->reject = reason;
	return cm_reject_status(conn->cm_id, reason);
}

/* -ECONNABORTED: the peer hung up, which may count as an answer: see negotiate.c. */
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
		/* Not -ENOTCONN, with which sunrpc tries again at once. */
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
 * CM context: process, the id's handler mutex is held, so the id cannot be
 * destroyed here. The teardown does that, from the workqueue.
 */
static int cm_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct rpcrdma2_conn *conn = cm_id->context;
	struct rpcrdma2_memalloc saved;
	int rc;

	trace_rpcrdma2_cm_event(conn, event);
	if (!rpcrdma2_conn_enter(conn))
		return 0;
	saved = rpcrdma2_memalloc_save(conn->param.swapper);
	rc = cm_handle_event(conn, event);
	rpcrdma2_memalloc_restore(saved);
	if (rc)
		rpcrdma2_conn_close(conn, rc);
	rpcrdma2_conn_exit(conn);
	return 0;
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
	conn->cm_id = cm_id;
	if (!rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_RESOLVING,
				   RESOLVE_TIMEOUT_SECS))
		return -ENOTCONN;
	return rdma_resolve_addr(cm_id, src, dst, RESOLVE_TIMEOUT_MS);
}

/**
 * rpcrdma2_conn_connect - start to connect
 * @conn: a connection in state NEW, with its parameters
 * @src: local address, or NULL for any
 * @dst: the peer's address and port
 *
 * Process context. The outcome comes by conn->param.ops: ready, or closing.
 *
 * Return: 0, or negative errno and the connection is closing
 */
int rpcrdma2_conn_connect(struct rpcrdma2_conn *conn, struct sockaddr *src,
			  struct sockaddr *dst)
{
	int rc;

	if (!rpcrdma2_conn_enter(conn))
		return -ENOTCONN;
	conn->active = true;
	rc = cm_start_connect(conn, src, dst);
	if (rc)
		rpcrdma2_conn_close(conn, rc);
	rpcrdma2_conn_exit(conn);
	return rc;
}

/**
 * rpcrdma2_conn_request - make a connection of a peer's request
 * @cm_id: the id that the CM made for the request
 * @event: the request
 *
 * CM context. On success the connection owns @cm_id.
 *
 * Return: the connection, with one reference, in state ACCEPTING; or NULL if there is no
 * memory
 */
struct rpcrdma2_conn *rpcrdma2_conn_request(struct rdma_cm_id *cm_id,
					    struct rdma_cm_event *event)
{
	struct rpcrdma2_conn *conn;

	conn = rpcrdma2_conn_alloc(NULL, GFP_KERNEL);
	if (!conn)
		return NULL;
	conn->cm_id = cm_id;
	cm_id->context = conn;
	cm_id->event_handler = cm_event;
	trace_rpcrdma2_conn_new(conn,
				(struct sockaddr *)&cm_id->route.addr.dst_addr);
	cm_keep_private_data(conn, &event->param.conn);
	conn->max_reads_out =
		cm_limit_reads(cm_id->device->attrs.max_qp_init_rd_atom,
			       event->param.conn.initiator_depth);
	conn->max_reads_in =
		cm_limit_reads(cm_id->device->attrs.max_qp_rd_atom,
			       event->param.conn.responder_resources);
	conn->speak_secs = SPEAK_TIMEOUT_SECS;
	rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_ACCEPTING,
			      ACCEPT_TIMEOUT_SECS);
	return conn;
}

/**
 * rpcrdma2_conn_adopt - say what is wanted of a connection that came in
 * @conn: a connection that rpcrdma2_listen() handed to the layer above
 * @param: what is wanted of it
 *
 * Return: true: @param->ops are called from now on; false: the connection is
 * closing already, and they will never be
 */
bool rpcrdma2_conn_adopt(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_conn_param *param)
{
	bool ok;

	spin_lock(&conn->lock);
	ok = conn->state == RPCRDMA2_CONN_ACCEPTING;
	if (ok)
		rpcrdma2_conn_set_param(conn, param);
	spin_unlock(&conn->lock);
	return ok;
}

/**
 * rpcrdma2_conn_accept - accept a peer
 * @conn: a connection that was adopted
 *
 * Any context; returns at once. What comes of it, @conn's ops tell.
 */
void rpcrdma2_conn_accept(struct rpcrdma2_conn *conn)
{
	rpcrdma2_conn_get(conn);
	queue_work(accept_wq, &conn->accept_work);
}

/**
 * rpcrdma2_conn_hurry - others wait: give a peer less time to speak
 * @conn: a connection that was adopted
 *
 * Any context. The peer has SPEAK_HURRY_SECS from now, or from when it is accepted.
 */
void rpcrdma2_conn_hurry(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->lock);
	WRITE_ONCE(conn->speak_secs, SPEAK_HURRY_SECS);
	if (conn->state == RPCRDMA2_CONN_NEGOTIATING)
		mod_delayed_work(rpcrdma2_wq, &conn->timer,
				 SPEAK_HURRY_SECS * HZ);
	spin_unlock(&conn->lock);
}
