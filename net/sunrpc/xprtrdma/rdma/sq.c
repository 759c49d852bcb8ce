// SPDX-License-Identifier: GPL-2.0
/*
 * The Send Queue: posts chains of work requests (WRs), counts their entries, retires them.
 *
 * A struct rpcrdma2_chain is the unit of posting. It has one owner, whose @done callback runs
 * once. ep->sq.posted lists the posted chains in Send Queue order. ep->sq.waiting lists chains
 * that found too few free entries; the completion handler posts them in order. A chain longer
 * than the Queue is posted in parts. No caller sleeps.
 *
 * Few chains are signaled. A Send Queue completes in order, so a completion retires its chain
 * and all earlier ones. RDMA Reads are the exception: on siw a later Send can complete first.
 * Only its own completion retires a chain with Reads.
 *
 * Senders run in process context, completions in CQ context, both under ep->lock with softirqs
 * off. A device in software may do the work of a doorbell in a softirq, and a completion on
 * another CPU would spin as long. This way, the softirq runs when the lock is released.
 */
#include "ep.h"

#include <trace/events/rpcrdma2.h>

static void send_chain_done(struct rpcrdma2_chain *chain, int status);

static bool sq_is_send(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_SEND || wr->opcode == IB_WR_SEND_WITH_INV;
}

static void sq_count_post(struct rpcrdma2_ep *ep,
			  const struct rpcrdma2_chain *chain,
			  const struct ib_send_wr *last)
{
	struct rpcrdma2_ep_stats *stats = &ep->stats;

	stats->send_doorbells++;
	stats->work_requests += chain->queued;
	if (sq_is_send(last)) {
		stats->sends++;
		stats->send_octets += last->sg_list->length;
	}
}

/*
 * Signal a chain if its completion helps a waiter: the chain's owner, the part that follows,
 * or a sender that finds no free buffer. Signal also if another chain of this length might find
 * no room, or if the signal makes the device copy the Send.
 */
static bool sq_must_signal(const struct rpcrdma2_ep *ep,
			   const struct rpcrdma2_chain *chain,
			   const struct ib_send_wr *last)
{
	if (ep->sends_references && sq_is_send(last) &&
	    last->sg_list->length >= PAGE_SIZE)
		return true;
	return chain->prompt || chain->left ||
	       ep->sq.unsignaled >= RPCRDMA2_SIGNAL_INTERVAL ||
	       ep->sq_depth - ep->sq.used < 2 * chain->queued ||
	       !ep->sends.free;
}

/*
 * The device refused a chain. Part of the chain may be on the Queue, so leave the chain in
 * ep->sq.posted: the teardown returns it.
 */
static void sq_post_refused(struct rpcrdma2_ep *ep,
			    struct rpcrdma2_chain *chain,
			    const struct ib_send_wr *bad, int rc)
{
	trace_rpcrdma2_post_refused(ep, chain, rc);
	/* sq_close_if_refused() reads this without the lock. */
	WRITE_ONCE(ep->sq.post_failed, true);
	if (rc == -EINVAL && bad && bad->opcode == IB_WR_LOCAL_INV)
		ep->sq.inv_refused = true;
}

/*
 * How many entries of a chain to post at once. The last RPCRDMA2_SIGNAL_INTERVAL entries in
 * use may all be unsignaled, and then no completion frees them. So a chain that needs those
 * entries, too, would wait for ever. Post such a chain in parts of half a Queue.
 */
static unsigned int sq_part_entries(const struct rpcrdma2_ep *ep,
				    const struct rpcrdma2_chain *chain)
{
	if (chain->left + RPCRDMA2_SIGNAL_INTERVAL <= ep->sq_depth)
		return chain->left;
	return min(chain->left, ep->sq_depth / 2);
}

static bool sq_has_room(const struct rpcrdma2_ep *ep,
			const struct rpcrdma2_chain *chain)
{
	return ep->sq_depth - ep->sq.used >= sq_part_entries(ep, chain);
}

/* Detach the next part of the chain. Return: the part's last WR */
static struct ib_send_wr *sq_take_part(const struct rpcrdma2_ep *ep,
				       struct rpcrdma2_chain *chain)
{
	struct ib_send_wr *last = chain->first;
	unsigned int i;

	chain->queued = sq_part_entries(ep, chain);
	chain->left -= chain->queued;
	if (!chain->left)
		return chain->last;
	for (i = 1; i < chain->queued; i++)
		last = last->next;
	chain->first = last->next;
	last->next = NULL;
	last->wr_cqe = &chain->cqe;
	return last;
}

/*
 * Post a chain, or the next part of it. The lock gives ep->sq.posted and the Send Queue the
 * same order. The completion handler takes the lock, too, so it cannot retire the chain
 * before this function is done with the chain.
 *
 * A driver that completes a WR inside ib_post_send() only queues the CQ's work. Some drivers
 * also raise QP events there, so qp_event() must not take ep->lock.
 */
static void sq_post_locked(struct rpcrdma2_ep *ep,
			   struct rpcrdma2_chain *chain)
{
	struct ib_send_wr *first = chain->first, *last;
	const struct ib_send_wr *bad = NULL;
	int rc;

	lockdep_assert_held(&ep->lock);

	last = sq_take_part(ep, chain);
	ep->sq.unsignaled += chain->queued;
	if (sq_must_signal(ep, chain, last)) {
		last->send_flags |= IB_SEND_SIGNALED;
		ep->sq.unsignaled = 0;
	}
	ep->sq.used += chain->queued;
	list_add_tail(&chain->link, &ep->sq.posted);
	sq_count_post(ep, chain, last);
	trace_rpcrdma2_post(ep, chain, first, last);
	/* Post Receives first: this chain may let the peer send messages that fill them. */
	rc = rpcrdma2_recv_pool_post(ep);
	if (likely(!rc))
		rc = ib_post_send(ep->qp, first, &bad);
	if (unlikely(rc))
		sq_post_refused(ep, chain, bad, rc);
}

static void sq_wait_locked(struct rpcrdma2_ep *ep,
			   struct rpcrdma2_chain *chain)
{
	list_add_tail(&chain->link, &ep->sq.waiting);
	ep->stats.queue_waits++;
	trace_rpcrdma2_wait(ep, chain->xid, RPCRDMA2_WAIT_SEND_QUEUE,
			    ep->sq.used, ep->sq_depth);
}

/* Post nothing after a refusal: a later completion would retire the refused chain. */
static bool sq_may_post(const struct rpcrdma2_ep *ep)
{
	return !ep->closing && !ep->sq.post_failed;
}

/**
 * rpcrdma2_send_fits - test a Send against the size of the peer's Receive buffers
 * @send: the buffer, prepared
 *
 * Context: Any.
 * Return: false if the message is longer than the peer's Receive buffers
 */
bool rpcrdma2_send_fits(const struct rpcrdma2_send *send)
{
	return send->sge.length <= READ_ONCE(send->ep->limit.reply);
}

static int sq_post_or_wait(struct rpcrdma2_ep *ep,
			   struct rpcrdma2_chain *chain)
{
	lockdep_assert_held(&ep->lock);

	if (!sq_may_post(ep))
		return -ENOTCONN;
	chain->left = chain->count;
	if (!list_empty(&ep->sq.waiting) || !sq_has_room(ep, chain))
		sq_wait_locked(ep, chain);
	else
		sq_post_locked(ep, chain);
	return 0;
}

/* Call this after each attempt to post, without ep->lock: the failed op takes it. */
static void sq_close_if_refused(struct rpcrdma2_ep *ep)
{
	if (unlikely(READ_ONCE(ep->sq.post_failed)))
		ep->ops->failed(ep, -ENOTCONN);
}

/**
 * rpcrdma2_chain_post - put a chain of WRs on the Send Queue
 * @ep: the endpoint; the caller is the CQ or the timer, or is between enter and exit
 * @chain: the chain, not posted
 *
 * A chain that finds too few free entries waits and is posted later.
 *
 * Context: Process; does not sleep. Takes ep->lock.
 * Return: 0: @chain->done will be called; -ENOTCONN: the chain is still the caller's, and
 *	@chain->done will not be called
 */
int rpcrdma2_chain_post(struct rpcrdma2_ep *ep,
			struct rpcrdma2_chain *chain)
{
	int rc;

	spin_lock_bh(&ep->lock);
	rc = sq_post_or_wait(ep, chain);
	spin_unlock_bh(&ep->lock);
	sq_close_if_refused(ep);
	return rc;
}

static void sq_post_waiting(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_chain *chain;

	lockdep_assert_held(&ep->lock);

	while (sq_may_post(ep)) {
		chain = list_first_entry_or_null(&ep->sq.waiting,
						 struct rpcrdma2_chain, link);
		if (!chain || !sq_has_room(ep, chain))
			break;
		list_del(&chain->link);
		sq_post_locked(ep, chain);
	}
}

static struct rpcrdma2_send *send_of_chain(struct rpcrdma2_chain *chain)
{
	return container_of(chain, struct rpcrdma2_send, chain);
}

/* Does the end of this Send free the buffer, and do nothing else? */
static bool send_is_plain(struct rpcrdma2_chain *chain)
{
	return chain->done == send_chain_done && !send_of_chain(chain)->done &&
	       !send_of_chain(chain)->close_after;
}

/*
 * @last has completed: retire @last and the chains before it. Free the buffers of plain Sends
 * here, as the lock is held anyway; move other chains to @completed. A chain with a part left
 * to post goes to the head of ep->sq.waiting.
 */
static void sq_retire(struct rpcrdma2_ep *ep, struct rpcrdma2_chain *last,
		      struct list_head *completed)
{
	struct rpcrdma2_chain *chain, *next;

	lockdep_assert_held(&ep->lock);

	list_for_each_entry_safe(chain, next, &ep->sq.posted, link) {
		if (chain == last || !chain->reads) {
			ep->sq.used -= chain->queued;
			if (chain->left) {
				list_move(&chain->link, &ep->sq.waiting);
			} else if (send_is_plain(chain)) {
				list_del_init(&chain->link);
				trace_rpcrdma2_post_done(ep, chain,
							 IB_WC_SUCCESS);
				rpcrdma2_send_free(send_of_chain(chain));
			} else {
				list_move_tail(&chain->link, completed);
			}
		}
		if (chain == last)
			break;
	}
}

/**
 * rpcrdma2_chain_done - completion of any WR of a chain
 * @cq: the endpoint's CQ
 * @wc: the completion
 *
 * Retires chains, posts waiting ones, and calls the room op if one of the two helped a
 * waiter. An error closes the connection, and the teardown returns all chains.
 *
 * Context: CQ.
 */
void rpcrdma2_chain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_chain *last = container_of(wc->wr_cqe,
						   struct rpcrdma2_chain, cqe);
	struct rpcrdma2_ep *ep = cq->cq_context;
	struct rpcrdma2_chain *chain, *next;
	bool waited, wanted;
	LIST_HEAD(completed);

	ep->stats.completions++;
	if (wc->status != IB_WC_SUCCESS) {
		trace_rpcrdma2_wc_error(ep, last, wc);
		ep->ops->broken(ep, wc);
		return;
	}

	spin_lock_bh(&ep->lock);
	sq_retire(ep, last, &completed);
	waited = !list_empty(&ep->sq.waiting);
	sq_post_waiting(ep);
	waited = waited && list_empty(&ep->sq.waiting);
	wanted = rpcrdma2_send_pool_wanted(ep);
	spin_unlock_bh(&ep->lock);
	sq_close_if_refused(ep);

	list_for_each_entry_safe(chain, next, &completed, link) {
		list_del_init(&chain->link);
		trace_rpcrdma2_post_done(ep, chain, IB_WC_SUCCESS);
		chain->done(chain, 0);
	}
	if (waited || wanted)
		ep->ops->room(ep);
}

/**
 * rpcrdma2_chain_init - set up a chain of WRs
 * @chain: the chain
 * @xid: XID of the RPC that the chain is for; tracepoints show it
 * @first: first WR
 * @last: last WR; its completion completes the chain
 * @count: number of WRs from @first to @last
 * @done: callback of the owner: see struct rpcrdma2_chain
 *
 * The caller sets the @wr_cqe of all WRs before @last to &@chain->cqe.
 *
 * Context: Any; the chain is the caller's.
 */
void rpcrdma2_chain_init(struct rpcrdma2_chain *chain, u32 xid,
			 struct ib_send_wr *first, struct ib_send_wr *last,
			 unsigned int count,
			 void (*done)(struct rpcrdma2_chain *chain, int status))
{
	INIT_LIST_HEAD(&chain->link);
	chain->xid = xid;
	chain->cqe.done = rpcrdma2_chain_done;
	chain->first = first;
	chain->last = last;
	chain->last->wr_cqe = &chain->cqe;
	chain->last->send_flags &= ~IB_SEND_SIGNALED;
	chain->count = count;
	chain->prompt = false;
	chain->reads = false;
	chain->done = done;
}

/**
 * rpcrdma2_chain_prepend - put WRs in front of a chain
 * @chain: the chain, not posted
 * @first: first of the new WRs; the last one links to @chain->first
 * @count: number of new WRs
 *
 * Context: Any; the chain is the caller's.
 */
void rpcrdma2_chain_prepend(struct rpcrdma2_chain *chain,
			    struct ib_send_wr *first, unsigned int count)
{
	chain->first = first;
	chain->count += count;
}

static void send_chain_done(struct rpcrdma2_chain *chain, int status)
{
	struct rpcrdma2_send *send = send_of_chain(chain);

	if (send->done)
		send->done(send, status);
	if (send->close_after && !status)
		send->ep->ops->failed(send->ep, -ECONNABORTED);
	rpcrdma2_send_put(send);
}

/**
 * rpcrdma2_send_prepare - build the Send WR for a complete message
 * @send: the buffer, which holds the message
 *
 * Afterwards the caller may prepend WRs to @send->chain, change the opcode to Send With
 * Invalidate, and set @send->done. The caller then posts @send or puts it.
 *
 * Context: Any; the buffer is the caller's.
 */
void rpcrdma2_send_prepare(struct rpcrdma2_send *send)
{
	struct ib_send_wr *wr = &send->wr;

	wr->next = NULL;
	wr->opcode = IB_WR_SEND;
	wr->send_flags = 0;
	/* The first word of every message is its XID. */
	rpcrdma2_chain_init(&send->chain, be32_to_cpup(send->buf), wr, wr, 1,
			    send_chain_done);
	if (send->needs_sync)
		ib_dma_sync_single_for_device(send->ep->pd->device,
					      send->sge.addr, send->sge.length,
					      DMA_TO_DEVICE);
}

/**
 * rpcrdma2_send_post - post a Send and the WRs prepended to it
 * @send: the buffer, prepared
 *
 * Context: Process; does not sleep. Takes the endpoint's lock. The caller is between enter
 *	and exit, or is the CQ.
 * Return: 0: the Queue owns @send; -EMSGSIZE: the message is longer than the peer's Receive
 *	buffers; -ENOTCONN: the connection is closing. After an error @send is the caller's.
 */
int rpcrdma2_send_post(struct rpcrdma2_send *send)
{
	struct rpcrdma2_ep *ep = send->ep;
	int rc;

	if (!rpcrdma2_send_fits(send))
		return -EMSGSIZE;
	send->chain.prompt |= send->close_after;
	spin_lock_bh(&ep->lock);
	rc = sq_post_or_wait(ep, &send->chain);
	spin_unlock_bh(&ep->lock);
	sq_close_if_refused(ep);
	return rc;
}

/**
 * rpcrdma2_send_post_call - post a Call and the WRs prepended to it
 * @send: the buffer, prepared
 * @sent_on: set to the connection's number before the Call is posted; unchanged after an
 *	error
 *
 * Tests the length under the same lock that resize_make_request() holds when it lowers the
 * limit. So the peer gets no larger Call after such a request.
 *
 * Context: Process; does not sleep. Takes the endpoint's lock. The caller is between enter
 *	and exit.
 * Return: 0: the Queue owns @send; -ENOBUFS: the Call is longer than the limit for Calls;
 *	-ENOTCONN: the connection is closing. After an error @send is the caller's.
 */
int rpcrdma2_send_post_call(struct rpcrdma2_send *send, u32 *sent_on)
{
	struct rpcrdma2_ep *ep = send->ep;
	int rc;

	spin_lock_bh(&ep->lock);
	if (send->sge.length > ep->limit.call) {
		rc = -ENOBUFS;
	} else if (!sq_may_post(ep)) {
		rc = -ENOTCONN;
	} else {
		/*
		 * Publishes the struct of the Call to credit_claim(), which handles the
		 * answer.
		 */
		smp_store_release(sent_on, ep->id);
		rc = sq_post_or_wait(ep, &send->chain);
	}
	spin_unlock_bh(&ep->lock);
	sq_close_if_refused(ep);
	return rc;
}

/**
 * rpcrdma2_sq_return_chains - return chains that the device will not complete to their owners
 * @ep: an endpoint in teardown; its Queues are flushed, and it has no users
 *
 * Context: Process, no locks held.
 */
void rpcrdma2_sq_return_chains(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_chain *chain;

	list_splice_tail_init(&ep->sq.waiting, &ep->sq.posted);
	while (!list_empty(&ep->sq.posted)) {
		chain = list_first_entry(&ep->sq.posted, struct rpcrdma2_chain,
					 link);
		list_del_init(&chain->link);
		trace_rpcrdma2_post_done(ep, chain, IB_WC_WR_FLUSH_ERR);
		chain->done(chain, -ENOTCONN);
	}
}
