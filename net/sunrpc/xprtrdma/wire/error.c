// SPDX-License-Identifier: GPL-2.0
/*
 * The body of an RDMA2_ERROR: v2-09, 5.3.3. Each dialect has a table of its errors.
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
 * rpcrdma2_error_of - how does a dialect say an error?
 * @dialect: the dialect
 * @code: enum rpcrdma2_errcode
 *
 * Return: the entry of its table, or NULL if it has no such error
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

/**
 * rpcrdma2_error_name - what to call an error, whoever says it
 * @code: enum rpcrdma2_errcode, or anything else
 *
 * Return: its name in the first dialect that has it; "other" if none does
 */
const char *rpcrdma2_error_name(u32 code)
{
	const struct rpcrdma2_errdef *def = NULL;
	unsigned int i;

	for (i = 0; !def && i < rpcrdma2_all_dialects.nr; i++)
		def = rpcrdma2_error_of(rpcrdma2_all_dialects.dialect[i], code);
	return def ? def->name : "other";
}

static u32 *error_word(struct rpcrdma2_error *err, size_t where)
{
	return (void *)err + where;
}

/* Its number is another text's. */
static bool error_is_foreign(const struct rpcrdma2_error *err)
{
	return err->bare && err->code != RDMA2_ERR_VERS;
}

/**
 * rpcrdma2_print_error - an error for people
 * @dialect: what is spoken
 * @err: the error
 * @buf: where to: its name in @dialect or in another one, or its number
 * @size: octets of @buf
 */
void rpcrdma2_print_error(const struct rpcrdma2_dialect *dialect,
			  const struct rpcrdma2_error *err, char *buf, size_t size)
{
	const struct rpcrdma2_errdef *def = rpcrdma2_error_of(dialect, err->code);
	const char *name = def ? def->name : rpcrdma2_error_name(err->code);

	if (error_is_foreign(err))
		snprintf(buf, size, "%u of another text", err->code);
	else
		snprintf(buf, size, "%s", err->code ? name : "NONE");
}

/**
 * rpcrdma2_decode_error - decode an error that ends the message
 * @dialect: what is spoken here
 * @xdr: stream at the error's number
 * @err: where to; @err->bare is left alone: true for the number of another text
 *
 * One that is not the dialect's may bring words of its own; they are skipped.
 *
 * Return: 0, or -EBADMSG if the dialect can have no such error, or words are missing, or
 * left over
 */
int rpcrdma2_decode_error(const struct rpcrdma2_dialect *dialect,
			  struct xdr_stream *xdr, struct rpcrdma2_error *err)
{
	const struct rpcrdma2_errdef *def;
	unsigned int i;

	if (xdr_stream_decode_u32(xdr, &err->code) || !err->code)
		return -EBADMSG;
	if (error_is_foreign(err))
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

/* How it is said. Return: NULL: by its code alone */
static const struct rpcrdma2_errdef *
error_said_as(const struct rpcrdma2_dialect *dialect,
	      const struct rpcrdma2_error *err)
{
	const struct rpcrdma2_errdef *def;

	if (error_is_foreign(err))
		return NULL;
	def = rpcrdma2_error_of(dialect, err->code);
	if (!def && !dialect->open_errors)
		def = rpcrdma2_error_of(dialect, RDMA2_ERR_BAD_XDR);
	return def;
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
	const struct rpcrdma2_errdef *def = error_said_as(dialect, &hdr->error);

	return (1 + (def ? def->nr_words : 0)) * XDR_UNIT;
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
