// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that only version 1 refuses, and its errors. It has one error for everything, and
 * an answer to other versions.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"
#include "wire_words.h"

#define MSG		"11223344 00000001 00000020 00000000 "
#define NOMSG		"11223344 00000001 00000020 00000001 "
#define ERROR		"11223344 00000001 00000020 00000004 "
#define NOTHING		"00000000 00000000 00000000 "

#define NO_ANSWER	{ .code = RDMA2_ERR_NONE }
#define CHUNK		{ .code = RDMA2_ERR_BAD_XDR }
#define VERS		{ .code = RDMA2_ERR_VERS, .bare = true, \
			  .vers_low = 1, .vers_high = 1 }

/*
 * Direction that a refused message is taken for; AS_EXPECTED: the one that its reader
 * expects
 */
enum taken_for {
	AS_EXPECTED,
	CALL,
	REPLY,
};

struct refusal {
	const char		*name;
	const char		*wire;
	struct rpcrdma2_error	answer;
	enum taken_for		taken_for;
};

static const struct refusal refusals[] = {
	{ "nothing", "", NO_ANSWER },
	{ "three words", "11223344 00000001 00000020", NO_ANSWER },
	{ "half a word more", MSG "0000", NO_ANSWER },
	{ "version 2, a CONNPROP", "11223344 00000002 00000020 00000005;"
	  "00000000 00000000", VERS },
	{ "version 2, a Call", "11223344 00000002 00000020 00000000;"
	  "00000000 00000000 " NOTHING RPC_CALL_NULL, VERS },
	{ "version 2, a Reply", "11223344 00000002 00000020 00000000;"
	  "00000001 00000000 " NOTHING RPC_REPLY_NULL, VERS },
	{ "version 0", "11223344 00000000 00000020 00000000 "
	  NOTHING RPC_CALL_NULL, VERS },
	{ "the highest version", "11223344 ffffffff 00000020 00000001", VERS },
	{ "an error in version 2", "11223344 00000002 00000020 00000004;"
	  "00000001 00000001 00000001", NO_ANSWER },
	{ "MSGP", "11223344 00000001 00000020 00000002 00000000 00000000 "
	  NOTHING RPC_CALL_NULL, CHUNK },
	{ "MSGP that is a MSG", "11223344 00000001 00000020 00000002 "
	  NOTHING RPC_CALL_NULL, CHUNK },
	{ "DONE", "11223344 00000001 00000020 00000003", CHUNK },
	{ "version 2's CONNPROP", "11223344 00000001 00000020 00000005;"
	  "00000000 00000000", CHUNK },
	{ "the highest type", "11223344 00000001 00000020 ffffffff "
	  NOTHING RPC_CALL_NULL, CHUNK },

	{ "no lists", MSG, CHUNK },
	{ "no lists, external", NOMSG, CHUNK },
	{ "no Reply chunk, not even the end", MSG NO_READS NO_WRITES, CHUNK },
	{ "version 2's flags and handle", MSG "00000000 00000000 "
	  NOTHING RPC_CALL_NULL, CHUNK, CALL },
	{ "no RPC message", MSG NOTHING, CHUNK },
	{ "an RPC message without its direction", MSG NOTHING "11223344",
	  CHUNK },
	{ "a direction of 2", MSG NOTHING "11223344 00000002", CHUNK },
	{ "a direction of 2^32 - 1", MSG NOTHING "11223344 ffffffff", CHUNK },
	{ "a direction of 2^24, which is 1 backwards",
	  MSG NOTHING "11223344 01000000", CHUNK },
	{ "a Call of another XID", MSG NOTHING "11223345 00000000", CHUNK,
	  CALL },
	{ "a Reply of another XID", MSG NOTHING "11223345 00000001", CHUNK,
	  REPLY },
	{ "a Reply with a Read chunk", MSG NEXT "00000014 " SEG_A END NO_WRITES
	  NO_REPLY RPC_REPLY_NULL, CHUNK, REPLY },
	{ "a Call with a Read chunk behind it", MSG NEXT "0000002c " SEG_A END
	  NO_WRITES NO_REPLY RPC_CALL_NULL, CHUNK, CALL },
	{ "an inline Call with a Position-Zero chunk", MSG
	  NEXT "00000000 " SEG_A END NO_WRITES NO_REPLY RPC_CALL_NULL, CHUNK,
	  CALL },
	{ "a malformed Read list before a Reply", MSG "00000002 " NO_WRITES
	  NO_REPLY RPC_REPLY_NULL, CHUNK },

	{ "external, with no chunks", NOMSG NOTHING, CHUNK },
	{ "external, with a Read chunk elsewhere", NOMSG
	  NEXT "00000008 " SEG_A END NO_WRITES NO_REPLY, CHUNK },
	{ "external, in a Write chunk", NOMSG NO_READS
	  NEXT "00000001 " SEG_A END NO_REPLY, CHUNK },
	{ "external, in a Position-Zero chunk of 7 octets", NOMSG
	  NEXT "00000000 0a0b0c0d 00000007 0000000000000000 " END NO_WRITES
	  NEXT "00000001 " SEG_A, CHUNK, CALL },
	{ "external, in a Reply chunk of 7 octets", NOMSG NO_READS NO_WRITES
	  NEXT "00000001 0a0b0c0d 00000007 0000000000000000 ", CHUNK },
	{ "external, and inline", NOMSG NEXT "00000000 " SEG_A END NO_WRITES
	  NO_REPLY RPC_CALL_NULL, CHUNK, CALL },

	{ "an error without a code", ERROR, NO_ANSWER },
	{ "error 0", ERROR "00000000", NO_ANSWER },
	{ "error 3", ERROR "00000003", NO_ANSWER },
	{ "version 2's ERR_READ_CHUNKS", ERROR "00000004 00000008", NO_ANSWER },
	{ "version 2's ERR_SYSTEM", ERROR "00000009", NO_ANSWER },
	{ "an extension's error", ERROR "0000000a", NO_ANSWER },
	{ "version 2's flags and ERR_BAD_XDR", ERROR "00000001 00000002",
	  NO_ANSWER },
	{ "version 2's flags and ERR_VERS",
	  ERROR "00000001 00000001 00000001 00000002", NO_ANSWER },
	{ "ERR_VERS without its range", ERROR "00000001", NO_ANSWER },
	{ "ERR_VERS with half its range", ERROR "00000001 00000001",
	  NO_ANSWER },
	{ "ERR_VERS upside down", ERROR "00000001 00000002 00000001",
	  NO_ANSWER },
	{ "ERR_CHUNK and more", ERROR "00000002 00000000", NO_ANSWER },
};

static void v1_refusal_desc(const struct refusal *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", r->name);
}

KUNIT_ARRAY_PARAM(refusal, refusals, v1_refusal_desc);

static void *v1_storage(struct kunit *test, size_t size)
{
	void *p = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	return p;
}

static void v1_expect_refusal(struct kunit *test, bool expects_reply)
{
	struct rpcrdma2_header *hdr = v1_storage(test, sizeof(*hdr));
	struct wire_msg *msg = v1_storage(test, sizeof(*msg));
	const struct refusal *r = test->param_value;
	bool taken_for_reply = expects_reply;
	const char *wrong;
	size_t rest;

	if (r->taken_for != AS_EXPECTED)
		taken_for_reply = r->taken_for == REPLY;
	wire_parse(msg, r->wire);
	hdr->response = expects_reply;
	KUNIT_ASSERT_EQ(test, wire_decode(1, msg->octets, msg->len, hdr, &rest),
			-EBADMSG);
	wrong = wire_check_answer(hdr, msg, &r->answer);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "code %u instead of %u",
			       hdr->error.code, r->answer.code);
	wrong = wire_check_refused(1, hdr);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "not to be sent");
	KUNIT_EXPECT_EQ(test, hdr->response, taken_for_reply);
}

static void server_refuses(struct kunit *test)
{
	v1_expect_refusal(test, false);
}

static void client_refuses(struct kunit *test)
{
	v1_expect_refusal(test, true);
}

/* Errors as the layers above report them, and as version 1 encodes them */
struct said {
	const char		*name;
	struct rpcrdma2_error	error;
	u32			vers;
	const char		*wire;
};

#define ANSWER_2	"11223344 00000002 00000020 00000004 "

static const struct said said[] = {
	{ "BAD_XDR", { .code = 2 }, 1, ERROR "00000002" },
	{ "INVAL_HTYPE", { .code = 3 }, 1, ERROR "00000002" },
	{ "READ_CHUNKS", { .code = 4, .max_chunks = 8 }, 1, ERROR "00000002" },
	{ "WRITE_CHUNKS", { .code = 5, .max_chunks = 8 }, 1, ERROR "00000002" },
	{ "SEGMENTS", { .code = 6, .max_segments = 64 }, 1, ERROR "00000002" },
	{ "WRITE_RESOURCE", { .code = 7, .chunk_index = 1,
	  .length_needed = 4096 }, 1, ERROR "00000002" },
	{ "REPLY_RESOURCE", { .code = 8, .length_needed = 4096 }, 1,
	  ERROR "00000002" },
	{ "SYSTEM", { .code = 9 }, 1, ERROR "00000002" },
	{ "an extension's", { .code = U32_MAX }, 1, ERROR "00000002" },
	{ "VERS", { .code = 1, .bare = true, .vers_low = 1, .vers_high = 1 }, 1,
	  ERROR "00000001 00000001 00000001" },
	{ "VERS, not said to be bare",
	  { .code = 1, .vers_low = 1, .vers_high = 2 }, 1,
	  ERROR "00000001 00000001 00000002" },
	{ "VERS to a client of version 2",
	  { .code = 1, .bare = true, .vers_low = 1, .vers_high = 1 }, 2,
	  ANSWER_2 "00000001 00000001 00000001" },
};

static void said_desc(const struct said *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", s->name);
}

KUNIT_ARRAY_PARAM(said, said, said_desc);

static struct wire_msg *say(struct kunit *test)
{
	const struct said *s = test->param_value;
	struct rpcrdma2_header *hdr = v1_storage(test, sizeof(*hdr));
	struct wire_msg *msg = v1_storage(test, sizeof(*msg));
	struct xdr_stream xdr;
	struct xdr_buf buf;

	hdr->xid = XID;
	hdr->vers = s->vers;
	hdr->credit = 32;
	hdr->kind = RPCRDMA2_ERROR;
	hdr->response = true;
	hdr->error = s->error;
	rpcrdma2_stream_encode(&xdr, &buf, msg->octets, WIRE_ROOM);
	KUNIT_EXPECT_EQ(test, rpcrdma2_encode(&rpcrdma2_v1, &xdr, hdr), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_header_size(&rpcrdma2_v1, hdr), buf.len);
	msg->len = buf.len;
	return msg;
}

static void says_it_in_its_own_words(struct kunit *test)
{
	const struct said *s = test->param_value;
	struct wire_msg *want = v1_storage(test, sizeof(*want));
	struct wire_msg *got = say(test);
	size_t i;

	wire_parse(want, s->wire);
	KUNIT_ASSERT_EQ(test, got->len, want->len);
	for (i = 0; i < want->len; i++)
		KUNIT_EXPECT_EQ_MSG(test, got->octets[i], want->octets[i],
				    "at octet %zu", i);
}

static void says_what_its_peer_understands(struct kunit *test)
{
	const struct said *s = test->param_value;
	struct rpcrdma2_header *hdr = v1_storage(test, sizeof(*hdr));
	struct wire_msg *msg = say(test);
	struct rpcrdma2_error want = { .code = RDMA2_ERR_BAD_XDR };
	const char *wrong;
	size_t rest;

	if (s->error.code == RDMA2_ERR_VERS)
		want = s->error;
	want.bare = s->error.code == RDMA2_ERR_VERS;
	KUNIT_ASSERT_EQ(test, wire_decode(s->vers, msg->octets, msg->len, hdr,
					  &rest), 0);
	KUNIT_EXPECT_TRUE(test, hdr->response);
	wrong = wire_error_differs(&hdr->error, &want);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "not as expected");
}

static void dialects_have_their_names(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rpcrdma2_v1.version, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma2_v1.inline_default, 1024);
	KUNIT_EXPECT_FALSE(test, rpcrdma2_v1.props);
	KUNIT_EXPECT_EQ(test, rpcrdma2_v2_09.version, 2);
	KUNIT_EXPECT_EQ(test, rpcrdma2_v2_09.inline_default, 4096);
	KUNIT_EXPECT_TRUE(test, rpcrdma2_v2_09.props);
}

static struct kunit_case v1_cases[] = {
	KUNIT_CASE_PARAM(server_refuses, refusal_gen_params),
	KUNIT_CASE_PARAM(client_refuses, refusal_gen_params),
	KUNIT_CASE_PARAM(says_it_in_its_own_words, said_gen_params),
	KUNIT_CASE_PARAM(says_what_its_peer_understands, said_gen_params),
	KUNIT_CASE(dialects_have_their_names),
	{}
};

static struct kunit_suite v1_suite = {
	.name = "rpcrdma2_wire_v1",
	.test_cases = v1_cases,
};

kunit_test_suite(v1_suite);
