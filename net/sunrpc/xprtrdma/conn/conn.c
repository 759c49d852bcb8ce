// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a connection: its states, its references, its users, and its teardown.
 *
 * rpcrdma2_conn_connect() or a peer's request makes a connection (cm.c). CM events and the
 * first messages move it to READY (negotiate.c). No connection leaves CLOSING but for CLOSED:
 * a layer above that wants another connection makes a new one.
 *
 * rpcrdma2_conn_close() may be called at any time and repeatedly; the first call starts
 * conn_teardown(). A reference keeps the memory of a connection. rpcrdma2_conn_enter() keeps
 * its QP, PD and device as well. RCU readers may find a connection and try to enter it.
 *
 * Runs in CQ, CM and process context; the teardown runs in a thread that may sleep.
 */
#include <linux/module.h>

#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* Added to @users, so that the number is negative and no thread enters */
#define NO_ENTRY	INT_MIN

struct workqueue_struct *rpcrdma2_wq;
/*
 * Teardowns of the end that accepts. A teardown may wait long for the device's driver, so no
 * other work must wait behind it. It may also wait for a driver's workqueue without a
 * rescuer, so this workqueue has none. Memory may be swapped over an end that connects. So
 * such an end has a thread from the start, and rpcrdma2_connect_interrupt() frees that thread
 * for the teardown.
 */
static struct workqueue_struct *teardown_wq;
static atomic_t conn_ids = ATOMIC_INIT(0);

/* CLOSING may follow all states before it: rpcrdma2_conn_close() sees to that. */
static bool conn_state_may_follow(enum rpcrdma2_conn_state from,
				  enum rpcrdma2_conn_state to)
{
	switch (from) {
	case RPCRDMA2_CONN_NEW:
		return to == RPCRDMA2_CONN_RESOLVING ||
		       to == RPCRDMA2_CONN_ACCEPTING;
	case RPCRDMA2_CONN_RESOLVING:
		return to == RPCRDMA2_CONN_ROUTING;
	case RPCRDMA2_CONN_ROUTING:
		return to == RPCRDMA2_CONN_CONNECTING;
	case RPCRDMA2_CONN_CONNECTING:
	case RPCRDMA2_CONN_ACCEPTING:
		return to == RPCRDMA2_CONN_NEGOTIATING;
	case RPCRDMA2_CONN_NEGOTIATING:
		return to == RPCRDMA2_CONN_READY;
	case RPCRDMA2_CONN_CLOSING:
		return to == RPCRDMA2_CONN_CLOSED;
	default:
		return false;
	}
}

/**
 * rpcrdma2_conn_advance - move a connection to its next state
 * @conn: the connection
 * @state: the next state; not CLOSING
 * @timeout_secs: time limit for @state, seconds, after which the timer closes the connection;
 *	in READY, the period of heartbeats; 0: no limit
 *
 * Context: Process; does not sleep. Takes conn->lock.
 * Return: false if @state may not follow the present state, probably because the connection
 *	is closing
 */
bool rpcrdma2_conn_advance(struct rpcrdma2_conn *conn,
			   enum rpcrdma2_conn_state state,
			   unsigned int timeout_secs)
{
	enum rpcrdma2_conn_state old;
	bool ok;

	spin_lock(&conn->lock);
	old = conn->state;
	ok = conn_state_may_follow(old, state);
	if (ok) {
		WRITE_ONCE(conn->state, state);
		if (timeout_secs)
			mod_delayed_work(rpcrdma2_wq, &conn->timer,
					 timeout_secs * HZ);
	}
	spin_unlock(&conn->lock);
	if (ok)
		trace_rpcrdma2_conn_state(conn, old, state);
	if (ok && !timeout_secs)
		cancel_delayed_work(&conn->timer);
	return ok;
}

/**
 * rpcrdma2_conn_set_timer - have the connection's timer run
 * @conn: the connection
 * @delay: time until then, in jiffies
 *
 * Does nothing on a closing connection, as the teardown has waited for the timer's last run.
 *
 * Context: Process; does not sleep. Takes conn->lock.
 */
void rpcrdma2_conn_set_timer(struct rpcrdma2_conn *conn, unsigned long delay)
{
	spin_lock(&conn->lock);
	if (conn->state < RPCRDMA2_CONN_CLOSING)
		mod_delayed_work(rpcrdma2_wq, &conn->timer, delay);
	spin_unlock(&conn->lock);
}

static void conn_timeout(struct work_struct *work)
{
	struct rpcrdma2_conn *conn = container_of(to_delayed_work(work),
						  struct rpcrdma2_conn, timer);
	enum rpcrdma2_conn_state state;
	bool renewed;

	spin_lock(&conn->lock);
	state = conn->state;
	renewed = delayed_work_pending(&conn->timer);
	spin_unlock(&conn->lock);
	/* The connection has just moved on, and the timer will run again. */
	if (renewed)
		return;
	if (state == RPCRDMA2_CONN_READY &&
	    rpcrdma2_hs_decided(READ_ONCE(conn->handshake)))
		rpcrdma2_heartbeat(conn);
	else
		rpcrdma2_negotiate_silence(conn, state);
}

/**
 * rpcrdma2_conn_close - start the teardown
 * @conn: the connection
 * @status: reason, negative errno
 *
 * Only the first call has an effect.
 *
 * Context: Process; does not sleep. Takes conn->lock.
 */
void rpcrdma2_conn_close(struct rpcrdma2_conn *conn, int status)
{
	enum rpcrdma2_conn_state old;
	bool first;

	spin_lock(&conn->lock);
	old = conn->state;
	first = old < RPCRDMA2_CONN_CLOSING;
	if (first) {
		WRITE_ONCE(conn->state, RPCRDMA2_CONN_CLOSING);
		conn->close_status = status;
		conn->closed_in = old;
	}
	spin_unlock(&conn->lock);
	if (!first)
		return;

	trace_rpcrdma2_conn_state(conn, old, RPCRDMA2_CONN_CLOSING);
	trace_rpcrdma2_conn_close(conn, status);
	rpcrdma2_conn_get(conn);
	rpcrdma2_connect_interrupt(conn);
	if (conn->active)
		kthread_queue_work(conn->param.connector,
				   &conn->close_in_thread);
	else
		queue_work(teardown_wq, &conn->close_work);
}

/*
 * Before the dialect is decided, a hang-up is an answer. An iWARP device may flush its Queues
 * before the CM reports the hang-up, so take the flush for one.
 */
static bool conn_is_hang_up(const struct rpcrdma2_conn *conn,
			    const struct ib_wc *wc)
{
	const struct rdma_cm_id *cm_id = conn->cm_id;

	return wc->status == IB_WC_WR_FLUSH_ERR &&
	       rdma_protocol_iwarp(cm_id->device, cm_id->port_num) &&
	       !rpcrdma2_hs_decided(READ_ONCE(conn->handshake));
}

/**
 * rpcrdma2_conn_broken - close a connection because a work request failed
 * @conn: the connection
 * @wc: completion of the work request, with an error
 *
 * Context: CQ.
 */
void rpcrdma2_conn_broken(struct rpcrdma2_conn *conn, const struct ib_wc *wc)
{
	rpcrdma2_conn_close(conn, conn_is_hang_up(conn, wc) ? -ECONNABORTED :
							 -ECONNRESET);
}

/* Return work that the device will not complete to its owners, oldest first. */
static void conn_return_chains(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_chain *chain;

	list_splice_tail_init(&conn->waiting, &conn->posted);
	while (!list_empty(&conn->posted)) {
		chain = list_first_entry(&conn->posted, struct rpcrdma2_chain,
					 link);
		list_del_init(&chain->link);
		trace_rpcrdma2_post_done(conn, chain, IB_WC_WR_FLUSH_ERR);
		chain->done(chain, -ENOTCONN);
	}
}

/*
 * Disconnect only after rdma_connect() or rdma_accept() has succeeded. While they run, the CM
 * takes no disconnect. (iw_cm_disconnect() would wait on an object that is freed when a
 * connect fails.)
 */
static int conn_flush_queues(struct rpcrdma2_conn *conn)
{
	if (READ_ONCE(conn->connected))
		rdma_disconnect(conn->cm_id);
	return conn->qp ? rpcrdma2_qp_drain(conn) : 0;
}

/* After this, no thread is between enter and exit, and none can enter. */
static void conn_wait_for_users(struct rpcrdma2_conn *conn)
{
	if (atomic_add_return(NO_ENTRY, &conn->users) != NO_ENTRY)
		wait_for_completion(&conn->idle);
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
 *  9. Destroy QP and CQ, unmap the buffers, and release the PD.
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
	conn_wait_for_users(conn);
	rc = conn_flush_queues(conn);
	if (rc)
		rpcrdma2_qp_abort(conn, rc);
	rpcrdma2_negotiate_lost(conn);
	if (ops)
		ops->fence(conn);
	conn_return_chains(conn);
	if (cancel_delayed_work_sync(&conn->resizing.work))
		rpcrdma2_conn_put(conn);
	if (ops)
		ops->drained(conn);
	rpcrdma2_qp_destroy(conn);
	if (conn->cm_id)
		rdma_destroy_id(conn->cm_id);
	conn->cm_id = NULL;
	rpcrdma2_conn_advance(conn, RPCRDMA2_CONN_CLOSED, 0);
	if (ops)
		ops->closed(conn);
	complete_all(&conn->done);
	rpcrdma2_debugfs_remove(conn);
	rpcrdma2_memalloc_restore(saved);
	rpcrdma2_conn_put(conn);
}

static void conn_teardown_work(struct work_struct *work)
{
	conn_teardown(container_of(work, struct rpcrdma2_conn, close_work));
}

static void conn_teardown_in_thread(struct kthread_work *work)
{
	conn_teardown(container_of(work, struct rpcrdma2_conn, close_in_thread));
}

/**
 * rpcrdma2_conn_wait_closed - wait for the end of the teardown
 * @conn: a closing connection; the caller has a reference
 *
 * Context: Process; sleeps. Not in CM or CQ context, for which the teardown waits.
 */
void rpcrdma2_conn_wait_closed(struct rpcrdma2_conn *conn)
{
	wait_for_completion(&conn->done);
}

/**
 * rpcrdma2_conn_enter - start to use the QP or the device
 * @conn: the connection; the caller has a reference, or found @conn under rcu_read_lock() and
 *	still holds that
 *
 * QP, PD and device exist until rpcrdma2_conn_exit(). The teardown waits for the exit, and
 * the removal of a device waits for the teardown. So the caller may wait for completions,
 * because the flush completes all work, but for little else. An allocation must not wait for
 * a file system, which may be mounted over this connection.
 *
 * Context: Any.
 * Return: false if the connection is being torn down
 */
bool rpcrdma2_conn_enter(struct rpcrdma2_conn *conn)
{
	return atomic_inc_unless_negative(&conn->users);
}

/**
 * rpcrdma2_conn_exit - stop using the QP and the device
 * @conn: the connection, entered
 *
 * Context: Any.
 */
void rpcrdma2_conn_exit(struct rpcrdma2_conn *conn)
{
	if (atomic_dec_return(&conn->users) == NO_ENTRY)
		complete(&conn->idle);
}

/**
 * rpcrdma2_conn_set_size - set the range of the size of Receive buffers
 * @conn: a connection without Receives; its lock is held, or no other thread knows it
 * @start: initial and minimum size, octets
 * @most: maximum size, octets
 *
 * Context: Any.
 */
void rpcrdma2_conn_set_size(struct rpcrdma2_conn *conn, u32 start, u32 most)
{
	conn->rbsiz_min = start;
	conn->rbsiz_max = most;
	conn->own.rbsiz = start;
	conn->recv_size = start;
	conn->peak_rbsiz = start;
	conn->send_size = min(conn->param.sbsiz, start);
}

/**
 * rpcrdma2_conn_set_param - set a connection's parameters
 * @conn: a connection without a QP; its lock is held, or no other thread knows it
 * @param: the parameters, copied
 *
 * Context: Any.
 */
void rpcrdma2_conn_set_param(struct rpcrdma2_conn *conn,
			     const struct rpcrdma2_conn_param *param)
{
	conn->param = *param;
	conn->calls_out = param->calls_out;
	conn->calls_in = param->calls_in;
	conn->own = (struct rpcrdma2_props){
		.brs		= param->reverse,
		.remote_inv	= true,
		.changes	= true,
	};
	conn->grant_out = param->calls_in;
	conn->grant_out_max = param->calls_in;
	rpcrdma2_conn_set_size(conn, param->rbsiz_min, param->rbsiz_max);
}

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
	conn->id = atomic_inc_return(&conn_ids);
	if (param)
		rpcrdma2_conn_set_param(conn, param);
	spin_lock_init(&conn->lock);
	init_completion(&conn->idle);
	init_completion(&conn->done);
	init_completion(&conn->last_wqe);
	kthread_init_work(&conn->connect_work, rpcrdma2_connect_work);
	INIT_WORK(&conn->accept_work, rpcrdma2_accept_work);
	INIT_WORK(&conn->qp_failed_work, rpcrdma2_qp_failed_work);
	INIT_WORK(&conn->close_work, conn_teardown_work);
	kthread_init_work(&conn->close_in_thread, conn_teardown_in_thread);
	INIT_DELAYED_WORK(&conn->timer, conn_timeout);
	INIT_DELAYED_WORK(&conn->resizing.work, rpcrdma2_resize_work);
	rpcrdma2_debugfs_init(conn);
	conn->dialect = &rpcrdma2_v2_09;
	rpcrdma2_props_init(conn->dialect->props, &conn->peer);
	conn->send_limit = RPCRDMA2_CONNPROP_MAX;
	conn->send_max = RPCRDMA2_CONNPROP_MAX;
	INIT_LIST_HEAD(&conn->link);
	INIT_LIST_HEAD(&conn->srq_link);
	INIT_LIST_HEAD(&conn->recvs);
	init_llist_head(&conn->given_back);
	INIT_LIST_HEAD(&conn->sends);
	INIT_LIST_HEAD(&conn->posted);
	INIT_LIST_HEAD(&conn->waiting);
	return conn;
}

/**
 * rpcrdma2_conn_get - take a reference
 * @conn: the connection; the caller has a reference, or is one of its handlers
 *
 * Context: Any.
 */
void rpcrdma2_conn_get(struct rpcrdma2_conn *conn)
{
	kref_get(&conn->ref);
}

/* No RCU reader still holds the connection. */
static void conn_free_late(struct rcu_head *rcu)
{
	struct rpcrdma2_conn *conn = container_of(rcu, struct rpcrdma2_conn,
						  rcu);

	kfree(conn);
}

static void conn_release(struct kref *ref)
{
	struct rpcrdma2_conn *conn = container_of(ref, struct rpcrdma2_conn,
						  ref);

	if (conn->param.ops)
		conn->param.ops->free(conn);
	WARN_ON_ONCE(conn->recvs_taken != atomic_read(&conn->recvs_returned));
	rpcrdma2_recv_pool_free(conn);
	rpcrdma2_send_pool_free(conn);
	call_rcu(&conn->rcu, conn_free_late);
}

/**
 * rpcrdma2_conn_put - drop a reference
 * @conn: the connection; the last reference ends after the teardown, or without a CM id
 *
 * Context: Any that allows kfree() and the free op.
 */
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn)
{
	kref_put(&conn->ref, conn_release);
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

	rpcrdma2_wq = alloc_workqueue("rpcrdma2", WQ_UNBOUND | WQ_MEM_RECLAIM,
				      0);
	if (!rpcrdma2_wq)
		return -ENOMEM;
	teardown_wq = alloc_workqueue("rpcrdma2_close", WQ_UNBOUND, 0);
	rc = -ENOMEM;
	if (!teardown_wq)
		goto out_wq;
	rc = rpcrdma2_accept_setup();
	if (rc)
		goto out_teardown;
	rc = rpcrdma2_qp_setup();
	if (rc)
		goto out_accept;
	rc = rpcrdma2_debugfs_setup();
	if (!rc)
		return 0;
	rpcrdma2_qp_cleanup();
out_accept:
	rpcrdma2_accept_cleanup();
out_teardown:
	destroy_workqueue(teardown_wq);
out_wq:
	destroy_workqueue(rpcrdma2_wq);
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
	rpcrdma2_accept_cleanup();
	/* The layers above have closed all connections. */
	destroy_workqueue(teardown_wq);
	destroy_workqueue(rpcrdma2_wq);
	rpcrdma2_qp_cleanup();
	rpcrdma2_debugfs_cleanup();
	/* Wait for conn_free_late(). */
	rcu_barrier();
}
