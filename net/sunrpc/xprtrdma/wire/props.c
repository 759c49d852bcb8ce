// SPDX-License-Identifier: GPL-2.0
/*
 * Transport properties: v2-09, 4 and 5.3.4; xcharext, 2.1 calls them characteristics.
 *
 * A property set is a counted array of (id, opaque data). Each dialect has a table of
 * those that this side knows, all of one word. Other ids are skipped; of an id that
 * comes twice, the last one stands.
 */
#include "wire.h"

/* The first number of those for experiments (xcharext, 6.2) */
#define EXPERIMENTAL	0xffffff00

static u32 *prop_value_of(struct rpcrdma2_props *props,
			  const struct rpcrdma2_prop *prop)
{
	return (void *)props + prop->field;
}

static u32 prop_bit(const struct rpcrdma2_prop *prop)
{
	return 1U << rpcrdma2_prop_index(prop);
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
		*prop_value_of(props, &table->props[i]) =
			table->props[i].initial;
}

static int prop_decode_value(const struct rpcrdma2_prop_table *table,
			     const struct rpcrdma2_prop *prop,
			     const __be32 *data, u32 len, u32 *value)
{
	*value = prop->initial;
	if (!len && table->empty_is_default)
		return 0;
	if (len == XDR_UNIT && !prop->decode(be32_to_cpup(data), value))
		return 0;
	/* An experiment of somebody else's may have the same number. */
	return prop->id < EXPERIMENTAL ? -EBADMSG : 0;
}

/**
 * rpcrdma2_decode_prop - decode a property and its value
 * @xdr: stream at its id
 * @table: the dialect's properties
 * @props: where to put the value
 * @which: where to put the property's %RPCRDMA2_PROP_BIT, or 0 if it is unknown
 *
 * Return: 0, or -EBADMSG if it is not well-formed, or known and has a bad value
 */
int rpcrdma2_decode_prop(struct xdr_stream *xdr,
			 const struct rpcrdma2_prop_table *table,
			 struct rpcrdma2_props *props, u32 *which)
{
	const struct rpcrdma2_prop *prop;
	__be32 *data;
	u32 id, len;

	if (xdr_stream_decode_u32(xdr, &id) || xdr_stream_decode_u32(xdr, &len))
		return -EBADMSG;
	if (len > xdr_stream_remaining(xdr))
		return -EBADMSG;
	data = xdr_inline_decode(xdr, len);
	if (!data)
		return -EBADMSG;
	prop = prop_by_id(table, id);
	*which = prop ? prop_bit(prop) : 0;
	return prop ? prop_decode_value(table, prop, data, len,
					prop_value_of(props, prop)) : 0;
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
	u32 count, which;

	rpcrdma2_props_init(table, props);
	if (xdr_stream_decode_u32(xdr, &count))
		return -EBADMSG;
	while (count--)
		if (rpcrdma2_decode_prop(xdr, table, props, &which))
			return -EBADMSG;
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
	return XDR_UNIT + table->nr * RPCRDMA2_PROPVAL_SIZE;
}

/**
 * rpcrdma2_encode_some - encode properties, one after the other
 * @xdr: stream to write to
 * @table: the dialect's properties
 * @props: their values
 * @which: those to encode, by their %RPCRDMA2_PROP_BIT
 *
 * Return: 0, or -EMSGSIZE if @xdr has too little room
 */
int rpcrdma2_encode_some(struct xdr_stream *xdr,
			 const struct rpcrdma2_prop_table *table,
			 const struct rpcrdma2_props *props, u32 which)
{
	const struct rpcrdma2_prop *prop;
	unsigned int i;
	__be32 *p;
	u32 value;

	for (i = 0; i < table->nr; i++) {
		prop = &table->props[i];
		if (!(which & prop_bit(prop)))
			continue;
		p = xdr_reserve_space(xdr, RPCRDMA2_PROPVAL_SIZE);
		if (!p)
			return -EMSGSIZE;
		value = rpcrdma2_prop_value(props, prop);
		*p++ = cpu_to_be32(prop->id);
		*p++ = cpu_to_be32(XDR_UNIT);
		*p++ = cpu_to_be32(prop->encode ? prop->encode(value) : value);
	}
	return 0;
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
	if (xdr_stream_encode_u32(xdr, table->nr) < 0)
		return -EMSGSIZE;
	return rpcrdma2_encode_some(xdr, table, props, U32_MAX);
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
		return "genl";
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
	u32 value = rpcrdma2_prop_value(props, prop);

	if (prop->value_name)
		snprintf(buf, size, "%s", prop->value_name(value));
	else
		snprintf(buf, size, "%u", value);
}

/**
 * rpcrdma2_print_props - properties for people
 * @table: a dialect's
 * @props: their values
 * @which: those to print, by their %RPCRDMA2_PROP_BIT
 * @buf: where to: "name=value name=value"
 * @size: octets of @buf; what doesn't fit is cut off
 */
void rpcrdma2_print_props(const struct rpcrdma2_prop_table *table,
			  const struct rpcrdma2_props *props, u32 which,
			  char *buf, size_t size)
{
	char value[16];
	unsigned int i;
	size_t len = 0;

	buf[0] = '\0';
	for (i = 0; i < table->nr && len < size; i++) {
		if (!(which & prop_bit(&table->props[i])))
			continue;
		rpcrdma2_print_prop(&table->props[i], props, value, sizeof(value));
		len += snprintf(buf + len, size - len, "%s%s=%s", len ? " " : "",
				table->props[i].name, value);
	}
}
