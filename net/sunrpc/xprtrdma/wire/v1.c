// SPDX-License-Identifier: GPL-2.0
/*
 * The dialect of RFC 8166: four words of prefix (4.1), chunk lists (4.2,
 * 4.3), errors (4.5). Types and error codes have the numbers that version 2
 * kept for the same things; ERR_CHUNK, version 1's only answer to a Call that
 * cannot be processed, is the number of ERR_BAD_XDR.
 *
 * The header does not say which way a message goes: the RPC message does, or
 * where it lies. Nor does it name a handle to invalidate: the responder may
 * choose any, if both ends said so when they connected (RFC 8797, 4.1).
 */
#include "wire.h"

#define ERR_CHUNK	RDMA2_ERR_BAD_XDR	/* the highest */

/*
 * A Call that lies elsewhere has a Position-Zero Read chunk. What is malformed
 * is taken for what the receiver expects.
 */
static bool is_reply(const struct xdr_stream *xdr,
		     const struct rpcrdma2_header *hdr)
{
	u32 direction;

	if (hdr->htype == RDMA2_NOMSG)
		return hdr->response && !rpcrdma2_position_zero(&hdr->chunks);
	if (xdr_stream_remaining(xdr) < 2 * XDR_UNIT)
		return hdr->response;
	direction = be32_to_cpup(xdr->p + 1);
	return direction > 1 ? hdr->response : direction;
}

static int decode_rpc(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	int rc;

	hdr->chunks.inv_handle = 0;
	rc = rpcrdma2_decode_chunk_lists(xdr, &hdr->chunks, &hdr->error);
	if (rc)
		return rc;
	hdr->response = is_reply(xdr, hdr);
	if (!hdr->response)
		hdr->chunks.inv_handle = rpcrdma2_any_handle(&hdr->chunks);
	return rpcrdma2_check_rpc(xdr, hdr);
}

static int decode_error(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	if (rpcrdma2_decode_error(xdr, &hdr->error) ||
	    hdr->error.code > ERR_CHUNK)
		return rpcrdma2_refuse_silently(hdr);
	hdr->error.bare = hdr->error.code == RDMA2_ERR_VERS;
	hdr->response = true;
	return 0;
}

static int v1_decode(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	int rc;

	rc = rpcrdma2_decode_prefix(xdr, hdr, RPCRDMA2_VERSION_1);
	if (rc)
		return rc;
	switch (hdr->htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return decode_rpc(xdr, hdr);
	case RDMA2_ERROR:
		return decode_error(xdr, hdr);
	default:
		/* MSGP and DONE are obsolete: RFC 8166, 4.1. */
		return rpcrdma2_refuse(hdr, ERR_CHUNK);
	}
}

static int v1_encode(struct xdr_stream *xdr, const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_error error;
	__be32 *p;

	p = xdr_reserve_space(xdr, RPCRDMA2_COMMON_PREFIX);
	if (!p)
		return -EMSGSIZE;
	rpcrdma2_encode_prefix(p, hdr);
	if (hdr->htype != RDMA2_ERROR)
		return rpcrdma2_encode_chunk_lists(xdr, &hdr->chunks);
	error = rpcrdma2_error_of(&hdr->error, ERR_CHUNK);
	return rpcrdma2_encode_error(xdr, &error);
}

static size_t v1_size(const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_error error;

	if (hdr->htype != RDMA2_ERROR)
		return RPCRDMA2_COMMON_PREFIX +
		       rpcrdma2_chunk_lists_size(&hdr->chunks);
	error = rpcrdma2_error_of(&hdr->error, ERR_CHUNK);
	return RPCRDMA2_COMMON_PREFIX + rpcrdma2_error_size(&error);
}

const struct rpcrdma2_dialect rpcrdma2_v1 = {
	.name		= "v1",
	.version	= RPCRDMA2_VERSION_1,
	.inline_default	= 1024,
	.decode		= v1_decode,
	.encode		= v1_encode,
	.size		= v1_size,
};
