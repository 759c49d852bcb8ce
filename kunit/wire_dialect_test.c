// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of dialects, the dialect of a message, and the names that people see. Also the tables
 * of each dialect.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "wire_test.h"

#define V2_09	(&rpcrdma2_v2_09)
#define V2_01	(&rpcrdma2_v2_01)
#define V1	(&rpcrdma2_v1)

static const struct rpcrdma2_dialects all = { 3, { V2_09, V2_01, V1 } };
static const struct rpcrdma2_dialects backwards = { 3, { V1, V2_01, V2_09 } };
static const struct rpcrdma2_dialects without_2_01 = { 2, { V2_09, V1 } };
static const struct rpcrdma2_dialects only_2 = { 2, { V2_01, V2_09 } };
static const struct rpcrdma2_dialects only_1 = { 1, { V1 } };

static const char *name_of(const struct rpcrdma2_dialect *dialect)
{
	return dialect ? dialect->name : "none";
}

static void expect_dialects(struct kunit *test, const struct rpcrdma2_dialects *got,
			    const char *want)
{
	char names[40] = "";
	unsigned int i;

	KUNIT_ASSERT_EQ(test, got->nr <= RPCRDMA2_NR_DIALECTS, true);
	for (i = 0; i < got->nr; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
			 got->dialect[i]->name);
	KUNIT_EXPECT_STREQ_MSG(test, names, want, "the list");
}

static void leaves_those_of_a_version(struct kunit *test)
{
	struct rpcrdma2_dialects left = all;

	rpcrdma2_dialects_of_version(&left, 2);
	expect_dialects(test, &left, "v2-09 v2-01 ");
	left = backwards;
	rpcrdma2_dialects_of_version(&left, 2);
	expect_dialects(test, &left, "v2-01 v2-09 ");
	left = all;
	rpcrdma2_dialects_of_version(&left, 1);
	expect_dialects(test, &left, "v1 ");
	rpcrdma2_dialects_of_version(&left, 3);
	expect_dialects(test, &left, "");
}

static void leaves_one_and_those_after_it(struct kunit *test)
{
	struct rpcrdma2_dialects left = all;

	rpcrdma2_dialects_from(&left, V2_09);
	expect_dialects(test, &left, "v2-09 v2-01 v1 ");
	rpcrdma2_dialects_from(&left, V2_01);
	expect_dialects(test, &left, "v2-01 v1 ");
	rpcrdma2_dialects_from(&left, V2_09);
	expect_dialects(test, &left, "v2-01 v1 ");
	rpcrdma2_dialects_from(&left, V1);
	expect_dialects(test, &left, "v1 ");
}

struct next_case {
	const char			*name;
	const struct rpcrdma2_dialects	*dialects;
	const struct rpcrdma2_dialect	*dialect;
	u32				low, high;
	const char			*next;
};

static const struct next_case next_cases[] = {
	{ "v2-09, any version", &all, V2_09, 0, U32_MAX, "v2-01" },
	{ "v2-01, any version", &all, V2_01, 0, U32_MAX, "v1" },
	{ "v1, any version", &all, V1, 0, U32_MAX, "none" },
	{ "v2-09, version 1", &all, V2_09, 1, 1, "v1" },
	{ "v2-09, versions 0 and 1", &all, V2_09, 0, 1, "v1" },
	{ "v2-09, version 2", &all, V2_09, 2, 2, "v2-01" },
	{ "v2-09, versions 1 and 2", &all, V2_09, 1, 2, "v2-01" },
	{ "v2-09, versions 2 and 3", &all, V2_09, 2, 3, "v2-01" },
	{ "v2-01, version 2", &all, V2_01, 2, 2, "none" },
	{ "v2-09, version 0", &all, V2_09, 0, 0, "none" },
	{ "v2-09, versions from 3 on", &all, V2_09, 3, U32_MAX, "none" },
	{ "v1 first, version 1", &backwards, V1, 1, 1, "none" },
	{ "v1 first, version 2", &backwards, V1, 2, 2, "v2-01" },
	{ "v2-01, which is not in the list", &without_2_01, V2_01, 0, U32_MAX, "none" },
	{ "none at all", &all, NULL, 0, U32_MAX, "none" },
	{ "the only one", &only_1, V1, 0, U32_MAX, "none" },
};

static void next_desc(const struct next_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", c->name);
}

KUNIT_ARRAY_PARAM(next, next_cases, next_desc);

static void knows_what_to_try_next(struct kunit *test)
{
	const struct next_case *c = test->param_value;

	KUNIT_EXPECT_STREQ_MSG(test,
			       name_of(rpcrdma2_next_dialect(c->dialects, c->dialect,
							     c->low, c->high)),
			       c->next, "the next one");
}

static void knows_its_versions(struct kunit *test)
{
	u32 low, high;

	rpcrdma2_version_range(&rpcrdma2_all_dialects, &low, &high);
	KUNIT_EXPECT_EQ(test, low, 1);
	KUNIT_EXPECT_EQ(test, high, 2);
	rpcrdma2_version_range(&backwards, &low, &high);
	KUNIT_EXPECT_EQ(test, low, 1);
	KUNIT_EXPECT_EQ(test, high, 2);
	rpcrdma2_version_range(&only_2, &low, &high);
	KUNIT_EXPECT_EQ(test, low, 2);
	KUNIT_EXPECT_EQ(test, high, 2);
	rpcrdma2_version_range(&only_1, &low, &high);
	KUNIT_EXPECT_EQ(test, low, 1);
	KUNIT_EXPECT_EQ(test, high, 1);
}

struct first_message {
	const char			*name;
	const struct rpcrdma2_dialects	*dialects;
	const char			*wire;
	const char			*dialect;
};

#define NO_CHUNKS	"00000000 00000000 00000000 "
#define RPC_CALL	"11223344 00000000 00000002 000186a3 "
#define CALL_V1		"11223344 00000001 00000020 00000000 " NO_CHUNKS RPC_CALL
#define CALL_V2_09	"11223344 00000002 00000020 00000000 00000000 00000000 " \
			NO_CHUNKS RPC_CALL
#define CALL_V2_01	"11223344 00000002 00000020 00000000 00000000 " NO_CHUNKS RPC_CALL
#define UNKNOWN_OPTION	"11223344 00000002 00000020 00000005 00000000 00000063 00000000"
#define UNKNOWN_TYPE	"11223344 00000002 00000020 00000063 00000000 00000000"
#define MALFORMED_V2	"11223344 00000002 00000020 00000000 00000000 00000007"

static const struct first_message first_messages[] = {
	{ "a Call in v1", &all, CALL_V1, "v1" },
	{ "a Call in v2-09", &all, CALL_V2_09, "v2-09" },
	{ "a Call in v2-01", &all, CALL_V2_01, "v2-01" },
	{ "a Call in v1, v1 first", &backwards, CALL_V1, "v1" },
	{ "a Call in v2-09, v1 first", &backwards, CALL_V2_09, "v2-09" },
	{ "a Call in v2-01, v1 first", &backwards, CALL_V2_01, "v2-01" },
	{ "a Call in v2-01, which is not in the list", &without_2_01, CALL_V2_01, "v2-09" },
	{ "an unknown option of v2-01", &all, UNKNOWN_OPTION, "v2-01" },
	{ "nothing that version 2 has", &all, MALFORMED_V2, "v2-09" },
	{ "nothing that version 2 has, v1 first", &backwards, MALFORMED_V2, "v2-01" },
	{ "a type that no version 2 has, v1 first", &backwards, UNKNOWN_TYPE, "v2-01" },
	{ "version 3", &all, "11223344 00000003 00000020 00000000", "v2-09" },
	{ "version 3, v1 first", &backwards, "11223344 00000003 00000020 00000000", "v1" },
	{ "XID and version", &backwards, "11223344 00000002", "v2-01" },
	{ "half a version", &backwards, "11223344 000000", "v1" },
	{ "nothing", &all, "", "v2-09" },
};

static void first_desc(const struct first_message *m, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", m->name);
}

KUNIT_ARRAY_PARAM(first, first_messages, first_desc);

static void recognizes_a_message(struct kunit *test)
{
	const struct first_message *m = test->param_value;
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	wire_parse(msg, m->wire);
	KUNIT_EXPECT_STREQ_MSG(test,
			       name_of(rpcrdma2_recognize(m->dialects, msg->octets,
							  msg->len)),
			       m->dialect, "the dialect");
}

/* The buffer has the version, but behind the end of the message. */
static void recognizes_no_version_that_did_not_come(struct kunit *test)
{
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	size_t len;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	wire_parse(msg, CALL_V2_09);
	for (len = 0; len < 2 * XDR_UNIT; len++)
		KUNIT_EXPECT_STREQ_MSG(test,
				       name_of(rpcrdma2_recognize(&backwards, msg->octets,
								  len)),
				       "v1", "the first %zu octets", len);
}

/* Entries of the tables that no message shows */

struct dialect_facts {
	const struct rpcrdma2_dialect	*dialect;
	const char			*name, *props, *errors;
	u32				version, inline_default;
	struct rpcrdma2_props		initial;
};

#define OTHERS	"READ_CHUNKS WRITE_CHUNKS SEGMENTS WRITE_RESOURCE REPLY_RESOURCE SYSTEM "

static const struct dialect_facts facts[] = {
	{ V1, "v1", "",
	  "VERS CHUNK INVAL_HTYPE " OTHERS, 1, 1024, { } },
	{ V2_01, "v2-01", "rbsiz=4096 remote_inv=0 brs=inline wished_rbsiz=0",
	  "VERS BAD_HEADER INVAL_OPTION " OTHERS, 2, 4096, { 4096, 1, 0, 1, 0 } },
	{ V2_09, "v2-09", "rbsiz=4096 brs=inline changes=0 wished_rbsiz=0",
	  "VERS BAD_XDR INVAL_HTYPE " OTHERS, 2, 4096, { 4096, 1, 1, 0, 0 } },
};

static void facts_desc(const struct dialect_facts *f, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", f->name);
}

KUNIT_ARRAY_PARAM(facts, facts, facts_desc);

static void is_what_it_is(struct kunit *test)
{
	const struct dialect_facts *f = test->param_value;

	KUNIT_EXPECT_STREQ_MSG(test, f->dialect->name, f->name, "its name");
	KUNIT_EXPECT_EQ(test, f->dialect->version, f->version);
	KUNIT_EXPECT_EQ(test, f->dialect->inline_default, f->inline_default);
}

static void prints_its_errors(struct kunit *test)
{
	const struct dialect_facts *f = test->param_value;
	struct rpcrdma2_error err = { };
	char text[200] = "";
	size_t len = 0;

	for (err.code = RDMA2_ERR_VERS; err.code <= RDMA2_ERR_SYSTEM; err.code++) {
		rpcrdma2_print_error(f->dialect, &err, text + len, sizeof(text) - len);
		strcat(text, " ");
		len = strlen(text);
	}
	KUNIT_EXPECT_STREQ_MSG(test, text, f->errors, "all errors");
}

static void dialect_expect_error(struct kunit *test, u32 code, bool bare,
				 const char *want)
{
	struct rpcrdma2_error err = { .code = code, .bare = bare };
	const struct dialect_facts *f = test->param_value;
	char text[40];

	rpcrdma2_print_error(f->dialect, &err, text, sizeof(text));
	KUNIT_EXPECT_STREQ_MSG(test, text, want, "code %u", code);
}

static void prints_other_errors(struct kunit *test)
{
	dialect_expect_error(test, RDMA2_ERR_NONE, false, "NONE");
	dialect_expect_error(test, RDMA2_ERR_VERS, true, "VERS");
	dialect_expect_error(test, RDMA2_ERR_SYSTEM + 1, false, "other");
	dialect_expect_error(test, RDMA2_ERR_BAD_XDR, true, "2 of another draft");
}

/*
 * The table decides how a change is answered: develop/credits.rst, "Sizes that change".
 */
static void knows_what_may_change(struct kunit *test)
{
	const struct dialect_facts *f = test->param_value;
	const struct rpcrdma2_prop_table *table = f->dialect->props;
	enum rpcrdma2_on_change want;
	unsigned int i;

	for (i = 0; table && i < table->nr; i++) {
		want = RPCRDMA2_FIXED;
		if (!strcmp(table->props[i].name, "rbsiz"))
			want = RPCRDMA2_BUFFER_SIZE;
		else if (!strcmp(table->props[i].name, "wished_rbsiz"))
			want = RPCRDMA2_WISH;
		KUNIT_EXPECT_EQ_MSG(test, table->props[i].on_change, want, "%s",
				    table->props[i].name);
	}
}

static void starts_with_defaults(struct kunit *test)
{
	const struct dialect_facts *f = test->param_value;
	struct rpcrdma2_props props;
	char text[100];

	if (!f->dialect->props)
		return;
	memset(&props, 0xa5, sizeof(props));
	rpcrdma2_props_init(f->dialect->props, &props);
	KUNIT_EXPECT_EQ(test, props.rbsiz, f->initial.rbsiz);
	KUNIT_EXPECT_EQ(test, props.brs, f->initial.brs);
	KUNIT_EXPECT_EQ(test, props.remote_inv, f->initial.remote_inv);
	KUNIT_EXPECT_EQ(test, props.changes, f->initial.changes);
	KUNIT_EXPECT_EQ(test, props.wished_rbsiz, f->initial.wished_rbsiz);
	rpcrdma2_print_props(f->dialect->props, &props, U32_MAX, text, sizeof(text));
	KUNIT_EXPECT_STREQ_MSG(test, text, f->props, "all properties");
}

static void prints_some_properties(struct kunit *test)
{
	const struct rpcrdma2_prop_table *table = rpcrdma2_v2_09.props;
	struct rpcrdma2_props props = { .rbsiz = 8192, .wished_rbsiz = 1024 };
	char text[100];

	rpcrdma2_print_props(table, &props, 0, text, sizeof(text));
	KUNIT_EXPECT_STREQ_MSG(test, text, "", "none");
	rpcrdma2_print_props(table, &props, RPCRDMA2_PROP_BIT(brs) |
			     RPCRDMA2_PROP_BIT(wished_rbsiz), text, sizeof(text));
	KUNIT_EXPECT_STREQ_MSG(test, text, "brs=none wished_rbsiz=1024", "two");
	props.brs = RDMA2_RVREQSUP_GENL;
	rpcrdma2_print_props(table, &props, RPCRDMA2_PROP_BIT(brs), text, sizeof(text));
	KUNIT_EXPECT_STREQ_MSG(test, text, "brs=genl", "one");
}

/* KASAN reports a write beyond memory of exactly this size. */
static void cuts_off_what_does_not_fit(struct kunit *test)
{
	static const char whole[] = "rbsiz=4096 brs=inline changes=0 wished_rbsiz=0";
	const struct rpcrdma2_prop_table *table = rpcrdma2_v2_09.props;
	struct rpcrdma2_props props;
	size_t size;
	char *text;

	rpcrdma2_props_init(table, &props);
	for (size = 1; size <= sizeof(whole); size++) {
		text = kzalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
		rpcrdma2_print_props(table, &props, U32_MAX, text, size);
		KUNIT_EXPECT_EQ_MSG(test, strlen(text), size - 1, "%s", text);
		KUNIT_EXPECT_EQ_MSG(test, strncmp(text, whole, size - 1), 0, "%s", text);
		kfree(text);
	}
}

static struct kunit_case dialect_cases[] = {
	KUNIT_CASE(leaves_those_of_a_version),
	KUNIT_CASE(leaves_one_and_those_after_it),
	KUNIT_CASE_PARAM(knows_what_to_try_next, next_gen_params),
	KUNIT_CASE(knows_its_versions),
	KUNIT_CASE_PARAM(recognizes_a_message, first_gen_params),
	KUNIT_CASE(recognizes_no_version_that_did_not_come),
	KUNIT_CASE_PARAM(is_what_it_is, facts_gen_params),
	KUNIT_CASE_PARAM(prints_its_errors, facts_gen_params),
	KUNIT_CASE_PARAM(prints_other_errors, facts_gen_params),
	KUNIT_CASE_PARAM(knows_what_may_change, facts_gen_params),
	KUNIT_CASE_PARAM(starts_with_defaults, facts_gen_params),
	KUNIT_CASE(prints_some_properties),
	KUNIT_CASE(cuts_off_what_does_not_fit),
	{}
};

static struct kunit_suite dialect_suite = {
	.name = "rpcrdma2_wire_dialect",
	.test_cases = dialect_cases,
};

kunit_test_suite(dialect_suite);
