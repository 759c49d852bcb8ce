// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of transport properties (v2-09, 4 and 5.3.4), which xcharext, 2.1, calls
 * characteristics.
 *
 * A property set is a counted array of (id, opaque data). Each dialect has a table of the
 * properties that it understands, each with a value of one word. The decoder skips other
 * ids. If an id comes twice, the last value counts.
 */
#include "wire.h"

/* The lowest id for experiments (xcharext, 6.2) */
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
 * rpcrdma2_props_init - set the values that hold until the peer states its own
 * @table: properties of the dialect
 * @props: values to fill in
 *
 * Context: Any context.
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
	/* Another experiment may use the same id: a bad value counts as the initial one. */
	return prop->id < EXPERIMENTAL ? -EBADMSG : 0;
}

/**
 * rpcrdma2_decode_prop - decode one property
 * @xdr: stream at the id
 * @table: properties of the dialect
 * @props: values, of which one is updated if the property is known
 * @which: set to the property's %RPCRDMA2_PROP_BIT, or 0 if the property is unknown
 *
 * Context: Any context.
 * Return: 0, or -EBADMSG if the property is not well-formed or a known one has a bad value
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
 * @table: properties of the dialect
 * @props: values to fill in; a property that is absent has its initial value
 *
 * Context: Any context.
 * Return: 0, or -EBADMSG if the set is not well-formed or a known property has a bad value
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
 * rpcrdma2_props_size - size of a property set on the wire
 * @table: properties of the dialect, all of which are in the set
 *
 * Context: Any context.
 * Return: octets
 */
size_t rpcrdma2_props_size(const struct rpcrdma2_prop_table *table)
{
	return XDR_UNIT + table->nr * RPCRDMA2_PROPVAL_SIZE;
}

/**
 * rpcrdma2_encode_some - encode properties without a count
 * @xdr: stream to write to
 * @table: properties of the dialect
 * @props: values
 * @which: %RPCRDMA2_PROP_BIT of each property to encode
 *
 * Context: Any context.
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
 * rpcrdma2_encode_props - encode a property set with all properties of a dialect
 * @xdr: stream to write to
 * @table: properties of the dialect
 * @props: values
 *
 * Context: Any context.
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
 * rpcrdma2_decode_rbsiz - decode a Receive Buffer Size, of any dialect
 * @word: word on the wire
 * @value: set to the size, octets
 *
 * Context: Any context.
 * Return: 0, or -EBADMSG if @word is below %RPCRDMA2_RBSIZ_MIN or no multiple of four
 */
int rpcrdma2_decode_rbsiz(u32 word, u32 *value)
{
	if (word < RPCRDMA2_RBSIZ_MIN || word % XDR_UNIT)
		return -EBADMSG;
	*value = word;
	return 0;
}

/**
 * rpcrdma2_brs_name - the name of a level of Reverse Request Support
 * @value: enum rpcrdma2_rvreqsup
 *
 * Context: Any context.
 * Return: the name
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
 * rpcrdma2_print_prop - print the value of a property for users
 * @prop: the property
 * @props: values of all properties
 * @buf: buffer to write to
 * @size: size of @buf, octets
 *
 * Context: Any context.
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
 * rpcrdma2_print_props - print properties for users, as "name=value name=value"
 * @table: properties of the dialect
 * @props: values
 * @which: %RPCRDMA2_PROP_BIT of each property to print
 * @buf: buffer to write to
 * @size: size of @buf, octets; a longer text is cut off
 *
 * Context: Any context.
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
