// SPDX-License-Identifier: GPL-2.0
/*
 * Chunk lists (v2-09, 3.3; RFC 8166, 3.4) have the same form in all versions.
 *
 * On the wire they are, in this order:
 *
 * - the Read list: a chain of links (position, segment). The segments of one Read chunk
 *   share a position;
 * - the Write list: a chain of counted arrays of segments;
 * - the Reply chunk: one optional counted array of segments.
 *
 * A chain is XDR's optional-data: a 1 precedes each link, and a 0 ends the chain.
 *
 * In memory the segments stay in wire form. A chunk says where its first segment is, and
 * how far apart its segments are.
 */
#include "wire.h"

#define SEGMENT_SIZE		(RPCRDMA2_SEGMENT_WORDS * XDR_UNIT)

/* A link of the Read list: the word 1, a position, and a segment */
#define READ_SEGMENT_WORDS	(2 + RPCRDMA2_SEGMENT_WORDS)

/**
 * rpcrdma2_chunk_segment - read one segment of a chunk
 * @cl: chunk lists
 * @chunk: a chunk of @cl
 * @i: index of the segment, less than @chunk->nsegs
 *
 * Context: Any context.
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

/* Return: 0, or -ERANGE if the segment or the chunk would wrap; nothing is counted then */
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
 * rpcrdma2_add_segment - append a segment to the chunk that was added last
 * @cl: chunk lists under construction
 * @chunk: the chunk of @cl that was added last
 * @handle: STag or R_key
 * @length: octets
 * @offset: virtual address
 *
 * Context: Any context.
 * Return: 0; -E2BIG if @cl has %RPCRDMA2_OWN_SEGMENTS already; -ERANGE if the segment
 *	would wrap around the address space, or if the chunk's length would wrap
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
 * rpcrdma2_add_read_chunk - add an empty Read chunk
 * @cl: chunk lists under construction
 * @position: XDR position of the data item in the payload stream, octets
 *
 * Read chunks are in order of position, so the new chunk may move others.
 *
 * Context: Any context.
 * Return: the chunk, or NULL if @cl has %RPCRDMA2_MAX_READ_CHUNKS already
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
 * rpcrdma2_add_write_chunk - add an empty Write chunk
 * @cl: chunk lists under construction
 *
 * Context: Any context.
 * Return: the chunk, or NULL if @cl has %RPCRDMA2_MAX_WRITE_CHUNKS already
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
 * rpcrdma2_add_reply_chunk - add an empty Reply chunk
 * @cl: chunk lists under construction, without a Reply chunk yet
 *
 * Context: Any context.
 * Return: the chunk
 */
struct rpcrdma2_chunk *
rpcrdma2_add_reply_chunk(struct rpcrdma2_chunk_lists *cl)
{
	cl->has_reply = true;
	chunk_init(cl, &cl->reply, 0);
	return &cl->reply;
}

/**
 * rpcrdma2_return_chunk - return a Call's chunk in the Reply
 * @cl: chunk lists of the Reply, whose words are the Call's
 * @chunk: the chunk of @cl that was added last
 * @offer: the Call's chunk
 * @used: octets of @offer that the responder wrote, from its first segment on
 *
 * Context: Any context.
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

/* @p points to the segment in the message, which @cl->words points into. */
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

/* The word in front of each link, and in front of the Reply chunk */
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
 * The segments of a Read chunk are consecutive links. A position that comes back after
 * another one would split its chunk, so it is refused.
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
 * Read chunks must not overlap in the payload stream. The chunk at position zero overlaps
 * none: it holds the stream from which the other chunks were taken out.
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

/* The fast path: most messages have no chunks, so their lists are three zeros. */
static bool chunks_decode_none(struct xdr_stream *xdr)
{
	static const __be32 ends[3];

	if (xdr_stream_remaining(xdr) < sizeof(ends) ||
	    memcmp(xdr->p, ends, sizeof(ends)))
		return false;
	return xdr_inline_decode(xdr, sizeof(ends));
}

/**
 * rpcrdma2_decode_chunk_lists - decode the Read list, the Write list and the Reply chunk
 * @xdr: stream at the Read list
 * @cl: chunk lists to fill in, but for inv_handle. They refer to the message, so they are
 *	valid as long as the message's buffer
 * @err: answer to send if the lists are refused
 *
 * Context: Any context.
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
 * rpcrdma2_reads_fit - whether each Read chunk has its place in the payload stream
 * @cl: decoded chunk lists
 * @len: octets of the payload stream outside its Read chunks: the inline RPC message, or
 *	the Position-Zero Read chunk
 *
 * A position counts the whole payload stream, with the data items of other chunks. XID
 * and direction never travel in a chunk at a position other than zero.
 *
 * Context: Any context.
 * Return: false if a chunk lies behind the end of the stream, or in its first two words
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
 * rpcrdma2_has_handle - whether a Call offers a handle
 * @cl: decoded chunk lists of the Call
 * @handle: STag or R_key
 *
 * Context: Any context.
 * Return: true if a segment of @cl has @handle
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
 * rpcrdma2_any_handle - choose one of the handles that a Call offers
 * @cl: decoded chunk lists of the Call
 *
 * Context: Any context.
 * Return: the handle of a segment, or 0 if there is none
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

/* @left: octets of the chunk that are in use from segment @i on; updated */
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
 * rpcrdma2_chunk_lists_size - size of chunk lists on the wire
 * @cl: chunk lists to encode
 *
 * Context: Any context.
 * Return: octets
 */
size_t rpcrdma2_chunk_lists_size(const struct rpcrdma2_chunk_lists *cl)
{
	size_t words = 3;	/* the zeros that end the lists */
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
 * rpcrdma2_encode_chunk_lists - encode the Read list, the Write list and the Reply chunk
 * @xdr: stream to write to
 * @cl: chunk lists to encode
 *
 * Context: Any context.
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
 * rpcrdma2_form - how an RPC message travels
 * @cl: chunk lists of its header
 *
 * Context: Any context.
 * Return: bits of enum rpcrdma2_form
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
 * rpcrdma2_read_octets - sum up the lengths of all Read chunks
 * @cl: chunk lists
 *
 * Context: Any context.
 * Return: octets
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
 * rpcrdma2_write_octets - sum up the lengths of all Write chunks and the Reply chunk
 * @cl: chunk lists
 *
 * Context: Any context.
 * Return: octets
 */
u32 rpcrdma2_write_octets(const struct rpcrdma2_chunk_lists *cl)
{
	u32 octets = cl->has_reply ? cl->reply.length : 0;
	unsigned int i;

	for (i = 0; i < cl->nwrites; i++)
		octets += cl->writes[i].length;
	return octets;
}
