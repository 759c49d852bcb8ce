// SPDX-License-Identifier: GPL-2.0
/*
 * The Send Queue, and Sends.
 *
 * All that is posted is a struct rpcrdma2_chain: a chain of WRs with one
 * owner. conn->posted holds the chains in the order of the Send Queue. Most
 * of them are not signaled: when one that is completes, it and all before it
 * have completed, since a Send Queue completes in order. Not so with RDMA
 * Reads on siw, which Sends posted later overtake; so a chain of Reads is
 * done only by its own completion. An owner that waits for the completion of
 * its chain marks it prompt. Queue entries are counted
 * before posting; a chain that finds too few waits in conn->waiting and is
 * posted from the completion handler, in its turn. Nobody sleeps. One that is
 * too long for the Queue, as a peer may offer memory in many segments, is posted
 * in parts, each when the one before it is done.
 *
 * conn->lock is held while a chain enters conn->posted and while the device gets it. So
 * both have the same order, and a completion finds its chain in the list. Just before
 * each chain, the same thread posts the Receives that were given back (recv_pool.c).
 *
 * A Send carries a copy of what it sends, in a buffer that is mapped for the
 * device once. So an RPC's pages are never tied to a Send, and a Send needs
 * no completion of its own.
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

static void send_chain_done(struct rpcrdma2_chain *chain, int status);

static void sq_count_post(struct rpcrdma2_conn *conn,
			  const struct rpcrdma2_chain *chain,
			  const struct ib_send_wr *last)
{
	struct rpcrdma2_conn_stats *stats = &conn->stats;

	stats->send_doorbells++;
	stats->work_requests += chain->queued;
	if (last->opcode == IB_WR_SEND || last->opcode == IB_WR_SEND_WITH_INV) {
		stats->sends++;
		stats->send_octets += last->sg_list->length;
	}
}

/* What waits for a Send buffer, or for the Queue, waits for a completion. */
static bool sq_must_signal(const struct rpcrdma2_conn *conn,
			   const struct rpcrdma2_chain *chain)
{
	return chain->prompt || chain->left ||
	       conn->unsignaled >= RPCRDMA2_SIGNAL_INTERVAL ||
	       conn->sq_depth - conn->sq_used < 2 * chain->queued ||
	       !conn->free_sends;
}

/*
 * The device refused a chain. Part of it may be on the Queue, so the chain stays in
 * conn->posted, and the teardown returns it.
 */
static void sq_post_refused(struct rpcrdma2_conn *conn,
			    struct rpcrdma2_chain *chain,
			    const struct ib_send_wr *bad, int rc)
{
	trace_rpcrdma2_post_refused(conn, chain, rc);
	/* For sq_close_if_refused(), which has no lock */
	WRITE_ONCE(conn->post_failed, true);
	if (rc == -EINVAL && bad && bad->opcode == IB_WR_LOCAL_INV)
		conn->inv_refused = true;
}

/*
 * How much of a chain is posted at once. A chain that waits for room waits for a
 * completion, and there may be none for the last few entries.
 */
static unsigned int sq_part_entries(const struct rpcrdma2_conn *conn,
				    const struct rpcrdma2_chain *chain)
{
	if (chain->left + RPCRDMA2_SIGNAL_INTERVAL <= conn->sq_depth)
		return chain->left;
	return conn->sq_depth / 2;
}

static bool sq_has_room(const struct rpcrdma2_conn *conn,
			const struct rpcrdma2_chain *chain)
{
	return conn->sq_depth - conn->sq_used >= sq_part_entries(conn, chain);
}

/* Cut the part off the chain. Return: its last WR */
static struct ib_send_wr *sq_take_part(const struct rpcrdma2_conn *conn,
				       struct rpcrdma2_chain *chain)
{
	struct ib_send_wr *last = chain->first;
	unsigned int i;

	chain->queued = sq_part_entries(conn, chain);
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
 * Post a chain, or a part of it. The completion handler takes the lock, too, so the chain
 * stays the Queue's until the caller releases the lock.
 *
 * A driver that completes a WR inside ib_post_send() only queues the CQ's work. But some
 * drivers raise events of the QP there, so qp_event() must not take the lock.
 */
static void sq_post_locked(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_chain *chain)
{
	struct ib_send_wr *first = chain->first, *last;
	const struct ib_send_wr *bad = NULL;
	int rc;

	lockdep_assert_held(&conn->lock);

	last = sq_take_part(conn, chain);
	conn->unsignaled += chain->queued;
	if (sq_must_signal(conn, chain)) {
		last->send_flags |= IB_SEND_SIGNALED;
		conn->unsignaled = 0;
	}
	conn->sq_used += chain->queued;
	list_add_tail(&chain->link, &conn->posted);
	sq_count_post(conn, chain, last);
	trace_rpcrdma2_post(conn, chain, first, last);
	/* This chain may allow the peer to send what these Receives are for. */
	rc = rpcrdma2_recv_pool_post(conn);
	if (likely(!rc))
		rc = ib_post_send(conn->qp, first, &bad);
	if (unlikely(rc))
		sq_post_refused(conn, chain, bad, rc);
}

static void sq_wait_locked(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_chain *chain)
{
	list_add_tail(&chain->link, &conn->waiting);
	conn->stats.queue_waits++;
	trace_rpcrdma2_wait(conn, chain->xid, RPCRDMA2_WAIT_SEND_QUEUE,
			    conn->sq_used, conn->sq_depth);
}

/* Post nothing after a refusal: a later completion would retire the refused chain. */
static bool sq_may_post(const struct rpcrdma2_conn *conn)
{
	return conn->state < RPCRDMA2_CONN_CLOSING && !conn->post_failed;
}

/**
 * rpcrdma2_send_fits - can this Send be posted, on this connection?
 * @send: the buffer, prepared, with all that was prepended to it
 *
 * Return: false if it exceeds the peer's Receive buffers
 */
bool rpcrdma2_send_fits(const struct rpcrdma2_send *send)
{
	return send->sge.length <= READ_ONCE(send->conn->send_max);
}

static int sq_post_or_wait(struct rpcrdma2_conn *conn,
			   struct rpcrdma2_chain *chain)
{
	lockdep_assert_held(&conn->lock);

	if (!sq_may_post(conn))
		return -ENOTCONN;
	chain->left = chain->count;
	if (!list_empty(&conn->waiting) || !sq_has_room(conn, chain))
		sq_wait_locked(conn, chain);
	else
		sq_post_locked(conn, chain);
	return 0;
}

/* Called after each attempt to post, without the lock, which closing takes. */
static void sq_close_if_refused(struct rpcrdma2_conn *conn)
{
	if (unlikely(READ_ONCE(conn->post_failed)))
		rpcrdma2_conn_close(conn, -ENOTCONN);
}

/**
 * rpcrdma2_chain_post - put a chain of WRs on the Send Queue
 * @conn: its connection; the caller is between enter and exit
 * @chain: the chain, not posted already
 *
 * Any context but interrupts.
 *
 * Return: 0: @chain->done will be called; -ENOTCONN: it will not
 */
int rpcrdma2_chain_post(struct rpcrdma2_conn *conn,
			struct rpcrdma2_chain *chain)
{
	int rc;

	spin_lock(&conn->lock);
	rc = sq_post_or_wait(conn, chain);
	spin_unlock(&conn->lock);
	sq_close_if_refused(conn);
	return rc;
}

static void sq_post_waiting(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_chain *chain;

	lockdep_assert_held(&conn->lock);

	while (sq_may_post(conn)) {
		chain = list_first_entry_or_null(&conn->waiting,
						 struct rpcrdma2_chain, link);
		if (!chain || !sq_has_room(conn, chain))
			break;
		list_del(&chain->link);
		sq_post_locked(conn, chain);
	}
}

static struct rpcrdma2_send *send_of_chain(struct rpcrdma2_chain *chain)
{
	return container_of(chain, struct rpcrdma2_send, chain);
}

/* A Send that nobody waits for: all that its end means is that its buffer is free. */
static bool send_is_plain(struct rpcrdma2_chain *chain)
{
	return chain->done == send_chain_done && !send_of_chain(chain)->done &&
	       !send_of_chain(chain)->close_after;
}

/*
 * What the completion of @last says to be done. Buffers of plain Sends are free again
 * under the lock that is held anyway. The rest of a long chain is next.
 */
static void sq_retire(struct rpcrdma2_conn *conn, struct rpcrdma2_chain *last,
		      struct list_head *completed)
{
	struct rpcrdma2_chain *chain, *next;

	lockdep_assert_held(&conn->lock);

	list_for_each_entry_safe(chain, next, &conn->posted, link) {
		if (chain == last || !chain->reads) {
			conn->sq_used -= chain->queued;
			if (chain->left) {
				list_move(&chain->link, &conn->waiting);
			} else if (send_is_plain(chain)) {
				list_del_init(&chain->link);
				trace_rpcrdma2_post_done(conn, chain,
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
 * rpcrdma2_chain_done - completion of any WR on a Send Queue
 * @cq: the Queue's CQ
 * @wc: the completion
 *
 * CQ context. Everything up to the completed chain is done; after an error
 * the teardown returns what is left.
 */
void rpcrdma2_chain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_chain *last = container_of(wc->wr_cqe,
						   struct rpcrdma2_chain, cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;
	struct rpcrdma2_chain *chain, *next;
	bool waited, wanted;
	LIST_HEAD(completed);

	conn->stats.completions++;
	if (wc->status != IB_WC_SUCCESS) {
		trace_rpcrdma2_wc_error(conn, last, wc);
		rpcrdma2_conn_broken(conn, wc);
		return;
	}

	spin_lock(&conn->lock);
	sq_retire(conn, last, &completed);
	waited = !list_empty(&conn->waiting);
	sq_post_waiting(conn);
	waited = waited && list_empty(&conn->waiting);
	wanted = rpcrdma2_send_pool_wanted(conn);
	spin_unlock(&conn->lock);
	sq_close_if_refused(conn);

	list_for_each_entry_safe(chain, next, &completed, link) {
		list_del_init(&chain->link);
		trace_rpcrdma2_post_done(conn, chain, IB_WC_SUCCESS);
		chain->done(chain, 0);
	}
	if ((waited || wanted) && conn->param.ops->room)
		conn->param.ops->room(conn);
}

/**
 * rpcrdma2_chain_init - describe a chain of WRs
 * @chain: what to set up
 * @xid: of the RPC that it is for
 * @first: first WR
 * @last: last WR; its completion is the chain's
 * @count: WRs from @first to @last
 * @done: see struct rpcrdma2_chain
 *
 * The caller has set the @wr_cqe of the WRs it built itself to &@chain->cqe.
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
 * @first: first WR of those whose last one links to @chain->first
 * @count: how many
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
		rpcrdma2_conn_close(send->conn, -ECONNABORTED);
	rpcrdma2_send_put(send);
}

/**
 * rpcrdma2_send_prepare - make the Send WR for a buffer that was filled
 * @send: the buffer; its message is complete
 *
 * Afterwards the caller may prepend WRs to @send->chain, change the opcode to
 * Send With Invalidate, set @send->done, and then has to post or put it.
 */
void rpcrdma2_send_prepare(struct rpcrdma2_send *send)
{
	struct ib_send_wr *wr = &send->wr;

	wr->next = NULL;
	wr->opcode = IB_WR_SEND;
	wr->send_flags = 0;
	/* The XID is the first word of every message. */
	rpcrdma2_chain_init(&send->chain, be32_to_cpup(send->buf), wr, wr, 1,
			    send_chain_done);
	if (send->needs_sync)
		ib_dma_sync_single_for_device(send->conn->pd->device,
					      send->sge.addr, send->sge.length,
					      DMA_TO_DEVICE);
}

/**
 * rpcrdma2_send_post - post a Send and what was prepended to it
 * @send: the buffer, prepared; no longer the caller's if 0 is returned
 *
 * Return: as rpcrdma2_chain_post(); -EMSGSIZE: rpcrdma2_send_fits() is false
 */
int rpcrdma2_send_post(struct rpcrdma2_send *send)
{
	struct rpcrdma2_conn *conn = send->conn;
	int rc;

	if (!rpcrdma2_send_fits(send))
		return -EMSGSIZE;
	send->chain.prompt |= send->close_after;
	spin_lock(&conn->lock);
	rc = sq_post_or_wait(conn, &send->chain);
	spin_unlock(&conn->lock);
	sq_close_if_refused(conn);
	return rc;
}

/**
 * rpcrdma2_send_post_call - post a Call, and what was prepended to it
 * @send: the buffer, prepared; no longer the caller's if 0 is returned
 * @sent_on: becomes the number of the connection, where the answer is expected from now
 *	on, unless an error is returned
 *
 * Return: as rpcrdma2_chain_post(); -ENOBUFS: it is longer than Calls may be by now
 */
int rpcrdma2_send_post_call(struct rpcrdma2_send *send, u32 *sent_on)
{
	struct rpcrdma2_conn *conn = send->conn;
	int rc;

	spin_lock(&conn->lock);
	if (send->sge.length > conn->send_limit) {
		rc = -ENOBUFS;
	} else if (!sq_may_post(conn)) {
		rc = -ENOTCONN;
	} else {
		/* After the rest of the Call's struct is written, and before any answer */
		smp_store_release(sent_on, conn->id);
		rc = sq_post_or_wait(conn, &send->chain);
	}
	spin_unlock(&conn->lock);
	sq_close_if_refused(conn);
	return rc;
}

/**
 * rpcrdma2_send_header - send a message that is only a header
 * @conn: its connection; the caller is between enter and exit, or is the CQ
 * @hdr: the header
 * @close_after: close the connection when it is sent
 *
 * Process context.
 *
 * Return: 0, or negative errno and the connection is closing
 */
int rpcrdma2_send_header(struct rpcrdma2_conn *conn,
			 const struct rpcrdma2_header *hdr, bool close_after)
{
	struct rpcrdma2_send *send;
	int rc = -ENOBUFS;

	send = rpcrdma2_send_get(conn);
	if (!send)
		goto out_close;
	rc = rpcrdma2_send_encode(send, hdr);
	if (rc)
		goto out_put;
	send->close_after = close_after;
	rpcrdma2_send_prepare(send);
	rc = rpcrdma2_send_post(send);
	if (!rc)
		return 0;
out_put:
	rpcrdma2_send_put(send);
out_close:
	rpcrdma2_conn_close(conn, rc);
	return rc;
}
