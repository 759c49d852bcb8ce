// SPDX-License-Identifier: GPL-2.0
/*
 * The dialect of draft-cel-nfsv4-rpcrdma-version-two-01, of 2016 ("v2-01"), with the
 * characteristics of draft-dnoveck-nfsv4-rpcrdma-xcharext-01 ("xcharext").
 *
 * Four words of prefix, as in version 1. The direction is the first word of the chunk
 * lists (v2-01, 4.2), and of an RDMA2_OPTIONAL, the header type for all that extensions
 * add: a number says which operation it is, and its arguments are opaque. INIT_XCHAR is
 * the only one that is known here. It stands for a CONNPROP, whose type has the same
 * number; INVAL_OPTION stands for an unknown header type, whose error has.
 *
 * Text and XDR disagree on whether an error has a direction, too (3.2 and 4.2). None
 * is sent; what is received may have one.
 *
 * A Call names no handle to invalidate. The responder may choose any, if the
 * requester has said so in its characteristics (xcharext, 3.2).
 */
#include "wire.h"

#define RDMA2_OPTIONAL		RDMA2_CONNPROP
#define ROPT_INITXCH		1

#define XCHAR_RBSIZ		1
#define XCHAR_RQREMINV		2
#define XCHAR_BRS		3

#define ERR_INVAL_OPTION	RDMA2_ERR_INVAL_HTYPE	/* the highest */

/* A direction, an operation, and the length of its arguments */
#define OPTIONAL_PREFIX		(3 * XDR_UNIT)

/* BKRQSUP_NONE, SZLIM, GENL; 0 is UNKNOWN, for the ULP to find out. */
static int decode_brs(u32 word, u32 *value)
{
	if (word > 1 + RDMA2_RVREQSUP_GENL)
		return -EBADMSG;
	*value = word ? word - 1 : RDMA2_RVREQSUP_INLINE;
	return 0;
}

static u32 encode_brs(u32 value)
{
	return value + 1;
}

static int decode_bool(u32 word, u32 *value)
{
	if (word > 1)
		return -EBADMSG;
	*value = word;
	return 0;
}

static const struct rpcrdma2_prop props[] = {
	{
		.id		= XCHAR_RBSIZ,
		.initial	= RPCRDMA2_RBSIZ_DEFAULT,
		.field		= offsetof(struct rpcrdma2_props, rbsiz),
		.decode		= rpcrdma2_decode_rbsiz,
	}, {
		.id		= XCHAR_RQREMINV,
		.initial	= false,
		.field		= offsetof(struct rpcrdma2_props, remote_inv),
		.decode		= decode_bool,
	}, {
		.id		= XCHAR_BRS,
		.initial	= RDMA2_RVREQSUP_INLINE,
		.field		= offsetof(struct rpcrdma2_props, brs),
		.decode		= decode_brs,
		.encode		= encode_brs,
	},
};

static const struct rpcrdma2_prop_table prop_table = {
	.props		= props,
	.nr		= ARRAY_SIZE(props),
};

static int decode_direction(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	u32 direction;

	if (xdr_stream_decode_u32(xdr, &direction) || direction > 1)
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	hdr->response = direction;
	return 0;
}

static int decode_rpc(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	int rc;

	rc = decode_direction(xdr, hdr);
	if (rc)
		return rc;
	hdr->chunks.inv_handle = 0;
	rc = rpcrdma2_decode_chunk_lists(xdr, &hdr->chunks, &hdr->error);
	if (rc)
		return rc;
	if (!hdr->response)
		hdr->chunks.inv_handle = rpcrdma2_any_handle(&hdr->chunks);
	return rpcrdma2_check_rpc(xdr, hdr);
}

/* With a direction, an error has an even number of words. */
static int decode_error(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	hdr->response = true;
	if (!(xdr_stream_remaining(xdr) % (2 * XDR_UNIT)) &&
	    decode_direction(xdr, hdr))
		return -EBADMSG;
	if (rpcrdma2_decode_error(xdr, &hdr->error) || !hdr->response ||
	    hdr->error.code > ERR_INVAL_OPTION)
		return rpcrdma2_refuse_silently(hdr);
	hdr->error.bare = hdr->error.code == RDMA2_ERR_VERS;
	return 0;
}

/* What won't change matters to nobody who asks for no change. */
static bool skip_subset(struct xdr_stream *xdr)
{
	size_t left;
	u32 words;

	if (xdr_stream_decode_u32(xdr, &words))
		return false;
	left = xdr_stream_remaining(xdr);
	return words == left / XDR_UNIT && xdr_inline_decode(xdr, left);
}

/* The arguments are all that follows, and XDR like the rest. */
static int decode_optional(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	u32 operation, len;
	int rc;

	rc = decode_direction(xdr, hdr);
	if (rc)
		return rc;
	if (xdr_stream_decode_u32(xdr, &operation) ||
	    xdr_stream_decode_u32(xdr, &len) ||
	    len != xdr_stream_remaining(xdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	if (operation != ROPT_INITXCH) {
		/* It may always be answered. */
		hdr->response = false;
		return rpcrdma2_refuse(hdr, ERR_INVAL_OPTION);
	}
	if (rpcrdma2_decode_props(xdr, &prop_table, &hdr->props) ||
	    !skip_subset(xdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

static int v2_01_decode(struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	int rc;

	rc = rpcrdma2_decode_prefix(xdr, hdr, RPCRDMA2_VERSION_2);
	if (rc)
		return rc;
	switch (hdr->htype) {
	case RDMA2_MSG:
	case RDMA2_NOMSG:
		return decode_rpc(xdr, hdr);
	case RDMA2_ERROR:
		return decode_error(xdr, hdr);
	case RDMA2_OPTIONAL:
		return decode_optional(xdr, hdr);
	default:
		hdr->response = false;
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	}
}

static size_t arguments_size(void)
{
	return rpcrdma2_props_size(&prop_table) + XDR_UNIT;
}

static int encode_optional(struct xdr_stream *xdr,
			   const struct rpcrdma2_header *hdr)
{
	__be32 *p;

	p = xdr_reserve_space(xdr, OPTIONAL_PREFIX);
	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(hdr->response);
	*p++ = cpu_to_be32(ROPT_INITXCH);
	*p = cpu_to_be32(arguments_size());
	if (rpcrdma2_encode_props(xdr, &prop_table, &hdr->props))
		return -EMSGSIZE;
	/* What won't change: nothing that is worth to be told. */
	return xdr_stream_encode_u32(xdr, 0) < 0 ? -EMSGSIZE : 0;
}

static int encode_rpc(struct xdr_stream *xdr, const struct rpcrdma2_header *hdr)
{
	if (xdr_stream_encode_u32(xdr, hdr->response) < 0)
		return -EMSGSIZE;
	return rpcrdma2_encode_chunk_lists(xdr, &hdr->chunks);
}

static int v2_01_encode(struct xdr_stream *xdr,
			const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_error error;
	__be32 *p;

	p = xdr_reserve_space(xdr, RPCRDMA2_COMMON_PREFIX);
	if (!p)
		return -EMSGSIZE;
	rpcrdma2_encode_prefix(p, hdr);
	switch (hdr->htype) {
	case RDMA2_ERROR:
		error = rpcrdma2_error_of(&hdr->error, ERR_INVAL_OPTION);
		return rpcrdma2_encode_error(xdr, &error);
	case RDMA2_CONNPROP:
		return encode_optional(xdr, hdr);
	default:
		return encode_rpc(xdr, hdr);
	}
}

static size_t v2_01_size(const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_error error;

	switch (hdr->htype) {
	case RDMA2_ERROR:
		error = rpcrdma2_error_of(&hdr->error, ERR_INVAL_OPTION);
		return RPCRDMA2_COMMON_PREFIX + rpcrdma2_error_size(&error);
	case RDMA2_CONNPROP:
		return RPCRDMA2_COMMON_PREFIX + OPTIONAL_PREFIX +
		       arguments_size();
	default:
		return RPCRDMA2_COMMON_PREFIX + XDR_UNIT +
		       rpcrdma2_chunk_lists_size(&hdr->chunks);
	}
}

const struct rpcrdma2_dialect rpcrdma2_v2_01 = {
	.name		= "v2-01",
	.version	= RPCRDMA2_VERSION_2,
	.inline_default	= RPCRDMA2_RBSIZ_DEFAULT,
	.props		= &prop_table,
	.props_optional	= true,
	.decode		= v2_01_decode,
	.encode		= v2_01_encode,
	.size		= v2_01_size,
};
