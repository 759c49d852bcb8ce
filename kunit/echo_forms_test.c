// SPDX-License-Identifier: GPL-2.0
/*
 * Every form of message, one RPC at a time. Data is in the head or in pages, and has each length
 * that matters to inline thresholds, pages and XDR pads. It may be offered for direct placement,
 * and something may follow it. The cases also run in the reverse direction, where the transport
 * has all forms.
 */
#include "echo.h"

/*
 * One connection serves all cases, because connecting takes longer than an RPC. After a
 * failure, the next case gets a new connection. In the reverse direction,
 * echo_forms_callee is the client that connected, and echo_forms_clnt is the server's.
 */
static bool echo_forms_in_reverse;
static struct rpc_clnt *echo_forms_callee;
static struct rpc_clnt *echo_forms_clnt;

static void echo_forms_shutdown(void)
{
	if (echo_forms_clnt)
		rpc_shutdown_client(echo_forms_clnt);
	echo_forms_clnt = NULL;
	if (echo_forms_callee)
		rpc_shutdown_client(echo_forms_callee);
	echo_forms_callee = NULL;
}

static void echo_forms_connect(struct kunit *test)
{
	if (!echo_forms_in_reverse) {
		echo_forms_clnt = echo_connect(test, &echo_patient);
	} else {
		echo_forms_clnt = echo_connect_both(test, &echo_forms_callee);
		echo_test_forget_clnt(test, echo_forms_callee);
	}
	echo_test_forget_clnt(test, echo_forms_clnt);
}

static void echo_forms_suite_exit(struct kunit_suite *suite)
{
	echo_forms_shutdown();
	echo_suite_exit(suite);
}

static void echo_forms_test_exit(struct kunit *test)
{
	echo_test_exit(test);
	if (test->status == KUNIT_FAILURE)
		echo_forms_shutdown();
}

static void echo_forms_call(struct kunit *test, const struct echo_shape *shape)
{
	struct echo_req *req;

	if (!echo_forms_clnt)
		echo_forms_connect(test);
	req = echo_new(test, shape);
	echo_start(test, req, echo_forms_clnt,
		   echo_forms_in_reverse ? ECHO_CB_FLAGS : 0);
	echo_finish(test, req);
	echo_expect_good(test, req);
}

/* Lengths in the head: short ones go inline, longer ones become long messages */

struct echo_head {
	u32 len;
};

static const struct echo_head echo_heads[] = {
	{ 0 }, { 1 }, { 2 }, { 3 }, { 4 }, { 5 }, { 511 }, { 900 }, { 1024 },
	{ 3000 }, { 3900 }, { 3950 }, { 3980 }, { 4000 }, { 4020 }, { 4048 },
	{ 4095 }, { 4096 }, { 4097 }, { 8191 }, { 8192 }, { 16383 },
	{ 65535 }, { 65536 },
};

static void echo_head_desc(const struct echo_head *head, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes", head->len);
}

KUNIT_ARRAY_PARAM(echo_head, echo_heads, echo_head_desc);

static void call_with_head(struct kunit *test)
{
	const struct echo_head *head = test->param_value;
	struct echo_shape shape = { .arg_head = head->len };

	echo_forms_call(test, &shape);
}

static void reply_with_head(struct kunit *test)
{
	const struct echo_head *head = test->param_value;
	struct echo_shape shape = { .res_head = head->len };

	echo_forms_call(test, &shape);
}

static void call_and_reply_with_heads(struct kunit *test)
{
	const struct echo_head *head = test->param_value;
	struct echo_shape shape = {
		.arg_head = head->len,
		.res_head = head->len,
	};

	echo_forms_call(test, &shape);
}

/* Lengths in pages, at several offsets in the first page */

struct echo_payload {
	u32 len;
	u32 base;
};

static const u32 echo_lens[] = {
	0, 1, 2, 3, 4, 5, 511, 900, 1024, 3000, 4000, 4095, 4096, 4097, 8191,
	8192, 65535, 65536, SZ_1M - 5000, SZ_1M - 1, SZ_1M,
};

/* Lengths up to which a whole message fits the server's buffer */
#define ECHO_LONG_MESSAGES	(ARRAY_SIZE(echo_lens) - 2)

static const u32 echo_bases[] = { 0, 4, 1, PAGE_SIZE - 1 };

static const void *echo_nth_payload(const struct echo_payload *prev,
				    char *desc, unsigned int nr_lens)
{
	static struct echo_payload payloads[ARRAY_SIZE(echo_lens) *
					    ARRAY_SIZE(echo_bases)];
	unsigned int i = prev ? prev - payloads + 1 : 0;

	if (i == nr_lens * ARRAY_SIZE(echo_bases))
		return NULL;
	payloads[i].len = echo_lens[i / ARRAY_SIZE(echo_bases)];
	payloads[i].base = echo_bases[i % ARRAY_SIZE(echo_bases)];
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes at offset %u",
		 payloads[i].len, payloads[i].base);
	return &payloads[i];
}

static const void *echo_payload_gen_params(KUNIT_GENERATOR_ARGS)
{
	return echo_nth_payload(prev, desc, ARRAY_SIZE(echo_lens));
}

static const void *echo_long_payload_gen_params(KUNIT_GENERATOR_ARGS)
{
	return echo_nth_payload(prev, desc, ECHO_LONG_MESSAGES);
}

static void echo_call_payload(struct kunit *test, u32 flags)
{
	const struct echo_payload *payload = test->param_value;
	struct echo_shape shape = {
		.flags		= ECHO_ARG_PAYLOAD | flags,
		.arg_head	= 60,
		.arg_pages	= payload->len,
		.arg_base	= payload->base,
	};

	echo_forms_call(test, &shape);
}

static void call_with_ddp_payload(struct kunit *test)
{
	echo_call_payload(test, ECHO_ARG_DDP);
}

static void call_with_ddp_payload_and_trailer(struct kunit *test)
{
	echo_call_payload(test, ECHO_ARG_DDP | ECHO_TRAILER);
}

static void call_with_payload(struct kunit *test)
{
	echo_call_payload(test, 0);
}

static void call_with_payload_and_trailer(struct kunit *test)
{
	echo_call_payload(test, ECHO_TRAILER);
}

static void echo_reply_payload(struct kunit *test, u32 flags)
{
	const struct echo_payload *payload = test->param_value;
	struct echo_shape shape = {
		.flags		= ECHO_RES_PAYLOAD | flags,
		.res_head	= 60,
		.res_pages	= payload->len,
		.res_base	= payload->base,
	};

	echo_forms_call(test, &shape);
}

static void reply_with_ddp_payload(struct kunit *test)
{
	echo_reply_payload(test, ECHO_RES_DDP);
}

static void reply_with_ddp_payload_and_trailer(struct kunit *test)
{
	echo_reply_payload(test, ECHO_RES_DDP | ECHO_TRAILER);
}

static void reply_with_ddp_payload_from_stream(struct kunit *test)
{
	echo_reply_payload(test, ECHO_RES_DDP | ECHO_STREAM);
}

static void reply_with_ddp_payload_from_stream_and_trailer(struct kunit *test)
{
	echo_reply_payload(test, ECHO_RES_DDP | ECHO_STREAM | ECHO_TRAILER);
}

static void reply_with_payload(struct kunit *test)
{
	echo_reply_payload(test, 0);
}

static void reply_with_payload_and_trailer(struct kunit *test)
{
	echo_reply_payload(test, ECHO_TRAILER);
}

static void reply_with_payload_from_stream_and_trailer(struct kunit *test)
{
	echo_reply_payload(test, ECHO_STREAM | ECHO_TRAILER);
}

/* Combinations, and results that are shorter than the client asked for */

struct echo_combo {
	const char *desc;
	struct echo_shape shape;
};

#define BOTH_DDP							\
	(ECHO_ARG_PAYLOAD | ECHO_ARG_DDP | ECHO_RES_PAYLOAD | ECHO_RES_DDP)

static const struct echo_combo echo_combos[] = {
	{ "DDP payloads both ways",
	  { .flags = BOTH_DDP, .arg_pages = 400001, .arg_base = 3,
	    .res_pages = 500003, .res_base = 1000 } },
	{ "DDP payload in the Call, long Reply",
	  { .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP, .arg_pages = 300000,
	    .res_head = 20001 } },
	{ "long Call, DDP payload in the Reply",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .arg_head = 20001,
	    .res_pages = 300000 } },
	{ "long Reply with a DDP payload",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_STREAM,
	    .res_head = 9001, .res_pages = 200001 } },
	{ "DDP payload in the server's pages at an offset",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .res_pages = 100001,
	    .svc_base = 2049, .res_base = 17 } },
	{ "payload in the server's pages at an offset, not DDP",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_TRAILER, .res_pages = 100001,
	    .svc_base = 2049, .res_base = 17 } },
	{ "small payload in the server's pages at an offset, inline",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_TRAILER, .res_pages = 301,
	    .svc_base = 4000, .res_base = 4000 } },
	{ "less DDP payload than asked for",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .res_pages = 100001,
	    .room = SZ_1M } },
	{ "little DDP payload where much was asked for",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .res_pages = 3,
	    .room = SZ_1M } },
	{ "no DDP payload where much was asked for",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .room = SZ_1M } },
	{ "less payload than asked for, not DDP",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_TRAILER, .res_pages = 50001,
	    .room = 200000 } },
	{ "little payload where much was asked for, not DDP",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_TRAILER, .res_pages = 5,
	    .room = 200000 } },
	{ "a status instead of a DDP payload",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_FAIL,
	    .res_pages = SZ_1M } },
	{ "a status instead of a payload, not DDP",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_FAIL, .res_pages = 200000 } },
	{ "a status instead of a long Reply",
	  { .flags = ECHO_FAIL, .res_head = 20000 } },
	{ "a status for a Call with a DDP payload",
	  { .flags = BOTH_DDP | ECHO_FAIL, .arg_pages = 100000,
	    .res_pages = 100000 } },
};

/* Forms of the protocol that rpcrdma lacks, because its users need none of them */
static const struct echo_combo echo_rare_combos[] = {
	{ "DDP payloads both ways, with trailers",
	  { .flags = BOTH_DDP | ECHO_TRAILER, .arg_pages = 65537,
	    .arg_base = 100, .res_pages = 65539, .res_base = 4 } },
	{ "less DDP payload than asked for, with a trailer",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_TRAILER,
	    .res_pages = 100001, .room = SZ_1M } },
	{ "little DDP payload where much was asked for, with a trailer",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_TRAILER,
	    .res_pages = 3, .room = SZ_1M } },
	{ "no DDP payload where much was asked for, with a trailer",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_TRAILER,
	    .room = SZ_1M } },
	{ "long Reply with a DDP payload and a trailer",
	  { .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_STREAM |
		     ECHO_TRAILER,
	    .res_head = 9001, .res_pages = 200001 } },
	{ "payloads both ways, not DDP",
	  { .flags = ECHO_ARG_PAYLOAD | ECHO_RES_PAYLOAD | ECHO_TRAILER,
	    .arg_pages = 70001, .arg_base = 7, .res_pages = 70002,
	    .res_base = 9 } },
	{ "long Call with a DDP payload",
	  { .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP, .arg_head = 9001,
	    .arg_pages = 200001 } },
	{ "long Call with a DDP payload and a trailer",
	  { .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP | ECHO_TRAILER,
	    .arg_head = 9001, .arg_pages = 200001 } },
	{ "long Call with a DDP payload, long Reply",
	  { .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP, .arg_head = 9001,
	    .arg_pages = 200001, .res_head = 9001 } },
	{ "long Call with a DDP payload, DDP payload in the Reply",
	  { .flags = BOTH_DDP, .arg_head = 9001, .arg_pages = 200001,
	    .res_pages = 200001 } },
};

static void echo_combo_desc(const struct echo_combo *combo, char *desc)
{
	strscpy(desc, combo->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(echo_combo, echo_combos, echo_combo_desc);
KUNIT_ARRAY_PARAM(echo_rare_combo, echo_rare_combos, echo_combo_desc);

static void call_and_reply_of_form(struct kunit *test)
{
	const struct echo_combo *combo = test->param_value;

	echo_forms_call(test, &combo->shape);
}

/* Buffers and registrations of one connection are reused many times. */
static void all_forms_on_one_connection(struct kunit *test)
{
	unsigned int round, i;

	for (round = 0; round < 10; round++)
		for (i = 0; i < ARRAY_SIZE(echo_combos); i++)
			echo_forms_call(test, &echo_combos[i].shape);
}

/* The offset of page data in one Reply must not leak into the next. */
static void reply_of_other_form_than_the_last(struct kunit *test)
{
	static const struct echo_shape shapes[] = {
		{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .res_pages = 5000,
		  .svc_base = 1001 },
		{ .res_head = 20001 },
		{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .res_pages = 5000,
		  .svc_base = 4000 },
		{ .flags = ECHO_RES_PAYLOAD | ECHO_STREAM, .res_head = 9001,
		  .res_pages = 200001 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		echo_forms_call(test, &shapes[i]);
}

/* ECHO_MAX_PAYLOAD is the most that sunrpc's server takes: 1 MiB or 4 MiB. */
static void largest_payloads(struct kunit *test)
{
	static const struct echo_shape shapes[] = {
		{ .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP,
		  .arg_pages = ECHO_MAX_PAYLOAD },
		{ .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP,
		  .arg_pages = ECHO_MAX_PAYLOAD, .arg_base = 1001 },
		{ .flags = ECHO_ARG_PAYLOAD,
		  .arg_pages = ECHO_MAX_PAYLOAD - 5000 },
		{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP,
		  .res_pages = ECHO_MAX_PAYLOAD },
		{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP,
		  .res_pages = ECHO_MAX_PAYLOAD, .res_base = 1001,
		  .svc_base = 3 },
		{ .flags = ECHO_RES_PAYLOAD,
		  .res_pages = ECHO_MAX_PAYLOAD - 5000 },
		/*
		 * Some kernels' servers have this many pages for Call and Reply
		 * together.
		 */
		{ .flags = BOTH_DDP, .arg_pages = ECHO_MAX_PAYLOAD / 2,
		  .res_pages = ECHO_MAX_PAYLOAD / 2 },
	};
	unsigned int i;

	if (!echo_forms_clnt)
		echo_forms_connect(test);
	if (rpc_max_payload(echo_forms_clnt) < ECHO_MAX_PAYLOAD)
		kunit_skip(test, "the transport has smaller ones");
	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		echo_forms_call(test, &shapes[i]);
}

/* A reference to a page that the transport keeps must not spoil the next Reply. */
static void large_replies_while_pages_are_looked_at(struct kunit *test)
{
	static const struct echo_shape shape = {
		.flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_LOOK,
		.res_pages = SZ_1M,
	};
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	unsigned int i;

	for (i = 0; i < 4; i++)
		echo_call(test, clnt, &shape);
}

static void null_procedure(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	struct rpc_task *task;

	task = rpc_call_null(clnt, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_EQ(test, task->tk_status, 0);
	rpc_put_task(task);
}

static struct kunit_case echo_forms_cases[] = {
	KUNIT_CASE(null_procedure),
	KUNIT_CASE_PARAM(call_with_head, echo_head_gen_params),
	KUNIT_CASE_PARAM(reply_with_head, echo_head_gen_params),
	KUNIT_CASE_PARAM(call_and_reply_with_heads, echo_head_gen_params),
	KUNIT_CASE_PARAM(call_with_ddp_payload, echo_payload_gen_params),
	KUNIT_CASE_PARAM(call_with_ddp_payload_and_trailer,
			 echo_payload_gen_params),
	KUNIT_CASE_PARAM(call_with_payload, echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(call_with_payload_and_trailer,
			 echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_ddp_payload, echo_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_ddp_payload_from_stream,
			 echo_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_payload, echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_payload_and_trailer,
			 echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_payload_from_stream_and_trailer,
			 echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(call_and_reply_of_form, echo_combo_gen_params),
	KUNIT_CASE(all_forms_on_one_connection),
	KUNIT_CASE(reply_of_other_form_than_the_last),
	KUNIT_CASE(largest_payloads),
	KUNIT_CASE(large_replies_while_pages_are_looked_at),
	{}
};

struct kunit_suite echo_forms_suite = {
	.name		= "echo_forms",
	.suite_init	= echo_suite_init,
	.suite_exit	= echo_forms_suite_exit,
	.init		= echo_test_init,
	.exit		= echo_forms_test_exit,
	.test_cases	= echo_forms_cases,
};

static struct kunit_case echo_rare_cases[] = {
	KUNIT_CASE_PARAM(reply_with_ddp_payload_and_trailer,
			 echo_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_ddp_payload_from_stream_and_trailer,
			 echo_payload_gen_params),
	KUNIT_CASE_PARAM(call_and_reply_of_form, echo_rare_combo_gen_params),
	{}
};

struct kunit_suite echo_rare_suite = {
	.name		= "echo_rare",
	.suite_init	= echo_suite_init,
	.suite_exit	= echo_forms_suite_exit,
	.init		= echo_test_init,
	.exit		= echo_forms_test_exit,
	.test_cases	= echo_rare_cases,
};

#if IS_ENABLED(CONFIG_SUNRPC_BACKCHANNEL)

static int echo_reverse_forms_suite_init(struct kunit_suite *suite)
{
	echo_forms_in_reverse = true;
	return echo_reverse_suite_init(suite);
}

static void echo_reverse_forms_suite_exit(struct kunit_suite *suite)
{
	echo_forms_shutdown();
	echo_reverse_wait_for_end();
	echo_reverse_suite_exit(suite);
	echo_forms_in_reverse = false;
}

static void echo_reverse_forms_test_exit(struct kunit *test)
{
	echo_forms_test_exit(test);
	if (test->status == KUNIT_FAILURE)
		echo_reverse_wait_for_end();
}

static struct kunit_case echo_reverse_forms_cases[] = {
	KUNIT_CASE_PARAM(call_with_head, echo_head_gen_params),
	KUNIT_CASE_PARAM(reply_with_head, echo_head_gen_params),
	KUNIT_CASE_PARAM(call_and_reply_with_heads, echo_head_gen_params),
	KUNIT_CASE_PARAM(call_with_ddp_payload, echo_payload_gen_params),
	KUNIT_CASE_PARAM(call_with_ddp_payload_and_trailer,
			 echo_payload_gen_params),
	KUNIT_CASE_PARAM(call_with_payload, echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(call_with_payload_and_trailer,
			 echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_ddp_payload, echo_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_ddp_payload_and_trailer,
			 echo_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_payload, echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(reply_with_payload_and_trailer,
			 echo_long_payload_gen_params),
	KUNIT_CASE_PARAM(call_and_reply_of_form, echo_combo_gen_params),
	KUNIT_CASE_PARAM(call_and_reply_of_form, echo_rare_combo_gen_params),
	KUNIT_CASE(all_forms_on_one_connection),
	KUNIT_CASE(reply_of_other_form_than_the_last),
	{}
};

struct kunit_suite echo_reverse_forms_suite = {
	.name		= "echo_reverse_forms",
	.suite_init	= echo_reverse_forms_suite_init,
	.suite_exit	= echo_reverse_forms_suite_exit,
	.init		= echo_test_init,
	.exit		= echo_reverse_forms_test_exit,
	.test_cases	= echo_reverse_forms_cases,
};

#endif /* CONFIG_SUNRPC_BACKCHANNEL */
