// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties: v2-09, 4 and 5.3.4; xcharext, 2.1 calls them characteristics.
 *
 * A property set is a counted array of (id, opaque data). Each dialect has a table of
 * those that this side knows, all of one word. Other ids are skipped; of an id that
 * comes twice, the last one stands.
 */
#include "wire.h"

#define PROPVAL_MIN	(2 * XDR_UNIT)	/* id and length */
#define PROPVAL_SIZE	(3 * XDR_UNIT)	/* and a word */

static u32 *value_of(struct rpcrdma2_props *props, const struct rpcrdma2_prop *prop)
{
	return (void *)props + prop->field;
}

static const struct rpcrdma2_prop *
prop_by_id(const struct rpcrdma2_prop_table *table, u32 id)
{
	unsigned int i;

	for (i = 0; i < table->nr; i++)
		if (table->props[i].id == id)
			return &table->props[i];
	return NULL;
}

/**
 * rpcrdma2_props_init - the values that hold for properties not received
 * @table: a dialect's properties
 * @props: where to
 */
void rpcrdma2_props_init(const struct rpcrdma2_prop_table *table,
			 struct rpcrdma2_props *props)
{
	unsigned int i;

	*props = table->others;
	for (i = 0; i < table->nr; i++)
		*value_of(props, &table->props[i]) = table->props[i].initial;
}

static int decode_prop(const struct rpcrdma2_prop_table *table, u32 id,
		       const __be32 *data, u32 len, struct rpcrdma2_props *props)
{
	const struct rpcrdma2_prop *prop = prop_by_id(table, id);
	u32 *value;

	if (!prop)
		return 0;
	value = value_of(props, prop);
	*value = prop->initial;
	if (!len && table->empty_is_default)
		return 0;
	if (len != XDR_UNIT)
		return -EBADMSG;
	return prop->decode(be32_to_cpup(data), value);
}

/**
 * rpcrdma2_decode_props - decode a property set
 * @xdr: stream at the count
 * @table: the dialect's properties
 * @props: where to; properties that are absent get their defaults
 *
 * Return: 0, or -EBADMSG if the set is not well-formed, or if a known property
 * has a bad value
 */
int rpcrdma2_decode_props(struct xdr_stream *xdr,
			  const struct rpcrdma2_prop_table *table,
			  struct rpcrdma2_props *props)
{
	u32 count, id, len;
	__be32 *data;

	rpcrdma2_props_init(table, props);
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
		if (!data || decode_prop(table, id, data, len, props))
			return -EBADMSG;
	}
	return 0;
}

/**
 * rpcrdma2_props_size - size of an encoded property set
 * @table: the dialect's properties
 *
 * Return: octets
 */
size_t rpcrdma2_props_size(const struct rpcrdma2_prop_table *table)
{
	return XDR_UNIT + table->nr * PROPVAL_SIZE;
}

/**
 * rpcrdma2_encode_props - encode every property that this side has
 * @xdr: stream to write to
 * @table: the dialect's properties
 * @props: their values
 *
 * Return: 0, or -EMSGSIZE if @xdr has too little room
 */
int rpcrdma2_encode_props(struct xdr_stream *xdr,
			  const struct rpcrdma2_prop_table *table,
			  const struct rpcrdma2_props *props)
{
	struct rpcrdma2_props tmp = *props;
	unsigned int i;
	__be32 *p;

	p = xdr_reserve_space(xdr, rpcrdma2_props_size(table));
	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(table->nr);
	for (i = 0; i < table->nr; i++) {
		const struct rpcrdma2_prop *prop = &table->props[i];
		u32 value = *value_of(&tmp, prop);

		*p++ = cpu_to_be32(prop->id);
		*p++ = cpu_to_be32(XDR_UNIT);
		*p++ = cpu_to_be32(prop->encode ? prop->encode(value) : value);
	}
	return 0;
}

/**
 * rpcrdma2_decode_rbsiz - the size of Receive buffers, in any dialect
 * @word: on the wire
 * @value: octets
 *
 * Return: 0, or -EBADMSG
 */
int rpcrdma2_decode_rbsiz(u32 word, u32 *value)
{
	if (word < RPCRDMA2_RBSIZ_MIN || word % XDR_UNIT)
		return -EBADMSG;
	*value = word;
	return 0;
}

/**
 * rpcrdma2_brs_name - what to call a kind of support for Calls in the reverse direction
 * @value: enum rpcrdma2_rvreqsup
 */
const char *rpcrdma2_brs_name(u32 value)
{
	switch (value) {
	case RDMA2_RVREQSUP_NONE:
		return "none";
	case RDMA2_RVREQSUP_INLINE:
		return "inline";
	default:
		return "general";
	}
}

/**
 * rpcrdma2_print_prop - a property's value for people
 * @prop: the property
 * @props: all values
 * @buf: where to
 * @size: octets of @buf
 */
void rpcrdma2_print_prop(const struct rpcrdma2_prop *prop,
			 const struct rpcrdma2_props *props, char *buf, size_t size)
{
	struct rpcrdma2_props tmp = *props;
	u32 value = *value_of(&tmp, prop);

	if (prop->value_name)
		snprintf(buf, size, "%s", prop->value_name(value));
	else
		snprintf(buf, size, "%u", value);
}

/**
 * rpcrdma2_print_props - all of a dialect's properties for people
 * @table: the dialect's
 * @props: their values
 * @buf: where to: "name=value name=value"
 * @size: octets of @buf; what doesn't fit is cut off
 */
void rpcrdma2_print_props(const struct rpcrdma2_prop_table *table,
			  const struct rpcrdma2_props *props, char *buf, size_t size)
{
	char value[16];
	unsigned int i;
	size_t len = 0;

	for (i = 0; i < table->nr && len < size; i++) {
		rpcrdma2_print_prop(&table->props[i], props, value, sizeof(value));
		len += snprintf(buf + len, size - len, "%s%s=%s", i ? " " : "",
				table->props[i].name, value);
	}
}
