// SPDX-License-Identifier: GPL-2.0
/*
 * From a peer that asks for a connection to one that sunrpc accepts.
 *
 * A connection is accepted in a workqueue, which takes tens of milliseconds on some
 * devices, and many at a time. The first message of its peer makes it READY: then it
 * stands in the listener's queue, and xpo_accept has nothing to do but to take it from
 * there. Peers that say nothing never get that far.
 *
 * Until then, a connection has one of the listener's places. Peers that had a Call
 * answered before have places of their own: strangers can't keep them out. Which ones did
 * is remembered by a hash of their addresses, where one may take another's place. After a
 * restart, all are strangers, as are those that find none of the places of their own:
 * who finds no place waits for one, with no QP yet, and in vain if that takes longer than
 * the state ACCEPTING may.
 */
#include <linux/jhash.h>
#include <linux/sunrpc/addr.h>

#include "svc.h"

/* Connections on the way of peers that are known; more are as strangers'. */
#define MAX_KNOWN	1024
/* Those of strangers; more wait. */
#define MAX_STRANGERS	128
/* and more than that are turned away. */
#define MAX_WAITING	2048

#define KNOWN_PEERS	4096

static u32 known_peers[KNOWN_PEERS];	/* hashes of their addresses; 0: nobody's */

static u32 hash_of(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)sa;
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	if (sa->sa_family == AF_INET6)
		hash = jhash(&sin6->sin6_addr, sizeof(sin6->sin6_addr), seed);
	else
		hash = jhash(&sin->sin_addr, sizeof(sin->sin_addr), seed);
	return hash ?: 1;
}

static bool is_known(const struct sockaddr *sa)
{
	u32 hash = hash_of(sa);

	return READ_ONCE(known_peers[hash % KNOWN_PEERS]) == hash;
}

/**
 * rpcrdma2_peer_served - a Call was answered
 * @sx: the svc_xprt of its connection
 */
void rpcrdma2_peer_served(struct rpcrdma2_svc_xprt *sx)
{
	u32 hash;

	if (READ_ONCE(sx->served))
		return;
	WRITE_ONCE(sx->served, true);
	hash = hash_of((struct sockaddr *)&sx->xprt.xpt_remote);
	WRITE_ONCE(known_peers[hash % KNOWN_PEERS], hash);
}

/**
 * rpcrdma2_place_is_free - a peer asks for a connection
 * @listener: the svc_xprt that it came to
 * @sa: the peer's address
 *
 * Return: whether there is a place for it, or may be in a while
 */
bool rpcrdma2_place_is_free(struct rpcrdma2_svc_xprt *listener,
			    const struct sockaddr *sa)
{
	bool known = is_known(sa);
	bool ok;

	spin_lock(&listener->lock);
	ok = (known && listener->nr_known < MAX_KNOWN) ||
	     listener->nr_waiting < MAX_WAITING;
	spin_unlock(&listener->lock);
	return ok;
}

/**
 * rpcrdma2_place_take - have a connection accepted, now or when there is a place
 * @sx: its svc_xprt; its connection was adopted
 *
 * CM context: the connection can't go.
 */
void rpcrdma2_place_take(struct rpcrdma2_svc_xprt *sx)
{
	bool known = is_known((struct sockaddr *)&sx->xprt.xpt_remote);
	struct rpcrdma2_svc_xprt *listener = sx->from;
	bool waits = false;

	spin_lock(&listener->lock);
	sx->stranger = !known || listener->nr_known >= MAX_KNOWN;
	if (!sx->stranger) {
		listener->nr_known++;
	} else if (listener->nr_strangers < MAX_STRANGERS) {
		listener->nr_strangers++;
	} else {
		waits = true;
		sx->waits = true;
		listener->nr_waiting++;
		list_add_tail(&sx->incoming, &listener->waiting);
	}
	spin_unlock(&listener->lock);
	if (!waits)
		rpcrdma2_conn_accept(sx->conn);
}

/* Return: the connection that has waited longest, and is to have a place; referenced */
static struct rpcrdma2_conn *next_waiting(struct rpcrdma2_svc_xprt *listener)
{
	struct rpcrdma2_svc_xprt *sx;

	lockdep_assert_held(&listener->lock);

	sx = list_first_entry_or_null(&listener->waiting,
				      struct rpcrdma2_svc_xprt, incoming);
	if (!sx)
		return NULL;
	list_del_init(&sx->incoming);
	listener->nr_waiting--;
	sx->waits = false;
	/* It does not go before it has said here that it does. */
	rpcrdma2_conn_get(sx->conn);
	return sx->conn;
}

/**
 * rpcrdma2_place_give - a connection is sunrpc's, or gone: others may have its place
 * @sx: its svc_xprt, for which rpcrdma2_place_take() was called
 */
void rpcrdma2_place_give(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_svc_xprt *listener = sx->from;
	struct rpcrdma2_conn *next = NULL;

	spin_lock(&listener->lock);
	if (sx->waits) {
		list_del_init(&sx->incoming);
		listener->nr_waiting--;
	} else if (!sx->stranger) {
		listener->nr_known--;
	} else {
		/* Those that wait for a listener that is gone are closed: drop_waiting() */
		next = listener->detached ? NULL : next_waiting(listener);
		listener->nr_strangers -= !next;
	}
	spin_unlock(&listener->lock);
	if (!next)
		return;
	rpcrdma2_conn_accept(next);
	rpcrdma2_conn_put(next);
}

/*
 * The listener is gone, and sunrpc will not have it: it goes as those do that were
 * never offered.
 */
static void take_back(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_conn *conn = sx->conn;
	bool closed;

	rpcrdma2_conn_get(conn);
	spin_lock(&sx->lock);
	sx->offered = false;
	closed = sx->closed;
	spin_unlock(&sx->lock);
	if (closed)
		rpcrdma2_svc_discard(sx);
	else
		rpcrdma2_conn_close(conn, -ESHUTDOWN);
	rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_offer - a connection is READY: sunrpc may have it
 * @sx: its svc_xprt
 *
 * CQ context.
 */
void rpcrdma2_offer(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_svc_xprt *listener = sx->from;
	bool ok;

	spin_lock(&sx->lock);
	ok = !sx->closing;
	sx->offered = ok;
	spin_unlock(&sx->lock);
	if (!ok)
		return;

	svc_xprt_get(&listener->xprt);
	spin_lock(&listener->lock);
	ok = !listener->detached;
	if (ok) {
		list_add_tail(&sx->incoming, &listener->incoming);
		set_bit(XPT_CONN, &listener->xprt.xpt_flags);
	}
	spin_unlock(&listener->lock);
	if (ok)
		svc_xprt_enqueue(&listener->xprt);
	else
		take_back(sx);
	svc_xprt_put(&listener->xprt);
}

/**
 * rpcrdma2_offer_next - take a connection from the listener's queue
 * @listener: its svc_xprt
 *
 * Return: the svc_xprt of the one that has waited longest, or NULL
 */
struct rpcrdma2_svc_xprt *
rpcrdma2_offer_next(struct rpcrdma2_svc_xprt *listener)
{
	struct rpcrdma2_svc_xprt *sx;

	spin_lock(&listener->lock);
	sx = list_first_entry_or_null(&listener->incoming,
				      struct rpcrdma2_svc_xprt, incoming);
	if (sx)
		list_del_init(&sx->incoming);
	if (list_empty(&listener->incoming))
		clear_bit(XPT_CONN, &listener->xprt.xpt_flags);
	spin_unlock(&listener->lock);
	return sx;
}

/* Return: whether one waited for a place */
static bool drop_waiting(struct rpcrdma2_svc_xprt *listener)
{
	struct rpcrdma2_conn *conn;

	spin_lock(&listener->lock);
	conn = next_waiting(listener);
	listener->nr_strangers += !!conn;
	spin_unlock(&listener->lock);
	if (!conn)
		return false;
	rpcrdma2_conn_close(conn, -ESHUTDOWN);
	rpcrdma2_conn_put(conn);
	return true;
}

/**
 * rpcrdma2_offers_drop - sunrpc lets go of a listener
 * @listener: its svc_xprt; nothing comes in any more
 */
void rpcrdma2_offers_drop(struct rpcrdma2_svc_xprt *listener)
{
	struct rpcrdma2_svc_xprt *sx;

	spin_lock(&listener->lock);
	listener->detached = true;
	spin_unlock(&listener->lock);
	while (drop_waiting(listener))
		;
	while ((sx = rpcrdma2_offer_next(listener)))
		take_back(sx);
}
