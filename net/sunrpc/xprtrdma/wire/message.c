// SPDX-License-Identifier: GPL-2.0
/*
 * What the headers of all versions have in common: the first four words
 * (RFC 8166, 4.1; v2-09, 3.2), and what their chunks and the RPC message
 * must agree on.
 */
#include "wire.h"

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
 * An answer to an error would never end. The header type is the same word in
 * every version, so this holds for those of a foreign one, too.
 *
 * Return: -EBADMSG
 */
int rpcrdma2_refuse(struct rpcrdma2_header *hdr, u32 code)
{
	if (hdr->htype == RDMA2_ERROR)
		return rpcrdma2_refuse_silently(hdr);
	hdr->error.code = code;
	return -EBADMSG;
}

static int refuse_version(struct rpcrdma2_header *hdr, u32 version)
{
	hdr->error.vers_low = version;
	hdr->error.vers_high = version;
	hdr->error.bare = true;
	return rpcrdma2_refuse(hdr, RDMA2_ERR_VERS);
}

/**
 * rpcrdma2_decode_prefix - decode XID, version, credits and header type
 * @xdr: stream at the start of a message
 * @hdr: where to; everything before its chunks is overwritten, but @response
 * @version: the version that is spoken here
 *
 * Return: 0, or -EBADMSG and the answer in @hdr->error
 */
int rpcrdma2_decode_prefix(struct xdr_stream *xdr, struct rpcrdma2_header *hdr,
			   u32 version)
{
	bool response = hdr->response;
	__be32 *p;

	memset(hdr, 0, offsetof(struct rpcrdma2_header, chunks));
	hdr->response = response;
	/* The stream itself counts a cut-off word as a whole one. */
	if (xdr->buf->len % XDR_UNIT)
		return rpcrdma2_refuse_silently(hdr);
	p = xdr_inline_decode(xdr, RPCRDMA2_COMMON_PREFIX);
	if (!p)
		return rpcrdma2_refuse_silently(hdr);
	hdr->xid = be32_to_cpup(p++);
	hdr->vers = be32_to_cpup(p++);
	hdr->credit = be32_to_cpup(p++);
	hdr->htype = be32_to_cpup(p);
	return hdr->vers == version ? 0 : refuse_version(hdr, version);
}

/**
 * rpcrdma2_encode_prefix - encode XID, version, credits and header type
 * @p: room for %RPCRDMA2_COMMON_PREFIX octets
 * @hdr: what to write
 *
 * Return: what comes next
 */
__be32 *rpcrdma2_encode_prefix(__be32 *p, const struct rpcrdma2_header *hdr)
{
	*p++ = cpu_to_be32(hdr->xid);
	*p++ = cpu_to_be32(hdr->vers);
	*p++ = cpu_to_be32(hdr->credit);
	*p++ = cpu_to_be32(hdr->htype);
	return p;
}

/*
 * The inline RPC message repeats the XID and has a direction, and both must
 * agree with the header (v2-09, 3.2).
 */
static int check_inline_message(struct xdr_stream *xdr,
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
static int check_external_message(struct xdr_stream *xdr,
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
	if (hdr->htype == RDMA2_NOMSG)
		return check_external_message(xdr, hdr);
	return check_inline_message(xdr, hdr);
}
