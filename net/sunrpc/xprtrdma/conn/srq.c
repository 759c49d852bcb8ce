// SPDX-License-Identifier: GPL-2.0
/*
 * Shared Receive Queues: Receives of a server's connections.
 *
 * What a server is sent, and when, nobody knows, but it is little from most clients at
 * most times. So there is a pool of Receives for many connections, from which each
 * message takes one, and not for each connection as many as it may ever need.
 *
 * There is one Queue for each completion vector of a device, so that CPUs don't meet
 * there; where it is full, another one. It grows with what its connections are promised:
 * the Calls that each was granted (responder/grant.c), the Replies to Calls of this end,
 * and a message without a credit. Promises never exceed the Queue's depth; then grants
 * stay as they are. Two things may be promised that are not there:
 *
 *	the first grant of a connection, which is small, if there is no memory for it,
 *	or that is used up which these Receives may take;
 *	what was granted to a connection that has sent no Call for a while: others may
 *	have that, but for two Calls. Its next one takes it back, or learns of a smaller
 *	grant.
 *
 * A message that finds no Receive is sent again by the peer's device, some
 * milliseconds later (RNR NAK). There is no such thing on iWARP, where the connection
 * would be lost; nor could connections have a protection domain in common there, since
 * peers write to the sinks of RDMA Reads. Nor are there Shared Receive Queues where a
 * server offers its own Calls' chunks (reverse=genl).
 *
 * A device may lose a Receive: rxe of newer kernels does when a connection ends in the
 * middle of a message. So the device is asked to say when next to none is left. A second
 * later all completions have been handled: Receives that were posted before and have not
 * come back, but for the few that were left, are lost. Others take their place. When a
 * Queue has lost half of its depth, its connections are closed, and the last one frees it.
 *
 * A peer that takes more than it was promised loses its connection (recv_pool.c). The CQ of a
 * connection has room for all that is on the Queue, so not even that loses a Receive.
 */
#include <linux/mutex.h>

#include "conn.h"
#include "param.h"

/* Where the memory is used up, a Queue has these all the same. */
#define LEAST_RECVS	16

/* What is promised to each connection, besides its grant: a CONNPROP */
#define CONTROL_SHARE	1
/* ... and the Reply to a Call of this end */
#define REPLY_SHARE	1

/* After that time without a Call, others may have what a connection was granted. */
#define IDLE_SECS	10

/* At least so many Calls are promised to it: of one at a time, nobody sees a need for more. */
#define IDLE_GRANT	2

/* The device says when it has fewer than these, or half of what was promised at first. */
#define FEW_RECVS	8

/* By that time after it said so, all completions have been handled. */
#define COUNT_DELAY	HZ

/* Receives made at a time, of those that there was no memory for before */
#define REFILL		4

/* The list, nr_conns. No device command runs under it: one device must not delay others. */
static DEFINE_MUTEX(srqs_lock);
static LIST_HEAD(srqs);

/* Those that are of use: some that were thought to be lost may have come back, and gone. */
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
 * Without @lock, as the device may take its time, and others need that. The Queue does not
 * go meanwhile: the caller found it not @gone by RCU, or has a connection of it.
 */
static bool srq_post_recv(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	/* Before it has no connection: see srq_count_old(). */
	WRITE_ONCE(recv->turn, READ_ONCE(srq->turn));
	/* From here on it may be anybody's. */
	WRITE_ONCE(recv->conn, NULL);
	if (likely(!ib_post_srq_recv(srq->srq, &recv->wr, NULL)))
		return true;
	WRITE_ONCE(recv->conn, conn);
	return false;
}

static bool srq_add_recv(struct rpcrdma2_srq *srq, gfp_t gfp)
{
	struct rpcrdma2_recv *recv = NULL;
	bool ok;

	if (srq_may_grow(srq))
		recv = rpcrdma2_recv_alloc(srq->pd, srq->size, gfp);
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

/* @most are made. Return: whether there was memory for them, or for all that were promised */
static bool srq_add_promised(struct rpcrdma2_srq *srq, unsigned int most,
			     gfp_t gfp)
{
	while (most-- && srq_lacks_recvs(srq))
		if (!srq_add_recv(srq, gfp))
			/* Another one may have been faster. */
			return !srq_lacks_recvs(srq);
	return true;
}

/* Return: whether there are as many Receives as were promised */
static bool srq_fill(struct rpcrdma2_srq *srq, gfp_t gfp)
{
	bool ok = srq_add_promised(srq, UINT_MAX, gfp);

	if (!ok)
		rpcrdma2_recv_budget_note_shortage();
	return ok;
}

/* @more: less than 0: that is promised no more */
static void srq_promise(struct rpcrdma2_srq *srq, int more)
{
	lockdep_assert_held(&srq->lock);

	WRITE_ONCE(srq->promised, srq->promised + more);
}

static void srq_reclaim_idle(struct rpcrdma2_srq *srq)
{
	struct rpcrdma2_conn *conn;
	unsigned int kept;

	lockdep_assert_held(&srq->lock);

	list_for_each_entry(conn, &srq->conns, srq_link) {
		kept = min_t(unsigned int, conn->backed, IDLE_GRANT);
		if (time_before(jiffies, READ_ONCE(conn->call_at) +
				IDLE_SECS * HZ))
			continue;
		srq_promise(srq, kept - conn->backed);
		WRITE_ONCE(conn->backed, kept);
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
 * A connection's @share was just raised. If there is no memory for that, it is what it was
 * before; unless others had taken more of it since, as it was idle.
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
 * rpcrdma2_srq_back - have Receives for the Calls that a peer may be granted
 * @conn: its connection
 * @calls: how many
 * @gfp: for the allocation of those that there are not
 *
 * The connection's CQ context.
 *
 * Return: for how many Calls there are Receives; if not for @calls, then for as many as
 * before, or less where it was idle
 */
unsigned int rpcrdma2_srq_back(struct rpcrdma2_conn *conn, unsigned int calls,
			       gfp_t gfp)
{
	struct rpcrdma2_srq *srq = conn->srq;
	unsigned int before;
	bool ok = true;

	spin_lock(&srq->lock);
	before = conn->backed;
	if (calls > before)
		ok = srq_reserve(srq, calls - before);
	else
		srq_promise(srq, calls - before);
	if (ok)
		WRITE_ONCE(conn->backed, calls);
	spin_unlock(&srq->lock);
	if (!ok)
		rpcrdma2_recv_budget_note_shortage();
	if (ok && calls > before)
		srq_fill_share(srq, &conn->backed, before, gfp);
	return READ_ONCE(conn->backed);
}

/**
 * rpcrdma2_srq_refill - make up for Receives that were promised, and there was no memory
 * @conn: a connection that has use for them
 * @gfp: for their allocation
 *
 * The connection's CQ context. A few at a time.
 */
void rpcrdma2_srq_refill(struct rpcrdma2_conn *conn, gfp_t gfp)
{
	srq_add_promised(conn->srq, REFILL, gfp);
}

/**
 * rpcrdma2_srq_back_replies - have Receives for the Replies to this end's Calls
 * @conn: the connection
 * @calls: how many Calls are to be out at a time
 * @gfp: for the allocation of those that there are not
 *
 * The connection's CQ context, or before there are completions.
 *
 * Return: for how many Calls there are Receives
 */
unsigned int rpcrdma2_srq_back_replies(struct rpcrdma2_conn *conn,
				       unsigned int calls, gfp_t gfp)
{
	unsigned int before = conn->backed_replies;
	struct rpcrdma2_srq *srq = conn->srq;
	bool ok;

	if (calls <= before)
		return before;
	spin_lock(&srq->lock);
	ok = srq_reserve(srq, calls - before);
	if (ok)
		conn->backed_replies = calls;
	spin_unlock(&srq->lock);
	if (ok)
		srq_fill_share(srq, &conn->backed_replies, before, gfp);
	return conn->backed_replies;
}

/**
 * rpcrdma2_srq_take - a message filled a Receive
 * @recv: the Receive; @conn's until rpcrdma2_srq_put()
 * @conn: who sent it
 *
 * @conn's CQ context.
 *
 * Return: whether the peer may have as many as it has now
 */
bool rpcrdma2_srq_take(struct rpcrdma2_recv *recv, struct rpcrdma2_conn *conn)
{
	unsigned int most = conn->grant_out_max + conn->calls_out +
			    RPCRDMA2_CONTROL_RECVS;

	WRITE_ONCE(recv->conn, conn);
	/* What is given back, is so before the peer can hear of it. */
	return ++conn->recvs_taken - atomic_read(&conn->recvs_returned) <= most;
}

/* Too many, while memory is short? */
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
 * Free what the Queue has no use for, or did not take.
 * Return: false if it is wanted by now: several may have seen the same surplus
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
 * @recv: the Receive
 *
 * Any context. The Queue may be gone; who has it gone waits for those that found it by RCU.
 */
void rpcrdma2_srq_put(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_srq *srq = recv->srq;
	bool wanted, posted;

	atomic_inc(&recv->conn->recvs_returned);
	do {
		rcu_read_lock();
		wanted = srq_wants_recv(srq);
		posted = wanted && srq_repost_recv(srq, recv);
		rcu_read_unlock();
	} while (unlikely(!posted) && !srq_drop_recv(srq, recv, wanted));
}

/* Those that hold a message are freed by whoever has it. Return: whether there are none */
static bool srq_close(struct rpcrdma2_srq *srq)
{
	struct rpcrdma2_recv *recv, *next;
	LIST_HEAD(posted);
	bool empty;

	spin_lock(&srq->lock);
	WRITE_ONCE(srq->gone, true);
	spin_unlock(&srq->lock);
	/* Those that are about to be posted are, or never will be; the work is queued, or not. */
	synchronize_rcu();
	cancel_delayed_work_sync(&srq->count_work);
	cancel_work_sync(&srq->failed_work);
	spin_lock(&srq->lock);
	srq->unmapped = true;
	list_for_each_entry_safe(recv, next, &srq->recvs, all) {
		if (recv->conn) {
			rpcrdma2_recv_unmap(srq->dev, recv);
		} else {
			srq_unlink_recv(srq, recv);
			list_add(&recv->all, &posted);
		}
	}
	spin_unlock(&srq->lock);

	/* Until this returns, there may be events. */
	ib_destroy_srq(srq->srq);
	list_for_each_entry_safe(recv, next, &posted, all)
		rpcrdma2_recv_free(srq->dev, recv, true);
	spin_lock(&srq->lock);
	/* From here on @srq may be freed with the last of the others. */
	srq->destroyed = true;
	empty = !srq->nr_recvs;
	spin_unlock(&srq->lock);
	return empty;
}

/* It is in the list no more, and has no connections. */
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

/* Nothing arrives any more. Connections that say nothing would not notice, nor others leave. */
static void srq_close_conns(struct work_struct *work)
{
	struct rpcrdma2_srq *srq = container_of(work, struct rpcrdma2_srq,
						failed_work);
	struct rpcrdma2_conn *conn;

	mutex_lock(&srqs_lock);
	list_for_each_entry(conn, &srq->conns, srq_link)
		rpcrdma2_conn_close(conn, -EIO);
	mutex_unlock(&srqs_lock);
}

/* The Queue is not gone. No connection joins it any more; its connections are closed. */
static void srq_give_up(struct rpcrdma2_srq *srq)
{
	WRITE_ONCE(srq->failed, true);
	queue_work(rpcrdma2_wq, &srq->failed_work);
}

/* The device says once that it has fewer Receives than this. Not all devices can. */
static void srq_watch(struct rpcrdma2_srq *srq)
{
	struct ib_srq_attr attr = { };

	WRITE_ONCE(srq->low, false);
	WRITE_ONCE(srq->limit, clamp_t(unsigned int,
				       READ_ONCE(srq->promised) / 2, 1,
				       FEW_RECVS));
	attr.srq_limit = srq->limit;
	ib_modify_srq(srq->srq, &attr, IB_SRQ_LIMIT);
	/* What is posted from here on is seen by the device if it is taken: srq_is_still(). */
	WRITE_ONCE(srq->turn, srq->turn + 1);
}

/* Return: how many were posted before this turn, and have not come back */
static unsigned int srq_count_old(struct rpcrdma2_srq *srq)
{
	struct rpcrdma2_recv *recv;
	unsigned int n = 0;

	lockdep_assert_held(&srq->lock);

	list_for_each_entry(recv, &srq->recvs, all)
		n += !READ_ONCE(recv->conn) &&
		     READ_ONCE(recv->turn) != srq->turn;
	return n;
}

/*
 * When the device said that few were left, the turn began, and fewer than @limit were on
 * the Queue. All others that were posted before have been taken by a message.
 */
static void srq_count_lost(struct rpcrdma2_srq *srq)
{
	unsigned int n;

	spin_lock(&srq->lock);
	n = srq_count_old(srq);
	WRITE_ONCE(srq->lost, n - min(n, srq->limit));
	spin_unlock(&srq->lock);
}

/* Has no message come since the device was told to watch the Queue? */
static bool srq_is_still(struct rpcrdma2_srq *srq)
{
	bool still;

	spin_lock(&srq->lock);
	still = srq_count_old(srq) == srq->nr_recvs;
	spin_unlock(&srq->lock);
	return still;
}

/*
 * A while after the device said that few Receives are left, or a connection ended. Where
 * none is left, no message takes any, and so the device says nothing: one is added for the
 * next message to take.
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

/* Unless it is gone */
static void srq_note_low(struct rpcrdma2_srq *srq)
{
	WRITE_ONCE(srq->turn, srq->turn + 1);
	WRITE_ONCE(srq->low, true);
	mod_delayed_work(rpcrdma2_wq, &srq->count_work, COUNT_DELAY);
}

/* May come in interrupt context, as long as the Queue exists. */
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
	/* Drivers have any error for one that has no more of them. */
	ib_dealloc_pd(srq->pd);
	return -EOPNOTSUPP;
}

/* Have the device make it. Connections that joined it meanwhile wait for this. */
static void srq_make(struct rpcrdma2_srq *srq)
{
	srq->status = srq_create_on_device(srq);
	if (srq->status)
		WRITE_ONCE(srq->failed, true);
	complete_all(&srq->made);
}

/* Return: a Queue in the list that the caller has to srq_make(), or NULL */
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
	/* There are none yet. */
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
 * Return: a Queue with room for one more connection, which may have yet to be made; or
 * NULL, if there is none and no memory. @is_new: the caller has to srq_make() it
 */
static struct rpcrdma2_srq *srq_find(struct ib_device *dev, u32 size,
				     unsigned int n, unsigned int depth,
				     bool *is_new)
{
	unsigned int vector = rpcrdma2_next_vector(dev, false);
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

/* @conn is one of its connections, to which @grant Calls were promised already. */
static void srq_join(struct rpcrdma2_srq *srq, struct rpcrdma2_conn *conn,
		     unsigned int grant)
{
	lockdep_assert_held(&srqs_lock);

	srq->nr_conns++;
	conn->srq = srq;
	conn->backed = grant;
	conn->backed_replies = REPLY_SHARE;
	conn->call_at = jiffies;
	spin_lock(&srq->lock);
	list_add(&conn->srq_link, &srq->conns);
	spin_unlock(&srq->lock);
}

/* Return: Receives of a Queue on that device; 0 if it can't have one */
static unsigned int srq_depth(const struct rpcrdma2_conn *conn)
{
	const struct ib_device *dev = conn->cm_id->device;

	if (!conn->param.shared || conn->own.brs == RDMA2_RVREQSUP_GENL ||
	    rdma_protocol_iwarp(dev, conn->cm_id->port_num) ||
	    !dev->attrs.max_srq)
		return 0;
	/* A connection's CQ has room for all of it, and for a Send Queue. */
	return min3(READ_ONCE(rpcrdma2_srq_size), (u32)dev->attrs.max_srq_wr,
		    (u32)dev->attrs.max_cqe / 2);
}

/**
 * rpcrdma2_srq_attach - have a connection take its Receives from a Queue with others
 * @conn: a connection without a QP
 *
 * Process context, sleeps.
 *
 * Return: 0: @conn has a protection domain; -EOPNOTSUPP: it needs a Receive Queue of its
 * own; -ENOMEM
 */
int rpcrdma2_srq_attach(struct rpcrdma2_conn *conn)
{
	unsigned int grant = min_t(unsigned int, RPCRDMA2_FIRST_GRANT,
				   conn->calls_in);
	unsigned int depth = srq_depth(conn);
	struct rpcrdma2_srq *srq;
	bool is_new;
	int rc;

	if (depth < LEAST_RECVS)
		return -EOPNOTSUPP;
	mutex_lock(&srqs_lock);
	srq = srq_find(conn->cm_id->device, conn->rbsiz_max,
		       grant + CONTROL_SHARE + REPLY_SHARE, depth, &is_new);
	if (srq)
		srq_join(srq, conn, grant);
	mutex_unlock(&srqs_lock);
	if (!srq)
		return -ENOMEM;
	if (is_new)
		srq_make(srq);
	else
		wait_for_completion(&srq->made);
	rc = srq->status;
	if (rc) {
		rpcrdma2_srq_detach(conn);
		return rc == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	}
	conn->pd = srq->pd;
	conn->grant_out = grant;
	conn->grant_out_max = grant;
	/* Nobody watches a new one yet. */
	if (!READ_ONCE(srq->limit))
		queue_delayed_work(rpcrdma2_wq, &srq->count_work, 0);
	rpcrdma2_conn_set_size(conn, srq->size, srq->size);
	if (srq_fill(srq, GFP_KERNEL) || srq_usable_recvs(srq) >= LEAST_RECVS)
		return 0;
	return -ENOMEM;
}

/**
 * rpcrdma2_srq_detach - a connection gives back what it was promised
 * @conn: a connection in teardown, without a QP
 *
 * Process context, sleeps. Messages may still be with the server.
 */
void rpcrdma2_srq_detach(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_srq *srq = conn->srq;
	bool last;

	mutex_lock(&srqs_lock);
	spin_lock(&srq->lock);
	list_del(&conn->srq_link);
	srq_promise(srq,
		    -(conn->backed + conn->backed_replies + CONTROL_SHARE));
	spin_unlock(&srq->lock);
	last = !--srq->nr_conns;
	if (last)
		list_del(&srq->list);
	else if (!srq->status)
		/* It may have ended in the middle of a message. */
		queue_delayed_work(rpcrdma2_wq, &srq->count_work, COUNT_DELAY);
	mutex_unlock(&srqs_lock);
	/* That takes a while, and others need not wait for it. */
	if (last)
		srq_destroy(srq);
	conn->srq = NULL;
	conn->pd = NULL;
	conn->backed = 0;
	conn->backed_replies = 0;
}

/**
 * rpcrdma2_srq_show - write what there is to say of all Queues
 * @seq: where to
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
