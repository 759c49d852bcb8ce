// SPDX-License-Identifier: GPL-2.0
/*
 * Invalidation: taking memory back that a responder could reach.
 *
 * A Call names one of its registrations to the responder, which may invalidate it with the
 * Reply. LocalInv WRs invalidate all others, in one chain whose last WR is signaled. Some devices
 * refuse LOCAL_INV. There a worker deregisters the memory, once the Call has left the Send Queue.
 *
 * Replies invalidate in CQ context. Tasks that end an RPC early do so in rpcrdma2_call_free().
 */
#include "requester.h"

#include <trace/events/rpcrdma2.h>

/* The part of a handle that ib_inc_rkey() changes. The rest is the registration's index. */
#define HANDLE_KEY	0xffU

/**
 * rpcrdma2_unregister - return all registrations of a Call to their pools
 * @requester: the role
 * @call: the Call; its registrations were never posted, or are invalid again
 *
 * Context: any but interrupts; takes the requester's lock.
 */
void rpcrdma2_unregister(struct rpcrdma2_requester *requester,
			 struct rpcrdma2_call *call)
{
	struct rpcrdma2_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &call->mrs, list)
		rpcrdma2_mr_put(requester, mr);
}

/**
 * rpcrdma2_nothing_placed - note that the responder wrote nothing into a Call's chunks
 * @call: a Call whose Reply came inline, and is in the Reply's buffers already
 *
 * Unmapping copies a bounce buffer back to the memory. Here that would overwrite the Reply, so
 * the registrations are marked to be unmapped without a copy.
 *
 * Context: CQ.
 */
void rpcrdma2_nothing_placed(struct rpcrdma2_call *call)
{
	struct rpcrdma2_mr *mr;

	list_for_each_entry(mr, &call->mrs, list)
		mr->unused = mr->dir == DMA_FROM_DEVICE;
}

/**
 * rpcrdma2_inv_remote - take back a registration that the responder invalidated
 * @requester: the role
 * @call: the Call that is answered, pinned
 * @handle: the handle that came with the answer
 *
 * Context: CQ.
 *
 * Return: false if no registration of @call has this handle
 */
bool rpcrdma2_inv_remote(struct rpcrdma2_requester *requester,
			 struct rpcrdma2_call *call, u32 handle)
{
	struct rpcrdma2_mr *mr;

	list_for_each_entry(mr, &call->mrs, list) {
		if (mr->mr->rkey != handle)
			continue;
		requester->stats.remote_invs++;
		trace_rpcrdma2_mr_inv_remote(requester->conn, call->rqst,
					     mr->mr);
		rpcrdma2_mr_put(requester, mr);
		return true;
	}
	return false;
}

/**
 * rpcrdma2_inv_stray - check a handle that came with a Reply to a killed RPC
 * @requester: the role
 * @xid: XID of the Reply, host order
 * @handle: the handle that the responder invalidated
 *
 * The RPC's task takes its memory back, or has done so. After that, the registration may belong
 * to another Call, with a new handle of the same index.
 *
 * Context: CQ.
 *
 * Return: false if the handle can't be the killed RPC's
 */
bool rpcrdma2_inv_stray(struct rpcrdma2_requester *requester, u32 xid,
			u32 handle)
{
	/* If the device refuses LOCAL_INV, the registration may be freed already. */
	bool mine = requester->conn->ep.no_local_inv;
	struct rpcrdma2_mr *mr;
	u32 owner, rkey;

	spin_lock(&requester->lock);
	list_for_each_entry(mr, &requester->all_mrs, all) {
		/* Pairs with the release in reg_flush_mr(): a new XID implies a new handle. */
		owner = smp_load_acquire(&mr->xid);
		rkey = READ_ONCE(mr->mr->rkey);
		if ((rkey ^ handle) & ~HANDLE_KEY)
			continue;
		mine = rkey != handle || owner == xid;
		break;
	}
	spin_unlock(&requester->lock);
	return mine;
}

/*
 * The LocalInv WRs have completed, or the drained Queue made them unnecessary. In both cases the
 * responder can't reach the memory any more.
 */
static void inv_done(struct rpcrdma2_chain *chain, int status)
{
	struct rpcrdma2_call *call = container_of(chain, struct rpcrdma2_call,
						  inv_chain);
	struct rpcrdma2_requester *requester = call->conn->requester;

	if (!status)
		requester->stats.local_invs += chain->count;
	rpcrdma2_unregister(requester, call);
	call->invalidated(call);
}

/*
 * The Call has left the Send Queue, so its registrations may be given up. After an error the
 * connection is drained, and its teardown has deregistered all memory. Context: CQ or teardown
 */
static void inv_deregister_later(struct rpcrdma2_chain *chain, int status)
{
	struct rpcrdma2_call *call = container_of(chain, struct rpcrdma2_call,
						  inv_chain);
	struct rpcrdma2_requester *requester = call->conn->requester;

	/* inv_done() adds @count to local_invs, and this chain has no LocalInv. */
	chain->count = 0;
	chain->done = inv_done;
	if (status) {
		chain->done(chain, status);
		return;
	}
	spin_lock(&requester->lock);
	list_add_tail(&chain->link, &requester->to_deregister);
	spin_unlock(&requester->lock);
	queue_work(rpcrdma2_wq, &requester->deregister);
}

/*
 * Post an empty RDMA Write behind the Call, and deregister when the Write completes. The Call may
 * still be on the Send Queue, or may wait for it. Either its RPC was killed, or the peer answers
 * a Call that it can't have seen. rpcrdma2_device_takes_inv() knows which devices refuse LOCAL_INV.
 */
static int inv_deregister_behind(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_call *call)
{
	struct rpcrdma2_chain *chain = &call->inv_chain;
	struct rpcrdma2_mr *mr;
	struct ib_send_wr *wr;

	mr = list_first_entry(&call->mrs, struct rpcrdma2_mr, list);
	mr->behind_wr = (struct ib_rdma_wr) { .wr.opcode = IB_WR_RDMA_WRITE };
	wr = &mr->behind_wr.wr;
	rpcrdma2_chain_init(chain, be32_to_cpu(call->rqst->rq_xid), wr, wr, 1,
			    inv_deregister_later);
	chain->prompt = true;
	return rpcrdma2_chain_post(&requester->conn->ep, chain);
}

static struct rpcrdma2_chain *
inv_next_to_deregister(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_chain *chain;

	spin_lock(&requester->lock);
	chain = list_first_entry_or_null(&requester->to_deregister,
					 struct rpcrdma2_chain, link);
	if (chain)
		list_del_init(&chain->link);
	spin_unlock(&requester->lock);
	return chain;
}

static void inv_drop_mrs(struct rpcrdma2_requester *requester,
			 struct rpcrdma2_call *call)
{
	struct rpcrdma2_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &call->mrs, list)
		rpcrdma2_mr_drop(requester, mr);
}

/**
 * rpcrdma2_deregister - give up the registrations of Calls that wait for it
 * @work: the requester's deregister
 *
 * Each Call then completes, or its fence does.
 *
 * Context: process, in a workqueue; sleeps.
 */
void rpcrdma2_deregister(struct work_struct *work)
{
	struct rpcrdma2_requester *requester =
		container_of(work, struct rpcrdma2_requester, deregister);
	struct rpcrdma2_conn *conn = requester->conn;
	struct rpcrdma2_memalloc saved;
	struct rpcrdma2_chain *inv;

	if (!rpcrdma2_ep_enter(&conn->ep))
		return;
	saved = rpcrdma2_memalloc_save(conn->param.swapper);
	while ((inv = inv_next_to_deregister(requester))) {
		inv_drop_mrs(requester, container_of(inv, struct rpcrdma2_call,
						     inv_chain));
		inv->done(inv, 0);
	}
	rpcrdma2_memalloc_restore(saved);
	rpcrdma2_ep_exit(&conn->ep);
}

/**
 * rpcrdma2_deregister_lost - end the wait of all Calls for rpcrdma2_deregister()
 * @requester: the role, on a drained connection, after rpcrdma2_mrs_fence()
 *
 * Context: process, in the connection's teardown; sleeps until the work has ended.
 */
void rpcrdma2_deregister_lost(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_chain *inv;

	cancel_work_sync(&requester->deregister);
	while ((inv = inv_next_to_deregister(requester)))
		inv->done(inv, -ENOTCONN);
}

/**
 * rpcrdma2_inv_local - invalidate the rest of a Call's registrations
 * @requester: the role, on a connection that the caller has entered, or in CQ context
 * @call: the Call; the caller owns it until 0 is returned
 * @invalidated: called when no peer can reach the memory any more, in the CQ, a work or the
 *	teardown. If nothing is left to invalidate, it is called before this function returns
 *
 * Context: process; no locks held.
 *
 * Return: 0; -ENOTCONN: the Call is neither completed nor fenced, and the memory is safe when the
 * connection is CLOSED
 */
int rpcrdma2_inv_local(struct rpcrdma2_requester *requester,
		       struct rpcrdma2_call *call,
		       void (*invalidated)(struct rpcrdma2_call *call))
{
	struct ib_send_wr *first = NULL, *last = NULL;
	struct rpcrdma2_chain *chain = &call->inv_chain;
	struct rpcrdma2_mr *mr;
	unsigned int count = 0;

	call->invalidated = invalidated;
	if (requester->conn->ep.no_local_inv && !list_empty(&call->mrs))
		return inv_deregister_behind(requester, call);
	list_for_each_entry_reverse(mr, &call->mrs, list) {
		mr->inv_wr.next = first;
		mr->inv_wr.wr_cqe = &chain->cqe;
		first = &mr->inv_wr;
		last = last ?: first;
		count++;
		trace_rpcrdma2_mr_inv_local(requester->conn, call->rqst,
					    mr->mr);
	}
	if (!count) {
		invalidated(call);
		return 0;
	}
	rpcrdma2_chain_init(chain, be32_to_cpu(call->rqst->rq_xid), first, last,
			    count, inv_done);
	chain->prompt = true;
	return rpcrdma2_chain_post(&requester->conn->ep, chain);
}
