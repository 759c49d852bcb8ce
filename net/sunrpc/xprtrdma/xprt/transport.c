// SPDX-License-Identifier: GPL-2.0
/*
 * A client's transport: what sunrpc calls. Its connections are in connect.c.
 */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>

#include "compat.h"
#include "param.h"
#include "xprt.h"

#define BIND_TIMEOUT		(60 * HZ)
/* The longest wait between two attempts: as nvme-rdma's. A mount goes on soon after that. */
#define REESTABLISH_MAX		(10 * HZ)
#define IDLE_TIMEOUT		(5 * 60 * HZ)
#define CONNECT_TIMEOUT		(60 * HZ)

/* Slots that exist from the start. sunrpc allocates and frees the others with each RPC. */
#define PREALLOC_SLOTS		4

static const struct rpc_timeout default_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static void xprt_op_destroy(struct rpc_xprt *xprt)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);

	rpcrdma2_xprt_connect_end(x);
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

	rcu_read_lock();
	conn = rcu_dereference(to_rpcrdma2_xprt(xprt)->conn);
	entered = conn && rpcrdma2_conn_is_ready(conn) &&
		  rpcrdma2_conn_enter(conn);
	rcu_read_unlock();
	if (entered) {
		rc = rpcrdma2_call_send(conn->requester, rqst);
		rpcrdma2_conn_exit(conn);
	}
	if (!conn)
		return rc;
	if (rc == -ENOTCONN)
		/* sunrpc still believes in it. */
		xprt_force_disconnect(xprt);
	if (!rc)
		rqst->rq_xmit_bytes_sent += rqst->rq_snd_buf.len;
	return rc;
}

/*
 * Was the Call out for long enough to blame the connection? A Call of a soft mount may be
 * sent when little of the RPC's time is left; that it then goes unanswered says nothing.
 */
static bool xprt_was_out_long(const struct rpc_task *task)
{
	unsigned long timeout = task->tk_client->cl_timeout->to_initval;
	ktime_t sent = task->tk_rqstp->rq_xtime;

	return ktime_ms_delta(ktime_get(), sent) >=
	       jiffies_to_msecs(timeout) / 2;
}

/* Would a heartbeat notice that the server is gone? */
static bool xprt_has_heartbeat(struct rpc_xprt *xprt)
{
	const struct rpcrdma2_conn *conn;
	bool has;

	rcu_read_lock();
	conn = rcu_dereference(to_rpcrdma2_xprt(xprt)->conn);
	has = conn && rpcrdma2_heartbeat_secs(conn);
	rcu_read_unlock();
	return has;
}

/*
 * A Call was not answered in time. sunrpc sends the Call again, unless the RPC fails, or
 * waits for as long as the connection lasts (NFSv4). A Call is not sent twice on one
 * connection, since two Replies to one Call would upset the credits. So close the
 * connection, but only the one that the Call was sent on.
 *
 * The RPCs of NFSv4 don't need that: an operation may take minutes, and heartbeats close
 * the connection if the server is gone. Without heartbeats, only the RPC's timeout
 * notices that.
 */
static void xprt_op_timer(struct rpc_xprt *xprt, struct rpc_task *task)
{
	if (task->tk_rqstp->rq_connect_cookie != READ_ONCE(xprt->connect_cookie))
		return;
	if (!xprt_was_out_long(task))
		return;
	if ((task->tk_flags & RPC_TASK_NO_RETRANS_TIMEOUT) &&
	    xprt_has_heartbeat(xprt))
		return;
	xprt_force_disconnect(xprt);
}

/* An RPC that may be sent again when it has timed out */
static bool xprt_is_sent_again(const struct rpc_task *task)
{
	return !RPC_IS_SOFT(task) &&
	       !(task->tk_flags & RPC_TASK_NO_RETRANS_TIMEOUT);
}

/*
 * sunrpc waits until the RPC's deadline at the latest. The deadline may be close, or long
 * past, as the RPC has waited for this connection. If the RPC is sent again after that, give
 * the Call a timeout of its own first: the connection would go as soon as it is there.
 *
 * The deadline itself stays: it decides when a soft mount's RPC fails, and when a hard
 * mount says that the server does not respond. The caller holds the xprt's queue_lock, and
 * only the RPC's own task, which calls this, reads the deadline.
 */
static void xprt_op_wait_for_reply(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	unsigned long deadline = rqst->rq_majortimeo;

	if (xprt_is_sent_again(task)) {
		unsigned long timeout = task->tk_client->cl_timeout->to_initval;

		if (time_before(deadline, jiffies + timeout))
			rqst->rq_majortimeo = jiffies + timeout;
	}
	rpcrdma2_call_wait(task);
	rqst->rq_majortimeo = deadline;
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

static void xprt_op_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	const struct rpcrdma2_requester *requester;
	const struct rpcrdma2_conn *conn;
	struct rpcrdma2_stats stats;

	spin_lock(&x->lock);
	stats = x->stats;
	conn = rpcrdma2_xprt_conn(x);
	if (conn) {
		requester = conn->requester;
		rpcrdma2_counters_add(&stats, &requester->stats, sizeof(stats));
	}
	spin_unlock(&x->lock);
	rpcrdma2_print_stats(xprt, &stats, seq);
}

/* Where the connection comes from, or false if there is none that RPCs may use */
static bool xprt_source_address(struct rpc_xprt *xprt,
				struct sockaddr_storage *addr)
{
	struct rpcrdma2_conn *conn = rpcrdma2_xprt_conn_get(to_rpcrdma2_xprt(xprt));
	bool entered;

	if (!conn)
		return false;
	/* The CM id exists until the connection has no user. */
	entered = rpcrdma2_conn_is_ready(conn) && rpcrdma2_conn_enter(conn);
	if (entered) {
		*addr = conn->cm_id->route.addr.src_addr;
		rpcrdma2_conn_exit(conn);
	}
	rpcrdma2_conn_put(conn);
	return entered;
}

/* For sysfs, as are its length and -ENOTCONN. */
static int xprt_op_get_srcaddr(struct rpc_xprt *xprt, char *buf, size_t buflen)
{
	struct sockaddr_storage addr;

	if (!xprt_source_address(xprt, &addr))
		return -ENOTCONN;
	return scnprintf(buf, buflen, "%pISc", &addr);
}

static unsigned short xprt_op_get_srcport(struct rpc_xprt *xprt)
{
	struct sockaddr_storage addr;

	return xprt_source_address(xprt, &addr) ?
	       rpc_get_port((struct sockaddr *)&addr) : 0;
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
	.free_slot		= xprt_free_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= rpcrdma2_set_port,
	.connect		= rpcrdma2_xprt_connect,
	.prepare_request	= rpcrdma2_call_prepare,
	.get_srcaddr		= xprt_op_get_srcaddr,
	.get_srcport		= xprt_op_get_srcport,
	.buf_alloc		= rpcrdma2_call_alloc,
	.buf_free		= rpcrdma2_call_free,
	.send_request		= xprt_op_send_request,
	.wait_for_reply_request	= xprt_op_wait_for_reply,
	.timer			= xprt_op_timer,
	.close			= rpcrdma2_xprt_close,
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
	x = to_rpcrdma2_xprt(xprt);
	x->connector = kthread_run_worker(0, "rpcrdma2-conn");
	if (IS_ERR(x->connector)) {
		rc = PTR_ERR(x->connector);
		goto out_free;
	}
	x->slots = xprt->max_reqs;
	rpcrdma2_xprt_connect_init(x);
	spin_lock_init(&x->lock);
	rpcrdma2_xprt_reverse_init(x);

	xprt->timeout = &default_timeout;
	xprt->connect_timeout = CONNECT_TIMEOUT;
	xprt->max_reconnect_timeout = REESTABLISH_MAX;
	xprt->bind_timeout = BIND_TIMEOUT;
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
