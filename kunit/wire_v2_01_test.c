// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that only v2-01 refuses: wrong directions, operations and errors.
 * wire_refuse_test.c tests the lists of chunks, which all versions share.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"
#include "wire_words.h"

#define PREFIX		"11223344 00000002 00000020 "
#define MSG		PREFIX "00000000 "
#define ERROR		PREFIX "00000004 "
#define OPTIONAL	PREFIX "00000005 "
#define CALL		"00000000 "
#define REPLY		"00000001 "
#define INIT_XCHAR(len)	"00000001 " len " "
#define NO_PROPS	"00000000 "
#define NO_SUBSET	"00000000 "

#define NO_ANSWER	RDMA2_ERR_NONE
#define BAD_XDR		RDMA2_ERR_BAD_XDR

struct refusal {
	const char	*name;
	const char	*wire;
	u32		code;
};

static const struct refusal refusals[] = {
	{ "a Reply with a direction of 2", MSG "00000002 " NO_READS NO_WRITES NO_REPLY
	  RPC_REPLY_NULL, BAD_XDR },
	{ "INIT_XCHAR with a direction of 2",
	  OPTIONAL "00000002 " INIT_XCHAR("00000008") NO_PROPS NO_SUBSET, BAD_XDR },
	{ "an operation without arguments' length", OPTIONAL CALL "00000001 ", BAD_XDR },
	{ "INIT_XCHAR, a word longer than it says",
	  OPTIONAL CALL INIT_XCHAR("00000004") NO_PROPS NO_SUBSET, BAD_XDR },
	{ "INIT_XCHAR, a word shorter than it says",
	  OPTIONAL CALL INIT_XCHAR("0000000c") NO_PROPS NO_SUBSET, BAD_XDR },
	{ "INIT_XCHAR without a subset",
	  OPTIONAL CALL INIT_XCHAR("00000004") NO_PROPS, BAD_XDR },
	{ "INIT_XCHAR, a subset with a word too few",
	  OPTIONAL CALL INIT_XCHAR("0000000c") NO_PROPS "00000002 00000007", BAD_XDR },
	{ "INIT_XCHAR, a subset with a word too many",
	  OPTIONAL CALL INIT_XCHAR("0000000c") NO_PROPS "00000000 00000007", BAD_XDR },

	{ "an error with a direction of 2", ERROR "00000002 00000002", NO_ANSWER },
	{ "an error from a requester", ERROR CALL "00000002", NO_ANSWER },
	{ "error 0", ERROR "00000000", NO_ANSWER },
	{ "an error that no text has", ERROR "00000065", NO_ANSWER },
	{ "an error that no text has, with a direction", ERROR REPLY "00000065",
	  NO_ANSWER },
	{ "ERR_VERS from 4 on, which is v2-09's error",
	  ERROR REPLY "00000001 00000004 00000009", NO_ANSWER },
};

static void refusal_desc(const struct refusal *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", r->name);
}

KUNIT_ARRAY_PARAM(refusal, refusals, refusal_desc);

/* Decode a message, and expect @rc. Return: the header. */
static struct rpcrdma2_header *decode(struct kunit *test, const char *wire,
				      bool expects_reply, int rc)
{
	struct rpcrdma2_header *hdr;
	struct wire_msg *msg;
	size_t rest;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	wire_parse(msg, wire);
	hdr->response = expects_reply;
	KUNIT_ASSERT_EQ(test, wire_decode(WIRE_V2_01, msg->octets, msg->len, hdr, &rest),
			rc);
	return hdr;
}

static void expect_refusal(struct kunit *test, bool expects_reply)
{
	const struct refusal *r = test->param_value;
	struct rpcrdma2_header *hdr = decode(test, r->wire, expects_reply, -EBADMSG);
	const char *wrong;

	KUNIT_EXPECT_EQ(test, hdr->error.code, r->code);
	wrong = wire_check_refused(WIRE_V2_01, hdr);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "not to be sent");
}

static void server_refuses(struct kunit *test)
{
	expect_refusal(test, false);
}

static void client_refuses(struct kunit *test)
{
	expect_refusal(test, true);
}

/*
 * An unknown message counts as a Call, whatever its direction says, and so gets an
 * answer.
 */
struct unknown {
	const char	*name;
	const char	*wire;
	u32		code;
};

static const struct unknown unknown[] = {
	{ "type 2", PREFIX "00000002 " REPLY, RDMA2_ERR_BAD_XDR },
	{ "type 3", PREFIX "00000003 ", RDMA2_ERR_BAD_XDR },
	{ "type 6", PREFIX "00000006 " REPLY, RDMA2_ERR_BAD_XDR },
	{ "operation 0", OPTIONAL CALL "00000000 00000000", RDMA2_ERR_INVAL_HTYPE },
	{ "operation 5, as an answer", OPTIONAL REPLY "00000005 00000000",
	  RDMA2_ERR_INVAL_HTYPE },
};

static void unknown_desc(const struct unknown *u, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", u->name);
}

KUNIT_ARRAY_PARAM(unknown, unknown, unknown_desc);

static void answers_what_it_does_not_know(struct kunit *test)
{
	const struct unknown *u = test->param_value;
	struct rpcrdma2_header *hdr = decode(test, u->wire, true, -EBADMSG);

	KUNIT_EXPECT_EQ(test, hdr->error.code, u->code);
	KUNIT_EXPECT_EQ(test, hdr->kind, RPCRDMA2_UNKNOWN);
	KUNIT_EXPECT_FALSE(test, hdr->response);
}

/* Other drafts of version 2 have errors with these numbers. */
struct others_error {
	const char	*name;
	const char	*wire;
	u32		code;
};

static const struct others_error others_errors[] = {
	{ "v2-09's READ_CHUNKS, with its argument", ERROR REPLY "00000004 00000008", 4 },
	{ "one with two arguments", ERROR "00000004 00000004 00000000", 4 },
	{ "the last", ERROR "00000064", 100 },
	{ "the last, with a direction", ERROR REPLY "00000064", 100 },
};

static void others_error_desc(const struct others_error *o, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", o->name);
}

KUNIT_ARRAY_PARAM(others_error, others_errors, others_error_desc);

static void takes_errors_of_other_texts(struct kunit *test)
{
	const struct others_error *o = test->param_value;
	struct rpcrdma2_header *hdr = decode(test, o->wire, true, 0);

	KUNIT_EXPECT_EQ(test, hdr->kind, RPCRDMA2_ERROR);
	KUNIT_EXPECT_EQ(test, hdr->error.code, o->code);
	KUNIT_EXPECT_TRUE(test, hdr->error.bare);
}

static struct kunit_case v2_01_cases[] = {
	KUNIT_CASE_PARAM(server_refuses, refusal_gen_params),
	KUNIT_CASE_PARAM(client_refuses, refusal_gen_params),
	KUNIT_CASE_PARAM(answers_what_it_does_not_know, unknown_gen_params),
	KUNIT_CASE_PARAM(takes_errors_of_other_texts, others_error_gen_params),
	{}
};

static struct kunit_suite v2_01_suite = {
	.name = "rpcrdma2_wire_v2_01",
	.test_cases = v2_01_cases,
};

kunit_test_suite(v2_01_suite);
