// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters for the server's address and the transport. A module that runs jobs
 * with the echo program includes this file once, after it defines ECHO_PORT and
 * ECHO_THREADS.
 */
#include <linux/module.h>
#include <linux/sunrpc/xprt.h>
#include <linux/sunrpc/xprtsock.h>
#include "echo.h"

static char *addr = "192.168.77.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "the server's IPv4 address");

static ushort port = ECHO_PORT;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "the server's port");

static char *proto = "rdma";
module_param(proto, charp, 0444);
MODULE_PARM_DESC(proto, "transport: rdma or tcp");

static uint threads = ECHO_THREADS;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "the server's; 0: it is elsewhere");

/* echo_clnt.c and echo_svc.c call these. */

/**
 * echo_transport - the transport of clients
 *
 * Context: any.
 *
 * Return: an ident for rpc_create().
 */
int echo_transport(void)
{
	return strcmp(proto, "tcp") ? XPRT_TRANSPORT_RDMA : XPRT_TRANSPORT_TCP;
}

/**
 * echo_svc_class - the transport of the server
 *
 * Context: any.
 *
 * Return: a name for svc_xprt_create().
 */
const char *echo_svc_class(void)
{
	return proto;
}

/**
 * echo_port - the server's port
 *
 * Context: any.
 *
 * Return: the port, in host byte order.
 */
unsigned short echo_port(void)
{
	return port;
}

/**
 * echo_threads - the number of the server's threads
 *
 * Context: any.
 *
 * Return: their number; 0 if the server is on another machine.
 */
unsigned int echo_threads(void)
{
	return threads;
}
