// SPDX-License-Identifier: GPL-2.0
/*
 * The list of dialects, the choice between them, and names of errors in any of them.
 *
 * The version word alone does not tell dialects apart: v2-01 and v2-09 have the same. The
 * form of a message does.
 */
#include "wire.h"

const struct rpcrdma2_dialects rpcrdma2_all_dialects = {
	.nr		= RPCRDMA2_NR_DIALECTS,
	.dialect	= { &rpcrdma2_v2_09, &rpcrdma2_v2_01, &rpcrdma2_v1 },
};

/**
 * rpcrdma2_dialects_of_version - keep the dialects of one version
 * @dialects: list to shorten; may become empty
 * @version: version word
 *
 * Context: Any context.
 */
void rpcrdma2_dialects_of_version(struct rpcrdma2_dialects *dialects, u32 version)
{
	unsigned int i, n = 0;

	for (i = 0; i < dialects->nr; i++)
		if (dialects->dialect[i]->version == version)
			dialects->dialect[n++] = dialects->dialect[i];
	dialects->nr = n;
}

/**
 * rpcrdma2_dialects_from - keep a dialect and all that follow it
 * @dialects: list to shorten; unchanged if @first is not in it
 * @first: the dialect
 *
 * Context: Any context.
 */
void rpcrdma2_dialects_from(struct rpcrdma2_dialects *dialects,
			    const struct rpcrdma2_dialect *first)
{
	unsigned int i, n = 0;

	for (i = 0; i < dialects->nr; i++)
		if (n || dialects->dialect[i] == first)
			dialects->dialect[n++] = dialects->dialect[i];
	if (n)
		dialects->nr = n;
}

/**
 * rpcrdma2_next_dialect - choose the dialect to try after a peer refused one
 * @dialects: dialects that this end may speak
 * @dialect: dialect that the peer refused
 * @vers_low: lowest version that the peer may speak
 * @vers_high: highest version that the peer may speak
 *
 * Context: Any context.
 * Return: the first dialect behind @dialect in this range of versions, or NULL
 */
const struct rpcrdma2_dialect *
rpcrdma2_next_dialect(const struct rpcrdma2_dialects *dialects,
		      const struct rpcrdma2_dialect *dialect,
		      u32 vers_low, u32 vers_high)
{
	unsigned int i = 0;
	u32 version;

	while (i < dialects->nr && dialects->dialect[i] != dialect)
		i++;
	while (++i < dialects->nr) {
		version = dialects->dialect[i]->version;
		if (version >= vers_low && version <= vers_high)
			return dialects->dialect[i];
	}
	return NULL;
}

/**
 * rpcrdma2_version_range - the versions that an ERR_VERS of this end names
 * @dialects: dialects that this end may speak; at least one
 * @low: set to the lowest version
 * @high: set to the highest version
 *
 * Context: Any context.
 */
void rpcrdma2_version_range(const struct rpcrdma2_dialects *dialects,
			    u32 *low, u32 *high)
{
	unsigned int i;

	*low = U32_MAX;
	*high = 0;
	for (i = 0; i < dialects->nr; i++) {
		*low = min_t(u32, *low, dialects->dialect[i]->version);
		*high = max_t(u32, *high, dialects->dialect[i]->version);
	}
}

/*
 * A message that is well-formed in one dialect is malformed in the others. They expect
 * the XID and the direction of the RPC message, or the message's end, at another place.
 *
 * v2-01 has optional properties, which travel in an RDMA2_OPTIONAL. The decoder refuses an
 * unknown operation there as an unknown header type, but the message is well-formed.
 */
static bool dialect_understands(const struct rpcrdma2_dialect *dialect,
				void *msg, size_t len)
{
	struct rpcrdma2_header hdr = { .response = false };
	struct xdr_stream xdr;
	struct xdr_buf buf;

	rpcrdma2_stream_decode(&xdr, &buf, msg, len);
	return !rpcrdma2_decode(dialect, &xdr, &hdr) ||
	       (dialect->props_optional &&
		hdr.error.code == RDMA2_ERR_INVAL_HTYPE);
}

/**
 * rpcrdma2_recognize - find the dialect of a peer's first message
 * @dialects: dialects that this end may speak; at least one
 * @msg: the message, aligned to a word
 * @len: size of @msg, octets
 *
 * Context: Any context.
 * Return: the first dialect in which @msg is well-formed. If there is none, the first
 *	dialect with the version of @msg, or else the first of @dialects
 */
const struct rpcrdma2_dialect *
rpcrdma2_recognize(const struct rpcrdma2_dialects *dialects, void *msg, size_t len)
{
	const struct rpcrdma2_dialect *dialect, *same = NULL;
	unsigned int i;

	for (i = 0; i < dialects->nr && len >= 2 * XDR_UNIT; i++) {
		dialect = dialects->dialect[i];
		if (dialect->version != be32_to_cpup((__be32 *)msg + 1))
			continue;
		if (dialect_understands(dialect, msg, len))
			return dialect;
		same = same ?: dialect;
	}
	return same ?: dialects->dialect[0];
}

/**
 * rpcrdma2_error_name - the name of an error in any dialect
 * @code: enum rpcrdma2_errcode, or any other number
 *
 * Context: Any context.
 * Return: the name in the first dialect that has the error, or "other"
 */
const char *rpcrdma2_error_name(u32 code)
{
	const struct rpcrdma2_errdef *def = NULL;
	unsigned int i;

	for (i = 0; !def && i < rpcrdma2_all_dialects.nr; i++)
		def = rpcrdma2_error_of(rpcrdma2_all_dialects.dialect[i], code);
	return def ? def->name : "other";
}

/**
 * rpcrdma2_print_error - print an error for users
 * @dialect: dialect of the connection
 * @err: the error
 * @buf: buffer for the error's name, or its number if another draft defines the error
 * @size: size of @buf, octets
 *
 * Context: Any context.
 */
void rpcrdma2_print_error(const struct rpcrdma2_dialect *dialect,
			  const struct rpcrdma2_error *err, char *buf, size_t size)
{
	const struct rpcrdma2_errdef *def = rpcrdma2_error_of(dialect, err->code);
	const char *name = def ? def->name : rpcrdma2_error_name(err->code);

	if (rpcrdma2_error_is_foreign(err))
		snprintf(buf, size, "%u of another draft", err->code);
	else
		snprintf(buf, size, "%s", err->code ? name : "NONE");
}
