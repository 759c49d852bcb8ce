// SPDX-License-Identifier: GPL-2.0
/*
 * Life and death of a connection.
 *
 * A connection is made by rpcrdma2_conn_connect(), or when a peer asks for one (cm.c),
 * moves on by CM events and by the first messages, and is READY when both
 * sides' properties are known. It never comes back from CLOSING: whoever
 * wants another connection makes a new one.
 *
 * Anybody may call rpcrdma2_conn_close(), in any context and as often as they
 * like. The first call starts the teardown, in this order:
 *
 *  1. State CLOSING: no Receive, no Send is posted any more
 *     (rpcrdma2_conn_close).
 *  2. The upper layer hears of it (ops->closing).
 *  3. The CM disconnects; the QP goes to the error state, which flushes both Queues.
 *  4. rpcrdma2_qp_drain(): every completion handler has run.
 *  5. Threads between rpcrdma2_conn_enter() and rpcrdma2_conn_exit() are
 *     waited for: from here on nobody uses the device. Steps 3 and 4 are
 *     repeated, as one of them may just have made the QP. A QP that the device does
 *     not stop is destroyed now.
 *  6. The upper layer gives up memory registrations (ops->fence): no peer can reach
 *     memory now. Work that never completed is returned to its owners.
 *  7. The upper layer unmaps application pages and frees registrations (ops->drained).
 *     RPCs may be retransmitted elsewhere or fail.
 *  8. QP, CQ, Receive and Send buffer mappings, PD.
 *  9. The CM id: a device that is being removed waits for this one.
 * 10. State CLOSED, ops->closed. The memory goes with the last reference, as
 *     an nfsd thread may still be reading from a Receive buffer.
 * 11. The file in debugfs, which another workqueue removes: its readers may wait for
 *     memory, and so for the next connection.
 *
 * A teardown may take as long as the device's driver does, so nothing else waits behind
 * it. It may wait for a workqueue of the driver's that has no rescuer, so it can't run in
 * a workqueue that has one. An end that connects may be what memory is swapped over: it
 * has a thread from the start, which first ends a connect that is under way. An end that
 * accepts has a workqueue for teardowns alone.
 *
 * Module unload waits for every teardown by destroying the workqueue, and for the memory
 * of connections that sunrpc's threads may still look at by RCU.
 */
#include <linux/module.h>

#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* Added to the number of users: nobody enters any more. */
#define NO_ENTRY	INT_MIN

struct workqueue_struct *rpcrdma2_wq;
static struct workqueue_struct *teardown_wq;
static atomic_t conn_ids = ATOMIC_INIT(0);

/* Which states may follow which; CLOSING may follow each but CLOSED. */
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
 * rpcrdma2_conn_advance - move to the next state
 * @conn: the connection
 * @state: the next state; not CLOSING
 * @timeout_secs: close the connection if it is still in @state after that
 *	time, or, if that is READY, look for its peer; 0 for no limit
 *
 * Any context.
 *
 * Return: false if @state may not follow the present one, most likely because
 * somebody closed the connection
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
 * rpcrdma2_conn_set_timer - look at the connection again
 * @conn: the connection
 * @delay: after that time, in jiffies
 *
 * The timer's. Not once it is closing: the teardown has waited for the last look.
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
	/* It has moved on just now, and has its time. */
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
 * @status: why, negative errno
 *
 * Any context that allows spin_lock; returns at once.
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

/* An iWARP device may flush its Queues before the CM says that the peer hung up. */
static bool conn_is_hang_up(const struct rpcrdma2_conn *conn,
			    const struct ib_wc *wc)
{
	const struct rdma_cm_id *cm_id = conn->cm_id;

	return wc->status == IB_WC_WR_FLUSH_ERR &&
	       rdma_protocol_iwarp(cm_id->device, cm_id->port_num) &&
	       !rpcrdma2_hs_decided(READ_ONCE(conn->handshake));
}

/**
 * rpcrdma2_conn_broken - close the connection, as a work request failed
 * @conn: the connection
 * @wc: the completion, with an error
 *
 * CQ context.
 */
void rpcrdma2_conn_broken(struct rpcrdma2_conn *conn, const struct ib_wc *wc)
{
	rpcrdma2_conn_close(conn, conn_is_hang_up(conn, wc) ? -ECONNABORTED :
							 -ECONNRESET);
}

/* Work that the device will not complete, oldest first. */
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
 * What connects or accepts may be at it: the CM takes no disconnect before that is
 * over, be it in vain. (iw_cm_disconnect() would wait, for what is freed then.)
 */
static int conn_flush_queues(struct rpcrdma2_conn *conn)
{
	if (READ_ONCE(conn->connected))
		rdma_disconnect(conn->cm_id);
	return conn->qp ? rpcrdma2_qp_drain(conn) : 0;
}

/* Nobody enters after this, and those who had entered have left. */
static void conn_wait_for_users(struct rpcrdma2_conn *conn)
{
	if (atomic_add_return(NO_ENTRY, &conn->users) != NO_ENTRY)
		wait_for_completion(&conn->idle);
}

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
 * rpcrdma2_conn_wait_closed - wait until the teardown is through
 * @conn: a connection on which rpcrdma2_conn_close() was called
 *
 * Process context, but not one of CM or CQ. Sleeps.
 */
void rpcrdma2_conn_wait_closed(struct rpcrdma2_conn *conn)
{
	wait_for_completion(&conn->done);
}

/**
 * rpcrdma2_conn_enter - start using the QP or the device
 * @conn: the connection
 *
 * Any context; the caller has a reference, or found it below rcu_read_lock() and is still
 * there.
 *
 * Between a successful enter and rpcrdma2_conn_exit() the QP, the PD and the
 * device exist. The caller must not sleep for long in between, and may wait
 * for completions: they come, if only by the flush. Nor may it wait for a file system,
 * in which memory is reclaimed: that may be one that is mounted over this very device,
 * whose removal waits for the caller.
 *
 * Return: false if it is too late
 */
bool rpcrdma2_conn_enter(struct rpcrdma2_conn *conn)
{
	return atomic_inc_unless_negative(&conn->users);
}

/**
 * rpcrdma2_conn_exit - end of rpcrdma2_conn_enter()
 * @conn: the connection
 *
 * Any context.
 */
void rpcrdma2_conn_exit(struct rpcrdma2_conn *conn)
{
	if (atomic_dec_return(&conn->users) == NO_ENTRY)
		complete(&conn->idle);
}

/**
 * rpcrdma2_conn_set_size - say what size the Receive buffers are to have
 * @conn: a connection without Receives; nobody else looks at it, or its lock is held
 * @start: at first, and at the least, octets
 * @most: what they may become by need, octets
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
 * rpcrdma2_conn_set_param - say what is wanted of a connection
 * @conn: a connection without a QP; nobody else looks at it, or its lock is held
 * @param: what is wanted
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
 * rpcrdma2_conn_alloc - make a connection in state NEW
 * @param: what is wanted of it; NULL if rpcrdma2_conn_adopt() will tell
 * @gfp: allocation flags
 *
 * Return: a connection with one reference, or NULL. It needs
 * rpcrdma2_conn_close() only once it has a CM id.
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
 * rpcrdma2_conn_get - take a reference to the connection's memory
 * @conn: the connection
 */
void rpcrdma2_conn_get(struct rpcrdma2_conn *conn)
{
	kref_get(&conn->ref);
}

/* Nobody can be about to find any more that it can't be entered. */
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
 * @conn: the connection; CLOSED, or never connected, if this is the last one
 *
 * Any context that allows kfree().
 */
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn)
{
	kref_put(&conn->ref, conn_release);
}

/**
 * rpcrdma2_conn_init - module initialisation
 *
 * Return: 0 or -ENOMEM
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
 * rpcrdma2_conn_cleanup - module removal; waits for every teardown
 */
void rpcrdma2_conn_cleanup(void)
{
	rpcrdma2_accept_cleanup();
	/* All connections are closing. */
	destroy_workqueue(teardown_wq);
	destroy_workqueue(rpcrdma2_wq);
	rpcrdma2_qp_cleanup();
	rpcrdma2_debugfs_cleanup();
	/* For conn_free_late() */
	rcu_barrier();
}
