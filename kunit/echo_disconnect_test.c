// SPDX-License-Identifier: GPL-2.0
/*
 * Connections and RPCs that end before their time. The end of a connection costs no RPC. Once
 * an RPC is over, nobody reads or writes its pages, whatever the server still does with it.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include "echo.h"

#define ECHO_USED_AGAIN		0x5a	/* contents of the pages after their RPC */

static void echo_new_mix(struct kunit *test, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		echo_new(test, &echo_mix[i % echo_mix_len]);
}

static void echo_start_all(struct kunit *test, struct rpc_clnt *clnt)
{
	struct echo_test *et = test->priv;
	struct echo_req *req;

	list_for_each_entry(req, &et->reqs, list)
		echo_start(test, req, clnt, 0);
}

static void echo_expect_all_good(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct echo_req *req;

	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
	echo_expect_server_saw_no_bad_call(test);
}

/* Connections */

struct echo_cut {
	const char *desc;
	bool client;
	bool server;
	unsigned int rpcs;
};

static const struct echo_cut echo_cuts[] = {
	{ "client disconnects, no RPC", true, false, 0 },
	{ "server disconnects, no RPC", false, true, 0 },
	{ "client disconnects, few RPCs", true, false, 8 },
	{ "server disconnects, few RPCs", false, true, 8 },
	{ "client disconnects, many RPCs", true, false, 150 },
	{ "server disconnects, many RPCs", false, true, 150 },
	{ "both disconnect, many RPCs", true, true, 150 },
};

static void echo_cut_desc(const struct echo_cut *cut, char *desc)
{
	strscpy(desc, cut->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(echo_cut, echo_cuts, echo_cut_desc);

static void rpcs_survive_disconnects(struct kunit *test)
{
	const struct echo_cut *cut = test->param_value;
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	static const struct echo_shape small = { .arg_head = 100 };
	unsigned int round;

	echo_new_mix(test, cut->rpcs);
	for (round = 0; round < 5; round++) {
		echo_start_all(test, clnt);
		usleep_range(0, get_random_u32() % 20000 + 1);
		if (cut->client)
			rpc_clnt_disconnect(clnt);
		if (cut->server)
			echo_server_disconnect();
		echo_finish_all(test);
		echo_expect_all_good(test);
		if (!cut->rpcs)
			echo_call(test, clnt, &small);
	}
}

static void rpcs_survive_disconnects_while_they_are_sent(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	struct echo_test *et = test->priv;
	struct echo_req *req;
	unsigned int i = 0;

	echo_new_mix(test, 200);
	list_for_each_entry(req, &et->reqs, list) {
		echo_start(test, req, clnt, 0);
		if (++i % 40)
			continue;
		rpc_clnt_disconnect(clnt);
		msleep(20);
	}
	echo_finish_all(test);
	echo_expect_all_good(test);
}

/*
 * A server thread decrypts arguments in place. They must stay the thread's memory when
 * the connection goes, with and without a bounce buffer.
 */
static void disconnects_leave_arguments_alone(struct kunit *test)
{
	static const struct echo_shape shape = {
		.flags = ECHO_IN_PLACE, .arg_head = 700, .delay = 1000,
	};
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	unsigned int i, calls = echo_server_calls();

	for (i = 0; i < 4; i++)
		echo_new(test, &shape);
	echo_start_all(test, clnt);
	for (i = 0; i < 500 && echo_server_calls() - calls < 4; i++)
		msleep(20);
	KUNIT_ASSERT_EQ(test, echo_server_calls() - calls, 4U);
	rpc_clnt_disconnect(clnt);
	echo_finish_all(test);
	echo_expect_all_good(test);
}

static void disconnect_of_one_client_is_none_of_others(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	struct rpc_clnt *other = echo_connect(test, &echo_patient);
	struct echo_test *et = test->priv;
	struct echo_req *req;
	unsigned int i = 0;

	echo_new_mix(test, 64);
	list_for_each_entry(req, &et->reqs, list)
		echo_start(test, req, i++ % 2 ? clnt : other, 0);
	rpc_clnt_disconnect(clnt);
	echo_finish_all(test);
	echo_expect_all_good(test);
}

static void rpcs_survive_server_restarts(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	unsigned int round;

	echo_new_mix(test, 64);
	for (round = 0; round < 3; round++) {
		echo_start_all(test, clnt);
		usleep_range(0, get_random_u32() % 20000 + 1);
		echo_expect_server_saw_no_bad_call(test);
		echo_server_stop();
		msleep(100);
		KUNIT_ASSERT_EQ(test, echo_server_start(PF_INET), 0);
		echo_finish_all(test);
		echo_expect_all_good(test);
	}
}

/* RPCs */

#define ARG_DDP		(ECHO_ARG_PAYLOAD | ECHO_ARG_DDP)
#define RES_DDP		(ECHO_RES_PAYLOAD | ECHO_RES_DDP)

/* The server's delay exceeds the life of each RPC here. */
static const struct echo_shape echo_doomed[] = {
	{ .flags = RES_DDP, .res_pages = 262145, .delay = 200 },
	{ .flags = ARG_DDP, .arg_pages = 262145, .delay = 200 },
	{ .flags = ECHO_RES_PAYLOAD, .res_pages = 65000, .delay = 200 },
	{ .flags = ECHO_ARG_PAYLOAD, .arg_pages = 65000, .delay = 200 },
	{ .flags = ECHO_ARG_PAYLOAD, .arg_pages = 3000, .delay = 200 },
	{ .flags = ARG_DDP | RES_DDP, .arg_pages = 100000,
	  .res_pages = 100000, .delay = 200 },
	{ .arg_head = 20000, .res_head = 20000, .delay = 200 },
	{ .arg_head = 700, .res_head = 700, .delay = 200 },
};

static void echo_new_doomed(struct kunit *test, unsigned int nr, u32 delay)
{
	struct echo_shape shape;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		shape = echo_doomed[i % ARRAY_SIZE(echo_doomed)];
		shape.delay = delay;
		echo_new(test, &shape);
	}
}

/*
 * Reuse the pages of each RPC as soon as the RPC has ended. If the server reads them
 * later, it counts a bad Call.
 */
static void echo_finish_all_and_use_pages(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct echo_req *req;

	list_for_each_entry(req, &et->reqs, list) {
		echo_finish(test, req);
		echo_pages_poison(&req->arg, ECHO_USED_AGAIN);
		echo_pages_poison(&req->res, ECHO_USED_AGAIN);
	}
}

static void echo_expect_pages_untouched(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct echo_req *req;

	list_for_each_entry(req, &et->reqs, list) {
		KUNIT_EXPECT_TRUE(test,
				  echo_pages_poisoned(&req->arg,
						      ECHO_USED_AGAIN));
		KUNIT_EXPECT_TRUE(test,
				  echo_pages_poisoned(&req->res,
						      ECHO_USED_AGAIN));
	}
	echo_expect_server_saw_no_bad_call(test);
}

static bool echo_any_task(const struct rpc_task *task, const void *data)
{
	return true;
}

static void echo_killall(struct rpc_clnt *clnt)
{
	rpc_killall_tasks(clnt);
}

static void echo_cancel(struct rpc_clnt *clnt)
{
	rpc_cancel_tasks(clnt, -ECANCELED, echo_any_task, NULL);
}

struct echo_kill {
	const char *desc;
	void (*kill)(struct rpc_clnt *clnt);
	unsigned int after;		/* maximum delay in ms */
};

static const struct echo_kill echo_kills[] = {
	{ "killed at once", echo_killall, 0 },
	{ "killed while the Calls are sent", echo_killall, 10 },
	{ "killed while the server works", echo_killall, 300 },
	{ "cancelled at once", echo_cancel, 0 },
	{ "cancelled while the Calls are sent", echo_cancel, 10 },
	{ "cancelled while the server works", echo_cancel, 300 },
};

static void echo_kill_desc(const struct echo_kill *kill, char *desc)
{
	strscpy(desc, kill->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(echo_kill, echo_kills, echo_kill_desc);

static void nobody_touches_pages_of_killed_rpcs(struct kunit *test)
{
	const struct echo_kill *kill = test->param_value;
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	struct echo_test *et = test->priv;
	struct echo_req *req;
	unsigned int round;

	echo_new_doomed(test, 32, 200);
	for (round = 0; round < 5; round++) {
		echo_start_all(test, clnt);
		if (kill->after)
			msleep(get_random_u32() % kill->after);
		kill->kill(clnt);
		echo_finish_all_and_use_pages(test);
		/* The server's threads need twice the delay for 32 RPCs. */
		msleep(600);
		echo_expect_pages_untouched(test);
	}

	/* The client still works. */
	list_for_each_entry(req, &et->reqs, list)
		req->shape.delay = 0;
	echo_start_all(test, clnt);
	echo_finish_all(test);
	echo_expect_all_good(test);
}

static const struct rpc_timeout echo_impatient = {
	.to_initval	= 2 * HZ,
	.to_maxval	= 2 * HZ,
};

/* On a busy machine, connecting may take longer than the short timeout. */
static struct rpc_clnt *echo_connect_impatient(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);

	clnt->cl_timeout = &echo_impatient;
	return clnt;
}

static void nobody_touches_pages_of_rpcs_that_timed_out(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect_impatient(test);
	static const struct echo_shape small = { .arg_head = 100 };
	struct echo_test *et = test->priv;
	struct echo_req *req;

	echo_new_doomed(test, 16, 3000);
	echo_start_all(test, clnt);
	echo_finish_all_and_use_pages(test);
	list_for_each_entry(req, &et->reqs, list)
		KUNIT_EXPECT_NE(test, req->status, 0);
	/* The Replies come one second after the timeout. */
	msleep(3000);
	echo_expect_pages_untouched(test);
	clnt->cl_timeout = &echo_patient;
	echo_call(test, clnt, &small);
}

/*
 * The time to answer a Call of a hard mount starts when the Call is sent. If it started when
 * the RPC starts to wait for the server, the connection would be dropped too early. Then
 * the server would execute the Call again.
 */
static void time_to_answer_begins_with_the_connection(struct kunit *test)
{
	static const struct rpc_timeout timeout = {
		.to_initval = 10 * HZ, .to_maxval = 10 * HZ,
	};
	static const struct echo_shape slow = {
		.arg_head = 100, .delay = 6000,
	};
	struct rpc_clnt *clnt = echo_connect(test, &timeout);
	struct echo_req *req = echo_new(test, &slow);

	clnt->cl_softrtry = 0;
	echo_server_stop();
	echo_start(test, req, clnt, 0);
	msleep(5000);
	KUNIT_ASSERT_EQ(test, echo_server_start(PF_INET), 0);
	echo_finish(test, req);
	echo_expect_good(test, req);
	KUNIT_EXPECT_EQ(test, echo_server_calls(), 1U);
}

/* Without a Reply, the client must still free the credit and the memory of a Call. */
static void client_outlives_dropped_calls(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect_impatient(test);
	static const struct echo_shape dropped[] = {
		{ .flags = ECHO_DROP, .arg_head = 100 },
		{ .flags = ECHO_DROP | RES_DDP, .res_pages = 10000 },
		{ .flags = ECHO_DROP | ARG_DDP, .arg_pages = 10000 },
	};
	static const struct echo_shape small = { .arg_head = 100 };
	struct echo_test *et = test->priv;
	struct echo_req *req;
	unsigned int i;

	for (i = 0; i < 300; i++)
		echo_new(test, &dropped[i % ARRAY_SIZE(dropped)]);
	echo_start_all(test, clnt);
	echo_finish_all_and_use_pages(test);
	list_for_each_entry(req, &et->reqs, list)
		KUNIT_EXPECT_NE(test, req->status, 0);
	/* This RPC may wait for a new connection, longer than the impatient timeout. */
	clnt->cl_timeout = &echo_patient;
	echo_call(test, clnt, &small);
}

/*
 * Kill RPCs that hold all credits, and the RPC that waits for a credit.
 * Return: the number of credits
 */
static unsigned int echo_starve(struct kunit *test, struct rpc_clnt *clnt,
				const struct echo_shape *shape)
{
	struct rpc_xprt *xprt = rcu_access_pointer(clnt->cl_xprt);
	unsigned int credits = xprt->max_reqs, i;
	unsigned long sends = xprt->stat.sends;
	struct echo_req *waits;

	if (credits > 16)
		kunit_skip(test, "the server's threads would need too long for so many RPCs");
	for (i = 0; i < credits; i++)
		echo_new(test, shape);
	echo_start_all(test, clnt);
	for (i = 0; i < 500 && READ_ONCE(xprt->stat.sends) - sends < credits; i++)
		msleep(20);
	echo_cancel(clnt);
	echo_finish_all_and_use_pages(test);

	waits = echo_new(test, shape);
	echo_start(test, waits, clnt, 0);
	msleep(300);
	echo_cancel(clnt);
	echo_finish(test, waits);
	return credits;
}

/* Nobody waits for a credit any more, so a slow server has all the time that it needs. */
static void nobody_who_waits_needs_no_new_connection(struct kunit *test)
{
	static const struct echo_shape slow = { .arg_head = 100, .delay = 6000 };
	static const struct echo_shape small = { .arg_head = 100 };
	struct rpc_clnt *clnt = echo_connect_impatient(test);
	struct rpc_xprt *xprt = rcu_access_pointer(clnt->cl_xprt);
	unsigned long connects = xprt->stat.connect_count;
	unsigned int calls = echo_server_calls();

	calls += echo_starve(test, clnt, &slow);
	msleep(4000);
	clnt->cl_timeout = &echo_patient;
	echo_call(test, clnt, &small);
	KUNIT_EXPECT_EQ(test, xprt->stat.connect_count, connects);
	KUNIT_EXPECT_EQ(test, echo_server_calls(), calls + 1);
}

/* No answer will come. An RPC that comes later must get a new connection. */
static void killed_rpcs_keep_credits_from_nobody(struct kunit *test)
{
	static const struct echo_shape dropped = { .flags = ECHO_DROP, .arg_head = 100 };
	static const struct echo_shape small = { .arg_head = 100 };
	struct rpc_clnt *clnt = echo_connect_impatient(test);
	struct rpc_xprt *xprt = rcu_access_pointer(clnt->cl_xprt);
	unsigned long connects = xprt->stat.connect_count;

	echo_starve(test, clnt, &dropped);
	msleep(4000);
	clnt->cl_softrtry = 0;
	echo_call(test, clnt, &small);
	KUNIT_EXPECT_EQ(test, xprt->stat.connect_count, connects + 1);
}

/* Shut the client down while its RPCs run. */
static void shutdown_ends_rpcs(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);

	echo_new_doomed(test, 32, 200);
	echo_start_all(test, clnt);
	msleep(20);
	echo_disconnect(test, clnt);
	echo_finish_all_and_use_pages(test);
	msleep(600);
	echo_expect_pages_untouched(test);
}

static struct kunit_case echo_disconnect_cases[] = {
	KUNIT_CASE_PARAM(rpcs_survive_disconnects, echo_cut_gen_params),
	KUNIT_CASE(rpcs_survive_disconnects_while_they_are_sent),
	KUNIT_CASE(disconnects_leave_arguments_alone),
	KUNIT_CASE(disconnect_of_one_client_is_none_of_others),
	KUNIT_CASE(rpcs_survive_server_restarts),
	KUNIT_CASE_PARAM(nobody_touches_pages_of_killed_rpcs,
			 echo_kill_gen_params),
	KUNIT_CASE(nobody_touches_pages_of_rpcs_that_timed_out),
	KUNIT_CASE(time_to_answer_begins_with_the_connection),
	KUNIT_CASE(client_outlives_dropped_calls),
	KUNIT_CASE(nobody_who_waits_needs_no_new_connection),
	KUNIT_CASE(killed_rpcs_keep_credits_from_nobody),
	KUNIT_CASE(shutdown_ends_rpcs),
	{}
};

struct kunit_suite echo_disconnect_suite = {
	.name		= "echo_disconnect",
	.suite_init	= echo_suite_init,
	.suite_exit	= echo_suite_exit,
	.init		= echo_test_init,
	.exit		= echo_test_exit,
	.test_cases	= echo_disconnect_cases,
};
