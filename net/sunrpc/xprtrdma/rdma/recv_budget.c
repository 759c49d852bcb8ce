// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of all Receives of the server, and its limit (parameter receive_memory).
 *
 * Every endpoint gets its minimum, whatever the limit is. Beyond the limit, a Shared Receive
 * Queue does not grow (srq.c), and so grants do not grow (responder/grant.c). Receives that
 * are not shared keep their size, or shrink again if they have grown (conn/resize.c).
 *
 * Owns only atomic counters and time stamps. All functions run in any context.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>

#include "ep.h"
#include "param.h"

/* A noted shortage is thought to last for this time. */
#define SHORT_SECS	10

/* For this time after a failed attempt, only callers that may wait try again. */
#define RETRY_SECS	1

static atomic_long_t octets;
static atomic_t shortages;
static atomic64_t short_until;	/* in jiffies, by get_jiffies_64() */
static atomic64_t retry_at;	/* likewise */

/* Return: octets; a long would overflow at 2 GiB on 32 bits */
static s64 recv_budget_limit(void)
{
	return (s64)READ_ONCE(rpcrdma2_receive_memory) * SZ_1M;
}

/**
 * rpcrdma2_recv_budget_add - count memory of the server's Receives
 * @more: octets that are allocated, or, if negative, freed
 *
 * Context: Any.
 */
void rpcrdma2_recv_budget_add(long more)
{
	atomic_long_add(more, &octets);
}

/**
 * rpcrdma2_recv_budget_fits - may the server's Receives take more memory?
 * @more: octets to add
 *
 * Context: Any.
 * Return: whether the sum keeps the limit
 */
bool rpcrdma2_recv_budget_fits(long more)
{
	return (s64)atomic_long_read(&octets) + more <= recv_budget_limit();
}

/**
 * rpcrdma2_recv_budget_allows - may all Receives of an endpoint get another size?
 * @ep: the endpoint; a client's has no limit
 * @size: new size of each Receive, octets; ep->recvs.size asks about the present sizes
 *
 * Context: Any; the caller holds ep->lock.
 * Return: whether the server's Receives keep the limit then
 */
bool rpcrdma2_recv_budget_allows(const struct rpcrdma2_ep *ep, u32 size)
{
	long more = (long)size - ep->recvs.size;

	return ep->active ||
	       rpcrdma2_recv_budget_fits(more * READ_ONCE(ep->recvs.nr));
}

/**
 * rpcrdma2_recv_budget_is_short - were Receives or their memory short lately?
 *
 * Context: Any.
 * Return: whether there was a shortage during the last %SHORT_SECS
 */
bool rpcrdma2_recv_budget_is_short(void)
{
	u64 until = atomic64_read(&short_until);

	return time_before64(get_jiffies_64(), until);
}

/**
 * rpcrdma2_recv_budget_note_shortage - Receives or their memory do not suffice
 *
 * Context: Any.
 */
void rpcrdma2_recv_budget_note_shortage(void)
{
	atomic_inc(&shortages);
	atomic64_set(&short_until, get_jiffies_64() + SHORT_SECS * HZ);
}

/**
 * rpcrdma2_recv_budget_failed_lately - is it too soon for another attempt to allocate?
 *
 * Each attempt may reclaim memory. A CQ handler that lacks Receives attempts with every
 * Reply, or every few Calls.
 *
 * Context: Any.
 * Return: whether an attempt failed during the last %RETRY_SECS
 */
bool rpcrdma2_recv_budget_failed_lately(void)
{
	u64 until = atomic64_read(&retry_at);

	return time_before64(get_jiffies_64(), until);
}

/**
 * rpcrdma2_recv_budget_note_failure - an attempt to allocate a Receive failed
 *
 * Context: Any.
 */
void rpcrdma2_recv_budget_note_failure(void)
{
	atomic64_set(&retry_at, get_jiffies_64() + RETRY_SECS * HZ);
}

/**
 * rpcrdma2_recv_budget_use - report the memory of the server's Receives
 * @use: filled in
 *
 * Context: Any.
 */
void rpcrdma2_recv_budget_use(struct rpcrdma2_recv_budget_use *use)
{
	use->octets = atomic_long_read(&octets);
	use->limit = recv_budget_limit();
	use->shortages = (u32)atomic_read(&shortages);
}
