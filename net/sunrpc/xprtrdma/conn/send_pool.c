// SPDX-License-Identifier: GPL-2.0
/*
 * Send buffers. Each is mapped for the device once, and used again and again. All free
 * buffers of a connection are in one list, under its lock. A connection always has one
 * buffer, whatever memory there is. A caller that finds no free buffer is told by the
 * room op when a buffer is back.
 */
#include "conn.h"

static struct rpcrdma2_send *send_alloc(struct rpcrdma2_conn *conn, gfp_t gfp)
{
	struct ib_device *dev = conn->pd->device;
	u32 size = READ_ONCE(conn->send_size);
	struct rpcrdma2_send *send;

	send = kzalloc_node(sizeof(*send), gfp, ibdev_to_node(dev));
	if (!send)
		return NULL;
	send->buf = rpcrdma2_buffer_alloc(dev, size, DMA_TO_DEVICE, gfp,
					  &send->sge.addr);
	if (!send->buf) {
		kfree(send);
		return NULL;
	}
	send->needs_sync = rpcrdma2_buffer_needs_sync(dev, send->sge.addr);
	send->conn = conn;
	send->sge.lkey = conn->pd->local_dma_lkey;
	send->wr.sg_list = &send->sge;
	send->wr.num_sge = 1;
	send->size = size;

	spin_lock(&conn->lock);
	list_add(&send->all, &conn->sends);
	conn->nr_sends++;
	spin_unlock(&conn->lock);
	return send;
}

/* The peer's Receives have another size. Without memory for it, this buffer has not. */
static void send_resize(struct rpcrdma2_send *send)
{
	struct ib_device *dev = send->conn->pd->device;
	u32 size = READ_ONCE(send->conn->send_size);
	void *buf;
	u64 addr;

	buf = rpcrdma2_buffer_alloc(dev, size, DMA_TO_DEVICE, GFP_NOWAIT, &addr);
	if (!buf)
		return;
	ib_dma_unmap_single(dev, send->sge.addr, send->size, DMA_TO_DEVICE);
	rpcrdma2_buffer_free(send->buf, send->size);
	send->buf = buf;
	send->size = size;
	send->sge.addr = addr;
	send->needs_sync = rpcrdma2_buffer_needs_sync(dev, addr);
}

static int send_add(struct rpcrdma2_conn *conn, gfp_t gfp)
{
	struct rpcrdma2_send *send = send_alloc(conn, gfp);

	if (!send)
		return -ENOMEM;
	rpcrdma2_send_put(send);
	return 0;
}

/*
 * More than can be on the Queue for Calls, Replies and their signaling; but a peer can
 * ask for more with what it was sent, before this end hears that it was.
 */
static bool send_may_alloc(const struct rpcrdma2_conn *conn)
{
	return conn->nr_sends < conn->calls_out + conn->calls_in +
				RPCRDMA2_CONTROL_RECVS +
				2 * RPCRDMA2_SIGNAL_INTERVAL;
}

/* @last: gets whether no buffer is free now, and there may be another one */
static struct rpcrdma2_send *send_take_free(struct rpcrdma2_conn *conn,
					    bool *last)
{
	struct rpcrdma2_send *send;

	spin_lock(&conn->lock);
	send = conn->free_sends;
	if (send)
		conn->free_sends = send->next_free;
	else
		conn->send_wanted = true;
	*last = !conn->free_sends && send_may_alloc(conn);
	spin_unlock(&conn->lock);
	return send;
}

static void send_begin(struct rpcrdma2_send *send)
{
	if (unlikely(send->size != READ_ONCE(send->conn->send_size)))
		send_resize(send);

	send->close_after = false;
	send->done = NULL;
}

/**
 * rpcrdma2_send_encode - write a message's header
 * @send: the buffer, which is the caller's
 * @hdr: the header
 *
 * Process context.
 *
 * Return: as rpcrdma2_encode()
 */
int rpcrdma2_send_encode(struct rpcrdma2_send *send,
			 const struct rpcrdma2_header *hdr)
{
	struct xdr_stream xdr __uninitialized;
	struct xdr_buf buf __uninitialized;
	int rc;

	rpcrdma2_stream_encode(&xdr, &buf, send->buf, send->size);
	rc = rpcrdma2_encode(send->conn->dialect, &xdr, hdr);
	send->sge.length = buf.len;
	return rc;
}

/**
 * rpcrdma2_send_append - copy a part of an RPC message behind what is there
 * @send: the buffer, which is the caller's, and has a header
 * @buf: the RPC message
 * @from: where the part starts in it, octets
 * @len: octets; round-up is added, which only the last part can need
 *
 * Process context.
 *
 * Return: 0; -EMSGSIZE if @send has too little room; -EIO if @buf ends before that
 */
int rpcrdma2_send_append(struct rpcrdma2_send *send, const struct xdr_buf *buf,
			 unsigned int from, unsigned int len)
{
	unsigned int pad = xdr_pad_size(len);
	void *p = send->buf + send->sge.length;

	if (!len)
		return 0;
	if ((u64)len + pad > send->size - send->sge.length)
		return -EMSGSIZE;
	send->sge.length += len + pad;
	memset(p + len, 0, pad);
	if (from + len <= buf->head[0].iov_len) {
		/* All of most messages, and faster than below */
		memcpy(p, buf->head[0].iov_base + from, len);
		return 0;
	}
	return read_bytes_from_xdr_buf(buf, from, p, len) ? -EIO : 0;
}

/**
 * rpcrdma2_send_get - get a Send buffer
 * @conn: its connection; the caller is between enter and exit
 *
 * Process context; allocates while the connection warms up, and does not
 * sleep. There always is a buffer, which may be out. So a caller that gets
 * none need not try again before the room op.
 *
 * Return: a buffer, for rpcrdma2_send_encode(); or NULL if all are out, and there is no
 * memory for another, or there are as many as there may be
 */
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_send *send;
	bool last;

	send = send_take_free(conn, &last);
	if (!send && last)
		send = send_alloc(conn, GFP_NOWAIT | __GFP_NOWARN);
	else if (last)
		/* While none is free, each Send has to be signaled. */
		send_add(conn, GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_NOWARN);
	if (send)
		send_begin(send);
	return send;
}

/**
 * rpcrdma2_send_pool_provide - have a Send buffer, or one more
 * @conn: a connection whose QP is new, or whose user is between enter and exit
 * @gfp: allocation flags
 *
 * Process context, sleeps. The first one is there whatever memory there is later:
 * when the last one goes out its Send is signaled, and so it comes back.
 *
 * Return: 0; -ENOMEM; -EAGAIN: as many as there may be are out, and the room op comes
 */
int rpcrdma2_send_pool_provide(struct rpcrdma2_conn *conn, gfp_t gfp)
{
	if (!send_may_alloc(conn))
		return -EAGAIN;
	return send_add(conn, gfp);
}

/**
 * rpcrdma2_send_free - a buffer is free again
 * @send: the buffer; the caller holds conn->lock, and is to see rpcrdma2_send_pool_wanted()
 */
void rpcrdma2_send_free(struct rpcrdma2_send *send)
{
	lockdep_assert_held(&send->conn->lock);

	send->next_free = send->conn->free_sends;
	send->conn->free_sends = send;
}

/**
 * rpcrdma2_send_pool_wanted - does somebody wait for a buffer that there is now?
 * @conn: whose buffers; the caller holds its lock
 *
 * Return: if so, once, and the room op is due
 */
bool rpcrdma2_send_pool_wanted(struct rpcrdma2_conn *conn)
{
	bool wanted;

	lockdep_assert_held(&conn->lock);

	wanted = conn->send_wanted && conn->free_sends;
	if (wanted)
		conn->send_wanted = false;
	return wanted;
}

/**
 * rpcrdma2_send_put - give back a Send buffer that was not posted
 * @send: the buffer
 *
 * Process context, no locks held.
 */
void rpcrdma2_send_put(struct rpcrdma2_send *send)
{
	struct rpcrdma2_conn *conn = send->conn;
	bool wanted;

	spin_lock(&conn->lock);
	rpcrdma2_send_free(send);
	wanted = rpcrdma2_send_pool_wanted(conn);
	spin_unlock(&conn->lock);
	if (wanted && conn->param.ops->room)
		conn->param.ops->room(conn);
}

/**
 * rpcrdma2_send_pool_unmap - the device lets go of the Send buffers
 * @conn: a connection in teardown
 */
void rpcrdma2_send_pool_unmap(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_send *send;

	list_for_each_entry(send, &conn->sends, all)
		ib_dma_unmap_single(conn->pd->device, send->sge.addr,
				    send->size, DMA_TO_DEVICE);
}

/**
 * rpcrdma2_send_pool_free - free the Send buffers, unmapped
 * @conn: a connection that nobody refers to
 */
void rpcrdma2_send_pool_free(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_send *send, *next;

	list_for_each_entry_safe(send, next, &conn->sends, all) {
		rpcrdma2_buffer_free(send->buf, send->size);
		kfree(send);
	}
}
