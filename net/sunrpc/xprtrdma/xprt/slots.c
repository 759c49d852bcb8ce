// SPDX-License-Identifier: GPL-2.0
/*
 * Slots: who has one may have an RPC under way.
 *
 * How many there are, and who waits for one, is sunrpc's, below a lock. In front of that,
 * slots that come back are kept, and given out again, without one: each CPU first looks
 * where it put its own.
 *
 * Nobody may wait in sunrpc's backlog while a slot is kept. Who comes back keeps its slot,
 * and then looks whether there is a backlog; who got none is in the backlog, and then
 * looks whether one is kept. One of the two sees the other.
 */
#include "xprt.h"

/* Of those that a CPU looks at first */
#define SLOTS_OF_CPU	(SMP_CACHE_BYTES / sizeof(struct rpc_rqst *))

static unsigned int first_place(void)
{
	return raw_smp_processor_id() * SLOTS_OF_CPU;
}

static struct rpc_rqst *take(struct rpcrdma2_xprt *x)
{
	unsigned int first = first_place(), i;
	struct rpc_rqst **place, *rqst;

	for (i = 0; i < RPCRDMA2_KEPT_SLOTS; i++) {
		place = &x->kept[(first + i) % RPCRDMA2_KEPT_SLOTS];
		rqst = READ_ONCE(*place) ? xchg(place, NULL) : NULL;
		if (rqst)
			return rqst;
	}
	return NULL;
}

/* As sunrpc does, with zeroes. */
static bool keep(struct rpcrdma2_xprt *x, struct rpc_rqst *rqst)
{
	unsigned int first = first_place(), i;
	struct rpc_rqst **place;

	memset(rqst, 0, sizeof(*rqst));
	for (i = 0; i < RPCRDMA2_KEPT_SLOTS; i++) {
		place = &x->kept[(first + i) % RPCRDMA2_KEPT_SLOTS];
		if (!READ_ONCE(*place) && !cmpxchg(place, NULL, rqst))
			return true;
	}
	return false;
}

static bool has_backlog(const struct rpc_xprt *xprt)
{
	return test_bit(XPRT_CONGESTED, &xprt->state);
}

/**
 * rpcrdma2_slots_hand_over - give sunrpc all slots that are kept
 * @x: the transport
 *
 * Who has waited longest for one gets it.
 */
void rpcrdma2_slots_hand_over(struct rpcrdma2_xprt *x)
{
	struct rpc_rqst *rqst;

	while ((rqst = take(x)))
		xprt_free_slot(&x->xprt, rqst);
}

/**
 * rpcrdma2_slot_alloc - get a slot for an RPC
 * @xprt: the transport
 * @task: the RPC's
 *
 * The alloc_slot op: process context, does not sleep. sunrpc does not call it while
 * XPRT_CONGESTED says that there is a backlog: who comes then joins it.
 *
 * @task's tk_status is 0 if it has one; -EAGAIN if it waits for one; or -ENOMEM.
 */
void rpcrdma2_slot_alloc(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	struct rpc_rqst *rqst = take(x);

	if (likely(rqst)) {
		task->tk_rqstp = rqst;
		task->tk_status = 0;
		return;
	}
	xprt_alloc_slot(xprt, task);
	if (task->tk_status != -EAGAIN)
		return;
	/* Pairs with cmpxchg() in keep(). */
	smp_mb();
	rpcrdma2_slots_hand_over(x);
}

/**
 * rpcrdma2_slot_free - the slot of an RPC is free
 * @xprt: the transport
 * @rqst: the slot
 *
 * The greater part of the free_slot op. Any context that sunrpc frees a slot in.
 */
void rpcrdma2_slot_free(struct rpc_xprt *xprt, struct rpc_rqst *rqst)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);

	if (has_backlog(xprt) || !keep(x, rqst))
		xprt_free_slot(xprt, rqst);
	else if (unlikely(has_backlog(xprt)))
		rpcrdma2_slots_hand_over(x);
}
