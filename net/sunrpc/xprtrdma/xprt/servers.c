// SPDX-License-Identifier: GPL-2.0
/*
 * What is remembered of servers, for a while, for all mounts in a network namespace:
 * which don't speak what a client would ask for first, and of which the log had a line.
 *
 * A server of the former kind may cost that client a connection and some seconds, so
 * what was learned is kept for version_retry seconds. It is also dropped when the
 * server cannot be reached: it may be another one when it comes back.
 */
#include <linux/sunrpc/addr.h>
#include <net/net_namespace.h>

#include "netlink/netlink.h"
#include "param.h"
#include "xprt.h"

/* Of more servers than that, some are forgotten sooner. */
#define NR_SERVERS	64

#define REPORT_INTERVAL	(60 * HZ)

/**
 * struct server - a server of which something is remembered
 * @net_cookie: the network namespace that it was seen from
 * @addr: its address and port
 * @dialect: the one that it had, or the next one to try; NULL in @reported
 * @until: when to forget it, in jiffies
 * @used: the entry is in use, until then
 */
struct server {
	u64			net_cookie;
	struct sockaddr_storage	addr;
	const struct rpcrdma2_dialect *dialect;
	unsigned long		until;
	bool			used;
};

static DEFINE_SPINLOCK(servers_lock);	/* learned, reported */
static struct server learned[NR_SERVERS];
static struct server reported[NR_SERVERS];

static bool server_in_use(const struct server *server)
{
	return server->used && time_before(jiffies, server->until);
}

static bool server_matches(const struct server *server,
			   const struct rpcrdma2_xprt *x)
{
	const struct sockaddr *a = (const struct sockaddr *)&server->addr;
	const struct sockaddr *b = (const struct sockaddr *)&x->tried;

	if (!server_in_use(server) ||
	    server->net_cookie != x->xprt.xprt_net->net_cookie)
		return false;
	/* What was written to sysfs, and is no address, has none of these. */
	if (a->sa_family == AF_UNSPEC)
		return b->sa_family == AF_UNSPEC;
	return rpc_cmp_addr_port(a, b);
}

static struct server *server_find(struct server *servers,
				  const struct rpcrdma2_xprt *x)
{
	unsigned int i;

	for (i = 0; i < NR_SERVERS; i++)
		if (server_matches(&servers[i], x))
			return &servers[i];
	return NULL;
}

/* A free entry, or the one that would be free first. */
static struct server *server_oldest(struct server *servers)
{
	struct server *oldest = servers;
	unsigned int i;

	for (i = 0; i < NR_SERVERS; i++) {
		if (!server_in_use(&servers[i]))
			return &servers[i];
		if (time_before(servers[i].until, oldest->until))
			oldest = &servers[i];
	}
	return oldest;
}

/* What is remembered already stays so for as long as it would have. */
static bool server_remember(struct server *servers,
			    const struct rpcrdma2_xprt *x,
			    const struct rpcrdma2_dialect *dialect,
			    unsigned long duration)
{
	struct server *server;
	bool known;

	spin_lock(&servers_lock);
	server = server_find(servers, x);
	known = server;
	if (!known) {
		server = server_oldest(servers);
		server->net_cookie = x->xprt.xprt_net->net_cookie;
		server->addr = x->tried;
		server->until = jiffies + duration;
		server->used = true;
	}
	server->dialect = dialect;
	spin_unlock(&servers_lock);
	return !known;
}

/**
 * rpcrdma2_server_dialect - in which dialect to speak to a server?
 * @x: a transport that tried to reach it last
 *
 * Process context.
 *
 * Return: the dialect, or NULL if nothing is known
 */
const struct rpcrdma2_dialect *
rpcrdma2_server_dialect(const struct rpcrdma2_xprt *x)
{
	const struct rpcrdma2_dialect *dialect = NULL;
	struct server *server;

	spin_lock(&servers_lock);
	server = server_find(learned, x);
	if (server)
		dialect = server->dialect;
	spin_unlock(&servers_lock);
	return dialect;
}

/**
 * rpcrdma2_server_learned - a server doesn't speak what it was asked in first
 * @x: a transport that tried to reach it last
 * @dialect: what it does speak, or may
 *
 * What is known already stays known for as long as it would have been.
 */
void rpcrdma2_server_learned(const struct rpcrdma2_xprt *x,
			     const struct rpcrdma2_dialect *dialect)
{
	bool is_news = rpcrdma2_server_dialect(x) != dialect;

	server_remember(learned, x, dialect,
			READ_ONCE(rpcrdma2_version_retry) * HZ);
	if (is_news)
		rpcrdma2_netlink_fallback(x, dialect);
}

/**
 * rpcrdma2_server_lost - a server cannot be reached
 * @x: a transport that tried to reach it last
 */
void rpcrdma2_server_lost(const struct rpcrdma2_xprt *x)
{
	struct server *server;

	spin_lock(&servers_lock);
	server = server_find(learned, x);
	if (server)
		server->used = false;
	spin_unlock(&servers_lock);
}

/**
 * rpcrdma2_server_report - may the log have a line about a server?
 * @x: a transport that tried to reach it last
 *
 * Process context.
 *
 * Return: true once a minute for each server, and that this is the time
 */
bool rpcrdma2_server_report(const struct rpcrdma2_xprt *x)
{
	return server_remember(reported, x, NULL, REPORT_INTERVAL);
}
