// SPDX-License-Identifier: GPL-2.0
/*
 * CM private data (RFC 8797): blocks that are understood, blocks that are not, and lengths.
 * KUnit runs each case in process context.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"

/* The most octets that a CM delivers: RDMA_CM over InfiniBand */
#define ROOM	196

struct block {
	const char	*name;
	const char	*wire;
	bool		remote_inv;
	u32		send_size, recv_size;
	bool		sent;	/* this side would send the same octets */
};

static const struct block blocks[] = {
	{ "the smallest sizes", "f6ab0e18 01 00 00 00", false, 1024, 1024,
	  true },
	{ "the default of version 2", "f6ab0e18 01 01 03 03", true, 4096, 4096,
	  true },
	{ "different sizes", "f6ab0e18 01 01 07 0f", true, 8192, 16384, true },
	{ "the largest sizes", "f6ab0e18 01 00 ff ff", false, 262144, 262144,
	  true },
	{ "every unknown flag", "f6ab0e18 01 fe 03 03", false, 4096, 4096 },
	{ "every flag", "f6ab0e18 01 ff 03 03", true, 4096, 4096 },
	{ "octets behind it", "f6ab0e18 01 01 00 fe 00000000 00", true, 1024,
	  261120 },
	{ "behind one octet", "00 f6ab0e18 01 01 03 03", true, 4096, 4096 },
	{ "behind half an identifier", "f6ab f6ab0e18 01 01 03 03", true, 4096,
	  4096 },
	{ "behind one of another version",
	  "f6ab0e18 02 00 00 00 f6ab0e18 01 01 03 04", true, 4096, 5120 },
	{ "two: the first one", "f6ab0e18 01 00 03 03 f6ab0e18 01 01 00 00",
	  false, 4096, 4096 },
};

static const struct block none[] = {
	{ "nothing", "" },
	{ "an identifier alone", "f6ab0e18" },
	{ "seven octets", "f6ab0e18 01 00 00" },
	{ "one that overruns the end", "00 f6ab0e18 01 00 00" },
	{ "another identifier", "f6ab0e19 01 00 00 00" },
	{ "an identifier in the other order", "180eabf6 01 00 00 00" },
	{ "version 0", "f6ab0e18 00 00 00 00" },
	{ "version 2", "f6ab0e18 02 00 00 00" },
	{ "version 255", "f6ab0e18 ff 00 00 00" },
};

static void block_desc(const struct block *b, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", b->name);
}

KUNIT_ARRAY_PARAM(block, blocks, block_desc);
KUNIT_ARRAY_PARAM(none, none, block_desc);

/* KASAN reports a read beyond memory of exactly this size. */
static bool pd_decode(const u8 *octets, size_t len,
		      struct rpcrdma2_private_data *pd)
{
	void *copy = kmalloc(len, GFP_KERNEL);
	bool found;

	if (!copy)
		return false;
	memcpy(copy, octets, len);
	found = rpcrdma2_decode_private_data(copy, len, pd);
	kfree(copy);
	return found;
}

static struct wire_msg *parse_block(struct kunit *test)
{
	const struct block *b = test->param_value;
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	wire_parse(msg, b->wire);
	return msg;
}

static void finds_a_block(struct kunit *test)
{
	const struct block *b = test->param_value;
	struct wire_msg *msg = parse_block(test);
	struct rpcrdma2_private_data pd = { };

	KUNIT_ASSERT_EQ(test, pd_decode(msg->octets, msg->len, &pd), true);
	KUNIT_EXPECT_EQ(test, pd.remote_inv, b->remote_inv);
	KUNIT_EXPECT_EQ(test, pd.send_size, b->send_size);
	KUNIT_EXPECT_EQ(test, pd.recv_size, b->recv_size);
}

static void finds_no_block(struct kunit *test)
{
	struct rpcrdma2_private_data pd = { false, 17, 18 };
	struct wire_msg *msg = parse_block(test);

	KUNIT_EXPECT_EQ(test, pd_decode(msg->octets, msg->len, &pd), false);
	KUNIT_EXPECT_EQ(test, pd.send_size, 17);
	KUNIT_EXPECT_EQ(test, pd.recv_size, 18);
}

static void writes_a_block(struct kunit *test)
{
	const struct block *b = test->param_value;
	struct rpcrdma2_private_data pd = {
		b->remote_inv, b->send_size, b->recv_size
	};
	struct wire_msg *msg = parse_block(test);
	u8 out[12];

	memset(out, 0xc3, sizeof(out));
	rpcrdma2_encode_private_data(out + 2, &pd);
	KUNIT_EXPECT_EQ(test, out[0], 0xc3);
	KUNIT_EXPECT_EQ(test, out[1], 0xc3);
	KUNIT_EXPECT_EQ(test, out[10], 0xc3);
	KUNIT_EXPECT_EQ(test, out[11], 0xc3);
	if (b->sent)
		KUNIT_EXPECT_EQ(test, memcmp(out + 2, msg->octets, 8), 0);
}

static void finds_a_block_anywhere(struct kunit *test)
{
	static const u8 block[] = { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 4 };
	struct rpcrdma2_private_data pd;
	u8 buf[ROOM];
	size_t at;

	for (at = 0; at <= ROOM - sizeof(block); at++) {
		memset(buf, 0xf6, sizeof(buf));
		memcpy(buf + at, block, sizeof(block));
		memset(&pd, 0, sizeof(pd));
		KUNIT_EXPECT_EQ_MSG(test, pd_decode(buf, ROOM, &pd), true,
				    "at %zu", at);
		KUNIT_EXPECT_EQ(test, pd.recv_size, 5120);
		KUNIT_EXPECT_EQ_MSG(test, pd_decode(buf, at + 7, &pd), false,
				    "at %zu, cut short", at);
	}
}

static void survives_no_buffer(struct kunit *test)
{
	struct rpcrdma2_private_data pd;

	KUNIT_EXPECT_FALSE(test, rpcrdma2_decode_private_data(NULL, 0, &pd));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_decode_private_data(NULL, 8, &pd));
}

static void carries_every_size(struct kunit *test)
{
	struct rpcrdma2_private_data in = { }, out;
	u8 buf[RPCRDMA2_PRIVATE_DATA_LEN];
	u32 size;

	for (size = 1024; size <= 262144; size += 1024) {
		in.send_size = size;
		in.recv_size = 262144 + 1024 - size;
		rpcrdma2_encode_private_data(buf, &in);
		KUNIT_ASSERT_EQ(test, pd_decode(buf, sizeof(buf), &out), true);
		KUNIT_EXPECT_EQ(test, out.send_size, in.send_size);
		KUNIT_EXPECT_EQ(test, out.recv_size, in.recv_size);
	}
}

struct rounding {
	const char	*name;
	u32		size, carried;
};

static const struct rounding roundings[] = {
	{ "0 up to the least", 0, 1024 },
	{ "1023 up to the least", 1023, 1024 },
	{ "1025 down", 1025, 1024 },
	{ "2047 down", 2047, 1024 },
	{ "2048 as it is", 2048, 2048 },
	{ "5000 down", 5000, 4096 },
	{ "262143 down", 262143, 261120 },
	{ "262145 down to the most", 262145, 262144 },
	{ "2^32 - 1 down to the most", U32_MAX, 262144 },
};

static void rounding_desc(const struct rounding *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", r->name);
}

KUNIT_ARRAY_PARAM(rounding, roundings, rounding_desc);

static void rounds(struct kunit *test)
{
	const struct rounding *r = test->param_value;
	struct rpcrdma2_private_data in = { false, r->size, r->size }, out;
	u8 buf[RPCRDMA2_PRIVATE_DATA_LEN];

	rpcrdma2_encode_private_data(buf, &in);
	KUNIT_ASSERT_EQ(test, pd_decode(buf, sizeof(buf), &out), true);
	KUNIT_EXPECT_EQ(test, out.send_size, r->carried);
	KUNIT_EXPECT_EQ(test, out.recv_size, r->carried);
}

static struct kunit_case private_data_cases[] = {
	KUNIT_CASE_PARAM(finds_a_block, block_gen_params),
	KUNIT_CASE_PARAM(finds_no_block, none_gen_params),
	KUNIT_CASE_PARAM(writes_a_block, block_gen_params),
	KUNIT_CASE(finds_a_block_anywhere),
	KUNIT_CASE(survives_no_buffer),
	KUNIT_CASE(carries_every_size),
	KUNIT_CASE_PARAM(rounds, rounding_gen_params),
	{}
};

static struct kunit_suite private_data_suite = {
	.name = "rpcrdma2_wire_private_data",
	.test_cases = private_data_cases,
};

kunit_test_suite(private_data_suite);
