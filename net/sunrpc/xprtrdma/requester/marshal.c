// SPDX-License-Identifier: GPL-2.0
/*
 * How a Call and its Reply travel.
 *
 * The Reply's way is chosen first, since the chunks for it take room in the
 * header:
 *
 *	may be longer than its buffers		Reply chunk of other pages (long.c)
 *	fits inline at its largest		nothing
 *	page data, and the rest fits inline	Write chunk for the page data
 *	anything else				Reply chunk for all of it
 *
 * then the Call's:
 *
 *	fits inline				RDMA2_MSG, copied into the Send
 *	page data, and the rest fits inline	RDMA2_MSG, Read chunk for the
 *						page data
 *	anything else				RDMA2_NOMSG, Position-Zero Read
 *						chunk for all of it
 *
 * Page data travels alone only where its ULP says that it may (XDRBUF_READ,
 * XDRBUF_WRITE), no security flavour has to see the whole message, the responder
 * didn't find it in too many segments, and can name it.
 */
#include "requester.h"

/* Header of a Reply that returns no chunk, and of one with a Write chunk. */
static u32 marshal_reply_room(const struct rpcrdma2_conn *conn,
			      unsigned int segments)
{
	u32 limit = READ_ONCE(conn->recv_limit);
	u32 len = conn->dialect->plain_size;

	if (segments)
		len += (2 + 4 * segments) * XDR_UNIT;
	return len < limit ? limit - len : 0;
}

static bool marshal_ddp_allowed(const struct rpc_rqst *rqst)
{
	return !test_bit(RPCAUTH_AUTH_DATATOUCH,
			 &rqst->rq_cred->cr_auth->au_flags);
}

/* In the reverse direction a client may take no chunks (v2-09, 4.2.2). */
static bool marshal_chunks_allowed(const struct rpcrdma2_conn *conn)
{
	return conn->active ||
	       rpcrdma2_conn_reverse(conn) == RDMA2_RVREQSUP_GENL;
}

/*
 * A client's service can name page data only where it stands at the end of the Reply's
 * head. What it can't name is too long then, and where there is an error for that, the
 * Call is sent again with a Reply chunk.
 */
static bool marshal_may_place_page_data(const struct rpcrdma2_conn *conn)
{
	return conn->active ||
	       rpcrdma2_error_of(conn->dialect, RDMA2_ERR_REPLY_RESOURCE);
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

/* Round-up of page data stands at the start of the tail, and does not travel. */
static unsigned int marshal_tail_pad(const struct xdr_buf *buf)
{
	return min_t(unsigned int, xdr_pad_size(buf->page_len),
		     buf->tail[0].iov_len);
}

/*
 * One handle may be invalidated with the Reply. Any will do: with a single
 * registration, which is the common case, that leaves nothing to the requester.
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
 * Each segment takes room in the header. A message that the peer's Receives can't hold
 * will not fit later either, and must not block those behind it.
 */
static int marshal_check_header(const struct rpcrdma2_requester *requester)
{
	const struct rpcrdma2_conn *conn = requester->conn;

	return rpcrdma2_header_size(conn->dialect, &requester->hdr) <=
	       READ_ONCE(conn->send_limit) ? 0 : -EMSGSIZE;
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

/* Octets left in a Send behind a header with @segments more Read segments. */
static u32 marshal_call_room(struct rpcrdma2_requester *requester,
			     const struct rpcrdma2_send *send,
			     unsigned int segments)
{
	struct rpcrdma2_conn *conn = requester->conn;
	u32 limit = min(READ_ONCE(conn->send_limit), send->size);
	u32 len = rpcrdma2_header_size(conn->dialect, &requester->hdr) +
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
 * rpcrdma2_marshal - write a Call's message
 * @requester: of a connection that the caller has entered
 * @call: the Call, with nothing registered
 * @send: an empty Send buffer
 *
 * The caller holds the xprt's write lock. Leaves the header in
 * @requester->hdr and registrations in @call->mrs, also after an error.
 *
 * Return: 0; -EAGAIN: sunrpc is told when to try again; another negative
 * errno: this RPC cannot be sent
 */
int rpcrdma2_marshal(struct rpcrdma2_requester *requester,
		     struct rpcrdma2_call *call, struct rpcrdma2_send *send)
{
	struct rpcrdma2_conn *conn = requester->conn;
	bool ddp = marshal_ddp_allowed(call->rqst) && !call->max_segments;
	int rc;

	rpcrdma2_rpc_header(&requester->hdr, be32_to_cpu(call->rqst->rq_xid),
			    conn->dialect->version, conn->calls_out,
			    false, requester->segments);
	call->write_offered = 0;
	call->reply_offered = 0;
	call->position_zero = false;

	rc = marshal_for_reply(requester, call, ddp);
	if (!rc)
		rc = marshal_call(requester, call, send, ddp);
	if (rc && rc != -EAGAIN)
		requester->stats.failed_marshals++;
	return rc;
}
