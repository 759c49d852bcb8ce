// SPDX-License-Identifier: GPL-2.0
/*
 * Where the transport reaches into sunrpc's structs, because sunrpc has no function for it.
 *
 * Each function says what it does, and which function of sunrpc would make it unnecessary. The
 * pages of a server's threads are such a case, too: svc/thread.c has them. compat.h has what
 * differs between kernels.
 */
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

#include "sunrpc_quirks.h"

/**
 * rpcrdma2_sunrpc_set_slots - make sunrpc's slots as many as the credits
 * @xprt: the transport
 * @slots: number of slots
 *
 * RPCs then queue in sunrpc's backlog, and a Call seldom finds no credit. It still may find none
 * if killed RPCs hold some, or if the grant has fallen. The grant may also be smaller than the
 * few slots that sunrpc never frees.
 *
 * sunrpc hands the slot of a finished RPC to the backlog. So for each additional slot, this
 * function wakes one RPC. XPRT_CONGESTED sends new RPCs to the backlog, so this function clears
 * the flag when the backlog is empty.
 *
 * sunrpc lacks: a function that changes max_reqs of a transport in use. With one, only sunrpc
 * would know these rules.
 *
 * Context: any but interrupts; takes the xprt's reserve_lock.
 */
void rpcrdma2_sunrpc_set_slots(struct rpc_xprt *xprt, unsigned int slots)
{
	unsigned int old;

	spin_lock(&xprt->reserve_lock);
	old = xprt->max_reqs;
	xprt->max_reqs = slots;
	for (; old < slots; old++) {
		if (rpc_wake_up_next(&xprt->backlog))
			continue;
		clear_bit(XPRT_CONGESTED, &xprt->state);
		break;
	}
	spin_unlock(&xprt->reserve_lock);
}

/**
 * rpcrdma2_sunrpc_end_task - end an RPC that can never be sent
 * @rqst: the RPC
 * @rc: negative errno
 *
 * sunrpc reports a send error to the task that transmits, and that need not be the RPC's own
 * task. If it is not, set the RPC's tk_rpc_status: sunrpc looks at it before each step of a task,
 * and before the task sleeps. The RPC's task may be running and may set the status too, so
 * cmpxchg() lets the first status win.
 *
 * sunrpc lacks: a result of send_request that means "this RPC has failed, go on with the next".
 *
 * Context: process; the xprt's write lock is held.
 *
 * Return: the result for send_request: @rc if the sender is the RPC's own task, else 0
 */
int rpcrdma2_sunrpc_end_task(struct rpc_rqst *rqst, int rc)
{
	struct rpc_task *task = rqst->rq_task;
	struct rpc_wait_queue *queue;

	if (rqst->rq_xprt->snd_task == task)
		return rc;
	cmpxchg(&task->tk_rpc_status, 0, rc);
	queue = READ_ONCE(task->tk_waitqueue);
	if (queue)
		rpc_wake_up_queued_task(queue, task);
	return 0;
}

/**
 * rpcrdma2_sunrpc_settle - end an RPC with an error, or have it sent again
 * @rqst: the RPC, whose Call is sent
 * @status: -EAGAIN: send it again; other negative errno: the RPC fails
 *
 * sunrpc notices the error or the resend only if the RPC's task is asleep, waiting for its Reply.
 *
 * sunrpc lacks: a function like xprt_complete_rqst() for an RPC that has no Reply.
 *
 * Context: any but interrupts; the xprt's queue_lock is held.
 *
 * Return: false if the task does not sleep there; rpcrdma2_call_wait() tries again
 */
bool rpcrdma2_sunrpc_settle(struct rpc_rqst *rqst, int status)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct rpc_task *task = rqst->rq_task;

	lockdep_assert_held(&xprt->queue_lock);

	if (!RPC_IS_QUEUED(task) || task->tk_waitqueue != &xprt->pending)
		return false;
	task->tk_status = status;
	if (status == -EAGAIN) {
		/* sunrpc sends a Call again only if it went out on an earlier connection. */
		rqst->rq_connect_cookie = xprt->connect_cookie - 1;
		rpc_wake_up_queued_task(&xprt->pending, task);
	} else {
		xprt_complete_rqst(task, 0);
	}
	return true;
}

/**
 * rpcrdma2_sunrpc_has_unsent - does an RPC wait for its turn to be sent?
 * @xprt: the transport
 *
 * The answer may be out of date at once. A task that waits because a credit is lacking sleeps in
 * this queue.
 *
 * sunrpc lacks: a function that looks at the queue.
 *
 * Context: any.
 *
 * Return: whether a task sleeps in the queue
 */
bool rpcrdma2_sunrpc_has_unsent(const struct rpc_xprt *xprt)
{
	return READ_ONCE(xprt->sending.qlen);
}

/**
 * rpcrdma2_sunrpc_wake_writer - wake a process that waits for the write lock
 * @xprt: the transport
 *
 * A process that writes to sysfs waits for the lock with wait_on_bit_lock().
 *
 * sunrpc lacks: a wake-up of such a process when a task releases the lock.
 *
 * Context: any.
 */
void rpcrdma2_sunrpc_wake_writer(struct rpc_xprt *xprt)
{
	wake_up_bit(&xprt->state, XPRT_LOCKED);
}
