// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a connection, and its references.
 *
 * rpcrdma2_conn_close() may be called at any time and repeatedly; the first call starts the
 * teardown in life.c. A reference keeps the memory of a connection. rpcrdma2_ep_enter()
 * keeps its QP, PD and device as well. RCU readers may find a connection and try to enter it.
 *
 * Runs in CQ, CM and process context. conn->ep.lock protects the state.
 */
#include <linux/sched/signal.h>

#include "conn.h"

#include <trace/events/rpcrdma2.h>

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
 * Context: Process; does not sleep. Takes conn->ep.lock.
 * Return: false if @state may not follow the present state, probably because the connection
 *	is closing
 */
bool rpcrdma2_conn_advance(struct rpcrdma2_conn *conn,
			   enum rpcrdma2_conn_state state,
			   unsigned int timeout_secs)
{
	enum rpcrdma2_conn_state old;
	bool ok;

	spin_lock(&conn->ep.lock);
	old = conn->state;
	ok = conn_state_may_follow(old, state);
	if (ok) {
		WRITE_ONCE(conn->state, state);
		if (timeout_secs)
			mod_delayed_work(rpcrdma2_wq, &conn->timer,
					 timeout_secs * HZ);
	}
	spin_unlock(&conn->ep.lock);
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
 * Does nothing on a closing connection: its teardown may already have cancelled the timer.
 *
 * Context: Process; does not sleep. Takes conn->ep.lock.
 */
void rpcrdma2_conn_set_timer(struct rpcrdma2_conn *conn, unsigned long delay)
{
	spin_lock(&conn->ep.lock);
	if (conn->state < RPCRDMA2_CONN_CLOSING)
		mod_delayed_work(rpcrdma2_wq, &conn->timer, delay);
	spin_unlock(&conn->ep.lock);
}

/* End a connect that is under way: its thread has to do the teardown. */
static void conn_interrupt_connect(struct rpcrdma2_conn *conn)
{
	spin_lock(&conn->ep.lock);
	if (conn->cm.connecting)
		send_sig(SIGKILL, conn->cm.connecting, 1);
	spin_unlock(&conn->ep.lock);
}

/**
 * rpcrdma2_conn_close - start the teardown
 * @conn: the connection
 * @status: reason, negative errno
 *
 * Only the first call has an effect.
 *
 * Context: Process; does not sleep. Takes conn->ep.lock.
 */
void rpcrdma2_conn_close(struct rpcrdma2_conn *conn, int status)
{
	enum rpcrdma2_conn_state old;
	bool first;

	spin_lock(&conn->ep.lock);
	old = conn->state;
	first = old < RPCRDMA2_CONN_CLOSING;
	if (first) {
		WRITE_ONCE(conn->state, RPCRDMA2_CONN_CLOSING);
		WRITE_ONCE(conn->ep.closing, true);
		conn->close.status = status;
		conn->close.in = old;
	}
	spin_unlock(&conn->ep.lock);
	if (!first)
		return;

	trace_rpcrdma2_conn_state(conn, old, RPCRDMA2_CONN_CLOSING);
	trace_rpcrdma2_conn_close(conn, status);
	rpcrdma2_conn_get(conn);
	conn_interrupt_connect(conn);
	if (conn->ep.active)
		kthread_queue_work(conn->param.connector,
				   &conn->close.thread_work);
	else
		queue_work(teardown_wq, &conn->close.work);
}

/**
 * rpcrdma2_conn_wait_closed - wait for the end of the teardown
 * @conn: a closing connection; the caller has a reference
 *
 * Context: Process; sleeps. Not in CM or CQ context, for which the teardown waits.
 */
void rpcrdma2_conn_wait_closed(struct rpcrdma2_conn *conn)
{
	wait_for_completion(&conn->close.done);
}

/**
 * rpcrdma2_conn_set_size - set the range of the size of Receive buffers
 * @conn: a connection that has no buffers yet
 * @start: initial and minimum size, octets
 * @most: maximum size, octets
 *
 * Context: Any.
 */
void rpcrdma2_conn_set_size(struct rpcrdma2_conn *conn, u32 start, u32 most)
{
	conn->rbsiz_min = start;
	conn->rbsiz_max = most;
	conn->terms.own.rbsiz = start;
	conn->ep.recvs.size = start;
	conn->peak_rbsiz = start;
	conn->ep.sends.size = min(conn->param.sbsiz, start);
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
	struct rpcrdma2_ep *ep = &conn->ep;

	conn->param = *param;
	ep->active = param->connector;
	ep->param = (struct rpcrdma2_ep_param){
		.shared		= param->shared &&
				  param->reverse != RDMA2_RVREQSUP_GENL,
		.moves_data	= !param->connector ||
				  param->reverse == RDMA2_RVREQSUP_GENL,
		.wrs_per_call	= param->wrs_per_call,
		.job_pages	= param->job_pages,
		.recv_max	= param->rbsiz_max,
	};
	ep->calls_out = param->calls_out;
	ep->calls_in = param->calls_in;
	conn->terms.own = (struct rpcrdma2_props){
		.brs		= param->reverse,
		.remote_inv	= true,
		.changes	= true,
	};
	ep->grant.now = param->calls_in;
	ep->grant.most = param->calls_in;
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

/**
 * rpcrdma2_conn_put - drop a reference
 * @conn: the connection; the last reference ends after the teardown, or without a CM id
 *
 * Context: Any that allows kfree() and the free op.
 */
void rpcrdma2_conn_put(struct rpcrdma2_conn *conn)
{
	kref_put(&conn->ref, conn->release);
}

/**
 * rpcrdma2_state_setup - module initialisation
 *
 * Context: Process; sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_state_setup(void)
{
	teardown_wq = alloc_workqueue("rpcrdma2_close", WQ_UNBOUND, 0);
	return teardown_wq ? 0 : -ENOMEM;
}

/**
 * rpcrdma2_state_cleanup - module removal; waits for every teardown
 *
 * Context: Process; sleeps. All connections are closing.
 */
void rpcrdma2_state_cleanup(void)
{
	destroy_workqueue(teardown_wq);
}
