// SPDX-License-Identifier: GPL-2.0
/*
 * The dialect of draft-cel-nfsv4-rpcrdma-version-two-09 ("v2-09").
 *
 * A header has five words of prefix, the last of them flags (3.2). The body of the header
 * type follows (5.3).
 */
#include "wire.h"

/* Header types: v2-09, 5.2, table 2 */
#define RDMA2_MSG	0
#define RDMA2_NOMSG	1
#define RDMA2_ERROR	4
#define RDMA2_CONNPROP	5

/* Header types and properties for experiments: Documentation/protocol/property-change.rst */
#define RDMA2_REQPROP	0xffffff01
#define RDMA2_RESPPROP	0xffffff02
#define RDMA2_UPDPROP	0xffffff03
#define PROPID_CHANGES	0xffffff01
#define PROPID_WISH	0xffffff02

static int v2_09_decode_flags(struct xdr_stream *xdr,
			      struct rpcrdma2_header *hdr)
{
	u32 flags;

	hdr->response = false;
	if (xdr_stream_decode_u32(xdr, &flags))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	hdr->response = flags & RPCRDMA2_F_RESPONSE;
	return 0;
}

static u32 v2_09_flags_of(const struct rpcrdma2_header *hdr)
{
	return hdr->response ? RPCRDMA2_F_RESPONSE : 0;
}

static int v2_09_encode_flags(struct xdr_stream *xdr,
			      const struct rpcrdma2_header *hdr)
{
	if (xdr_stream_encode_u32(xdr, v2_09_flags_of(hdr)) < 0)
		return -EMSGSIZE;
	return 0;
}

static int v2_09_decode_rpc(const struct rpcrdma2_dialect *dialect,
			    struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_chunk_lists *cl = &hdr->chunks;
	int rc;

	rc = v2_09_decode_flags(xdr, hdr);
	if (rc)
		return rc;
	if (xdr_stream_decode_u32(xdr, &cl->inv_handle))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	rc = rpcrdma2_decode_chunk_lists(xdr, cl, &hdr->error);
	if (rc)
		return rc;
	/* A responder offers no memory to invalidate, so only a Call's handle must be its own. */
	if (!hdr->response && cl->inv_handle &&
	    !rpcrdma2_has_handle(cl, cl->inv_handle))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return rpcrdma2_check_rpc(xdr, hdr);
}

/*
 * Find errors without a flags word by their length behind the header type:
 *
 * - One word: the number of an error in another draft of version 2, without arguments. An
 *   error of v2-09 has two words at least.
 * - Three words: an ERR_VERS of version 1 (RFC 8166, 5), or a v2-09 error with one
 *   argument. Both may begin with 1: the number ERR_VERS, or the flag RESPONSE. The next
 *   word decides. It is the lowest version of an ERR_VERS, or the number of the v2-09
 *   error. Errors with one argument begin at READ_CHUNKS, and no version is so high.
 */
static bool v2_09_is_bare_error(const struct xdr_stream *xdr)
{
	const __be32 *p = xdr->p;

	switch (xdr_stream_remaining(xdr)) {
	case XDR_UNIT:
		return be32_to_cpup(p) > RDMA2_ERR_VERS &&
		       be32_to_cpup(p) <= RPCRDMA2_OTHERS_LAST_ERROR;
	case 3 * XDR_UNIT:
		return be32_to_cpup(p) == RDMA2_ERR_VERS &&
		       be32_to_cpup(p + 1) < RDMA2_ERR_READ_CHUNKS;
	default:
		return false;
	}
}

static int v2_09_decode_error(const struct rpcrdma2_dialect *dialect,
			      struct xdr_stream *xdr,
			      struct rpcrdma2_header *hdr)
{
	hdr->error.bare = v2_09_is_bare_error(xdr);
	hdr->response = hdr->error.bare;
	if (!hdr->error.bare && v2_09_decode_flags(xdr, hdr))
		return -EBADMSG;
	if (rpcrdma2_decode_error(dialect, xdr, &hdr->error) || !hdr->response)
		return rpcrdma2_refuse_silently(hdr);
	return 0;
}

static int v2_09_encode_error(const struct rpcrdma2_dialect *dialect,
			      struct xdr_stream *xdr,
			      const struct rpcrdma2_header *hdr)
{
	if (!hdr->error.bare && v2_09_encode_flags(xdr, hdr))
		return -EMSGSIZE;
	return rpcrdma2_encode_error(dialect, xdr, hdr);
}

static size_t v2_09_error_size(const struct rpcrdma2_dialect *dialect,
			       const struct rpcrdma2_header *hdr)
{
	return (hdr->error.bare ? 0 : XDR_UNIT) +
	       rpcrdma2_error_size(dialect, hdr);
}

static int v2_09_decode_brs(u32 word, u32 *value)
{
	if (word > RDMA2_RVREQSUP_GENL)
		return -EBADMSG;
	*value = word;
	return 0;
}

/* v2-09, 4.2. There is no remote_inv: each Call names the handle to invalidate. */
static const struct rpcrdma2_prop props[] = {
	{
		.id		= RDMA2_PROPID_RBSIZ,
		.name		= "rbsiz",
		.initial	= RPCRDMA2_RBSIZ_DEFAULT,
		.field		= offsetof(struct rpcrdma2_props, rbsiz),
		.decode		= rpcrdma2_decode_rbsiz,
		.on_change	= RPCRDMA2_BUFFER_SIZE,
	}, {
		.id		= RDMA2_PROPID_BRS,
		.name		= "brs",
		.initial	= RDMA2_RVREQSUP_INLINE,
		.field		= offsetof(struct rpcrdma2_props, brs),
		.decode		= v2_09_decode_brs,
		.value_name	= rpcrdma2_brs_name,
	}, {
		.id		= PROPID_CHANGES,
		.name		= "changes",
		.field		= offsetof(struct rpcrdma2_props, changes),
		.decode		= rpcrdma2_decode_changes_prop,
		.encode		= rpcrdma2_encode_changes_prop,
	}, {
		.id		= PROPID_WISH,
		.name		= "wished_rbsiz",
		.field		= offsetof(struct rpcrdma2_props, wished_rbsiz),
		.decode		= rpcrdma2_decode_rbsiz,
		.on_change	= RPCRDMA2_WISH,
	},
};

static const struct rpcrdma2_prop_table prop_table = {
	.props			= props,
	.nr			= ARRAY_SIZE(props),
	.empty_is_default	= true,
	.others			= { .remote_inv = true },
};

static int v2_09_decode_connprop(const struct rpcrdma2_dialect *dialect,
				 struct xdr_stream *xdr,
				 struct rpcrdma2_header *hdr)
{
	int rc;

	rc = v2_09_decode_flags(xdr, hdr);
	if (rc)
		return rc;
	if (rpcrdma2_decode_props(xdr, dialect->props, &hdr->props) ||
	    xdr_stream_remaining(xdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

static int v2_09_encode_connprop(const struct rpcrdma2_dialect *dialect,
				 struct xdr_stream *xdr,
				 const struct rpcrdma2_header *hdr)
{
	if (v2_09_encode_flags(xdr, hdr))
		return -EMSGSIZE;
	return rpcrdma2_encode_props(xdr, dialect->props, &hdr->props);
}

static size_t v2_09_connprop_size(const struct rpcrdma2_dialect *dialect,
				  const struct rpcrdma2_header *hdr)
{
	return XDR_UNIT + rpcrdma2_props_size(dialect->props);
}

static int v2_09_encode_rpc(const struct rpcrdma2_dialect *dialect,
			    struct xdr_stream *xdr,
			    const struct rpcrdma2_header *hdr)
{
	__be32 *p = xdr_reserve_space(xdr, 2 * XDR_UNIT);

	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(v2_09_flags_of(hdr));
	*p = cpu_to_be32(hdr->chunks.inv_handle);
	return rpcrdma2_encode_chunk_lists(xdr, &hdr->chunks);
}

static size_t v2_09_rpc_size(const struct rpcrdma2_dialect *dialect,
			     const struct rpcrdma2_header *hdr)
{
	return 2 * XDR_UNIT + rpcrdma2_chunk_lists_size(&hdr->chunks);
}

static int v2_09_decode_change(const struct rpcrdma2_dialect *dialect,
			       struct xdr_stream *xdr,
			       struct rpcrdma2_header *hdr)
{
	int rc;

	rc = v2_09_decode_flags(xdr, hdr);
	if (rc)
		return rc;
	if (rpcrdma2_decode_change(dialect, xdr, hdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

static int v2_09_encode_change(const struct rpcrdma2_dialect *dialect,
			       struct xdr_stream *xdr,
			       const struct rpcrdma2_header *hdr)
{
	if (v2_09_encode_flags(xdr, hdr))
		return -EMSGSIZE;
	return rpcrdma2_encode_change(dialect, xdr, hdr);
}

static size_t v2_09_change_size(const struct rpcrdma2_dialect *dialect,
				const struct rpcrdma2_header *hdr)
{
	return XDR_UNIT + rpcrdma2_change_size(dialect, hdr);
}

/* Ignore the next word, which may be no flags: the sender gets an answer in any case. */
static int v2_09_refuse_type(struct rpcrdma2_header *hdr)
{
	hdr->response = false;
	return rpcrdma2_refuse(hdr, RDMA2_ERR_INVAL_HTYPE);
}

static const struct rpcrdma2_type types[] = {
	{
		.htype	= RDMA2_MSG,
		.kind	= RPCRDMA2_MSG,
		.decode	= v2_09_decode_rpc,
		.encode	= v2_09_encode_rpc,
		.size	= v2_09_rpc_size,
	}, {
		.htype	= RDMA2_NOMSG,
		.kind	= RPCRDMA2_NOMSG,
		.decode	= v2_09_decode_rpc,
		.encode	= v2_09_encode_rpc,
		.size	= v2_09_rpc_size,
	}, {
		.htype	= RDMA2_ERROR,
		.kind	= RPCRDMA2_ERROR,
		.decode	= v2_09_decode_error,
		.encode	= v2_09_encode_error,
		.size	= v2_09_error_size,
	}, {
		.htype	= RDMA2_CONNPROP,
		.kind	= RPCRDMA2_PROPS,
		.decode	= v2_09_decode_connprop,
		.encode	= v2_09_encode_connprop,
		.size	= v2_09_connprop_size,
	}, {
		.htype	= RDMA2_REQPROP,
		.kind	= RPCRDMA2_REQUEST,
		.decode	= v2_09_decode_change,
		.encode	= v2_09_encode_change,
		.size	= v2_09_change_size,
	}, {
		.htype	= RDMA2_RESPPROP,
		.kind	= RPCRDMA2_DISPOSITION,
		.decode	= v2_09_decode_change,
		.encode	= v2_09_encode_change,
		.size	= v2_09_change_size,
	}, {
		.htype	= RDMA2_UPDPROP,
		.kind	= RPCRDMA2_UPDATE,
		.decode	= v2_09_decode_change,
		.encode	= v2_09_encode_change,
		.size	= v2_09_change_size,
	},
};

/* v2-09, 5.3.3. Numbers and codes are the same. */
static const struct rpcrdma2_errdef errors[] = {
	{
		.number		= RDMA2_ERR_VERS,
		.code		= RDMA2_ERR_VERS,
		.name		= "VERS",
		.nr_words	= 2,
		.words		= { RPCRDMA2_ERROR_WORD(vers_low),
				    RPCRDMA2_ERROR_WORD(vers_high) },
	}, {
		.number		= RDMA2_ERR_BAD_XDR,
		.code		= RDMA2_ERR_BAD_XDR,
		.name		= "BAD_XDR",
	}, {
		.number		= RDMA2_ERR_INVAL_HTYPE,
		.code		= RDMA2_ERR_INVAL_HTYPE,
		.name		= "INVAL_HTYPE",
	}, {
		.number		= RDMA2_ERR_READ_CHUNKS,
		.code		= RDMA2_ERR_READ_CHUNKS,
		.name		= "READ_CHUNKS",
		.nr_words	= 1,
		.words		= { RPCRDMA2_ERROR_WORD(max_chunks) },
	}, {
		.number		= RDMA2_ERR_WRITE_CHUNKS,
		.code		= RDMA2_ERR_WRITE_CHUNKS,
		.name		= "WRITE_CHUNKS",
		.nr_words	= 1,
		.words		= { RPCRDMA2_ERROR_WORD(max_chunks) },
	}, {
		.number		= RDMA2_ERR_SEGMENTS,
		.code		= RDMA2_ERR_SEGMENTS,
		.name		= "SEGMENTS",
		.nr_words	= 1,
		.words		= { RPCRDMA2_ERROR_WORD(max_segments) },
	}, {
		.number		= RDMA2_ERR_WRITE_RESOURCE,
		.code		= RDMA2_ERR_WRITE_RESOURCE,
		.name		= "WRITE_RESOURCE",
		.nr_words	= 2,
		.words		= { RPCRDMA2_ERROR_WORD(chunk_index),
				    RPCRDMA2_ERROR_WORD(length_needed) },
	}, {
		.number		= RDMA2_ERR_REPLY_RESOURCE,
		.code		= RDMA2_ERR_REPLY_RESOURCE,
		.name		= "REPLY_RESOURCE",
		.nr_words	= 1,
		.words		= { RPCRDMA2_ERROR_WORD(length_needed) },
	}, {
		.number		= RDMA2_ERR_SYSTEM,
		.code		= RDMA2_ERR_SYSTEM,
		.name		= "SYSTEM",
	},
};

const struct rpcrdma2_dialect rpcrdma2_v2_09 = {
	.name		= "v2-09",
	.version	= RPCRDMA2_VERSION_2,
	.inline_default	= RPCRDMA2_RBSIZ_DEFAULT,
	.plain_size	= 9 * XDR_UNIT,
	.types		= types,
	.nr_types	= ARRAY_SIZE(types),
	.refuse_type	= v2_09_refuse_type,
	.errors		= errors,
	.nr_errors	= ARRAY_SIZE(errors),
	.open_errors	= true,
	.props		= &prop_table,
};
