// SPDX-License-Identifier: GPL-2.0
/*
 * What a module that runs jobs with the echo program is told of server and transport. It
 * includes this once, with its own ECHO_PORT and ECHO_THREADS.
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

/* What echo_clnt.c and echo_svc.c ask for */

int echo_transport(void)
{
	return strcmp(proto, "tcp") ? XPRT_TRANSPORT_RDMA : XPRT_TRANSPORT_TCP;
}

const char *echo_svc_class(void)
{
	return proto;
}

unsigned short echo_port(void)
{
	return port;
}

unsigned int echo_threads(void)
{
	return threads;
}
