// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a server's Receives, shared or not, and its limit (receive_memory).
 *
 * What a connection needs at the least it gets, whatever the limit is. Over it, a Shared
 * Receive Queue doesn't grow (srq.c), so grants don't (responder/grant.c), and Receives
 * that aren't shared get no larger; those that have grown get smaller again (resize.c).
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>

#include "conn.h"
#include "param.h"

/* Memory is thought to be short for that time after there was none. */
#define SHORT_SECS	10

/* For that time after an attempt failed, only callers that may wait try again. */
#define RETRY_SECS	1

static atomic_long_t octets;
static atomic_t shortages;
static atomic64_t short_until;	/* by get_jiffies_64() */
static atomic64_t retry_at;	/* the same */

static long recv_budget_limit(void)
{
	return READ_ONCE(rpcrdma2_receive_memory) * (long)SZ_1M;
}

/**
 * rpcrdma2_recv_budget_add - count what Receives of a server take, or no longer take
 * @more: octets; less than 0: they are freed
 *
 * Any context.
 */
void rpcrdma2_recv_budget_add(long more)
{
	atomic_long_add(more, &octets);
}

/**
 * rpcrdma2_recv_budget_fits - may Receives of a server take more?
 * @more: octets
 *
 * Any context.
 *
 * Return: whether they are within the limit then
 */
bool rpcrdma2_recv_budget_fits(long more)
{
	return atomic_long_read(&octets) + more <= recv_budget_limit();
}

/**
 * rpcrdma2_recv_budget_allows - may a connection's own Receives have a size?
 * @conn: which; those of a client have no limit
 * @size: octets of each; what they have already: is the limit kept to now?
 *
 * Any context; the caller holds @conn's lock.
 *
 * Return: whether all Receives of a server are within the limit then
 */
bool rpcrdma2_recv_budget_allows(const struct rpcrdma2_conn *conn, u32 size)
{
	long more = (long)size - conn->recv_size;

	return conn->active ||
	       rpcrdma2_recv_budget_fits(more * READ_ONCE(conn->nr_recvs));
}

/**
 * rpcrdma2_recv_budget_is_short - should less be granted?
 *
 * Return: whether there was too little of something lately
 */
bool rpcrdma2_recv_budget_is_short(void)
{
	u64 until = atomic64_read(&short_until);

	return time_before64(get_jiffies_64(), until);
}

/**
 * rpcrdma2_recv_budget_note_shortage - there was too little of something
 *
 * Any context.
 */
void rpcrdma2_recv_budget_note_shortage(void)
{
	atomic_inc(&shortages);
	atomic64_set(&short_until, get_jiffies_64() + SHORT_SECS * HZ);
}

/**
 * rpcrdma2_recv_budget_failed_lately - is it too soon to try again to allocate?
 *
 * Each attempt may reclaim memory. A handler of completions makes them for every Reply, or
 * every few Calls, while it has fewer Receives than it could use.
 *
 * Any context.
 *
 * Return: whether an allocation failed during the last second
 */
bool rpcrdma2_recv_budget_failed_lately(void)
{
	u64 until = atomic64_read(&retry_at);

	return time_before64(get_jiffies_64(), until);
}

/**
 * rpcrdma2_recv_budget_note_failure - there was no memory for a Receive
 *
 * Any context.
 */
void rpcrdma2_recv_budget_note_failure(void)
{
	atomic64_set(&retry_at, get_jiffies_64() + RETRY_SECS * HZ);
}

/**
 * rpcrdma2_recv_budget_show - write what there is to say of it
 * @seq: where to
 */
void rpcrdma2_recv_budget_show(struct seq_file *seq)
{
	rpcrdma2_show(seq, "memory_limit", "%ld", recv_budget_limit());
	rpcrdma2_show(seq, "memory", "%ld", atomic_long_read(&octets));
	rpcrdma2_show(seq, "shortages", "%d", atomic_read(&shortages));
}

/**
 * rpcrdma2_recv_budget_use - how much memory do a server's Receives take?
 * @use: where to put the answer
 *
 * Any context.
 */
void rpcrdma2_recv_budget_use(struct rpcrdma2_recv_budget_use *use)
{
	use->octets = atomic_long_read(&octets);
	use->limit = recv_budget_limit();
	use->shortages = (u32)atomic_read(&shortages);
}
