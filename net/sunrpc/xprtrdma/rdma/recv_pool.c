// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffers: allocates them, posts them, and turns their completions into messages.
 *
 * An endpoint without a Shared Receive Queue (srq.c) owns the buffers in ep->recvs.all. A
 * buffer that comes back waits in ep->returned.own. The next sender posts it just before
 * its own message, because only that message lets the peer send more. So one doorbell serves
 * several Receives, under the sender's lock.
 *
 * Each message that the protocol allows finds a Receive: one per granted credit, one per
 * Reply that may come, and RPCRDMA2_CONTROL_RECVS others. A peer that finds none loses the
 * connection. Receives for Replies follow the peer's grant. Buffers go round, so more of them
 * than the peer can fill would only miss the CPU's caches.
 *
 * Posting runs in process context under ep->lock, rpcrdma2_recv_done() in CQ context.
 */
#include "ep.h"

#include <trace/events/rpcrdma2.h>

/* Only a server's Receives have a memory limit. */
static void recv_count_memory(const struct rpcrdma2_ep *ep, long more)
{
	if (!ep->active)
		rpcrdma2_recv_budget_add(more);
}

/**
 * rpcrdma2_recv_pool_post - post the Receives that were given back
 * @ep: an endpoint with a QP
 *
 * Context: Process; the caller holds ep->lock.
 * Return: 0, or the device's negative errno: it refused to post, and the caller closes the
 *	connection
 */
int rpcrdma2_recv_pool_post(struct rpcrdma2_ep *ep)
{
	struct ib_recv_wr *first = NULL;
	struct rpcrdma2_recv *recv;
	int rc;

	lockdep_assert_held(&ep->lock);

	if (llist_empty(&ep->returned.own))
		return 0;
	llist_for_each_entry(recv, llist_del_all(&ep->returned.own), node) {
		if (recv->needs_sync)
			ib_dma_sync_single_for_device(ep->pd->device,
						      recv->sge.addr,
						      recv->sge.length,
						      DMA_FROM_DEVICE);
		recv->wr.next = first;
		first = &recv->wr;
	}
	rc = ib_post_recv(ep->qp, first, NULL);
	ep->stats.recv_doorbells += !rc;
	return rc;
}

/* Give a returned Receive memory of the present size. Return: whether it got that memory */
static bool recv_swap_memory(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_ep *ep = recv->ep;
	struct rpcrdma2_recv_memory new, old;
	bool done;

	if (!rpcrdma2_recv_memory_get(ep->pd, &new, READ_ONCE(ep->recvs.size),
				      GFP_NOWAIT))
		return false;
	spin_lock(&ep->lock);
	done = new.sge.length == ep->recvs.size &&
	       recv->sge.length != ep->recvs.size;
	if (done) {
		old.buf = recv->buf;
		old.sge = recv->sge;
		recv->buf = new.buf;
		recv->sge = new.sge;
		recv->needs_sync = new.needs_sync;
		ep->recvs.odd--;
	}
	spin_unlock(&ep->lock);
	rpcrdma2_recv_memory_put(ep->pd->device, done ? &old : &new);
	if (done)
		recv_count_memory(ep, (long)new.sge.length - old.sge.length);
	return done;
}

/*
 * A Receive of another size than ep->recvs.size came back (conn/resize.c). Without memory,
 * the Receive keeps its size until it comes back again.
 */
static void recv_resize(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_ep *ep = recv->ep;

	if (!rpcrdma2_ep_enter(ep))
		return;
	if (recv_swap_memory(recv) && !READ_ONCE(ep->recvs.odd))
		ep->ops->resized(ep);
	rpcrdma2_ep_exit(ep);
}

/**
 * rpcrdma2_recv_put - give back a Receive
 * @recv: the Receive; no longer the caller's
 *
 * A Receive of a Shared Receive Queue is posted at once. Any other is posted with the
 * endpoint's next Send: the peer has no use for it before. The connection may be CLOSED, as
 * long as the caller has a reference to it.
 *
 * Context: Process; does not sleep. Takes ep->lock if the Receive's size is to change.
 */
void rpcrdma2_recv_put(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_ep *ep = recv->ep;

	if (recv->srq) {
		rpcrdma2_srq_put(recv);
		return;
	}
	if (unlikely(recv->sge.length != READ_ONCE(ep->recvs.size)))
		recv_resize(recv);
	llist_add(&recv->node, &ep->returned.own);
}

/*
 * Only a Send fills a Receive with a message. An RDMA Write with Immediate takes a Receive,
 * too, but does not touch its memory, and reports its own length. RPC-over-RDMA has no
 * immediate data, so refuse both.
 */
static bool recv_is_send(const struct rpcrdma2_recv *recv,
			 const struct ib_wc *wc)
{
	return !(wc->wc_flags & IB_WC_WITH_IMM) &&
	       wc->byte_len <= recv->sge.length;
}

/*
 * Is there a message to handle? If not, a shared Receive goes back to its Queue. Any other is
 * never posted again, as its connection is closing.
 */
static bool recv_is_filled(struct rpcrdma2_recv *recv,
			   struct rpcrdma2_ep *ep, const struct ib_wc *wc)
{
	bool ok = wc->status == IB_WC_SUCCESS;

	if (!ok) {
		trace_rpcrdma2_wc_error(ep, NULL, wc);
		ep->ops->broken(ep, wc);
	} else if (unlikely(!recv_is_send(recv, wc))) {
		ep->ops->failed(ep, -EPROTO);
		ok = false;
	}
	if (!recv->srq)
		return ok;
	if (!rpcrdma2_srq_take(recv, ep)) {
		ep->ops->failed(ep, -EPROTO);
		ok = false;
	}
	/* The drain may have missed the Queue's last Receive: see qp_wait_last_wqe(). */
	ok = ok && !READ_ONCE(ep->closing);
	if (!ok)
		rpcrdma2_srq_put(recv);
	return ok;
}

/**
 * rpcrdma2_recv_done - completion of a Receive
 * @cq: the endpoint's CQ
 * @wc: the completion
 *
 * Context: CQ.
 */
void rpcrdma2_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_recv *recv = container_of(wc->wr_cqe,
						  struct rpcrdma2_recv, cqe);
	struct rpcrdma2_ep *ep = cq->cq_context;

	ep->stats.completions++;
	if (!recv_is_filled(recv, ep, wc))
		return;
	if (recv->needs_sync)
		ib_dma_sync_single_for_cpu(ep->pd->device, recv->sge.addr,
					   wc->byte_len, DMA_FROM_DEVICE);
	ep->stats.receives++;
	ep->stats.receive_octets += wc->byte_len;
	recv->offset = 0;
	recv->len = wc->byte_len;
	recv->invalidated = (wc->wc_flags & IB_WC_WITH_INVALIDATE) ?
			    wc->ex.invalidate_rkey : 0;
	trace_rpcrdma2_receive(recv);
	ep->ops->received(recv);
}

static struct rpcrdma2_recv *recv_add(struct rpcrdma2_ep *ep, gfp_t gfp)
{
	struct rpcrdma2_recv *recv;

	recv = rpcrdma2_recv_alloc(ep->pd, READ_ONCE(ep->recvs.size), gfp,
				   rpcrdma2_recv_done);
	if (!recv)
		return NULL;
	recv->ep = ep;
	recv_count_memory(ep, recv->sge.length);
	spin_lock(&ep->lock);
	list_add(&recv->all, &ep->recvs.all);
	ep->recvs.odd += recv->sge.length != ep->recvs.size;
	spin_unlock(&ep->lock);
	return recv;
}

/**
 * rpcrdma2_recv_pool_provide - have Receives for the Replies to this end's Calls
 * @ep: an endpoint with a QP
 * @calls: number of Calls to be out at a time; at most calls_out
 * @gfp: allocation flags for missing Receives
 *
 * The next sender posts new Receives before its message. So even the first of those Calls
 * finds a Receive for its Reply.
 *
 * Context: CQ, or process before the first completion; never twice at a time.
 * Return: number of Calls for whose Replies there are Receives; less than @calls without
 *	memory
 */
unsigned int rpcrdma2_recv_pool_provide(struct rpcrdma2_ep *ep,
					unsigned int calls, gfp_t gfp)
{
	unsigned int others = ep->calls_in + RPCRDMA2_CONTROL_RECVS;
	struct rpcrdma2_recv *recv;

	if (ep->srq)
		return rpcrdma2_srq_back_replies(ep, calls, gfp);
	while (ep->recvs.nr < others + calls) {
		recv = recv_add(ep, gfp);
		if (!recv)
			break;
		llist_add(&recv->node, &ep->returned.own);
		ep->recvs.nr++;
	}
	return ep->recvs.nr > others ? ep->recvs.nr - others : 0;
}

/**
 * rpcrdma2_recv_pool_unmap - unmap all Receive buffers that are not shared
 * @ep: an endpoint in teardown; its QP is destroyed
 *
 * Context: Process.
 */
void rpcrdma2_recv_pool_unmap(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_recv *recv;

	list_for_each_entry(recv, &ep->recvs.all, all)
		rpcrdma2_recv_unmap(ep->pd->device, recv);
}

/**
 * rpcrdma2_recv_pool_free - free all Receive buffers that are not shared
 * @ep: an endpoint whose connection has no references; its buffers are unmapped
 *
 * Context: Any that allows kfree().
 */
void rpcrdma2_recv_pool_free(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_recv *recv, *next;

	list_for_each_entry_safe(recv, next, &ep->recvs.all, all) {
		recv_count_memory(ep, -(long)recv->sge.length);
		rpcrdma2_recv_free(NULL, recv, false);
	}
}
