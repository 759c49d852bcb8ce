// SPDX-License-Identifier: GPL-2.0
/*
 * Calls the decoders for the analysis by Frama-C's EVA in tests/prove.sh. The messages have
 * each length from FIRST to LAST, in steps of STEP octets, and any contents.
 *
 * EVA follows all paths at once. It reports reads and writes that may be out of bounds,
 * reads of memory that nobody has written, and all other undefined behaviour. A message
 * lies in memory of exactly its own length. EVA's log shows a call of
 * Frama_C_show_each_ACCEPTED() for each length at which a message can be accepted.
 */
#include <stdlib.h>
#include "__fc_builtin.h"
#include "wire.h"

/* Read what the layers above read of an accepted header. */
static u32 read_chunk(const struct rpcrdma2_chunk_lists *cl, const struct rpcrdma2_chunk *chunk)
{
	struct rpcrdma2_segment seg;
	unsigned int i;
	u32 sum = 0;

	//@ loop unroll RPCRDMA2_MAX_SEGMENTS;
	for (i = 0; i < chunk->nsegs; i++) {
		seg = rpcrdma2_chunk_segment(cl, chunk, i);
		sum |= seg.handle | seg.length | (u32)seg.offset;
	}
	return sum;
}

static u32 read_chunks(const struct rpcrdma2_chunk_lists *cl)
{
	unsigned int i;
	u32 sum = rpcrdma2_form(cl);

	//@ loop unroll RPCRDMA2_MAX_READ_CHUNKS;
	for (i = 0; i < cl->nreads; i++)
		sum |= read_chunk(cl, &cl->reads[i]);
	//@ loop unroll RPCRDMA2_MAX_WRITE_CHUNKS;
	for (i = 0; i < cl->nwrites; i++)
		sum |= read_chunk(cl, &cl->writes[i]);
	if (cl->has_reply)
		sum |= read_chunk(cl, &cl->reply);
	return sum;
}

static void header(const struct rpcrdma2_dialect *dialect, void *msg, size_t len)
{
	static struct rpcrdma2_header hdr;
	struct xdr_stream xdr;
	struct xdr_buf buf;

	hdr.response = Frama_C_nondet(0, 1);
	rpcrdma2_stream_decode(&xdr, &buf, msg, len);
	if (rpcrdma2_decode(dialect, &xdr, &hdr))
		return;
	Frama_C_show_each_ACCEPTED(len);
	if (hdr.kind == RPCRDMA2_MSG || hdr.kind == RPCRDMA2_NOMSG)
		read_chunks(&hdr.chunks);
}

static void decode_v1(void *msg, size_t len)
{
	header(&rpcrdma2_v1, msg, len);
}

static void decode_v2_01(void *msg, size_t len)
{
	header(&rpcrdma2_v2_01, msg, len);
}

static void decode_v2_09(void *msg, size_t len)
{
	header(&rpcrdma2_v2_09, msg, len);
}

/* A client's first message, as a server sees it */
static void recognize(void *msg, size_t len)
{
	if (rpcrdma2_recognize(&rpcrdma2_all_dialects, msg, len)->version)
		Frama_C_show_each_ACCEPTED(len);
}

static void private_data(void *msg, size_t len)
{
	struct rpcrdma2_private_data pd;

	if (rpcrdma2_decode_private_data(msg, len, &pd) && pd.send_size && pd.recv_size)
		Frama_C_show_each_ACCEPTED(len, pd.remote_inv);
}

int main(void)
{
	size_t len;
	char *msg;

	//@ loop unroll 1 + (LAST - FIRST) / STEP;
	for (len = FIRST; len <= LAST; len += STEP) {
		msg = malloc(len);
		Frama_C_make_unknown(msg, len);
		WHAT(msg, len);
		free(msg);
	}
	return 0;
}
