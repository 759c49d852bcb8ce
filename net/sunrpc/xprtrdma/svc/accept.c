// SPDX-License-Identifier: GPL-2.0
/*
 * From a peer's request to a connection that sunrpc accepts.
 *
 * A listener has a backlog: the connections that came to it and that sunrpc has not
 * accepted yet. Each of them is at one of three stages:
 *
 *	WAITING	The connection has no QP, and the peer has no answer to its request.
 *	PLACED	The connection has a place. A work makes its QP and accepts the peer, which
 *		takes some devices tens of milliseconds. Then the peer has to speak.
 *	OFFERED	The peer's first message made the connection READY. It stands in a queue,
 *		from which xpo_accept takes it without a wait.
 *
 * A request proves nothing: its sender needs no QP, may never hear the answer, and may have
 * forged its address. So each stage has a limit, whoever the peer is:
 *
 *  -	There are MAX_PLACES places. Places that come free go to the addresses in turn.
 *  -	MAX_WAITING connections wait. More requests are refused before anything is
 *	allocated for them.
 *  -	One address has a quarter of either at most.
 *  -	While a connection waits because all places are taken, peers have a few seconds to
 *	speak, not half a minute (rpcrdma2_conn_hurry()).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/ratelimit.h>
#include <linux/sunrpc/addr.h>

#include "svc.h"

/* A connection with a place may hold a third of a MiB, and Receives. */
#define MAX_PLACES	256
/* A connection that waits holds some KiB. */
#define MAX_WAITING	4096
/* One address has no more than one part in so many of each. */
#define SHARES		4

#define SOURCE_BITS	7

/**
 * struct rpcrdma2_source - an address from which connections in a backlog came
 * @link: in the backlog's hash
 * @turn: in the backlog's @turns, while one of its connections may have the next place
 * @waiting: its connections that wait, the oldest first
 * @key: a hash of the address. Two addresses with the same one share what an address has
 * @nr_waiting: how many wait
 * @nr_places: how many have a place
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
 * @lock: all of this, and the svc_xprt's @in_backlog, @queued, @source and @stage
 * @closed: sunrpc let go of the listener
 * @all: all connections, but for those that rpcrdma2_backlog_close() has closed
 * @patient: those with a place whose peers have the usual time to speak
 * @hurried: those with a place whose peers have less
 * @offered: those that sunrpc may have, the oldest first
 * @turns: addresses whose turn comes when a place is free, the next one first
 * @nr_waiting: how many wait
 * @nr_places: how many have a place
 * @sources: all addresses, by key
 */
struct rpcrdma2_backlog {
	spinlock_t		lock;	/* all of this */
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
 * Return: the backlog, which kfree() frees when no connection refers to the listener; or
 * NULL
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

/* The seed is secret: no peer can choose an address that collides with another peer's. */
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
 * @listener: the svc_xprt that the request came to
 * @sa: the peer's address
 *
 * CM context. If not, this counts the request as refused.
 *
 * Return: whether it may
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

/* Its address is in line for the next place, or is not: call this after each change. */
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
 * Give a place to the connection whose turn it is.
 * Return: the connection, referenced; or NULL if no place is free, or nobody is in line
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
	/* Its svc_xprt refers to it, and leaves the backlog before it is freed. */
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

/* After each change; @next: what backlog_give_place() returned after it */
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

/* @source is put in the hash, unless its address has one there. Return: that one */
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
 * rpcrdma2_backlog_add - have a connection accepted, now or when it has a place
 * @sx: its svc_xprt; the connection was adopted
 *
 * CM context: the connection can't go meanwhile.
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
 * rpcrdma2_backlog_remove - a connection is sunrpc's now, or is gone
 * @sx: its svc_xprt; nothing happens if rpcrdma2_backlog_add() failed
 *
 * Process context. Another connection may have its place.
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
 * rpcrdma2_backlog_discard - a connection is gone that sunrpc never had
 * @sx: its svc_xprt; CLOSED
 *
 * Drops the reference that there is from the start, and with the last one those to the
 * connection and to the listener.
 */
void rpcrdma2_backlog_discard(struct rpcrdma2_svc_xprt *sx)
{
	rpcrdma2_backlog_remove(sx);
	rpcrdma2_svc_drop(sx);
}

/* sunrpc will not have it: it goes as a connection does that was never offered. */
static void backlog_take_back(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_conn *conn = sx->conn;
	bool closed;

	rpcrdma2_conn_get(conn);
	spin_lock(&sx->lock);
	sx->offered = false;
	closed = sx->closed;
	spin_unlock(&sx->lock);
	if (closed)
		rpcrdma2_backlog_discard(sx);
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
	struct rpcrdma2_backlog *backlog = listener->backlog;
	bool ok;

	spin_lock(&sx->lock);
	ok = !sx->closing;
	sx->offered = ok;
	spin_unlock(&sx->lock);
	if (!ok)
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
 * rpcrdma2_offer_next - take a connection from the listener's queue
 * @listener: its svc_xprt
 *
 * Return: the svc_xprt of the one that has waited longest, or NULL
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

/* Return: whether there was one */
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
 * rpcrdma2_backlog_close - sunrpc lets go of a listener: close what it has not accepted
 * @listener: its svc_xprt; no request comes to it any more
 *
 * Process context; does not wait for the connections' teardown.
 */
void rpcrdma2_backlog_close(struct rpcrdma2_svc_xprt *listener)
{
	while (backlog_close_one(listener->backlog))
		;
}
