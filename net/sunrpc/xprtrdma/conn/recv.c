// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffers.
 *
 * As many are allocated and posted, once, as messages can be under way to
 * this end: a Reply to each of its Calls, the Calls that it grants, and a few
 * control messages. None is ever allocated later. A Call's buffer is posted
 * again just before its Reply is sent, so that the peer finds it when it uses
 * the credit which the Reply gives back.
 */
#include "conn.h"

#include <trace/events/rpcrdma2.h>

static void recv_done(struct ib_cq *cq, struct ib_wc *wc);

static int recv_post(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;
	struct ib_recv_wr wr = {
		.wr_cqe		= &recv->cqe,
		.sg_list	= &recv->sge,
		.num_sge	= 1,
	};
	int rc = -ENOTCONN;

	spin_lock(&conn->lock);
	if (conn->state < RPCRDMA2_CONN_CLOSING)
		rc = ib_post_recv(conn->qp, &wr, NULL);
	conn->stats.recv_doorbells += !rc;
	spin_unlock(&conn->lock);
	return rc;
}

/**
 * rpcrdma2_recv_put - give a Receive buffer back to the Receive Queue
 * @recv: the buffer; the caller no longer looks at it
 *
 * Any context. The connection may be gone but for its memory.
 */
void rpcrdma2_recv_put(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = recv->conn;

	if (!rpcrdma2_conn_enter(conn))
		return;
	ib_dma_sync_single_for_device(conn->pd->device, recv->sge.addr,
				      recv->sge.length, DMA_FROM_DEVICE);
	if (recv_post(recv))
		rpcrdma2_conn_close(conn, -ENOTCONN);
	rpcrdma2_conn_exit(conn);
}

/* CQ context. */
static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rpcrdma2_recv *recv = container_of(wc->wr_cqe,
						  struct rpcrdma2_recv, cqe);
	struct rpcrdma2_conn *conn = recv->conn;

	conn->stats.completions++;
	if (wc->status != IB_WC_SUCCESS) {
		trace_rpcrdma2_wc_error(conn, NULL, wc);
		rpcrdma2_conn_close(conn, -ECONNRESET);
		return;
	}
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

static struct rpcrdma2_recv *recv_alloc(struct rpcrdma2_conn *conn)
{
	struct ib_device *dev = conn->pd->device;
	size_t size = conn->param.rbsiz;
	struct rpcrdma2_recv *recv;

	recv = kmalloc(sizeof(*recv), GFP_KERNEL);
	if (!recv)
		return NULL;
	recv->buf = alloc_pages_exact(size, GFP_KERNEL | __GFP_NOWARN);
	if (!recv->buf)
		goto out_free;
	recv->conn = conn;
	recv->cqe.done = recv_done;
	INIT_LIST_HEAD(&recv->list);
	recv->sge.addr = ib_dma_map_single(dev, recv->buf, size,
					   DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(dev, recv->sge.addr))
		goto out_free_buf;
	recv->sge.length = size;
	recv->sge.lkey = conn->pd->local_dma_lkey;
	list_add(&recv->all, &conn->recvs);
	return recv;

out_free_buf:
	free_pages_exact(recv->buf, size);
out_free:
	kfree(recv);
	return NULL;
}

/**
 * rpcrdma2_recvs_create - allocate and post all Receive buffers
 * @conn: a connection with a new QP
 *
 * Process context, sleeps.
 *
 * Return: 0 or negative errno
 */
int rpcrdma2_recvs_create(struct rpcrdma2_conn *conn)
{
	unsigned int n = conn->recv_depth;
	struct rpcrdma2_recv *recv;
	int rc;

	while (n--) {
		recv = recv_alloc(conn);
		if (!recv)
			return -ENOMEM;
		rc = recv_post(recv);
		if (rc)
			return rc;
	}
	return 0;
}

/**
 * rpcrdma2_recvs_unmap - the device lets go of the Receive buffers
 * @conn: a connection in teardown
 */
void rpcrdma2_recvs_unmap(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv *recv;

	list_for_each_entry(recv, &conn->recvs, all)
		ib_dma_unmap_single(conn->pd->device, recv->sge.addr,
				    recv->sge.length, DMA_FROM_DEVICE);
}

/**
 * rpcrdma2_recvs_free - free the Receive buffers, unmapped
 * @conn: a connection that nobody refers to
 */
void rpcrdma2_recvs_free(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_recv *recv, *next;

	list_for_each_entry_safe(recv, next, &conn->recvs, all) {
		free_pages_exact(recv->buf, recv->sge.length);
		kfree(recv);
	}
}
