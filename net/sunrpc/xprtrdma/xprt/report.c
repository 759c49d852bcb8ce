// SPDX-License-Identifier: GPL-2.0
/*
 * The line in the log about a client's connection that failed.
 *
 * The line names server, device and step, and says what the status means. Each server gets at
 * most one line a minute, because sunrpc tries again and again. Runs in the teardown, in process
 * context, and owns nothing: servers.c remembers when a line was written.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sunrpc/addr.h>

#include "xprt.h"

/* Names of the states that a client's connection can be closed in */
static const char * const steps[] = {
	[RPCRDMA2_CONN_NEW]		= "starting",
	[RPCRDMA2_CONN_RESOLVING]	= "resolving the address",
	[RPCRDMA2_CONN_ROUTING]		= "resolving the route",
	[RPCRDMA2_CONN_CONNECTING]	= "connecting",
	[RPCRDMA2_CONN_NEGOTIATING]	= "exchanging the first messages",
	[RPCRDMA2_CONN_READY]		= "in use",
};

/* Return: the most likely cause of a timeout in a state */
static const char *report_silence(enum rpcrdma2_conn_state state)
{
	switch (state) {
	case RPCRDMA2_CONN_CONNECTING:
		return "it does not answer: no RDMA device there, or a firewall?";
	case RPCRDMA2_CONN_NEGOTIATING:
		return "it does not answer: is it a server of RPC over RDMA?";
	case RPCRDMA2_CONN_READY:
		return "it does not answer any more";
	default:
		return "nobody has that address";
	}
}

/* Return: the most likely cause of a status in a state */
static const char *report_meaning(enum rpcrdma2_conn_state state, int status)
{
	switch (status) {
	case -ETIMEDOUT:
		return report_silence(state);
	case -ENETUNREACH:
		return state < RPCRDMA2_CONN_CONNECTING ?
			"there is no route to it" : report_silence(state);
	case -EAFNOSUPPORT:
		return "that is no address";
	case -EHOSTUNREACH:
		return "no RDMA device leads there, or nobody has that address";
	case -ECONNREFUSED:
		return "nobody listens for RDMA at that port";
	case -ECONNABORTED:
	case -ECONNRESET:
		return state == RPCRDMA2_CONN_READY ?
			"a work request failed, as when packets are lost for long" :
			"it hung up: is it a server of RPC over RDMA?";
	case -EPROTONOSUPPORT:
		return "there is no version that both ends speak";
	case -EPROTO:
		return "it breaks the protocol";
	case -EOPNOTSUPP:
		return "the device can't register memory as needed";
	case -EADDRINUSE:
		return "it still has an earlier connection";
	case -EREMOTEIO:
		return "its connection manager refuses";
	case -EIO:
		return "the device gave up its queue pair";
	case -ENODEV:
		return "the device is gone";
	case -EADDRNOTAVAIL:
		return "this host's address is on another link now";
	case -ENOMEM:
		return "there is no memory";
	default:
		return "unexpected";
	}
}

/*
 * Is the end of a connection news to an administrator? It is not in these cases:
 *
 * - This end closed the connection (-ESHUTDOWN, -ENOTCONN).
 * - The connection was in use, and the server hung up or this host's address moved. If the server
 *   stays away, a later attempt is reported.
 * - The next connection tries another dialect, or confirms a suspicion.
 */
static bool report_is_worth_a_line(const struct rpcrdma2_conn *conn)
{
	switch (conn->close.status) {
	case -ESHUTDOWN:
	case -ENOTCONN:
		return false;
	case -ECONNABORTED:
	case -EADDRNOTAVAIL:
		return !conn->was_ready && !conn->negotiation.assume && !conn->negotiation.suspect;
	default:
		return !conn->negotiation.assume && !conn->negotiation.suspect;
	}
}

/**
 * rpcrdma2_report_failure - write a line to the log if a connection failed
 * @x: the transport of the connection
 * @conn: the connection, drained; its CM id still exists
 *
 * Context: process.
 */
void rpcrdma2_report_failure(const struct rpcrdma2_xprt *x,
			     const struct rpcrdma2_conn *conn)
{
	const struct rdma_cm_id *cm_id = conn->ep.cm_id;
	const struct ib_device *device = cm_id ? cm_id->device : NULL;

	if (!report_is_worth_a_line(conn) || !rpcrdma2_server_report(x))
		return;
	pr_warn("%s connection to %pISpc (device %s, port %u), %s: %s (error %d%s%s)\n",
		conn->was_ready ? "lost the" : "no", &x->tried,
		device ? device->name : "none", device ? cm_id->port_num : 0,
		steps[conn->close.in],
		report_meaning(conn->close.in, conn->close.status),
		conn->close.status, conn->cm.reject ? ": " : "",
		conn->cm.reject ? rdma_reject_msg(conn->ep.cm_id, conn->cm.reject) : "");
}
