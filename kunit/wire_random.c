// SPDX-License-Identifier: GPL-2.0
/*
 * Random headers from a seed, the same in each run and on each machine, for a suite and
 * for the fuzzer.
 */
#include "wire_test.h"

/**
 * wire_random - draw a number, by xorshift64*
 * @rng: random numbers
 *
 * Context: any.
 *
 * Return: any number of 32 bits.
 */
u32 wire_random(struct wire_rng *rng)
{
	u64 x = rng->state ? rng->state : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	rng->state = x;
	return (x * 0x2545f4914f6cdd1dULL) >> 32;
}

/**
 * wire_random_below - draw a number below a limit
 * @rng: random numbers
 * @limit: the limit
 *
 * Context: any.
 *
 * Return: a number below @limit; 0 if @limit is 0.
 */
u32 wire_random_below(struct wire_rng *rng, u32 limit)
{
	return limit ? wire_random(rng) % limit : 0;
}

static bool one_in(struct wire_rng *rng, u32 n)
{
	return !wire_random_below(rng, n);
}

/**
 * wire_random_edgy - draw a number, often one at the edge of a range
 * @rng: random numbers
 *
 * Context: any.
 *
 * Return: any number of 32 bits.
 */
u32 wire_random_edgy(struct wire_rng *rng)
{
	static const u32 edges[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 9, 271, 272, 273, 1020, 1024, 4096,
		0x0fffffff, 0x10000000, 0x7fffffff, 0x80000000,
		0xfffffff8, 0xfffffffc, 0xffffffff,
	};

	if (one_in(rng, 3))
		return wire_random(rng);
	return edges[wire_random_below(rng, ARRAY_SIZE(edges))];
}

/* Number of segments for one chunk if @nsegs are left for all chunks */
static unsigned int some_segments(struct wire_rng *rng, unsigned int nsegs)
{
	unsigned int most = one_in(rng, 8) ? nsegs : 4;

	return wire_random_below(rng, min_t(unsigned int, most, nsegs) + 1);
}

static void fill_chunk(struct wire_rng *rng, struct rpcrdma2_chunk_lists *cl,
		       struct rpcrdma2_chunk *chunk, unsigned int nsegs,
		       u32 length)
{
	u64 offset;
	u32 piece;

	while (nsegs--) {
		piece = nsegs ? wire_random_below(rng, length + 1) : length;
		offset = (u64)wire_random(rng) << 32 | wire_random(rng);
		if (offset > U64_MAX - piece)
			offset = U64_MAX - piece;
		rpcrdma2_add_segment(cl, chunk, wire_random(rng), piece,
				     offset);
		length -= piece;
	}
}

/*
 * Add Read chunks at positions that leave @stream octets between them. Add the last one
 * first, so that rpcrdma2_add_read_chunk() has to sort.
 */
static void random_reads(struct wire_rng *rng, struct rpcrdma2_chunk_lists *cl,
			 unsigned int nreads, u32 stream)
{
	u32 position[RPCRDMA2_MAX_READ_CHUNKS], length[RPCRDMA2_MAX_READ_CHUNKS];
	u32 at = 8, left = stream - 8, gap;
	unsigned int i;

	for (i = 0; i < nreads; i++) {
		gap = wire_random_below(rng, left / 4 + 1) * 4;
		left -= gap;
		position[i] = at + gap;
		length[i] = 1 + wire_random_below(rng, 1 << 20);
		at = position[i] + xdr_align_size(length[i]);
	}
	while (nreads--)
		fill_chunk(rng, cl, rpcrdma2_add_read_chunk(cl, position[nreads]),
			   1 + wire_random_below(rng, 3), length[nreads]);
}

static void random_calls_reads(struct wire_rng *rng, u32 kind,
			       struct rpcrdma2_chunk_lists *cl, u32 stream)
{
	unsigned int nreads = 0;

	if (one_in(rng, 2))
		nreads = wire_random_below(rng, RPCRDMA2_MAX_READ_CHUNKS);
	if (kind == RPCRDMA2_NOMSG)
		fill_chunk(rng, cl, rpcrdma2_add_read_chunk(cl, 0),
			   1 + wire_random_below(rng, 8), stream);
	random_reads(rng, cl, nreads, stream);
}

static void random_chunks(struct wire_rng *rng, struct rpcrdma2_header *hdr,
			  u32 stream)
{
	struct rpcrdma2_chunk_lists *cl = &hdr->chunks;
	unsigned int nwrites = 0, nsegs;

	cl->words = rng->words;
	if (!hdr->response)
		random_calls_reads(rng, hdr->kind, cl, stream);
	if (one_in(rng, 2))
		nwrites = wire_random_below(rng, RPCRDMA2_MAX_WRITE_CHUNKS + 1);
	while (nwrites--) {
		nsegs = some_segments(rng, RPCRDMA2_OWN_SEGMENTS - 1 - cl->nsegs);
		fill_chunk(rng, cl, rpcrdma2_add_write_chunk(cl), nsegs,
			   wire_random_edgy(rng));
	}
	if (hdr->response && hdr->kind == RPCRDMA2_NOMSG) {
		nsegs = 1 + some_segments(rng, RPCRDMA2_OWN_SEGMENTS - 1 -
					  cl->nsegs);
		fill_chunk(rng, cl, rpcrdma2_add_reply_chunk(cl), nsegs, stream);
	} else if (one_in(rng, 3)) {
		nsegs = some_segments(rng, RPCRDMA2_OWN_SEGMENTS - cl->nsegs);
		fill_chunk(rng, cl, rpcrdma2_add_reply_chunk(cl), nsegs,
			   wire_random_edgy(rng));
	}
}

/*
 * A handle of the Call's own. v2-09 may name none. In other dialects, a Call with
 * segments always has one, and it is not on the wire.
 */
static u32 random_inv_handle(struct wire_rng *rng,
			     const struct rpcrdma2_header *hdr)
{
	const struct rpcrdma2_chunk_lists *cl = &hdr->chunks;
	bool named = rng->codec == WIRE_V2;

	if (hdr->response)
		return named ? wire_random_edgy(rng) : 0;
	if (!cl->nsegs || (named && one_in(rng, 2)))
		return 0;
	/* Without gaps, a random segment is at a multiple of its size. */
	return be32_to_cpu(cl->words[wire_random_below(rng, cl->nsegs) *
				     RPCRDMA2_SEGMENT_WORDS]);
}

/* Fields that the error does not have stay zero, as a decoder leaves them. */
static void random_error(struct wire_rng *rng, struct rpcrdma2_error *err)
{
	static const u32 codes[] = {
		[WIRE_V1] = 2, [WIRE_V2] = 10, [WIRE_V2_01] = 3,
	};
	bool v2 = rng->codec == WIRE_V2;

	if (v2 && one_in(rng, 8)) {
		/* An error of another draft of version 2 */
		err->bare = true;
		err->code = 2 + wire_random_below(rng, 99);
		return;
	}
	err->code = 1 + wire_random_below(rng, codes[rng->codec]);
	switch (err->code) {
	case RDMA2_ERR_VERS:
		err->bare = !v2 || one_in(rng, 2);
		err->vers_low = wire_random_below(rng, 4);
		err->vers_high = err->vers_low + wire_random_below(rng, 4);
		break;
	case RDMA2_ERR_READ_CHUNKS:
	case RDMA2_ERR_WRITE_CHUNKS:
		err->max_chunks = wire_random_edgy(rng);
		break;
	case RDMA2_ERR_SEGMENTS:
		err->max_segments = wire_random_edgy(rng);
		break;
	case RDMA2_ERR_WRITE_RESOURCE:
		err->chunk_index = wire_random_edgy(rng);
		err->length_needed = wire_random_edgy(rng);
		break;
	case RDMA2_ERR_REPLY_RESOURCE:
		err->length_needed = wire_random_edgy(rng);
		break;
	}
}

static u32 random_rbsiz(struct wire_rng *rng)
{
	return 4 * (256 + (wire_random(rng) >> 4));
}

static void random_props(struct wire_rng *rng, struct rpcrdma2_props *props)
{
	props->rbsiz = random_rbsiz(rng);
	props->brs = wire_random_below(rng, 3);
	props->remote_inv = wire_random_below(rng, 2);
	props->changes = wire_random_below(rng, 2);
	props->wished_rbsiz = one_in(rng, 2) ? random_rbsiz(rng) : 0;
}

/* Choose properties of the dialect, at the places that an encoder gives them. */
static void random_request(struct wire_rng *rng, struct rpcrdma2_change *change)
{
	const struct rpcrdma2_prop_table *table = wire_dialect(rng->codec)->props;
	unsigned int i, field;

	for (i = 0; i < table->nr; i++) {
		if (one_in(rng, 2))
			continue;
		field = table->props[i].field / sizeof(u32);
		change->which |= 1U << field;
		change->at[field] = 1U << change->count++;
	}
}

static void random_change(struct wire_rng *rng, u32 kind,
			  struct rpcrdma2_change *change)
{
	const struct rpcrdma2_prop_table *table = wire_dialect(rng->codec)->props;
	u32 which = wire_random_below(rng, table->nr);

	random_props(rng, &change->props);
	switch (kind) {
	case RPCRDMA2_REQUEST:
		random_request(rng, change);
		break;
	case RPCRDMA2_DISPOSITION:
		change->done = wire_random(rng) & wire_random_edgy(rng);
		change->rejected = wire_random_edgy(rng) & ~change->done;
		change->pending = wire_random(rng) &
				  ~(change->done | change->rejected);
		break;
	default:
		change->which = 1U << table->props[which].field / sizeof(u32);
		change->settled = wire_random_below(rng, 2);
		break;
	}
}

/**
 * wire_random_header - make a header that its codec must encode and decode
 * @rng: random numbers; receives the codec and the segments
 * @hdr: receives the header
 *
 * Context: any.
 *
 * Return: octets of RPC message that must follow the header.
 */
size_t wire_random_header(struct wire_rng *rng, struct rpcrdma2_header *hdr)
{
	static const u32 kinds[] = {
		RPCRDMA2_MSG, RPCRDMA2_MSG, RPCRDMA2_MSG, RPCRDMA2_NOMSG, RPCRDMA2_NOMSG,
		RPCRDMA2_ERROR,
		/* Version 2 only: */
		RPCRDMA2_PROPS, RPCRDMA2_REQUEST, RPCRDMA2_DISPOSITION,
		RPCRDMA2_UPDATE,
	};
	unsigned int nkinds = ARRAY_SIZE(kinds);
	u32 stream = 8 + 4 * wire_random_below(rng, 64);

	memset(hdr, 0, sizeof(*hdr));
	hdr->xid = wire_random(rng);
	rng->codec = 1 + wire_random_below(rng, WIRE_NR_CODECS);
	hdr->vers = wire_dialect(rng->codec)->version;
	hdr->credit = wire_random_edgy(rng);
	if (hdr->vers == RPCRDMA2_VERSION_1)
		nkinds -= 4;
	hdr->kind = kinds[wire_random_below(rng, nkinds)];
	hdr->response = one_in(rng, 2);
	switch (hdr->kind) {
	case RPCRDMA2_ERROR:
		hdr->response = true;
		random_error(rng, &hdr->error);
		return 0;
	case RPCRDMA2_PROPS:
		random_props(rng, &hdr->props);
		return 0;
	case RPCRDMA2_REQUEST:
	case RPCRDMA2_DISPOSITION:
	case RPCRDMA2_UPDATE:
		random_change(rng, hdr->kind, &hdr->change);
		return 0;
	default:
		random_chunks(rng, hdr, stream);
		hdr->chunks.inv_handle = random_inv_handle(rng, hdr);
		return hdr->kind == RPCRDMA2_MSG ? stream : 0;
	}
}
