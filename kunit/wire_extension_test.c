// SPDX-License-Identifier: GPL-2.0
/*
 * A small extension of v2-09, and peers without it. It has all parts that
 * Documentation/protocol/extending.rst asks for.
 *
 * The header type is a greeting of one word, which a peer answers with another
 * greeting. The property says whether the sender accepts a Send With Invalidate, as
 * xcharext's does. The error says that nobody is at home. The flag makes a greeting
 * hearty.
 */
#include <kunit/test.h>
#include "wire_test.h"

/* The extension */

#define GREETING		(RPCRDMA2_UPDATE + 1)	/* the next free kind */

#define RDMA2_GREETING		0xffffff80
#define RDMA2_PROPID_REMOTE_INV	0xffffff80
#define RDMA2_ERR_NOT_AT_HOME	0xffffff80
#define RDMA2_F_HEARTY		0x80000000

/* A greeting's own fields, which struct rpcrdma2_header has no room for */
struct greeting {
	struct rpcrdma2_header	hdr;
	u32			word;
	bool			hearty;
};

static int decode_greeting(const struct rpcrdma2_dialect *dialect,
			   struct xdr_stream *xdr, struct rpcrdma2_header *hdr)
{
	struct greeting *greeting = container_of(hdr, struct greeting, hdr);
	u32 flags;

	hdr->response = false;
	if (xdr_stream_decode_u32(xdr, &flags))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	hdr->response = flags & RPCRDMA2_F_RESPONSE;
	greeting->hearty = flags & RDMA2_F_HEARTY;
	if (xdr_stream_decode_u32(xdr, &greeting->word) ||
	    xdr_stream_remaining(xdr))
		return rpcrdma2_refuse(hdr, RDMA2_ERR_BAD_XDR);
	return 0;
}

static int encode_greeting(const struct rpcrdma2_dialect *dialect,
			   struct xdr_stream *xdr,
			   const struct rpcrdma2_header *hdr)
{
	const struct greeting *greeting =
		container_of(hdr, const struct greeting, hdr);
	__be32 *p = xdr_reserve_space(xdr, 2 * XDR_UNIT);

	if (!p)
		return -EMSGSIZE;
	*p++ = cpu_to_be32((hdr->response ? RPCRDMA2_F_RESPONSE : 0) |
			   (greeting->hearty ? RDMA2_F_HEARTY : 0));
	*p = cpu_to_be32(greeting->word);
	return 0;
}

static size_t greeting_size(const struct rpcrdma2_dialect *dialect,
			    const struct rpcrdma2_header *hdr)
{
	return 2 * XDR_UNIT;
}

static int decode_remote_inv(u32 word, u32 *value)
{
	if (word > 1)
		return -EBADMSG;
	*value = word;
	return 0;
}

static const struct rpcrdma2_type own_type = {
	.htype	= RDMA2_GREETING,
	.kind	= GREETING,
	.decode	= decode_greeting,
	.encode	= encode_greeting,
	.size	= greeting_size,
};

static const struct rpcrdma2_prop own_prop = {
	.id		= RDMA2_PROPID_REMOTE_INV,
	.name		= "remote_inv",
	.initial	= false,
	.field		= offsetof(struct rpcrdma2_props, remote_inv),
	.decode		= decode_remote_inv,
};

static const struct rpcrdma2_errdef own_error = {
	.number		= RDMA2_ERR_NOT_AT_HOME,
	.code		= RDMA2_ERR_NOT_AT_HOME,
	.name		= "NOT_AT_HOME",
	.nr_words	= 1,
	.words		= { RPCRDMA2_ERROR_WORD(length_needed) },
};

/*
 * A real extension has these entries in its dialect's tables. The test appends them to
 * copies of v2-09's tables.
 */
#define ROOM	32

static struct rpcrdma2_type types[ROOM];
static struct rpcrdma2_prop props[ROOM];
static struct rpcrdma2_prop_table prop_table;
static struct rpcrdma2_errdef errors[ROOM];
static struct rpcrdma2_dialect extended;

static void extend(struct kunit *test)
{
	const struct rpcrdma2_dialect *base = &rpcrdma2_v2_09;

	KUNIT_ASSERT_EQ(test, base->nr_types < ROOM && base->props->nr < ROOM &&
			base->nr_errors < ROOM, true);
	memcpy(types, base->types, base->nr_types * sizeof(types[0]));
	types[base->nr_types] = own_type;
	memcpy(props, base->props->props, base->props->nr * sizeof(props[0]));
	props[base->props->nr] = own_prop;
	prop_table = *base->props;
	prop_table.props = props;
	prop_table.nr++;
	memcpy(errors, base->errors, base->nr_errors * sizeof(errors[0]));
	errors[base->nr_errors] = own_error;
	extended = *base;
	extended.types = types;
	extended.nr_types++;
	extended.props = &prop_table;
	extended.errors = errors;
	extended.nr_errors++;
}

/* The tests */

#define PREFIX		"11223344 00000002 00000020 "
#define A_GREETING	PREFIX "ffffff80 00000000 0000002a "
#define AN_ANSWER	PREFIX "ffffff80 80000001 ffffffff "
#define CONNPROP	PREFIX "00000005 00000000 "
#define RBSIZ		"00000001 00000004 00002000 "
#define REMOTE_INV	"ffffff80 00000004 00000001 "
#define NOT_AT_HOME	PREFIX "00000004 00000001 ffffff80 0000003c "

static struct wire_msg *message(const char *hex)
{
	static struct wire_msg msg;

	msg.len = 0;
	wire_parse(&msg, hex);
	return &msg;
}

static int ext_decode(const struct rpcrdma2_dialect *dialect,
		      struct wire_msg *msg, struct greeting *greeting)
{
	struct xdr_stream xdr;
	struct xdr_buf buf;

	memset(greeting, 0xa5, sizeof(*greeting));
	greeting->hdr.response = true;
	rpcrdma2_stream_decode(&xdr, &buf, msg->octets, msg->len);
	return rpcrdma2_decode(dialect, &xdr, &greeting->hdr);
}

static int encode(const struct rpcrdma2_dialect *dialect, struct wire_msg *msg,
		  const struct greeting *greeting)
{
	struct xdr_stream xdr;
	struct xdr_buf buf;
	int rc;

	rpcrdma2_stream_encode(&xdr, &buf, msg->octets, WIRE_ROOM);
	rc = rpcrdma2_encode(dialect, &xdr, &greeting->hdr);
	msg->len = buf.len;
	return rc;
}

static void expect_greeting(struct kunit *test, const char *hex, u32 word,
			    bool hearty, bool response)
{
	static struct greeting greeting;
	static struct wire_msg again;
	struct wire_msg *msg = message(hex);

	KUNIT_ASSERT_EQ(test, ext_decode(&extended, msg, &greeting), 0);
	KUNIT_EXPECT_EQ(test, greeting.hdr.kind, GREETING);
	KUNIT_EXPECT_EQ(test, greeting.hdr.response, response);
	KUNIT_EXPECT_EQ(test, greeting.hearty, hearty);
	KUNIT_EXPECT_EQ(test, greeting.word, word);

	KUNIT_ASSERT_EQ(test, encode(&extended, &again, &greeting), 0);
	KUNIT_ASSERT_EQ(test, again.len, msg->len);
	KUNIT_EXPECT_EQ(test, rpcrdma2_header_size(&extended, &greeting.hdr),
			again.len);
	KUNIT_EXPECT_EQ(test, memcmp(again.octets, msg->octets, again.len), 0);
}

static void goes_there_and_back(struct kunit *test)
{
	extend(test);
	expect_greeting(test, A_GREETING, 42, false, false);
	expect_greeting(test, AN_ANSWER, U32_MAX, true, true);
}

static void is_refused_if_malformed(struct kunit *test)
{
	static struct greeting greeting;
	struct wire_msg *msg;

	extend(test);
	for (msg = message(A_GREETING); msg->len > 16; msg->len -= XDR_UNIT) {
		if (msg->len == 24)
			continue;
		KUNIT_EXPECT_EQ(test, ext_decode(&extended, msg, &greeting),
				-EBADMSG);
		KUNIT_EXPECT_EQ(test, greeting.hdr.error.code,
				RDMA2_ERR_BAD_XDR);
	}
	KUNIT_EXPECT_EQ(test, ext_decode(&extended, message(A_GREETING "00000000"),
					 &greeting), -EBADMSG);
	KUNIT_EXPECT_EQ(test, greeting.hdr.error.code, RDMA2_ERR_BAD_XDR);
}

/*
 * Only a peer with the extension knows which greetings are answers, so both are
 * refused.
 */
static void peer_without_it_knows_no_such_type(struct kunit *test)
{
	static const char * const greetings[] = { A_GREETING, AN_ANSWER };
	static struct greeting greeting;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(greetings); i++) {
		KUNIT_EXPECT_EQ(test,
				ext_decode(&rpcrdma2_v2_09,
					   message(greetings[i]), &greeting),
				-EBADMSG);
		KUNIT_EXPECT_EQ(test, greeting.hdr.error.code,
				RDMA2_ERR_INVAL_HTYPE);
		KUNIT_EXPECT_FALSE(test, greeting.hdr.response);
	}
	greeting.hdr.kind = GREETING;
	KUNIT_EXPECT_EQ(test, encode(&rpcrdma2_v2_09, message(""), &greeting),
			-EOPNOTSUPP);
}

static void ext_expect_props(struct kunit *test,
			     const struct rpcrdma2_dialect *dialect,
			     const char *hex, u32 remote_inv)
{
	static struct greeting greeting;
	struct rpcrdma2_props *p = &greeting.hdr.props;

	KUNIT_ASSERT_EQ(test, ext_decode(dialect, message(hex), &greeting), 0);
	KUNIT_EXPECT_EQ(test, p->rbsiz, 8192);
	KUNIT_EXPECT_EQ(test, p->remote_inv, remote_inv);
}

static void property_is_known(struct kunit *test)
{
	extend(test);
	ext_expect_props(test, &extended, CONNPROP "00000002 " REMOTE_INV RBSIZ, 1);
	ext_expect_props(test, &extended, CONNPROP "00000001 " RBSIZ, 0);
	ext_expect_props(test, &extended,
			 CONNPROP "00000002 ffffff80 00000000 " RBSIZ, 0);
	/*
	 * The id is one for experiments, so a bad value makes the property another
	 * project's.
	 */
	ext_expect_props(test, &extended,
			 CONNPROP "00000002 ffffff80 00000004 00000002 " RBSIZ, 0);
}

static void property_is_sent(struct kunit *test)
{
	static struct greeting greeting, again;
	struct wire_msg *msg = message("");

	extend(test);
	greeting.hdr.vers = RPCRDMA2_VERSION_2;
	greeting.hdr.kind = RPCRDMA2_PROPS;
	rpcrdma2_props_init(&prop_table, &greeting.hdr.props);
	greeting.hdr.props.remote_inv = true;
	KUNIT_ASSERT_EQ(test, encode(&extended, msg, &greeting), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma2_header_size(&extended, &greeting.hdr),
			msg->len);
	KUNIT_ASSERT_EQ(test, ext_decode(&extended, msg, &again), 0);
	KUNIT_EXPECT_EQ(test, again.hdr.props.remote_inv, true);
	/* A peer without the extension accepts the same message. */
	KUNIT_EXPECT_EQ(test, ext_decode(&rpcrdma2_v2_09, msg, &again), 0);
}

static void peer_without_it_skips_the_property(struct kunit *test)
{
	u32 others = rpcrdma2_v2_09.props->others.remote_inv;

	ext_expect_props(test, &rpcrdma2_v2_09,
			 CONNPROP "00000002 " REMOTE_INV RBSIZ, others);
	ext_expect_props(test, &rpcrdma2_v2_09,
			 CONNPROP "00000002 ffffff80 00000000 " RBSIZ, others);
}

static void ext_expect_error(struct kunit *test,
			     const struct rpcrdma2_dialect *dialect, const char *name,
			     u32 word)
{
	static struct greeting greeting;
	char text[16];

	KUNIT_ASSERT_EQ(test,
			ext_decode(dialect, message(NOT_AT_HOME), &greeting),
			0);
	KUNIT_EXPECT_EQ(test, greeting.hdr.kind, RPCRDMA2_ERROR);
	KUNIT_EXPECT_EQ(test, greeting.hdr.error.code, RDMA2_ERR_NOT_AT_HOME);
	KUNIT_EXPECT_EQ(test, greeting.hdr.error.length_needed, word);
	rpcrdma2_print_error(dialect, &greeting.hdr.error, text, sizeof(text));
	KUNIT_EXPECT_EQ(test, strcmp(text, name), 0);
}

static void error_is_known(struct kunit *test)
{
	static struct greeting greeting;
	static struct wire_msg again;
	struct wire_msg *msg;

	extend(test);
	ext_expect_error(test, &extended, "NOT_AT_HOME", 60);
	msg = message(NOT_AT_HOME);
	KUNIT_ASSERT_EQ(test, ext_decode(&extended, msg, &greeting), 0);
	KUNIT_ASSERT_EQ(test, encode(&extended, &again, &greeting), 0);
	KUNIT_ASSERT_EQ(test, again.len, msg->len);
	KUNIT_EXPECT_EQ(test, memcmp(again.octets, msg->octets, again.len), 0);
	KUNIT_EXPECT_EQ(test, ext_decode(&extended, message(NOT_AT_HOME "00000000"),
					 &greeting), -EBADMSG);
}

/* Such a peer knows neither the error nor its words. */
static void peer_without_it_takes_any_error(struct kunit *test)
{
	ext_expect_error(test, &rpcrdma2_v2_09, "other", 0);
}

static struct kunit_case extension_cases[] = {
	KUNIT_CASE(goes_there_and_back),
	KUNIT_CASE(is_refused_if_malformed),
	KUNIT_CASE(peer_without_it_knows_no_such_type),
	KUNIT_CASE(property_is_known),
	KUNIT_CASE(property_is_sent),
	KUNIT_CASE(peer_without_it_skips_the_property),
	KUNIT_CASE(error_is_known),
	KUNIT_CASE(peer_without_it_takes_any_error),
	{}
};

static struct kunit_suite extension_suite = {
	.name = "rpcrdma2_wire_extension",
	.test_cases = extension_cases,
};

kunit_test_suite(extension_suite);
