// SPDX-License-Identifier: GPL-2.0
/*
 * Which dialects there are. Two may have one version number: what tells them apart is
 * how a message is written.
 */
#include "wire.h"

const struct rpcrdma2_dialects rpcrdma2_all_dialects = {
	.nr		= RPCRDMA2_NR_DIALECTS,
	.dialect	= { &rpcrdma2_v2_09, &rpcrdma2_v2_01, &rpcrdma2_v1 },
};

/**
 * rpcrdma2_dialects_of_version - leave those of a version
 * @dialects: what to choose from
 * @version: the version
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
 * rpcrdma2_dialects_from - leave one, and those after it
 * @dialects: what to choose from; left as it is without @first
 * @first: the one
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
 * rpcrdma2_next_dialect - what to try if a peer doesn't speak a dialect
 * @dialects: what this end may speak
 * @dialect: the one that the peer doesn't
 * @vers_low: the lowest version that the peer may speak
 * @vers_high: the highest
 *
 * Return: one that comes after @dialect, or NULL
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
 * rpcrdma2_version_range - for an ERR_VERS
 * @dialects: what this end may speak
 * @low: where to put the lowest version
 * @high: where to put the highest
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
 * A message that is well-formed in one dialect is not so in another, as XID and
 * direction of the RPC message, or the message's end, stand elsewhere. What a dialect
 * calls an unknown header type is well-formed there as far as it can tell.
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
 * rpcrdma2_recognize - the dialect of a peer's first message
 * @dialects: what this end may speak
 * @msg: the message
 * @len: its length, octets
 *
 * Return: the first one that understands it; if none does, the first of its version,
 * or the first at all
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
