// SPDX-License-Identifier: GPL-2.0
/*
 * Each entry of each dialect's tables keeps to the rules for all of them. A new entry has
 * these tests at once.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "kunit_compat.h"
#include "wire_test.h"

struct dialect_case {
	const char	*name;
	u32		codec;
};

static const struct dialect_case dialect_cases[] = {
	{ "v1", WIRE_V1 }, { "v2-09", WIRE_V2 }, { "v2-01", WIRE_V2_01 },
};

static void dialect_desc(const struct dialect_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", c->name);
}

KUNIT_ARRAY_PARAM(dialect, dialect_cases, dialect_desc);

static u32 tables_codec_of(const struct kunit *test)
{
	const struct dialect_case *c = test->param_value;

	return c->codec;
}

static struct wire_msg msg;
static struct rpcrdma2_header hdr, again;

static void tables_begin(u32 codec, u32 kind, bool response)
{
	memset(&hdr, 0, sizeof(hdr));
	hdr.xid = 0x11223344;
	hdr.vers = wire_dialect(codec)->version;
	hdr.kind = kind;
	hdr.response = response;
}

/* Decode as a client does, which expects Replies and errors. */
static int tables_decode(u32 codec)
{
	size_t rest;

	again.response = true;
	return wire_decode(codec, msg.octets, msg.len, &again, &rest);
}

static void expect_there_and_back(struct kunit *test, u32 codec)
{
	KUNIT_ASSERT_EQ(test, wire_encode(codec, &msg, &hdr), 0);
	KUNIT_EXPECT_EQ(test, msg.len,
			rpcrdma2_header_size(wire_dialect(codec), &hdr));
	KUNIT_ASSERT_EQ(test, tables_decode(codec), 0);
	KUNIT_EXPECT_EQ(test, again.kind, hdr.kind);
}

/* Errors */

static void make_error(u32 codec, const struct rpcrdma2_errdef *def)
{
	unsigned int i;

	tables_begin(codec, RPCRDMA2_ERROR, true);
	hdr.error.code = def->code;
	hdr.error.bare = codec != WIRE_V2 && def->code == RDMA2_ERR_VERS;
	for (i = 0; i < def->nr_words; i++)
		*(u32 *)((void *)&hdr.error + def->words[i]) = i + 1;
}

static void errors_go_there_and_back(struct kunit *test)
{
	u32 codec = tables_codec_of(test);
	const struct rpcrdma2_dialect *dialect = wire_dialect(codec);
	const struct rpcrdma2_errdef *def;
	const char *differs;

	for (def = dialect->errors; def < dialect->errors + dialect->nr_errors; def++) {
		make_error(codec, def);
		expect_there_and_back(test, codec);
		differs = wire_error_differs(&hdr.error, &again.error);
		KUNIT_EXPECT_EQ_MSG(test, !differs, true, "%s: %s", def->name, differs);
	}
}

/* v2-09's ERR_VERS without its last word has version 1's shape, and is valid. */
static void errors_have_no_word_less_or_more(struct kunit *test)
{
	u32 codec = tables_codec_of(test);
	const struct rpcrdma2_dialect *dialect = wire_dialect(codec);
	const struct rpcrdma2_errdef *def;

	for (def = dialect->errors; def < dialect->errors + dialect->nr_errors; def++) {
		make_error(codec, def);
		KUNIT_ASSERT_EQ(test, wire_encode(codec, &msg, &hdr), 0);
		wire_put(&msg, 0);
		KUNIT_EXPECT_EQ_MSG(test, tables_decode(codec), -EBADMSG, "%s", def->name);
		msg.len -= 2 * XDR_UNIT;
		if (codec != WIRE_V2 || def->code != RDMA2_ERR_VERS)
			KUNIT_EXPECT_EQ_MSG(test, tables_decode(codec), -EBADMSG, "%s",
					    def->name);
	}
}

static void errors_are_told_apart(struct kunit *test)
{
	const struct rpcrdma2_dialect *dialect =
		wire_dialect(tables_codec_of(test));
	const struct rpcrdma2_errdef *a, *b;

	for (a = dialect->errors; a < dialect->errors + dialect->nr_errors; a++) {
		KUNIT_EXPECT_EQ(test, rpcrdma2_error_of(dialect, a->code) == a, true);
		KUNIT_EXPECT_EQ(test, !strcmp(rpcrdma2_error_name(a->code), "other"),
				false);
		for (b = dialect->errors; b < a; b++) {
			KUNIT_EXPECT_EQ(test, a->number == b->number, false);
			KUNIT_EXPECT_EQ(test, !strcmp(a->name, b->name), false);
		}
	}
}

/* A layer above may report an error that the dialect has no number for. */
static void errors_that_are_lacking_are_bad_xdr(struct kunit *test)
{
	u32 codec = tables_codec_of(test), code;
	const struct rpcrdma2_dialect *dialect = wire_dialect(codec);

	KUNIT_ASSERT_EQ(test, !rpcrdma2_error_of(dialect, RDMA2_ERR_BAD_XDR), false);
	KUNIT_EXPECT_EQ(test, !rpcrdma2_error_of(dialect, RDMA2_ERR_VERS), false);
	for (code = RDMA2_ERR_BAD_XDR; code <= RDMA2_ERR_SYSTEM; code++) {
		tables_begin(codec, RPCRDMA2_ERROR, true);
		hdr.error.code = code;
		expect_there_and_back(test, codec);
		KUNIT_EXPECT_EQ(test, again.error.code,
				rpcrdma2_error_of(dialect, code) ? code :
				RDMA2_ERR_BAD_XDR);
	}
}

/* Properties */

static void props_are_told_apart(struct kunit *test)
{
	const struct rpcrdma2_prop_table *table =
		wire_dialect(tables_codec_of(test))->props;
	const struct rpcrdma2_prop *a, *b;

	if (!table)
		return;
	for (a = table->props; a < table->props + table->nr; a++) {
		for (b = table->props; b < a; b++) {
			KUNIT_EXPECT_EQ(test, a->id == b->id, false);
			KUNIT_EXPECT_EQ(test, a->field == b->field, false);
			KUNIT_EXPECT_EQ(test, !strcmp(a->name, b->name), false);
		}
	}
}

/* An UPDATE has one property; a REQUEST has all of them, in order. */
static void props_change(struct kunit *test)
{
	u32 codec = tables_codec_of(test);
	const struct rpcrdma2_prop_table *table = wire_dialect(codec)->props;
	const struct rpcrdma2_prop *prop;
	unsigned int i;

	for (i = 0; table && i < table->nr; i++) {
		prop = &table->props[i];
		tables_begin(codec, RPCRDMA2_UPDATE, false);
		rpcrdma2_props_init(table, &hdr.change.props);
		hdr.change.which = 1U << rpcrdma2_prop_index(prop);
		expect_there_and_back(test, codec);
		KUNIT_EXPECT_EQ(test, again.change.which, hdr.change.which);
		KUNIT_EXPECT_EQ(test, rpcrdma2_prop_value(&again.change.props, prop),
				prop->initial);
	}
	if (!table)
		return;
	tables_begin(codec, RPCRDMA2_REQUEST, false);
	rpcrdma2_props_init(table, &hdr.change.props);
	for (i = 0; i < table->nr; i++)
		hdr.change.which |= 1U << rpcrdma2_prop_index(&table->props[i]);
	expect_there_and_back(test, codec);
	for (i = 0; i < table->nr; i++)
		KUNIT_EXPECT_EQ(test,
				again.change.at[rpcrdma2_prop_index(&table->props[i])],
				1U << i);
}

/* Header types */

static void kinds_are_told_apart(struct kunit *test)
{
	const struct rpcrdma2_dialect *dialect =
		wire_dialect(tables_codec_of(test));
	const struct rpcrdma2_type *types = dialect->types;
	unsigned int i;

	for (i = 0; i < dialect->nr_types; i++)
		KUNIT_EXPECT_EQ(test, rpcrdma2_type_for(types, dialect->nr_types,
							types[i].kind) == &types[i],
				true);
}

static struct kunit_case tables_cases[] = {
	KUNIT_CASE_PARAM(errors_go_there_and_back, dialect_gen_params),
	KUNIT_CASE_PARAM(errors_have_no_word_less_or_more, dialect_gen_params),
	KUNIT_CASE_PARAM(errors_are_told_apart, dialect_gen_params),
	KUNIT_CASE_PARAM(errors_that_are_lacking_are_bad_xdr, dialect_gen_params),
	KUNIT_CASE_PARAM(props_are_told_apart, dialect_gen_params),
	KUNIT_CASE_PARAM(props_change, dialect_gen_params),
	KUNIT_CASE_PARAM(kinds_are_told_apart, dialect_gen_params),
	{}
};

static struct kunit_suite tables_suite = {
	.name = "rpcrdma2_wire_tables",
	.test_cases = tables_cases,
};

kunit_test_suite(tables_suite);
