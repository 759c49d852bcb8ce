// SPDX-License-Identifier: GPL-2.0
/*
 * Shared Receive Queues: Receives of a server's connections.
 *
 * Most clients send little at most times. So many connections take their Receives from one
 * Queue, and each message takes one. A server has one Queue for each completion vector of
 * a device, so that CPUs do not meet at its lock. When half of a Queue's depth is spoken
 * for, the next connection gets another Queue.
 *
 * Shares
 *	Each connection may use RECVS_PER_CONN. All other Receives are divided evenly among
 *	the busy connections: those that lately used more than their first grant, or want
 *	to. responder/grant.c raises no grant above rpcrdma2_srq_share(). So there is a
 *	Receive for each Call that busy connections may send. Other connections may keep a
 *	larger grant that they do not use.
 *
 * Growth
 *	The Queue grows as far as its busy connections want, within its depth and
 *	receive_memory. It does not shrink, unless receive_memory is exceeded.
 *
 * No Receive is left
 *	Idle connections with large grants may all send at once. A message that finds no
 *	Receive is sent again by the peer's device, some milliseconds later (RNR NAK).
 *	iWARP has no RNR NAK, so connections do not share Receives there. They would need
 *	a common protection domain, too, and peers write to the sinks of RDMA Reads there.
 *	A server that offers chunks of its own Calls (reverse=genl) has no Queue either.
 *
 * Lost Receives
 *	A device may lose a Receive: newer rxe does when a connection ends in the middle of
 *	a message. So the device is asked to say when it has only a few. A second later,
 *	all completions have been handled. Receives posted before the device said so, and
 *	not back by now, are lost, except those few. Others take their place. When a Queue
 *	has lost half of its depth, its connections are closed, and the last one frees it.
 *
 * A peer that takes more than it was granted loses its connection (recv.c). The CQ of a
 * connection has room for everything on the Queue, so no completion is lost.
 */
#include <linux/mutex.h>

#include "conn.h"
#include "module.h"

/* A Queue has these even if receive_memory is used up. */
#define LEAST_RECVS	16

/* A connection's first grant, a Reply to a Call of this end, and a CONNPROP */
#define RECVS_PER_CONN	(RPCRDMA2_FIRST_GRANT + 2)

/* A connection counts as busy in the period of its last burst, and in the next one. */
#define PERIOD_SECS	10

/* The device says when it has fewer than these, or half of the connections' share. */
#define FEW_RECVS	8

/* By that time after it said so, all completions have been handled. */
#define COUNT_DELAY	HZ

/* Receives that a completion handler adds at a time */
#define GROWTH		32

/* The list, nr_conns. No device command runs under it: one device must not delay others. */
static DEFINE_MUTEX(srqs_lock);
static LIST_HEAD(srqs);

/* Some Receives that were thought to be lost may have come back, and gone. */
static unsigned int usable(const struct rpcrdma2_srq *srq)
{
	unsigned int all = READ_ONCE(srq->nr_recvs);

	return all - min(all, READ_ONCE(srq->lost));
}

/* Receives that connections may use if none of them is busy */
static unsigned int base(const struct rpcrdma2_srq *srq)
{
	return READ_ONCE(srq->nr_conns) * RECVS_PER_CONN;
}

/* The last entry is count_work()'s. */
static bool may_grow(const struct rpcrdma2_srq *srq)
{
	return READ_ONCE(srq->nr_recvs) < srq->depth - 1 &&
	       (rpcrdma2_recv_memory_fits(srq->size) ||
		usable(srq) < LEAST_RECVS);
}

static void link_recv(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv)
{
	lockdep_assert_held(&srq->lock);

	list_add(&recv->all, &srq->recvs);
	WRITE_ONCE(srq->nr_recvs, srq->nr_recvs + 1);
	rpcrdma2_recv_memory_add(srq->size);
}

static void unlink_recv(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv)
{
	lockdep_assert_held(&srq->lock);

	list_del(&recv->all);
	WRITE_ONCE(srq->nr_recvs, srq->nr_recvs - 1);
	rpcrdma2_recv_memory_add(-(long)srq->size);
}

/*
 * Without @lock, as the device may take its time, and others need that. The Queue does not
 * go meanwhile: the caller found it not @gone by RCU, or has a connection of it.
 */
static bool post(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	/* Before it has no connection: see count_old(). */
	WRITE_ONCE(recv->turn, READ_ONCE(srq->turn));
	/* From here on it may be anybody's. */
	WRITE_ONCE(recv->conn, NULL);
	if (likely(!ib_post_srq_recv(srq->srq, &recv->wr, NULL)))
		return true;
	WRITE_ONCE(recv->conn, conn);
	return false;
}

/* @most: Receives that the Queue may have with this one */
static bool add_recv(struct rpcrdma2_srq *srq, unsigned int most, gfp_t gfp)
{
	struct rpcrdma2_recv *recv;
	bool ok;

	recv = rpcrdma2_recv_alloc(srq->pd, srq->size, gfp);
	if (!recv)
		return false;
	recv->srq = srq;
	recv->turn = READ_ONCE(srq->turn);
	spin_lock(&srq->lock);
	ok = srq->nr_recvs < most;
	if (ok)
		link_recv(srq, recv);
	spin_unlock(&srq->lock);
	if (ok && !post(srq, recv)) {
		spin_lock(&srq->lock);
		unlink_recv(srq, recv);
		spin_unlock(&srq->lock);
		ok = false;
	}
	if (!ok)
		rpcrdma2_recv_free(srq->dev, recv, true);
	return ok;
}

/*
 * Have @target Receives, but add no more than @most.
 * Return: false: there is no memory, or no room on the Queue
 */
static bool grow(struct rpcrdma2_srq *srq, unsigned int target,
		 unsigned int most, gfp_t gfp)
{
	while (most-- && usable(srq) < target)
		if (!may_grow(srq) || !add_recv(srq, srq->depth - 1, gfp))
			return usable(srq) >= target;
	return true;
}

/* Return: how many connections are busy, with @conn if @is_busy; at least one */
static unsigned int count_busy(struct rpcrdma2_srq *srq,
			       struct rpcrdma2_conn *conn, bool is_busy)
{
	unsigned long period = jiffies / (PERIOD_SECS * HZ);
	unsigned int n;

	spin_lock(&srq->lock);
	if (srq->period != period) {
		srq->was_busy = srq->period + 1 == period ? srq->busy : 0;
		srq->busy = 0;
		srq->period = period;
	}
	if (is_busy && conn->busy_in != period) {
		conn->busy_in = period;
		srq->busy++;
	}
	n = max(srq->busy, srq->was_busy);
	spin_unlock(&srq->lock);
	/* Some of them may be gone. */
	return clamp(n, 1U, READ_ONCE(srq->nr_conns));
}

/**
 * rpcrdma2_srq_share - how many Calls may a peer be granted?
 * @conn: its connection
 * @wanted: how many it could use
 * @is_busy: it lately used more than its first grant, or wants to
 *
 * The connection's CQ context. For a busy one, the Queue grows, some Receives at a time.
 *
 * Return: the connection's share, %RPCRDMA2_FIRST_GRANT or more; it may exceed @wanted
 */
unsigned int rpcrdma2_srq_share(struct rpcrdma2_conn *conn, unsigned int wanted,
				bool is_busy)
{
	struct rpcrdma2_srq *srq = conn->srq;
	unsigned int n = count_busy(srq, conn, is_busy);
	unsigned int more = 0, all;

	if (is_busy)
		more = wanted - min(wanted, RPCRDMA2_FIRST_GRANT);
	if (!grow(srq, base(srq) + n * more, GROWTH, RPCRDMA2_GFP_ONCE))
		rpcrdma2_recv_memory_note_shortage();
	all = usable(srq);
	return RPCRDMA2_FIRST_GRANT + (all - min(all, base(srq))) / n;
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
	unsigned int most = conn->granted_most + conn->param.calls_out +
			    RPCRDMA2_CONTROL_RECVS;

	WRITE_ONCE(recv->conn, conn);
	/* What is given back, is so before the peer can hear of it. */
	return ++conn->taken - atomic_read(&conn->returned) <= most;
}

/* Is there a Receive more than the Queue may have? */
static bool is_surplus(const struct rpcrdma2_srq *srq)
{
	return READ_ONCE(srq->nr_recvs) >= srq->depth ||
	       (!rpcrdma2_recv_memory_fits(0) && usable(srq) > LEAST_RECVS);
}

static bool is_wanted(const struct rpcrdma2_srq *srq)
{
	return !READ_ONCE(srq->gone) && !is_surplus(srq);
}

static bool repost(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv)
{
	if (recv->needs_sync)
		ib_dma_sync_single_for_device(srq->dev, recv->sge.addr,
					      recv->sge.length,
					      DMA_FROM_DEVICE);
	return post(srq, recv);
}

/*
 * Free what the Queue has no use for, or did not take.
 * Return: false if it is wanted by now: several may have seen the same surplus
 */
static bool drop(struct rpcrdma2_srq *srq, struct rpcrdma2_recv *recv,
		 bool refused)
{
	bool last;

	spin_lock(&srq->lock);
	if (!refused && is_wanted(srq)) {
		spin_unlock(&srq->lock);
		return false;
	}
	unlink_recv(srq, recv);
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

	atomic_inc(&recv->conn->returned);
	do {
		rcu_read_lock();
		wanted = is_wanted(srq);
		posted = wanted && repost(srq, recv);
		rcu_read_unlock();
	} while (unlikely(!posted) && !drop(srq, recv, wanted));
}

/* Those that hold a message are freed by whoever has it. Return: whether there are none */
static bool close_queue(struct rpcrdma2_srq *srq)
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
			unlink_recv(srq, recv);
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
static void destroy(struct rpcrdma2_srq *srq)
{
	struct ib_pd *pd = srq->pd;

	if (srq->status) {
		kfree(srq);
		return;
	}
	if (close_queue(srq))
		kfree(srq);
	ib_dealloc_pd(pd);
}

/* Nothing arrives any more. Connections that say nothing would not notice, nor others leave. */
static void close_conns(struct work_struct *work)
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
static void give_up(struct rpcrdma2_srq *srq)
{
	WRITE_ONCE(srq->failed, true);
	queue_work(rpcrdma2_wq, &srq->failed_work);
}

/* The device says once that it has fewer Receives than this. Not all devices can. */
static void watch(struct rpcrdma2_srq *srq)
{
	struct ib_srq_attr attr = { };

	WRITE_ONCE(srq->low, false);
	srq->limit = clamp(base(srq) / 2, 1U, FEW_RECVS);
	attr.srq_limit = srq->limit;
	ib_modify_srq(srq->srq, &attr, IB_SRQ_LIMIT);
}

/*
 * When the device said that few were left, the turn began, and fewer than @limit were on
 * the Queue. All others that were posted before have been taken by a message.
 */
static void count_lost(struct rpcrdma2_srq *srq)
{
	struct rpcrdma2_recv *recv;
	unsigned int n = 0;

	spin_lock(&srq->lock);
	list_for_each_entry(recv, &srq->recvs, all)
		n += !READ_ONCE(recv->conn) &&
		     READ_ONCE(recv->turn) != srq->turn;
	WRITE_ONCE(srq->lost, n - min(n, srq->limit));
	spin_unlock(&srq->lock);
}

static bool is_worn(const struct rpcrdma2_srq *srq)
{
	return srq->lost > srq->depth / 2;
}

/*
 * A while after the device said that few Receives are left. Those that were lost since are
 * not counted yet, so the Queue may be empty, and an empty Queue raises no event. One
 * Receive is posted after watch(): the message that takes it raises the next event. It may
 * exceed every limit; is_surplus() sees to that when a Receive comes back.
 */
static void count_work(struct work_struct *work)
{
	struct rpcrdma2_srq *srq = container_of(to_delayed_work(work),
						struct rpcrdma2_srq, count_work);
	bool was_worn = is_worn(srq);

	if (READ_ONCE(srq->failed))
		return;
	if (READ_ONCE(srq->low))
		count_lost(srq);
	if (is_worn(srq) && was_worn) {
		give_up(srq);
		return;
	}
	if (!is_worn(srq)) {
		watch(srq);
		if (add_recv(srq, srq->depth, RPCRDMA2_GFP_ONCE) &&
		    grow(srq, base(srq), UINT_MAX, RPCRDMA2_GFP_ONCE))
			return;
	}
	queue_delayed_work(rpcrdma2_wq, &srq->count_work, COUNT_DELAY);
}

/* Unless it is gone */
static void note_low(struct rpcrdma2_srq *srq)
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
		give_up(srq);
	else if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		note_low(srq);
	rcu_read_unlock();
}

static int create_on(struct rpcrdma2_srq *srq)
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
static void make(struct rpcrdma2_srq *srq)
{
	srq->status = create_on(srq);
	if (srq->status)
		WRITE_ONCE(srq->failed, true);
	else
		watch(srq);
	complete_all(&srq->made);
}

/* Return: a Queue in the list that the caller has to make(), or NULL */
static struct rpcrdma2_srq *create(struct ib_device *dev, unsigned int vector,
				   u32 size, unsigned int depth)
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
	spin_lock_init(&srq->lock);
	INIT_LIST_HEAD(&srq->conns);
	INIT_LIST_HEAD(&srq->recvs);
	INIT_WORK(&srq->failed_work, close_conns);
	INIT_DELAYED_WORK(&srq->count_work, count_work);
	init_completion(&srq->made);
	list_add(&srq->list, &srqs);
	return srq;
}

/* May another connection join? Half of the depth is for the busy ones. */
static bool has_room(const struct rpcrdma2_srq *srq)
{
	return base(srq) + RECVS_PER_CONN <=
	       (srq->depth - min(srq->depth, READ_ONCE(srq->lost))) / 2;
}

/*
 * Return: a Queue with room for one more connection, which may have yet to be made; or
 * NULL, if there is none and no memory. @is_new: the caller has to make() it
 */
static struct rpcrdma2_srq *find(struct ib_device *dev, u32 size,
				 unsigned int depth, bool *is_new)
{
	unsigned int vector = rpcrdma2_next_vector(dev, false);
	struct rpcrdma2_srq *srq;

	lockdep_assert_held(&srqs_lock);

	*is_new = false;
	list_for_each_entry(srq, &srqs, list)
		if (srq->dev == dev && srq->vector == vector &&
		    srq->size == size && srq->depth == depth &&
		    !READ_ONCE(srq->failed) && has_room(srq))
			return srq;
	*is_new = true;
	return create(dev, vector, size, depth);
}

static void join(struct rpcrdma2_srq *srq, struct rpcrdma2_conn *conn)
{
	lockdep_assert_held(&srqs_lock);

	WRITE_ONCE(srq->nr_conns, srq->nr_conns + 1);
	list_add(&conn->srq_link, &srq->conns);
	conn->srq = srq;
}

/* Return: Receives of a Queue on that device; 0 if it can't have one */
static unsigned int depth_on(const struct rpcrdma2_conn *conn)
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
	unsigned int depth = depth_on(conn);
	struct rpcrdma2_srq *srq;
	bool is_new;
	int rc;

	if (depth < LEAST_RECVS)
		return -EOPNOTSUPP;
	mutex_lock(&srqs_lock);
	srq = find(conn->cm_id->device, conn->param.rbsiz_max, depth, &is_new);
	if (srq)
		join(srq, conn);
	mutex_unlock(&srqs_lock);
	if (!srq)
		return -ENOMEM;
	if (is_new)
		make(srq);
	else
		wait_for_completion(&srq->made);
	rc = srq->status;
	if (rc) {
		rpcrdma2_srq_detach(conn);
		return rc == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	}
	conn->pd = srq->pd;
	conn->granted = min(RPCRDMA2_FIRST_GRANT, conn->param.calls_in);
	conn->granted_most = conn->granted;
	rpcrdma2_conn_set_size(conn, srq->size, srq->size);
	if (grow(srq, base(srq), UINT_MAX, GFP_KERNEL))
		return 0;
	rpcrdma2_recv_memory_note_shortage();
	return usable(srq) >= LEAST_RECVS ? 0 : -ENOMEM;
}

/**
 * rpcrdma2_srq_detach - a connection leaves its Queue
 * @conn: a connection in teardown, without a QP
 *
 * Process context, sleeps. Messages may still be with the server.
 */
void rpcrdma2_srq_detach(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_srq *srq = conn->srq;
	bool last;

	mutex_lock(&srqs_lock);
	list_del(&conn->srq_link);
	WRITE_ONCE(srq->nr_conns, srq->nr_conns - 1);
	last = !srq->nr_conns;
	if (last)
		list_del(&srq->list);
	mutex_unlock(&srqs_lock);
	/* That takes a while, and others need not wait for it. */
	if (last)
		destroy(srq);
	conn->srq = NULL;
	conn->pd = NULL;
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
			   "%s vector=%u size=%u depth=%u receives=%u lost=%u busy=%u connections=%u\n",
			   srq->dev->name, srq->vector, srq->size, srq->depth,
			   READ_ONCE(srq->nr_recvs), READ_ONCE(srq->lost),
			   max(READ_ONCE(srq->busy), READ_ONCE(srq->was_busy)),
			   srq->nr_conns);
	mutex_unlock(&srqs_lock);
}
