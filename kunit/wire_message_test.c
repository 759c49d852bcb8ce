// SPDX-License-Identifier: GPL-2.0
/*
 * Each vector decodes to its header, encodes to its octets, and is refused if cut short.
 * A shorter beginning of a message is
 *
 * - unanswerable, if it has fewer than 16 octets or ends inside a word;
 * - dropped, if it is an ERROR. Two such beginnings of version 2 are valid again. ERR_VERS of
 *   32 octets, less its last word, reads as the shape of 28 octets. The shape of 28 octets,
 *   less its last word, reads as the error whose number is the lowest version. That error
 *   must have no arguments;
 * - accepted, if it is a MSG with XID, direction, and all that Read chunks were cut out of;
 * - answered with ERR_BAD_XDR otherwise, which is ERR_CHUNK in version 1.
 *
 * Either end reads a message alike, except for external Replies of version 1. A server can't
 * tell them from malformed Calls. KUnit runs each case in process context.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "kunit_compat.h"
#include "wire_test.h"

#define GUARD		0xc3
#define NGUARDS		64

static void vector_desc(const struct wire_vector *v, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s: %s",
		 wire_dialect(wire_codec(v))->name, v->name);
}

static const void *vector_gen_params(KUNIT_GENERATOR_ARGS)
{
	const struct wire_vector *v;
	unsigned int i = 0;

	if (prev)
		while (wire_vector(i++) != prev)
			;
	v = wire_vector(i);
	if (v)
		vector_desc(v, desc);
	return v;
}

static struct wire_msg *message_of(struct kunit *test,
				   const struct wire_vector *v)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	wire_parse(msg, v->wire);
	if (v->rpc)
		wire_parse(msg, v->rpc);
	return msg;
}

static size_t header_len(struct kunit *test, const struct wire_vector *v)
{
	struct wire_vector bare = { .wire = v->wire };

	return message_of(test, &bare)->len;
}

static struct rpcrdma2_header *new_header(struct kunit *test)
{
	struct rpcrdma2_header *hdr;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	return hdr;
}

static void expect_header(struct kunit *test, const struct wire_vector *v,
			  const struct wire_msg *msg, bool expects_reply)
{
	struct rpcrdma2_header *hdr = new_header(test);
	const char *wrong;
	size_t rest;

	hdr->response = expects_reply;
	KUNIT_ASSERT_EQ(test, wire_decode(wire_codec(v), msg->octets, msg->len,
					  hdr, &rest), 0);
	wrong = wire_header_differs(wire_codec(v), hdr, &v->hdr);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "not as expected");
	wrong = wire_error_differs(&hdr->error, &v->hdr.error);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "not as expected");
	if (v->hdr.kind != RPCRDMA2_ERROR)
		KUNIT_EXPECT_EQ(test, rest, msg->len - header_len(test, v));
	wrong = wire_check_accepted(wire_codec(v), hdr, rest);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "inconsistent");
	wrong = wire_check_round_trip(wire_codec(v), hdr, rest);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "round trip");
}

static void decodes_to_its_header(struct kunit *test)
{
	const struct wire_vector *v = test->param_value;

	expect_header(test, v, message_of(test, v), v->hdr.response);
}

static void decodes_at_the_other_end(struct kunit *test)
{
	const struct wire_vector *v = test->param_value;
	struct wire_msg *msg = message_of(test, v);
	struct rpcrdma2_header *hdr;
	size_t rest;

	if (v->hdr.vers == 2 || v->hdr.kind != RPCRDMA2_NOMSG ||
	    !v->hdr.response) {
		expect_header(test, v, msg, !v->hdr.response);
		return;
	}
	hdr = new_header(test);
	KUNIT_ASSERT_EQ(test, wire_decode(1, msg->octets, msg->len, hdr, &rest),
			-EBADMSG);
	KUNIT_EXPECT_EQ(test, hdr->error.code, RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_FALSE(test, hdr->response);
}

static void encodes_to_its_octets(struct kunit *test)
{
	const struct wire_vector *v = test->param_value;
	struct wire_msg *want = message_of(test, v);
	struct wire_msg *got = message_of(test, v);
	size_t len = header_len(test, v);
	size_t i;

	KUNIT_ASSERT_EQ(test, wire_encode(wire_codec(v), got, &v->hdr), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_header_size(wire_dialect(wire_codec(v)),
						   &v->hdr),
			got->len);
	if (v->one_way)
		return;
	KUNIT_ASSERT_EQ(test, got->len, len);
	for (i = 0; i < len; i++)
		KUNIT_EXPECT_EQ_MSG(test, got->octets[i], want->octets[i],
				    "at octet %zu", i);
}

/* Encode into buffers of each size that is too small, with guards on both sides. */
static void needs_all_of_its_room(struct kunit *test)
{
	const struct wire_vector *v = test->param_value;
	const struct rpcrdma2_dialect *dialect = wire_dialect(wire_codec(v));
	size_t size = rpcrdma2_header_size(dialect, &v->hdr);
	struct wire_msg *msg = message_of(test, v);
	u8 *start = msg->octets + NGUARDS;
	struct xdr_stream xdr;
	struct xdr_buf buf;
	size_t room, i;

	KUNIT_ASSERT_EQ(test, size % XDR_UNIT, 0);
	for (room = 0; room <= size; room++) {
		memset(msg->octets, GUARD, sizeof(msg->octets));
		rpcrdma2_stream_encode(&xdr, &buf, start, room);
		KUNIT_EXPECT_EQ_MSG(test, rpcrdma2_encode(dialect, &xdr, &v->hdr),
				    room < size ? -EMSGSIZE : 0,
				    "with room for %zu", room);
		for (i = 0; i < NGUARDS; i++) {
			KUNIT_ASSERT_EQ_MSG(test, msg->octets[i], GUARD,
					    "before, room for %zu", room);
			KUNIT_ASSERT_EQ_MSG(test, start[room + i], GUARD,
					    "behind, room for %zu", room);
		}
	}
	KUNIT_EXPECT_EQ(test, buf.len, size);
}

/* The shortest beginning that is accepted, by the rules at the top of this file */
static size_t shortest(struct kunit *test, const struct wire_vector *v,
		       size_t len)
{
	size_t rpc = max_t(size_t, v->rpc_min, 2 * XDR_UNIT);

	return v->rpc ? header_len(test, v) + rpc : len;
}

static bool reads_as_another_error(const struct wire_vector *v, size_t len)
{
	const struct rpcrdma2_error *err = &v->hdr.error;

	if (v->hdr.vers == 1 || v->hdr.kind != RPCRDMA2_ERROR ||
	    err->code != RDMA2_ERR_VERS)
		return false;
	/*
	 * In v2-01, the words of ERR_VERS with a direction read as ERR_VERS without
	 * one.
	 */
	if (wire_codec(v) == WIRE_V2_01)
		return len == 28;
	if (!err->bare)
		return len == 28;
	return len == 24 && (err->vers_low == RDMA2_ERR_BAD_XDR ||
			     err->vers_low == RDMA2_ERR_INVAL_HTYPE);
}

/* The words of an unknown error are not known, so the error may end after any word. */
static bool ends_anywhere(const struct wire_vector *v, size_t len)
{
	return v->hdr.kind == RPCRDMA2_ERROR &&
	       v->hdr.error.code > RDMA2_ERR_SYSTEM && len >= 24;
}

static void refuses_cuts(struct kunit *test, bool expects_reply)
{
	const struct wire_vector *v = test->param_value;
	struct wire_msg *msg = message_of(test, v);
	struct rpcrdma2_header *hdr = new_header(test);
	size_t least = shortest(test, v, msg->len);
	size_t len, rest;
	bool accept;
	u32 code;
	int rc;

	for (len = 0; len < msg->len; len++) {
		accept = len % XDR_UNIT == 0 &&
			 (len >= least || reads_as_another_error(v, len) ||
			  ends_anywhere(v, len));
		hdr->response = expects_reply;
		rc = wire_decode(wire_codec(v), msg->octets, len, hdr, &rest);
		KUNIT_EXPECT_EQ_MSG(test, rc, accept ? 0 : -EBADMSG,
				    "the first %zu octets", len);
		if (accept || !rc)
			continue;
		code = RDMA2_ERR_BAD_XDR;
		if (len < 16 || len % XDR_UNIT || v->hdr.kind == RPCRDMA2_ERROR)
			code = RDMA2_ERR_NONE;
		KUNIT_EXPECT_EQ_MSG(test, hdr->error.code, code,
				    "the first %zu octets", len);
	}
}

static void server_refuses_what_is_cut_short(struct kunit *test)
{
	refuses_cuts(test, false);
}

static void client_refuses_what_is_cut_short(struct kunit *test)
{
	refuses_cuts(test, true);
}

static void cut_err_vers_reads_as_version_1(struct kunit *test)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_header *hdr = new_header(test);
	size_t rest;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	wire_parse(msg, "11223344 00000002 00000020 00000004;"
		   "00000001 00000001 00000001");
	KUNIT_ASSERT_EQ(test, wire_decode(2, msg->octets, msg->len, hdr, &rest),
			0);
	KUNIT_EXPECT_TRUE(test, hdr->error.bare);
	KUNIT_EXPECT_EQ(test, hdr->error.vers_low, 1);
	KUNIT_EXPECT_EQ(test, hdr->error.vers_high, 1);

	wire_put(msg, 4);
	KUNIT_ASSERT_EQ(test, wire_decode(2, msg->octets, msg->len, hdr, &rest),
			0);
	KUNIT_EXPECT_FALSE(test, hdr->error.bare);
	KUNIT_EXPECT_EQ(test, hdr->error.vers_low, 1);
	KUNIT_EXPECT_EQ(test, hdr->error.vers_high, 4);
}

static void add_segment(struct kunit *test, struct rpcrdma2_chunk_lists *cl,
			struct rpcrdma2_chunk *chunk, u32 handle, u32 octets)
{
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, chunk);
	KUNIT_ASSERT_EQ(test, rpcrdma2_add_segment(cl, chunk, handle, octets, 0), 0);
}

static void form_has_every_kind_of_chunk(struct kunit *test)
{
	struct rpcrdma2_chunk_lists *cl = &new_header(test)->chunks;
	__be32 words[4 * RPCRDMA2_SEGMENT_WORDS];
	u32 form = RPCRDMA2_FORM_POSITION_ZERO;

	cl->words = words;
	KUNIT_EXPECT_EQ(test, rpcrdma2_form(cl), RPCRDMA2_FORM_INLINE);

	add_segment(test, cl, rpcrdma2_add_read_chunk(cl, 0), 1, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_form(cl), form);
	add_segment(test, cl, rpcrdma2_add_read_chunk(cl, 4), 1, 20);
	form |= RPCRDMA2_FORM_READ_CHUNK;
	KUNIT_EXPECT_EQ(test, rpcrdma2_form(cl), form);
	add_segment(test, cl, rpcrdma2_add_write_chunk(cl), 1, 300);
	form |= RPCRDMA2_FORM_WRITE_CHUNK;
	KUNIT_EXPECT_EQ(test, rpcrdma2_form(cl), form);
	add_segment(test, cl, rpcrdma2_add_reply_chunk(cl), 1, 4000);
	form |= RPCRDMA2_FORM_REPLY_CHUNK;
	KUNIT_EXPECT_EQ(test, rpcrdma2_form(cl), form);
}

/* Entries of the lists that are not in use must not count. */
static void counts_octets_of_chunks_in_use(struct kunit *test)
{
	struct rpcrdma2_chunk_lists *cl = &new_header(test)->chunks;
	__be32 words[5 * RPCRDMA2_SEGMENT_WORDS];
	unsigned int i;

	cl->words = words;
	for (i = 0; i < RPCRDMA2_MAX_READ_CHUNKS; i++)
		cl->reads[i].length = 50000;
	for (i = 0; i < RPCRDMA2_MAX_WRITE_CHUNKS; i++)
		cl->writes[i].length = 50000;
	cl->reply.length = 50000;
	KUNIT_EXPECT_EQ(test, rpcrdma2_read_octets(cl), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_write_octets(cl), 0);

	add_segment(test, cl, rpcrdma2_add_read_chunk(cl, 0), 1, 1);
	add_segment(test, cl, rpcrdma2_add_read_chunk(cl, 4), 1, 20);
	KUNIT_EXPECT_EQ(test, rpcrdma2_read_octets(cl), 21);
	add_segment(test, cl, rpcrdma2_add_write_chunk(cl), 1, 100);
	add_segment(test, cl, rpcrdma2_add_write_chunk(cl), 1, 200);
	KUNIT_EXPECT_EQ(test, rpcrdma2_write_octets(cl), 300);
	add_segment(test, cl, rpcrdma2_add_reply_chunk(cl), 1, 4000);
	KUNIT_EXPECT_EQ(test, rpcrdma2_write_octets(cl), 4300);
}

static void finds_a_handle_of_every_kind(struct kunit *test)
{
	__be32 words[2 * RPCRDMA2_SEGMENT_WORDS];
	struct rpcrdma2_chunk_lists *cl;

	cl = &new_header(test)->chunks;
	cl->words = words;
	KUNIT_EXPECT_EQ(test, rpcrdma2_any_handle(cl), 0);
	/* A chunk without segments has no handle. */
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, rpcrdma2_add_write_chunk(cl));
	KUNIT_EXPECT_EQ(test, rpcrdma2_any_handle(cl), 0);
	add_segment(test, cl, rpcrdma2_add_write_chunk(cl), 7, 10);
	KUNIT_EXPECT_EQ(test, rpcrdma2_any_handle(cl), 7);

	cl = &new_header(test)->chunks;
	cl->words = words;
	add_segment(test, cl, rpcrdma2_add_read_chunk(cl, 4), 8, 10);
	KUNIT_EXPECT_EQ(test, rpcrdma2_any_handle(cl), 8);

	cl = &new_header(test)->chunks;
	cl->words = words;
	add_segment(test, cl, rpcrdma2_add_reply_chunk(cl), 9, 10);
	KUNIT_EXPECT_EQ(test, rpcrdma2_any_handle(cl), 9);
}

/* Segments behind the octets that were written return with length 0. */
static void returns_what_was_written(struct kunit *test)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_header *call = new_header(test), *reply = new_header(test);
	static const u32 lengths[] = { 10, 5, 0, 10, 10, 10 };
	__be32 words[3 * RPCRDMA2_SEGMENT_WORDS];
	struct rpcrdma2_chunk_lists *cl = &reply->chunks;
	struct rpcrdma2_segment seg;
	struct rpcrdma2_chunk *offer;
	unsigned int i;
	size_t rest;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	call->chunks.words = words;
	offer = rpcrdma2_add_write_chunk(&call->chunks);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, rpcrdma2_add_segment(&call->chunks, offer, 100 + i,
							   10, 0x5000 + i), 0);
	rpcrdma2_rpc_header(reply, 0x11223344, 2, 32, true, words);
	rpcrdma2_return_chunk(cl, rpcrdma2_add_write_chunk(cl), offer, 15);
	rpcrdma2_return_chunk(cl, rpcrdma2_add_reply_chunk(cl), offer, 30);
	KUNIT_EXPECT_EQ(test, cl->nsegs, 6);
	KUNIT_EXPECT_EQ(test, rpcrdma2_write_octets(cl), 45);

	KUNIT_ASSERT_EQ(test, wire_encode(WIRE_V2, msg, reply), 0);
	wire_put_rpc(msg, 0x11223344, true, 20);
	KUNIT_ASSERT_EQ(test, wire_decode(WIRE_V2, msg->octets, msg->len, call, &rest),
			0);
	for (i = 0; i < 6; i++) {
		seg = rpcrdma2_chunk_segment(&call->chunks, i < 3 ?
					     &call->chunks.writes[0] :
					     &call->chunks.reply, i % 3);
		KUNIT_EXPECT_EQ(test, seg.handle, 100 + i % 3);
		KUNIT_EXPECT_EQ(test, seg.offset, 0x5000 + i % 3);
		KUNIT_EXPECT_EQ_MSG(test, seg.length, lengths[i], "segment %u", i);
	}
}

static struct kunit_case message_cases[] = {
	KUNIT_CASE_PARAM(decodes_to_its_header, vector_gen_params),
	KUNIT_CASE_PARAM(decodes_at_the_other_end, vector_gen_params),
	KUNIT_CASE_PARAM(encodes_to_its_octets, vector_gen_params),
	KUNIT_CASE_PARAM(needs_all_of_its_room, vector_gen_params),
	KUNIT_CASE_PARAM(server_refuses_what_is_cut_short, vector_gen_params),
	KUNIT_CASE_PARAM(client_refuses_what_is_cut_short, vector_gen_params),
	KUNIT_CASE(cut_err_vers_reads_as_version_1),
	KUNIT_CASE(form_has_every_kind_of_chunk),
	KUNIT_CASE(counts_octets_of_chunks_in_use),
	KUNIT_CASE(finds_a_handle_of_every_kind),
	KUNIT_CASE(returns_what_was_written),
	{}
};

static struct kunit_suite message_suite = {
	.name = "rpcrdma2_wire_message",
	.test_cases = message_cases,
};

kunit_test_suite(message_suite);

MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("KUnit suites for the wire codecs of RPC-over-RDMA");
MODULE_LICENSE("GPL");
