// SPDX-License-Identifier: GPL-2.0
/*
 * The ready connections of each network namespace, and totals over all connections so far.
 *
 * Each namespace has a tree of connections by number. A connection is in the tree from
 * READY until its Queues are drained, and the tree holds a reference. The connection's
 * sunrpc transport refers to the namespace for longer, so the namespace exists.
 *
 * A walk through the tree takes a reference to one connection at a time, and finds the next
 * one by its number. So a reader holds no lock while it looks at a connection. It sees each
 * connection that stays in the tree during the walk.
 *
 * A connection that leaves the tree adds its counters to the namespace's totals. If a
 * server thread still has a Call then, the totals miss this Call's RDMA Reads and Reply.
 * All functions run in process context.
 */
#include <linux/mutex.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "netlink.h"

/**
 * struct present - the connections of a network namespace
 * @lock: protects all other members. Its holder allocates no memory, because memory may be
 *	waiting for a connection that waits for this lock
 * @conns: ready connections by number
 * @totals: by enum rpcrdma2_role: number of ready connections, and sums over former ones
 */
struct present {
	struct mutex			lock;	/* protects conns, totals */
	struct rb_root			conns;
	struct rpcrdma2_role_totals	totals[RPCRDMA2_NR_ROLES];
};

static unsigned int present_id __read_mostly;

static struct present *present_of(struct net *net)
{
	return net_generic(net, present_id);
}

static enum rpcrdma2_role present_role_of(const struct rpcrdma2_conn *conn)
{
	return conn->ep.active ? RPCRDMA2_ROLE_CLIENT : RPCRDMA2_ROLE_SERVER;
}

static struct rpcrdma2_conn *present_conn_at(struct rb_node *node)
{
	return rb_entry(node, struct rpcrdma2_conn, present);
}

static bool present_is_before(struct rb_node *a, const struct rb_node *b)
{
	return present_conn_at(a)->ep.id < rb_entry(b, struct rpcrdma2_conn, present)->ep.id;
}

/**
 * rpcrdma2_present_add - add a connection that is ready
 * @conn: the connection; the caller has a reference
 *
 * Context: Process context; sleeps.
 */
void rpcrdma2_present_add(struct rpcrdma2_conn *conn)
{
	struct present *present = present_of(conn->param.net);
	struct rpcrdma2_role_totals *totals = &present->totals[present_role_of(conn)];

	rpcrdma2_conn_get(conn);
	mutex_lock(&present->lock);
	rb_add(&conn->present, &present->conns, present_is_before);
	totals->present++;
	totals->made++;
	mutex_unlock(&present->lock);
}

/* Whether a connection ended, but neither the peer nor this end closed it */
static bool present_has_failed(const struct rpcrdma2_conn *conn)
{
	return conn->close.status != -ESHUTDOWN && conn->close.status != -ECONNABORTED;
}

/**
 * rpcrdma2_present_remove - remove a connection, and keep its counters
 * @conn: the connection, with drained Queues, after rpcrdma2_present_add()
 *
 * Context: Process context; sleeps.
 */
void rpcrdma2_present_remove(struct rpcrdma2_conn *conn)
{
	struct present *present = present_of(conn->param.net);
	struct rpcrdma2_role_totals *totals = &present->totals[present_role_of(conn)];

	mutex_lock(&present->lock);
	rb_erase(&conn->present, &present->conns);
	totals->present--;
	totals->failed += present_has_failed(conn);
	rpcrdma2_totals_add(&totals->counts, conn);
	mutex_unlock(&present->lock);
	rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_present_next - find the next connection
 * @net: network namespace
 * @id: lowest number to look for
 *
 * Context: Process context; sleeps.
 * Return: the connection with the lowest number from @id on, with a reference; or NULL
 */
struct rpcrdma2_conn *rpcrdma2_present_next(struct net *net, u32 id)
{
	struct present *present = present_of(net);
	struct rpcrdma2_conn *found = NULL;
	struct rb_node *node;

	mutex_lock(&present->lock);
	node = present->conns.rb_node;
	while (node) {
		if (present_conn_at(node)->ep.id >= id) {
			found = present_conn_at(node);
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	if (found)
		rpcrdma2_conn_get(found);
	mutex_unlock(&present->lock);
	return found;
}

/**
 * rpcrdma2_present_find - find a connection by its number
 * @net: network namespace
 * @id: number
 *
 * Context: Process context; sleeps.
 * Return: the connection, with a reference; or NULL
 */
struct rpcrdma2_conn *rpcrdma2_present_find(struct net *net, u32 id)
{
	struct rpcrdma2_conn *conn = rpcrdma2_present_next(net, id);

	if (!conn || conn->ep.id == id)
		return conn;
	rpcrdma2_conn_put(conn);
	return NULL;
}

/**
 * rpcrdma2_present_count_fallback - count a server without the first dialect
 * @net: network namespace of the client
 *
 * Context: Process context; sleeps.
 */
void rpcrdma2_present_count_fallback(struct net *net)
{
	struct present *present = present_of(net);

	mutex_lock(&present->lock);
	present->totals[RPCRDMA2_ROLE_CLIENT].fallbacks++;
	mutex_unlock(&present->lock);
}

/**
 * rpcrdma2_present_totals - sum up the counters of all connections in a role, so far
 * @net: network namespace
 * @role: the role
 * @sum: totals to fill in
 *
 * The lock keeps a connection from leaving the tree meanwhile. So each connection counts
 * once, and no sum ever falls.
 *
 * Context: Process context; sleeps.
 */
void rpcrdma2_present_totals(struct net *net, enum rpcrdma2_role role,
			     struct rpcrdma2_role_totals *sum)
{
	struct present *present = present_of(net);
	struct rb_node *node;

	mutex_lock(&present->lock);
	*sum = present->totals[role];
	for (node = rb_first(&present->conns); node; node = rb_next(node))
		if (present_role_of(present_conn_at(node)) == role)
			rpcrdma2_totals_add(&sum->counts,
					    present_conn_at(node));
	mutex_unlock(&present->lock);
}

static int __net_init present_net_init(struct net *net)
{
	struct present *present = present_of(net);

	mutex_init(&present->lock);
	present->conns = RB_ROOT;
	return 0;
}

static void __net_exit present_net_exit(struct net *net)
{
	WARN_ON_ONCE(!RB_EMPTY_ROOT(&present_of(net)->conns));
}

static struct pernet_operations present_net_ops = {
	.init	= present_net_init,
	.exit	= present_net_exit,
	.id	= &present_id,
	.size	= sizeof(struct present),
};

/**
 * rpcrdma2_present_init - register the state of each network namespace
 *
 * Context: Module initialisation; sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_present_init(void)
{
	return register_pernet_subsys(&present_net_ops);
}

/**
 * rpcrdma2_present_exit - unregister the state of each network namespace
 *
 * Context: Module removal, after all connections are torn down; sleeps.
 */
void rpcrdma2_present_exit(void)
{
	unregister_pernet_subsys(&present_net_ops);
}
