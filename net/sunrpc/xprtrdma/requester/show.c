// SPDX-License-Identifier: GPL-2.0
/*
 * What every rpc_xprt shows of itself: addresses and statistics.
 */
#include <linux/seq_file.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>

#include "requester.h"

#define ADDRSTRLEN	(INET6_ADDRSTRLEN + 16)

static char *address(const struct sockaddr *sa)
{
	char buf[ADDRSTRLEN];

	rpc_ntop(sa, buf, sizeof(buf));
	return kstrdup(buf, GFP_KERNEL);
}

static char *hex_address(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)sa;

	if (sa->sa_family == AF_INET6)
		return kasprintf(GFP_KERNEL, "%pi6", &sin6->sin6_addr);
	return kasprintf(GFP_KERNEL, "%08x", ntohl(sin->sin_addr.s_addr));
}

/**
 * rpcrdma2_format_addresses - fill xprt->address_strings
 * @xprt: with its address
 *
 * Process context. sunrpc and NFS print what is there, and take NULL for
 * "(null)".
 */
void rpcrdma2_format_addresses(struct rpc_xprt *xprt)
{
	const struct sockaddr *sa = (struct sockaddr *)&xprt->addr;
	bool ipv6 = sa->sa_family == AF_INET6;

	xprt->address_strings[RPC_DISPLAY_ADDR] = address(sa);
	xprt->address_strings[RPC_DISPLAY_HEX_ADDR] = hex_address(sa);
	xprt->address_strings[RPC_DISPLAY_PORT] =
		kasprintf(GFP_KERNEL, "%u", rpc_get_port(sa));
	xprt->address_strings[RPC_DISPLAY_HEX_PORT] =
		kasprintf(GFP_KERNEL, "%4hx", rpc_get_port(sa));
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt->address_strings[RPC_DISPLAY_NETID] = ipv6 ? "rdma6" : "rdma";
}

/**
 * rpcrdma2_free_addresses - undo rpcrdma2_format_addresses()
 * @xprt: whose
 */
void rpcrdma2_free_addresses(struct rpc_xprt *xprt)
{
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
}

/**
 * rpcrdma2_print_stats - the xprt: line of mountstats
 * @xprt: whose
 * @stats: its counters
 * @seq: where to
 *
 * The fields and their order are those that nfs-utils reads for "rdma".
 */
void rpcrdma2_print_stats(struct rpc_xprt *xprt,
			  const struct rpcrdma2_stats *stats,
			  struct seq_file *seq)
{
	long idle_time = 0;

	if (xprt_connected(xprt))
		idle_time = (long)(jiffies - xprt->last_used) / HZ;

	seq_printf(seq, "\txprt:\trdma %u %lu %lu %lu %ld %lu %lu %lu %llu %llu",
		   0, xprt->stat.bind_count, xprt->stat.connect_count,
		   xprt->stat.connect_time / HZ, idle_time,
		   xprt->stat.sends, xprt->stat.recvs, xprt->stat.bad_xids,
		   xprt->stat.req_u, xprt->stat.bklog_u);
	seq_printf(seq, " %lu %lu %lu %llu %llu %llu %llu",
		   stats->read_chunks, stats->write_chunks,
		   stats->reply_chunks, stats->request_bytes,
		   stats->reply_bytes, stats->pullup_copies,
		   stats->fixup_copies);
	/* Never here: Calls registered for want of a pool. */
	seq_printf(seq, " %u %lu %lu %lu", 0, stats->failed_marshals,
		   stats->bad_replies, stats->nomsg_calls);
	/* Never here: recycled and orphaned registrations. */
	seq_printf(seq, " %u %u %lu %lu", 0, 0, stats->mrs_allocated,
		   stats->local_invs);
	seq_printf(seq, " %lu %u\n", stats->credit_waits, 0);
}
