// SPDX-License-Identifier: GPL-2.0
/*
 * The dialect of draft-cel-nfsv4-rpcrdma-version-two-01 of 2016 ("v2-01"), with the
 * characteristics of draft-dnoveck-nfsv4-rpcrdma-xcharext-01 ("xcharext").
 *
 * Four words of prefix, as in version 1, and then a direction (v2-01, 4.2). Header type
 * RDMA2_OPTIONAL serves all extensions: a direction, the number of an operation, and
 * opaque arguments. Error INVAL_OPTION has the number of v2-09's INVAL_HTYPE.
 *
 * The draft contradicts itself about errors: 3.2 and 4.2 disagree on whether an error has
 * a direction. This end sends none, and accepts both forms.
 *
 * A Call names no handle to invalidate. The responder may choose any, if the requester
 * allows that in its characteristics (xcharext, 3.2).
 */
#include "wire.h"

/* Header types: v2-01, 4.2 */
#define RDMA2_MSG		0
#define RDMA2_NOMSG		1
#define RDMA2_ERROR		4
#define RDMA2_OPTIONAL		5

#define ROPT_INITXCH		1
#define ROPT_REQXCH		2
#define ROPT_RESPXCH		3
#define ROPT_UPDXCH		4

#define XCHAR_RBSIZ		1
#define XCHAR_RQREMINV		2
#define XCHAR_BRS		3
/* For experiments: Documentation/protocol/property-change.rst */
#define XCHAR_WISH		0xffffff02

#define ERR_VERS		1
#define ERR_BAD_HEADER		2
#define ERR_INVAL_OPTION	3

/* Direction, operation, length of the arguments */
#define OPTIONAL_PREFIX		(3 * XDR_UNIT)

/*
 * The draft's numbers are one more than enum rpcrdma2_rvreqsup. 0 is BKRQSUP_UNKNOWN: the
 * peer states no level, so the initial one holds.
 */
static int v2_01_decode_brs(u32 word, u32 *value)
{
	if (word > 1 + RDMA2_RVREQSUP_GENL)
		return -EBADMSG;
	*value = word ? word - 1 : RDMA2_RVREQSUP_INLINE;
	return 0;
}

static u32 v2_01_encode_brs(u32 value)
{
	return value + 1;
}

static int v2_01_decode_bool(u32 word, u32 *value)
{
	if (word > 1)
		return -EBADMSG;
	*value = word;
	return 0;
}

static const struct rpcrdma2_prop props[] = {
	{
		.id		= XCHAR_RBSIZ,
		.name		= "rbsiz",
		.initial	= RPCRDMA2_RBSIZ_DEFAULT,
		.field		= offsetof(struct rpcrdma2_props, rbsiz),
		.decode		= rpcrdma2_decode_rbsiz,
		.on_change	= RPCRDMA2_BUFFER_SIZE,
	}, {
		.id		= XCHAR_RQREMINV,
		.name		= "remote_inv",
		.initial	= false,
		.field		= offsetof(struct rpcrdma2_props, remote_inv),
		.decode		= v2_01_decode_bool,
	}, {
		.id		= XCHAR_BRS,
		.name		= "brs",
		.initial	= RDMA2_RVREQSUP_INLINE,
		.field		= offsetof(struct rpcrdma2_props, brs),
		.decode		= v2_01_decode_brs,
		.encode		= v2_01_encode_brs,
		.value_name	= rpcrdma2_brs_name,
	}, {
		.id		= XCHAR_WISH,
		.name		= "wished_rbsiz",
		.field		= offsetof(struct rpcrdma2_props, wished_rbsiz),
		.decode		= rpcrdma2_decode_rbsiz,
		.on_change	= RPCRDMA2_WISH,
	},
};

/* A peer with characteristics may know their changes, too (xcharext, 4). */
static const struct rpcrdma2_prop_table prop_table = {
	.props		= props,
	.nr		= ARRAY_SIZE(props),
	.others		= { .changes = true },
};

static int v2_01_decode_direction(struct xdr_stream *xdr,
				  struct rpcrdma2_header *hdr)
{
	u32 direction;

	if (xdr_stream_decode_u32(xdr, &direction) || direction > 1)
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	hdr->response = direction;
	return 0;
}

static int v2_01_decode_rpc(const struct rpcrdma2_dialect *dialect,
			    struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	int rc;

	rc = v2_01_decode_direction(xdr, hdr);
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

/*
 * Tell the two forms of an error apart by their length. Behind the direction come an
 * error's number and no or two words, so this form has an even number of words.
 *
 * Three words of this dialect are an ERR_VERS without a direction. Three words of v2-09
 * are an error with one argument. Both begin with 1. v2-09's number stands where ERR_VERS
 * has its lowest version, and no version is as high as RDMA2_ERR_READ_CHUNKS.
 */
static bool v2_01_has_direction(const struct xdr_stream *xdr)
{
	const __be32 *p = xdr->p;
	size_t left = xdr_stream_remaining(xdr);

	if (left == 3 * XDR_UNIT)
		return be32_to_cpup(p) == 1 &&
		       be32_to_cpup(p + 1) >= RDMA2_ERR_READ_CHUNKS;
	return !(left % (2 * XDR_UNIT));
}

/* Whether the number is above this dialect's three, and one of another draft */
static bool v2_01_is_others_error(const struct xdr_stream *xdr)
{
	u32 number;

	if (xdr_stream_remaining(xdr) < XDR_UNIT)
		return false;
	number = be32_to_cpup(xdr->p);
	return number > ERR_INVAL_OPTION &&
	       number <= RPCRDMA2_OTHERS_LAST_ERROR;
}

static int v2_01_decode_error(const struct rpcrdma2_dialect *dialect,
			      struct xdr_stream *xdr,
			      struct rpcrdma2_header *hdr)
{
	hdr->response = true;
	if (v2_01_has_direction(xdr) && v2_01_decode_direction(xdr, hdr))
		return -EBADMSG;
	hdr->error.bare = v2_01_is_others_error(xdr);
	if (rpcrdma2_decode_error(dialect, xdr, &hdr->error) || !hdr->response)
		return rpcrdma2_refuse_silently(hdr);
	hdr->error.bare |= hdr->error.code == RDMA2_ERR_VERS;
	/*
	 * No version is this high. Without a direction, the same words would be an error of
	 * v2-09: see v2_01_has_direction(). So refuse them with a direction, too.
	 */
	if (hdr->error.code == RDMA2_ERR_VERS &&
	    hdr->error.vers_low >= RDMA2_ERR_READ_CHUNKS)
		return rpcrdma2_refuse_silently(hdr);
	return 0;
}

/* Ignore which properties never change: the peer rejects a REQUEST to change them. */
static bool v2_01_skip_subset(struct xdr_stream *xdr)
{
	size_t left;
	u32 words;

	if (xdr_stream_decode_u32(xdr, &words))
		return false;
	left = xdr_stream_remaining(xdr);
	return words == left / XDR_UNIT && xdr_inline_decode(xdr, left);
}

static int v2_01_decode_init(const struct rpcrdma2_dialect *dialect,
			     struct xdr_stream *xdr,
			     struct rpcrdma2_header *hdr)
{
	if (rpcrdma2_decode_props(xdr, dialect->props, &hdr->props) ||
	    !v2_01_skip_subset(xdr))
		return -EBADMSG;
	return 0;
}

static int v2_01_encode_init(const struct rpcrdma2_dialect *dialect,
			     struct xdr_stream *xdr,
			     const struct rpcrdma2_header *hdr)
{
	if (rpcrdma2_encode_props(xdr, dialect->props, &hdr->props))
		return -EMSGSIZE;
	/* The subset of properties that never change: this end promises none. */
	return xdr_stream_encode_u32(xdr, 0) < 0 ? -EMSGSIZE : 0;
}

static size_t v2_01_init_size(const struct rpcrdma2_dialect *dialect,
			      const struct rpcrdma2_header *hdr)
{
	return rpcrdma2_props_size(dialect->props) + XDR_UNIT;
}

/* The operations of an RDMA2_OPTIONAL; htype is an operation's number. */
static const struct rpcrdma2_type operations[] = {
	{
		.htype	= ROPT_INITXCH,
		.kind	= RPCRDMA2_PROPS,
		.decode	= v2_01_decode_init,
		.encode	= v2_01_encode_init,
		.size	= v2_01_init_size,
	}, {
		.htype	= ROPT_REQXCH,
		.kind	= RPCRDMA2_REQUEST,
		.decode	= rpcrdma2_decode_change,
		.encode	= rpcrdma2_encode_change,
		.size	= rpcrdma2_change_size,
	}, {
		.htype	= ROPT_RESPXCH,
		.kind	= RPCRDMA2_DISPOSITION,
		.decode	= rpcrdma2_decode_change,
		.encode	= rpcrdma2_encode_change,
		.size	= rpcrdma2_change_size,
	}, {
		.htype	= ROPT_UPDXCH,
		.kind	= RPCRDMA2_UPDATE,
		.decode	= rpcrdma2_decode_change,
		.encode	= rpcrdma2_encode_change,
		.size	= rpcrdma2_change_size,
	},
};

/* The arguments fill the rest of the message, and are XDR like the header. */
static int v2_01_decode_optional(const struct rpcrdma2_dialect *dialect,
				 struct xdr_stream *xdr,
				 struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_type *operation;
	u32 number, len;
	int rc;

	rc = v2_01_decode_direction(xdr, hdr);
	if (rc)
		return rc;
	if (xdr_stream_decode_u32(xdr, &number) ||
	    xdr_stream_decode_u32(xdr, &len) ||
	    len != xdr_stream_remaining(xdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	operation = rpcrdma2_type_of(operations, ARRAY_SIZE(operations), number);
	if (!operation) {
		/* The sender gets this answer whatever the direction. */
		hdr->kind = RPCRDMA2_UNKNOWN;
		hdr->response = false;
		return rpcrdma2_refuse(hdr, RDMA2_ERR_INVAL_HTYPE);
	}
	hdr->kind = operation->kind;
	if (operation->decode(dialect, xdr, hdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

static const struct rpcrdma2_type *
v2_01_operation_for(const struct rpcrdma2_header *hdr)
{
	return rpcrdma2_type_for(operations, ARRAY_SIZE(operations), hdr->kind);
}

static int v2_01_encode_optional(const struct rpcrdma2_dialect *dialect,
				 struct xdr_stream *xdr,
				 const struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_type *operation = v2_01_operation_for(hdr);
	__be32 *p;

	p = xdr_reserve_space(xdr, OPTIONAL_PREFIX);
	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(hdr->response);
	*p++ = cpu_to_be32(operation->htype);
	*p = cpu_to_be32(operation->size(dialect, hdr));
	return operation->encode(dialect, xdr, hdr);
}

static size_t v2_01_optional_size(const struct rpcrdma2_dialect *dialect,
				  const struct rpcrdma2_header *hdr)
{
	return OPTIONAL_PREFIX + v2_01_operation_for(hdr)->size(dialect, hdr);
}

static int v2_01_encode_rpc(const struct rpcrdma2_dialect *dialect,
			    struct xdr_stream *xdr,
			    const struct rpcrdma2_header *hdr)
{
	if (xdr_stream_encode_u32(xdr, hdr->response) < 0)
		return -EMSGSIZE;
	return rpcrdma2_encode_chunk_lists(xdr, &hdr->chunks);
}

static size_t v2_01_rpc_size(const struct rpcrdma2_dialect *dialect,
			     const struct rpcrdma2_header *hdr)
{
	return XDR_UNIT + rpcrdma2_chunk_lists_size(&hdr->chunks);
}

static int v2_01_refuse_type(struct rpcrdma2_header *hdr)
{
	hdr->response = false;
	return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
}

static const struct rpcrdma2_type types[] = {
	{
		.htype	= RDMA2_MSG,
		.kind	= RPCRDMA2_MSG,
		.decode	= v2_01_decode_rpc,
		.encode	= v2_01_encode_rpc,
		.size	= v2_01_rpc_size,
	}, {
		.htype	= RDMA2_NOMSG,
		.kind	= RPCRDMA2_NOMSG,
		.decode	= v2_01_decode_rpc,
		.encode	= v2_01_encode_rpc,
		.size	= v2_01_rpc_size,
	}, {
		.htype	= RDMA2_ERROR,
		.kind	= RPCRDMA2_ERROR,
		.decode	= v2_01_decode_error,
		.encode	= rpcrdma2_encode_error,
		.size	= rpcrdma2_error_size,
	}, {
		.htype	= RDMA2_OPTIONAL,
		.kind	= RPCRDMA2_PROPS,
		.decode	= v2_01_decode_optional,
		.encode	= v2_01_encode_optional,
		.size	= v2_01_optional_size,
	}, {
		.htype	= RDMA2_OPTIONAL,
		.kind	= RPCRDMA2_REQUEST,
		.decode	= v2_01_decode_optional,
		.encode	= v2_01_encode_optional,
		.size	= v2_01_optional_size,
	}, {
		.htype	= RDMA2_OPTIONAL,
		.kind	= RPCRDMA2_DISPOSITION,
		.decode	= v2_01_decode_optional,
		.encode	= v2_01_encode_optional,
		.size	= v2_01_optional_size,
	}, {
		.htype	= RDMA2_OPTIONAL,
		.kind	= RPCRDMA2_UPDATE,
		.decode	= v2_01_decode_optional,
		.encode	= v2_01_encode_optional,
		.size	= v2_01_optional_size,
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
		.number		= ERR_BAD_HEADER,
		.code		= RDMA2_ERR_BAD_XDR,
		.name		= "BAD_HEADER",
	}, {
		.number		= ERR_INVAL_OPTION,
		.code		= RDMA2_ERR_INVAL_HTYPE,
		.name		= "INVAL_OPTION",
	},
};

const struct rpcrdma2_dialect rpcrdma2_v2_01 = {
	.name		= "v2-01",
	.version	= RPCRDMA2_VERSION_2,
	.inline_default	= RPCRDMA2_RBSIZ_DEFAULT,
	.plain_size	= 8 * XDR_UNIT,
	.types		= types,
	.nr_types	= ARRAY_SIZE(types),
	.refuse_type	= v2_01_refuse_type,
	.errors		= errors,
	.nr_errors	= ARRAY_SIZE(errors),
	.props		= &prop_table,
	.props_optional	= true,
};
