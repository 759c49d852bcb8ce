// SPDX-License-Identifier: GPL-2.0
/*
 * The dialect of RFC 8166, version 1: four words of prefix (4.1), chunk lists (4.2, 4.3),
 * and errors (4.5).
 *
 * Version 2 kept the numbers of header types and errors. Version 1 has one answer to a
 * Call that a responder cannot process: ERR_CHUNK, with the number of ERR_BAD_XDR.
 *
 * The header states no direction. The decoder takes it from the inline RPC message, or
 * from the chunk that holds the message. Nor does a Call name a handle to invalidate. The
 * responder may choose any, if both ends agreed when they connected (RFC 8797, 4.1).
 */
#include "wire.h"

#define RDMA_MSG	0
#define RDMA_NOMSG	1
#define RDMA_ERROR	4

#define ERR_VERS	1
#define ERR_CHUNK	2

/*
 * An RDMA_NOMSG with a Position-Zero Read chunk is a Call. A message whose direction is
 * malformed counts as what the receiver expects: rpcrdma2_check_rpc() refuses it later.
 */
static bool v1_is_reply(const struct xdr_stream *xdr,
			const struct rpcrdma2_header *hdr)
{
	u32 direction;

	if (hdr->kind == RPCRDMA2_NOMSG)
		return hdr->response && !rpcrdma2_position_zero(&hdr->chunks);
	if (xdr_stream_remaining(xdr) < 2 * XDR_UNIT)
		return hdr->response;
	direction = be32_to_cpup(xdr->p + 1);
	return direction > 1 ? hdr->response : direction;
}

static int v1_decode_rpc(const struct rpcrdma2_dialect *dialect,
			 struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	int rc;

	hdr->chunks.inv_handle = 0;
	rc = rpcrdma2_decode_chunk_lists(xdr, &hdr->chunks, &hdr->error);
	if (rc)
		return rc;
	hdr->response = v1_is_reply(xdr, hdr);
	if (!hdr->response)
		hdr->chunks.inv_handle = rpcrdma2_any_handle(&hdr->chunks);
	return rpcrdma2_check_rpc(xdr, hdr);
}

static int v1_decode_error(const struct rpcrdma2_dialect *dialect,
			   struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	if (rpcrdma2_decode_error(dialect, xdr, &hdr->error))
		return rpcrdma2_refuse_silently(hdr);
	hdr->error.bare = hdr->error.code == RDMA2_ERR_VERS;
	hdr->response = true;
	return 0;
}

/* Header types 2 and 3, MSGP and DONE, are obsolete (RFC 8166, 4.1). */
static int v1_refuse_type(struct rpcrdma2_header *hdr)
{
	return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
}

static int v1_encode_rpc(const struct rpcrdma2_dialect *dialect,
			 struct xdr_stream *xdr,
			 const struct rpcrdma2_header *hdr)
{
	return rpcrdma2_encode_chunk_lists(xdr, &hdr->chunks);
}

static size_t v1_rpc_size(const struct rpcrdma2_dialect *dialect,
			  const struct rpcrdma2_header *hdr)
{
	return rpcrdma2_chunk_lists_size(&hdr->chunks);
}

static const struct rpcrdma2_type types[] = {
	{
		.htype	= RDMA_MSG,
		.kind	= RPCRDMA2_MSG,
		.decode	= v1_decode_rpc,
		.encode	= v1_encode_rpc,
		.size	= v1_rpc_size,
	}, {
		.htype	= RDMA_NOMSG,
		.kind	= RPCRDMA2_NOMSG,
		.decode	= v1_decode_rpc,
		.encode	= v1_encode_rpc,
		.size	= v1_rpc_size,
	}, {
		.htype	= RDMA_ERROR,
		.kind	= RPCRDMA2_ERROR,
		.decode	= v1_decode_error,
		.encode	= rpcrdma2_encode_error,
		.size	= rpcrdma2_error_size,
	},
};

static const struct rpcrdma2_errdef errors[] = {
	{
		.number		= ERR_VERS,
		.code		= RDMA2_ERR_VERS,
		.name		= "VERS",
		.nr_words	= 2,
		.words		= { RPCRDMA2_ERROR_WORD(vers_low),
				    RPCRDMA2_ERROR_WORD(vers_high) },
	}, {
		.number		= ERR_CHUNK,
		.code		= RDMA2_ERR_BAD_XDR,
		.name		= "CHUNK",
	},
};

const struct rpcrdma2_dialect rpcrdma2_v1 = {
	.name		= "v1",
	.version	= RPCRDMA2_VERSION_1,
	.inline_default	= 1024,
	.plain_size	= 7 * XDR_UNIT,
	.types		= types,
	.nr_types	= ARRAY_SIZE(types),
	.refuse_type	= v1_refuse_type,
	.errors		= errors,
	.nr_errors	= ARRAY_SIZE(errors),
};
