// SPDX-License-Identifier: GPL-2.0
/*
 * The dialect of v2-09: five words of prefix (3.2), then what the header
 * type says (5.3).
 */
#include "wire.h"

#define PREFIX_SIZE	(5 * XDR_UNIT)
#define BARE_SIZE	(4 * XDR_UNIT)

static int refuse_silently(struct rpcrdma2_header *hdr)
{
	hdr->error.code = RDMA2_ERR_NONE;
	return -EBADMSG;
}

/*
 * An answer to an error would never end. The header type is the same word in
 * every version, so this holds for those of a foreign one, too.
 */
static int refuse(struct rpcrdma2_header *hdr, u32 code)
{
	if (hdr->htype == RDMA2_ERROR)
		return refuse_silently(hdr);
	hdr->error.code = code;
	return -EBADMSG;
}

static int refuse_version(struct rpcrdma2_header *hdr)
{
	hdr->error.vers_low = RPCRDMA2_VERSION;
	hdr->error.vers_high = RPCRDMA2_VERSION;
	hdr->error.bare = true;
	return refuse(hdr, RDMA2_ERR_VERS);
}

/*
 * The inline RPC message repeats the XID and has a direction, and both must
 * agree with the prefix (v2-09, 3.2).
 */
static int check_rpc_message(struct xdr_stream *xdr,
			     struct rpcrdma2_header *hdr)
{
	__be32 *p = xdr->p;

	if (xdr_stream_remaining(xdr) < 2 * XDR_UNIT)
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (be32_to_cpup(p) != hdr->xid ||
	    be32_to_cpup(p + 1) != hdr->response)
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (!rpcrdma2_reads_fit(&hdr->chunks, xdr_stream_remaining(xdr)))
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
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
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (!rpcrdma2_reads_fit(&hdr->chunks, external->length))
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

static bool handle_is_listed(const struct rpcrdma2_chunk_lists *cl, u32 handle)
{
	unsigned int i;

	for (i = 0; i < cl->nsegs; i++)
		if (cl->segments[i].handle == handle)
			return true;
	return false;
}

static int decode_rpc(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	int rc;

	rc = rpcrdma2_decode_chunk_lists(xdr, &hdr->chunks, &hdr->error);
	if (rc)
		return rc;
	/* Only a requester offers memory, to be read or invalidated. */
	if (hdr->response && hdr->chunks.nreads)
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (!hdr->response && hdr->chunks.inv_handle &&
	    !handle_is_listed(&hdr->chunks, hdr->chunks.inv_handle))
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (hdr->htype == RDMA2_NOMSG)
		return check_external_message(xdr, hdr);
	if (rpcrdma2_position_zero(&hdr->chunks))
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
	return check_rpc_message(xdr, hdr);
}

/*
 * ERR_VERS from a version 1 peer has no flags word: the error code, 1, stands
 * where RESPONSE, also 1, would (RFC 8166, 5). Seven words in all. A v2-09
 * error with a single argument is as long; but then the word after the 1 is
 * its error code, where the other has the lowest version its sender speaks.
 * No code below READ_CHUNKS has a single argument, and no version above 3
 * exists.
 */
static bool is_bare_error(const struct xdr_stream *xdr)
{
	const __be32 *p = xdr->p;

	return xdr_stream_remaining(xdr) == 3 * XDR_UNIT &&
	       be32_to_cpup(p) == RDMA2_ERR_VERS &&
	       be32_to_cpup(p + 1) < RDMA2_ERR_READ_CHUNKS;
}

static int decode_error(struct xdr_stream *xdr, struct rpcrdma2_header *hdr,
			bool bare)
{
	hdr->error.bare = bare;
	if (rpcrdma2_decode_error(xdr, &hdr->error) ||
	    (bare && hdr->error.code != RDMA2_ERR_VERS) ||
	    !hdr->response)
		return refuse_silently(hdr);
	return 0;
}

static int decode_connprop(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	if (rpcrdma2_decode_props(xdr, &hdr->props))
		return refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

static int v2_09_decode(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	bool bare;
	__be32 *p;

	memset(hdr, 0, offsetof(struct rpcrdma2_header, chunks));
	/* The stream itself counts a cut-off word as a whole one. */
	if (xdr->buf->len % XDR_UNIT)
		return refuse_silently(hdr);
	p = xdr_inline_decode(xdr, BARE_SIZE);
	if (!p)
		return refuse_silently(hdr);
	hdr->xid = be32_to_cpup(p++);
	hdr->vers = be32_to_cpup(p++);
	hdr->credit = be32_to_cpup(p++);
	hdr->htype = be32_to_cpup(p);
	if (hdr->vers != RPCRDMA2_VERSION)
		return refuse_version(hdr);

	bare = hdr->htype == RDMA2_ERROR && is_bare_error(xdr);
	hdr->response = bare;
	if (!bare) {
		p = xdr_inline_decode(xdr, XDR_UNIT);
		if (!p)
			return refuse(hdr, RDMA2_ERR_BAD_XDR);
		hdr->response = be32_to_cpup(p) & RPCRDMA2_F_RESPONSE;
	}

	switch (hdr->htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return decode_rpc(xdr, hdr);
	case RDMA2_ERROR:
		return decode_error(xdr, hdr, bare);
	case RDMA2_CONNPROP:
		return decode_connprop(xdr, hdr);
	default:
		return refuse(hdr, RDMA2_ERR_INVAL_HTYPE);
	}
}

static bool encodes_bare(const struct rpcrdma2_header *hdr)
{
	return hdr->htype == RDMA2_ERROR && hdr->error.bare;
}

static int v2_09_encode(struct xdr_stream *xdr,
			const struct rpcrdma2_header *hdr)
{
	bool bare = encodes_bare(hdr);
	__be32 *p;

	p = xdr_reserve_space(xdr, bare ? BARE_SIZE : PREFIX_SIZE);
	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(hdr->xid);
	*p++ = cpu_to_be32(hdr->vers);
	*p++ = cpu_to_be32(hdr->credit);
	*p++ = cpu_to_be32(hdr->htype);
	if (!bare)
		*p = cpu_to_be32(hdr->response ? RPCRDMA2_F_RESPONSE : 0);

	switch (hdr->htype) {
	case RDMA2_ERROR:
		return rpcrdma2_encode_error(xdr, &hdr->error);
	case RDMA2_CONNPROP:
		return rpcrdma2_encode_props(xdr, &hdr->props);
	default:
		return rpcrdma2_encode_chunk_lists(xdr, &hdr->chunks);
	}
}

static size_t v2_09_size(const struct rpcrdma2_header *hdr)
{
	switch (hdr->htype) {
	case RDMA2_ERROR:
		return (encodes_bare(hdr) ? BARE_SIZE : PREFIX_SIZE) +
		       rpcrdma2_error_size(&hdr->error);
	case RDMA2_CONNPROP:
		return PREFIX_SIZE + 7 * XDR_UNIT;
	default:
		return PREFIX_SIZE + rpcrdma2_chunk_lists_size(&hdr->chunks);
	}
}

const struct rpcrdma2_dialect rpcrdma2_v2_09 = {
	.name		= "v2-09",
	.version	= RPCRDMA2_VERSION,
	.inline_default	= RPCRDMA2_RBSIZ_DEFAULT,
	.decode		= v2_09_decode,
	.encode		= v2_09_encode,
	.size		= v2_09_size,
};
