// SPDX-License-Identifier: GPL-2.0
/*
 * The floor of an endpoint: its first state, the threads that use it, and the workqueue.
 *
 * rpcrdma2_ep_enter() keeps QP, PD and device until rpcrdma2_ep_exit(). RCU readers may find
 * a connection and try to enter its endpoint. qp.c makes the QP. The workqueue serves all
 * endpoints, and conn/ too.
 *
 * Enter and exit run in any context. Setup, teardown and the work run in process context.
 */
#include "ep.h"

/* Added to @users.count, so that the number is negative and no thread enters */
#define NO_ENTRY	INT_MIN

struct workqueue_struct *rpcrdma2_wq;

static void ep_failed_work(struct work_struct *work)
{
	struct rpcrdma2_ep *ep = container_of(work, struct rpcrdma2_ep,
					      failed_work);

	ep->ops->failed(ep, -EIO);
}

/**
 * rpcrdma2_ep_init - set up an endpoint without a device
 * @ep: the endpoint, zeroed
 * @ops: callbacks to its connection
 *
 * Context: Any; no other thread knows @ep.
 */
void rpcrdma2_ep_init(struct rpcrdma2_ep *ep, const struct rpcrdma2_ep_ops *ops)
{
	ep->ops = ops;
	spin_lock_init(&ep->lock);
	init_completion(&ep->users.gone);
	INIT_WORK(&ep->failed_work, ep_failed_work);
	INIT_LIST_HEAD(&ep->sq.posted);
	INIT_LIST_HEAD(&ep->sq.waiting);
	INIT_LIST_HEAD(&ep->sends.all);
	INIT_LIST_HEAD(&ep->recvs.all);
	init_llist_head(&ep->returned.own);
	INIT_LIST_HEAD(&ep->member.link);
	init_completion(&ep->member.last_wqe);
}

/**
 * rpcrdma2_ep_enter - start to use the QP or the device
 * @ep: the endpoint; the caller has a reference to its connection, or found the connection
 *	under rcu_read_lock() and is still under that lock
 *
 * QP, PD and device exist until rpcrdma2_ep_exit(). The teardown waits for the exit, and the
 * removal of a device waits for the teardown. So the caller may wait for completions, because
 * the flush completes all work, but for little else. An allocation must not wait for a file
 * system, which may be mounted over this connection.
 *
 * Context: Any.
 * Return: false if the teardown lets nobody enter any more
 */
bool rpcrdma2_ep_enter(struct rpcrdma2_ep *ep)
{
	return atomic_inc_unless_negative(&ep->users.count);
}

/**
 * rpcrdma2_ep_exit - stop using the QP and the device
 * @ep: the endpoint, entered
 *
 * Context: Any.
 */
void rpcrdma2_ep_exit(struct rpcrdma2_ep *ep)
{
	if (atomic_dec_return(&ep->users.count) == NO_ENTRY)
		complete(&ep->users.gone);
}

/**
 * rpcrdma2_ep_wait_users - let nobody enter any more, and wait until all have left
 * @ep: an endpoint in teardown
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_ep_wait_users(struct rpcrdma2_ep *ep)
{
	if (atomic_add_return(NO_ENTRY, &ep->users.count) != NO_ENTRY)
		wait_for_completion(&ep->users.gone);
}

/**
 * rpcrdma2_ep_setup - module initialisation
 *
 * Context: Process; sleeps.
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_ep_setup(void)
{
	rpcrdma2_wq = alloc_workqueue("rpcrdma2", WQ_UNBOUND | WQ_MEM_RECLAIM,
				      0);
	return rpcrdma2_wq ? 0 : -ENOMEM;
}

/**
 * rpcrdma2_ep_cleanup - module removal
 *
 * All endpoints have been torn down, though the memory of some may still be left.
 *
 * Context: Process; sleeps.
 */
void rpcrdma2_ep_cleanup(void)
{
	destroy_workqueue(rpcrdma2_wq);
}
