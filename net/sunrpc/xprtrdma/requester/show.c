// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses and statistics of an rpc_xprt, and a requester's part of a debugfs file.
 *
 * Both ends use this file: the client's transport (xprt/) and the server's transport for
 * callbacks (svc/reverse.c). The address strings belong to the rpc_xprt. All functions run in
 * process context.
 */
#include <linux/seq_file.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>

#include "requester.h"

#define ADDRSTRLEN	(INET6_ADDRSTRLEN + 16)

static char *format_address(const struct sockaddr *sa)
{
	char buf[ADDRSTRLEN];

	rpc_ntop(sa, buf, sizeof(buf));
	return kstrdup(buf, GFP_KERNEL);
}

static char *format_hex_address(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)sa;

	if (sa->sa_family == AF_INET6)
		return kasprintf(GFP_KERNEL, "%pi6", &sin6->sin6_addr);
	return kasprintf(GFP_KERNEL, "%08x", ntohl(sin->sin_addr.s_addr));
}

#define PORTLEN		sizeof("65535")

static void format_ports(struct rpc_xprt *xprt)
{
	char *port = (char *)xprt->address_strings[RPC_DISPLAY_PORT];
	char *hex = (char *)xprt->address_strings[RPC_DISPLAY_HEX_PORT];
	u16 n = rpc_get_port((struct sockaddr *)&xprt->addr);

	if (port)
		snprintf(port, PORTLEN, "%u", n);
	if (hex)
		snprintf(hex, PORTLEN, "%4hx", n);
}

/**
 * rpcrdma2_set_port - set the port of a transport's address
 * @xprt: the transport
 * @port: the port, host order
 *
 * The set_port op. Readers hold only a reference to @xprt, or the RCU read lock. So this function
 * overwrites the port's strings in place, and frees none.
 *
 * Context: any.
 */
void rpcrdma2_set_port(struct rpc_xprt *xprt, u16 port)
{
	rpc_set_port((struct sockaddr *)&xprt->addr, port);
	format_ports(xprt);
}

/**
 * rpcrdma2_format_addresses - fill the address strings of a transport
 * @xprt: the transport; its address is set
 *
 * If there is no memory for a string, the string is NULL, and readers print "(null)".
 *
 * Context: process; sleeps for memory.
 */
void rpcrdma2_format_addresses(struct rpc_xprt *xprt)
{
	const struct sockaddr *sa = (struct sockaddr *)&xprt->addr;
	bool ipv6 = sa->sa_family == AF_INET6;

	xprt->address_strings[RPC_DISPLAY_ADDR] = format_address(sa);
	xprt->address_strings[RPC_DISPLAY_HEX_ADDR] = format_hex_address(sa);
	xprt->address_strings[RPC_DISPLAY_PORT] = kzalloc(PORTLEN, GFP_KERNEL);
	xprt->address_strings[RPC_DISPLAY_HEX_PORT] = kzalloc(PORTLEN,
							      GFP_KERNEL);
	format_ports(xprt);
	xprt->address_strings[RPC_DISPLAY_PROTO] = "rdma";
	xprt->address_strings[RPC_DISPLAY_NETID] = ipv6 ? "rdma6" : "rdma";
}

/**
 * rpcrdma2_free_addresses - free the address strings of a transport
 * @xprt: the transport, which has no other user
 *
 * Context: any.
 */
void rpcrdma2_free_addresses(struct rpc_xprt *xprt)
{
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
}

/**
 * rpcrdma2_print_stats - print the xprt: line of mountstats
 * @xprt: the transport
 * @stats: the counters of its requesters
 * @seq: file to print to
 *
 * nfs-utils reads these fields, in this order, for "rdma". Each field means the same as with the
 * kernel's own rpcrdma.
 *
 * Context: process.
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
	seq_printf(seq, " %llu %llu %llu %llu %llu %llu %llu",
		   stats->read_segments, stats->write_segments,
		   stats->reply_segments, stats->offered_octets,
		   stats->written_octets, stats->pullup_octets,
		   stats->fixup_octets);
	/* Always 0 here: buffers that are registered outside the pools */
	seq_printf(seq, " %u %llu %llu %llu", 0, stats->failed_marshals,
		   stats->bad_replies, stats->calls.position_zero);
	/* Always 0 here: recycled and orphaned registrations */
	seq_printf(seq, " %u %u %llu %llu", 0, 0, stats->mrs_allocated,
		   stats->local_invs);
	seq_printf(seq, " %llu %u\n", stats->send_waits, 0);
}

/**
 * rpcrdma2_show_stats - print the counters of one requester, or of several together
 * @seq: file to print to
 * @stats: the counters
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_show_stats(struct seq_file *seq,
			 const struct rpcrdma2_stats *stats)
{
	rpcrdma2_show_forms(seq, "calls_sent", &stats->calls);
	rpcrdma2_show_count(seq, "calls_sent_read_octets", stats->read_octets);
	rpcrdma2_show_count(seq, "calls_sent_offered_octets",
			    stats->offered_octets);
	rpcrdma2_show_count(seq, "calls_sent_pullup_octets",
			    stats->pullup_octets);
	rpcrdma2_show_forms(seq, "replies_received", &stats->replies);
	rpcrdma2_show_count(seq, "replies_received_written_octets",
			    stats->written_octets);
	rpcrdma2_show_count(seq, "replies_received_fixup_octets",
			    stats->fixup_octets);
	rpcrdma2_show_count(seq, "registrations", stats->registrations);
	rpcrdma2_show_count(seq, "gap_registrations", stats->gap_registrations);
	rpcrdma2_show_count(seq, "remote_invalidations", stats->remote_invs);
	rpcrdma2_show_count(seq, "local_invalidations", stats->local_invs);
	rpcrdma2_show_count(seq, "credit_waits", stats->credit_waits);
	rpcrdma2_show_count(seq, "registration_waits", stats->mr_waits);
	rpcrdma2_show_count(seq, "send_buffer_waits", stats->send_waits);
	rpcrdma2_show_count(seq, "failed_marshals", stats->failed_marshals);
	rpcrdma2_show_count(seq, "bad_replies", stats->bad_replies);
}

/**
 * rpcrdma2_show_requester - print the state and the counters of a requester
 * @seq: file to print to
 * @requester: the role, on a connection that the caller has entered
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_show_requester(struct seq_file *seq,
			     const struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_stats stats = { };

	rpcrdma2_counters_add(&stats, &requester->stats, sizeof(stats));
	rpcrdma2_show(seq, "requester_credits", "%u",
		      READ_ONCE(requester->grant_in));
	rpcrdma2_show(seq, "requester_outstanding", "%u",
		      rpcrdma2_requester_outstanding(requester));
	rpcrdma2_show(seq, "requester_registrations", "%u",
		      READ_ONCE(requester->mrs.nr) +
		      READ_ONCE(requester->gap_mrs.nr));
	rpcrdma2_show(seq, "requester_gap_registrations", "%u",
		      READ_ONCE(requester->gap_mrs.nr));
	rpcrdma2_show_stats(seq, &stats);
}
