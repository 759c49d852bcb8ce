// SPDX-License-Identifier: GPL-2.0
/*
 * Send buffers: allocates them, lends them to senders, fills them.
 *
 * A Send carries a copy of its message in a buffer that is mapped for the device once. So an
 * RPC's pages are never tied to a Send, and most Sends need no completion of their own.
 *
 * ep->sends owns the buffers. ep->sends.free lists the free ones, under ep->lock. A new
 * endpoint allocates one buffer, so an endpoint always has one, however little memory there is
 * later. It allocates others when senders need them. If a sender finds no free buffer, the
 * endpoint calls the room op when one is free.
 *
 * Runs in process and CQ context.
 */
#include "device.h"
#include "ep.h"

static struct rpcrdma2_send *send_alloc(struct rpcrdma2_ep *ep, gfp_t gfp)
{
	struct ib_device *dev = ep->pd->device;
	u32 size = READ_ONCE(ep->sends.size);
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
	send->ep = ep;
	send->sge.lkey = ep->pd->local_dma_lkey;
	send->wr.sg_list = &send->sge;
	send->wr.num_sge = 1;
	send->size = size;

	spin_lock(&ep->lock);
	list_add(&send->all, &ep->sends.all);
	ep->sends.nr++;
	spin_unlock(&ep->lock);
	return send;
}

/*
 * Give the buffer the size that the peer can take now. Without memory, the buffer keeps its
 * old size, and rpcrdma2_send_append() or the encoder reports messages that do not fit.
 */
static void send_resize(struct rpcrdma2_send *send)
{
	struct ib_device *dev = send->ep->pd->device;
	u32 size = READ_ONCE(send->ep->sends.size);
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

static int send_add(struct rpcrdma2_ep *ep, gfp_t gfp)
{
	struct rpcrdma2_send *send = send_alloc(ep, gfp);

	if (!send)
		return -ENOMEM;
	rpcrdma2_send_put(send);
	return 0;
}

/*
 * The limit exceeds all Sends that can be on the Queue for Calls, Replies and control
 * messages, signaled or not. A peer can go beyond: it can answer a Send before this end has
 * seen the Send's completion.
 */
static bool send_may_alloc(const struct rpcrdma2_ep *ep)
{
	return ep->sends.nr < ep->calls_out + ep->calls_in +
				RPCRDMA2_CONTROL_RECVS +
				2 * RPCRDMA2_SIGNAL_INTERVAL;
}

/* Set @last if no buffer is free after this, and another one may be allocated. */
static struct rpcrdma2_send *send_take_free(struct rpcrdma2_ep *ep,
					    bool *last)
{
	struct rpcrdma2_send *send;

	spin_lock(&ep->lock);
	send = ep->sends.free;
	if (send)
		ep->sends.free = send->next_free;
	else
		ep->sends.wanted = true;
	*last = !ep->sends.free && send_may_alloc(ep);
	spin_unlock(&ep->lock);
	return send;
}

static void send_begin(struct rpcrdma2_send *send)
{
	if (unlikely(send->size != READ_ONCE(send->ep->sends.size)))
		send_resize(send);

	send->close_after = false;
	send->done = NULL;
}

/**
 * rpcrdma2_send_append - copy a part of an RPC message behind the content of a buffer
 * @send: the buffer, which is the caller's and has a header
 * @buf: the RPC message
 * @from: start of the part in @buf, octets
 * @len: length of the part, octets; adds XDR round-up, which only the last part can need
 *
 * Context: Any; the buffer is the caller's.
 * Return: 0; -EMSGSIZE: @send has too little room; -EIO: @buf ends before @from + @len
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
		/* The fast path: the head holds the whole of most messages. */
		memcpy(p, buf->head[0].iov_base + from, len);
		return 0;
	}
	return read_bytes_from_xdr_buf(buf, from, p, len) ? -EIO : 0;
}

/**
 * rpcrdma2_send_get - take a Send buffer
 * @ep: the endpoint; the caller is between enter and exit, or is the CQ
 *
 * If no buffer is left afterwards, allocates one more, as far as memory and the limit allow.
 * A caller that gets NULL waits for the room op: the endpoint has buffers, which come back.
 *
 * Context: Process; does not sleep. Takes ep->lock.
 * Return: a buffer for rpcrdma2_send_encode(); NULL: no buffer is free
 */
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_send *send;
	bool last;

	send = send_take_free(ep, &last);
	if (!send && last)
		send = send_alloc(ep, GFP_NOWAIT | __GFP_NOWARN);
	else if (last)
		/* While no buffer is free, each Send is signaled. So allocate a spare one. */
		send_add(ep, GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_NOWARN);
	if (send)
		send_begin(send);
	return send;
}

/**
 * rpcrdma2_send_pool_provide - add a Send buffer
 * @ep: an endpoint with a new QP, or one that the caller has entered
 * @gfp: allocation flags
 *
 * The first buffer serves an endpoint however little memory there is. The Send that uses the
 * last free buffer is signaled (sq_must_signal()), so a buffer always comes back.
 *
 * Context: Process; sleeps if @gfp allows.
 * Return: 0; -ENOMEM; -EAGAIN: the endpoint has as many buffers as it may have, and the
 *	room op will be called
 */
int rpcrdma2_send_pool_provide(struct rpcrdma2_ep *ep, gfp_t gfp)
{
	if (!send_may_alloc(ep))
		return -EAGAIN;
	return send_add(ep, gfp);
}

/**
 * rpcrdma2_send_free - put a buffer on the free list
 * @send: the buffer
 *
 * The caller then calls rpcrdma2_send_pool_wanted(), and the room op if that returns true.
 *
 * Context: Any; the caller holds the endpoint's lock.
 */
void rpcrdma2_send_free(struct rpcrdma2_send *send)
{
	lockdep_assert_held(&send->ep->lock);

	send->next_free = send->ep->sends.free;
	send->ep->sends.free = send;
}

/**
 * rpcrdma2_send_pool_wanted - must the room op be called for a Send buffer?
 * @ep: the endpoint
 *
 * Context: Any; the caller holds ep->lock.
 * Return: true, once, if a caller of rpcrdma2_send_get() found no buffer, and one is free now
 */
bool rpcrdma2_send_pool_wanted(struct rpcrdma2_ep *ep)
{
	bool wanted;

	lockdep_assert_held(&ep->lock);

	wanted = ep->sends.wanted && ep->sends.free;
	if (wanted)
		ep->sends.wanted = false;
	return wanted;
}

/**
 * rpcrdma2_send_put - give back a Send buffer that is not on the Send Queue
 * @send: the buffer
 *
 * Context: Process, no locks held. May call the room op.
 */
void rpcrdma2_send_put(struct rpcrdma2_send *send)
{
	struct rpcrdma2_ep *ep = send->ep;
	bool wanted;

	spin_lock(&ep->lock);
	rpcrdma2_send_free(send);
	wanted = rpcrdma2_send_pool_wanted(ep);
	spin_unlock(&ep->lock);
	if (wanted)
		ep->ops->room(ep);
}

/**
 * rpcrdma2_send_pool_unmap - unmap all Send buffers
 * @ep: an endpoint in teardown; its QP is destroyed
 *
 * Context: Process.
 */
void rpcrdma2_send_pool_unmap(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_send *send;

	list_for_each_entry(send, &ep->sends.all, all)
		ib_dma_unmap_single(ep->pd->device, send->sge.addr,
				    send->size, DMA_TO_DEVICE);
}

/**
 * rpcrdma2_send_pool_free - free all Send buffers
 * @ep: an endpoint whose connection has no references; its buffers are unmapped
 *
 * Context: Any that allows kfree().
 */
void rpcrdma2_send_pool_free(struct rpcrdma2_ep *ep)
{
	struct rpcrdma2_send *send, *next;

	list_for_each_entry_safe(send, next, &ep->sends.all, all) {
		rpcrdma2_buffer_free(send->buf, send->size);
		kfree(send);
	}
}
