// SPDX-License-Identifier: GPL-2.0
/*
 * The dialect of v2-09: five words of prefix (3.2), then what the header
 * type says (5.3).
 */
#include "wire.h"

#define PREFIX_SIZE	(RPCRDMA2_COMMON_PREFIX + XDR_UNIT)

/* The highest error code of the other texts of version 2 */
#define OTHERS_LAST_ERROR	100

static int decode_rpc(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_chunk_lists *cl = &hdr->chunks;
	int rc;

	if (xdr_stream_decode_u32(xdr, &cl->inv_handle))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	rc = rpcrdma2_decode_chunk_lists(xdr, cl, &hdr->error);
	if (rc)
		return rc;
	/* Only a requester offers memory to be invalidated. */
	if (!hdr->response && cl->inv_handle &&
	    !rpcrdma2_has_handle(cl, cl->inv_handle))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return rpcrdma2_check_rpc(xdr, hdr);
}

/*
 * ERR_VERS from a version 1 peer has no flags word: the error code, 1, stands
 * where RESPONSE, also 1, would (RFC 8166, 5). Seven words in all. A v2-09
 * error with a single argument is as long; but then the word after the 1 is
 * its error code, where the other has the lowest version its sender speaks.
 * No code below READ_CHUNKS has a single argument, and no version above 3
 * exists.
 *
 * Nor have the errors of the other texts of version 2, of which those are known that
 * have no arguments: five words, of which v2-09's shortest has six.
 */
static bool is_bare_error(const struct xdr_stream *xdr)
{
	const __be32 *p = xdr->p;

	switch (xdr_stream_remaining(xdr)) {
	case XDR_UNIT:
		return be32_to_cpup(p) > RDMA2_ERR_VERS &&
		       be32_to_cpup(p) <= OTHERS_LAST_ERROR;
	case 3 * XDR_UNIT:
		return be32_to_cpup(p) == RDMA2_ERR_VERS &&
		       be32_to_cpup(p + 1) < RDMA2_ERR_READ_CHUNKS;
	default:
		return false;
	}
}

static int decode_error(struct xdr_stream *xdr, struct rpcrdma2_header *hdr,
			bool bare)
{
	hdr->error.bare = bare;
	if (rpcrdma2_decode_error(xdr, &hdr->error) || !hdr->response)
		return rpcrdma2_refuse_silently(hdr);
	return 0;
}

static int decode_brs(u32 word, u32 *value)
{
	if (word > RDMA2_RVREQSUP_GENL)
		return -EBADMSG;
	*value = word;
	return 0;
}

/* v2-09, 4.2. Each Call says by itself what may be invalidated. */
static const struct rpcrdma2_prop props[] = {
	{
		.id		= RDMA2_PROPID_RBSIZ,
		.initial	= RPCRDMA2_RBSIZ_DEFAULT,
		.field		= offsetof(struct rpcrdma2_props, rbsiz),
		.decode		= rpcrdma2_decode_rbsiz,
	}, {
		.id		= RDMA2_PROPID_BRS,
		.initial	= RDMA2_RVREQSUP_INLINE,
		.field		= offsetof(struct rpcrdma2_props, brs),
		.decode		= decode_brs,
	},
};

static const struct rpcrdma2_prop_table prop_table = {
	.props			= props,
	.nr			= ARRAY_SIZE(props),
	.empty_is_default	= true,
	.others			= { .remote_inv = true },
};

static int decode_connprop(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	if (rpcrdma2_decode_props(xdr, &prop_table, &hdr->props) ||
	    xdr_stream_remaining(xdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

static bool type_is_known(u32 htype)
{
	switch (htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
	case RDMA2_ERROR:
	case RDMA2_CONNPROP:
		return true;
	default:
		return false;
	}
}

static int v2_09_decode(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	bool bare;
	__be32 *p;
	int rc;

	rc = rpcrdma2_decode_prefix(xdr, hdr, RPCRDMA2_VERSION_2);
	if (rc)
		return rc;
	if (!type_is_known(hdr->htype)) {
		/* What follows may be no flags: it may always be answered. */
		hdr->response = false;
		return rpcrdma2_refuse(hdr, RDMA2_ERR_INVAL_HTYPE);
	}
	bare = hdr->htype == RDMA2_ERROR && is_bare_error(xdr);
	hdr->response = bare;
	if (!bare) {
		p = xdr_inline_decode(xdr, XDR_UNIT);
		if (!p)
			return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
		hdr->response = be32_to_cpup(p) & RPCRDMA2_F_RESPONSE;
	}

	switch (hdr->htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return decode_rpc(xdr, hdr);
	case RDMA2_ERROR:
		return decode_error(xdr, hdr, bare);
	default:
		return decode_connprop(xdr, hdr);
	}
}

static bool encodes_bare(const struct rpcrdma2_header *hdr)
{
	return hdr->htype == RDMA2_ERROR && hdr->error.bare;
}

static int encode_chunk_lists(struct xdr_stream *xdr,
			      const struct rpcrdma2_chunk_lists *cl)
{
	if (xdr_stream_encode_u32(xdr, cl->inv_handle) < 0)
		return -EMSGSIZE;
	return rpcrdma2_encode_chunk_lists(xdr, cl);
}

static int v2_09_encode(struct xdr_stream *xdr,
			const struct rpcrdma2_header *hdr)
{
	bool bare = encodes_bare(hdr);
	__be32 *p;

	p = xdr_reserve_space(xdr, bare ? RPCRDMA2_COMMON_PREFIX : PREFIX_SIZE);
	if (!p)
		return -EMSGSIZE;
	p = rpcrdma2_encode_prefix(p, hdr);
	if (!bare)
		*p = cpu_to_be32(hdr->response ? RPCRDMA2_F_RESPONSE : 0);

	switch (hdr->htype) {
	case RDMA2_ERROR:
		return rpcrdma2_encode_error(xdr, &hdr->error);
	case RDMA2_CONNPROP:
		return rpcrdma2_encode_props(xdr, &prop_table, &hdr->props);
	default:
		return encode_chunk_lists(xdr, &hdr->chunks);
	}
}

static size_t v2_09_size(const struct rpcrdma2_header *hdr)
{
	switch (hdr->htype) {
	case RDMA2_ERROR:
		return (encodes_bare(hdr) ? RPCRDMA2_COMMON_PREFIX :
					    PREFIX_SIZE) +
		       rpcrdma2_error_size(&hdr->error);
	case RDMA2_CONNPROP:
		return PREFIX_SIZE + rpcrdma2_props_size(&prop_table);
	default:
		return PREFIX_SIZE + XDR_UNIT +
		       rpcrdma2_chunk_lists_size(&hdr->chunks);
	}
}

const struct rpcrdma2_dialect rpcrdma2_v2_09 = {
	.name		= "v2-09",
	.version	= RPCRDMA2_VERSION_2,
	.props		= &prop_table,
	.inline_default	= RPCRDMA2_RBSIZ_DEFAULT,
	.decode		= v2_09_decode,
	.encode		= v2_09_encode,
	.size		= v2_09_size,
};
