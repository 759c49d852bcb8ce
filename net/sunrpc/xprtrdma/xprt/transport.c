// SPDX-License-Identifier: GPL-2.0
/*
 * The client's transport class "rdma": the ops that sunrpc calls.
 *
 * A struct rpcrdma2_xprt exists from xprt_op_setup() to xprt_op_destroy(), and holds the module.
 * connect.c makes its connections. All ops run in process context. Comments at each op say when
 * sunrpc's write lock is held.
 */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>

#include "compat.h"
#include "param.h"
#include "xprt.h"

#define BIND_TIMEOUT		(60 * HZ)
/* Longest delay between two attempts, as nvme-rdma has it, so that a mount resumes soon */
#define REESTABLISH_MAX		(10 * HZ)
#define IDLE_TIMEOUT		(5 * 60 * HZ)
#define CONNECT_TIMEOUT		(60 * HZ)

/* Slots that sunrpc never frees. It allocates more as RPCs need them, and frees those. */
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

/* The send_request op: sends a Call, or a Reply to a callback. The xprt's write lock is held. */
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
		  rpcrdma2_ep_enter(&conn->ep);
	rcu_read_unlock();
	if (entered) {
		rc = rpcrdma2_call_send(conn->requester, rqst);
		rpcrdma2_ep_exit(&conn->ep);
	}
	if (!conn)
		return rc;
	if (rc == -ENOTCONN)
		/* sunrpc takes the transport for connected: make it connect again. */
		xprt_force_disconnect(xprt);
	if (!rc)
		rqst->rq_xmit_bytes_sent += rqst->rq_snd_buf.len;
	return rc;
}

/*
 * Was the Call out for long enough to blame the connection? A soft mount's Call may be sent just
 * before the RPC's deadline. No answer until then says nothing about the connection.
 */
static bool xprt_was_out_long(const struct rpc_task *task)
{
	unsigned long timeout = task->tk_client->cl_timeout->to_initval;
	ktime_t sent = task->tk_rqstp->rq_xtime;

	return ktime_ms_delta(ktime_get(), sent) >=
	       jiffies_to_msecs(timeout) / 2;
}

/* Will a heartbeat notice the loss of the server? */
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
 * The timer op: a Call had no answer in time. Close the connection that the Call was sent on, and
 * no other. If sunrpc sends the Call again, it must use another connection: two Replies to one
 * Call would upset the credits.
 *
 * RPCs of NFSv4 (RPC_TASK_NO_RETRANS_TIMEOUT) wait for as long as the connection lasts, because an
 * operation may take minutes. If the server is lost, heartbeats close the connection. This op does
 * so only if there are no heartbeats.
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

/* Does sunrpc send the RPC's Call again when the RPC has timed out? */
static bool xprt_is_sent_again(const struct rpc_task *task)
{
	return !RPC_IS_SOFT(task) &&
	       !(task->tk_flags & RPC_TASK_NO_RETRANS_TIMEOUT);
}

/*
 * The wait_for_reply_request op. sunrpc wakes the task at the RPC's deadline at the latest. If the
 * RPC has waited for this connection, its deadline may be close or past. sunrpc might then send the
 * Call again at once, and call_check_retransmission() would close the new connection. So this op
 * lets the task sleep for a whole timeout if sunrpc would send the Call again afterwards.
 *
 * The deadline must not change for good. A soft mount's RPC fails at the deadline, and a hard
 * mount's RPC reports that the server does not respond. Changing it during this op is safe: only
 * the RPC's own task reads the deadline, and that task runs this op, with queue_lock held.
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

/* Copy the local address of the connection. Return: false if there is no connection to use */
static bool xprt_source_address(struct rpc_xprt *xprt,
				struct sockaddr_storage *addr)
{
	struct rpcrdma2_conn *conn = rpcrdma2_xprt_conn_get(to_rpcrdma2_xprt(xprt));
	bool entered;

	if (!conn)
		return false;
	/* The CM id exists until rpcrdma2_ep_exit(). */
	entered = rpcrdma2_conn_is_ready(conn) && rpcrdma2_ep_enter(&conn->ep);
	if (entered) {
		*addr = conn->ep.cm_id->route.addr.src_addr;
		rpcrdma2_ep_exit(&conn->ep);
	}
	rpcrdma2_conn_put(conn);
	return entered;
}

/* The get_srcaddr op, for sysfs. Return: octets of text, or -ENOTCONN */
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
 * The enable_swap op. sunrpc reads xprt->swapper before a task sends. This module reads it where a
 * connection begins or ends, and in workers (rpcrdma2_memalloc_save()). To send an RPC, this
 * module never waits for memory.
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
	/* The protocol in which rpcb_getport_async() asks rpcbind for the port */
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
 * Context: process, when the module is loaded.
 *
 * Return: 0 or -EEXIST
 */
int rpcrdma2_xprt_register(void)
{
	return xprt_register_transport(&xprt_class);
}

/**
 * rpcrdma2_xprt_unregister - unregister the client's transport class
 *
 * Context: process, when the module is unloaded.
 */
void rpcrdma2_xprt_unregister(void)
{
	xprt_unregister_transport(&xprt_class);
}
