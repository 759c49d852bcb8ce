// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how long wire/ takes to encode and to decode a header, in user space. It
 * prints a line of NAME=VALUE for each kind of header, in versions 1 and 2.
 *
 *	codec [LOOPS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "wire_test.h"

#define REPEATS		100
#define RPC_OCTETS	64

/* A kind of header, by its chunks and the segments in each chunk */
static const struct shape {
	const char	*name;
	bool		reply;
	unsigned int	reads;
	unsigned int	writes;
	unsigned int	reply_chunks;
	unsigned int	segments;
} shapes[] = {
	{ .name = "call-inline" },
	{ .name = "call-read-chunk", .reads = 1, .segments = 1 },
	{ .name = "call-write-chunk", .writes = 1, .segments = 1 },
	{ .name = "call-all-lists", .reads = 1, .writes = 1,
	  .reply_chunks = 1, .segments = 1 },
	{ .name = "call-16-segments", .reads = 1, .segments = 16 },
	{ .name = "reply-inline", .reply = true },
	{ .name = "reply-write-chunk", .reply = true, .writes = 1,
	  .segments = 1 },
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void fill(struct rpcrdma2_chunk_lists *cl, struct rpcrdma2_chunk *chunk,
		 unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		rpcrdma2_add_segment(cl, chunk, 0x1000 + i, 4096, 4096 * i);
}

static void make_header(struct rpcrdma2_header *hdr, const struct shape *shape,
			u32 version)
{
	static __be32 words[RPCRDMA2_OWN_SEGMENTS * RPCRDMA2_SEGMENT_WORDS];
	struct rpcrdma2_chunk_lists *cl = &hdr->chunks;
	unsigned int i;

	memset(hdr, 0, sizeof(*hdr));
	cl->words = words;
	hdr->xid = 0x11223344;
	hdr->vers = version;
	hdr->credit = 32;
	hdr->kind = RPCRDMA2_MSG;
	hdr->response = shape->reply;
	for (i = 0; i < shape->reads; i++)
		fill(cl, rpcrdma2_add_read_chunk(cl, 8), shape->segments);
	for (i = 0; i < shape->writes; i++)
		fill(cl, rpcrdma2_add_write_chunk(cl), shape->segments);
	for (i = 0; i < shape->reply_chunks; i++)
		fill(cl, rpcrdma2_add_reply_chunk(cl), shape->segments);
}

static int decode(struct wire_msg *msg, u32 version, bool reply,
		  struct rpcrdma2_header *hdr)
{
	struct xdr_stream xdr;
	struct xdr_buf buf;

	hdr->response = reply;
	rpcrdma2_stream_decode(&xdr, &buf, msg->octets, msg->len);
	return rpcrdma2_decode(wire_dialect(version), &xdr, hdr);
}

static void fail(const struct shape *shape, u32 version, const char *what)
{
	fprintf(stderr, "codec: version %u, %s: can't %s\n", version,
		shape->name, what);
	exit(1);
}

/* Return: the shortest of REPEATS times, because disturbances only add time. */
static double encode_ns(const struct shape *shape, u32 version, long loops,
			struct wire_msg *msg)
{
	static struct rpcrdma2_header hdr;
	double best = 0, start, ns;
	int i;
	long n;

	make_header(&hdr, shape, version);
	for (i = 0; i < REPEATS; i++) {
		start = now();
		for (n = 0; n < loops; n++)
			if (wire_encode(version, msg, &hdr))
				fail(shape, version, "encode");
		ns = (now() - start) / loops;
		if (!i || ns < best)
			best = ns;
	}
	return best;
}

static double decode_ns(const struct shape *shape, u32 version, long loops,
			struct wire_msg *msg)
{
	static struct rpcrdma2_header hdr;
	double best = 0, start, ns;
	int i;
	long n;

	wire_put_rpc(msg, 0x11223344, shape->reply, RPC_OCTETS);
	for (i = 0; i < REPEATS; i++) {
		start = now();
		for (n = 0; n < loops; n++)
			if (decode(msg, version, shape->reply, &hdr))
				fail(shape, version, "decode");
		ns = (now() - start) / loops;
		if (!i || ns < best)
			best = ns;
	}
	return best;
}

int main(int argc, char **argv)
{
	long loops = argc > 1 ? atol(argv[1]) : 10000;
	static struct wire_msg msg;
	double encoded, decoded;
	unsigned int i;
	size_t len;
	u32 version;

	for (version = 1; version <= 2; version++) {
		for (i = 0; i < ARRAY_SIZE(shapes); i++) {
			encoded = encode_ns(&shapes[i], version, loops, &msg);
			len = msg.len;
			decoded = decode_ns(&shapes[i], version, loops, &msg);
			printf("part=codec version=%u what=%s octets=%zu encode=%.1f decode=%.1f\n",
			       version, shapes[i].name, len, encoded, decoded);
		}
	}
	return 0;
}
