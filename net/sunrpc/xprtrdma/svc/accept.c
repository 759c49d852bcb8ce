// SPDX-License-Identifier: GPL-2.0
/*
 * A listener's backlog: connections that sunrpc has not accepted yet.
 *
 *	WAITING	The connection has no QP, and the peer has no answer to its request.
 *	PLACED	The connection has a place. A work makes the QP and accepts the peer, which
 *		takes some devices tens of milliseconds. Then the peer has to speak.
 *	OFFERED	The peer's first message made the connection READY. xpo_accept takes it.
 *
 * The sender of a request needs no QP, and can forge its address. So each stage has a limit:
 *  -	There are MAX_PLACES places. A free place goes to the addresses in turn.
 *  -	MAX_WAITING connections wait. Further requests are refused before any allocation.
 *  -	An address has at most a quarter of each.
 *  -	While all places are taken and a connection waits, peers have a few seconds to speak,
 *	instead of half a minute: rpcrdma2_conn_hurry().
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/ratelimit.h>
#include <linux/sunrpc/addr.h>

#include "svc.h"
#include "totals.h"

/* A connection with a place has a QP, a CQ and Receives. */
#define MAX_PLACES	256
/* A connection that waits has only its structs. */
#define MAX_WAITING	4096
/* One address may have at most 1/SHARES of MAX_PLACES, and of MAX_WAITING. */
#define SHARES		4

#define SOURCE_BITS	7

/**
 * struct rpcrdma2_source - an address from which connections in a backlog came
 * @link: link in the backlog's hash
 * @turn: link in the backlog's @turns, while the next place may go to one of its connections
 * @waiting: its connections that wait, oldest first, linked by @queued
 * @key: hash of the address. Addresses with the same key share one limit
 * @nr_waiting: number of its connections that wait
 * @nr_places: number of its connections with a place
 */
struct rpcrdma2_source {
	struct hlist_node	link;
	struct list_head	turn;
	struct list_head	waiting;
	u32			key;
	unsigned int		nr_waiting;
	unsigned int		nr_places;
};

/**
 * struct rpcrdma2_backlog - connections that sunrpc has not accepted yet
 * @lock: protects this struct, its sources, and @in_backlog to @stage of each svc_xprt
 * @closed: sunrpc let go of the listener
 * @all: all connections, except those that rpcrdma2_backlog_close() has taken out
 * @patient: connections with a place whose peers have the usual time to speak
 * @hurried: connections with a place whose peers have less time
 * @offered: connections that sunrpc may accept, oldest first
 * @turns: addresses that may have the next place, the next one first
 * @nr_waiting: number of connections that wait
 * @nr_places: number of connections with a place
 * @sources: all addresses, by key
 */
struct rpcrdma2_backlog {
	spinlock_t		lock;	/* the backlog's contents */
	bool			closed;
	struct list_head	all;
	struct list_head	patient;
	struct list_head	hurried;
	struct list_head	offered;
	struct list_head	turns;
	unsigned int		nr_waiting;
	unsigned int		nr_places;
	DECLARE_HASHTABLE(sources, SOURCE_BITS);
};

/**
 * rpcrdma2_backlog_alloc - make a listener's backlog
 *
 * Context: process, sleeps.
 *
 * Return: the backlog, for kfree() when no connection refers to the listener; or NULL
 */
struct rpcrdma2_backlog *rpcrdma2_backlog_alloc(void)
{
	struct rpcrdma2_backlog *backlog;

	backlog = kzalloc(sizeof(*backlog), GFP_KERNEL);
	if (!backlog)
		return NULL;
	spin_lock_init(&backlog->lock);
	INIT_LIST_HEAD(&backlog->all);
	INIT_LIST_HEAD(&backlog->patient);
	INIT_LIST_HEAD(&backlog->hurried);
	INIT_LIST_HEAD(&backlog->offered);
	INIT_LIST_HEAD(&backlog->turns);
	hash_init(backlog->sources);
	return backlog;
}

/* The seed is secret, so no peer can choose an address that collides with another's. */
static u32 source_key(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)sa;
	static u32 seed __read_mostly;

	net_get_random_once(&seed, sizeof(seed));
	if (sa->sa_family == AF_INET6)
		return jhash(&sin6->sin6_addr, sizeof(sin6->sin6_addr), seed);
	return jhash(&sin->sin_addr, sizeof(sin->sin_addr), seed);
}

static struct rpcrdma2_source *source_find(struct rpcrdma2_backlog *backlog,
					   u32 key)
{
	struct rpcrdma2_source *source;

	lockdep_assert_held(&backlog->lock);

	hash_for_each_possible(backlog->sources, source, link, key)
		if (source->key == key)
			return source;
	return NULL;
}

static void backlog_report_refusal(const struct sockaddr *sa,
				   unsigned int waiting, unsigned int same)
{
	static DEFINE_RATELIMIT_STATE(limit, 60 * HZ, 1);

	rpcrdma2_svc_stats_refused();
	if (__ratelimit(&limit))
		pr_warn("refused a connection from %pISc: %u wait to be accepted, %u of them from this address\n",
			sa, waiting, same);
}

/**
 * rpcrdma2_backlog_has_room - may a peer's request become a connection?
 * @listener: the listener's svc_xprt
 * @sa: the peer's address
 *
 * Counts a request that is refused.
 *
 * Context: CM.
 *
 * Return: true if so
 */
bool rpcrdma2_backlog_has_room(struct rpcrdma2_svc_xprt *listener,
			       const struct sockaddr *sa)
{
	struct rpcrdma2_backlog *backlog = listener->backlog;
	const struct rpcrdma2_source *source;
	unsigned int waiting, same;

	spin_lock(&backlog->lock);
	source = source_find(backlog, source_key(sa));
	waiting = backlog->nr_waiting;
	same = source ? source->nr_waiting : 0;
	spin_unlock(&backlog->lock);
	if (waiting < MAX_WAITING && same < MAX_WAITING / SHARES)
		return true;
	backlog_report_refusal(sa, waiting, same);
	return false;
}

/* Join the turns, or leave them. Called after each change of the address's numbers. */
static void source_update_turn(struct rpcrdma2_backlog *backlog,
			       struct rpcrdma2_source *source)
{
	bool may = source->nr_waiting &&
		   source->nr_places < MAX_PLACES / SHARES;

	lockdep_assert_held(&backlog->lock);

	if (!may)
		list_del_init(&source->turn);
	else if (list_empty(&source->turn))
		list_add_tail(&source->turn, &backlog->turns);
}

static void backlog_count(struct rpcrdma2_backlog *backlog,
			  const struct rpcrdma2_svc_xprt *sx, int n)
{
	lockdep_assert_held(&backlog->lock);

	if (sx->stage == RPCRDMA2_SVC_WAITING) {
		backlog->nr_waiting += n;
		sx->source->nr_waiting += n;
	} else {
		backlog->nr_places += n;
		sx->source->nr_places += n;
	}
}

/*
 * Give a free place to the connection whose turn it is.
 * Return: the connection, referenced; or NULL if nobody may have a place
 */
static struct rpcrdma2_conn *
backlog_give_place(struct rpcrdma2_backlog *backlog)
{
	struct rpcrdma2_source *source;
	struct rpcrdma2_svc_xprt *sx;

	lockdep_assert_held(&backlog->lock);

	source = list_first_entry_or_null(&backlog->turns,
					  struct rpcrdma2_source, turn);
	if (!source || backlog->nr_places == MAX_PLACES || backlog->closed)
		return NULL;
	sx = list_first_entry(&source->waiting, struct rpcrdma2_svc_xprt,
			      queued);
	backlog_count(backlog, sx, -1);
	sx->stage = RPCRDMA2_SVC_PLACED;
	backlog_count(backlog, sx, 1);
	list_move_tail(&sx->queued, &backlog->patient);
	list_del_init(&source->turn);
	source_update_turn(backlog, source);
	/* @sx is valid: rpcrdma2_backlog_remove() takes the lock before @sx is freed. */
	rpcrdma2_conn_get(sx->conn);
	return sx->conn;
}

/* Return: a connection whose peer has to hurry, referenced; or NULL */
static struct rpcrdma2_conn *
backlog_next_to_hurry(struct rpcrdma2_backlog *backlog)
{
	struct rpcrdma2_svc_xprt *sx = NULL;

	spin_lock(&backlog->lock);
	if (backlog->nr_places == MAX_PLACES && !list_empty(&backlog->turns))
		sx = list_first_entry_or_null(&backlog->patient,
					      struct rpcrdma2_svc_xprt, queued);
	if (sx) {
		list_move_tail(&sx->queued, &backlog->hurried);
		rpcrdma2_conn_get(sx->conn);
	}
	spin_unlock(&backlog->lock);
	return sx ? sx->conn : NULL;
}

/*
 * Act on a change without the lock: hurry peers, and accept @next, the connection that got a
 * place. The caller's reference to @next is dropped.
 */
static void backlog_go_on(struct rpcrdma2_backlog *backlog,
			  struct rpcrdma2_conn *next)
{
	struct rpcrdma2_conn *conn;

	while ((conn = backlog_next_to_hurry(backlog))) {
		rpcrdma2_conn_hurry(conn);
		rpcrdma2_conn_put(conn);
	}
	if (!next)
		return;
	rpcrdma2_conn_accept(next);
	rpcrdma2_conn_put(next);
}

/* Return: the backlog's source with the same key, which is @source if there was none */
static struct rpcrdma2_source *source_add(struct rpcrdma2_backlog *backlog,
					  struct rpcrdma2_source *source)
{
	struct rpcrdma2_source *found = source_find(backlog, source->key);

	if (found)
		return found;
	INIT_LIST_HEAD(&source->turn);
	INIT_LIST_HEAD(&source->waiting);
	hash_add(backlog->sources, &source->link, source->key);
	return source;
}

/**
 * rpcrdma2_backlog_add - put a connection into its listener's backlog
 * @sx: the svc_xprt of a connection that was adopted
 *
 * The connection is accepted now, or when it gets a place.
 *
 * Context: CM; the caller is between enter and exit of the connection.
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_backlog_add(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_backlog *backlog = sx->from->backlog;
	struct rpcrdma2_source *source;
	struct rpcrdma2_conn *next;

	source = kzalloc(sizeof(*source), GFP_KERNEL);
	if (!source)
		return -ENOMEM;
	source->key = source_key((struct sockaddr *)&sx->xprt.xpt_remote);

	spin_lock(&backlog->lock);
	sx->source = source_add(backlog, source);
	if (sx->source == source)
		source = NULL;
	sx->stage = RPCRDMA2_SVC_WAITING;
	backlog_count(backlog, sx, 1);
	list_add_tail(&sx->in_backlog, &backlog->all);
	list_add_tail(&sx->queued, &sx->source->waiting);
	source_update_turn(backlog, sx->source);
	next = backlog_give_place(backlog);
	spin_unlock(&backlog->lock);
	kfree(source);
	backlog_go_on(backlog, next);
	return 0;
}

/**
 * rpcrdma2_backlog_remove - take a connection out of the backlog
 * @sx: the svc_xprt of a connection that sunrpc accepts, or that is gone. Nothing happens if it
 *	is not in the backlog
 *
 * Another connection may get the place.
 *
 * Context: process, no locks held.
 */
void rpcrdma2_backlog_remove(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_backlog *backlog = sx->from->backlog;
	struct rpcrdma2_source *source = sx->source;
	struct rpcrdma2_conn *next;

	if (!source)
		return;
	spin_lock(&backlog->lock);
	list_del_init(&sx->in_backlog);
	list_del_init(&sx->queued);
	backlog_count(backlog, sx, -1);
	sx->source = NULL;
	source_update_turn(backlog, source);
	if (source->nr_waiting || source->nr_places)
		source = NULL;
	else
		hash_del(&source->link);
	next = backlog_give_place(backlog);
	spin_unlock(&backlog->lock);
	kfree(source);
	backlog_go_on(backlog, next);
}

/**
 * rpcrdma2_backlog_discard - drop a connection that sunrpc never had
 * @sx: the svc_xprt; the connection is CLOSED. Drops the first reference to @sx
 *
 * Context: process, no locks held.
 */
void rpcrdma2_backlog_discard(struct rpcrdma2_svc_xprt *sx)
{
	rpcrdma2_backlog_remove(sx);
	rpcrdma2_svc_drop(sx);
}

/* sunrpc never gets this connection: undo the offer, so that CLOSED discards it. */
static void backlog_take_back(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_conn *conn = sx->conn;
	enum rpcrdma2_owner_action action;

	rpcrdma2_conn_get(conn);
	action = rpcrdma2_svc_happen(sx, RPCRDMA2_ON_TAKE_BACK);
	if (action == RPCRDMA2_DO_DISCARD)
		rpcrdma2_backlog_discard(sx);
	else if (action == RPCRDMA2_DO_CLOSE)
		rpcrdma2_conn_close(conn, -ESHUTDOWN);
	rpcrdma2_conn_put(conn);
}

/**
 * rpcrdma2_offer - offer a READY connection to sunrpc
 * @sx: the svc_xprt
 *
 * Nothing happens if the connection is closing. If it starts to close later, svc_conn_closing()
 * finds that sunrpc is the owner, and asks sunrpc to close the svc_xprt.
 *
 * Context: process, no locks held; the ready op's.
 */
void rpcrdma2_offer(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_svc_xprt *listener = sx->from;
	struct rpcrdma2_backlog *backlog = listener->backlog;
	bool ok;

	if (rpcrdma2_svc_happen(sx, RPCRDMA2_ON_READY) != RPCRDMA2_DO_OFFER)
		return;

	svc_xprt_get(&listener->xprt);
	spin_lock(&backlog->lock);
	ok = !backlog->closed;
	if (ok) {
		sx->stage = RPCRDMA2_SVC_OFFERED;
		list_move_tail(&sx->queued, &backlog->offered);
		set_bit(XPT_CONN, &listener->xprt.xpt_flags);
	}
	spin_unlock(&backlog->lock);
	if (ok)
		svc_xprt_enqueue(&listener->xprt);
	else
		backlog_take_back(sx);
	svc_xprt_put(&listener->xprt);
}

/**
 * rpcrdma2_offer_next - take the next connection that is offered
 * @listener: the listener's svc_xprt
 *
 * Clears XPT_CONN after the last one.
 *
 * Context: process, no locks held.
 *
 * Return: the svc_xprt that has waited longest; or NULL
 */
struct rpcrdma2_svc_xprt *
rpcrdma2_offer_next(struct rpcrdma2_svc_xprt *listener)
{
	struct rpcrdma2_backlog *backlog = listener->backlog;
	struct rpcrdma2_svc_xprt *sx;

	spin_lock(&backlog->lock);
	sx = list_first_entry_or_null(&backlog->offered,
				      struct rpcrdma2_svc_xprt, queued);
	if (sx)
		list_del_init(&sx->queued);
	if (list_empty(&backlog->offered))
		clear_bit(XPT_CONN, &listener->xprt.xpt_flags);
	spin_unlock(&backlog->lock);
	if (sx)
		rpcrdma2_backlog_remove(sx);
	return sx;
}

/* Take one connection out, and close it. Return: whether there was one */
static bool backlog_close_one(struct rpcrdma2_backlog *backlog)
{
	struct rpcrdma2_svc_xprt *sx;
	struct rpcrdma2_conn *conn;
	bool offered;

	spin_lock(&backlog->lock);
	backlog->closed = true;
	sx = list_first_entry_or_null(&backlog->all, struct rpcrdma2_svc_xprt,
				      in_backlog);
	if (!sx) {
		spin_unlock(&backlog->lock);
		return false;
	}
	list_del_init(&sx->in_backlog);
	offered = sx->stage == RPCRDMA2_SVC_OFFERED;
	if (offered)
		list_del_init(&sx->queued);
	conn = sx->conn;
	rpcrdma2_conn_get(conn);
	spin_unlock(&backlog->lock);
	if (offered)
		backlog_take_back(sx);
	else
		rpcrdma2_conn_close(conn, -ESHUTDOWN);
	rpcrdma2_conn_put(conn);
	return true;
}

/**
 * rpcrdma2_backlog_close - close all connections that sunrpc has not accepted
 * @listener: the svc_xprt of a listener to which no request comes any more
 *
 * Does not wait for the teardowns.
 *
 * Context: process, no locks held.
 */
void rpcrdma2_backlog_close(struct rpcrdma2_svc_xprt *listener)
{
	while (backlog_close_one(listener->backlog))
		;
}
