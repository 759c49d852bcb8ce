// SPDX-License-Identifier: GPL-2.0
/*
 * The body of an RDMA2_ERROR: v2-09, 5.3.3.
 */
#include "wire.h"

/*
 * The words that follow the error code, in order of the wire. The same table
 * serves both directions. Codes that are not here have no words, nor have those
 * that another text has numbered.
 */
static unsigned int error_words(struct rpcrdma2_error *err, u32 *word[2])
{
	if (err->bare && err->code != RDMA2_ERR_VERS)
		return 0;
	switch (err->code) {
	case RDMA2_ERR_VERS:
		word[0] = &err->vers_low;
		word[1] = &err->vers_high;
		return 2;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
		word[0] = &err->max_chunks;
		return 1;
	case RDMA2_ERR_SEGMENTS:
		word[0] = &err->max_segments;
		return 1;
	case RDMA2_ERR_WRITE_RESOURCE:
		word[0] = &err->chunk_index;
		word[1] = &err->length_needed;
		return 2;
	case RDMA2_ERR_REPLY_RESOURCE:
		word[0] = &err->length_needed;
		return 1;
	default:
		return 0;
	}
}

/**
 * rpcrdma2_decode_error - decode an error that ends the message
 * @xdr: stream at the error code
 * @err: where to; @err->bare is left alone
 *
 * A code above those of v2-09 belongs to an extension (v2-09, 9.3) and may
 * bring words of its own; they are skipped.
 *
 * Return: 0, or -EBADMSG if words are missing, or left over
 */
int rpcrdma2_decode_error(struct xdr_stream *xdr, struct rpcrdma2_error *err)
{
	unsigned int i, n;
	u32 *word[2];

	if (xdr_stream_decode_u32(xdr, &err->code) || !err->code)
		return -EBADMSG;
	n = error_words(err, word);
	for (i = 0; i < n; i++)
		if (xdr_stream_decode_u32(xdr, word[i]))
			return -EBADMSG;
	if (err->code == RDMA2_ERR_VERS && err->vers_low > err->vers_high)
		return -EBADMSG;
	if (err->code <= RDMA2_ERR_SYSTEM && xdr_stream_remaining(xdr))
		return -EBADMSG;
	return 0;
}

/* Every dialect has BAD_XDR, in some name, for what it has no code for. */
static struct rpcrdma2_error error_of(const struct rpcrdma2_dialect *dialect,
				      const struct rpcrdma2_error *err)
{
	struct rpcrdma2_error bad_xdr = { .code = RDMA2_ERR_BAD_XDR };

	return err->code <= dialect->last_error ? *err : bad_xdr;
}

/**
 * rpcrdma2_error_size - size of an encoded error
 * @dialect: the dialect
 * @hdr: header of what would be encoded
 *
 * Return: octets
 */
size_t rpcrdma2_error_size(const struct rpcrdma2_dialect *dialect,
			   const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_error err = error_of(dialect, &hdr->error);
	u32 *word[2];

	return (1 + error_words(&err, word)) * XDR_UNIT;
}

/**
 * rpcrdma2_encode_error - encode an error
 * @dialect: the dialect
 * @xdr: stream to write to
 * @hdr: header of what to write
 *
 * Return: 0, or -EMSGSIZE if @xdr has too little room
 */
int rpcrdma2_encode_error(const struct rpcrdma2_dialect *dialect,
			  struct xdr_stream *xdr,
			  const struct rpcrdma2_header *hdr)
{
	struct rpcrdma2_error err = error_of(dialect, &hdr->error);
	unsigned int i, n;
	u32 *word[2];
	__be32 *p;

	n = error_words(&err, word);
	p = xdr_reserve_space(xdr, (1 + n) * XDR_UNIT);
	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(err.code);
	for (i = 0; i < n; i++)
		*p++ = cpu_to_be32(*word[i]);
	return 0;
}
