// SPDX-License-Identifier: GPL-2.0
/*
 * Headers at each limit, and one above.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"

#define RPC_LEN		40
#define SEG_LEN		4

/* Chunks of one list all have the same number of segments. */
struct shape {
	const char	*name;
	unsigned int	reads, read_segs;
	unsigned int	writes, write_segs;
	int		reply_segs;	/* -1: no Reply chunk */
	bool		nomsg;
	u32		answer;
};

static const struct shape shapes[] = {
	{ "8 Read chunks", 8, 1, 0, 0, -1 },
	{ "9 Read chunks", 9, 1, 0, 0, -1, false, RDMA2_ERR_READ_CHUNKS },
	{ "8 Read chunks, one of them at zero", 8, 1, 0, 0, -1, true },
	{ "9 Read chunks, one of them at zero", 9, 1, 0, 0, -1, true,
	  RDMA2_ERR_READ_CHUNKS },
	{ "100 Read chunks", 100, 1, 0, 0, -1, false, RDMA2_ERR_READ_CHUNKS },
	{ "8 Write chunks", 0, 0, 8, 1, -1 },
	{ "9 Write chunks", 0, 0, 9, 1, -1, false, RDMA2_ERR_WRITE_CHUNKS },
	{ "8 Write chunks without segments", 0, 0, 8, 0, -1 },
	{ "9 Write chunks without segments", 0, 0, 9, 0, -1, false,
	  RDMA2_ERR_WRITE_CHUNKS },
	{ "a Read chunk of 272 segments", 1, 272, 0, 0, -1 },
	{ "a Read chunk of 273 segments", 1, 273, 0, 0, -1, false,
	  RDMA2_ERR_SEGMENTS },
	{ "272 segments at zero", 1, 272, 0, 0, -1, true },
	{ "273 segments at zero", 1, 273, 0, 0, -1, true, RDMA2_ERR_SEGMENTS },
	{ "a Write chunk of 272 segments", 0, 0, 1, 272, -1 },
	{ "a Write chunk of 273 segments", 0, 0, 1, 273, -1, false,
	  RDMA2_ERR_SEGMENTS },
	{ "a Reply chunk of 272 segments", 0, 0, 0, 0, 272 },
	{ "a Reply chunk of 273 segments", 0, 0, 0, 0, 273, false,
	  RDMA2_ERR_SEGMENTS },
	{ "a Reply chunk of 1000 segments", 0, 0, 0, 0, 1000, false,
	  RDMA2_ERR_SEGMENTS },
	{ "many in each, and no chunk with too many", 8, 16, 8, 64, 272 },
	{ "too many in the last chunk", 8, 16, 8, 60, 273, false,
	  RDMA2_ERR_SEGMENTS },
	{ "segments, and a Reply chunk of none", 8, 8, 8, 0, 0 },
	{ "too many of all: the first list counts", 9, 1, 9, 80, 273, false,
	  RDMA2_ERR_READ_CHUNKS },
};

static void shape_desc(const struct shape *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", s->name);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_desc);

static void put_segments(struct wire_msg *msg, unsigned int n)
{
	while (n--)
		wire_put_segment(msg, 0x1000 + n, SEG_LEN, (u64)n << 32);
}

/*
 * Read chunks at the end of the inline message, or within the external one, so that
 * their positions are valid.
 */
static void build(struct wire_msg *msg, u32 version, const struct shape *s)
{
	u32 position = s->nomsg ? 0 : RPC_LEN;
	unsigned int i, j;

	wire_put(msg, 0x11223344);
	wire_put(msg, version);
	wire_put(msg, 32);
	wire_put(msg, s->nomsg);
	if (version == 2) {
		wire_put(msg, 0);	/* flags */
		wire_put(msg, 0);	/* inv_handle */
	}
	for (i = 0; i < s->reads; i++) {
		for (j = 0; j < s->read_segs; j++) {
			wire_put(msg, 1);
			wire_put(msg, position);
			/*
			 * The chunk at position zero needs 8 octets for the XID and the
			 * direction.
			 */
			wire_put_segment(msg, i, position ? SEG_LEN : 8, j);
		}
		position += position ? SEG_LEN * s->read_segs : 8;
	}
	wire_put(msg, 0);
	for (i = 0; i < s->writes; i++) {
		wire_put(msg, 1);
		wire_put(msg, s->write_segs);
		put_segments(msg, s->write_segs);
	}
	wire_put(msg, 0);
	wire_put(msg, s->reply_segs >= 0);
	if (s->reply_segs >= 0) {
		wire_put(msg, s->reply_segs);
		put_segments(msg, s->reply_segs);
	}
	if (!s->nomsg)
		wire_put_rpc(msg, 0x11223344, false, RPC_LEN);
}

static struct rpcrdma2_header *decode_shape(struct kunit *test, u32 version,
					    int want, size_t *rest)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_header *hdr;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	build(msg, version, test->param_value);
	KUNIT_ASSERT_EQ(test, wire_decode(version, msg->octets, msg->len, hdr,
					  rest), want);
	return hdr;
}

static void expect_shape(struct kunit *test, u32 version,
			 const struct shape *s)
{
	struct rpcrdma2_header *hdr;
	const char *wrong;
	size_t rest;

	hdr = decode_shape(test, version, 0, &rest);
	KUNIT_EXPECT_EQ(test, hdr->chunks.nreads, s->reads);
	KUNIT_EXPECT_EQ(test, hdr->chunks.nwrites, s->writes);
	KUNIT_EXPECT_EQ(test, hdr->chunks.has_reply, s->reply_segs >= 0);
	KUNIT_EXPECT_EQ(test, hdr->chunks.nsegs,
			s->reads * s->read_segs + s->writes * s->write_segs +
			max_t(int, s->reply_segs, 0));
	wrong = wire_check_accepted(version, hdr, rest);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "inconsistent");
	wrong = wire_check_round_trip(version, hdr, rest);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "round trip");
}

static void expect_limits(struct kunit *test, u32 version)
{
	const struct shape *s = test->param_value;
	struct rpcrdma2_error want = { .code = s->answer };
	struct rpcrdma2_header *hdr;
	const char *wrong;
	size_t rest;

	if (!s->answer) {
		expect_shape(test, version, s);
		return;
	}
	if (s->answer == RDMA2_ERR_SEGMENTS)
		want.max_segments = 272;
	else
		want.max_chunks = 8;
	hdr = decode_shape(test, version, -EBADMSG, &rest);
	wrong = wire_error_differs(&hdr->error, &want);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "code %u instead of %u",
			       hdr->error.code, s->answer);
}

static void keeps_to_limits(struct kunit *test)
{
	expect_limits(test, 2);
}

static void v1_keeps_to_limits(struct kunit *test)
{
	expect_limits(test, 1);
}

struct added {
	const char	*name;
	u32		before;		/* octets that the chunk has already */
	u32		length;
	u64		offset;
	int		rc;
};

static const struct added added[] = {
	{ "nothing at all", 0, 0, 0, 0 },
	{ "nothing at the highest offset", 0, 0, U64_MAX, 0 },
	{ "the last octet", 0, 1, U64_MAX - 1, 0 },
	{ "beyond the last octet", 0, 1, U64_MAX, -ERANGE },
	{ "the longest", 0, U32_MAX, 0, 0 },
	{ "the longest, at the end", 0, U32_MAX, U64_MAX - U32_MAX, 0 },
	{ "the longest, beyond the end", 0, U32_MAX, U64_MAX - U32_MAX + 1,
	  -ERANGE },
	{ "nothing to a full chunk", U32_MAX, 0, 0, 0 },
	{ "an octet to a full chunk", U32_MAX, 1, 0, -ERANGE },
	{ "two halves", 1U << 31, (1U << 31) - 1, 0, 0 },
	{ "two halves and one", 1U << 31, 1U << 31, 0, -ERANGE },
};

static void added_desc(const struct added *a, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", a->name);
}

KUNIT_ARRAY_PARAM(added, added, added_desc);

static struct rpcrdma2_chunk_lists *new_lists(struct kunit *test)
{
	struct rpcrdma2_chunk_lists *cl;

	cl = kunit_kzalloc(test, sizeof(*cl), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cl);
	cl->words = kunit_kzalloc(test, RPCRDMA2_OWN_SEGMENTS *
				  RPCRDMA2_SEGMENT_WORDS * XDR_UNIT, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cl->words);
	return cl;
}

static void adds_a_segment(struct kunit *test)
{
	const struct added *a = test->param_value;
	struct rpcrdma2_chunk_lists *cl = new_lists(test);
	struct rpcrdma2_chunk *chunk = rpcrdma2_add_reply_chunk(cl);

	KUNIT_ASSERT_EQ(test, rpcrdma2_add_segment(cl, chunk, 1, a->before, 0),
			0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_add_segment(cl, chunk, 2, a->length,
						   a->offset), a->rc);
	KUNIT_EXPECT_EQ(test, cl->nsegs, a->rc ? 1 : 2);
	KUNIT_EXPECT_EQ(test, chunk->nsegs, a->rc ? 1 : 2);
	KUNIT_EXPECT_EQ(test, chunk->length,
			a->rc ? a->before : a->before + a->length);
}

static void adds_no_more_segments_than_fit(struct kunit *test)
{
	struct rpcrdma2_chunk_lists *cl = new_lists(test);
	struct rpcrdma2_chunk *chunk = rpcrdma2_add_write_chunk(cl);
	unsigned int i;

	for (i = 0; i < RPCRDMA2_OWN_SEGMENTS; i++)
		KUNIT_EXPECT_EQ(test, rpcrdma2_add_segment(cl, chunk, i, 1, i),
				0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_add_segment(cl, chunk, i, 1, i), -E2BIG);
	KUNIT_EXPECT_EQ(test, cl->nsegs, RPCRDMA2_OWN_SEGMENTS);
	KUNIT_EXPECT_EQ(test, chunk->nsegs, RPCRDMA2_OWN_SEGMENTS);
}

static void adds_no_more_chunks_than_fit(struct kunit *test)
{
	struct rpcrdma2_chunk_lists *cl = new_lists(test);
	unsigned int i;

	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_TRUE(test, rpcrdma2_add_read_chunk(cl, 80 - 4 * i));
		KUNIT_EXPECT_TRUE(test, rpcrdma2_add_write_chunk(cl));
	}
	KUNIT_EXPECT_FALSE(test, rpcrdma2_add_read_chunk(cl, 0));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_add_write_chunk(cl));
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, cl->reads[i].position, 52 + 4 * i);
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE_PARAM(keeps_to_limits, shape_gen_params),
	KUNIT_CASE_PARAM(v1_keeps_to_limits, shape_gen_params),
	KUNIT_CASE_PARAM(adds_a_segment, added_gen_params),
	KUNIT_CASE(adds_no_more_segments_than_fit),
	KUNIT_CASE(adds_no_more_chunks_than_fit),
	{}
};

static struct kunit_suite limits_suite = {
	.name = "rpcrdma2_wire_limits",
	.test_cases = limits_cases,
};

kunit_test_suite(limits_suite);
