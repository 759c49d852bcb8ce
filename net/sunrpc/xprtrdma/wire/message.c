// SPDX-License-Identifier: GPL-2.0
/*
 * What the headers of all versions have in common: the first four words
 * (RFC 8166, 4.1; v2-09, 3.2), and what their chunks and the RPC message
 * must agree on.
 */
#include "wire.h"

/* RDMA_ERROR in RFC 8166, and RDMA2_ERROR: the same in every version */
#define HTYPE_ERROR	4

#define COMMON_PREFIX	(4 * XDR_UNIT)

/**
 * rpcrdma2_refuse_silently - refuse a message that cannot be answered
 * @hdr: its header
 *
 * Return: -EBADMSG
 */
int rpcrdma2_refuse_silently(struct rpcrdma2_header *hdr)
{
	hdr->error.code = RDMA2_ERR_NONE;
	return -EBADMSG;
}

/**
 * rpcrdma2_refuse - refuse a message
 * @hdr: its header
 * @code: the answer that is due
 *
 * An answer to an error would never end, be it of a foreign version.
 *
 * Return: -EBADMSG
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
 * rpcrdma2_type_of - which header type is it?
 * @types: where to look
 * @nr: how many these are
 * @htype: its number on the wire
 *
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
 * rpcrdma2_type_for - how is a kind of message written?
 * @types: where to look
 * @nr: how many these are
 * @kind: enum rpcrdma2_kind
 *
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
 * rpcrdma2_decode - decode the header at the start of a received message
 * @dialect: what is spoken here
 * @xdr: the message: one linear buffer that holds exactly the received octets
 * @hdr: where to. On entry, @hdr->response says what to take the message for if it
 *	doesn't say itself
 *
 * Return: 0, and @xdr is at the RPC message; or -EBADMSG, and @hdr->error is the answer
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
	/* The stream itself counts a cut-off word as a whole one. */
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
 * rpcrdma2_encode - encode a header at the start of a message to send
 * @dialect: what is spoken here
 * @xdr: where to
 * @hdr: what
 *
 * Return: 0; -EMSGSIZE: @xdr has too little room; -EOPNOTSUPP: the dialect has no such
 * kind of message
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
 * rpcrdma2_header_size - size of an encoded header
 * @dialect: what is spoken here
 * @hdr: what rpcrdma2_encode() would be given, of a kind that the dialect has
 *
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
 * The inline RPC message repeats the XID and has a direction, and both must
 * agree with the header (v2-09, 3.2).
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
 * A Call in an RDMA2_NOMSG lies in a Position-Zero Read chunk, a Reply in
 * the Reply chunk, and nothing of it follows the header.
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
 * rpcrdma2_check_rpc - do direction, chunks and RPC message agree?
 * @xdr: stream behind the chunk lists of an RDMA2_MSG or RDMA2_NOMSG
 * @hdr: its header, decoded; @hdr->response says which way it goes
 *
 * Return: 0, or -EBADMSG and the answer in @hdr->error
 */
int rpcrdma2_check_rpc(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	/* Only a requester offers memory to be read. */
	if (hdr->response && hdr->chunks.nreads)
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (hdr->kind == RPCRDMA2_NOMSG)
		return message_check_external(xdr, hdr);
	return message_check_inline(xdr, hdr);
}
