// SPDX-License-Identifier: GPL-2.0
/*
 * How a Call and its Reply travel. The Reply comes first: its chunks take room in the header.
 *
 *	a Reply that			takes
 *	may outgrow its buffers		a Reply chunk of other pages (long.c)
 *	fits inline at its longest	nothing
 *	fits but for its page data	a Write chunk for the page data
 *	is anything else		a Reply chunk for all of it
 *
 *	a Call that			takes
 *	fits inline			RDMA2_MSG
 *	fits but for its page data	RDMA2_MSG, a Read chunk for the page data
 *	is anything else		RDMA2_NOMSG, a Position-Zero Read chunk
 *
 * Page data travels alone only if its ULP allows it (XDRBUF_READ, XDRBUF_WRITE) and no security
 * flavour reads the whole message. A responder that refused such chunks gets no more of them.
 */
#include "requester.h"

/*
 * Return: octets that an inline Reply may have behind its header. The header returns a Write
 * chunk of @segments segments, or no chunk if @segments is 0.
 */
static u32 marshal_reply_room(const struct rpcrdma2_conn *conn,
			      unsigned int segments)
{
	u32 limit = READ_ONCE(conn->terms.recv_limit);
	u32 len = conn->terms.dialect->plain_size;

	if (segments)
		len += (2 + 4 * segments) * XDR_UNIT;
	return len < limit ? limit - len : 0;
}

static bool marshal_ddp_allowed(const struct rpc_rqst *rqst)
{
	return !test_bit(RPCAUTH_AUTH_DATATOUCH,
			 &rqst->rq_cred->cr_auth->au_flags);
}

/* A client may have declined chunks in reverse-direction Calls (v2-09, 4.2.2). */
static bool marshal_chunks_allowed(const struct rpcrdma2_conn *conn)
{
	return conn->ep.active ||
	       rpcrdma2_conn_reverse(conn) == RDMA2_RVREQSUP_GENL;
}

/*
 * A client's callback service can name page data only at the end of the Reply's head. A Call with
 * a Write chunk has no Reply chunk, so any other Reply finds no room. A server offers Write chunks
 * only in a dialect that has an error for this. Then it sends the Call again with a Reply chunk.
 */
static bool marshal_may_place_page_data(const struct rpcrdma2_conn *conn)
{
	return conn->ep.active ||
	       rpcrdma2_error_of(conn->terms.dialect, RDMA2_ERR_REPLY_RESOURCE);
}

static int marshal_add_write_chunk(struct rpcrdma2_requester *requester,
				   struct rpcrdma2_call *call)
{
	struct rpcrdma2_chunk *chunk;
	int rc;

	chunk = rpcrdma2_add_write_chunk(&requester->hdr.chunks);
	if (!chunk)
		return -E2BIG;
	rc = rpcrdma2_register(requester, call, chunk, &call->rqst->rq_rcv_buf,
			       RPCRDMA2_PART_PAGES, DMA_FROM_DEVICE);
	if (rc)
		return rc;
	call->write_offered = chunk->length;
	return 0;
}

static int marshal_add_reply_chunk(struct rpcrdma2_requester *requester,
				   struct rpcrdma2_call *call)
{
	const struct xdr_buf *buf = &call->rqst->rq_rcv_buf;
	struct rpcrdma2_chunk *chunk;
	int rc;

	call->reply_copied = call->max_segments ||
			     call->reply_needed > rpcrdma2_room(buf);
	chunk = rpcrdma2_add_reply_chunk(&requester->hdr.chunks);
	rc = rpcrdma2_register(requester, call, chunk, buf, RPCRDMA2_PART_ALL,
			       DMA_FROM_DEVICE);
	if (rc)
		return rc;
	call->reply_offered = chunk->length;
	return 0;
}

static int marshal_for_reply(struct rpcrdma2_requester *requester,
			     struct rpcrdma2_call *call, bool ddp)
{
	const struct xdr_buf *buf = &call->rqst->rq_rcv_buf;
	struct rpcrdma2_conn *conn = requester->conn;
	unsigned int segments;

	if (unlikely(READ_ONCE(requester->long_reply)))
		rpcrdma2_long_reply_expect(requester, call);
	if (!call->reply_needed && buf->buflen <= marshal_reply_room(conn, 0))
		return 0;
	if (!marshal_chunks_allowed(conn))
		return -EMSGSIZE;
	if (!ddp || !(buf->flags & XDRBUF_READ) || !buf->page_len ||
	    call->no_write_chunks || call->reply_needed ||
	    !marshal_may_place_page_data(conn))
		return marshal_add_reply_chunk(requester, call);
	segments = rpcrdma2_max_segments(requester, buf, RPCRDMA2_PART_PAGES);
	if (buf->buflen - buf->page_len > marshal_reply_room(conn, segments))
		return marshal_add_reply_chunk(requester, call);
	return marshal_add_write_chunk(requester, call);
}

/* Return: octets of round-up at the start of the tail, which do not travel with page data */
static unsigned int marshal_tail_pad(const struct xdr_buf *buf)
{
	return min_t(unsigned int, xdr_pad_size(buf->page_len),
		     buf->tail[0].iov_len);
}

/*
 * Choose the handle that the responder may invalidate. Any will do: most Calls have at most one
 * registration, and then the requester has nothing left to invalidate.
 */
static u32 marshal_inv_handle(struct rpcrdma2_call *call)
{
	struct rpcrdma2_mr *mr;

	mr = list_first_entry_or_null(&call->mrs, struct rpcrdma2_mr, list);
	return mr ? mr->mr->rkey : 0;
}

static int marshal_encode_header(struct rpcrdma2_requester *requester,
				 struct rpcrdma2_call *call,
				 struct rpcrdma2_send *send)
{
	requester->hdr.chunks.inv_handle = marshal_inv_handle(call);
	return rpcrdma2_send_encode(send, &requester->hdr);
}

static int marshal_inline(struct rpcrdma2_requester *requester,
			  struct rpcrdma2_call *call,
			  struct rpcrdma2_send *send)
{
	const struct xdr_buf *buf = &call->rqst->rq_snd_buf;
	int rc;

	rc = marshal_encode_header(requester, call, send);
	if (rc)
		return rc;
	return rpcrdma2_send_append(send, buf, 0, buf->len);
}

static int marshal_read_chunk(struct rpcrdma2_requester *requester,
			      struct rpcrdma2_call *call,
			      struct rpcrdma2_send *send)
{
	const struct xdr_buf *buf = &call->rqst->rq_snd_buf;
	unsigned int pad = marshal_tail_pad(buf);
	struct rpcrdma2_chunk *chunk;
	int rc;

	chunk = rpcrdma2_add_read_chunk(&requester->hdr.chunks,
					buf->head[0].iov_len);
	if (!chunk)
		return -E2BIG;
	rc = rpcrdma2_register(requester, call, chunk, buf,
			       RPCRDMA2_PART_PAGES, DMA_TO_DEVICE);
	if (rc)
		return rc;
	rc = marshal_encode_header(requester, call, send);
	if (rc)
		return rc;
	rc = rpcrdma2_send_append(send, buf, 0, buf->head[0].iov_len);
	if (rc)
		return rc;
	return rpcrdma2_send_append(send, buf, buf->head[0].iov_len +
				    buf->page_len + pad,
				    buf->tail[0].iov_len - pad);
}

/*
 * Segments take room in the header. A header that is too long for the peer's Receives will not
 * fit later either. So the Call must fail, and must not block the Calls behind it.
 */
static int marshal_check_header(const struct rpcrdma2_requester *requester)
{
	const struct rpcrdma2_conn *conn = requester->conn;

	return rpcrdma2_header_size(conn->terms.dialect, &requester->hdr) <=
	       READ_ONCE(conn->ep.limit.call) ? 0 : -EMSGSIZE;
}

static int marshal_external(struct rpcrdma2_requester *requester,
			    struct rpcrdma2_call *call,
			    struct rpcrdma2_send *send)
{
	const struct xdr_buf *buf = &call->rqst->rq_snd_buf;
	struct rpcrdma2_chunk *chunk;
	int rc;

	requester->hdr.kind = RPCRDMA2_NOMSG;
	chunk = rpcrdma2_add_read_chunk(&requester->hdr.chunks, 0);
	if (!chunk)
		return -E2BIG;
	rc = rpcrdma2_register(requester, call, chunk, buf, RPCRDMA2_PART_ALL,
			       DMA_TO_DEVICE);
	if (rc)
		return rc;
	rc = marshal_check_header(requester);
	if (rc)
		return rc;
	call->position_zero = true;
	return marshal_encode_header(requester, call, send);
}

/* Return: octets that a Send has behind a header with @segments more Read segments */
static u32 marshal_call_room(struct rpcrdma2_requester *requester,
			     const struct rpcrdma2_send *send,
			     unsigned int segments)
{
	struct rpcrdma2_conn *conn = requester->conn;
	u32 limit = min(READ_ONCE(conn->ep.limit.call), send->size);
	u32 len = rpcrdma2_header_size(conn->terms.dialect, &requester->hdr) +
		  6 * segments * XDR_UNIT;

	return len < limit ? limit - len : 0;
}

static int marshal_call(struct rpcrdma2_requester *requester,
			struct rpcrdma2_call *call,
			struct rpcrdma2_send *send, bool ddp)
{
	const struct xdr_buf *buf = &call->rqst->rq_snd_buf;
	unsigned int segments;

	if (buf->len <= marshal_call_room(requester, send, 0))
		return marshal_inline(requester, call, send);
	if (!marshal_chunks_allowed(requester->conn))
		return -EMSGSIZE;
	if (!ddp || !(buf->flags & XDRBUF_WRITE) || !buf->page_len ||
	    call->no_read_chunks)
		return marshal_external(requester, call, send);
	segments = rpcrdma2_max_segments(requester, buf, RPCRDMA2_PART_PAGES);
	if (buf->len - buf->page_len >
	    marshal_call_room(requester, send, segments))
		return marshal_external(requester, call, send);
	return marshal_read_chunk(requester, call, send);
}

/**
 * rpcrdma2_marshal - write the message of a Call
 * @requester: the role, on a connection that the caller has entered
 * @call: the Call; nothing of it is registered
 * @send: an empty Send buffer
 *
 * Leaves the header in @requester->hdr and the registrations in @call->mrs, after an error too.
 *
 * Context: process; the xprt's write lock is held. Sleeps only in drivers that sleep to map.
 *
 * Return: 0; -EAGAIN: no registration is free, and sunrpc tries again after xprt_write_space();
 * -ENOBUFS: there are no pages or DMA mappings at the moment; another negative errno: the Call
 * can't be sent
 */
int rpcrdma2_marshal(struct rpcrdma2_requester *requester,
		     struct rpcrdma2_call *call, struct rpcrdma2_send *send)
{
	struct rpcrdma2_conn *conn = requester->conn;
	bool ddp = marshal_ddp_allowed(call->rqst) && !call->max_segments;
	int rc;

	rpcrdma2_rpc_header(&requester->hdr, be32_to_cpu(call->rqst->rq_xid),
			    conn->terms.dialect->version, conn->ep.calls_out,
			    false, requester->segments);
	call->write_offered = 0;
	call->reply_offered = 0;
	call->position_zero = false;

	rc = marshal_for_reply(requester, call, ddp);
	if (!rc)
		rc = marshal_call(requester, call, send, ddp);
	/* sunrpc tries again after -EAGAIN and -ENOBUFS, so these are no failures. */
	if (rc && rc != -EAGAIN && rc != -ENOBUFS)
		requester->stats.failed_marshals++;
	return rc;
}
