// SPDX-License-Identifier: GPL-2.0
/*
 * The common part of all versions: the first four words of a header (RFC 8166, 4.1; v2-09,
 * 3.2). Also the checks that chunks and the RPC message agree.
 */
#include "wire.h"

/* The header type of an error has this number in every version. */
#define HTYPE_ERROR	4

#define COMMON_PREFIX	(4 * XDR_UNIT)

/**
 * rpcrdma2_refuse_silently - refuse a message to which no answer is possible
 * @hdr: its header
 *
 * Context: Any context.
 * Return: -EBADMSG, with RDMA2_ERR_NONE in @hdr->error
 */
int rpcrdma2_refuse_silently(struct rpcrdma2_header *hdr)
{
	hdr->error.code = RDMA2_ERR_NONE;
	return -EBADMSG;
}

/**
 * rpcrdma2_refuse - refuse a message
 * @hdr: its header
 * @code: error to answer with
 *
 * An error never gets an answer, whatever its version. Otherwise two ends could exchange
 * errors without end.
 *
 * Context: Any context.
 * Return: -EBADMSG, with the answer in @hdr->error
 */
int rpcrdma2_refuse(struct rpcrdma2_header *hdr, u32 code)
{
	if (hdr->kind == RPCRDMA2_ERROR)
		return rpcrdma2_refuse_silently(hdr);
	hdr->error.code = code;
	return -EBADMSG;
}

static int message_refuse_version(struct rpcrdma2_header *hdr, u32 version)
{
	hdr->error.vers_low = version;
	hdr->error.vers_high = version;
	hdr->error.bare = true;
	return rpcrdma2_refuse(hdr, RDMA2_ERR_VERS);
}

/**
 * rpcrdma2_type_of - find a header type by its number on the wire
 * @types: array of header types
 * @nr: number of @types
 * @htype: number on the wire
 *
 * Context: Any context.
 * Return: the type, or NULL
 */
const struct rpcrdma2_type *
rpcrdma2_type_of(const struct rpcrdma2_type *types, unsigned int nr, u32 htype)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (types[i].htype == htype)
			return &types[i];
	return NULL;
}

/**
 * rpcrdma2_type_for - find the header type for a kind of message
 * @types: array of header types
 * @nr: number of @types
 * @kind: enum rpcrdma2_kind
 *
 * Context: Any context.
 * Return: the type, or NULL
 */
const struct rpcrdma2_type *
rpcrdma2_type_for(const struct rpcrdma2_type *types, unsigned int nr, u32 kind)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (types[i].kind == kind)
			return &types[i];
	return NULL;
}

static const struct rpcrdma2_type *
message_type_for(const struct rpcrdma2_dialect *dialect, u32 kind)
{
	return rpcrdma2_type_for(dialect->types, dialect->nr_types, kind);
}

/**
 * rpcrdma2_decode - decode the header of a received message
 * @dialect: dialect of the connection
 * @xdr: stream at the start of one linear buffer with exactly the received octets
 * @hdr: header to fill in. On entry, @hdr->response is the direction that the receiver
 *	expects, for messages that don't state their direction
 *
 * Context: Any context.
 * Return: 0 with @xdr at the RPC message; -EBADMSG with the answer in @hdr->error
 */
int rpcrdma2_decode(const struct rpcrdma2_dialect *dialect,
		    struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_type *type;
	bool response = hdr->response;
	u32 htype;
	__be32 *p;

	memset(hdr, 0, offsetof(struct rpcrdma2_header, chunks));
	hdr->response = response;
	/* xdr_stream rounds the length up to whole words. */
	if (xdr->buf->len % XDR_UNIT)
		return rpcrdma2_refuse_silently(hdr);
	p = xdr_inline_decode(xdr, COMMON_PREFIX);
	if (!p)
		return rpcrdma2_refuse_silently(hdr);
	hdr->xid = be32_to_cpup(p++);
	hdr->vers = be32_to_cpup(p++);
	hdr->credit = be32_to_cpup(p++);
	htype = be32_to_cpup(p);
	if (htype == HTYPE_ERROR)
		hdr->kind = RPCRDMA2_ERROR;
	if (hdr->vers != dialect->version)
		return message_refuse_version(hdr, dialect->version);
	type = rpcrdma2_type_of(dialect->types, dialect->nr_types, htype);
	if (!type)
		return dialect->refuse_type(hdr);
	hdr->kind = type->kind;
	return type->decode(dialect, xdr, hdr);
}

/**
 * rpcrdma2_encode - encode the header of a message to send
 * @dialect: dialect of the connection
 * @xdr: stream to write to
 * @hdr: header to encode
 *
 * Context: Any context.
 * Return: 0; -EMSGSIZE if @xdr has too little room; -EOPNOTSUPP if the dialect has no
 *	header type for this kind of message
 */
int rpcrdma2_encode(const struct rpcrdma2_dialect *dialect,
		    struct xdr_stream *xdr, const struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_type *type = message_type_for(dialect, hdr->kind);
	__be32 *p;

	if (!type)
		return -EOPNOTSUPP;
	p = xdr_reserve_space(xdr, COMMON_PREFIX);
	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(hdr->xid);
	*p++ = cpu_to_be32(hdr->vers);
	*p++ = cpu_to_be32(hdr->credit);
	*p = cpu_to_be32(type->htype);
	return type->encode(dialect, xdr, hdr);
}

/**
 * rpcrdma2_header_size - size of a header on the wire
 * @dialect: dialect of the connection
 * @hdr: header to encode, of a kind that the dialect has
 *
 * Context: Any context.
 * Return: octets
 */
size_t rpcrdma2_header_size(const struct rpcrdma2_dialect *dialect,
			    const struct rpcrdma2_header *hdr)
{
	if (hdr->kind == RPCRDMA2_MSG && !rpcrdma2_has_chunks(&hdr->chunks))
		return dialect->plain_size;
	return COMMON_PREFIX +
	       message_type_for(dialect, hdr->kind)->size(dialect, hdr);
}

/*
 * An inline RPC message begins with its XID and its direction. Both must agree with the
 * header (v2-09, 3.2).
 */
static int message_check_inline(struct xdr_stream *xdr,
				struct rpcrdma2_header *hdr)
{
	if (rpcrdma2_position_zero(&hdr->chunks))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (xdr_stream_remaining(xdr) < 2 * XDR_UNIT)
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (!rpcrdma2_rpc_agrees(xdr->p, hdr->xid, hdr->response))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (!rpcrdma2_reads_fit(&hdr->chunks, xdr_stream_remaining(xdr)))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

/*
 * The RPC message of an RDMA2_NOMSG is in a chunk: a Call in the Position-Zero Read chunk,
 * a Reply in the Reply chunk. Nothing follows the header.
 */
static int message_check_external(struct xdr_stream *xdr,
				  struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_chunk *external;

	external = hdr->response ? &hdr->chunks.reply :
				   rpcrdma2_position_zero(&hdr->chunks);
	if (hdr->response && !hdr->chunks.has_reply)
		external = NULL;
	if (!external || external->length < 2 * XDR_UNIT ||
	    xdr_stream_remaining(xdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (!rpcrdma2_reads_fit(&hdr->chunks, external->length))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

/**
 * rpcrdma2_check_rpc - check that direction, chunks and RPC message agree
 * @xdr: stream behind the chunk lists of an RDMA2_MSG or RDMA2_NOMSG
 * @hdr: decoded header; @hdr->response is the direction
 *
 * Context: Any context.
 * Return: 0, or -EBADMSG with the answer in @hdr->error
 */
int rpcrdma2_check_rpc(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	/* A responder offers no memory to read from. */
	if (hdr->response && hdr->chunks.nreads)
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (hdr->kind == RPCRDMA2_NOMSG)
		return message_check_external(xdr, hdr);
	return message_check_inline(xdr, hdr);
}
