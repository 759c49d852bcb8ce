// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes, encodes and compares headers for the suites of wire/, the fuzzer and the
 * oracle.
 *
 * The functions keep no state. They run in process context, or in user space, and may
 * allocate.
 */
#include <linux/slab.h>
#include "wire_test.h"

/**
 * wire_dialect - find a dialect
 * @codec: WIRE_V1, WIRE_V2 or WIRE_V2_01
 *
 * Context: any.
 *
 * Return: the dialect; v2-09 for any other number.
 */
const struct rpcrdma2_dialect *wire_dialect(u32 codec)
{
	switch (codec) {
	case WIRE_V1:
		return &rpcrdma2_v1;
	case WIRE_V2_01:
		return &rpcrdma2_v2_01;
	default:
		return &rpcrdma2_v2_09;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/**
 * wire_parse - append octets that are written in hex
 * @msg: the message
 * @hex: pairs of lower-case digits; other characters between pairs are ignored
 *
 * Context: any.
 */
void wire_parse(struct wire_msg *msg, const char *hex)
{
	while (*hex && msg->len < WIRE_ROOM) {
		if (hex_digit(hex[0]) < 0) {
			hex++;
			continue;
		}
		msg->octets[msg->len++] = hex_digit(hex[0]) << 4 |
					  hex_digit(hex[1]);
		hex += 2;
	}
}

/**
 * wire_put - append a word
 * @msg: the message
 * @word: the word
 *
 * Nothing happens if the message is full.
 *
 * Context: any.
 */
void wire_put(struct wire_msg *msg, u32 word)
{
	if (msg->len + XDR_UNIT > WIRE_ROOM)
		return;
	put_unaligned_be32(word, msg->octets + msg->len);
	msg->len += XDR_UNIT;
}

/**
 * wire_put_segment - append a segment
 * @msg: the message
 * @handle: handle of the segment
 * @length: octets of the segment
 * @offset: offset of the segment
 *
 * Context: any.
 */
void wire_put_segment(struct wire_msg *msg, u32 handle, u32 length, u64 offset)
{
	wire_put(msg, handle);
	wire_put(msg, length);
	wire_put(msg, offset >> 32);
	wire_put(msg, offset);
}

/**
 * wire_put_rpc - append words that start like an RPC message
 * @msg: the message
 * @xid: XID of the RPC
 * @reply: a Reply, else a Call
 * @len: octets to append, a multiple of 4 and at least 8
 *
 * Context: any.
 */
void wire_put_rpc(struct wire_msg *msg, u32 xid, bool reply, size_t len)
{
	size_t i;

	wire_put(msg, xid);
	wire_put(msg, reply);
	for (i = 2 * XDR_UNIT; i < len; i += XDR_UNIT)
		wire_put(msg, 0xa5000000 + i);
}

/**
 * wire_decode - decode a message, from memory of exactly its size
 * @codec: dialect of the reader
 * @octets: the message; an accepted header refers to it
 * @len: octets of the message
 * @hdr: receives the header; @hdr->response says on entry whether the reader expects a
 *	Reply
 * @rest: receives the octets that the decoder left for the RPC layer
 *
 * KASAN reports a decoder that reads beyond the message.
 *
 * Context: process, may sleep.
 *
 * Return: as rpcrdma2_decode(); -ENOMEM; -EFAULT if the decoder left a wrong position.
 */
int wire_decode(u32 codec, const void *octets, size_t len,
		struct rpcrdma2_header *hdr, size_t *rest)
{
	bool expects_reply = hdr->response;
	struct xdr_stream xdr;
	struct xdr_buf buf;
	void *copy;
	int rc;

	*rest = 0;
	copy = kmalloc(len, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, octets, len);
	memset(hdr, 0xa5, sizeof(*hdr));
	hdr->response = expects_reply;
	rpcrdma2_stream_decode(&xdr, &buf, copy, len);
	rc = rpcrdma2_decode(wire_dialect(codec), &xdr, hdr);
	if (!rc) {
		*rest = xdr_stream_remaining(&xdr);
		if (*rest > len || (u8 *)xdr.p != (u8 *)copy + len - *rest)
			rc = -EFAULT;
		if (hdr->kind == RPCRDMA2_MSG || hdr->kind == RPCRDMA2_NOMSG)
			hdr->chunks.words = (void *)octets +
				((void *)hdr->chunks.words - copy);
	}
	kfree(copy);
	return rc;
}

/**
 * wire_encode - encode a header into an empty message
 * @codec: dialect of the writer
 * @msg: receives the message
 * @hdr: the header
 *
 * Context: any.
 *
 * Return: as rpcrdma2_encode().
 */
int wire_encode(u32 codec, struct wire_msg *msg,
		const struct rpcrdma2_header *hdr)
{
	struct xdr_stream xdr;
	struct xdr_buf buf;
	int rc;

	rpcrdma2_stream_encode(&xdr, &buf, msg->octets, WIRE_ROOM);
	rc = rpcrdma2_encode(wire_dialect(codec), &xdr, hdr);
	msg->len = buf.len;
	return rc;
}

/**
 * wire_error_differs - compare two errors
 * @a: one error
 * @b: the other error
 *
 * Context: any.
 *
 * Return: NULL if they are the same, or the name of the first field that differs.
 */
const char *wire_error_differs(const struct rpcrdma2_error *a,
			       const struct rpcrdma2_error *b)
{
	if (a->code != b->code)
		return "error.code";
	if (a->bare != b->bare)
		return "error.bare";
	if (a->vers_low != b->vers_low || a->vers_high != b->vers_high)
		return "error.vers";
	if (a->max_chunks != b->max_chunks)
		return "error.max_chunks";
	if (a->max_segments != b->max_segments)
		return "error.max_segments";
	if (a->chunk_index != b->chunk_index)
		return "error.chunk_index";
	if (a->length_needed != b->length_needed)
		return "error.length_needed";
	return NULL;
}

/* Two chunks are equal even if their segments lie at different places of @words. */
static bool chunk_differs(const struct rpcrdma2_chunk_lists *a,
			  const struct rpcrdma2_chunk *ca,
			  const struct rpcrdma2_chunk_lists *b,
			  const struct rpcrdma2_chunk *cb)
{
	struct rpcrdma2_segment sa, sb;
	unsigned int i;

	if (ca->position != cb->position || ca->length != cb->length ||
	    ca->nsegs != cb->nsegs)
		return true;
	for (i = 0; i < ca->nsegs; i++) {
		sa = rpcrdma2_chunk_segment(a, ca, i);
		sb = rpcrdma2_chunk_segment(b, cb, i);
		if (sa.handle != sb.handle || sa.length != sb.length ||
		    sa.offset != sb.offset)
			return true;
	}
	return false;
}

static const char *chunks_differ(const struct rpcrdma2_chunk_lists *a,
				 const struct rpcrdma2_chunk_lists *b)
{
	unsigned int i;

	if (a->nreads != b->nreads)
		return "nreads";
	if (a->nwrites != b->nwrites)
		return "nwrites";
	if (a->has_reply != b->has_reply)
		return "has_reply";
	if (a->nsegs != b->nsegs)
		return "nsegs";
	for (i = 0; i < a->nreads; i++)
		if (chunk_differs(a, &a->reads[i], b, &b->reads[i]))
			return "a Read chunk";
	for (i = 0; i < a->nwrites; i++)
		if (chunk_differs(a, &a->writes[i], b, &b->writes[i]))
			return "a Write chunk";
	if (a->has_reply && chunk_differs(a, &a->reply, b, &b->reply))
		return "the Reply chunk";
	return NULL;
}

static const char *props_differ(u32 codec, const struct rpcrdma2_props *a,
				const struct rpcrdma2_props *b)
{
	if (a->rbsiz != b->rbsiz)
		return "rbsiz";
	if (a->brs != b->brs)
		return "brs";
	if (a->wished_rbsiz != b->wished_rbsiz)
		return "wished_rbsiz";
	if (codec == WIRE_V2_01 && a->remote_inv != b->remote_inv)
		return "remote_inv";
	if (codec == WIRE_V2 && a->changes != b->changes)
		return "changes";
	return NULL;
}

/* Values of properties that @which leaves out don't matter. */
static const char *changes_differ(const struct rpcrdma2_change *a,
				  const struct rpcrdma2_change *b)
{
	const u32 *va = (const u32 *)&a->props, *vb = (const u32 *)&b->props;
	unsigned int i;

	if (a->which != b->which)
		return "which";
	if (a->count != b->count)
		return "count";
	if (a->done != b->done)
		return "done";
	if (a->rejected != b->rejected)
		return "rejected";
	if (a->pending != b->pending)
		return "pending";
	if (a->settled != b->settled)
		return "settled";
	for (i = 0; i < ARRAY_SIZE(a->at); i++) {
		if (a->at[i] != b->at[i])
			return "at";
		if (a->which & 1U << i && va[i] != vb[i])
			return "a value";
	}
	return NULL;
}

/**
 * wire_header_differs - compare two headers by their meaning
 * @codec: dialect that wrote both
 * @a: one header
 * @b: the other header
 *
 * Only v2-09 carries a handle to invalidate. In other dialects, any handle of a Call
 * will do.
 *
 * Context: any.
 *
 * Return: NULL if they mean the same, or the name of the first field that differs.
 */
const char *wire_header_differs(u32 codec, const struct rpcrdma2_header *a,
				const struct rpcrdma2_header *b)
{
	if (a->xid != b->xid)
		return "xid";
	if (a->vers != b->vers)
		return "vers";
	if (a->credit != b->credit)
		return "credit";
	if (a->kind != b->kind)
		return "kind";
	if (a->response != b->response)
		return "response";
	switch (a->kind) {
	case RPCRDMA2_MSG:
	case RPCRDMA2_NOMSG:
		if (codec == WIRE_V2 &&
		    a->chunks.inv_handle != b->chunks.inv_handle)
			return "inv_handle";
		return chunks_differ(&a->chunks, &b->chunks);
	case RPCRDMA2_PROPS:
		return props_differ(codec, &a->props, &b->props);
	case RPCRDMA2_REQUEST:
	case RPCRDMA2_DISPOSITION:
	case RPCRDMA2_UPDATE:
		return changes_differ(&a->change, &b->change);
	default:
		return wire_error_differs(&a->error, &b->error);
	}
}

/*
 * Only the direction of version 1's NOMSG depends on the reader. For all other kinds,
 * choose the wrong reader, which must make no difference.
 */
static bool reader_of(const struct rpcrdma2_header *hdr)
{
	return hdr->kind == RPCRDMA2_NOMSG ? hdr->response : !hdr->response;
}

/*
 * An encoder leaves out unknown properties, and second ones of a kind, so the others
 * move to earlier places. Check the places, then restore @hdr's places for the
 * comparison.
 */
static const char *take_places(u32 codec, struct rpcrdma2_header *again,
			       const struct rpcrdma2_header *hdr)
{
	const char *wrong = wire_check_accepted(codec, again, 0);

	if (hweight32(again->change.which) != again->change.count)
		wrong = "an encoded request has something else in it";
	again->change.count = hdr->change.count;
	memcpy(again->change.at, hdr->change.at, sizeof(again->change.at));
	return wrong;
}

static const char *round_trip(u32 codec, const struct rpcrdma2_header *hdr,
			      size_t rest,
			      struct rpcrdma2_header *again,
			      struct wire_msg *msg)
{
	const char *wrong;
	size_t left;

	if (wire_encode(codec, msg, hdr))
		return "an accepted header does not encode";
	if (msg->len != rpcrdma2_header_size(wire_dialect(codec), hdr))
		return "size is not what encode produced";
	if (hdr->kind == RPCRDMA2_MSG)
		wire_put_rpc(msg, hdr->xid, hdr->response, rest);
	again->response = reader_of(hdr);
	if (wire_decode(codec, msg->octets, msg->len, again, &left))
		return "what was encoded does not decode";
	if (hdr->kind == RPCRDMA2_MSG && left != rest)
		return "the RPC message starts elsewhere";
	wrong = hdr->kind == RPCRDMA2_REQUEST ?
		take_places(codec, again, hdr) : NULL;
	return wrong ?: wire_header_differs(codec, hdr, again);
}

/**
 * wire_check_round_trip - encode an accepted header, decode the result, and compare
 * @codec: dialect that accepted the header
 * @hdr: the header, from a decoder or a sender
 * @rest: octets of the RPC message behind the header
 *
 * Context: process, may sleep.
 *
 * Return: NULL if nothing is lost, or a description of the error.
 */
const char *wire_check_round_trip(u32 codec, const struct rpcrdma2_header *hdr,
				  size_t rest)
{
	struct rpcrdma2_header *again = kmalloc(sizeof(*again), GFP_KERNEL);
	struct wire_msg *msg = kmalloc(sizeof(*msg), GFP_KERNEL);
	const char *wrong = "no memory";

	/* An UPDATE of an unknown property is accepted, but can't be encoded. */
	if (again && msg && hdr->kind == RPCRDMA2_UPDATE && !hdr->change.which)
		wrong = NULL;
	else if (again && msg)
		wrong = round_trip(codec, hdr,
				   min_t(size_t, rest, WIRE_ROOM / 2), again,
				   msg);
	kfree(msg);
	kfree(again);
	return wrong;
}
