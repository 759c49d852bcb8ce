// SPDX-License-Identifier: GPL-2.0
/*
 * How a Call waits for what is short: a credit, a Send buffer or a registration.
 *
 * Calls go out in turn, under the xprt's write lock. So sunrpc stops sending on the xprt, and
 * goes on when something comes back. Nothing sleeps here. Either the Call finds what has come
 * back, or it is woken:
 *
 *	rpcrdma2_wait_or_get()		the thread that gives something back
 *	set XPRT_WRITE_SPACE		give it back, and a full barrier
 *	full barrier			rpcrdma2_requester_wake(): test XPRT_WRITE_SPACE
 *	look once more
 *
 * If one side looks and the other gives back under the same lock, that lock is the barrier.
 */
#include "requester.h"

/**
 * rpcrdma2_wait_or_get - stop sending on the xprt, and look once more
 * @requester: the role
 * @get: gets what is short; returns NULL if there is none. A thread that gives one back
 *	calls rpcrdma2_requester_wake() behind a full barrier, or both hold one lock
 *
 * Context: process; the xprt's write lock is held.
 *
 * Return: what @get has found, and sending goes on; or NULL, and sunrpc sends the Call again
 * after rpcrdma2_requester_wake()
 */
void *rpcrdma2_wait_or_get(struct rpcrdma2_requester *requester,
			   void *(*get)(struct rpcrdma2_requester *requester))
{
	void *found;

	xprt_wait_for_buffer_space(requester->xprt);
	/* Pairs with the barrier before rpcrdma2_requester_wake(), see above. */
	smp_mb__after_atomic();
	found = get(requester);
	if (found)
		xprt_write_space(requester->xprt);
	return found;
}

/**
 * rpcrdma2_requester_wake - let sunrpc's waiting tasks send again
 * @xprt: the transport
 *
 * Does nothing until the transport is connected. connect_end_attempt() wakes all tasks then.
 * An earlier wake-up could lead to this:
 *
 *  1. A task sends its Call, and sleeps until the Reply comes.
 *  2. connect_end_attempt() wakes all sleeping tasks, to try again.
 *  3. The task sends the same Call a second time.
 *
 * Context: any but interrupts; takes the xprt's transport_lock.
 */
void rpcrdma2_requester_wake(struct rpc_xprt *xprt)
{
	if (xprt_connected(xprt))
		xprt_write_space(xprt);
}
