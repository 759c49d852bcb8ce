// SPDX-License-Identifier: GPL-2.0
/*
 * The module: load and unload.
 *
 * Lower layers start before upper ones, because sunrpc may use a transport as soon as it is
 * registered. The module's end stops them in reverse order.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "compat.h"
#include "conn/conn.h"
#include "netlink/netlink.h"
#include "param.h"
#include "requester/requester.h"
#include "svc/svc.h"
#include "xprt/xprt.h"

/* The kernel's own rpcrdma has the same names: tell the user to unload it. */
static int rpcrdma2_explain(int rc)
{
	if (rc == -EEXIST)
		pr_err("another module provides the RPC transport \"rdma\", most likely rpcrdma: unload it first (rmmod rpcrdma)\n");
	return rc;
}

static int __init rpcrdma2_init(void)
{
	int rc;

	rpcrdma2_param_init();
	rc = rpcrdma2_pages_init();
	if (rc)
		return rc;
	rc = rpcrdma2_call_buffers_init();
	if (rc)
		goto out_pages;
	rc = rpcrdma2_netlink_init();
	if (rc)
		goto out_calls;
	rc = rpcrdma2_conn_init();
	if (rc)
		goto out_netlink;
	rc = rpcrdma2_accept_setup();
	if (rc)
		goto out_conn;
	rc = rpcrdma2_explain(rpcrdma2_svc_register());
	if (rc)
		goto out_accept;
	rc = rpcrdma2_explain(rpcrdma2_svc_reverse_register());
	if (rc)
		goto out_svc;
	rc = rpcrdma2_explain(rpcrdma2_xprt_register());
	if (rc)
		goto out_reverse;
	rpcrdma2_sysctl_init();
	return 0;

out_reverse:
	rpcrdma2_svc_reverse_unregister();
out_svc:
	rpcrdma2_svc_unregister();
out_accept:
	rpcrdma2_accept_cleanup();
out_conn:
	rpcrdma2_conn_cleanup();
out_netlink:
	rpcrdma2_netlink_exit();
out_calls:
	rpcrdma2_call_buffers_exit();
out_pages:
	rpcrdma2_pages_exit();
	return rc;
}

static void __exit rpcrdma2_exit(void)
{
	rpcrdma2_sysctl_exit();
	rpcrdma2_xprt_unregister();
	rpcrdma2_svc_reverse_unregister();
	rpcrdma2_svc_unregister();
	rpcrdma2_accept_cleanup();
	rpcrdma2_conn_cleanup();
	rpcrdma2_netlink_exit();
	rpcrdma2_call_buffers_exit();
	rpcrdma2_pages_exit();
}

module_init(rpcrdma2_init);
module_exit(rpcrdma2_exit);

MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("RPC-over-RDMA transport, versions 2 and 1");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA2_VERSION);
MODULE_INFO(kernel, RPCRDMA2_KERNEL_STATE);
MODULE_ALIAS("svcrdma");
MODULE_ALIAS("xprtrdma");
MODULE_ALIAS("rpcrdma6");
