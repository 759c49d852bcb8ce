// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a connection, its references and its users.
 *
 * rpcrdma2_conn_close() may be called at any time and repeatedly; the first call starts the
 * teardown in life.c. A reference keeps the memory of a connection. rpcrdma2_conn_enter()
 * keeps its QP, PD and device as well. RCU readers may find a connection and try to enter it.
 *
 * Runs in CQ, CM and process context. conn->lock protects the state.
 */
#include <linux/sched/signal.h>

#include "conn.h"

#include <trace/events/rpcrdma2.h>

/* Added to @users, so that the number is negative and no thread enters */
#define NO_ENTRY	INT_MIN

struct workqueue_struct *rpcrdma2_wq;

/*
 * Teardowns of the end that accepts. A teardown may wait long for the device's driver, so no
 * other work must wait behind it. It may also wait for a driver's workqueue without a
 * rescuer, so this workqueue has none. Memory may be swapped over an end that connects. So
 * such an end has a thread from the start, and conn_interrupt_connect() frees that thread
 * for the teardown.
 */
static struct workqueue_struct *teardown_wq;

/* The table lacks CLOSING, which may follow all states before it: see rpcrdma2_conn_close(). */
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

/* End a connect that is under way: its thread has to do the teardown. */
static void conn_interrupt_connect(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->lock);
	if (conn->connecting)
		send_sig(SIGKILL, conn->connecting, 1);
	spin_unlock(&conn->lock);
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
	conn_interrupt_connect(conn);
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
 * rpcrdma2_conn_wait_users - let nobody enter any more, and wait until all have left
 * @conn: a connection in teardown
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_conn_wait_users(struct rpcrdma2_conn *conn)
{
	if (atomic_add_return(NO_ENTRY, &conn->users) != NO_ENTRY)
		wait_for_completion(&conn->idle);
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
 * rpcrdma2_conn_get - take a reference
 * @conn: the connection; the caller has a reference, or is one of its handlers
 *
 * Context: Any.
 */
void rpcrdma2_conn_get(struct rpcrdma2_conn *conn)
{
	kref_get(&conn->ref);
}

static void conn_release(struct kref *ref)
{
	struct rpcrdma2_conn *conn = container_of(ref, struct rpcrdma2_conn, ref);

	conn->ep_ops->free(conn);
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
 * rpcrdma2_state_setup - module initialisation
 *
 * Context: Process; sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_state_setup(void)
{
	rpcrdma2_wq = alloc_workqueue("rpcrdma2", WQ_UNBOUND | WQ_MEM_RECLAIM,
				      0);
	if (!rpcrdma2_wq)
		return -ENOMEM;
	teardown_wq = alloc_workqueue("rpcrdma2_close", WQ_UNBOUND, 0);
	if (teardown_wq)
		return 0;
	destroy_workqueue(rpcrdma2_wq);
	return -ENOMEM;
}

/**
 * rpcrdma2_state_cleanup - module removal; waits for every teardown
 *
 * Context: Process; sleeps. All connections are closing.
 */
void rpcrdma2_state_cleanup(void)
{
	destroy_workqueue(teardown_wq);
	destroy_workqueue(rpcrdma2_wq);
}
