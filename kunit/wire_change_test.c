// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that change properties: refusals and limits. The answer is BAD_XDR and nothing
 * else. wire_vectors_change.c has good ones.
 *
 * Both dialects have the same bodies where they have the same ids, so most cases run in
 * both. KUnit runs each case in process context.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"

#define PREFIX		"11223344 00000002 00000020 "
#define RBSIZ		"00000001 00000004 "
#define BRS		"00000002 00000004 "
#define CHANGES		"ffffff01 00000004 "
#define WISH		"ffffff02 00000004 "
#define UNKNOWN		"0000ffff 00000000 "
#define WORD(word)	"00000001 " word " "
#define NONE		"00000000 "

struct change_case {
	const char	*name;
	u32		kind;
	const char	*body;
	bool		only_v2_09;	/* v2-01 gives the ids another meaning */
};

struct experiment {
	const char	*name;
	const char	*property;
	u32		changes, wish;
};

static const struct change_case refused[] = {
	{ "request: no count", RPCRDMA2_REQUEST, "" },
	{ "request: a count of nothing", RPCRDMA2_REQUEST, "00000001" },
	{ "request: an id alone", RPCRDMA2_REQUEST, "00000001 00000001" },
	{ "request: no value", RPCRDMA2_REQUEST, "00000001 " RBSIZ },
	{ "request: one less than counted", RPCRDMA2_REQUEST,
	  "00000002 " RBSIZ "00002000" },
	{ "request: one more than counted", RPCRDMA2_REQUEST,
	  "00000001 " RBSIZ "00002000" UNKNOWN },
	{ "request: a word behind", RPCRDMA2_REQUEST,
	  "00000001 " RBSIZ "00002000 00000000" },
	{ "request: a word behind nothing", RPCRDMA2_REQUEST,
	  "00000000 00000000" },
	{ "request: a count of 2^32 - 1", RPCRDMA2_REQUEST,
	  "ffffffff " RBSIZ "00002000" },
	{ "request: a count of 2^29", RPCRDMA2_REQUEST,
	  "20000000 " RBSIZ "00002000" },
	{ "request: buffers of 0", RPCRDMA2_REQUEST,
	  "00000001 " RBSIZ "00000000" },
	{ "request: buffers of 1020", RPCRDMA2_REQUEST,
	  "00000001 " RBSIZ "000003fc" },
	{ "request: buffers of 4098", RPCRDMA2_REQUEST,
	  "00000001 " RBSIZ "00001002" },
	{ "request: buffers of eight octets", RPCRDMA2_REQUEST,
	  "00000001 00000001 00000008 0000000000002000" },
	{ "request: BRS of 3", RPCRDMA2_REQUEST, "00000001 " BRS "00000003",
	  true },
	{ "request: something unknown of 2^32 - 1 octets", RPCRDMA2_REQUEST,
	  "00000001 0000ffff ffffffff 00000000" },
	{ "disposition: no subsets", RPCRDMA2_DISPOSITION, "" },
	{ "disposition: one subset", RPCRDMA2_DISPOSITION, WORD("00000001") },
	{ "disposition: two subsets", RPCRDMA2_DISPOSITION,
	  WORD("00000001") NONE },
	{ "disposition: a subset without its word", RPCRDMA2_DISPOSITION,
	  NONE NONE "00000001" },
	{ "disposition: a subset of 2^32 - 1 words", RPCRDMA2_DISPOSITION,
	  "ffffffff 00000000 " NONE NONE },
	{ "disposition: a subset of 2^30 words", RPCRDMA2_DISPOSITION,
	  "40000000 00000000 " NONE NONE },
	{ "disposition: a subset that takes the next in", RPCRDMA2_DISPOSITION,
	  "00000003 00000000 " NONE NONE },
	{ "disposition: a word behind", RPCRDMA2_DISPOSITION,
	  NONE NONE NONE "00000000" },
	{ "disposition: done and rejected", RPCRDMA2_DISPOSITION,
	  WORD("00000003") WORD("00000002") NONE },
	{ "disposition: done and pending", RPCRDMA2_DISPOSITION,
	  WORD("80000000") NONE WORD("80000000") },
	{ "disposition: rejected and pending", RPCRDMA2_DISPOSITION,
	  WORD("00000001") WORD("00000006") WORD("00000004") },
	{ "update: nothing", RPCRDMA2_UPDATE, "" },
	{ "update: not whether it settles anything", RPCRDMA2_UPDATE,
	  RBSIZ "00002000" },
	{ "update: half settled", RPCRDMA2_UPDATE,
	  RBSIZ "00002000 00000002" },
	{ "update: something unknown, half settled", RPCRDMA2_UPDATE,
	  UNKNOWN "80000000" },
	{ "update: a word behind", RPCRDMA2_UPDATE,
	  RBSIZ "00002000 00000000 00000000" },
	{ "update of two", RPCRDMA2_UPDATE,
	  RBSIZ "00002000 " RBSIZ "00002000 00000000" },
	{ "update: buffers of 512", RPCRDMA2_UPDATE,
	  RBSIZ "00000200 00000000" },
	{ "update: BRS of 2^32 - 1", RPCRDMA2_UPDATE,
	  BRS "ffffffff 00000000", true },
};

/* v2-01 knows no default for a property without data. */
static const struct change_case refused_by_v2_01[] = {
	{ "request of a default", RPCRDMA2_REQUEST,
	  "00000001 00000001 00000000" },
	{ "update to a default", RPCRDMA2_UPDATE,
	  "00000001 00000000 00000000" },
	{ "request: neither with nor without invalidation", RPCRDMA2_REQUEST,
	  "00000001 00000002 00000004 00000002" },
	{ "update: BRS above GENL", RPCRDMA2_UPDATE,
	  "00000003 00000004 00000004 00000000" },
};

/*
 * Ids for experiments may be another project's. A value that this project does not use
 * makes the property unknown, and the message stays valid.
 */
static const struct experiment experiments[] = {
	{ "this extension", CHANGES "72327031", true, 0 },
	{ "another extension", CHANGES "00000001" },
	{ "no extension", CHANGES "00000000" },
	{ "another extension, nothing said", "ffffff01 00000000" },
	{ "another extension, of two words",
	  "ffffff01 00000008 72327031 00000000" },
	{ "another extension, of three octets", "ffffff01 00000003 72327000" },
	{ "a wish for 4 KiB", WISH "00001000", false, 4096 },
	{ "no wish", WISH "00000000" },
	{ "a wish for the impossible", WISH "00000403" },
	{ "a wish that is too small", WISH "00000200" },
	{ "a wish of two words", "ffffff02 00000008 00001000 00001000" },
};

static void change_desc(const struct change_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", c->name);
}

static void experiment_desc(const struct experiment *e, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", e->name);
}

KUNIT_ARRAY_PARAM(refused, refused, change_desc);
KUNIT_ARRAY_PARAM(refused_by_v2_01, refused_by_v2_01, change_desc);
KUNIT_ARRAY_PARAM(experiment, experiments, experiment_desc);

static void *change_storage(struct kunit *test, size_t size)
{
	void *p = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	return p;
}

/* Header types and operations follow each other in the order of the kinds. */
static void put_body(struct wire_msg *msg, u32 codec, u32 kind,
		     const char *body)
{
	u32 nth = kind - RPCRDMA2_REQUEST;
	size_t at;

	msg->len = 0;
	wire_parse(msg, PREFIX);
	if (codec == WIRE_V2) {
		wire_put(msg, 0xffffff01 + nth);
		wire_put(msg, 0);
		wire_parse(msg, body);
		return;
	}
	wire_put(msg, 5);
	wire_put(msg, 0);
	wire_put(msg, 2 + nth);
	at = msg->len;
	wire_put(msg, 0);
	wire_parse(msg, body);
	put_unaligned_be32(msg->len - at - XDR_UNIT, msg->octets + at);
}

static void change_expect_refusal(struct kunit *test, u32 codec)
{
	const struct change_case *c = test->param_value;
	struct rpcrdma2_header *hdr = change_storage(test, sizeof(*hdr));
	struct wire_msg *msg = change_storage(test, sizeof(*msg));
	size_t rest;

	put_body(msg, codec, c->kind, c->body);
	KUNIT_ASSERT_EQ(test, wire_decode(codec, msg->octets, msg->len, hdr,
					  &rest), -EBADMSG);
	KUNIT_EXPECT_EQ(test, hdr->error.code, RDMA2_ERR_BAD_XDR);
	KUNIT_EXPECT_EQ(test, hdr->kind, c->kind);
	KUNIT_EXPECT_FALSE(test, hdr->response);
}

static void refuses_changes(struct kunit *test)
{
	const struct change_case *c = test->param_value;

	change_expect_refusal(test, WIRE_V2);
	if (!c->only_v2_09)
		change_expect_refusal(test, WIRE_V2_01);
}

static void v2_01_refuses(struct kunit *test)
{
	change_expect_refusal(test, WIRE_V2_01);
}

static const u32 codecs[] = { WIRE_V2, WIRE_V2_01 };

/* A CONNPROP stands for all messages, because one function decodes their properties. */
static void takes_experiments_of_others(struct kunit *test)
{
	const struct experiment *e = test->param_value;
	struct rpcrdma2_header *hdr = change_storage(test, sizeof(*hdr));
	struct wire_msg *msg = change_storage(test, sizeof(*msg));
	size_t rest;

	wire_parse(msg, PREFIX "00000005 00000000 00000002 " RBSIZ "00002000 ");
	wire_parse(msg, e->property);
	KUNIT_ASSERT_EQ(test, wire_decode(WIRE_V2, msg->octets, msg->len, hdr,
					  &rest), 0);
	KUNIT_EXPECT_EQ(test, hdr->props.rbsiz, 8192);
	KUNIT_EXPECT_EQ(test, hdr->props.changes, e->changes);
	KUNIT_EXPECT_EQ(test, hdr->props.wished_rbsiz, e->wish);
}

static void expect_request_of(struct kunit *test, u32 codec, u32 count, int rc)
{
	static struct rpcrdma2_header request;
	static struct wire_msg octets;
	struct rpcrdma2_header *hdr = &request;
	struct wire_msg *msg = &octets;
	const char *wrong;
	size_t rest;
	u32 i;

	put_body(msg, codec, RPCRDMA2_REQUEST, "");
	wire_put(msg, count);
	for (i = 1; i < count; i++)
		wire_parse(msg, UNKNOWN);
	wire_parse(msg, RBSIZ "00002000");
	if (codec == WIRE_V2_01)
		put_unaligned_be32(msg->len - 28, msg->octets + 24);
	KUNIT_ASSERT_EQ(test, wire_decode(codec, msg->octets, msg->len, hdr,
					  &rest), rc);
	if (rc) {
		KUNIT_EXPECT_EQ(test, hdr->error.code, RDMA2_ERR_BAD_XDR);
		return;
	}
	KUNIT_EXPECT_EQ(test, hdr->change.count, count);
	KUNIT_EXPECT_EQ(test, hdr->change.at[0], 1U << (count - 1));
	KUNIT_EXPECT_EQ(test, hdr->change.props.rbsiz, 8192);
	wrong = wire_check_accepted(codec, hdr, rest);
	KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "inconsistent");
}

static void takes_as_many_as_a_subset_has_bits(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(codecs); i++) {
		expect_request_of(test, codecs[i], 1, 0);
		expect_request_of(test, codecs[i], 31, 0);
		expect_request_of(test, codecs[i], 32, 0);
		expect_request_of(test, codecs[i], 33, -EBADMSG);
		expect_request_of(test, codecs[i], 64, -EBADMSG);
	}
}

static void version_1_has_none(struct kunit *test)
{
	struct rpcrdma2_header *hdr = change_storage(test, sizeof(*hdr));
	struct wire_msg *msg = change_storage(test, sizeof(*msg));
	u32 kind;

	for (kind = RPCRDMA2_REQUEST; kind <= RPCRDMA2_UPDATE; kind++) {
		hdr->kind = kind;
		KUNIT_EXPECT_EQ(test, wire_encode(WIRE_V1, msg, hdr),
				-EOPNOTSUPP);
	}
}

/* A peer may have the smallest Receive buffers, or change to them. */
static void changes_fit_the_smallest_receive_buffer(struct kunit *test)
{
	struct rpcrdma2_header *hdr = change_storage(test, sizeof(*hdr));
	unsigned int i;

	hdr->change.which = U32_MAX;
	for (i = 0; i < ARRAY_SIZE(codecs); i++) {
		for (hdr->kind = RPCRDMA2_REQUEST;
		     hdr->kind <= RPCRDMA2_UPDATE; hdr->kind++)
			KUNIT_EXPECT_TRUE(test, rpcrdma2_header_size(wire_dialect(codecs[i]),
								     hdr) <= 1024);
	}
}

static struct kunit_case change_cases[] = {
	KUNIT_CASE_PARAM(refuses_changes, refused_gen_params),
	KUNIT_CASE_PARAM(v2_01_refuses, refused_by_v2_01_gen_params),
	KUNIT_CASE_PARAM(takes_experiments_of_others, experiment_gen_params),
	KUNIT_CASE(takes_as_many_as_a_subset_has_bits),
	KUNIT_CASE(version_1_has_none),
	KUNIT_CASE(changes_fit_the_smallest_receive_buffer),
	{}
};

static struct kunit_suite change_suite = {
	.name = "rpcrdma2_wire_change",
	.test_cases = change_cases,
};

kunit_test_suite(change_suite);
