// SPDX-License-Identifier: GPL-2.0
/*
 * Two tables of servers, for all clients of a network namespace:
 *
 *	learned		servers that do not speak a client's first dialect
 *	reported	servers that had a line in the log lately
 *
 * A server of the first table may cost a client a connection and some seconds each time. So the
 * client begins with the remembered dialect for version_retry seconds. A server that can't be
 * reached is forgotten: it may speak another version when it comes back.
 *
 * Both tables are under servers_lock, and are used in process context.
 */
#include <linux/sunrpc/addr.h>
#include <net/net_namespace.h>

#include "netlink/netlink.h"
#include "param.h"
#include "xprt.h"

/* Size of each table. A full table gives up the entry that expires first. */
#define NR_SERVERS	64

#define REPORT_INTERVAL	(60 * HZ)

/**
 * struct server - an entry of either table
 * @net_cookie: the network namespace that the server was seen from
 * @addr: the server's address and port
 * @dialect: the dialect that the server speaks or may speak; NULL in the table reported
 * @until: when the entry expires, in jiffies
 * @used: the entry has been filled, and is valid until @until
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
	/* A process may write nonsense to sysfs, which sunrpc stores as AF_UNSPEC. */
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

/* Return: a free entry, or the entry that expires first */
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

/*
 * Fill an entry, or update the entry that is there already, which keeps its time of expiry.
 *
 * Return: true if the entry is new
 */
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
 * rpcrdma2_server_dialect - find the remembered dialect of a server
 * @x: a transport; its tried has the server's address
 *
 * Context: process; takes servers_lock.
 *
 * Return: the dialect, or NULL if none is remembered
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
 * rpcrdma2_server_learned - remember that a server does not speak a client's first dialect
 * @x: a transport; its tried has the server's address
 * @dialect: the dialect that the server speaks, or the next dialect to try
 *
 * A server that is remembered already gets the new dialect, but is not remembered for longer. A
 * netlink event reports a dialect that is new.
 *
 * Context: process; takes servers_lock, and may sleep for the event.
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
 * rpcrdma2_server_lost - forget the dialect of a server
 * @x: a transport; its tried has the server's address
 *
 * Context: process; takes servers_lock.
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
 * rpcrdma2_server_report - ask for permission to write a line to the log about a server
 * @x: a transport; its tried has the server's address
 *
 * Context: process; takes servers_lock.
 *
 * Return: true at most once a minute for each server
 */
bool rpcrdma2_server_report(const struct rpcrdma2_xprt *x)
{
	return server_remember(reported, x, NULL, REPORT_INTERVAL);
}
