// SPDX-License-Identifier: GPL-2.0
/*
 * A client's connections, one after the other.
 *
 * The next connection is made only after the last one is CLOSED. So all memory that an RPC has
 * exposed is fenced before sunrpc sends the RPC again.
 *
 * An attempt to connect lasts from rpcrdma2_xprt_connect() to connect_end_attempt(). For as long,
 * XPRT_CONNECTING is set, so there is one attempt at a time. The attempt does not hold sunrpc's
 * write lock. sunrpc may close or destroy the transport, and a process may write another address
 * to it. Each of these ends the attempt. If a READY connection is lost, xprt_conn_closing() asks
 * sunrpc to disconnect, and the close op waits for CLOSED.
 *
 * connect_worker() runs in sunrpc's xprtiod. conn/conn.h says where the callbacks run.
 */
#include <linux/random.h>

#include "netlink/netlink.h"
#include "param.h"
#include "sunrpc_quirks.h"
#include "xprt.h"

/* Refusals that are forgiven to a server whose dialect was only remembered */
#define MAX_REFUSALS		2

/* See connect_weigh_suspicion(). */
#define SUSPICIONS		2
#define SUSPICIONS_OF_KNOWN	5

/* Jiffies between the first two attempts, before connect_delay() cuts off up to a third */
#define REESTABLISH_MIN		(9 * HZ / 2)
/* The same after a connection that had a Reply */
#define RECONNECT_MIN		HZ

/*
 * End the attempt and wake the tasks that wait for it. A task that comes after XPRT_CONNECTING is
 * cleared begins the next attempt. @status may reach that task too, which then asks again.
 */
static void connect_end_attempt(struct rpcrdma2_xprt *x, int status)
{
	struct rpc_xprt *xprt = &x->xprt;

	xprt_clear_connecting(xprt);
	xprt_wake_pending_tasks(xprt, status);
	/* A process that writes to sysfs gets the write lock before the next task does. */
	rpcrdma2_sunrpc_wake_writer(xprt);
	xprt_write_space(xprt);
}

static void xprt_conn_ready(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->xprt;
	struct rpc_xprt *xprt = &x->xprt;

	rpcrdma2_debugfs_ready(conn);
	rpcrdma2_netlink_ready(conn);
	if (conn->terms.dialect != conn->param.dialects.dialect[0])
		rpcrdma2_server_learned(x, conn->terms.dialect);
	rpcrdma2_requester_ready(conn->requester);
	xprt->connect_cookie++;
	xprt->stat.connect_count++;
	xprt->stat.connect_time += (long)jiffies - xprt->stat.connect_start;
	xprt_set_connected(xprt);
	connect_end_attempt(x, -EAGAIN);
}

/* Return: octets of the largest payload. Four segments remain for partial pages, head and tail. */
static size_t connect_max_payload(const struct rpcrdma2_conn *conn)
{
	size_t segments = RPCRDMA2_OWN_SEGMENTS - 4;

	return min_t(size_t, RPCRDMA2_MAX_PAYLOAD,
		     segments * conn->ep.max_pages * PAGE_SIZE);
}

static int xprt_conn_prepare(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->xprt;

	x->xprt.max_payload = connect_max_payload(conn);
	return rpcrdma2_mrs_provide(conn->requester);
}

static void xprt_conn_room(struct rpcrdma2_conn *conn)
{
	rpcrdma2_requester_room(conn->requester);
	rpcrdma2_retry_now(conn->responder);
}

/* -ESHUTDOWN is from sunrpc itself, which closes or destroys the transport already. */
static void xprt_conn_closing(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->xprt;

	if (conn->was_ready && conn->close.status != -ESHUTDOWN)
		xprt_force_disconnect(&x->xprt);
}

/*
 * Believe in a suspicion when SUSPICIONS connections in a row end with it. One alone proves
 * nothing: a network or a device that fails looks like a server that hangs up or is silent.
 *
 * The server may have spoken this dialect on an earlier connection. If so, a fault is more
 * likely than another server at the same address, and SUSPICIONS_OF_KNOWN are needed. sunrpc
 * makes those connections, with its backoff.
 */
static void connect_weigh_suspicion(struct rpcrdma2_xprt *x,
				    struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_dialect *suspect = conn->negotiation.suspect;
	bool known = conn->terms.dialect == x->spoken;

	if (conn->terms.have_props)
		x->spoken = conn->terms.dialect;
	if (suspect != x->suspect)
		x->suspicions = 0;
	x->suspect = suspect;
	if (!suspect)
		return;
	if (++x->suspicions >= (known ? SUSPICIONS_OF_KNOWN : SUSPICIONS)) {
		conn->negotiation.assume = suspect;
		x->suspect = NULL;
	} else if (known) {
		conn->negotiation.suspect = NULL;
	}
}

static void xprt_conn_fence(struct rpcrdma2_conn *conn)
{
	rpcrdma2_mrs_fence(conn->requester);
}

static void xprt_conn_drained(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->xprt;

	connect_weigh_suspicion(x, conn);
	rpcrdma2_requester_drained(conn->requester);
	rpcrdma2_xprt_reverse_drop(conn);
	rpcrdma2_netlink_lost(conn);
	rpcrdma2_report_failure(x, conn);
}

/*
 * Translate the status of a failed attempt to one that sunrpc takes for "cannot connect now". If
 * no RPC was ever answered, pass -EPROTONOSUPPORT on: a mount must then fail for good. Once there
 * was a Reply, the server may yet return with its former version.
 *
 * sunrpc may end the RPCs of a container for good after -ENETUNREACH. So pass that only if the
 * network is missing, and not for lack of a resource at this end.
 *
 * Return: negative errno
 */
static int connect_status(const struct rpcrdma2_xprt *x, int status)
{
	switch (status) {
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -ECONNABORTED:
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ENOTCONN:
		return status;
	case -ESHUTDOWN:
		return -ENOTCONN;
	case -EPROTONOSUPPORT:
		return x->stats.replies.messages ? -ECONNREFUSED : status;
	case -EOPNOTSUPP:
	case -EPROTO:
		return -ECONNREFUSED;
	default:
		return -EHOSTUNREACH;
	}
}

/*
 * End a failed attempt. The new cookie prevents this:
 *
 *  1. The end of the attempt wakes tasks A and B.
 *  2. B begins the next attempt.
 *  3. A still has the current cookie, so sunrpc closes the transport for A. The attempt of B ends.
 */
static void connect_failed(struct rpcrdma2_xprt *x, int status)
{
	struct rpc_xprt *xprt = &x->xprt;

	rpcrdma2_server_lost(x);
	xprt->connect_cookie++;
	connect_end_attempt(x, connect_status(x, status));
}

/*
 * Make another connection in the same attempt, of which sunrpc need not know. The failed one
 * has named another dialect to try, or a suspicion to confirm.
 *
 * Return: false if the attempt must end
 */
static bool connect_try_again(struct rpcrdma2_xprt *x,
			      const struct rpcrdma2_conn *conn)
{
	bool again;

	spin_lock(&x->lock);
	again = (conn->negotiation.assume || conn->negotiation.suspect) && !x->abandoned;
	if (again)
		queue_delayed_work(xprtiod_workqueue, &x->connect_work, 0);
	spin_unlock(&x->lock);
	return again;
}

static void connect_attempt_failed(struct rpcrdma2_xprt *x,
				   const struct rpcrdma2_conn *conn)
{
	if (conn->negotiation.assume)
		rpcrdma2_server_learned(x, conn->negotiation.assume);
	if (!connect_try_again(x, conn))
		connect_failed(x, conn->close.status);
}

/*
 * Has the server refused this client for good? It has if the connection was READY, the server
 * then refused the version, and no other dialect is left to try. There are two exceptions:
 *
 * - A remembered dialect may be out of date, so MAX_REFUSALS refusals are forgiven.
 * - A transport that ever had a Reply tries again and again.
 */
static bool connect_is_refused(struct rpcrdma2_xprt *x,
			       const struct rpcrdma2_conn *conn)
{
	if (!conn->was_ready || conn->close.status != -EPROTONOSUPPORT ||
	    conn->negotiation.assume || x->stats.replies.messages)
		return false;
	return !x->assumed || ++x->refusals > MAX_REFUSALS;
}

static void xprt_conn_closed(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_requester *requester = conn->requester;
	struct rpcrdma2_xprt *x = conn->xprt;

	if (conn->was_ready) {
		x->last_close = jiffies;
		x->last_close_status = conn->close.status;
		x->silent_conns += conn->stats.heartbeats_missed;
		/* The server does not speak the version that it spoke before. */
		if (conn->close.status == -EPROTONOSUPPORT)
			rpcrdma2_server_lost(x);
	}
	if (conn->was_ready && conn->negotiation.assume)
		rpcrdma2_server_learned(x, conn->negotiation.assume);
	spin_lock(&x->lock);
	RCU_INIT_POINTER(x->conn, NULL);
	rpcrdma2_counters_add(&x->stats, &requester->stats, sizeof(x->stats));
	x->refused = connect_is_refused(x, conn);
	/*
	 * Clear @conn and tell sunrpc under one lock. Otherwise:
	 *
	 *  1. This function clears @conn.
	 *  2. rpcrdma2_xprt_close() finds no connection and tells sunrpc, which connects again.
	 *  3. This function tells sunrpc, which mistakes that for the loss of the new connection.
	 */
	if (conn->was_ready)
		xprt_disconnect_done(&x->xprt);
	spin_unlock(&x->lock);
	if (!conn->was_ready)
		connect_attempt_failed(x, conn);
	if (atomic_dec_and_test(&x->nr_conns))
		wake_up_var(&x->nr_conns);
	rpcrdma2_conn_put(conn);
}

static void xprt_conn_free(struct rpcrdma2_conn *conn)
{
	rpcrdma2_requester_destroy(conn->requester);
	rpcrdma2_responder_destroy(conn->responder);
}

static bool xprt_conn_is_quiet(struct rpcrdma2_conn *conn)
{
	return rpcrdma2_requester_is_quiet(conn->requester);
}

static void xprt_conn_show(struct rpcrdma2_conn *conn, struct seq_file *seq)
{
	struct rpcrdma2_xprt *x = conn->xprt;

	rpcrdma2_show(seq, "connects", "%lu", x->xprt.stat.connect_count);
	rpcrdma2_show(seq, "last_close_status", "%d", x->last_close_status);
	if (x->last_close_status)
		rpcrdma2_show(seq, "last_close_seconds", "%lu",
			      (jiffies - x->last_close) / HZ);
	rpcrdma2_show(seq, "silent_connections", "%u", x->silent_conns);
	rpcrdma2_show_requester(seq, conn->requester);
	rpcrdma2_show_responder(seq, conn->responder);
}

static const struct rpcrdma2_conn_ops conn_ops = {
	.prepare	= xprt_conn_prepare,
	.ready		= xprt_conn_ready,
	.closing	= xprt_conn_closing,
	.fence		= xprt_conn_fence,
	.drained	= xprt_conn_drained,
	.closed		= xprt_conn_closed,
	.free		= xprt_conn_free,
	.room		= xprt_conn_room,
	.call		= rpcrdma2_xprt_reverse_call,
	.reply		= rpcrdma2_reply_receive,
	.is_quiet	= xprt_conn_is_quiet,
	.show		= xprt_conn_show,
};

static struct rpcrdma2_conn *xprt_conn_new(struct rpcrdma2_xprt *x)
{
	struct rpcrdma2_conn_param param = {
		.ops		= &conn_ops,
		.net		= x->xprt.xprt_net,
		.rbsiz_min	= rpcrdma2_inline_start(),
		.rbsiz_max	= rpcrdma2_inline_size,
		.sbsiz		= rpcrdma2_inline_size,
		.calls_out	= x->slots,
		.calls_in	= RPCRDMA2_REVERSE_CREDITS,
		.wrs_per_call	= RPCRDMA2_XPRT_WRS_PER_CALL,
		.heartbeat	= rpcrdma2_heartbeat_period,
		.reverse	= x->reverse,
		.job_pages	= rpcrdma2_job_pages(RPCRDMA2_REVERSE_PAYLOAD),
		.swapper	= &x->xprt.swapper,
		.connector	= x->connector,
	};
	struct rpcrdma2_conn *conn;

	rpcrdma2_param_client_dialects(&param.dialects);
	x->assumed = rpcrdma2_server_dialect(x);
	if (x->assumed)
		rpcrdma2_dialects_from(&param.dialects, x->assumed);
	conn = rpcrdma2_conn_alloc(&param, GFP_KERNEL);
	if (!conn)
		return NULL;
	conn->xprt = x;
	if (rpcrdma2_requester_create(conn, &x->xprt) &&
	    rpcrdma2_responder_create(conn, (struct sockaddr *)&x->tried,
				      &rpcrdma2_xprt_responder_ops) &&
	    !rpcrdma2_jobs_provide(conn->responder, conn->ep.calls_in + 1) &&
	    (x->reverse != RDMA2_RVREQSUP_GENL ||
	     !rpcrdma2_lend_provide(conn->responder)))
		return conn;
	rpcrdma2_conn_put(conn);
	return NULL;
}

/*
 * End the present attempt, without waiting for its end. One side finds the other's change:
 *
 *	connect_abandon_attempt()	connect_worker(), connect_try_again()
 *	set @abandoned (@x->lock)	publish @conn, or queue the worker (@x->lock)
 *	cancel the worker, or		read @abandoned (@x->lock): if set,
 *	  close @conn			  close @conn, or queue nothing
 *
 * Context: process
 */
static void connect_abandon_attempt(struct rpcrdma2_xprt *x)
{
	struct rpcrdma2_conn *conn;

	spin_lock(&x->lock);
	x->abandoned = true;
	spin_unlock(&x->lock);
	if (cancel_delayed_work(&x->connect_work)) {
		connect_failed(x, -ENOTCONN);
		return;
	}
	conn = rpcrdma2_xprt_conn_get(x);
	if (!conn)
		return;
	/* The connection may have become READY by now: close it all the same. */
	rpcrdma2_conn_close(conn, -ESHUTDOWN);
	rpcrdma2_conn_put(conn);
}

/* Has the transport's address changed since the last attempt? */
static bool connect_is_elsewhere(const struct rpcrdma2_xprt *x)
{
	return memcmp(&x->tried, &x->xprt.addr, sizeof(x->tried));
}

static void connect_worker(struct work_struct *work)
{
	struct rpcrdma2_xprt *x = container_of(to_delayed_work(work),
					       struct rpcrdma2_xprt,
					       connect_work);
	struct rpcrdma2_memalloc saved = rpcrdma2_memalloc_save(&x->xprt.swapper);
	struct rpcrdma2_conn *conn;
	bool abandoned;

	/*
	 * Wake a process that waits for the write lock, such as one that writes to sysfs. sunrpc's
	 * tasks do not wake it when they release the lock. If the task that began this attempt has
	 * the lock still, connect_end_attempt() wakes the process.
	 */
	rpcrdma2_sunrpc_wake_writer(&x->xprt);
	x->attempt = jiffies;
	/* A Reply sets the timeout back to 0. */
	xprt_reconnect_backoff(&x->xprt, REESTABLISH_MIN);
	if (x->refused) {
		x->refused = false;
		connect_failed(x, -EPROTONOSUPPORT);
		goto out;
	}
	conn = xprt_conn_new(x);
	if (!conn) {
		connect_failed(x, -ENOMEM);
		goto out;
	}
	atomic_inc(&x->nr_conns);
	spin_lock(&x->lock);
	rcu_assign_pointer(x->conn, conn);
	abandoned = x->abandoned;
	rpcrdma2_conn_get(conn);
	spin_unlock(&x->lock);
	if (abandoned)
		rpcrdma2_conn_close(conn, -ESHUTDOWN);
	else
		rpcrdma2_conn_connect(conn, NULL,
				      (struct sockaddr *)&x->tried);
	rpcrdma2_conn_put(conn);
out:
	rpcrdma2_memalloc_restore(saved);
}

/*
 * Compute how long to wait before the next attempt, in jiffies. The delay grows with each run of
 * connect_worker() until a Reply comes. A random part of up to a third is left out, so that the
 * clients of a restarted server do not all come at once. Without a Reply, at least 3 s are left:
 * sunrpc's tasks ask again by themselves after 3 s.
 *
 * The delay counts from the last run of connect_worker(), so time that sunrpc has waited counts.
 * A connection that lasted longer is replaced at once. One Call may end each connection, while
 * others get their Replies; RECONNECT_MIN limits how often. An attempt that was abandoned before
 * it ran delays nothing.
 */
static unsigned long connect_delay(const struct rpcrdma2_xprt *x)
{
	unsigned long delay = max_t(unsigned long, RECONNECT_MIN,
				    READ_ONCE(x->xprt.reestablish_timeout));
	unsigned long since = jiffies - x->attempt;

	delay -= get_random_u32() % (delay / 3 + 1);
	return since < delay ? delay - since : 0;
}

/* Forget backoff, failures and refusals: they belong to another address. */
static void connect_begin_elsewhere(struct rpcrdma2_xprt *x)
{
	x->tried = x->xprt.addr;
	x->xprt.reestablish_timeout = 0;
	x->refused = false;
	x->refusals = 0;
	x->spoken = NULL;
	x->suspect = NULL;
}

/**
 * rpcrdma2_xprt_connect - begin an attempt to connect
 * @xprt: the transport
 * @task: the task whose RPC needs a connection
 *
 * The connect op. Copies the address, since sunrpc releases the write lock on return.
 *
 * Context: process; the xprt's write lock is held, and XPRT_CONNECTING is set.
 */
void rpcrdma2_xprt_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	unsigned long delay = 0;

	if (connect_is_elsewhere(x))
		connect_begin_elsewhere(x);
	else
		delay = connect_delay(x);
	spin_lock(&x->lock);
	x->abandoned = false;
	spin_unlock(&x->lock);
	/* sunrpc would let the next task wait for this attempt with the write lock held. */
	xprt_wait_for_buffer_space(xprt);
	queue_delayed_work(xprtiod_workqueue, &x->connect_work, delay);
}

/**
 * rpcrdma2_xprt_connect_init - prepare a transport for connecting
 * @x: the new transport
 *
 * Context: any.
 */
void rpcrdma2_xprt_connect_init(struct rpcrdma2_xprt *x)
{
	INIT_DELAYED_WORK(&x->connect_work, connect_worker);
}

/**
 * rpcrdma2_xprt_close - close the connection of a transport, or end the attempt to connect
 * @xprt: the transport
 *
 * The close op. Waits until a connection is CLOSED, so nothing is exposed afterwards. Does not
 * wait for the end of an attempt, which exposes nothing. If the attempt succeeds at this moment,
 * its connection closes too.
 *
 * Context: process; the xprt's write lock is held. Sleeps.
 */
void rpcrdma2_xprt_close(struct rpc_xprt *xprt)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	struct rpcrdma2_conn *conn;

	/* The caller holds the write lock, so no other thread begins an attempt now. */
	if (xprt_connecting(xprt)) {
		connect_abandon_attempt(x);
		return;
	}
	conn = rpcrdma2_xprt_conn_get(x);
	if (!conn) {
		xprt_disconnect_done(xprt);
		return;
	}
	rpcrdma2_conn_close(conn, -ESHUTDOWN);
	rpcrdma2_conn_wait_closed(conn);
	rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_xprt_connect_end - end the attempt and the connection of a transport for good
 * @x: a transport that sunrpc destroys
 *
 * Context: process; sleeps until there is neither an attempt nor a connection.
 */
void rpcrdma2_xprt_connect_end(struct rpcrdma2_xprt *x)
{
	connect_abandon_attempt(x);
	/* A worker that is running finds @abandoned set, and closes its connection. */
	cancel_delayed_work_sync(&x->connect_work);
	/* The teardown of the last connection may still use @x. */
	wait_var_event(&x->nr_conns, !atomic_read(&x->nr_conns));
}
