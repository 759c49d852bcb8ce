// SPDX-License-Identifier: GPL-2.0
/*
 * A client's connections: one after the other.
 *
 * At most one exists at a time: the next one is made only after the last one is
 * CLOSED, so whatever an RPC had exposed is fenced before sunrpc sends it again.
 *
 * Connecting goes on by events. An attempt lasts from rpcrdma2_xprt_connect()
 * until connect_end_attempt(), and XPRT_CONNECTING is set for as long, so that there is
 * one attempt at a time. It does not hold sunrpc's write lock: sunrpc may close or
 * destroy the transport meanwhile, and a process may write another address to it.
 * All of these end the attempt.
 *
 * A ready connection that is lost asks sunrpc to disconnect, and sunrpc's close
 * waits for CLOSED.
 */
#include <linux/random.h>

#include "netlink/netlink.h"
#include "param.h"
#include "xprt.h"

/* Before what is known of a server is found to be wrong for good */
#define MAX_REFUSALS		2

/* The wait between the first two attempts; a random part of it, up to a third, is left out */
#define REESTABLISH_MIN		(9 * HZ / 2)

/*
 * Tell the tasks that wait for this attempt. A task that comes after XPRT_CONNECTING was
 * cleared begins the next one. It may hear of @status as well, and ask again.
 */
static void connect_end_attempt(struct rpcrdma2_xprt *x, int status)
{
	struct rpc_xprt *xprt = &x->xprt;

	xprt_clear_connecting(xprt);
	xprt_wake_pending_tasks(xprt, status);
	/* A process that writes to sysfs gets the write lock, and then the next task. */
	wake_up_bit(&xprt->state, XPRT_LOCKED);
	xprt_write_space(xprt);
}

static void xprt_conn_ready(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->xprt;
	struct rpc_xprt *xprt = &x->xprt;

	rpcrdma2_netlink_ready(conn);
	if (conn->dialect != conn->param.dialects.dialect[0])
		rpcrdma2_server_learned(x, conn->dialect);
	rpcrdma2_requester_ready(conn->requester);
	xprt->connect_cookie++;
	xprt->stat.connect_count++;
	xprt->stat.connect_time += (long)jiffies - xprt->stat.connect_start;
	xprt_set_connected(xprt);
	connect_end_attempt(x, -EAGAIN);
}

/* So that data, their parts of pages, and the rest of the message fit in the segments */
static size_t connect_max_payload(const struct rpcrdma2_conn *conn)
{
	size_t segments = RPCRDMA2_OWN_SEGMENTS - 4;

	return min_t(size_t, RPCRDMA2_MAX_PAYLOAD,
		     segments * conn->max_pages * PAGE_SIZE);
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

/* After -ESHUTDOWN, sunrpc knows: it closes or destroys the transport. */
static void xprt_conn_closing(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->xprt;

	if (conn->was_ready && conn->close_status != -ESHUTDOWN)
		xprt_force_disconnect(&x->xprt);
}

/*
 * A network that fails looks like a server that hangs up or does not answer. So the
 * second connection in a row that ends like this decides, and not the first.
 */
static void connect_weigh_suspicion(struct rpcrdma2_xprt *x,
				    struct rpcrdma2_conn *conn)
{
	const struct rpcrdma2_dialect *before = x->suspect;

	x->suspect = conn->suspect;
	if (!conn->suspect || conn->suspect != before)
		return;
	conn->assume = conn->suspect;
	x->suspect = NULL;
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
 * The errors that sunrpc knows as "cannot connect now". But where no RPC was ever
 * answered, there is a mount to be told the truth, for good. In a container, -ENETUNREACH
 * may end RPCs for good, too (7.3): so it is for a network that is not there, and not
 * for what this end lacks just now.
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
 * Each task that waited has sunrpc close what it waited for, unless the cookie is
 * another one by then. A task that waited to ask for a connection may be faster:
 * its new one would be closed as soon as it is up.
 */
static void connect_failed(struct rpcrdma2_xprt *x, int status)
{
	struct rpc_xprt *xprt = &x->xprt;

	rpcrdma2_server_lost(x);
	xprt->connect_cookie++;
	connect_end_attempt(x, connect_status(x, status));
}

/* sunrpc need not know that one attempt takes several connections. */
static bool connect_try_again(struct rpcrdma2_xprt *x,
			      const struct rpcrdma2_conn *conn)
{
	bool again;

	spin_lock(&x->lock);
	again = (conn->assume || conn->suspect) && !x->abandoned;
	if (again)
		queue_delayed_work(xprtiod_workqueue, &x->connect_work, 0);
	spin_unlock(&x->lock);
	return again;
}

static void connect_attempt_failed(struct rpcrdma2_xprt *x,
				   const struct rpcrdma2_conn *conn)
{
	if (conn->assume)
		rpcrdma2_server_learned(x, conn->assume);
	if (!connect_try_again(x, conn))
		connect_failed(x, conn->close_status);
}

/*
 * Calls were sent, and the server does not speak their version: nor another one, if
 * that was tried before, or must not be. What was only known of the server may be
 * out of date; but that it always is ends here, too. An xprt that had an answer, ever,
 * goes on trying.
 */
static bool connect_is_refused(struct rpcrdma2_xprt *x,
			       const struct rpcrdma2_conn *conn)
{
	if (!conn->was_ready || conn->close_status != -EPROTONOSUPPORT ||
	    conn->assume || x->stats.replies.messages)
		return false;
	return !x->assumed || ++x->refusals > MAX_REFUSALS;
}

static void xprt_conn_closed(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_requester *requester = conn->requester;
	struct rpcrdma2_xprt *x = conn->xprt;

	if (conn->was_ready) {
		x->last_close = jiffies;
		x->last_close_status = conn->close_status;
		x->silent_conns += conn->stats.heartbeats_missed;
		/* It no longer has the version that it had. */
		if (conn->close_status == -EPROTONOSUPPORT)
			rpcrdma2_server_lost(x);
	}
	if (conn->was_ready && conn->assume)
		rpcrdma2_server_learned(x, conn->assume);
	spin_lock(&x->lock);
	RCU_INIT_POINTER(x->conn, NULL);
	rpcrdma2_counters_add(&x->stats, &requester->stats, sizeof(x->stats));
	x->refused = connect_is_refused(x, conn);
	/*
	 * In one step for rpcrdma2_xprt_close(), which says the same where it finds no
	 * connection: said later, it could be taken for the next one's loss.
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
	    !rpcrdma2_jobs_provide(conn->responder, conn->calls_in + 1) &&
	    (x->reverse != RDMA2_RVREQSUP_GENL ||
	     !rpcrdma2_lend_provide(conn->responder)))
		return conn;
	rpcrdma2_conn_put(conn);
	return NULL;
}

/*
 * End the attempt that is under way. This does not wait for the end. Process context.
 *
 * The worker publishes its connection, and a failed connection queues the worker, with
 * @x->lock held. So either it is found here, or it finds @abandoned set.
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
	/* Also if it has become ready meanwhile */
	rpcrdma2_conn_close(conn, -ESHUTDOWN);
	rpcrdma2_conn_put(conn);
}

/* Another address than that of the last attempt? Then what was tried says nothing. */
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
	 * sunrpc's tasks wake no process that waits for the write lock, such as one that
	 * writes to sysfs. The task that began this attempt has released the lock, or is
	 * about to: then connect_end_attempt() wakes the process.
	 */
	wake_up_bit(&x->xprt.state, XPRT_LOCKED);
	x->attempt = jiffies;
	/* A Reply sets it to 0 again. */
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
 * The time from one attempt to the next grows with each attempt, the first one included.
 * A random part of up to a third is left out: the clients of a server that was restarted
 * would all come at the same moment. At least 3 s are left, after which sunrpc's tasks ask
 * again by themselves.
 *
 * sunrpc may have waited since the last attempt. (Its xprt_reconnect_delay() counts from
 * now.) An attempt that was abandoned before it began puts nothing off.
 */
static unsigned long connect_delay(const struct rpcrdma2_xprt *x)
{
	unsigned long delay = READ_ONCE(x->xprt.reestablish_timeout);
	unsigned long since = jiffies - x->attempt;

	delay -= get_random_u32() % (delay / 3 + 1);
	return since < delay ? delay - since : 0;
}

/* Another address: forget the backoff, and the failures and refusals of the last one. */
static void connect_begin_elsewhere(struct rpcrdma2_xprt *x)
{
	x->tried = x->xprt.addr;
	x->xprt.reestablish_timeout = 0;
	x->refused = false;
	x->refusals = 0;
	x->suspect = NULL;
}

/**
 * rpcrdma2_xprt_connect - begin to connect
 * @xprt: the transport
 * @task: whose RPC needs it
 *
 * The connect op: called by sunrpc with the write lock and XPRT_CONNECTING. sunrpc releases
 * the lock on return, so the address is copied here.
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
	/* The next task would keep the write lock while it waits for this attempt. */
	xprt_wait_for_buffer_space(xprt);
	queue_delayed_work(xprtiod_workqueue, &x->connect_work, delay);
}

/**
 * rpcrdma2_xprt_connect_init - prepare a transport for connecting
 * @x: a new one
 */
void rpcrdma2_xprt_connect_init(struct rpcrdma2_xprt *x)
{
	INIT_DELAYED_WORK(&x->connect_work, connect_worker);
}

/**
 * rpcrdma2_xprt_close - close the connection, if there is one
 * @xprt: whose
 *
 * The close op: called by sunrpc with the write lock; sleeps until nothing is exposed. An
 * attempt to connect ends soon after, and this does not wait for it: nothing is exposed. A
 * connection that becomes ready just then closes in the same way.
 */
void rpcrdma2_xprt_close(struct rpc_xprt *xprt)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	struct rpcrdma2_conn *conn;

	/* Only the holder of the write lock begins an attempt. */
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
 * rpcrdma2_xprt_connect_end - see to it that nothing connects, and no connection is left
 * @x: a transport of which sunrpc has let go
 *
 * Process context, sleeps.
 */
void rpcrdma2_xprt_connect_end(struct rpcrdma2_xprt *x)
{
	connect_abandon_attempt(x);
	/* If it was running, the connection that it has made closes. */
	cancel_delayed_work_sync(&x->connect_work);
	/* The last connection's teardown may still be reporting to us. */
	wait_var_event(&x->nr_conns, !atomic_read(&x->nr_conns));
}
