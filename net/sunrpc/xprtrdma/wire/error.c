// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of an RDMA2_ERROR's body (v2-09, 5.3.3; RFC 8166, 4.5).
 *
 * Each dialect has a table of its errors. rpcrdma2_error.bare marks errors in another
 * form: an ERR_VERS without a flags word, and numbers that another draft of version 2
 * defines. The codec passes such a number as it is.
 */
#include "wire.h"

static const struct rpcrdma2_errdef *
error_numbered(const struct rpcrdma2_dialect *dialect, u32 number)
{
	unsigned int i;

	for (i = 0; i < dialect->nr_errors; i++)
		if (dialect->errors[i].number == number)
			return &dialect->errors[i];
	return NULL;
}

/**
 * rpcrdma2_error_of - find an error in the table of a dialect
 * @dialect: the dialect
 * @code: enum rpcrdma2_errcode
 *
 * Context: Any context.
 * Return: the entry, or NULL if the dialect lacks this error
 */
const struct rpcrdma2_errdef *
rpcrdma2_error_of(const struct rpcrdma2_dialect *dialect, u32 code)
{
	unsigned int i;

	for (i = 0; i < dialect->nr_errors; i++)
		if (dialect->errors[i].code == code)
			return &dialect->errors[i];
	return NULL;
}

static u32 *error_word(struct rpcrdma2_error *err, size_t where)
{
	return (void *)err + where;
}

/**
 * rpcrdma2_decode_error - decode the body of an RDMA2_ERROR
 * @dialect: dialect of the connection
 * @xdr: stream at the error's number; an error of the dialect must end the message
 * @err: error to fill in. On entry, @err->bare says that another draft defines the number,
 *	or that the error is an ERR_VERS without a flags word
 *
 * An error of another draft or of an extension may have words of its own. The decoder
 * ignores them.
 *
 * Context: Any context.
 * Return: 0; -EBADMSG if the dialect can't have this error, if words are missing or left
 *	over, or if the range of an ERR_VERS is empty
 */
int rpcrdma2_decode_error(const struct rpcrdma2_dialect *dialect,
			  struct xdr_stream *xdr, struct rpcrdma2_error *err)
{
	const struct rpcrdma2_errdef *def;
	unsigned int i;

	if (xdr_stream_decode_u32(xdr, &err->code) || !err->code)
		return -EBADMSG;
	if (rpcrdma2_error_is_foreign(err))
		return 0;
	def = error_numbered(dialect, err->code);
	if (!def)
		return dialect->open_errors ? 0 : -EBADMSG;
	err->code = def->code;
	for (i = 0; i < def->nr_words; i++)
		if (xdr_stream_decode_u32(xdr, error_word(err, def->words[i])))
			return -EBADMSG;
	if (err->code == RDMA2_ERR_VERS && err->vers_low > err->vers_high)
		return -EBADMSG;
	return xdr_stream_remaining(xdr) ? -EBADMSG : 0;
}

/* Return: the entry that the sender uses, or NULL to send the code alone */
static const struct rpcrdma2_errdef *
error_said_as(const struct rpcrdma2_dialect *dialect,
	      const struct rpcrdma2_error *err)
{
	const struct rpcrdma2_errdef *def;

	if (rpcrdma2_error_is_foreign(err))
		return NULL;
	def = rpcrdma2_error_of(dialect, err->code);
	if (!def && !dialect->open_errors)
		def = rpcrdma2_error_of(dialect, RDMA2_ERR_BAD_XDR);
	return def;
}

/**
 * rpcrdma2_error_size - size of the body of an RDMA2_ERROR
 * @dialect: dialect of the connection
 * @hdr: header with the error to encode
 *
 * Context: Any context.
 * Return: octets
 */
size_t rpcrdma2_error_size(const struct rpcrdma2_dialect *dialect,
			   const struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_errdef *def = error_said_as(dialect, &hdr->error);

	return (1 + (def ? def->nr_words : 0)) * XDR_UNIT;
}

/**
 * rpcrdma2_encode_error - encode the body of an RDMA2_ERROR
 * @dialect: dialect of the connection
 * @xdr: stream to write to
 * @hdr: header with the error to encode. RDMA2_ERR_BAD_XDR takes the place of an error
 *	that the dialect can't have
 *
 * Context: Any context.
 * Return: 0, or -EMSGSIZE if @xdr has too little room
 */
int rpcrdma2_encode_error(const struct rpcrdma2_dialect *dialect,
			  struct xdr_stream *xdr,
			  const struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_errdef *def = error_said_as(dialect, &hdr->error);
	struct rpcrdma2_error err = hdr->error;
	unsigned int i;
	__be32 *p;

	p = xdr_reserve_space(xdr, rpcrdma2_error_size(dialect, hdr));
	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32(def ? def->number : err.code);
	for (i = 0; def && i < def->nr_words; i++)
		*p++ = cpu_to_be32(*error_word(&err, def->words[i]));
	return 0;
}
