// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties: v2-09, 4 and 5.3.4.
 *
 * A property set is a counted array of (id, opaque data). Ids that this side
 * does not know are skipped; data of length zero stands for the default; of
 * an id that comes twice, the last one stands.
 */
#include "wire.h"

#define PROPVAL_MIN	(2 * XDR_UNIT)	/* id and length */

/**
 * rpcrdma2_props_init - the values that hold for properties not received
 * @props: where to
 */
void rpcrdma2_props_init(struct rpcrdma2_props *props)
{
	props->rbsiz = RPCRDMA2_RBSIZ_DEFAULT;
	props->brs = RDMA2_RVREQSUP_INLINE;
}

static int decode_rbsiz(u32 value, struct rpcrdma2_props *props)
{
	if (value < RPCRDMA2_RBSIZ_MIN || value % XDR_UNIT)
		return -EBADMSG;
	props->rbsiz = value;
	return 0;
}

static int decode_brs(u32 value, struct rpcrdma2_props *props)
{
	if (value > RDMA2_RVREQSUP_GENL)
		return -EBADMSG;
	props->brs = value;
	return 0;
}

static int decode_prop(u32 id, const __be32 *data, u32 len,
		       struct rpcrdma2_props *props)
{
	struct rpcrdma2_props defaults;
	u32 value;

	if (id != RDMA2_PROPID_RBSIZ && id != RDMA2_PROPID_BRS)
		return 0;
	if (len && len != XDR_UNIT)
		return -EBADMSG;

	rpcrdma2_props_init(&defaults);
	if (id == RDMA2_PROPID_RBSIZ) {
		value = len ? be32_to_cpup(data) : defaults.rbsiz;
		return decode_rbsiz(value, props);
	}
	value = len ? be32_to_cpup(data) : defaults.brs;
	return decode_brs(value, props);
}

/**
 * rpcrdma2_decode_props - decode a property set that ends the message
 * @xdr: stream at the count
 * @props: where to; properties that are absent get their defaults
 *
 * Return: 0, or -EBADMSG if the set is not well-formed, if a known property
 * has a bad value, or if anything follows the set
 */
int rpcrdma2_decode_props(struct xdr_stream *xdr, struct rpcrdma2_props *props)
{
	u32 count, id, len;
	__be32 *data;

	rpcrdma2_props_init(props);
	if (xdr_stream_decode_u32(xdr, &count))
		return -EBADMSG;
	if (count > xdr_stream_remaining(xdr) / PROPVAL_MIN)
		return -EBADMSG;
	while (count--) {
		if (xdr_stream_decode_u32(xdr, &id) ||
		    xdr_stream_decode_u32(xdr, &len))
			return -EBADMSG;
		if (len > xdr_stream_remaining(xdr))
			return -EBADMSG;
		data = xdr_inline_decode(xdr, len);
		if (!data || decode_prop(id, data, len, props))
			return -EBADMSG;
	}
	return xdr_stream_remaining(xdr) ? -EBADMSG : 0;
}

static __be32 *encode_prop(__be32 *p, u32 id, u32 value)
{
	*p++ = cpu_to_be32(id);
	*p++ = cpu_to_be32(XDR_UNIT);
	*p++ = cpu_to_be32(value);
	return p;
}

/**
 * rpcrdma2_encode_props - encode every property that this side has
 * @xdr: stream to write to
 * @props: their values
 *
 * Return: 0, or -EMSGSIZE if @xdr has too little room
 */
int rpcrdma2_encode_props(struct xdr_stream *xdr,
			  const struct rpcrdma2_props *props)
{
	__be32 *p;

	p = xdr_reserve_space(xdr, 7 * XDR_UNIT);
	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(2);
	p = encode_prop(p, RDMA2_PROPID_RBSIZ, props->rbsiz);
	encode_prop(p, RDMA2_PROPID_BRS, props->brs);
	return 0;
}
