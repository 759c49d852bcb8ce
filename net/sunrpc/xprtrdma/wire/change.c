// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of messages about a change of properties: REQUEST, DISPOSITION and UPDATE.
 *
 * xcharext, 4.2 to 4.4, defines them as REQ_XCHAR, RESP_XCHAR and UPD_XCHAR. v2-09 has no
 * such messages. For v2-09 they are an extension of this project with the same bodies:
 * Documentation/protocol/property-change.rst.
 *
 * A REQUEST is a property set. Its DISPOSITION consists of three subsets: done, rejected
 * and pending. A bit of a subset stands for a place in the REQUEST's set. The subsets do
 * not overlap. An UPDATE has one property.
 */
#include "wire.h"

/* The value of the property by which an end announces the extension: "r2p1" */
#define EXTENSION_WORD	0x72327031

/*
 * A REQUEST has 32 places at most, so the first word of a subset is enough. Missing words
 * are zero, and further words are ignored.
 */
static int change_decode_subset(struct xdr_stream *xdr, u32 *subset)
{
	u32 words, i, word;

	*subset = 0;
	if (xdr_stream_decode_u32(xdr, &words))
		return -EBADMSG;
	for (i = 0; i < words; i++) {
		if (xdr_stream_decode_u32(xdr, &word))
			return -EBADMSG;
		if (!i)
			*subset = word;
	}
	return 0;
}

static int change_decode_request(const struct rpcrdma2_prop_table *table,
				 struct xdr_stream *xdr, struct rpcrdma2_change *change)
{
	u32 i, which;

	if (xdr_stream_decode_u32(xdr, &change->count) ||
	    change->count > RPCRDMA2_MAX_WANTED)
		return -EBADMSG;
	for (i = 0; i < change->count; i++) {
		if (rpcrdma2_decode_prop(xdr, table, &change->props, &which))
			return -EBADMSG;
		if (!which)
			continue;
		change->which |= which;
		change->at[__builtin_ctz(which)] |= 1U << i;
	}
	return 0;
}

static int change_decode_disposition(struct xdr_stream *xdr,
				     struct rpcrdma2_change *change)
{
	if (change_decode_subset(xdr, &change->done) ||
	    change_decode_subset(xdr, &change->rejected) ||
	    change_decode_subset(xdr, &change->pending))
		return -EBADMSG;
	if (change->done & change->rejected ||
	    (change->done | change->rejected) & change->pending)
		return -EBADMSG;
	return 0;
}

static int change_decode_update(const struct rpcrdma2_prop_table *table,
				struct xdr_stream *xdr, struct rpcrdma2_change *change)
{
	u32 settled;

	if (rpcrdma2_decode_prop(xdr, table, &change->props, &change->which) ||
	    xdr_stream_decode_u32(xdr, &settled) || settled > 1)
		return -EBADMSG;
	change->settled = settled;
	return 0;
}

/**
 * rpcrdma2_decode_change - decode the body of a message about a change
 * @dialect: dialect of the connection
 * @xdr: stream at the body, which must end with the message
 * @hdr: header; its kind says which message this is. The change is filled in
 *
 * Context: Any context.
 * Return: 0; -EBADMSG if the body is not well-formed, a known property has a bad value,
 *	or a REQUEST has more than %RPCRDMA2_MAX_WANTED properties
 */
int rpcrdma2_decode_change(const struct rpcrdma2_dialect *dialect,
			   struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_prop_table *table = dialect->props;
	struct rpcrdma2_change *change = &hdr->change;
	int rc;

	memset(change, 0, sizeof(*change));
	rpcrdma2_props_init(table, &change->props);
	switch (hdr->kind) {
	case RPCRDMA2_REQUEST:
		rc = change_decode_request(table, xdr, change);
		break;
	case RPCRDMA2_DISPOSITION:
		rc = change_decode_disposition(xdr, change);
		break;
	default:
		rc = change_decode_update(table, xdr, change);
		break;
	}
	return rc ?: xdr_stream_remaining(xdr) ? -EBADMSG : 0;
}

static int change_encode_words(struct xdr_stream *xdr, u32 a, u32 b)
{
	if (xdr_stream_encode_u32(xdr, a) < 0 || xdr_stream_encode_u32(xdr, b) < 0)
		return -EMSGSIZE;
	return 0;
}

/**
 * rpcrdma2_encode_change - encode the body of a message about a change
 * @dialect: dialect of the connection
 * @xdr: stream to write to
 * @hdr: header with the change; its kind says which message this is. An UPDATE has
 *	exactly one property
 *
 * Context: Any context.
 * Return: 0, or -EMSGSIZE if @xdr has too little room
 */
int rpcrdma2_encode_change(const struct rpcrdma2_dialect *dialect,
			   struct xdr_stream *xdr,
			   const struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_prop_table *table = dialect->props;
	const struct rpcrdma2_change *change = &hdr->change;

	switch (hdr->kind) {
	case RPCRDMA2_REQUEST:
		if (xdr_stream_encode_u32(xdr, hweight32(change->which)) < 0)
			return -EMSGSIZE;
		return rpcrdma2_encode_some(xdr, table, &change->props,
					    change->which);
	case RPCRDMA2_DISPOSITION:
		return change_encode_words(xdr, 1, change->done) ?:
		       change_encode_words(xdr, 1, change->rejected) ?:
		       change_encode_words(xdr, 1, change->pending);
	default:
		if (rpcrdma2_encode_some(xdr, table, &change->props,
					 change->which))
			return -EMSGSIZE;
		return xdr_stream_encode_u32(xdr, change->settled) < 0 ?
		       -EMSGSIZE : 0;
	}
}

/**
 * rpcrdma2_change_size - size of the body of a message about a change
 * @dialect: dialect of the connection
 * @hdr: header with the change, as for rpcrdma2_encode_change()
 *
 * Context: Any context.
 * Return: octets
 */
size_t rpcrdma2_change_size(const struct rpcrdma2_dialect *dialect,
			    const struct rpcrdma2_header *hdr)
{
	if (hdr->kind == RPCRDMA2_DISPOSITION)
		return 6 * XDR_UNIT;
	/* The last unit is the count of a REQUEST, or an UPDATE's "settled". */
	return hweight32(hdr->change.which) * RPCRDMA2_PROPVAL_SIZE + XDR_UNIT;
}

/**
 * rpcrdma2_decode_changes_prop - decode the property that announces the extension
 * @word: word on the wire; another extension may use the same property with another word
 * @value: set to 1 if the peer has this extension, or to 0
 *
 * Context: Any context.
 * Return: 0
 */
int rpcrdma2_decode_changes_prop(u32 word, u32 *value)
{
	*value = word == EXTENSION_WORD;
	return 0;
}

/**
 * rpcrdma2_encode_changes_prop - encode the property that announces the extension
 * @value: 1 if this end has the extension, or 0
 *
 * Context: Any context.
 * Return: the word on the wire
 */
u32 rpcrdma2_encode_changes_prop(u32 value)
{
	return value ? EXTENSION_WORD : 0;
}
