// SPDX-License-Identifier: GPL-2.0
/*
 * Taking back the memory that a responder could reach.
 *
 * An RPC asks for remote invalidation of one registration. The others, and that one
 * if the responder did not do it, are invalidated by LocalInv WRs, the last of which
 * is signaled; on a device that refuses those, by deregistering them, once what
 * registers them is no longer on the Send Queue.
 */
#include "requester.h"

#include <trace/events/rpcrdma2.h>

/* What ib_inc_rkey() changes; the rest of a handle is the registration's index. */
#define HANDLE_KEY	0xffU

/**
 * rpcrdma2_unregister - take back registrations that were never posted, or
 *	that are invalid
 * @requester: whose
 * @call: which
 */
void rpcrdma2_unregister(struct rpcrdma2_requester *requester,
			 struct rpcrdma2_call *call)
{
	struct rpcrdma2_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &call->mrs, list)
		rpcrdma2_mr_put(requester, mr);
}

/**
 * rpcrdma2_nothing_placed - the responder wrote nothing to what a Call offered
 * @call: a Call whose Reply came inline, and is in its buffers
 *
 * CQ context. To give up the mapping must not bring back what a bounce buffer has.
 */
void rpcrdma2_nothing_placed(struct rpcrdma2_call *call)
{
	struct rpcrdma2_mr *mr;

	list_for_each_entry(mr, &call->mrs, list)
		mr->unused = mr->dir == DMA_FROM_DEVICE;
}

/**
 * rpcrdma2_inv_remote - the responder invalidated a handle with its Reply
 * @requester: whose
 * @call: the Call that was answered
 * @handle: which
 *
 * CQ context.
 *
 * Return: false if the handle is none of this Call
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
 * rpcrdma2_inv_stray - a Reply to an RPC that was killed invalidated a handle
 * @requester: whose
 * @xid: of the Reply
 * @handle: which
 *
 * CQ context. The memory is being taken back by the RPC's task, or has been: then its
 * registration may have another handle by now, which has the same index.
 *
 * Return: false if the handle is none of that RPC
 */
bool rpcrdma2_inv_stray(struct rpcrdma2_requester *requester, u32 xid,
			u32 handle)
{
	/* Without LocalInv, the registration may be gone. */
	bool mine = requester->conn->no_local_inv;
	struct rpcrdma2_mr *mr;
	u32 owner, rkey;

	spin_lock(&requester->lock);
	list_for_each_entry(mr, &requester->all_mrs, all) {
		/* Pairs with the release in reg_flush_mr(): the next owner has the next handle. */
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
 * Called when the LocalInvs have completed or, after the Queue was drained,
 * will not be needed: either way the responder cannot reach the memory.
 */
static void inv_done(struct rpcrdma2_chain *chain, int status)
{
	struct rpcrdma2_call *call = container_of(chain, struct rpcrdma2_call,
						  inv_chain);
	struct rpcrdma2_requester *requester = call->conn->requester;

	if (!status)
		requester->stats.local_invs += chain->count;
	rpcrdma2_unregister(requester, call);
	if (call->waiting)
		complete(&call->fenced);
	else
		rpcrdma2_call_complete(call);
}

/* The Call's own chain is done. CQ context, or the teardown */
static void inv_deregister_later(struct rpcrdma2_chain *chain, int status)
{
	struct rpcrdma2_call *call = container_of(chain, struct rpcrdma2_call,
						  inv_chain);
	struct rpcrdma2_requester *requester = call->conn->requester;

	/* No LocalInv is counted. */
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
 * Drivers are known that have no LOCAL_INV: see qp_note_refused_inv() in conn/qp.c. The Call may
 * still be on the Send Queue, or wait for it, if its RPC was killed, or if the peer answers
 * what it can't have seen. An RDMA Write of no octets, as heartbeats are, is done later.
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
	return rpcrdma2_chain_post(requester->conn, chain);
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
 * rpcrdma2_deregister - invalidate registrations by giving them up
 * @work: of the requester
 *
 * Workqueue, process context.
 */
void rpcrdma2_deregister(struct work_struct *work)
{
	struct rpcrdma2_requester *requester =
		container_of(work, struct rpcrdma2_requester, deregister);
	struct rpcrdma2_conn *conn = requester->conn;
	struct rpcrdma2_memalloc saved;
	struct rpcrdma2_chain *inv;

	if (!rpcrdma2_conn_enter(conn))
		return;
	saved = rpcrdma2_memalloc_save(conn->param.swapper);
	while ((inv = inv_next_to_deregister(requester))) {
		inv_drop_mrs(requester, container_of(inv, struct rpcrdma2_call,
						     inv_chain));
		inv->done(inv, 0);
	}
	rpcrdma2_memalloc_restore(saved);
	rpcrdma2_conn_exit(conn);
}

/**
 * rpcrdma2_deregister_lost - the connection is lost: nothing is valid any more
 * @requester: of a drained connection
 *
 * Process context, sleeps.
 */
void rpcrdma2_deregister_lost(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_chain *inv;

	cancel_work_sync(&requester->deregister);
	while ((inv = inv_next_to_deregister(requester)))
		inv->done(inv, -ENOTCONN);
}

/**
 * rpcrdma2_inv_local - invalidate what is left of a Call's registrations
 * @requester: of a connection that the caller has entered, or in CQ context
 * @call: the Call
 *
 * Return: 0: @call->fenced will be completed or rpcrdma2_call_complete()
 * called, maybe at once; -ENOTCONN: neither will, and the memory is safe when
 * the connection is CLOSED
 */
int rpcrdma2_inv_local(struct rpcrdma2_requester *requester,
		       struct rpcrdma2_call *call)
{
	struct ib_send_wr *first = NULL, *last = NULL;
	struct rpcrdma2_chain *chain = &call->inv_chain;
	struct rpcrdma2_mr *mr;
	unsigned int count = 0;

	if (requester->conn->no_local_inv && !list_empty(&call->mrs))
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
		if (call->waiting)
			complete(&call->fenced);
		else
			rpcrdma2_call_complete(call);
		return 0;
	}
	rpcrdma2_chain_init(chain, be32_to_cpu(call->rqst->rq_xid), first, last,
			    count, inv_done);
	chain->prompt = true;
	return rpcrdma2_chain_post(requester->conn, chain);
}
