// SPDX-License-Identifier: GPL-2.0
/*
 * Rules that hold for each header that a decoder accepts or refuses. They look at the
 * decoded form only, count in 64 bits, and use none of the codecs' helpers, so they
 * can't repeat a codec's mistake. The fuzzer uses them in user space, too.
 */
#include "wire_test.h"

static const char *check_chunk(const struct rpcrdma2_chunk_lists *cl,
			       const struct rpcrdma2_chunk *chunk,
			       unsigned int *nsegs)
{
	const __be32 *p = cl->words + chunk->first;
	u64 length = 0, offset;
	unsigned int i;

	if (chunk->nsegs > 272)
		return "more segments than the limit allows";
	for (i = 0; i < chunk->nsegs; i++, p += chunk->stride) {
		offset = get_unaligned_be64(p + 2);
		if (offset + be32_to_cpu(p[1]) < offset)
			return "a segment wraps around";
		length += be32_to_cpu(p[1]);
	}
	*nsegs += chunk->nsegs;
	return chunk->length != length ? "a chunk's length is no sum" : NULL;
}

static const char *check_segments(const struct rpcrdma2_chunk_lists *cl)
{
	unsigned int i, nsegs = 0;
	const char *wrong;

	for (i = 0; i < cl->nreads; i++) {
		wrong = check_chunk(cl, &cl->reads[i], &nsegs);
		if (wrong)
			return wrong;
		if (!cl->reads[i].nsegs)
			return "a Read chunk is empty";
	}
	for (i = 0; i < cl->nwrites; i++) {
		wrong = check_chunk(cl, &cl->writes[i], &nsegs);
		if (wrong)
			return wrong;
	}
	if (cl->has_reply) {
		wrong = check_chunk(cl, &cl->reply, &nsegs);
		if (wrong)
			return wrong;
	}
	return nsegs == cl->nsegs ? NULL : "a segment belongs to no chunk";
}

/*
 * Put the RPC message together from the inline octets and the Read chunks, and check
 * where each chunk comes to lie.
 */
static const char *check_positions(const struct rpcrdma2_chunk_lists *cl,
				   u64 stream)
{
	u64 end = 0, gap, taken = 0;
	unsigned int i;

	for (i = 0; i < cl->nreads; i++) {
		const struct rpcrdma2_chunk *cur = &cl->reads[i];

		if (cur->position % 4)
			return "a position is not aligned";
		if (i && cur->position <= cl->reads[i - 1].position)
			return "positions are not in order";
		if (!cur->position)
			continue;
		if (cur->position < 8)
			return "the XID or the direction lies in a Read chunk";
		if (cur->position < end)
			return "Read chunks overlap";
		gap = cur->position - end;
		taken += gap;
		if (taken > stream)
			return "a Read chunk lies behind the message";
		end = ((u64)cur->position + cur->length + 3) & ~3ULL;
		if (end > U32_MAX)
			return "the message does not fit 32 bits";
	}
	return NULL;
}

static bool is_of(const struct rpcrdma2_chunk_lists *cl,
		  const struct rpcrdma2_chunk *chunk, u32 handle)
{
	const __be32 *p = cl->words + chunk->first;
	unsigned int i;

	for (i = 0; i < chunk->nsegs; i++, p += chunk->stride)
		if (be32_to_cpu(*p) == handle)
			return true;
	return false;
}

static bool listed(const struct rpcrdma2_chunk_lists *cl, u32 handle)
{
	unsigned int i;
	bool found;

	found = cl->has_reply && is_of(cl, &cl->reply, handle);
	for (i = 0; i < cl->nreads; i++)
		found |= is_of(cl, &cl->reads[i], handle);
	for (i = 0; i < cl->nwrites; i++)
		found |= is_of(cl, &cl->writes[i], handle);
	return found;
}

/*
 * A handle to invalidate must be one of the Call's own. Where no handle is on the wire,
 * the decoder picks any of them.
 */
static const char *check_inv_handle(u32 codec,
				    const struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_chunk_lists *cl = &hdr->chunks;

	if (hdr->response)
		return codec != WIRE_V2 && cl->inv_handle ?
		       "a handle that only v2-09 has" : NULL;
	if (cl->inv_handle || (codec != WIRE_V2 && cl->nsegs))
		return listed(cl, cl->inv_handle) ? NULL :
		       "inv_handle names nothing";
	return NULL;
}

static const char *check_rpc(const struct rpcrdma2_header *hdr, size_t rest)
{
	const struct rpcrdma2_chunk_lists *cl = &hdr->chunks;
	bool zero = cl->nreads && !cl->reads[0].position;
	const char *wrong;
	u64 stream = rest;

	if (cl->nreads > 8 || cl->nwrites > 8)
		return "more than the limits allow";
	wrong = check_segments(cl);
	if (wrong)
		return wrong;
	if (hdr->response && cl->nreads)
		return "a responder offers memory to read";
	if (hdr->kind == RPCRDMA2_MSG) {
		if (zero)
			return "an inline message, and one at position zero";
		if (rest < 8 || rest % 4)
			return "too little of an RPC message";
		return check_positions(cl, stream);
	}
	if (rest)
		return "octets behind an external message";
	if (hdr->response ? !cl->has_reply : !zero)
		return "an external message that is nowhere";
	stream = hdr->response ? cl->reply.length : cl->reads[0].length;
	if (stream < 8)
		return "an external message of next to nothing";
	return check_positions(cl, stream);
}

static const char *check_props(const struct rpcrdma2_props *props)
{
	if (props->rbsiz < 1024 || props->rbsiz % 4)
		return "an impossible Receive buffer size";
	if (props->remote_inv > 1)
		return "neither with nor without invalidation";
	if (props->changes > 1)
		return "neither with nor without changes";
	if (props->wished_rbsiz &&
	    (props->wished_rbsiz < 1024 || props->wished_rbsiz % 4))
		return "a wish for an impossible Receive buffer size";
	return props->brs > 2 ? "an unknown reverse request support" : NULL;
}

static const char *check_request(const struct rpcrdma2_change *change)
{
	u64 places = (1ULL << change->count) - 1;
	unsigned int i;
	u32 taken = 0;

	if (change->count > 32)
		return "more is asked for than a subset can tell";
	for (i = 0; i < ARRAY_SIZE(change->at); i++) {
		if (!change->at[i] != !(change->which & 1U << i))
			return "a property that is nowhere, or something else";
		if (change->at[i] & taken || change->at[i] & ~places)
			return "a place that isn't, or has two properties";
		taken |= change->at[i];
	}
	if (change->which >> ARRAY_SIZE(change->at))
		return "a property that this side doesn't have";
	return change->done | change->rejected | change->pending |
	       change->settled ? "a request that disposes" : NULL;
}

static const char *check_disposition(const struct rpcrdma2_change *change)
{
	if (change->done & change->rejected || change->done & change->pending ||
	    change->rejected & change->pending)
		return "subsets overlap";
	return change->which | change->count | change->settled ?
	       "a disposition that asks" : NULL;
}

static const char *check_update(const struct rpcrdma2_change *change)
{
	if (change->which & (change->which - 1))
		return "an update of several properties";
	return change->count | change->done | change->rejected | change->pending ?
	       "an update that asks, or disposes" : NULL;
}

static const char *check_change(u32 codec, const struct rpcrdma2_header *hdr,
				size_t rest)
{
	const struct rpcrdma2_change *change = &hdr->change;
	const char *wrong;

	if (codec == WIRE_V1)
		return "a header type that version 1 does not have";
	if (rest)
		return "octets behind a change";
	if (hdr->kind == RPCRDMA2_REQUEST)
		wrong = check_request(change);
	else if (hdr->kind == RPCRDMA2_DISPOSITION)
		wrong = check_disposition(change);
	else
		wrong = check_update(change);
	return wrong ?: check_props(&change->props);
}

static const char *check_error(u32 codec, const struct rpcrdma2_header *hdr)
{
	if (!hdr->response)
		return "an error from a requester";
	if (!hdr->error.code)
		return "an error without a code";
	if (hdr->error.code == 1 && hdr->error.vers_low > hdr->error.vers_high)
		return "a range of versions upside down";
	if (hdr->error.bare && hdr->error.code != 1 && codec == WIRE_V1)
		return "a bare error that is not ERR_VERS";
	if (hdr->error.bare && hdr->error.code > 100)
		return "a bare error that no text has";
	if (codec == WIRE_V1 && hdr->error.code > 2)
		return "an error that version 1 does not have";
	if (codec == WIRE_V2_01 && hdr->error.code > 3 && !hdr->error.bare)
		return "an error that v2-01 does not have";
	if (codec != WIRE_V2 && hdr->error.code == 1 && !hdr->error.bare)
		return "ERR_VERS in v2-09's shape";
	return NULL;
}

/**
 * wire_check_accepted - check the rules for an accepted header
 * @codec: dialect that accepted the header
 * @hdr: the header
 * @rest: octets that the decoder left
 *
 * Context: any.
 *
 * Return: NULL if all rules hold, or a description of the broken one.
 */
const char *wire_check_accepted(u32 codec, const struct rpcrdma2_header *hdr,
				size_t rest)
{
	if (hdr->vers != wire_dialect(codec)->version)
		return "another version";
	switch (hdr->kind) {
	case RPCRDMA2_MSG:
	case RPCRDMA2_NOMSG:
		return check_rpc(hdr, rest) ?: check_inv_handle(codec, hdr);
	case RPCRDMA2_ERROR:
		return check_error(codec, hdr);
	case RPCRDMA2_PROPS:
		if (codec == WIRE_V1)
			return "a header type that version 1 does not have";
		return rest ? "octets behind the properties" :
			      check_props(&hdr->props);
	case RPCRDMA2_REQUEST:
	case RPCRDMA2_DISPOSITION:
	case RPCRDMA2_UPDATE:
		return check_change(codec, hdr, rest);
	default:
		return "an unknown header type";
	}
}

/**
 * wire_check_refused - check that a refusal can be sent
 * @codec: dialect that refused
 * @hdr: the header, as the decoder left it
 *
 * Context: any.
 *
 * Return: NULL if the refusal can be sent or needs none, or a description of the error.
 */
const char *wire_check_refused(u32 codec, const struct rpcrdma2_header *hdr)
{
	u32 version = wire_dialect(codec)->version;
	const struct rpcrdma2_error *err = &hdr->error;

	switch (err->code) {
	case RDMA2_ERR_NONE:
		return NULL;
	case RDMA2_ERR_VERS:
		if (hdr->vers == version)
			return "ERR_VERS to the version that is spoken";
		if (err->vers_low != version || err->vers_high != version)
			return "ERR_VERS with a wrong range";
		return err->bare ? NULL : "ERR_VERS in a shape of its own";
	case RDMA2_ERR_INVAL_HTYPE:
		if (version == 1)
			return "a verdict that version 1 does not have";
		break;
	case RDMA2_ERR_BAD_XDR:
		break;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
		if (err->max_chunks != 8)
			return "a wrong limit of chunks";
		break;
	case RDMA2_ERR_SEGMENTS:
		if (err->max_segments != 272)
			return "a wrong limit of segments";
		break;
	default:
		return "a verdict that no decoder gives";
	}
	if (err->bare)
		return "a bare answer that is not ERR_VERS";
	return hdr->kind == RPCRDMA2_ERROR ? "an answer to an error" : NULL;
}

/**
 * wire_check_answer - check that a refusal leaves the expected answer
 * @hdr: the header, as the decoder left it
 * @msg: the message
 * @answer: the expected answer; RDMA2_ERR_NONE if none may be sent
 *
 * Context: any.
 *
 * Return: NULL if the answer is right, or a description of the error.
 */
const char *wire_check_answer(const struct rpcrdma2_header *hdr,
			      const struct wire_msg *msg,
			      const struct rpcrdma2_error *answer)
{
	if (answer->code == RDMA2_ERR_NONE)
		return hdr->error.code ? "an answer where none is due" : NULL;
	/* The answer repeats the XID and the version of the message. */
	if (hdr->xid != get_unaligned_be32(msg->octets))
		return "xid";
	if (hdr->vers != get_unaligned_be32(msg->octets + 4))
		return "vers";
	return wire_error_differs(&hdr->error, answer);
}
