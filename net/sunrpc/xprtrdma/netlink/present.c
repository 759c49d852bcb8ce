// SPDX-License-Identifier: GPL-2.0
/*
 * Which connections are ready in a network namespace, and what all of them did so far.
 *
 * Each namespace has a tree of its connections, by number. A connection is in the tree from
 * READY until its Queues are drained, and the tree has a reference to it. The sunrpc transport
 * of a connection refers to the namespace for longer than that, so the namespace exists while
 * a connection is in its tree.
 *
 * A reader that walks through the tree takes a reference to one connection at a time, and
 * finds the next one by the number of the last. So it holds no lock while it looks at a
 * connection, and misses no connection that is there all the time.
 *
 * When a connection leaves the tree, its counters are added to the namespace's totals. A Call
 * that a server thread is still working on then has RDMA Reads and a Reply that are not counted
 * there.
 */
#include <linux/mutex.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "netlink.h"

/**
 * struct present - connections of a network namespace
 * @lock: all of this. Nothing is allocated under it, so a connection that memory waits for
 *	does not wait for memory here
 * @conns: connections that are ready, by number
 * @totals: by enum rpcrdma2_role: connections now, and sums over those that are gone
 */
struct present {
	struct mutex			lock;	/* conns, totals */
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
	return conn->active ? RPCRDMA2_ROLE_CLIENT : RPCRDMA2_ROLE_SERVER;
}

static struct rpcrdma2_conn *present_conn_at(struct rb_node *node)
{
	return rb_entry(node, struct rpcrdma2_conn, present);
}

static bool present_is_before(struct rb_node *a, const struct rb_node *b)
{
	return present_conn_at(a)->id < rb_entry(b, struct rpcrdma2_conn, present)->id;
}

/**
 * rpcrdma2_present_add - a connection is ready
 * @conn: the connection; the caller has a reference
 *
 * Process context, sleeps.
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

/* The other end closed it, or this one did: neither is a failure. */
static bool present_has_failed(const struct rpcrdma2_conn *conn)
{
	return conn->close_status != -ESHUTDOWN && conn->close_status != -ECONNABORTED;
}

/**
 * rpcrdma2_present_remove - a connection ends
 * @conn: the connection, drained; rpcrdma2_present_add() was called
 *
 * Process context, sleeps.
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
 * rpcrdma2_present_next - the connection with the lowest number from a given one on
 * @net: the network namespace
 * @id: the given number
 *
 * Process context, sleeps.
 *
 * Return: the connection, referenced; or NULL
 */
struct rpcrdma2_conn *rpcrdma2_present_next(struct net *net, u32 id)
{
	struct present *present = present_of(net);
	struct rpcrdma2_conn *found = NULL;
	struct rb_node *node;

	mutex_lock(&present->lock);
	node = present->conns.rb_node;
	while (node) {
		if (present_conn_at(node)->id >= id) {
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
 * rpcrdma2_present_find - the connection with a number
 * @net: the network namespace
 * @id: the number
 *
 * Process context, sleeps.
 *
 * Return: the connection, referenced; or NULL
 */
struct rpcrdma2_conn *rpcrdma2_present_find(struct net *net, u32 id)
{
	struct rpcrdma2_conn *conn = rpcrdma2_present_next(net, id);

	if (!conn || conn->id == id)
		return conn;
	rpcrdma2_conn_put(conn);
	return NULL;
}

/**
 * rpcrdma2_present_count_fallback - a client found that a server lacks the first dialect
 * @net: the network namespace
 *
 * Process context, sleeps.
 */
void rpcrdma2_present_count_fallback(struct net *net)
{
	struct present *present = present_of(net);

	mutex_lock(&present->lock);
	present->totals[RPCRDMA2_ROLE_CLIENT].fallbacks++;
	mutex_unlock(&present->lock);
}

/**
 * rpcrdma2_present_totals - what all connections of one role did
 * @net: the network namespace
 * @role: the role
 * @sum: where to
 *
 * The sums never fall: a connection moves from the living to the gone under the lock that
 * is held here.
 *
 * Process context, sleeps.
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
 * rpcrdma2_present_init - module initialisation
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_present_init(void)
{
	return register_pernet_subsys(&present_net_ops);
}

/**
 * rpcrdma2_present_exit - module removal, after every teardown
 */
void rpcrdma2_present_exit(void)
{
	unregister_pernet_subsys(&present_net_ops);
}
