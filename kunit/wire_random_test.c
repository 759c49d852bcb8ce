// SPDX-License-Identifier: GPL-2.0
/*
 * Random headers survive encoding and decoding; damaged ones are refused, or consistent. The
 * answer to a refused one can be sent. Seeds make the headers.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"

#define HEADERS_PER_SEED	500

static const u64 seeds[] = { 1, 2, 3, 0x8797, 0x20190506, 0xfedcba9876543210 };

static void seed_desc(const u64 *seed, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "seed %#llx", *seed);
}

KUNIT_ARRAY_PARAM(seed, seeds, seed_desc);

static void *random_storage(struct kunit *test, size_t size)
{
	void *p = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	return p;
}

static void survives_the_wire(struct kunit *test)
{
	struct wire_rng rng = { *(const u64 *)test->param_value };
	struct rpcrdma2_header *hdr = random_storage(test, sizeof(*hdr));
	const char *wrong;
	unsigned int i;
	size_t rest;

	for (i = 0; i < HEADERS_PER_SEED; i++) {
		rest = wire_random_header(&rng, hdr);
		wrong = wire_check_accepted(rng.codec, hdr, rest) ?:
			wire_check_round_trip(rng.codec, hdr, rest);
		KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "header %u", i);
	}
}

static const char *decode_damaged(u32 codec, bool expects_reply,
				  const struct wire_msg *msg,
				  struct rpcrdma2_header *hdr)
{
	size_t rest;
	int rc;

	hdr->response = expects_reply;
	rc = wire_decode(codec, msg->octets, msg->len, hdr, &rest);
	if (rc == -EBADMSG)
		return wire_check_refused(codec, hdr);
	if (rc)
		return "an error that no decoder returns";
	return wire_check_accepted(codec, hdr, rest) ?:
	       wire_check_round_trip(codec, hdr, rest);
}

static void survives_damage(struct kunit *test)
{
	struct wire_rng rng = { *(const u64 *)test->param_value };
	struct rpcrdma2_header *hdr = random_storage(test, sizeof(*hdr));
	struct wire_msg *msg = random_storage(test, sizeof(*msg));
	const char *wrong;
	unsigned int i, n;

	for (i = 0; i < HEADERS_PER_SEED; i++) {
		wire_random_message(&rng, hdr, msg);
		for (n = 1 + wire_random_below(&rng, 3); n; n--)
			wire_mutate(&rng, msg);
		wrong = decode_damaged(WIRE_V1, false, msg, hdr) ?:
			decode_damaged(WIRE_V1, true, msg, hdr) ?:
			decode_damaged(WIRE_V2_01, i % 2, msg, hdr) ?:
			decode_damaged(WIRE_V2, i % 2, msg, hdr);
		KUNIT_EXPECT_STREQ_MSG(test, wrong ?: "", "", "message %u", i);
	}
}

static struct kunit_case random_cases[] = {
	KUNIT_CASE_PARAM(survives_the_wire, seed_gen_params),
	KUNIT_CASE_PARAM(survives_damage, seed_gen_params),
	{}
};

static struct kunit_suite random_suite = {
	.name = "rpcrdma2_wire_random",
	.test_cases = random_cases,
};

kunit_test_suite(random_suite);
