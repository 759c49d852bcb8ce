// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners and connections of a server: the svc_xprt, from its creation to its end.
 *
 * An svc_xprt has a reference to its connection, and one to its listener. Until a connection is
 * offered to sunrpc (accept.c), the connection owns its svc_xprt; then sunrpc does (owner.c).
 *
 * The connection has a reference to the svc_xprt only after xpo_detach, because sunrpc would
 * take the svc_xprt for busy. sunrpc closes an svc_xprt that is idle for six minutes. That ends
 * the connection of a client that vanished. All functions run in process context.
 */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/xprt.h>

#include "compat.h"
#include "netlink/netlink.h"
#include "param.h"
#include "requester/requester.h"
#include "svc.h"
#include "totals.h"

static struct svc_xprt_class svc_class;

static struct rpcrdma2_svc_xprt *svc_xprt_new(struct svc_serv *serv,
					      struct net *net)
{
	struct rpcrdma2_svc_xprt *sx;

	sx = kzalloc(sizeof(*sx), GFP_KERNEL);
	if (!sx)
		return NULL;
	svc_xprt_init(net, &svc_class, &sx->xprt, serv);
	spin_lock_init(&sx->lock);
	INIT_LIST_HEAD(&sx->in_backlog);
	INIT_LIST_HEAD(&sx->queued);
	rpcrdma2_svc_init_jobs(sx);
	/* NFSv4 demands congestion control. Credits provide it. */
	set_bit(XPT_CONG_CTRL, &sx->xprt.xpt_flags);
	return sx;
}

static int svc_conn_prepare(struct rpcrdma2_conn *conn)
{
	return rpcrdma2_jobs_provide(conn->responder, 1);
}

static void svc_conn_ready(struct rpcrdma2_conn *conn)
{
	rpcrdma2_debugfs_ready(conn);
	rpcrdma2_netlink_ready(conn);
	rpcrdma2_offer(conn->svc_xprt);
}

static void svc_conn_closing(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_svc_xprt *sx = conn->svc_xprt;

	if (rpcrdma2_svc_happen(sx, RPCRDMA2_ON_CLOSING) == RPCRDMA2_DO_ASK)
		svc_xprt_deferred_close(&sx->xprt);
}

static void svc_conn_drained(struct rpcrdma2_conn *conn)
{
	if (conn->requester) {
		rpcrdma2_requester_drained(conn->requester);
		rpcrdma2_svc_reverse_lost(conn->svc_xprt);
	}
	rpcrdma2_svc_drop_jobs(conn->svc_xprt);
	rpcrdma2_netlink_lost(conn);
}

static void svc_conn_closed(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_svc_xprt *sx = conn->svc_xprt;
	enum rpcrdma2_owner_action action;

	action = rpcrdma2_svc_happen(sx, RPCRDMA2_ON_CLOSED);
	if (action == RPCRDMA2_DO_DISCARD)
		rpcrdma2_backlog_discard(sx);
	else if (action == RPCRDMA2_DO_PUT)
		svc_xprt_put(&sx->xprt);
}

static void svc_conn_free(struct rpcrdma2_conn *conn)
{
	rpcrdma2_svc_stats_gone(conn);
	rpcrdma2_requester_destroy(conn->requester);
	rpcrdma2_responder_destroy(conn->responder);
}

static void svc_conn_room(struct rpcrdma2_conn *conn)
{
	rpcrdma2_svc_room(conn->svc_xprt);
	/* Pairs with the release in rpcrdma2_requester_create(). */
	rpcrdma2_requester_room(smp_load_acquire(&conn->requester));
}

/* A server that has sent no Call expects no Reply: the peer violates the protocol. */
static void svc_conn_reply(struct rpcrdma2_recv *recv)
{
	/* Pairs with the release in rpcrdma2_requester_create(). */
	if (smp_load_acquire(&rpcrdma2_recv_conn(recv)->requester)) {
		rpcrdma2_reply_receive(recv);
	} else {
		rpcrdma2_conn_close(rpcrdma2_recv_conn(recv), -EPROTO);
		rpcrdma2_recv_put(recv);
	}
}

static bool svc_conn_is_quiet(struct rpcrdma2_conn *conn)
{
	/* Pairs with the release in rpcrdma2_requester_create(). */
	return rpcrdma2_requester_is_quiet(smp_load_acquire(&conn->requester));
}

static void svc_conn_show(struct rpcrdma2_conn *conn, struct seq_file *seq)
{
	const struct rpcrdma2_requester *requester;

	/* Pairs with the release in rpcrdma2_requester_create(). */
	requester = smp_load_acquire(&conn->requester);
	rpcrdma2_show_responder(seq, conn->responder);
	if (requester)
		rpcrdma2_show_requester(seq, requester);
}

static void svc_conn_fence(struct rpcrdma2_conn *conn)
{
	/* Pairs with the release in rpcrdma2_requester_create(). */
	rpcrdma2_mrs_fence(smp_load_acquire(&conn->requester));
}

static const struct rpcrdma2_conn_ops conn_ops = {
	.prepare	= svc_conn_prepare,
	.ready		= svc_conn_ready,
	.closing	= svc_conn_closing,
	.fence		= svc_conn_fence,
	.drained	= svc_conn_drained,
	.closed		= svc_conn_closed,
	.free		= svc_conn_free,
	.room		= svc_conn_room,
	.call		= rpcrdma2_svc_call,
	.reply		= svc_conn_reply,
	.is_quiet	= svc_conn_is_quiet,
	.show		= svc_conn_show,
};

static void svc_set_addresses(struct rpcrdma2_svc_xprt *sx,
			      struct rdma_cm_id *cm_id)
{
	struct sockaddr *sa;

	sa = (struct sockaddr *)&cm_id->route.addr.dst_addr;
	svc_xprt_set_remote(&sx->xprt, sa, svc_addr_len(sa));
	/* The CM reports another port for each connection of a peer, so hide the port. */
	rpc_set_port((struct sockaddr *)&sx->xprt.xpt_remote, 0);
	sa = (struct sockaddr *)&cm_id->route.addr.src_addr;
	svc_xprt_set_local(&sx->xprt, sa, svc_addr_len(sa));
}

static bool svc_adopt_conn(struct rpcrdma2_svc_xprt *sx,
			   struct rpcrdma2_conn *conn)
{
	const struct svc_serv *serv = sx->xprt.xpt_server;
	struct rpcrdma2_conn_param param = {
		.ops		= &conn_ops,
		.net		= sx->xprt.xpt_net,
		.rbsiz_min	= rpcrdma2_inline_start(),
		.rbsiz_max	= rpcrdma2_inline_size,
		.sbsiz		= rpcrdma2_inline_size,
		.calls_out	= RPCRDMA2_REVERSE_CREDITS,
		.calls_in	= rpcrdma2_svc_credits,
		.shared		= READ_ONCE(rpcrdma2_use_srq),
		.wrs_per_call	= RPCRDMA2_SVC_WRS_PER_CALL,
		.heartbeat	= rpcrdma2_heartbeat_period,
		.reverse	= READ_ONCE(rpcrdma2_reverse),
		.job_pages	= rpcrdma2_job_pages(serv->sv_max_payload),
	};

	rpcrdma2_param_server_dialects(&param.dialects);
	conn->svc_xprt = sx;
	svc_set_addresses(sx, conn->ep.cm_id);
	if (!rpcrdma2_responder_create(conn, (struct sockaddr *)&sx->xprt.xpt_remote,
				       &rpcrdma2_svc_responder_ops))
		return false;
	if (rpcrdma2_conn_adopt(conn, &param)) {
		rpcrdma2_svc_stats_add(conn);
		return true;
	}
	rpcrdma2_responder_destroy(conn->responder);
	conn->responder = NULL;
	return false;
}

/* Return: an svc_xprt, unknown to sunrpc, for a connection that came to a listener; or NULL */
static struct rpcrdma2_svc_xprt *
svc_xprt_new_conn(struct rpcrdma2_svc_xprt *listener,
		  struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_svc_xprt *sx;

	sx = svc_xprt_new(listener->xprt.xpt_server, listener->xprt.xpt_net);
	if (!sx)
		return NULL;
	svc_xprt_get(&listener->xprt);
	sx->from = listener;
	sx->conn = conn;
	return sx;
}

/* CM context, between enter and exit of @conn. @conn may be closing. */
static int svc_take_in(struct rpcrdma2_svc_xprt *listener,
		       struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_svc_xprt *sx;

	sx = svc_xprt_new_conn(listener, conn);
	if (!sx)
		return -ENOMEM;
	rpcrdma2_conn_get(conn);
	if (!svc_adopt_conn(sx, conn)) {
		rpcrdma2_svc_drop(sx);
		return -ENOMEM;
	}
	return rpcrdma2_backlog_add(sx);
}

/* CM context */
static bool svc_listener_has_room(void *context, const struct sockaddr *sa)
{
	return rpcrdma2_backlog_has_room(context, sa);
}

/* CM context. Drops the caller's reference to @conn. */
static void svc_listener_incoming(void *context, struct rpcrdma2_conn *conn)
{
	int rc = -ENOTCONN;

	if (rpcrdma2_ep_enter(&conn->ep)) {
		rc = svc_take_in(context, conn);
		rpcrdma2_ep_exit(&conn->ep);
	}
	if (rc)
		rpcrdma2_conn_close(conn, rc);
	rpcrdma2_conn_put(conn);
}

static const struct rpcrdma2_listener_ops listener_ops = {
	.has_room	= svc_listener_has_room,
	.incoming	= svc_listener_incoming,
};

static struct rpcrdma2_svc_xprt *svc_xprt_new_listener(struct svc_serv *serv,
						       struct net *net)
{
	struct rpcrdma2_svc_xprt *sx = svc_xprt_new(serv, net);

	if (!sx)
		return NULL;
	set_bit(XPT_LISTENER, &sx->xprt.xpt_flags);
	strscpy(sx->xprt.xpt_remotebuf, "listener",
		sizeof(sx->xprt.xpt_remotebuf));
	sx->backlog = rpcrdma2_backlog_alloc();
	if (sx->backlog)
		return sx;
	rpcrdma2_svc_drop(sx);
	return NULL;
}

static struct svc_xprt *svc_op_create(struct svc_serv *serv, struct net *net,
				      struct sockaddr *sa, int salen,
				      int flags)
{
	struct rpcrdma2_svc_xprt *sx;

	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	sx = svc_xprt_new_listener(serv, net);
	if (!sx)
		return ERR_PTR(-ENOMEM);
	sx->listener = rpcrdma2_listen(net, sa, &listener_ops, sx);
	if (IS_ERR(sx->listener)) {
		void *err = sx->listener;

		/* One of several devices may have taken connections already. */
		rpcrdma2_backlog_close(sx);
		rpcrdma2_svc_drop(sx);
		return err;
	}
	/* Report the port that was chosen, if @sa had port 0. */
	svc_xprt_set_local(&sx->xprt, rpcrdma2_listener_address(sx->listener),
			   salen);
	return &sx->xprt;
}

/* sunrpc has set XPT_BUSY on the listener. */
static struct svc_xprt *svc_op_accept(struct svc_xprt *xprt)
{
	struct rpcrdma2_svc_xprt *listener = to_rpcrdma2_svc_xprt(xprt);
	struct rpcrdma2_svc_xprt *sx = rpcrdma2_offer_next(listener);

	return sx ? &sx->xprt : NULL;
}

/*
 * sunrpc calls this once, before it drops its own reference. The connection gets a reference
 * first, because the event allows svc_conn_closed() to drop one.
 */
static void svc_op_detach(struct svc_xprt *xprt)
{
	struct rpcrdma2_svc_xprt *sx = to_rpcrdma2_svc_xprt(xprt);

	if (sx->conn) {
		svc_xprt_get(xprt);
		if (rpcrdma2_svc_happen(sx, RPCRDMA2_ON_DETACH) != RPCRDMA2_DO_KEEP)
			svc_xprt_put(xprt);
		rpcrdma2_conn_close(sx->conn, -ESHUTDOWN);
		return;
	}
	rpcrdma2_unlisten(sx->listener);
	rpcrdma2_backlog_close(sx);
}

static void svc_op_free(struct svc_xprt *xprt)
{
	struct rpcrdma2_svc_xprt *sx = to_rpcrdma2_svc_xprt(xprt);

	if (sx->conn) {
		rpcrdma2_conn_put(sx->conn);
		svc_xprt_put(&sx->from->xprt);
	}
	kfree(sx->backlog);
	kfree(sx);
}

static void svc_op_kill_temp_xprt(struct svc_xprt *xprt)
{
}

static const struct svc_xprt_ops svc_ops = {
	.xpo_create		= svc_op_create,
	.xpo_accept		= svc_op_accept,
	.xpo_has_wspace		= rpcrdma2_svc_has_wspace,
	.xpo_recvfrom		= rpcrdma2_svc_recvfrom,
	.xpo_sendto		= rpcrdma2_svc_sendto,
	.xpo_result_payload	= rpcrdma2_svc_result_payload,
	.xpo_release_ctxt	= rpcrdma2_svc_release_ctxt,
	.xpo_detach		= svc_op_detach,
	.xpo_free		= svc_op_free,
	.xpo_kill_temp_xprt	= svc_op_kill_temp_xprt,
	RPCRDMA2_XPO_SECURE_PORT
};

static struct svc_xprt_class svc_class = {
	.xcl_name	= "rdma",
	.xcl_owner	= THIS_MODULE,
	.xcl_ops	= &svc_ops,
	.xcl_max_payload = RPCRDMA2_MAX_PAYLOAD,
	.xcl_ident	= XPRT_TRANSPORT_RDMA,
};

/**
 * rpcrdma2_svc_register - register the server's transport class
 *
 * Context: process, sleeps.
 *
 * Return: 0, or -EEXIST if another module has registered the class
 */
int rpcrdma2_svc_register(void)
{
	int rc = svc_reg_xprt_class(&svc_class);

	if (rc)
		return rc;
	rpcrdma2_svc_stats_init();
	rpcrdma2_svc_inject_init();
	return 0;
}

/**
 * rpcrdma2_svc_unregister - undo rpcrdma2_svc_register()
 *
 * Context: process, sleeps.
 */
void rpcrdma2_svc_unregister(void)
{
	rpcrdma2_svc_stats_exit();
	svc_unreg_xprt_class(&svc_class);
}
