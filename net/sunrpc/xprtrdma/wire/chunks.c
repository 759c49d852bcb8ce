// SPDX-License-Identifier: GPL-2.0
/*
 * Chunk lists: v2-09, 3.3; RFC 8166, 3.4.
 *
 * On the wire, in this order: the Read list, a chain of (position, segment),
 * where the segments of one Read chunk share a position; the Write list, a
 * chain of counted segment arrays; the Reply chunk, one optional counted
 * segment array. A chain is XDR's optional-data: each link is preceded by a
 * 1, the end is a 0. All versions have this in common.
 *
 * In memory the segments stay as they are on the wire: a chunk says where they begin,
 * and how far apart they are.
 */
#include "wire.h"

#define SEGMENT_SIZE		(RPCRDMA2_SEGMENT_WORDS * XDR_UNIT)

/* A link of the Read list: one that says so, the position, and the segment */
#define READ_SEGMENT_WORDS	(2 + RPCRDMA2_SEGMENT_WORDS)

/**
 * rpcrdma2_chunk_segment - one segment of a chunk
 * @cl: chunk lists
 * @chunk: a chunk of @cl
 * @i: which segment, below @chunk->nsegs
 *
 * Return: the segment
 */
struct rpcrdma2_segment
rpcrdma2_chunk_segment(const struct rpcrdma2_chunk_lists *cl,
		       const struct rpcrdma2_chunk *chunk, unsigned int i)
{
	const __be32 *p = cl->words + chunk->first + i * chunk->stride;
	struct rpcrdma2_segment seg;

	seg.handle = be32_to_cpup(p++);
	seg.length = be32_to_cpup(p++);
	xdr_decode_hyper((__be32 *)p, &seg.offset);
	return seg;
}

static __be32 *segment_encode(__be32 *p, const struct rpcrdma2_segment *seg)
{
	*p++ = cpu_to_be32(seg->handle);
	*p++ = cpu_to_be32(seg->length);
	return xdr_encode_hyper(p, seg->offset);
}

/* Count a segment that stands behind those which @chunk has. */
static int segment_count(struct rpcrdma2_chunk_lists *cl,
			 struct rpcrdma2_chunk *chunk, u32 length, u64 offset)
{
	if (length > U32_MAX - chunk->length || offset > U64_MAX - length)
		return -ERANGE;
	chunk->length += length;
	chunk->nsegs++;
	cl->nsegs++;
	return 0;
}

/**
 * rpcrdma2_add_segment - append a segment to the chunk added last
 * @cl: chunk lists under construction
 * @chunk: the chunk of @cl that was added last
 * @handle: STag
 * @length: octets
 * @offset: virtual address
 *
 * Return: 0; -E2BIG if @cl holds RPCRDMA2_OWN_SEGMENTS already; -ERANGE if
 * the segment wraps around the address space or the chunk's length wraps.
 */
int rpcrdma2_add_segment(struct rpcrdma2_chunk_lists *cl,
			 struct rpcrdma2_chunk *chunk,
			 u32 handle, u32 length, u64 offset)
{
	struct rpcrdma2_segment seg = { handle, length, offset };
	u32 at = cl->nsegs * RPCRDMA2_SEGMENT_WORDS;
	int rc;

	if (cl->nsegs >= RPCRDMA2_OWN_SEGMENTS)
		return -E2BIG;
	rc = segment_count(cl, chunk, length, offset);
	if (rc)
		return rc;
	segment_encode(cl->words + at, &seg);
	return 0;
}

/* Its first segment is yet to come. */
static void chunk_init(struct rpcrdma2_chunk_lists *cl,
		       struct rpcrdma2_chunk *chunk, u32 position)
{
	chunk->position = position;
	chunk->length = 0;
	chunk->first = cl->nsegs * RPCRDMA2_SEGMENT_WORDS;
	chunk->nsegs = 0;
	chunk->stride = RPCRDMA2_SEGMENT_WORDS;
}

/**
 * rpcrdma2_add_read_chunk - start a Read chunk
 * @cl: chunk lists under construction
 * @position: its XDR position in the payload stream, octets
 *
 * Read chunks are kept in order of position, so an added one may move others.
 *
 * Return: the chunk, empty, or NULL if there are too many
 */
struct rpcrdma2_chunk *
rpcrdma2_add_read_chunk(struct rpcrdma2_chunk_lists *cl, u32 position)
{
	unsigned int i = cl->nreads;

	if (i >= RPCRDMA2_MAX_READ_CHUNKS)
		return NULL;
	for (; i > 0 && cl->reads[i - 1].position > position; i--)
		cl->reads[i] = cl->reads[i - 1];
	cl->nreads++;
	chunk_init(cl, &cl->reads[i], position);
	return &cl->reads[i];
}

/**
 * rpcrdma2_add_write_chunk - start a Write chunk
 * @cl: chunk lists under construction
 *
 * Return: the chunk, empty, or NULL if there are too many
 */
struct rpcrdma2_chunk *
rpcrdma2_add_write_chunk(struct rpcrdma2_chunk_lists *cl)
{
	if (cl->nwrites >= RPCRDMA2_MAX_WRITE_CHUNKS)
		return NULL;
	chunk_init(cl, &cl->writes[cl->nwrites], 0);
	return &cl->writes[cl->nwrites++];
}

/**
 * rpcrdma2_add_reply_chunk - start the Reply chunk
 * @cl: chunk lists under construction, without a Reply chunk yet
 *
 * Return: the chunk, empty
 */
struct rpcrdma2_chunk *
rpcrdma2_add_reply_chunk(struct rpcrdma2_chunk_lists *cl)
{
	cl->has_reply = true;
	chunk_init(cl, &cl->reply, 0);
	return &cl->reply;
}

/**
 * rpcrdma2_return_chunk - return a chunk of a Call with its Reply
 * @cl: chunk lists of the Reply, which has the Call's words
 * @chunk: the chunk of @cl that was added last
 * @offer: the Call's
 * @used: octets of @offer that were written, from its first segment on
 */
void rpcrdma2_return_chunk(struct rpcrdma2_chunk_lists *cl,
			   struct rpcrdma2_chunk *chunk,
			   const struct rpcrdma2_chunk *offer, u32 used)
{
	*chunk = *offer;
	chunk->length = used;
	cl->nsegs += offer->nsegs;
}

static int chunks_bad_xdr(struct rpcrdma2_error *err)
{
	err->code = RDMA2_ERR_BAD_XDR;
	return -EBADMSG;
}

/* @p: the segment, in the message */
static int segment_decode(const __be32 *p, struct rpcrdma2_chunk_lists *cl,
			  struct rpcrdma2_chunk *chunk,
			  struct rpcrdma2_error *err)
{
	u32 length = be32_to_cpup(p + 1);
	u64 offset;

	if (chunk->nsegs == RPCRDMA2_MAX_SEGMENTS) {
		err->code = RDMA2_ERR_SEGMENTS;
		err->max_segments = RPCRDMA2_MAX_SEGMENTS;
		return -EBADMSG;
	}
	if (!chunk->nsegs)
		chunk->first = p - cl->words;
	xdr_decode_hyper((__be32 *)p + 2, &offset);
	if (segment_count(cl, chunk, length, offset))
		return chunks_bad_xdr(err);
	return 0;
}

/* Each link of a chain, and the Reply chunk, is announced by a boolean. */
static int chunks_decode_follows(struct xdr_stream *xdr, bool *follows,
				 struct rpcrdma2_error *err)
{
	u32 word;

	if (xdr_stream_decode_u32(xdr, &word) || word > 1)
		return chunks_bad_xdr(err);
	*follows = word;
	return 0;
}

/*
 * A chunk's segments follow each other on the wire: a position that comes up
 * again after another one would split its chunk, and is refused.
 */
static struct rpcrdma2_chunk *
chunks_read_chunk_at(struct rpcrdma2_chunk_lists *cl,
		     struct rpcrdma2_chunk *last, u32 position,
		     struct rpcrdma2_error *err)
{
	struct rpcrdma2_chunk *chunk;
	unsigned int i;

	if (last && last->position == position)
		return last;
	for (i = 0; i < cl->nreads; i++) {
		if (cl->reads[i].position == position) {
			chunks_bad_xdr(err);
			return NULL;
		}
	}
	chunk = rpcrdma2_add_read_chunk(cl, position);
	if (!chunk) {
		err->code = RDMA2_ERR_READ_CHUNKS;
		err->max_chunks = RPCRDMA2_MAX_READ_CHUNKS;
		return NULL;
	}
	chunk->stride = READ_SEGMENT_WORDS;
	return chunk;
}

/*
 * Chunks at positions other than zero must lie one after the other in the
 * payload stream. One at position zero holds the stream that the others are
 * cut out of, so it overlaps none of them.
 */
static bool chunks_reads_overlap(const struct rpcrdma2_chunk_lists *cl)
{
	const struct rpcrdma2_chunk *prev = NULL, *cur;
	unsigned int i;

	for (i = 0; i < cl->nreads; i++) {
		cur = &cl->reads[i];
		if (!cur->position)
			continue;
		if (cur->length > U32_MAX - 3 - cur->position)
			return true;
		if (prev && prev->position + prev->length > cur->position)
			return true;
		prev = cur;
	}
	return false;
}

static int chunks_decode_read_list(struct xdr_stream *xdr,
				   struct rpcrdma2_chunk_lists *cl,
				   struct rpcrdma2_error *err)
{
	struct rpcrdma2_chunk *chunk = NULL;
	bool follows;
	u32 position;
	__be32 *p;

	for (;;) {
		if (chunks_decode_follows(xdr, &follows, err))
			return -EBADMSG;
		if (!follows)
			break;
		p = xdr_inline_decode(xdr, XDR_UNIT + SEGMENT_SIZE);
		if (!p)
			return chunks_bad_xdr(err);
		position = be32_to_cpup(p++);
		if (position % XDR_UNIT)
			return chunks_bad_xdr(err);
		chunk = chunks_read_chunk_at(cl, chunk, position, err);
		if (!chunk || segment_decode(p, cl, chunk, err))
			return -EBADMSG;
	}
	return chunks_reads_overlap(cl) ? chunks_bad_xdr(err) : 0;
}

static int chunk_decode_segments(struct xdr_stream *xdr,
				 struct rpcrdma2_chunk_lists *cl,
				 struct rpcrdma2_chunk *chunk,
				 struct rpcrdma2_error *err)
{
	u32 count;
	__be32 *p;

	if (xdr_stream_decode_u32(xdr, &count))
		return chunks_bad_xdr(err);
	while (count--) {
		p = xdr_inline_decode(xdr, SEGMENT_SIZE);
		if (!p)
			return chunks_bad_xdr(err);
		if (segment_decode(p, cl, chunk, err))
			return -EBADMSG;
	}
	return 0;
}

static int chunks_decode_write_list(struct xdr_stream *xdr,
				    struct rpcrdma2_chunk_lists *cl,
				    struct rpcrdma2_error *err)
{
	struct rpcrdma2_chunk *chunk;
	bool follows;

	for (;;) {
		if (chunks_decode_follows(xdr, &follows, err))
			return -EBADMSG;
		if (!follows)
			return 0;
		chunk = rpcrdma2_add_write_chunk(cl);
		if (!chunk) {
			err->code = RDMA2_ERR_WRITE_CHUNKS;
			err->max_chunks = RPCRDMA2_MAX_WRITE_CHUNKS;
			return -EBADMSG;
		}
		if (chunk_decode_segments(xdr, cl, chunk, err))
			return -EBADMSG;
	}
}

/* Most messages have none: one look instead of three. */
static bool chunks_decode_none(struct xdr_stream *xdr)
{
	static const __be32 ends[3];

	if (xdr_stream_remaining(xdr) < sizeof(ends) ||
	    memcmp(xdr->p, ends, sizeof(ends)))
		return false;
	return xdr_inline_decode(xdr, sizeof(ends));
}

/**
 * rpcrdma2_decode_chunk_lists - decode Read and Write lists and the Reply
 *	chunk
 * @xdr: stream at the Read list
 * @cl: where to; overwritten but for its inv_handle; refers to the message
 * @err: where to put the answer if the lists are refused
 *
 * Return: 0, or -EBADMSG with @err set
 */
int rpcrdma2_decode_chunk_lists(struct xdr_stream *xdr,
				struct rpcrdma2_chunk_lists *cl,
				struct rpcrdma2_error *err)
{
	bool has_reply;

	cl->nreads = 0;
	cl->nwrites = 0;
	cl->nsegs = 0;
	cl->has_reply = false;
	cl->words = xdr->p;

	if (chunks_decode_none(xdr))
		return 0;
	if (chunks_decode_read_list(xdr, cl, err) ||
	    chunks_decode_write_list(xdr, cl, err))
		return -EBADMSG;
	if (chunks_decode_follows(xdr, &has_reply, err))
		return -EBADMSG;
	if (has_reply &&
	    chunk_decode_segments(xdr, cl, rpcrdma2_add_reply_chunk(cl), err))
		return -EBADMSG;
	return 0;
}

/**
 * rpcrdma2_reads_fit - whether every Read chunk has its place in the message
 * @cl: decoded chunk lists
 * @len: octets of the payload stream that did not travel in chunks of their
 *	own: the inline RPC message, or a Position-Zero Read chunk
 *
 * Positions count the whole payload stream, what was cut out of it included.
 * The XID and the direction are never cut out.
 *
 * Return: false if a chunk would lie behind the end, or within those words
 */
bool rpcrdma2_reads_fit(const struct rpcrdma2_chunk_lists *cl, size_t len)
{
	const struct rpcrdma2_chunk *cur;
	unsigned int i;
	u32 cut = 0;

	for (i = 0; i < cl->nreads; i++) {
		cur = &cl->reads[i];
		if (!cur->position)
			continue;
		if (cur->position < 2 * XDR_UNIT || cur->position - cut > len)
			return false;
		cut += xdr_align_size(cur->length);
	}
	return true;
}

static bool chunk_has_handle(const struct rpcrdma2_chunk_lists *cl,
			     const struct rpcrdma2_chunk *chunk, u32 handle)
{
	unsigned int i;

	for (i = 0; i < chunk->nsegs; i++)
		if (rpcrdma2_chunk_segment(cl, chunk, i).handle == handle)
			return true;
	return false;
}

/**
 * rpcrdma2_has_handle - whether a handle is one of a Call's
 * @cl: decoded chunk lists
 * @handle: STag
 *
 * Return: whether a segment has it
 */
bool rpcrdma2_has_handle(const struct rpcrdma2_chunk_lists *cl, u32 handle)
{
	unsigned int i;

	for (i = 0; i < cl->nreads; i++)
		if (chunk_has_handle(cl, &cl->reads[i], handle))
			return true;
	for (i = 0; i < cl->nwrites; i++)
		if (chunk_has_handle(cl, &cl->writes[i], handle))
			return true;
	return cl->has_reply && chunk_has_handle(cl, &cl->reply, handle);
}

/**
 * rpcrdma2_any_handle - one of a Call's handles
 * @cl: decoded chunk lists
 *
 * Return: that of a segment, or 0 if there is none
 */
u32 rpcrdma2_any_handle(const struct rpcrdma2_chunk_lists *cl)
{
	unsigned int i;

	if (cl->nreads)
		return rpcrdma2_chunk_segment(cl, &cl->reads[0], 0).handle;
	for (i = 0; i < cl->nwrites; i++)
		if (cl->writes[i].nsegs)
			return rpcrdma2_chunk_segment(cl, &cl->writes[i],
						      0).handle;
	if (cl->has_reply && cl->reply.nsegs)
		return rpcrdma2_chunk_segment(cl, &cl->reply, 0).handle;
	return 0;
}

/* Segment @i as it goes out: all of it, or as far as it was used. */
static __be32 *segment_encode_used(__be32 *p,
				   const struct rpcrdma2_chunk_lists *cl,
				   const struct rpcrdma2_chunk *chunk,
				   unsigned int i, u32 *left)
{
	struct rpcrdma2_segment seg = rpcrdma2_chunk_segment(cl, chunk, i);

	seg.length = min_t(u32, seg.length, *left);
	*left -= seg.length;
	return segment_encode(p, &seg);
}

static __be32 *chunk_encode_read(__be32 *p,
				 const struct rpcrdma2_chunk_lists *cl,
				 const struct rpcrdma2_chunk *chunk)
{
	u32 left = chunk->length;
	unsigned int i;

	for (i = 0; i < chunk->nsegs; i++) {
		*p++ = xdr_one;
		*p++ = cpu_to_be32(chunk->position);
		p = segment_encode_used(p, cl, chunk, i, &left);
	}
	return p;
}

static __be32 *chunk_encode_segments(__be32 *p,
				     const struct rpcrdma2_chunk_lists *cl,
				     const struct rpcrdma2_chunk *chunk)
{
	u32 left = chunk->length;
	unsigned int i;

	*p++ = xdr_one;
	*p++ = cpu_to_be32(chunk->nsegs);
	for (i = 0; i < chunk->nsegs; i++)
		p = segment_encode_used(p, cl, chunk, i, &left);
	return p;
}

/**
 * rpcrdma2_chunk_lists_size - size of encoded chunk lists
 * @cl: what would be encoded
 *
 * Return: octets
 */
size_t rpcrdma2_chunk_lists_size(const struct rpcrdma2_chunk_lists *cl)
{
	size_t words = 3;	/* the ends of the lists */
	unsigned int i;

	for (i = 0; i < cl->nreads; i++)
		words += 6 * cl->reads[i].nsegs;
	for (i = 0; i < cl->nwrites; i++)
		words += 2 + 4 * cl->writes[i].nsegs;
	if (cl->has_reply)
		words += 1 + 4 * cl->reply.nsegs;
	return words * XDR_UNIT;
}

/**
 * rpcrdma2_encode_chunk_lists - encode Read and Write lists and the Reply
 *	chunk
 * @xdr: stream to write to
 * @cl: what to write
 *
 * Return: 0, or -EMSGSIZE if @xdr has too little room
 */
int rpcrdma2_encode_chunk_lists(struct xdr_stream *xdr,
				const struct rpcrdma2_chunk_lists *cl)
{
	unsigned int i;
	__be32 *p;

	p = xdr_reserve_space(xdr, rpcrdma2_chunk_lists_size(cl));
	if (!p)
		return -EMSGSIZE;

	for (i = 0; i < cl->nreads; i++)
		p = chunk_encode_read(p, cl, &cl->reads[i]);
	*p++ = xdr_zero;
	for (i = 0; i < cl->nwrites; i++)
		p = chunk_encode_segments(p, cl, &cl->writes[i]);
	*p++ = xdr_zero;
	if (cl->has_reply)
		chunk_encode_segments(p, cl, &cl->reply);
	else
		*p = xdr_zero;
	return 0;
}

/**
 * rpcrdma2_form - how a message travels
 * @cl: its chunk lists
 *
 * Return: enum rpcrdma2_form, one bit or several
 */
u32 rpcrdma2_form(const struct rpcrdma2_chunk_lists *cl)
{
	bool zero = rpcrdma2_position_zero(cl);
	u32 form = 0;

	if (zero)
		form |= RPCRDMA2_FORM_POSITION_ZERO;
	if (cl->nreads > zero)
		form |= RPCRDMA2_FORM_READ_CHUNK;
	if (cl->nwrites)
		form |= RPCRDMA2_FORM_WRITE_CHUNK;
	if (cl->has_reply)
		form |= RPCRDMA2_FORM_REPLY_CHUNK;
	return form ?: RPCRDMA2_FORM_INLINE;
}

/**
 * rpcrdma2_read_octets - how much the Read chunks hold
 * @cl: chunk lists
 *
 * Return: octets in all of them
 */
u32 rpcrdma2_read_octets(const struct rpcrdma2_chunk_lists *cl)
{
	unsigned int i;
	u32 octets = 0;

	for (i = 0; i < cl->nreads; i++)
		octets += cl->reads[i].length;
	return octets;
}

/**
 * rpcrdma2_write_octets - how much the Write chunks and the Reply chunk hold
 * @cl: chunk lists
 *
 * Return: octets in all of them
 */
u32 rpcrdma2_write_octets(const struct rpcrdma2_chunk_lists *cl)
{
	u32 octets = cl->has_reply ? cl->reply.length : 0;
	unsigned int i;

	for (i = 0; i < cl->nwrites; i++)
		octets += cl->writes[i].length;
	return octets;
}
