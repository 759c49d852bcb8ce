// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a connection: its memory, and its teardown.
 *
 * rpcrdma2_conn_connect() or a peer's request makes a connection (cm.c). CM events and the
 * first messages move it to READY (negotiate.c). No connection leaves CLOSING but for CLOSED:
 * a layer above that wants another connection makes a new one.
 *
 * The teardown runs in process context: for an end that connects, in its thread; for one that
 * accepts, in a workqueue.
 */
#include "rdma/device.h"

#include "conn.h"

#include <trace/events/rpcrdma2.h>

static atomic_t conn_ids = ATOMIC_INIT(0);

static void conn_timeout(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(to_delayed_work(work),
						  struct rpcrdma2_conn, timer);
	enum rpcrdma2_conn_state state;
	bool renewed;

	spin_lock(&conn->ep.lock);
	state = conn->state;
	renewed = delayed_work_pending(&conn->timer);
	spin_unlock(&conn->ep.lock);
	/* The connection has just moved on, and the timer will run again. */
	if (renewed)
		return;
	if (state == RPCRDMA2_CONN_READY &&
	    rpcrdma2_hs_decided(READ_ONCE(conn->negotiation.state)))
		rpcrdma2_heartbeat(conn);
	else
		rpcrdma2_negotiate_silence(conn, state);
}

/*
 * Disconnect only after rdma_connect() or rdma_accept() has succeeded. While they run, the CM
 * takes no disconnect. (iw_cm_disconnect() would wait on an object that is freed when a
 * connect fails.)
 */
static int conn_flush_queues(struct rpcrdma2_conn *conn)
{
	if (READ_ONCE(conn->ep.connected))
		rdma_disconnect(conn->ep.cm_id);
	return conn->ep.qp ? rpcrdma2_qp_drain(&conn->ep) : 0;
}

/*
 * The teardown. rpcrdma2_conn_close() has set CLOSING, so no chain is posted any more.
 *
 *  1. Wait for the timer's work, which uses the QP.
 *  2. ops->closing: the layer above starts no new work.
 *  3. Disconnect and drain: flush both Queues, and wait for all completion handlers.
 *  4. Wait for threads between enter and exit. None uses the device afterwards.
 *  5. Drain once more, as one of those threads may have made the QP. If the device does not
 *     stop the QP, abort the QP.
 *  6. ops->fence: the layer above gives up registrations, so no peer reaches memory.
 *  7. Return the work that never completed to its owners.
 *  8. ops->drained: the layer above unmaps pages. Its RPCs fail or go elsewhere.
 *  9. Destroy QP and CQ, cancel failed_work, unmap the buffers, and release the PD.
 * 10. Destroy the CM id. The removal of a device waits for this.
 * 11. CLOSED; ops->closed; have the files in debugfs removed.
 *
 * The memory lives until the last reference ends: a server thread may still read a Receive.
 */
static void conn_teardown(struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_conn_ops *ops = conn->param.ops;
	struct rpcrdma2_memalloc saved =
		rpcrdma2_memalloc_save(conn->param.swapper);
	int rc;

	cancel_delayed_work_sync(&conn->timer);
	if (ops)
		ops->closing(conn);
	conn_flush_queues(conn);
	rpcrdma2_ep_wait_users(&conn->ep);
	rc = conn_flush_queues(conn);
	if (rc)
		rpcrdma2_qp_abort(&conn->ep, rc);
	rpcrdma2_negotiate_lost(conn);
	if (ops)
		ops->fence(conn);
	rpcrdma2_sq_return_chains(&conn->ep);
	if (cancel_delayed_work_sync(&conn->resizing.work))
		rpcrdma2_conn_put(conn);
	if (ops)
		ops->drained(conn);
	rpcrdma2_qp_destroy(&conn->ep);
	if (conn->ep.cm_id)
		rdma_destroy_id(conn->ep.cm_id);
	conn->ep.cm_id = NULL;
	rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_CLOSED, 0);
	if (ops)
		ops->closed(conn);
	complete_all(&conn->close.done);
	rpcrdma2_debugfs_remove(conn);
	rpcrdma2_memalloc_restore(saved);
	rpcrdma2_conn_put(conn);
}

static void conn_teardown_work(struct work_struct *work)
{
	conn_teardown(container_of(work, struct rpcrdma2_conn, close.work));
}

static void conn_teardown_in_thread(struct kthread_work *work)
{
	conn_teardown(container_of(work, struct rpcrdma2_conn, close.thread_work));
}

/* No RCU reader still holds the connection. */
static void conn_free_late(struct rcu_head *rcu)
{
	struct rpcrdma2_conn *conn = container_of(rcu, struct rpcrdma2_conn,
						  rcu);

	kfree(conn);
}

/* The last reference is gone: the op of the layers above, the pools, and the struct. */
static void conn_free(struct kref *ref)
{
	struct rpcrdma2_conn *conn = container_of(ref, struct rpcrdma2_conn, ref);

	if (conn->param.ops)
		conn->param.ops->free(conn);
	WARN_ON_ONCE(conn->ep.share.taken != atomic_read(&conn->ep.returned.shared));
	rpcrdma2_recv_pool_free(&conn->ep);
	rpcrdma2_send_pool_free(&conn->ep);
	call_rcu(&conn->rcu, conn_free_late);
}

static void conn_resized(struct rpcrdma2_ep *ep)
{
	rpcrdma2_resize_soon(rpcrdma2_conn_of(ep));
}

static void conn_room(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_conn *conn = rpcrdma2_conn_of(ep);

	if (conn->param.ops->room)
		conn->param.ops->room(conn);
}

static void conn_failed(struct rpcrdma2_ep *ep, int status)
{
	rpcrdma2_conn_close(rpcrdma2_conn_of(ep), status);
}

/*
 * Before the dialect is decided, a hang-up is an answer. An iWARP device may flush its Queues
 * before the CM reports the hang-up, so take the flush for one.
 */
static bool conn_is_hang_up(const struct rpcrdma2_conn *conn,
			    const struct ib_wc *wc)
{
	const struct rdma_cm_id *cm_id = conn->ep.cm_id;

	return wc->status == IB_WC_WR_FLUSH_ERR &&
	       rdma_protocol_iwarp(cm_id->device, cm_id->port_num) &&
	       !rpcrdma2_hs_decided(READ_ONCE(conn->negotiation.state));
}

static void conn_broken(struct rpcrdma2_ep *ep, const struct ib_wc *wc)
{
	struct rpcrdma2_conn *conn = rpcrdma2_conn_of(ep);

	rpcrdma2_conn_close(conn, conn_is_hang_up(conn, wc) ? -ECONNABORTED :
							      -ECONNRESET);
}

static const struct rpcrdma2_ep_ops ep_ops = {
	.received	= rpcrdma2_dispatch,
	.resized	= conn_resized,
	.room		= conn_room,
	.failed		= conn_failed,
	.broken		= conn_broken,
};

/**
 * rpcrdma2_conn_alloc - allocate a connection in state NEW
 * @param: its parameters, copied; NULL if rpcrdma2_conn_adopt() will set them
 * @gfp: allocation flags
 *
 * A connection needs rpcrdma2_conn_close() only once it has a CM id.
 *
 * Context: Process; sleeps if @gfp allows.
 * Return: the connection, with one reference; or NULL
 */
struct rpcrdma2_conn *
rpcrdma2_conn_alloc(const struct rpcrdma2_conn_param *param, gfp_t gfp)
{
	struct rpcrdma2_conn *conn;

	conn = kzalloc(sizeof(*conn), gfp);
	if (!conn)
		return NULL;
	kref_init(&conn->ref);
	conn->release = conn_free;
	rpcrdma2_ep_init(&conn->ep, &ep_ops);
	conn->ep.id = atomic_inc_return(&conn_ids);
	if (param)
		rpcrdma2_conn_set_param(conn, param);
	init_completion(&conn->close.done);
	INIT_WORK(&conn->close.work, conn_teardown_work);
	kthread_init_work(&conn->close.thread_work, conn_teardown_in_thread);
	INIT_DELAYED_WORK(&conn->timer, conn_timeout);
	INIT_DELAYED_WORK(&conn->resizing.work, rpcrdma2_resize_work);
	rpcrdma2_debugfs_init(conn);
	conn->terms.dialect = &rpcrdma2_v2_09;
	rpcrdma2_props_init(conn->terms.dialect->props, &conn->terms.peer);
	conn->ep.limit.call = RPCRDMA2_CONNPROP_MAX;
	conn->ep.limit.reply = RPCRDMA2_CONNPROP_MAX;
	INIT_LIST_HEAD(&conn->link);
	return conn;
}

/**
 * rpcrdma2_conn_init - module initialisation
 *
 * Context: Process; sleeps.
 * Return: 0 or negative errno
 */
int rpcrdma2_conn_init(void)
{
	int rc;

	rc = rpcrdma2_ep_setup();
	if (rc)
		return rc;
	rc = rpcrdma2_state_setup();
	if (rc)
		goto out_ep;
	rc = rpcrdma2_device_setup();
	if (rc)
		goto out_state;
	rc = rpcrdma2_debugfs_setup();
	if (!rc)
		return 0;
	rpcrdma2_device_cleanup();
out_state:
	rpcrdma2_state_cleanup();
out_ep:
	rpcrdma2_ep_cleanup();
	return rc;
}

/**
 * rpcrdma2_conn_cleanup - module removal
 *
 * Waits for every teardown, and for the memory of all connections.
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_conn_cleanup(void)
{
	rpcrdma2_state_cleanup();
	rpcrdma2_ep_cleanup();
	rpcrdma2_device_cleanup();
	rpcrdma2_debugfs_cleanup();
	/* Wait for conn_free_late(). */
	rcu_barrier();
}
