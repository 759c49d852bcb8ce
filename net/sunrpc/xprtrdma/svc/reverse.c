// SPDX-License-Identifier: GPL-2.0
/*
 * A server's Calls to its client (callbacks), over the connection that the client made.
 *
 * When NFSv4.1 sets up a callback channel, sunrpc asks for an rpc_xprt of class BC_RDMA. This
 * file makes that rpc_xprt, and gives the connection its requester role. The role stays for as
 * long as the connection, because the client may set up another callback channel. The rpc_xprt
 * has a reference to the connection. All functions run in process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/module.h>

#include "param.h"
#include "requester/requester.h"
#include "svc.h"

#define REVERSE_TIMEOUT		(60 * HZ)

/**
 * struct reverse - an rpc_xprt on a connection that was accepted
 * @xprt: sunrpc's part
 * @conn: the connection; referenced
 */
struct reverse {
	struct rpc_xprt		xprt;
	struct rpcrdma2_conn	*conn;
};

static const struct rpc_timeout reverse_timeout = {
	.to_initval	= REVERSE_TIMEOUT,
	.to_maxval	= REVERSE_TIMEOUT,
};

static struct reverse *reverse_of_xprt(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct reverse, xprt);
}

static int reverse_send(struct rpc_rqst *rqst)
{
	struct rpcrdma2_conn *conn = reverse_of_xprt(rqst->rq_xprt)->conn;
	int rc = -ENOTCONN;

	/* The client may have changed the properties after reverse_setup(). */
	if (rpcrdma2_conn_reverse(conn) != RDMA2_RVREQSUP_NONE &&
	    rpcrdma2_conn_is_ready(conn) && rpcrdma2_ep_enter(&conn->ep)) {
		rc = rpcrdma2_call_send(conn->requester, rqst);
		rpcrdma2_ep_exit(&conn->ep);
	}
	if (rc == -ENOTCONN)
		/* sunrpc still takes the rpc_xprt for connected. */
		xprt_force_disconnect(rqst->rq_xprt);
	return rc;
}

/* Only a client connects, so this attempt fails at once. */
static void reverse_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	xprt_clear_connecting(xprt);
	xprt_wake_pending_tasks(xprt, -ENOTCONN);
}

static void reverse_close(struct rpc_xprt *xprt)
{
	xprt_disconnect_done(xprt);
}

static void reverse_destroy(struct rpc_xprt *xprt)
{
	rpcrdma2_conn_put(reverse_of_xprt(xprt)->conn);
	rpcrdma2_free_addresses(xprt);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static void reverse_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	const struct rpcrdma2_requester *requester =
		reverse_of_xprt(xprt)->conn->requester;

	rpcrdma2_print_stats(xprt, &requester->stats, seq);
}

static void reverse_inject_disconnect(struct rpc_xprt *xprt)
{
	rpcrdma2_conn_close(reverse_of_xprt(xprt)->conn, -ECONNRESET);
}

static int reverse_enable_swap(struct rpc_xprt *xprt)
{
	return -EINVAL;
}

static void reverse_disable_swap(struct rpc_xprt *xprt)
{
}

static const struct rpc_xprt_ops reverse_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.connect		= reverse_connect,
	.buf_alloc		= rpcrdma2_call_alloc,
	.buf_free		= rpcrdma2_call_free,
	.send_request		= reverse_send,
	.wait_for_reply_request	= rpcrdma2_call_wait,
	.close			= reverse_close,
	.destroy		= reverse_destroy,
	.print_stats		= reverse_print_stats,
	.enable_swap		= reverse_enable_swap,
	.disable_swap		= reverse_disable_swap,
	.inject_disconnect	= reverse_inject_disconnect,
};

/**
 * rpcrdma2_svc_reverse_lost - end the wait of RPCs on a lost connection
 * @sx: the connection's svc_xprt
 *
 * Nothing happens if the connection has no requester role.
 *
 * Context: process; the teardown's.
 */
void rpcrdma2_svc_reverse_lost(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_requester *requester = sx->conn->requester;

	if (requester)
		xprt_disconnect_done(requester->xprt);
}

static int reverse_take_role(struct reverse *reverse)
{
	struct rpcrdma2_conn *conn = reverse->conn;
	struct rpc_xprt *xprt = &reverse->xprt;
	unsigned int nofs;
	int rc = 0;

	if (!rpcrdma2_ep_enter(&conn->ep))
		return -ENOTCONN;
	nofs = memalloc_nofs_save();
	switch (rpcrdma2_conn_reverse(conn)) {
	case RDMA2_RVREQSUP_NONE:
		pr_info_ratelimited("no callbacks to client %s, because of %s: NFSv4.1 and later give it no delegations\n",
				    xprt->address_strings[RPC_DISPLAY_ADDR],
				    conn->terms.peer.brs == RDMA2_RVREQSUP_NONE ?
				    "what it said" : "reverse=none");
		rc = -EOPNOTSUPP;
		goto out;
	case RDMA2_RVREQSUP_GENL:
		xprt->max_payload = RPCRDMA2_REVERSE_PAYLOAD;
	}
	if (!rpcrdma2_requester_create(conn, xprt))
		rc = -ENOTCONN;
out:
	memalloc_nofs_restore(nofs);
	rpcrdma2_ep_exit(&conn->ep);
	return rc;
}

static struct xprt_class reverse_class;

/* Succeeds once for each connection. Later callback channels use xpt_bc_xprt. */
static struct rpc_xprt *reverse_setup(struct xprt_create *args)
{
	struct rpcrdma2_svc_xprt *sx;
	struct reverse *reverse;
	struct rpc_xprt *xprt;
	int rc;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	xprt = xprt_alloc(args->net, sizeof(*reverse),
			  RPCRDMA2_REVERSE_CREDITS, RPCRDMA2_REVERSE_CREDITS);
	if (!xprt)
		return ERR_PTR(-ENOMEM);
	sx = to_rpcrdma2_svc_xprt(args->bc_xprt);
	reverse = reverse_of_xprt(xprt);
	rpcrdma2_conn_get(sx->conn);
	reverse->conn = sx->conn;

	xprt->timeout = &reverse_timeout;
	xprt->prot = XPRT_TRANSPORT_BC_RDMA;
	xprt->xprt_class = &reverse_class;
	xprt->ops = &reverse_ops;
	xprt->max_payload = PAGE_SIZE;
	xprt->bc_xprt = args->bc_xprt;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	xprt_set_bound(xprt);
	rpcrdma2_format_addresses(xprt);
	__module_get(THIS_MODULE);

	rc = reverse_take_role(reverse);
	if (rc) {
		reverse_destroy(xprt);
		return ERR_PTR(rc);
	}
	xprt_set_connected(xprt);
	/* The reference of xpt_bc_xprt */
	xprt_get(xprt);
	args->bc_xprt->xpt_bc_xprt = xprt;
	return xprt;
}

static struct xprt_class reverse_class = {
	.list	= LIST_HEAD_INIT(reverse_class.list),
	.name	= "rdma backchannel",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_BC_RDMA,
	.setup	= reverse_setup,
	.netid	= { "" },
};

/**
 * rpcrdma2_svc_reverse_register - register the class of rpc_xprt for callbacks
 *
 * Context: process.
 *
 * Return: 0, or -EEXIST if another module has registered the class
 */
int rpcrdma2_svc_reverse_register(void)
{
	return xprt_register_transport(&reverse_class);
}

/**
 * rpcrdma2_svc_reverse_unregister - undo rpcrdma2_svc_reverse_register()
 *
 * Context: process.
 */
void rpcrdma2_svc_reverse_unregister(void)
{
	xprt_unregister_transport(&reverse_class);
}
