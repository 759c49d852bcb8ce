// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that every version refuses, and the answers.
 *
 * The messages are in version 2. Version 1 has the same lists of chunks, so messages
 * with bad lists are tested in both versions. wire_v1_test.c has messages that only
 * version 1 refuses. KUnit runs each case in process context.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"

#define CALL		"11223344 00000002 00000020 00000000 00000000 "
#define REPLY		"11223344 00000002 00000020 00000000 00000001 "
#define CALL_NOMSG	"11223344 00000002 00000020 00000001 00000000 "
#define REPLY_NOMSG	"11223344 00000002 00000020 00000001 00000001 "
#define ERROR		"11223344 00000002 00000020 00000004 "
#define NOTHING		"00000000 00000000 00000000 00000000 "
#define END		"00000000 "
#define NEXT		"00000001 "
#define SEG		"0a0b0c0d 00000100 0000000000010000 "
#define NO_OCTETS	"0a0b0c0d 00000000 0000000000010000 "
#define RPC_CALL	"11223344 00000000 00000002 000186a3 00000004 " \
			"00000000 00000000 00000000 00000000 00000000 "
#define RPC_REPLY	"11223344 00000001 00000000 00000000 00000000 "

#define NO_ANSWER	{ .code = RDMA2_ERR_NONE }
#define BAD_XDR		{ .code = RDMA2_ERR_BAD_XDR }
#define INVAL_HTYPE	{ .code = RDMA2_ERR_INVAL_HTYPE }
#define VERS		{ .code = RDMA2_ERR_VERS, .bare = true, \
			  .vers_low = 2, .vers_high = 2 }

struct refusal {
	const char		*name;
	const char		*wire;
	struct rpcrdma2_error	answer;
};

static const struct refusal prefixes[] = {
	{ "nothing", "", NO_ANSWER },
	{ "version 1", "11223344 00000001 00000020 00000000;"
	  "00000000 00000000 00000000 " RPC_CALL, VERS },
	{ "version 3", "11223344 00000003 00000020 00000000 00000000 "
	  NOTHING RPC_CALL, VERS },
	{ "version 0", "11223344 00000000 00000020 00000000", VERS },
	{ "the highest version", "11223344 ffffffff 00000020 00000005", VERS },
	{ "version 1, its DONE", "11223344 00000001 00000020 00000003", VERS },
	{ "an error in version 1", "11223344 00000001 00000020 00000004;"
	  "00000001 00000001 00000001", NO_ANSWER },
	{ "an error in version 3", "11223344 00000003 00000020 00000004;"
	  "00000001 00000001 00000003 00000003", NO_ANSWER },
	{ "type 2, version 1's MSGP", "11223344 00000002 00000020 00000002;"
	  "00000000 " NOTHING RPC_CALL, INVAL_HTYPE },
	{ "type 3, version 1's DONE", "11223344 00000002 00000020 00000003;"
	  "00000000", INVAL_HTYPE },
	{ "type 6", "11223344 00000002 00000020 00000006 00000000 00000000",
	  INVAL_HTYPE },
	{ "the highest type", "11223344 00000002 00000020 ffffffff 00000001",
	  INVAL_HTYPE },
	{ "type 6 alone", "11223344 00000002 00000020 00000006", INVAL_HTYPE },
	{ "type 7 of the 2022 text, one property", "11223344 00000002 00000020;"
	  "00000007 00000001 00000001 00000004 00001000", INVAL_HTYPE },
	{ "no flags word", "11223344 00000002 00000020 00000000", BAD_XDR },
};

/* Version 1 accepts these, or can't express them. */
static const struct refusal flags[] = {
	{ "a Reply flagged as a Call", CALL NOTHING RPC_REPLY, BAD_XDR },
	{ "a Call flagged as a Reply", REPLY NOTHING RPC_CALL, BAD_XDR },
	{ "inv_handle without chunks", CALL "0a0b0c0d " END END END RPC_CALL,
	  BAD_XDR },
	{ "inv_handle of no chunk", CALL "0a0b0c0e "
	  NEXT "00000028 " SEG END END END RPC_CALL, BAD_XDR },
	{ "inv_handle that is an offset", CALL "00010000 "
	  NEXT "00000028 " SEG END END END RPC_CALL, BAD_XDR },
	{ "a Reply with one at position zero",
	  REPLY_NOMSG END NEXT "00000000 " SEG END END NEXT "00000001 " SEG,
	  BAD_XDR },
	{ "an external Call with only a Reply chunk",
	  CALL_NOMSG END END END NEXT "00000001 " SEG, BAD_XDR },
};

static const struct refusal lists[] = {
	{ "nothing after the prefix", CALL, BAD_XDR },
	{ "no RPC message", CALL NOTHING, BAD_XDR },
	{ "half an RPC message's first words", CALL NOTHING "11223344",
	  BAD_XDR },
	{ "another XID inside", CALL NOTHING "11223345 00000000", BAD_XDR },
	{ "a direction that does not exist",
	  CALL NOTHING "11223344 00000002", BAD_XDR },
	{ "a Read list with a 2 for a boolean", CALL END
	  "00000002 00000028 " SEG END END END RPC_CALL, BAD_XDR },
	{ "a Read list with a 2 for its end",
	  CALL END "00000002 " END END RPC_CALL, BAD_XDR },
	{ "a Write list with 2^8 for its end",
	  CALL END END "00000100 " END RPC_CALL, BAD_XDR },
	{ "a Read segment cut off, which reads as two ends",
	  CALL END NEXT END END "11223344 00000000", BAD_XDR },
	{ "a Write list with 2^8 for a boolean",
	  CALL END END "00000100 00000000 " END END RPC_CALL, BAD_XDR },
	{ "a Reply chunk with 2^32 - 1 for a boolean",
	  CALL END END END "ffffffff 00000000 " RPC_CALL, BAD_XDR },
	{ "a Reply with a Read chunk",
	  REPLY END NEXT "00000014 " SEG END END END RPC_REPLY, BAD_XDR },
	{ "an inline Call with one at position zero",
	  CALL END NEXT "00000000 " SEG END END END RPC_CALL, BAD_XDR },
	{ "an external Call with no chunks", CALL_NOMSG NOTHING, BAD_XDR },
	{ "an external Call with a Read chunk elsewhere",
	  CALL_NOMSG END NEXT "00000008 " SEG END END END, BAD_XDR },
	{ "an external Call of seven octets", CALL_NOMSG END
	  NEXT "00000000 0a0b0c0d 00000007 0000000000000000 " END END END,
	  BAD_XDR },
	{ "an external Call, and more", CALL_NOMSG END
	  NEXT "00000000 " SEG END END END "00000000", BAD_XDR },
	{ "an external Call, and an inline one", CALL_NOMSG END
	  NEXT "00000000 " SEG END END END RPC_CALL, BAD_XDR },
	{ "an external Reply without a Reply chunk",
	  REPLY_NOMSG END END NEXT "00000001 " SEG END END, BAD_XDR },
	{ "an external Reply of four octets", REPLY_NOMSG END END END
	  NEXT "00000001 0a0b0c0d 00000004 0000000000000000 ", BAD_XDR },
	{ "an external Reply of no segments",
	  REPLY_NOMSG END END END NEXT "00000000 ", BAD_XDR },
	{ "an external Reply, and an inline one",
	  REPLY_NOMSG END END END NEXT "00000001 " SEG RPC_REPLY, BAD_XDR },
};

static const struct refusal positions[] = {
	{ "not aligned",
	  CALL END NEXT "00000022 " SEG END END END RPC_CALL, BAD_XDR },
	{ "not aligned, and no end of the list",
	  CALL END NEXT "00000022 " SEG END END RPC_CALL, BAD_XDR },
	{ "behind the message",
	  CALL END NEXT "0000002c " SEG END END END RPC_CALL, BAD_XDR },
	{ "far behind the message",
	  CALL END NEXT "7ffffffc " SEG END END END RPC_CALL, BAD_XDR },
	{ "second one behind the message", CALL END NEXT "00000024 " SEG
	  NEXT "0000012c " SEG END END END RPC_CALL, BAD_XDR },
	{ "behind an external message", CALL_NOMSG END
	  NEXT "00000000 " SEG NEXT "00000104 " SEG END END END, BAD_XDR },
	{ "an octet behind an external message", CALL_NOMSG END
	  NEXT "00000000 0a0b0c0d 00000103 0000000000000000 "
	  NEXT "00000104 " SEG END END END, BAD_XDR },
	{ "in place of the direction",
	  CALL END NEXT "00000004 " SEG END END END RPC_CALL, BAD_XDR },
	{ "a position again, after another", CALL END NEXT "0000000c " SEG
	  NEXT "00000110 " SEG NEXT "0000000c " SEG END END END RPC_CALL,
	  BAD_XDR },
	{ "the second position again, after another", CALL END
	  NEXT "0000000c " SEG NEXT "0000010c " NO_OCTETS
	  NEXT "00000110 " NO_OCTETS NEXT "0000010c " NO_OCTETS
	  END END END RPC_CALL, BAD_XDR },
	{ "position zero again, after another", CALL_NOMSG END
	  NEXT "00000000 " SEG NEXT "00000010 " SEG NEXT "00000000 " SEG
	  END END END, BAD_XDR },
	{ "overlap by four octets", CALL END NEXT "0000000c " SEG
	  NEXT "00000108 " SEG END END END RPC_CALL, BAD_XDR },
	{ "overlap, listed backwards", CALL END NEXT "00000108 " SEG
	  NEXT "0000000c " SEG END END END RPC_CALL, BAD_XDR },
	{ "one within another", CALL END NEXT "0000000c " SEG
	  NEXT "00000010 0a0b0c0e 00000004 0000000000000000 "
	  END END END RPC_CALL, BAD_XDR },
	{ "overlap by the padding", CALL END
	  NEXT "0000000c 0a0b0c0d 00000005 0000000000000000 "
	  NEXT "00000010 " SEG END END END RPC_CALL, BAD_XDR },
	{ "end beyond 32 bits", CALL END
	  NEXT "00000028 0a0b0c0d ffffffe0 0000000000000000 "
	  END END END RPC_CALL, BAD_XDR },
	{ "padding beyond 32 bits", CALL END
	  NEXT "00000028 0a0b0c0d ffffffd5 0000000000000000 "
	  END END END RPC_CALL, BAD_XDR },
};

static const struct refusal segments[] = {
	{ "lengths that sum up to 2^32, Read", CALL_NOMSG END
	  NEXT "00000000 00000001 80000000 0000000000000000 "
	  NEXT "00000000 00000002 80000000 0000000000000000 " END END END,
	  BAD_XDR },
	{ "lengths that sum up to 2^32, Write", CALL END END
	  NEXT "00000002 00000001 ffffffff 0000000000000000;"
	  "00000002 00000001 0000000000000000 " END END RPC_CALL, BAD_XDR },
	{ "lengths that sum up to 2^32, Reply", CALL END END END
	  NEXT "00000002 00000001 7fffffff 0000000000000000;"
	  "00000002 80000001 0000000000000000 " RPC_CALL, BAD_XDR },
	{ "offset and length of 2^64", CALL END END
	  NEXT "00000001 00000001 00000001 ffffffffffffffff " END END
	  RPC_CALL, BAD_XDR },
	{ "offset and length of more", CALL END END END
	  NEXT "00000001 00000001 ffffffff ffffffff00000001 " RPC_CALL,
	  BAD_XDR },
	{ "a Write chunk of 2^32 - 1", CALL END END NEXT "ffffffff " SEG
	  END END RPC_CALL, BAD_XDR },
	{ "a Write chunk of 2^28: 2^32 octets", CALL END END
	  NEXT "10000000 " SEG END END RPC_CALL, BAD_XDR },
	{ "a Write chunk of 2^28 + 1: 16 octets", CALL END END
	  NEXT "10000001 " SEG END END RPC_CALL, BAD_XDR },
	{ "a Reply chunk of 2^32 - 1", CALL END END END
	  NEXT "ffffffff " SEG RPC_CALL, BAD_XDR },
	{ "a Reply chunk of 2^31", CALL END END END
	  NEXT "80000000 " SEG RPC_CALL, BAD_XDR },
	{ "a Reply chunk of one more than there are", REPLY_NOMSG END END END
	  NEXT "00000002 " SEG, BAD_XDR },
	{ "a Reply chunk that takes the RPC message in", CALL END END END
	  NEXT "00000003 " SEG RPC_CALL, BAD_XDR },
};

static const struct refusal errors[] = {
	{ "flags alone", ERROR "00000001", NO_ANSWER },
	{ "flags alone, all of them", ERROR "ffffffff", NO_ANSWER },
	{ "flags alone, 101", ERROR "00000065", NO_ANSWER },
	{ "code 0", ERROR "00000001 00000000", NO_ANSWER },
	{ "from a requester", ERROR "00000000 00000002", NO_ANSWER },
	{ "from a requester, ERR_VERS",
	  ERROR "fffffffe 00000001 00000001 00000002", NO_ANSWER },
	{ "from a requester, without a code", ERROR "00000000", NO_ANSWER },
	{ "ERR_VERS without its range", ERROR "00000001 00000001", NO_ANSWER },
	{ "ERR_VERS upside down",
	  ERROR "00000001 00000001 00000003 00000002", NO_ANSWER },
	{ "ERR_VERS upside down, 28 octets",
	  ERROR "00000001 00000002 00000001", NO_ANSWER },
	{ "ERR_VERS and more",
	  ERROR "00000001 00000001 00000001 00000002 00000000", NO_ANSWER },
	{ "ERR_BAD_XDR and more words than a version 1 peer sends",
	  ERROR "00000001 00000002 00000000 00000000", NO_ANSWER },
	{ "ERR_READ_CHUNKS without a number", ERROR "00000001 00000004",
	  NO_ANSWER },
	{ "ERR_READ_CHUNKS and more", ERROR "00000001 00000004 00000001;"
	  "00000001", NO_ANSWER },
	{ "ERR_WRITE_RESOURCE with one word, 28 octets",
	  ERROR "00000001 00000007 00000008", NO_ANSWER },
	{ "ERR_REPLY_RESOURCE without a length", ERROR "00000001 00000008",
	  NO_ANSWER },
	{ "ERR_SYSTEM and more", ERROR "00000001 00000009 00000000",
	  NO_ANSWER },
};

static void refuse_desc(const struct refusal *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", r->name);
}

KUNIT_ARRAY_PARAM(prefix, prefixes, refuse_desc);
KUNIT_ARRAY_PARAM(flag, flags, refuse_desc);
KUNIT_ARRAY_PARAM(list, lists, refuse_desc);
KUNIT_ARRAY_PARAM(position, positions, refuse_desc);
KUNIT_ARRAY_PARAM(segment, segments, refuse_desc);
KUNIT_ARRAY_PARAM(error, errors, refuse_desc);

/* Take out the flags and inv_handle, which version 1 lacks. */
static void to_version_1(struct wire_msg *msg)
{
	u8 *own = msg->octets + 4 * XDR_UNIT;
	size_t left = msg->len - 4 * XDR_UNIT;
	size_t n = min_t(size_t, left, 2 * XDR_UNIT);

	put_unaligned_be32(1, msg->octets + XDR_UNIT);
	memmove(own, own + n, left - n);
	msg->len -= n;
}

static void expect_refusal_by(struct kunit *test, u32 version,
			      bool expects_reply)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_header *hdr;
	const struct refusal *r = test->param_value;
	const char *wrong;
	size_t rest;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	wire_parse(msg, r->wire);
	if (version == 1)
		to_version_1(msg);
	hdr->response = expects_reply;
	KUNIT_ASSERT_EQ(test, wire_decode(version, msg->octets, msg->len, hdr,
					  &rest), -EBADMSG);
	wrong = wire_check_answer(hdr, msg, &r->answer);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "code %u instead of %u",
			       hdr->error.code, r->answer.code);
}

static void refuse_expect_refusal(struct kunit *test, u32 version)
{
	expect_refusal_by(test, version, false);
	expect_refusal_by(test, version, true);
}

static void refuses_prefix(struct kunit *test)
{
	refuse_expect_refusal(test, 2);
}

/* The word where a known type has its flags must not matter. */
static void answers_unknown_types(struct kunit *test)
{
	struct rpcrdma2_header *hdr;
	__be32 wire[6] = { };
	unsigned int i;
	size_t rest;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	wire[1] = cpu_to_be32(2);
	wire[3] = cpu_to_be32(6);
	for (i = 0; i < 32; i++) {
		wire[4] = cpu_to_be32(1U << i);
		hdr->response = i % 2;
		KUNIT_EXPECT_EQ(test, wire_decode(2, wire, 4 * (4 + i % 3), hdr,
						  &rest), -EBADMSG);
		KUNIT_EXPECT_EQ(test, hdr->error.code, RDMA2_ERR_INVAL_HTYPE);
		KUNIT_EXPECT_FALSE(test, hdr->response);
	}
}

/* Without flags, even a client takes the message for a Call, which it may answer. */
static void answers_a_message_without_flags(struct kunit *test)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_header *hdr;
	size_t rest;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	wire_parse(msg, "11223344 00000002 00000020 00000000");
	hdr->response = true;
	KUNIT_EXPECT_EQ(test, wire_decode(2, msg->octets, msg->len, hdr, &rest),
			-EBADMSG);
	KUNIT_EXPECT_EQ(test, hdr->error.code, RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_FALSE(test, hdr->response);
}

static void refuses_flags(struct kunit *test)
{
	refuse_expect_refusal(test, 2);
}

static void refuses_errors(struct kunit *test)
{
	refuse_expect_refusal(test, 2);
}

static void refuses_lists(struct kunit *test)
{
	refuse_expect_refusal(test, 2);
}

static void v1_refuses_lists(struct kunit *test)
{
	refuse_expect_refusal(test, 1);
}

static void refuses_positions(struct kunit *test)
{
	refuse_expect_refusal(test, 2);
}

static void v1_refuses_positions(struct kunit *test)
{
	refuse_expect_refusal(test, 1);
}

static void refuses_segments(struct kunit *test)
{
	refuse_expect_refusal(test, 2);
}

static void v1_refuses_segments(struct kunit *test)
{
	refuse_expect_refusal(test, 1);
}

static struct kunit_case refuse_cases[] = {
	KUNIT_CASE_PARAM(refuses_prefix, prefix_gen_params),
	KUNIT_CASE(answers_unknown_types),
	KUNIT_CASE(answers_a_message_without_flags),
	KUNIT_CASE_PARAM(refuses_flags, flag_gen_params),
	KUNIT_CASE_PARAM(refuses_errors, error_gen_params),
	KUNIT_CASE_PARAM(refuses_lists, list_gen_params),
	KUNIT_CASE_PARAM(v1_refuses_lists, list_gen_params),
	KUNIT_CASE_PARAM(refuses_positions, position_gen_params),
	KUNIT_CASE_PARAM(v1_refuses_positions, position_gen_params),
	KUNIT_CASE_PARAM(refuses_segments, segment_gen_params),
	KUNIT_CASE_PARAM(v1_refuses_segments, segment_gen_params),
	{}
};

static struct kunit_suite refuse_suite = {
	.name = "rpcrdma2_wire_refuse",
	.test_cases = refuse_cases,
};

kunit_test_suite(refuse_suite);
