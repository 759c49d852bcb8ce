// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of many RPCs at once, of many forms, on one connection and on several. A Reply
 * for the wrong RPC, or data in the wrong pages, shows as wrong bytes.
 */
#include "echo.h"

const struct echo_shape echo_mix[] = {
	{ .delay = 3 },
	{ .arg_head = 900, .res_head = 800 },
	{ .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP, .arg_pages = 30001,
	  .arg_base = 1 },
	{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .res_pages = 65537,
	  .res_base = 5, .delay = 1 },
	{ .arg_head = 5001 },
	{ .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP | ECHO_TRAILER,
	  .arg_pages = 4097, .arg_base = 4000, .delay = 5 },
	{ .res_head = 8001 },
	{ .flags = ECHO_ARG_PAYLOAD | ECHO_TRAILER, .arg_pages = 1201,
	  .arg_base = 4001 },
	{ .flags = ECHO_RES_PAYLOAD | ECHO_TRAILER, .res_pages = 12001,
	  .res_base = 100 },
	{ .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP | ECHO_RES_PAYLOAD |
		   ECHO_RES_DDP,
	  .arg_pages = 20000, .arg_base = 2, .res_pages = 33333,
	  .res_base = 3 },
	{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_STREAM,
	  .res_pages = 8190, .room = 70000, .delay = 2 },
	{ .flags = ECHO_RES_PAYLOAD | ECHO_TRAILER, .res_pages = 701,
	  .room = 900 },
	{ .flags = ECHO_ARG_PAYLOAD | ECHO_TRAILER, .arg_pages = 20003 },
};

const unsigned int echo_mix_len = ARRAY_SIZE(echo_mix);

static void echo_run_mix(struct kunit *test, unsigned int nr_rpcs,
			 unsigned int nr_clnts)
{
	struct echo_test *et = test->priv;
	struct rpc_clnt *clnts[16];
	struct echo_req *req;
	unsigned int i;

	for (i = 0; i < nr_clnts; i++)
		clnts[i] = echo_connect(test, &echo_patient);
	for (i = 0; i < nr_rpcs; i++)
		echo_new(test, &echo_mix[i % echo_mix_len]);

	i = 0;
	list_for_each_entry(req, &et->reqs, list)
		echo_start(test, req, clnts[i++ % nr_clnts], 0);
	echo_finish_all(test);
	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
	echo_expect_server_saw_no_bad_call(test);
}

struct echo_crowd {
	unsigned int rpcs;
	unsigned int clnts;
};

/* 600 RPCs on one connection exceed the credits that transports grant. */
static const struct echo_crowd echo_crowds[] = {
	{ 2, 1 }, { 16, 1 }, { 64, 1 }, { 128, 1 }, { 256, 1 }, { 600, 1 },
	{ 64, 2 }, { 256, 4 }, { 256, 16 },
};

static void echo_crowd_desc(const struct echo_crowd *crowd, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u RPCs on %u connections",
		 crowd->rpcs, crowd->clnts);
}

KUNIT_ARRAY_PARAM(echo_crowd, echo_crowds, echo_crowd_desc);

static void rpcs_at_once(struct kunit *test)
{
	const struct echo_crowd *crowd = test->param_value;

	echo_run_mix(test, crowd->rpcs, crowd->clnts);
}

const struct echo_shape echo_large_shapes[ECHO_NR_LARGE] = {
	{ .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP, .arg_pages = SZ_1M,
	  .arg_base = 1000 },
	{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP, .res_pages = SZ_1M,
	  .res_base = 3000 },
	{ .flags = ECHO_ARG_PAYLOAD, .arg_pages = 200001 },
	{ .flags = ECHO_RES_PAYLOAD, .res_pages = 200001 },
};

static void large_rpcs_at_once(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	struct echo_test *et = test->priv;
	struct echo_req *req;
	unsigned int i;

	for (i = 0; i < 48; i++)
		echo_new(test, &echo_large_shapes[i % ECHO_NR_LARGE]);
	list_for_each_entry(req, &et->reqs, list)
		echo_start(test, req, clnt, 0);
	echo_finish_all(test);
	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
}

/* Each RPC starts again as soon as it has ended, so others are always under way. */
static void rpcs_again_and_again(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	struct echo_test *et = test->priv;
	struct echo_req *req;
	unsigned int i;

	for (i = 0; i < 40; i++)
		echo_new(test, &echo_mix[i % echo_mix_len]);
	list_for_each_entry(req, &et->reqs, list)
		echo_start(test, req, clnt, 0);
	for (i = 0; i < 20; i++)
		list_for_each_entry(req, &et->reqs, list) {
			echo_finish(test, req);
			echo_expect_good(test, req);
			echo_start(test, req, clnt, 0);
		}
	echo_finish_all(test);
}

static struct kunit_case echo_many_cases[] = {
	KUNIT_CASE_PARAM(rpcs_at_once, echo_crowd_gen_params),
	KUNIT_CASE(large_rpcs_at_once),
	KUNIT_CASE(rpcs_again_and_again),
	{}
};

struct kunit_suite echo_many_suite = {
	.name		= "echo_many",
	.suite_init	= echo_suite_init,
	.suite_exit	= echo_suite_exit,
	.init		= echo_test_init,
	.exit		= echo_test_exit,
	.test_cases	= echo_many_cases,
};
