// SPDX-License-Identifier: GPL-2.0
/*
 * A client's transport: connect, send, reconnect.
 *
 * At most one connection exists at a time: the next one is made only after
 * the last one is CLOSED, so whatever an RPC had exposed is fenced before
 * sunrpc sends it again.
 *
 * Connecting goes on by events. sunrpc's write lock is held from connect
 * until the connection is ready or CLOSED; both report to sunrpc. A ready
 * connection that is lost asks sunrpc to disconnect, and sunrpc's close waits
 * for CLOSED.
 */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>

#include "compat.h"
#include "module.h"
#include "xprt.h"

#define BIND_TIMEOUT		(60 * HZ)
#define REESTABLISH_MIN		(3 * HZ)
#define REESTABLISH_MAX		(60 * HZ)
#define IDLE_TIMEOUT		(5 * 60 * HZ)
#define CONNECT_TIMEOUT		(60 * HZ)

/* Before what is known of a server is found to be wrong for good */
#define MAX_REFUSALS		2

/* Slots that exist from the start. Of the others, which come with need, so many stay. */
#define PREALLOC_SLOTS		4
#define KEPT_SLOTS		64U

static const struct rpc_timeout default_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

/* The caller holds @x->lock. */
static struct rpcrdma2_conn *conn_of(const struct rpcrdma2_xprt *x)
{
	return rcu_dereference_protected(x->conn, lockdep_is_held(&x->lock));
}

/**
 * rpcrdma2_xprt_conn_get - the connection, if there is one
 * @x: the transport
 *
 * Return: a reference, or NULL
 */
struct rpcrdma2_conn *rpcrdma2_xprt_conn_get(struct rpcrdma2_xprt *x)
{
	struct rpcrdma2_conn *conn;

	spin_lock(&x->lock);
	conn = conn_of(x);
	if (conn)
		rpcrdma2_conn_get(conn);
	spin_unlock(&x->lock);
	return conn;
}

static void conn_ready(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->upper;
	struct rpc_xprt *xprt = &x->xprt;

	if (conn->dialect != conn->param.dialects.dialect[0])
		rpcrdma2_server_learned(xprt, conn->dialect);
	rpcrdma2_requester_ready(conn->requester);
	xprt->connect_cookie++;
	xprt->stat.connect_count++;
	xprt->stat.connect_time += (long)jiffies - xprt->stat.connect_start;
	xprt_set_connected(xprt);
	xprt_clear_connecting(xprt);
	/* Before another task may connect or send, and wait among those. */
	xprt_wake_pending_tasks(xprt, -EAGAIN);
	xprt_unlock_connect(xprt, x);
}

/* So that data, their parts of pages, and the rest of the message fit in the segments */
static size_t max_payload(const struct rpcrdma2_conn *conn)
{
	size_t segments = RPCRDMA2_OWN_SEGMENTS - 4;

	return min_t(size_t, RPCRDMA2_MAX_PAYLOAD,
		     segments * conn->max_pages * PAGE_SIZE);
}

static int conn_prepare(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->upper;

	x->xprt.max_payload = max_payload(conn);
	return rpcrdma2_mrs_provide(conn->requester);
}

static void conn_room(struct rpcrdma2_conn *conn)
{
	rpcrdma2_requester_room(conn->requester);
}

static void conn_closing(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->upper;

	if (conn->was_ready)
		xprt_force_disconnect(&x->xprt);
}

static void conn_drained(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->upper;

	rpcrdma2_requester_drained(conn->requester);
	rpcrdma2_xprt_reverse_drop(conn);
	rpcrdma2_report_failure(&x->xprt, conn);
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

	rpcrdma2_server_lost(xprt);
	xprt->connect_cookie++;
	xprt_clear_connecting(xprt);
	/* Before another task may connect, and wait among those. */
	xprt_wake_pending_tasks(xprt, connect_status(x, status));
	xprt_unlock_connect(xprt, x);
}

static void attempt_failed(struct rpcrdma2_xprt *x,
			   const struct rpcrdma2_conn *conn)
{
	if (conn->assume) {
		/* sunrpc need not know that one attempt takes two connections. */
		rpcrdma2_server_learned(&x->xprt, conn->assume);
		queue_delayed_work(xprtiod_workqueue, &x->connect_work, 0);
	} else {
		connect_failed(x, conn->close_status);
	}
}

/*
 * Calls were sent, and the server does not speak their version: nor another one, if
 * that was tried before, or must not be. What was only known of the server may be
 * out of date; but that it always is ends here, too. An xprt that had an answer, ever,
 * goes on trying.
 */
static bool is_refused(struct rpcrdma2_xprt *x, const struct rpcrdma2_conn *conn)
{
	if (!conn->was_ready || conn->close_status != -EPROTONOSUPPORT ||
	    conn->assume || x->stats.replies.messages)
		return false;
	return !x->assumed || ++x->refusals > MAX_REFUSALS;
}

static void conn_closed(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_requester *requester = conn->requester;
	struct rpcrdma2_xprt *x = conn->upper;

	if (conn->was_ready) {
		x->last_close = jiffies;
		x->last_close_status = conn->close_status;
		x->silent_conns += conn->stats.heartbeats_missed;
		/* It no longer has the version that it had. */
		if (conn->close_status == -EPROTONOSUPPORT)
			rpcrdma2_server_lost(&x->xprt);
	}
	if (conn->was_ready && conn->assume)
		rpcrdma2_server_learned(&x->xprt, conn->assume);
	spin_lock(&x->lock);
	RCU_INIT_POINTER(x->conn, NULL);
	rpcrdma2_counters_add(&x->stats, &requester->stats, sizeof(x->stats));
	x->refused = is_refused(x, conn);
	/*
	 * In one step for xprt_op_close(), which says the same where it finds no
	 * connection: said later, it could be taken for the next one's loss.
	 */
	if (conn->was_ready)
		xprt_disconnect_done(&x->xprt);
	spin_unlock(&x->lock);
	if (!conn->was_ready)
		attempt_failed(x, conn);
	if (atomic_dec_and_test(&x->nr_conns))
		wake_up_var(&x->nr_conns);
	rpcrdma2_conn_put(conn);
}

static void conn_free(struct rpcrdma2_conn *conn)
{
	rpcrdma2_requester_destroy(conn->requester);
	rpcrdma2_responder_destroy(conn->responder);
}

static bool conn_is_quiet(struct rpcrdma2_conn *conn)
{
	return rpcrdma2_requester_is_quiet(conn->requester);
}

static void conn_show(struct rpcrdma2_conn *conn, struct seq_file *seq)
{
	struct rpcrdma2_xprt *x = conn->upper;

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
	.prepare	= conn_prepare,
	.ready		= conn_ready,
	.closing	= conn_closing,
	.drained	= conn_drained,
	.closed		= conn_closed,
	.free		= conn_free,
	.room		= conn_room,
	.call		= rpcrdma2_xprt_reverse_call,
	.reply		= rpcrdma2_reply_receive,
	.is_quiet	= conn_is_quiet,
	.show		= conn_show,
};

static struct rpcrdma2_conn *conn_new(struct rpcrdma2_xprt *x)
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

	rpcrdma2_client_dialects(&param.dialects);
	x->assumed = rpcrdma2_server_dialect(&x->xprt);
	if (x->assumed)
		rpcrdma2_dialects_from(&param.dialects, x->assumed);
	conn = rpcrdma2_conn_alloc(&param, GFP_KERNEL);
	if (!conn)
		return NULL;
	conn->upper = x;
	if (rpcrdma2_requester_create(conn, &x->xprt) &&
	    rpcrdma2_responder_create(conn, rpcrdma2_xprt_admitted) &&
	    !rpcrdma2_jobs_provide(conn->responder) &&
	    (x->reverse != RDMA2_RVREQSUP_GENL ||
	     !rpcrdma2_lend_provide(conn->responder)))
		return conn;
	rpcrdma2_conn_put(conn);
	return NULL;
}

/*
 * Until an attempt ends it has the write lock, for which sunrpc waits before it lets
 * go of the transport. Should somebody want it after all, sunrpc tries again.
 */
static void abandon_attempt(struct rpcrdma2_xprt *x)
{
	struct rpcrdma2_conn *conn;

	if (cancel_delayed_work(&x->connect_work)) {
		connect_failed(x, -ENOTCONN);
		return;
	}
	spin_lock(&x->lock);
	x->abandoned = true;
	spin_unlock(&x->lock);
	conn = rpcrdma2_xprt_conn_get(x);
	if (!conn)
		return;
	if (!rpcrdma2_conn_is_ready(conn))
		rpcrdma2_conn_close(conn, -ENOTCONN);
	rpcrdma2_conn_put(conn);
}

static void connect_worker(struct work_struct *work)
{
	struct rpcrdma2_xprt *x = container_of(to_delayed_work(work),
					       struct rpcrdma2_xprt,
					       connect_work);
	struct rpcrdma2_memalloc saved = rpcrdma2_memalloc_save(&x->xprt.swapper);
	struct rpcrdma2_conn *conn;
	bool abandoned;

	x->attempt = jiffies;
	if (x->xprt.stat.connect_count)
		xprt_reconnect_backoff(&x->xprt, REESTABLISH_MIN);
	if (x->refused) {
		x->refused = false;
		connect_failed(x, -EPROTONOSUPPORT);
		goto out;
	}
	conn = conn_new(x);
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
		rpcrdma2_conn_close(conn, -ENOTCONN);
	else
		rpcrdma2_conn_connect(conn, NULL,
				      (struct sockaddr *)&x->xprt.addr);
	rpcrdma2_conn_put(conn);
out:
	rpcrdma2_memalloc_restore(saved);
}

/*
 * From one attempt to the next; sunrpc may have waited after the last one already. (Its
 * xprt_reconnect_delay() counts from now.) Those that were abandoned before they began
 * put nothing off.
 */
static unsigned long reconnect_delay(const struct rpcrdma2_xprt *x)
{
	unsigned long next = x->attempt + x->xprt.reestablish_timeout;

	return time_after(next, jiffies) ? next - jiffies : 0;
}

/* Called by sunrpc with the write lock and XPRT_CONNECTING. */
static void xprt_op_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	unsigned long delay = 0;

	WARN_ON_ONCE(!xprt_lock_connect(xprt, task, x));
	spin_lock(&x->lock);
	x->abandoned = false;
	spin_unlock(&x->lock);
	if (xprt->stat.connect_count)
		delay = reconnect_delay(x);
	queue_delayed_work(xprtiod_workqueue, &x->connect_work, delay);
}

/* Called by sunrpc with the write lock; sleeps until nothing is exposed. */
static void xprt_op_close(struct rpc_xprt *xprt)
{
	struct rpcrdma2_conn *conn = rpcrdma2_xprt_conn_get(to_rpcrdma2_xprt(xprt));

	if (!conn) {
		xprt_disconnect_done(xprt);
		return;
	}
	rpcrdma2_conn_close(conn, -ESHUTDOWN);
	rpcrdma2_conn_wait_closed(conn);
	rpcrdma2_conn_put(conn);
}

static void xprt_op_destroy(struct rpc_xprt *xprt)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);

	cancel_delayed_work_sync(&x->connect_work);
	xprt_op_close(xprt);
	/* The last connection's teardown may still be reporting to us. */
	wait_var_event(&x->nr_conns, !atomic_read(&x->nr_conns));
	kthread_destroy_worker(x->connector);
	rpcrdma2_xprt_reverse_free(x);
	rpcrdma2_free_addresses(xprt);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

/* Called by sunrpc with the write lock. */
static int xprt_op_send_request(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct rpcrdma2_conn *conn;
	int rc = -ENOTCONN;
	bool entered;

	if (bc_prealloc(rqst))
		return rpcrdma2_xprt_reverse_reply(rqst);

	/* No reference: its users keep it. */
	rcu_read_lock();
	conn = rcu_dereference(to_rpcrdma2_xprt(xprt)->conn);
	entered = conn && rpcrdma2_conn_is_ready(conn) &&
		  rpcrdma2_conn_enter(conn);
	rcu_read_unlock();
	if (!conn)
		return rc;
	if (entered) {
		rc = rpcrdma2_call_send(conn->requester, rqst);
		rpcrdma2_conn_exit(conn);
	}
	if (rc == -ENOTCONN)
		/* sunrpc still believes in it. */
		xprt_force_disconnect(xprt);
	if (!rc)
		rqst->rq_xmit_bytes_sent += rqst->rq_snd_buf.len;
	return rc;
}

/*
 * A Call went unanswered. It is not sent twice on one connection, since two
 * Replies to one Call would upset the credits; so the connection goes.
 */
static void xprt_op_timer(struct rpc_xprt *xprt, struct rpc_task *task)
{
	xprt_force_disconnect(xprt);
}

/*
 * A task may have waited for this connection until long after its time: that must not
 * run out as soon as the Call is sent, or the connection would go at once.
 */
static void xprt_op_wait_for_reply(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;

	if (time_after_eq(jiffies, rqst->rq_majortimeo))
		rqst->rq_majortimeo = jiffies + rqst->rq_timeout;
	xprt_wait_for_reply_request_def(task);
}

static void xprt_op_set_connect_timeout(struct rpc_xprt *xprt,
					unsigned long connect_timeout,
					unsigned long reconnect_timeout)
{
	spin_lock(&xprt->transport_lock);
	if (connect_timeout < xprt->connect_timeout)
		xprt->connect_timeout = connect_timeout;
	if (reconnect_timeout < xprt->max_reconnect_timeout)
		xprt->max_reconnect_timeout = reconnect_timeout;
	spin_unlock(&xprt->transport_lock);
}

/* An RPC that was killed, as all are to unmount, may be the last that waited. */
static void xprt_op_free_slot(struct rpc_xprt *xprt, struct rpc_rqst *rqst)
{
	struct rpc_task *task = rqst->rq_task;
	bool killed = RPC_SIGNALLED(task);

	xprt_free_slot(xprt, rqst);
	if (killed && xprt_connecting(xprt) &&
	    RB_EMPTY_ROOT(&xprt->recv_queue))
		abandon_attempt(to_rpcrdma2_xprt(xprt));
}

static void xprt_op_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	const struct rpcrdma2_requester *requester;
	const struct rpcrdma2_conn *conn;
	struct rpcrdma2_stats stats;

	spin_lock(&x->lock);
	stats = x->stats;
	conn = conn_of(x);
	if (conn) {
		requester = conn->requester;
		rpcrdma2_counters_add(&stats, &requester->stats, sizeof(stats));
	}
	spin_unlock(&x->lock);
	rpcrdma2_print_stats(xprt, &stats, seq);
}

static void xprt_op_inject_disconnect(struct rpc_xprt *xprt)
{
	struct rpcrdma2_conn *conn = rpcrdma2_xprt_conn_get(to_rpcrdma2_xprt(xprt));

	if (!conn)
		return;
	if (rpcrdma2_conn_is_ready(conn))
		rpcrdma2_conn_close(conn, -ECONNRESET);
	rpcrdma2_conn_put(conn);
}

/*
 * sunrpc looks at xprt->swapper where it prepares an RPC; this module does so where
 * it makes a connection. Else, nothing on the way of an RPC waits for memory.
 */
static int xprt_op_enable_swap(struct rpc_xprt *xprt)
{
	atomic_inc(&xprt->swapper);
	return 0;
}

static void xprt_op_disable_swap(struct rpc_xprt *xprt)
{
	atomic_dec(&xprt->swapper);
}

static const struct rpc_xprt_ops xprt_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_op_free_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= rpcrdma2_set_port,
	.connect		= xprt_op_connect,
	.prepare_request	= rpcrdma2_call_prepare,
	.buf_alloc		= rpcrdma2_call_alloc,
	.buf_free		= rpcrdma2_call_free,
	.send_request		= xprt_op_send_request,
	.wait_for_reply_request	= xprt_op_wait_for_reply,
	.timer			= xprt_op_timer,
	.close			= xprt_op_close,
	.destroy		= xprt_op_destroy,
	.set_connect_timeout	= xprt_op_set_connect_timeout,
	.print_stats		= xprt_op_print_stats,
	.enable_swap		= xprt_op_enable_swap,
	.disable_swap		= xprt_op_disable_swap,
	.inject_disconnect	= xprt_op_inject_disconnect,
	.bc_setup		= rpcrdma2_xprt_bc_setup,
	.bc_maxpayload		= rpcrdma2_xprt_bc_maxpayload,
	.bc_num_slots		= rpcrdma2_xprt_bc_num_slots,
	.bc_free_rqst		= rpcrdma2_xprt_bc_free_rqst,
	.bc_destroy		= rpcrdma2_xprt_bc_destroy,
};

static struct xprt_class xprt_class;

static struct rpc_xprt *xprt_op_setup(struct xprt_create *args)
{
	struct rpcrdma2_xprt *x;
	struct rpc_xprt *xprt;
	int rc = -ENOMEM;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	if (args->dstaddr->sa_family != AF_INET &&
	    args->dstaddr->sa_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-EIO);
	xprt = xprt_alloc(args->net, sizeof(*x), PREALLOC_SLOTS,
			  rpcrdma2_slot_table_entries);
	if (!xprt)
		goto out_module;
	xprt->min_reqs = min(KEPT_SLOTS, xprt->max_reqs);
	x = to_rpcrdma2_xprt(xprt);
	x->connector = kthread_run_worker(0, "rpcrdma2-conn");
	if (IS_ERR(x->connector)) {
		rc = PTR_ERR(x->connector);
		goto out_free;
	}
	x->slots = xprt->max_reqs;
	INIT_DELAYED_WORK(&x->connect_work, connect_worker);
	spin_lock_init(&x->lock);
	rpcrdma2_xprt_reverse_init(x);

	xprt->timeout = &default_timeout;
	xprt->connect_timeout = CONNECT_TIMEOUT;
	xprt->max_reconnect_timeout = REESTABLISH_MAX;
	xprt->bind_timeout = BIND_TIMEOUT;
	xprt->reestablish_timeout = REESTABLISH_MIN;
	if (!(args->flags & XPRT_CREATE_NO_IDLE_TIMEOUT))
		xprt->idle_timeout = IDLE_TIMEOUT;
	/* rpcbind is asked over TCP. */
	xprt->prot = IPPROTO_TCP;
	xprt->xprt_class = &xprt_class;
	xprt->ops = &xprt_ops;
	xprt->max_payload = RPCRDMA2_MAX_PAYLOAD;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	if (rpc_get_port(args->dstaddr))
		xprt_set_bound(xprt);
	rpcrdma2_format_addresses(xprt);
	return xprt;

out_free:
	xprt_free(xprt);
out_module:
	module_put(THIS_MODULE);
	return ERR_PTR(rc);
}

static struct xprt_class xprt_class = {
	.list	= LIST_HEAD_INIT(xprt_class.list),
	.name	= "rdma",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_RDMA,
	.setup	= xprt_op_setup,
	.netid	= { "rdma", "rdma6", "" },
};

/**
 * rpcrdma2_xprt_register - register the client's transport class
 *
 * Return: 0 or -EEXIST
 */
int rpcrdma2_xprt_register(void)
{
	return xprt_register_transport(&xprt_class);
}

/**
 * rpcrdma2_xprt_unregister - undo rpcrdma2_xprt_register()
 */
void rpcrdma2_xprt_unregister(void)
{
	xprt_unregister_transport(&xprt_class);
}
