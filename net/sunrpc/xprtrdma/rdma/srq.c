// SPDX-License-Identifier: GPL-2.0
/*
 * Shared Receive Queues: one pool of Receives for many connections of a server.
 *
 * A server cannot know when its clients send, but most clients seldom send much. So each
 * message takes a Receive from a pool. Each completion vector of a device has a Queue, so
 * CPUs do not contend for one. Where a Queue is full, the next connection starts another one.
 *
 * A Queue promises Receives to each endpoint: for its granted Calls (responder/grant.c), for
 * Replies to this end's Calls, and for one CONNPROP. A Queue grows with the sum of its
 * promises, which never exceeds its depth. Some promised Receives may be missing: for first
 * grants, when memory is short, and for idle connections (srq_reclaim_idle()). A message that
 * finds no Receive comes again: the peer's device retries some milliseconds after an RNR NAK.
 *
 * Runs in process context, the CQ's included. Device events may come in interrupt context.
 */
#include <linux/mutex.h>
#include <linux/sched/mm.h>

#include "device.h"
#include "ep.h"
#include "param.h"

/* A Queue has as many Receives as this even beyond the memory limit. */
#define LEAST_RECVS	16

/* Promised to each endpoint besides its grant: a Receive for a CONNPROP, */
#define CONTROL_SHARE	1
/* and a Receive for a Reply to one of this end's Calls */
#define REPLY_SHARE	1

/* After this time without a Call, other endpoints may use the Receives of an idle one. */
#define IDLE_SECS	10

/*
 * An idle endpoint keeps promises for two Calls: with one, grant_best() would see no use for
 * more.
 */
#define IDLE_GRANT	2

/*
 * The device reports when fewer Receives than this are left, or fewer than half of the
 * promises, whichever is less.
 */
#define FEW_RECVS	8

/* This long after the report, all completions that were due have been handled. */
#define COUNT_DELAY	HZ

/* How many missing Receives rpcrdma2_srq_refill() adds at a time */
#define REFILL		4

/*
 * Protects srqs and all nr_conns. No device command runs under this lock, as a slow device
 * must not delay connections of other devices.
 */
static DEFINE_MUTEX(srqs_lock);
static LIST_HEAD(srqs);

/*
 * Receives that messages can fill. A Receive that counted as lost may have come back and been
 * freed since, so @lost may exceed @all.
 */
static unsigned int srq_usable_recvs(const struct rpcrdma2_srq *srq)
{
	unsigned int all = READ_ONCE(srq->nr_recvs);

	return all - min(all, READ_ONCE(srq->lost));
}

static bool srq_may_grow(const struct rpcrdma2_srq *srq)
{
	return rpcrdma2_recv_budget_fits(srq->size) ||
	       srq_usable_recvs(srq) < LEAST_RECVS;
}

static void srq_link_recv(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv)
{
	lockdep_assert_held(&srq->lock);

	list_add(&recv->all, &srq->recvs);
	WRITE_ONCE(srq->nr_recvs, srq->nr_recvs + 1);
	rpcrdma2_recv_budget_add(srq->size);
}

static void srq_unlink_recv(struct rpcrdma2_srq *srq,
			    struct rpcrdma2_recv *recv)
{
	lockdep_assert_held(&srq->lock);

	list_del(&recv->all);
	WRITE_ONCE(srq->nr_recvs, srq->nr_recvs - 1);
	rpcrdma2_recv_budget_add(-(long)srq->size);
}

/*
 * Posts without @lock: the device may be slow, and other threads need the lock. The caller
 * keeps the Queue: it saw under RCU that the Queue is not @gone, or it has an endpoint of the
 * Queue.
 */
static bool srq_post_recv(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_ep *ep = recv->ep;

	/* Set @turn before @ep becomes NULL: srq_count_old() reads @turn if @ep is NULL. */
	WRITE_ONCE(recv->turn, READ_ONCE(srq->turn));
	/* Once posted, the Receive may belong to any endpoint. */
	WRITE_ONCE(recv->ep, NULL);
	if (likely(!ib_post_srq_recv(srq->srq, &recv->wr, NULL)))
		return true;
	WRITE_ONCE(recv->ep, ep);
	return false;
}

static bool srq_add_recv(struct rpcrdma2_srq *srq, gfp_t gfp)
{
	struct rpcrdma2_recv *recv = NULL;
	bool ok;

	if (srq_may_grow(srq))
		recv = rpcrdma2_recv_alloc(srq->pd, srq->size, gfp, srq->recv_done);
	if (!recv)
		return false;
	recv->srq = srq;
	recv->turn = READ_ONCE(srq->turn);
	spin_lock(&srq->lock);
	ok = srq->nr_recvs < srq->depth;
	if (ok)
		srq_link_recv(srq, recv);
	spin_unlock(&srq->lock);
	if (ok && !srq_post_recv(srq, recv)) {
		spin_lock(&srq->lock);
		srq_unlink_recv(srq, recv);
		spin_unlock(&srq->lock);
		ok = false;
	}
	if (!ok)
		rpcrdma2_recv_free(srq->dev, recv, true);
	return ok;
}

static bool srq_lacks_recvs(const struct rpcrdma2_srq *srq)
{
	return srq_usable_recvs(srq) < READ_ONCE(srq->promised);
}

/* Add missing Receives, @most at a time. Return: false if the memory did not suffice */
static bool srq_add_promised(struct rpcrdma2_srq *srq, unsigned int most,
			     gfp_t gfp)
{
	while (most-- && srq_lacks_recvs(srq))
		if (!srq_add_recv(srq, gfp))
			/* Other threads may have added the rest. */
			return !srq_lacks_recvs(srq);
	return true;
}

/* Return: whether the Queue has all Receives that it promised */
static bool srq_fill(struct rpcrdma2_srq *srq, gfp_t gfp)
{
	bool ok = srq_add_promised(srq, UINT_MAX, gfp);

	if (!ok)
		rpcrdma2_recv_budget_note_shortage();
	return ok;
}

/* @more: negative to take promises back */
static void srq_promise(struct rpcrdma2_srq *srq, int more)
{
	lockdep_assert_held(&srq->lock);

	WRITE_ONCE(srq->promised, srq->promised + more);
}

static void srq_reclaim_idle(struct rpcrdma2_srq *srq)
{
	struct rpcrdma2_ep *ep;
	unsigned int kept;

	lockdep_assert_held(&srq->lock);

	list_for_each_entry(ep, &srq->conns, member.link) {
		kept = min_t(unsigned int, ep->share.backed, IDLE_GRANT);
		if (time_before(jiffies, READ_ONCE(ep->share.call_at) +
				IDLE_SECS * HZ))
			continue;
		srq_promise(srq, kept - ep->share.backed);
		WRITE_ONCE(ep->share.backed, kept);
	}
}

static bool srq_reserve(struct rpcrdma2_srq *srq, unsigned int n)
{
	lockdep_assert_held(&srq->lock);

	if (srq->promised + n > srq_usable_recvs(srq))
		srq_reclaim_idle(srq);
	if (srq->promised + n > srq->depth - srq->lost)
		return false;
	srq_promise(srq, n);
	return true;
}

/*
 * Add Receives after @share, a part of an endpoint's promises, was raised from @before.
 * Without memory, lower @share to @before again, unless srq_reclaim_idle() has lowered it
 * further.
 */
static void srq_fill_share(struct rpcrdma2_srq *srq, unsigned int *share,
			   unsigned int before, gfp_t gfp)
{
	if (srq_fill(srq, gfp))
		return;
	spin_lock(&srq->lock);
	if (*share > before) {
		srq_promise(srq, before - *share);
		WRITE_ONCE(*share, before);
	}
	spin_unlock(&srq->lock);
}

/**
 * rpcrdma2_srq_back - change the number of Calls for which an endpoint is promised Receives
 * @ep: the endpoint
 * @calls: the new number
 * @gfp: allocation flags for missing Receives
 *
 * Context: The endpoint's CQ. Takes the Queue's lock.
 * Return: the number of Calls for which the endpoint is promised Receives: @calls; or the
 *	previous number, or less if the endpoint was idle
 */
unsigned int rpcrdma2_srq_back(struct rpcrdma2_ep *ep, unsigned int calls,
			       gfp_t gfp)
{
	struct rpcrdma2_srq *srq = ep->srq;
	unsigned int before;
	bool ok = true;

	spin_lock(&srq->lock);
	before = ep->share.backed;
	if (calls > before)
		ok = srq_reserve(srq, calls - before);
	else
		srq_promise(srq, calls - before);
	if (ok)
		WRITE_ONCE(ep->share.backed, calls);
	spin_unlock(&srq->lock);
	if (!ok)
		rpcrdma2_recv_budget_note_shortage();
	if (ok && calls > before)
		srq_fill_share(srq, &ep->share.backed, before, gfp);
	return READ_ONCE(ep->share.backed);
}

/**
 * rpcrdma2_srq_refill - add a few of the promised Receives that are missing
 * @ep: an endpoint of the Queue
 * @gfp: allocation flags
 *
 * Context: The endpoint's CQ.
 */
void rpcrdma2_srq_refill(struct rpcrdma2_ep *ep, gfp_t gfp)
{
	srq_add_promised(ep->srq, REFILL, gfp);
}

/**
 * rpcrdma2_srq_back_replies - have Receives for the Replies to this end's Calls
 * @ep: the endpoint
 * @calls: number of Calls to be out at a time; less than before changes nothing
 * @gfp: allocation flags for missing Receives
 *
 * Context: The endpoint's CQ, or process before the first completion. Takes the Queue's lock.
 * Return: number of Calls for whose Replies the endpoint is promised Receives
 */
unsigned int rpcrdma2_srq_back_replies(struct rpcrdma2_ep *ep,
				       unsigned int calls, gfp_t gfp)
{
	unsigned int before = ep->share.backed_replies;
	struct rpcrdma2_srq *srq = ep->srq;
	bool ok;

	if (calls <= before)
		return before;
	spin_lock(&srq->lock);
	ok = srq_reserve(srq, calls - before);
	if (ok)
		ep->share.backed_replies = calls;
	spin_unlock(&srq->lock);
	if (ok)
		srq_fill_share(srq, &ep->share.backed_replies, before, gfp);
	return ep->share.backed_replies;
}

/**
 * rpcrdma2_srq_take - a message filled a Receive
 * @recv: the Receive; belongs to @ep until rpcrdma2_srq_put()
 * @ep: the endpoint that received the message
 *
 * Context: The endpoint's CQ.
 * Return: false if the peer uses more Receives than the protocol allows it
 */
bool rpcrdma2_srq_take(struct rpcrdma2_recv *recv, struct rpcrdma2_ep *ep)
{
	unsigned int most = ep->grant.most + ep->calls_out +
			    RPCRDMA2_CONTROL_RECVS;

	WRITE_ONCE(recv->ep, ep);
	/*
	 * rpcrdma2_job_give_credit() has @returned.shared raised before the Reply is posted. So the
	 * counter never lags what the peer knows.
	 */
	return ++ep->share.taken - atomic_read(&ep->returned.shared) <= most;
}

/* Are there more Receives than promised, while memory is short? */
static bool srq_has_surplus(const struct rpcrdma2_srq *srq)
{
	return srq_usable_recvs(srq) > max_t(unsigned int,
					     READ_ONCE(srq->promised),
					     LEAST_RECVS) &&
	       rpcrdma2_recv_budget_is_short();
}

static bool srq_wants_recv(const struct rpcrdma2_srq *srq)
{
	return !READ_ONCE(srq->gone) && !srq_has_surplus(srq);
}

static bool srq_repost_recv(struct rpcrdma2_srq *srq,
			    struct rpcrdma2_recv *recv)
{
	if (recv->needs_sync)
		ib_dma_sync_single_for_device(srq->dev, recv->sge.addr,
					      recv->sge.length,
					      DMA_FROM_DEVICE);
	return srq_post_recv(srq, recv);
}

/*
 * Free a Receive that the Queue does not want, or that the device refused to take. Return:
 * false if the Queue wants the Receive now. Several threads may have seen one surplus.
 */
static bool srq_drop_recv(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv,
			  bool refused)
{
	bool last;

	spin_lock(&srq->lock);
	if (!refused && srq_wants_recv(srq)) {
		spin_unlock(&srq->lock);
		return false;
	}
	srq_unlink_recv(srq, recv);
	rpcrdma2_recv_free(srq->dev, recv, !srq->unmapped);
	last = srq->destroyed && !srq->nr_recvs;
	spin_unlock(&srq->lock);
	if (last)
		kfree(srq);
	return true;
}

/**
 * rpcrdma2_srq_put - give a Receive back to its Queue
 * @recv: the Receive; no longer the caller's
 *
 * Posts the Receive, or frees it if the Queue does not want it or is gone. srq_close() sets
 * @gone and then waits for RCU readers, so the device's Queue exists while this function
 * posts.
 *
 * Context: Process; does not sleep.
 */
void rpcrdma2_srq_put(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_srq *srq = recv->srq;
	bool wanted, posted;

	atomic_inc(&recv->ep->returned.shared);
	do {
		rcu_read_lock();
		wanted = srq_wants_recv(srq);
		posted = wanted && srq_repost_recv(srq, recv);
		rcu_read_unlock();
	} while (unlikely(!posted) && !srq_drop_recv(srq, recv, wanted));
}

/*
 * End the Queue on the device. Receives that hold a message stay: srq_drop_recv() frees each
 * when it comes back. Return: whether none is left, and the caller has to free @srq.
 */
static bool srq_close(struct rpcrdma2_srq *srq)
{
	struct rpcrdma2_recv *recv, *next;
	LIST_HEAD(posted);
	bool empty;

	spin_lock(&srq->lock);
	WRITE_ONCE(srq->gone, true);
	spin_unlock(&srq->lock);
	/* After this, no thread posts a Receive, and srq_event() queues no work. */
	synchronize_rcu();
	cancel_delayed_work_sync(&srq->count_work);
	cancel_work_sync(&srq->failed_work);
	spin_lock(&srq->lock);
	srq->unmapped = true;
	list_for_each_entry_safe(recv, next, &srq->recvs, all) {
		if (recv->ep) {
			rpcrdma2_recv_unmap(srq->dev, recv);
		} else {
			srq_unlink_recv(srq, recv);
			list_add(&recv->all, &posted);
		}
	}
	spin_unlock(&srq->lock);

	/* The device may raise events until this returns. */
	ib_destroy_srq(srq->srq);
	list_for_each_entry_safe(recv, next, &posted, all)
		rpcrdma2_recv_free(srq->dev, recv, true);
	spin_lock(&srq->lock);
	/* Once the lock is released, srq_drop_recv() may free @srq with the last Receive. */
	srq->destroyed = true;
	empty = !srq->nr_recvs;
	spin_unlock(&srq->lock);
	return empty;
}

/* The Queue has left the list, and has no endpoints. */
static void srq_destroy(struct rpcrdma2_srq *srq)
{
	struct ib_pd *pd = srq->pd;

	if (srq->status) {
		kfree(srq);
		return;
	}
	if (srq_close(srq))
		kfree(srq);
	ib_dealloc_pd(pd);
}

/* A failed Queue delivers nothing. A quiet connection would not notice, so close them all. */
static void srq_close_conns(struct work_struct *work)
{
	struct rpcrdma2_srq *srq = container_of(work, struct rpcrdma2_srq,
						failed_work);
	struct rpcrdma2_ep *ep;

	mutex_lock(&srqs_lock);
	list_for_each_entry(ep, &srq->conns, member.link)
		ep->ops->failed(ep, -EIO);
	mutex_unlock(&srqs_lock);
}

/* The caller knows that the Queue is not @gone. */
static void srq_give_up(struct rpcrdma2_srq *srq)
{
	WRITE_ONCE(srq->failed, true);
	queue_work(rpcrdma2_wq, &srq->failed_work);
}

/* Have the device report once when fewer than @limit Receives are left, if it can. */
static void srq_watch(struct rpcrdma2_srq *srq)
{
	struct ib_srq_attr attr = { };
	unsigned int flags;

	WRITE_ONCE(srq->low, false);
	WRITE_ONCE(srq->limit, clamp_t(unsigned int,
				       READ_ONCE(srq->promised) / 2, 1,
				       FEW_RECVS));
	attr.srq_limit = srq->limit;
	/* Drivers allocate. The removal of a device waits for this, and I/O for the removal. */
	flags = memalloc_noio_save();
	ib_modify_srq(srq->srq, &attr, IB_SRQ_LIMIT);
	memalloc_noio_restore(flags);
	/*
	 * Receives posted from here on are watched: when a message takes one, the device
	 * compares the rest with @limit. srq_is_still() looks for such Receives.
	 */
	WRITE_ONCE(srq->turn, srq->turn + 1);
}

/*
 * Return: the number of Receives that were posted before the last change of @turn, and have
 *	not come back
 */
static unsigned int srq_count_old(struct rpcrdma2_srq *srq)
{
	struct rpcrdma2_recv *recv;
	unsigned int n = 0;

	lockdep_assert_held(&srq->lock);

	list_for_each_entry(recv, &srq->recvs, all)
		n += !READ_ONCE(recv->ep) &&
		     READ_ONCE(recv->turn) != srq->turn;
	return n;
}

/*
 * Count lost Receives, COUNT_DELAY after the device's report:
 *
 * 1. All Receives posted before the report have another @turn.
 * 2. At the report, fewer than @limit of them were left on the Queue.
 * 3. Messages had taken all others, and their completions have been handled by now.
 * 4. So any more than @limit that have not come back are lost.
 */
static void srq_count_lost(struct rpcrdma2_srq *srq)
{
	unsigned int n;

	spin_lock(&srq->lock);
	n = srq_count_old(srq);
	WRITE_ONCE(srq->lost, n - min(n, srq->limit));
	spin_unlock(&srq->lock);
}

/* Has no Receive been filled or posted since the device was told to watch the Queue? */
static bool srq_is_still(struct rpcrdma2_srq *srq)
{
	bool still;

	spin_lock(&srq->lock);
	still = srq_count_old(srq) == srq->nr_recvs;
	spin_unlock(&srq->lock);
	return still;
}

/*
 * Find lost Receives and replace them. A device may lose one when a connection ends in the
 * middle of a message, as rxe can.
 *
 * This runs a while after the device reported few Receives, or a connection ended:
 *
 * - After a report, count the lost Receives.
 * - If no Receive moved since the device was told to watch, all may be lost. No message would
 *   take one, and the device would never report. So add a Receive for the next message.
 * - Else messages come, so the device will report in time: leave the Queue alone.
 *
 * If two counts in a row find more than half of the depth lost, give the Queue up.
 */
static void srq_count_work(struct work_struct *work)
{
	struct rpcrdma2_srq *srq = container_of(to_delayed_work(work),
						struct rpcrdma2_srq, count_work);
	bool was_worn = srq->lost > srq->depth / 2, is_worn, ok = true;

	if (READ_ONCE(srq->failed))
		return;
	if (READ_ONCE(srq->low))
		srq_count_lost(srq);
	else if (srq_is_still(srq))
		ok = srq_add_recv(srq, RPCRDMA2_GFP_ONCE) ||
		     READ_ONCE(srq->nr_recvs) == srq->depth;
	else
		return;
	is_worn = srq->lost > srq->depth / 2;
	if (is_worn && was_worn) {
		srq_give_up(srq);
		return;
	}
	ok = srq_add_promised(srq, UINT_MAX, RPCRDMA2_GFP_ONCE) && ok;
	srq_watch(srq);
	if (!ok || is_worn)
		queue_delayed_work(rpcrdma2_wq, &srq->count_work, COUNT_DELAY);
}

/* The caller knows that the Queue is not @gone. */
static void srq_note_low(struct rpcrdma2_srq *srq)
{
	WRITE_ONCE(srq->turn, srq->turn + 1);
	WRITE_ONCE(srq->low, true);
	mod_delayed_work(rpcrdma2_wq, &srq->count_work, COUNT_DELAY);
}

/*
 * Context: any, interrupts included, as long as the device's Queue exists. srq_close() sets
 *	@gone and waits for RCU readers before it cancels the works that are queued here.
 */
static void srq_event(struct ib_event *event, void *context)
{
	struct rpcrdma2_srq *srq = context;

	rcu_read_lock();
	if (READ_ONCE(srq->gone))
		;
	else if (event->event == IB_EVENT_SRQ_ERR)
		srq_give_up(srq);
	else if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		srq_note_low(srq);
	rcu_read_unlock();
}

static int srq_create_on_device(struct rpcrdma2_srq *srq)
{
	struct ib_srq_init_attr attr = {
		.event_handler	= srq_event,
		.srq_context	= srq,
		.attr.max_wr	= srq->depth,
		.attr.max_sge	= 1,
		.srq_type	= IB_SRQT_BASIC,
	};

	srq->pd = ib_alloc_pd(srq->dev, 0);
	if (IS_ERR(srq->pd))
		return PTR_ERR(srq->pd);
	srq->srq = ib_create_srq(srq->pd, &attr);
	if (!IS_ERR(srq->srq))
		return 0;
	/*
	 * Drivers have various errors for a device without free Queues, so any error means:
	 * use a Receive Queue of the endpoint's own.
	 */
	ib_dealloc_pd(srq->pd);
	return -EOPNOTSUPP;
}

/* Create the device's part. Endpoints that joined meanwhile wait for @made. */
static void srq_make(struct rpcrdma2_srq *srq)
{
	srq->status = srq_create_on_device(srq);
	if (srq->status)
		WRITE_ONCE(srq->failed, true);
	complete_all(&srq->made);
}

/* Return: a Queue in the list, which the caller passes to srq_make(); or NULL */
static struct rpcrdma2_srq *srq_create(struct ib_device *dev,
				       unsigned int vector, u32 size,
				       unsigned int depth)
{
	struct rpcrdma2_srq *srq;

	lockdep_assert_held(&srqs_lock);

	srq = kzalloc_node(sizeof(*srq), GFP_KERNEL, ibdev_to_node(dev));
	if (!srq)
		return NULL;
	srq->dev = dev;
	srq->vector = vector;
	srq->size = size;
	srq->depth = depth;
	/*
	 * A Queue without Receives is low. So the first count_work has the device watch the
	 * Queue.
	 */
	srq->low = true;
	spin_lock_init(&srq->lock);
	INIT_LIST_HEAD(&srq->conns);
	INIT_LIST_HEAD(&srq->recvs);
	INIT_WORK(&srq->failed_work, srq_close_conns);
	INIT_DELAYED_WORK(&srq->count_work, srq_count_work);
	init_completion(&srq->made);
	list_add(&srq->list, &srqs);
	return srq;
}

/*
 * Find a Queue that can promise @n more Receives, or add one to the list. Return: the Queue,
 * which another thread may still be making; NULL without memory. If @is_new, the caller
 * passes the Queue to srq_make().
 */
static struct rpcrdma2_srq *srq_find(struct ib_device *dev, u32 size,
				     unsigned int n, unsigned int depth,
				     bool *is_new)
{
	unsigned int vector = rpcrdma2_device_vector(dev, false);
	struct rpcrdma2_srq *srq;
	bool ok;

	lockdep_assert_held(&srqs_lock);

	*is_new = false;
	list_for_each_entry(srq, &srqs, list) {
		if (srq->dev != dev || srq->vector != vector ||
		    srq->size != size || srq->depth != depth ||
		    READ_ONCE(srq->failed))
			continue;
		spin_lock(&srq->lock);
		ok = srq_reserve(srq, n);
		spin_unlock(&srq->lock);
		if (ok)
			return srq;
	}
	srq = srq_create(dev, vector, size, depth);
	if (!srq)
		return NULL;
	srq->promised = n;
	*is_new = true;
	return srq;
}

/* The Queue has already promised @grant Calls, and the fixed shares, to @ep. */
static void srq_join(struct rpcrdma2_srq *srq, struct rpcrdma2_ep *ep,
		     unsigned int grant)
{
	lockdep_assert_held(&srqs_lock);

	srq->nr_conns++;
	ep->srq = srq;
	ep->share.backed = grant;
	ep->share.backed_replies = REPLY_SHARE;
	ep->share.call_at = jiffies;
	spin_lock(&srq->lock);
	list_add(&ep->member.link, &srq->conns);
	spin_unlock(&srq->lock);
}

/*
 * Return: the depth of a Queue for this endpoint; 0 if it cannot share.
 *
 * iWARP has no RNR NAK, so a message without a Receive would cost the connection. Nor could
 * iWARP endpoints share a protection domain, as peers write to the sinks of RDMA Reads.
 */
static unsigned int srq_depth(const struct rpcrdma2_ep *ep)
{
	const struct ib_device *dev = ep->cm_id->device;

	if (!ep->param.shared || !dev->attrs.max_srq ||
	    rdma_protocol_iwarp(dev, ep->cm_id->port_num))
		return 0;
	/*
	 * An endpoint's CQ has room for all of the Queue's Receives and for a Send Queue. So
	 * even a peer that fills them all loses no completion.
	 */
	return min3(READ_ONCE(rpcrdma2_srq_size), (u32)dev->attrs.max_srq_wr,
		    (u32)dev->attrs.max_cqe / 2);
}

/**
 * rpcrdma2_srq_attach - have an endpoint share Receives with others
 * @ep: an endpoint without a QP
 * @recv_done: completion handler of the Receives
 *
 * Sets @ep's protection domain and grant. After -ENOMEM @ep may be attached all the same; the
 * teardown detaches it.
 *
 * Context: Process; sleeps. Takes srqs_lock.
 * Return: 0; -EOPNOTSUPP: the endpoint needs a Receive Queue of its own; -ENOMEM
 */
int rpcrdma2_srq_attach(struct rpcrdma2_ep *ep,
			void (*recv_done)(struct ib_cq *cq, struct ib_wc *wc))
{
	unsigned int grant = min_t(unsigned int, RPCRDMA2_FIRST_GRANT,
				   ep->calls_in);
	unsigned int depth = srq_depth(ep);
	struct rpcrdma2_srq *srq;
	bool is_new;
	int rc;

	if (depth < LEAST_RECVS)
		return -EOPNOTSUPP;
	mutex_lock(&srqs_lock);
	srq = srq_find(ep->cm_id->device, ep->param.recv_max,
		       grant + CONTROL_SHARE + REPLY_SHARE, depth, &is_new);
	if (is_new)
		srq->recv_done = recv_done;
	if (srq)
		srq_join(srq, ep, grant);
	mutex_unlock(&srqs_lock);
	if (!srq)
		return -ENOMEM;
	if (is_new)
		srq_make(srq);
	else
		wait_for_completion(&srq->made);
	rc = srq->status;
	if (rc) {
		rpcrdma2_srq_detach(ep);
		return rc == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	}
	ep->pd = srq->pd;
	ep->grant.now = grant;
	ep->grant.most = grant;
	/* A new Queue is not watched yet. */
	if (!READ_ONCE(srq->limit))
		queue_delayed_work(rpcrdma2_wq, &srq->count_work, 0);
	if (srq_fill(srq, GFP_KERNEL) || srq_usable_recvs(srq) >= LEAST_RECVS)
		return 0;
	return -ENOMEM;
}

/**
 * rpcrdma2_srq_detach - take back the promises to an endpoint
 * @ep: an endpoint in teardown, without a QP
 *
 * The server may still hold messages in Receives of the Queue. The last endpoint to leave ends
 * the Queue.
 *
 * Context: Process; sleeps. Takes srqs_lock.
 */
void rpcrdma2_srq_detach(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_srq *srq = ep->srq;
	bool last;

	mutex_lock(&srqs_lock);
	spin_lock(&srq->lock);
	list_del(&ep->member.link);
	srq_promise(srq,
		    -(ep->share.backed + ep->share.backed_replies + CONTROL_SHARE));
	spin_unlock(&srq->lock);
	last = !--srq->nr_conns;
	if (last)
		list_del(&srq->list);
	else if (!srq->status)
		/* The connection may have ended in the middle of a message. */
		queue_delayed_work(rpcrdma2_wq, &srq->count_work, COUNT_DELAY);
	mutex_unlock(&srqs_lock);
	/* This may take long, so release srqs_lock first. */
	if (last)
		srq_destroy(srq);
	ep->srq = NULL;
	ep->pd = NULL;
	ep->share.backed = 0;
	ep->share.backed_replies = 0;
}

/**
 * rpcrdma2_srq_show - write a line about each Queue to a debugfs file
 * @seq: the file
 *
 * Context: Process; sleeps. Takes srqs_lock.
 */
void rpcrdma2_srq_show(struct seq_file *seq)
{
	struct rpcrdma2_srq *srq;

	mutex_lock(&srqs_lock);
	list_for_each_entry(srq, &srqs, list)
		seq_printf(seq,
			   "%s vector=%u size=%u depth=%u receives=%u lost=%u promised=%u connections=%u\n",
			   srq->dev->name, srq->vector, srq->size, srq->depth,
			   READ_ONCE(srq->nr_recvs), READ_ONCE(srq->lost),
			   READ_ONCE(srq->promised),
			   srq->nr_conns);
	mutex_unlock(&srqs_lock);
}
