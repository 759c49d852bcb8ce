// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffers.
 *
 * As many are posted as messages can be under way to this end: the Calls that
 * it grants, a few control messages, and a Reply to each Call that it may have
 * out. That is one at first, and what the peer grants, once it does: buffers go
 * round, so those that nothing is going to fill would only make the others leave
 * the CPU's caches. A buffer that comes back is posted with the next message that is
 * sent, just before it: only that message lets the peer send more, be it by the credit
 * that a Reply gives back, as a Call to reply to, or as an answer that it waits for. So
 * the device hears of several at once, and the sender's lock covers their posting.
 *
 * There is a Receive for whatever a peer that keeps to the protocol sends:
 *
 *	a Call			one for each credit that this end granted; before it
 *				grants any, a peer has one
 *	a Reply, or RDMA2_ERROR	one for each Call that this end may have out, since
 *	in place of it		credits_update() has it posted before it counts
 *	CONNPROP		one: there is one in each direction
 *	changes			three, one of which is CONNPROP's: an update, a request
 *				that follows it, the answer to one of this end's
 *	what recv_done() has	one: a Reply lets the next Call out before its
 *				own buffer is posted again
 *	any other RDMA2_ERROR	one, as none of this module's messages deserves it
 *
 * A peer that finds none has sent what it must not, and loses the connection.
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

static void recv_done(struct ib_cq *cq, struct ib_wc *wc);

/* A buffer for Receives, mapped for the device */
struct memory {
	void		*buf;
	struct ib_sge	sge;
	bool		needs_sync;
};

static bool recv_get_memory(struct ib_pd *pd, struct memory *memory, u32 size,
			    gfp_t gfp)
{
	memory->buf = rpcrdma2_buffer_alloc(pd->device, size,
					    DMA_FROM_DEVICE, gfp,
					    &memory->sge.addr);
	if (!memory->buf)
		return false;
	memory->sge.length = size;
	memory->sge.lkey = pd->local_dma_lkey;
	memory->needs_sync = rpcrdma2_buffer_needs_sync(pd->device,
							memory->sge.addr);
	return true;
}

static void recv_put_memory(struct rpcrdma2_conn *conn,
			    const struct memory *memory)
{
	ib_dma_unmap_single(conn->pd->device, memory->sge.addr,
			    memory->sge.length, DMA_FROM_DEVICE);
	rpcrdma2_buffer_free(memory->buf, memory->sge.length);
}

/* Receives of a server have a limit. */
static void recv_count_memory(const struct rpcrdma2_conn *conn, long more)
{
	if (!conn->active)
		rpcrdma2_recv_budget_add(more);
}

/**
 * rpcrdma2_recv_pool_post - post what was given back
 * @conn: a connection with a QP; the caller holds its lock
 *
 * Return: 0, or negative errno: the device takes no more
 */
int rpcrdma2_recv_pool_post(struct rpcrdma2_conn *conn)
{
	struct ib_recv_wr *first = NULL;
	struct rpcrdma2_recv *recv;
	int rc;

	lockdep_assert_held(&conn->lock);

	if (llist_empty(&conn->given_back))
		return 0;
	llist_for_each_entry(recv, llist_del_all(&conn->given_back), node) {
		if (recv->needs_sync)
			ib_dma_sync_single_for_device(conn->pd->device,
						      recv->sge.addr,
						      recv->sge.length,
						      DMA_FROM_DEVICE);
		recv->wr.next = first;
		first = &recv->wr;
	}
	rc = ib_post_recv(conn->qp, first, NULL);
	conn->stats.recv_doorbells += !rc;
	return rc;
}

/* Return: whether it has the size that all are to have */
static bool recv_swap_memory(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;
	struct memory new, old;
	bool done;

	if (!recv_get_memory(conn->pd, &new, READ_ONCE(conn->recv_size),
			     GFP_NOWAIT))
		return false;
	spin_lock(&conn->lock);
	done = new.sge.length == conn->recv_size &&
	       recv->sge.length != conn->recv_size;
	if (done) {
		old.buf = recv->buf;
		old.sge = recv->sge;
		recv->buf = new.buf;
		recv->sge = new.sge;
		recv->needs_sync = new.needs_sync;
		conn->odd_recvs--;
	}
	spin_unlock(&conn->lock);
	recv_put_memory(conn, done ? &old : &new);
	if (done)
		recv_count_memory(conn, (long)new.sge.length - old.sge.length);
	return done;
}

/*
 * The buffer comes back, and is to have another size (resize.c). If there is no memory
 * for that now, it may be the next time.
 */
static void recv_resize(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	if (!rpcrdma2_conn_enter(conn))
		return;
	if (recv_swap_memory(recv) && !READ_ONCE(conn->odd_recvs))
		rpcrdma2_resize_soon(conn);
	rpcrdma2_conn_exit(conn);
}

/**
 * rpcrdma2_recv_put - give a Receive buffer back to the Receive Queue
 * @recv: the buffer; the caller no longer looks at it
 *
 * Any context. The connection may be gone but for its memory. A Receive that isn't shared
 * is posted by whoever sends next: before that, the peer has no use for it.
 */
void rpcrdma2_recv_put(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	if (recv->srq) {
		rpcrdma2_srq_put(recv);
		return;
	}
	if (unlikely(recv->sge.length != READ_ONCE(conn->recv_size)))
		recv_resize(recv);
	llist_add(&recv->node, &conn->given_back);
}

/*
 * Was it a Send? An RDMA Write with Immediate takes a Receive, too, in which it leaves what
 * was there before, and the length is its own. Nobody sends immediate data.
 */
static bool recv_is_send(const struct rpcrdma2_recv *recv,
			 const struct ib_wc *wc)
{
	return !(wc->wc_flags & IB_WC_WITH_IMM) &&
	       wc->byte_len <= recv->sge.length;
}

/*
 * Is a message in it that is to be looked at? A Receive that is shared goes back if not;
 * any other belongs to a connection that goes.
 */
static bool recv_is_filled(struct rpcrdma2_recv *recv,
			   struct rpcrdma2_conn *conn, const struct ib_wc *wc)
{
	bool ok = wc->status == IB_WC_SUCCESS;

	if (!ok) {
		trace_rpcrdma2_wc_error(conn, NULL, wc);
		rpcrdma2_conn_broken(conn, wc);
	} else if (unlikely(!recv_is_send(recv, wc))) {
		rpcrdma2_conn_close(conn, -EPROTO);
		ok = false;
	}
	if (!recv->srq)
		return ok;
	if (!rpcrdma2_srq_take(recv, conn)) {
		rpcrdma2_conn_close(conn, -EPROTO);
		ok = false;
	}
	/* The teardown may not have been told of the last one: see qp.c. */
	ok = ok && READ_ONCE(conn->state) < RPCRDMA2_CONN_CLOSING;
	if (!ok)
		rpcrdma2_srq_put(recv);
	return ok;
}

/* CQ context. */
static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_recv *recv = container_of(wc->wr_cqe,
						  struct rpcrdma2_recv, cqe);
	struct rpcrdma2_conn *conn = cq->cq_context;

	conn->stats.completions++;
	if (!recv_is_filled(recv, conn, wc))
		return;
	if (recv->needs_sync)
		ib_dma_sync_single_for_cpu(conn->pd->device, recv->sge.addr,
					   wc->byte_len, DMA_FROM_DEVICE);
	conn->stats.receives++;
	conn->stats.receive_octets += wc->byte_len;
	recv->offset = 0;
	recv->len = wc->byte_len;
	recv->invalidated = (wc->wc_flags & IB_WC_WITH_INVALIDATE) ?
			    wc->ex.invalidate_rkey : 0;
	trace_rpcrdma2_receive(recv);
	rpcrdma2_dispatch(recv);
}

static struct rpcrdma2_recv *recv_make(struct ib_pd *pd, u32 size, gfp_t gfp)
{
	struct rpcrdma2_recv *recv;
	struct memory memory;

	recv = kmalloc_node(sizeof(*recv), gfp, ibdev_to_node(pd->device));
	if (!recv)
		return NULL;
	if (!recv_get_memory(pd, &memory, size, gfp)) {
		kfree(recv);
		return NULL;
	}
	recv->conn = NULL;
	recv->srq = NULL;
	recv->cqe.done = recv_done;
	recv->buf = memory.buf;
	recv->sge = memory.sge;
	recv->needs_sync = memory.needs_sync;
	recv->wr = (struct ib_recv_wr){
		.wr_cqe		= &recv->cqe,
		.sg_list	= &recv->sge,
		.num_sge	= 1,
	};
	return recv;
}

/**
 * rpcrdma2_recv_alloc - make a Receive
 * @pd: protection domain
 * @size: octets
 * @gfp: allocation flags; with %RPCRDMA2_GFP_ONCE it fails at once for a second after it
 *	failed
 *
 * Return: a Receive that is mapped, and nobody's; or NULL
 */
struct rpcrdma2_recv *rpcrdma2_recv_alloc(struct ib_pd *pd, u32 size, gfp_t gfp)
{
	struct rpcrdma2_recv *recv;

	if (gfp == RPCRDMA2_GFP_ONCE && rpcrdma2_recv_budget_failed_lately())
		return NULL;
	recv = recv_make(pd, size, gfp);
	if (!recv && gfp == RPCRDMA2_GFP_ONCE)
		rpcrdma2_recv_budget_note_failure();
	return recv;
}

/**
 * rpcrdma2_recv_unmap - the device lets go of a Receive buffer
 * @dev: the device
 * @recv: the Receive; not posted
 *
 * Without another look at what the device wrote: one that holds a message was
 * synced when it came, and since then a server's thread may have decrypted it in
 * place, or be at it. Any other holds nothing.
 */
void rpcrdma2_recv_unmap(struct ib_device *dev, const struct rpcrdma2_recv *recv)
{
	if (!ib_uses_virt_dma(dev))
		dma_unmap_single_attrs(dev->dma_device, recv->sge.addr,
				       recv->sge.length, DMA_FROM_DEVICE,
				       DMA_ATTR_SKIP_CPU_SYNC);
}

/**
 * rpcrdma2_recv_free - free a Receive
 * @dev: its device, if it is mapped
 * @recv: the Receive; not posted
 * @is_mapped: is it?
 */
void rpcrdma2_recv_free(struct ib_device *dev, struct rpcrdma2_recv *recv,
			bool is_mapped)
{
	if (is_mapped)
		rpcrdma2_recv_unmap(dev, recv);
	rpcrdma2_buffer_free(recv->buf, recv->sge.length);
	kfree(recv);
}

static struct rpcrdma2_recv *recv_add(struct rpcrdma2_conn *conn, gfp_t gfp)
{
	struct rpcrdma2_recv *recv;

	recv = rpcrdma2_recv_alloc(conn->pd, READ_ONCE(conn->recv_size), gfp);
	if (!recv)
		return NULL;
	recv->conn = conn;
	recv_count_memory(conn, recv->sge.length);
	spin_lock(&conn->lock);
	list_add(&recv->all, &conn->recvs);
	conn->odd_recvs += recv->sge.length != conn->recv_size;
	spin_unlock(&conn->lock);
	return recv;
}

/**
 * rpcrdma2_recv_pool_provide - have Receives for the Replies to this end's Calls
 * @conn: a connection with a QP
 * @calls: how many Calls are to be out at a time, calls_out at most
 * @gfp: for the allocation of those that there are not
 *
 * CQ context, or before there are completions: one at a time. They are posted with the
 * next Send, before it, which may be the first of those Calls.
 *
 * Return: for how many Calls there are Receives now; less than @calls if there is
 * no memory
 */
unsigned int rpcrdma2_recv_pool_provide(struct rpcrdma2_conn *conn,
					unsigned int calls, gfp_t gfp)
{
	unsigned int others = conn->calls_in + RPCRDMA2_CONTROL_RECVS;
	struct rpcrdma2_recv *recv;

	if (conn->srq)
		return rpcrdma2_srq_back_replies(conn, calls, gfp);
	while (conn->nr_recvs < others + calls) {
		recv = recv_add(conn, gfp);
		if (!recv)
			break;
		llist_add(&recv->node, &conn->given_back);
		conn->nr_recvs++;
	}
	return conn->nr_recvs > others ? conn->nr_recvs - others : 0;
}

/**
 * rpcrdma2_recv_pool_unmap - the device lets go of the Receive buffers
 * @conn: a connection in teardown
 */
void rpcrdma2_recv_pool_unmap(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv *recv;

	list_for_each_entry(recv, &conn->recvs, all)
		rpcrdma2_recv_unmap(conn->pd->device, recv);
}

/**
 * rpcrdma2_recv_pool_free - free the Receive buffers, unmapped
 * @conn: a connection that nobody refers to
 */
void rpcrdma2_recv_pool_free(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv *recv, *next;

	list_for_each_entry_safe(recv, next, &conn->recvs, all) {
		recv_count_memory(conn, -(long)recv->sge.length);
		rpcrdma2_recv_free(NULL, recv, false);
	}
}
