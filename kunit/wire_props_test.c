// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of transport properties, as they come in an RDMA2_CONNPROP.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"

#define CONNPROP	"11223344 00000002 00000020 00000005 00000000 "
#define RBSIZ		"00000001 00000004 "
#define BRS		"00000002 00000004 "

struct props_case {
	const char	*name;
	const char	*wire;
	bool		refused;
	u32		rbsiz, brs;
};

static const struct props_case accepted[] = {
	{ "none", "00000000", false, 4096, 1 },
	{ "RBSIZ", "00000001 " RBSIZ "00010000", false, 65536, 1 },
	{ "the smallest RBSIZ", "00000001 " RBSIZ "00000400", false, 1024, 1 },
	{ "RBSIZ just above", "00000001 " RBSIZ "00000404", false, 1028, 1 },
	{ "the largest RBSIZ", "00000001 " RBSIZ "fffffffc", false, 0xfffffffc,
	  1 },
	{ "RBSIZ of length zero", "00000001 00000001 00000000", false, 4096,
	  1 },
	{ "BRS NONE", "00000001 " BRS "00000000", false, 4096, 0 },
	{ "BRS INLINE", "00000001 " BRS "00000001", false, 4096, 1 },
	{ "BRS GENL", "00000001 " BRS "00000002", false, 4096, 2 },
	{ "BRS of length zero", "00000001 00000002 00000000", false, 4096, 1 },
	{ "both", "00000002 " RBSIZ "00000800" BRS "00000000", false, 2048,
	  0 },
	{ "both, backwards", "00000002 " BRS "00000000" RBSIZ "00000800",
	  false, 2048, 0 },
	{ "RBSIZ twice: the last stands",
	  "00000002 " RBSIZ "00002000" RBSIZ "00000800", false, 2048, 1 },
	{ "RBSIZ, then its default",
	  "00000002 " RBSIZ "00002000 00000001 00000000", false, 4096, 1 },
	{ "BRS twice: the last stands",
	  "00000002 " BRS "00000000" BRS "00000002", false, 4096, 2 },
	{ "BRS, then its default",
	  "00000002 " BRS "00000002 00000002 00000000", false, 4096, 1 },
	{ "an unknown one of length zero", "00000001 00000003 00000000",
	  false, 4096, 1 },
	{ "id 0, with data", "00000001 00000000 00000004 00000001", false,
	  4096, 1 },
	{ "the highest id, of one octet",
	  "00000001 ffffffff 00000001 ff000000", false, 4096, 1 },
	{ "an unknown one, its padding not zero",
	  "00000001 00000007 00000001 ffffffff", false, 4096, 1 },
	{ "an unknown one between",
	  "00000003 " RBSIZ "00000800 00000063 00000006 01020304 05060000"
	  BRS "00000002", false, 2048, 2 },
};

static const struct props_case refused[] = {
	{ "no count", "", true },
	{ "RBSIZ of 0", "00000001 " RBSIZ "00000000", true },
	{ "RBSIZ of 1020", "00000001 " RBSIZ "000003fc", true },
	{ "RBSIZ of 1023", "00000001 " RBSIZ "000003ff", true },
	{ "RBSIZ of 1026", "00000001 " RBSIZ "00000402", true },
	{ "RBSIZ of 2^32 - 1", "00000001 " RBSIZ "ffffffff", true },
	{ "BRS of 3", "00000001 " BRS "00000003", true },
	{ "BRS of 2^32 - 1", "00000001 " BRS "ffffffff", true },
	{ "a good RBSIZ, then a bad one",
	  "00000002 " RBSIZ "00001000" RBSIZ "00000001", true },
	{ "a bad RBSIZ, then a good one",
	  "00000002 " RBSIZ "00000001" RBSIZ "00001000", true },
	{ "RBSIZ of two octets", "00000001 00000001 00000002 10000000", true },
	{ "RBSIZ of three octets", "00000001 00000001 00000003 00001000",
	  true },
	{ "RBSIZ of five octets",
	  "00000001 00000001 00000005 00001000 00000000", true },
	{ "RBSIZ of eight octets",
	  "00000001 00000001 00000008 00000000 00001000", true },
	{ "BRS of one octet", "00000001 00000002 00000001 01000000", true },
	{ "RBSIZ without its data", "00000001 " RBSIZ, true },
	{ "RBSIZ without its length", "00000001 00000001", true },
	{ "a count without properties", "00000001", true },
	{ "one less than the count says", "00000002 " RBSIZ "00001000", true },
	{ "one more than the count says",
	  "00000001 " RBSIZ "00001000" BRS "00000001", true },
	{ "a word more than the count says", "00000000 00000000", true },
	{ "a count of 2^32 - 1", "ffffffff " RBSIZ "00001000", true },
	{ "a count of 2^29: 2^32 octets", "20000000 " RBSIZ "00001000", true },
	{ "a count of 2^29 + 1: 8 octets", "20000001 " RBSIZ "00001000", true },
	{ "an unknown one of 2^32 - 1 octets",
	  "00000001 00000009 ffffffff 00000000", true },
	{ "an unknown one of 2^32 - 3 octets",
	  "00000001 00000009 fffffffd 00000000", true },
	{ "an unknown one of 2^31 octets",
	  "00000001 00000009 80000000 00000000", true },
	{ "an unknown one, an octet too long",
	  "00000001 00000009 00000005 00000000", true },
	{ "an unknown one that takes the next in",
	  "00000002 00000009 0000000c " RBSIZ "00001000", true },
};

static void props_desc(const struct props_case *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(accepted, accepted, props_desc);
KUNIT_ARRAY_PARAM(refused, refused, props_desc);

static void props_expect(struct kunit *test, const char *prefix,
			 struct wire_msg *msg, struct rpcrdma2_header *hdr)
{
	const struct props_case *p = test->param_value;
	size_t rest;
	int rc;

	msg->len = 0;
	wire_parse(msg, prefix);
	wire_parse(msg, p->wire);
	rc = wire_decode(2, msg->octets, msg->len, hdr, &rest);
	if (p->refused) {
		KUNIT_ASSERT_EQ(test, rc, -EBADMSG);
		KUNIT_EXPECT_EQ(test, hdr->error.code, RDMA2_ERR_BAD_XDR);
		return;
	}
	KUNIT_ASSERT_EQ(test, rc, 0);
	KUNIT_EXPECT_EQ(test, hdr->props.rbsiz, p->rbsiz);
	KUNIT_EXPECT_EQ(test, hdr->props.brs, p->brs);
	KUNIT_EXPECT_EQ(test, hdr->error.code, RDMA2_ERR_NONE);
}

static void expect_props_of_both_ends(struct kunit *test)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_header *hdr;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	props_expect(test, CONNPROP, msg, hdr);
	KUNIT_EXPECT_FALSE(test, hdr->response);
	props_expect(test, "11223344 00000002 00000020 00000005 00000001",
		     msg, hdr);
	KUNIT_EXPECT_TRUE(test, hdr->response);
}

static void takes_over(struct kunit *test)
{
	expect_props_of_both_ends(test);
}

static void refuses_props(struct kunit *test)
{
	expect_props_of_both_ends(test);
}

/* As many properties as the largest CONNPROP can hold */
static void takes_a_message_full_of_unknown_ones(struct kunit *test)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_header *hdr;
	unsigned int i, n = (RPCRDMA2_CONNPROP_MAX - 24) / 8;
	size_t rest;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	wire_parse(msg, CONNPROP);
	wire_put(msg, n);
	for (i = 0; i < n; i++) {
		wire_put(msg, 3 + i);
		wire_put(msg, 0);
	}
	KUNIT_EXPECT_EQ(test, msg->len, RPCRDMA2_CONNPROP_MAX);
	KUNIT_ASSERT_EQ(test, wire_decode(2, msg->octets, msg->len, hdr, &rest),
			0);
	KUNIT_EXPECT_EQ(test, hdr->props.rbsiz, 4096);
	KUNIT_EXPECT_EQ(test, hdr->props.brs, 1);
}

struct number {
	const char	*name;
	u32		id;
	int		rc;
};

/*
 * Another project may use a number for experiments, so a bad value there is no error.
 */
static const struct number numbers[] = {
	{ "the last that is not for experiments", 0xfffffeff, -EBADMSG },
	{ "the first for experiments", 0xffffff00, 0 },
	{ "the last for experiments", 0xffffffff, 0 },
};

static void number_desc(const struct number *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", n->name);
}

KUNIT_ARRAY_PARAM(number, numbers, number_desc);

static void ignores_bad_values_of_experiments_alone(struct kunit *test)
{
	const struct number *n = test->param_value;
	const struct rpcrdma2_prop prop = {
		.id	 = n->id,
		.initial = 4096,
		.field	 = offsetof(struct rpcrdma2_props, rbsiz),
		.decode	 = rpcrdma2_decode_rbsiz,
	};
	const struct rpcrdma2_prop_table table = { .props = &prop, .nr = 1 };
	__be32 wire[] = { cpu_to_be32(n->id), cpu_to_be32(4), cpu_to_be32(1) };
	struct rpcrdma2_props props = { };
	struct xdr_stream xdr;
	struct xdr_buf buf;
	u32 which;

	rpcrdma2_stream_decode(&xdr, &buf, wire, sizeof(wire));
	KUNIT_EXPECT_EQ(test, rpcrdma2_decode_prop(&xdr, &table, &props, &which),
			n->rc);
	KUNIT_EXPECT_EQ(test, which, RPCRDMA2_PROP_BIT(rbsiz));
	KUNIT_EXPECT_EQ(test, props.rbsiz, 4096);
}

static void props_fit_the_smallest_receive_buffer(struct kunit *test)
{
	struct rpcrdma2_header *hdr;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	hdr->kind = RPCRDMA2_PROPS;
	KUNIT_EXPECT_TRUE(test, rpcrdma2_header_size(&rpcrdma2_v2_09,
						     hdr) <= 1024);
}

static struct kunit_case props_cases[] = {
	KUNIT_CASE_PARAM(takes_over, accepted_gen_params),
	KUNIT_CASE_PARAM(refuses_props, refused_gen_params),
	KUNIT_CASE(takes_a_message_full_of_unknown_ones),
	KUNIT_CASE_PARAM(ignores_bad_values_of_experiments_alone, number_gen_params),
	KUNIT_CASE(props_fit_the_smallest_receive_buffer),
	{}
};

static struct kunit_suite props_suite = {
	.name = "rpcrdma2_wire_props",
	.test_cases = props_cases,
};

kunit_test_suite(props_suite);
