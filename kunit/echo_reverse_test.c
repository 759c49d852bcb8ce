// SPDX-License-Identifier: GPL-2.0
/*
 * Calls from the server to the client, over the client's connection, as with NFSv4.1. The program
 * is the echo program once more, under another number.
 *
 * Each test ends in this order, because the client's transport points to the callback
 * service:
 * 1. The server makes no more Calls.
 * 2. The client closes the connection, and the server has seen that.
 * 3. The callback service stops.
 */
#include <linux/delay.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include "echo.h"

#if IS_ENABLED(CONFIG_SUNRPC_BACKCHANNEL)

#define ECHO_CB_SLOTS		16
/* The number of Calls that rpcrdma2's client grants to a server */
#define ECHO_CB_GRANT		8

static struct svc_serv *echo_cb_serv;

static const struct svc_version *echo_cb_versions[] = {
	[ECHO_VERSION] = &echo_cb_version,
};

static struct svc_program echo_cb_program = {
	.pg_prog		= ECHO_CB_PROGRAM,
	.pg_nvers		= ARRAY_SIZE(echo_cb_versions),
	.pg_vers		= echo_cb_versions,
	.pg_name		= "echo_cb",
	.pg_class		= "echo",
	.pg_authenticate	= echo_svc_authenticate,
	.pg_init_request	= svc_generic_init_request,
	.pg_rpcbind_set		= svc_generic_rpcbind_set,
};

static int echo_cb_start(void)
{
	int ret;

	echo_cb_serv = svc_create(&echo_cb_program, PAGE_SIZE, echo_svc_thread);
	if (!echo_cb_serv)
		return -ENOMEM;
	set_bc_enabled(echo_cb_serv);
	ret = svc_set_num_threads(echo_cb_serv, 0, 2);
	if (ret < 0) {
		svc_set_num_threads(echo_cb_serv, 0, 0);
		svc_destroy(&echo_cb_serv);
	}
	return ret;
}

static void echo_cb_stop(void)
{
	if (!echo_cb_serv)
		return;
	svc_set_num_threads(echo_cb_serv, 0, 0);
	svc_destroy(&echo_cb_serv);
}

/**
 * echo_reverse_suite_init - start the suite's server and the callback service
 * @suite: the suite
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno.
 */
int echo_reverse_suite_init(struct kunit_suite *suite)
{
	int ret;

	ret = echo_suite_init(suite);
	if (ret)
		return ret;
	ret = echo_cb_start();
	if (ret)
		echo_suite_exit(suite);
	return ret;
}

/**
 * echo_reverse_suite_exit - stop the server, then the callback service
 * @suite: the suite
 *
 * All connections end with the server.
 *
 * Context: process, may sleep.
 */
void echo_reverse_suite_exit(struct kunit_suite *suite)
{
	echo_suite_exit(suite);
	echo_cb_stop();
}

/**
 * echo_reverse_wait_for_end - wait until the server has no connection
 *
 * Gives up after five seconds.
 *
 * Context: process, may sleep.
 */
void echo_reverse_wait_for_end(void)
{
	struct svc_xprt *xprt;
	int tries = 100;

	while (tries-- && (xprt = echo_server_get_connection())) {
		svc_xprt_put(xprt);
		msleep(50);
	}
}

static void echo_reverse_test_exit(struct kunit *test)
{
	echo_svc_release();
	echo_test_exit(test);
	echo_reverse_wait_for_end();
}

static int echo_cb_set_up_xprt(struct rpc_clnt *clnt, struct rpc_xprt *xprt,
			       void *data)
{
	if (!xprt->ops->bc_setup)
		return -EPROTONOSUPPORT;
	xprt->bc_serv = echo_cb_serv;
	return xprt_setup_backchannel(xprt, ECHO_CB_SLOTS);
}

static bool echo_cb_takes_any(const struct rpc_clnt *cb_clnt)
{
	struct rpc_xprt *xprt = rcu_access_pointer(cb_clnt->cl_xprt);

	return xprt->max_payload >= SZ_1M;
}

/* The server's client on the newest connection; a test has only one connection. */
static struct rpc_clnt *echo_cb_connect(struct kunit *test)
{
	struct svc_xprt *xprt = echo_server_get_connection();
	struct rpc_clnt *clnt;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, xprt);
	clnt = echo_cb_clnt_create(xprt, &echo_patient);
	svc_xprt_put(xprt);
	if (IS_ERR(clnt))
		kunit_skip(test, "no Calls from this transport's server: %ld",
			   PTR_ERR(clnt));
	echo_test_add_clnt(test, clnt);
	return clnt;
}

/**
 * echo_connect_both - connect a client that the server can call
 * @test: the test, which ends on a failure, and is skipped if the transport has no
 *	reverse direction
 * @clnt: receives the client
 *
 * Context: process, may sleep.
 *
 * Return: the server's client. Shut it down before @clnt.
 */
struct rpc_clnt *echo_connect_both(struct kunit *test, struct rpc_clnt **clnt)
{
	int ret;

	*clnt = echo_connect(test, &echo_patient);
	ret = rpc_clnt_iterate_for_each_xprt(*clnt, echo_cb_set_up_xprt, NULL);
	if (ret == -EPROTONOSUPPORT)
		kunit_skip(test, "no Calls to this transport's client");
	KUNIT_ASSERT_EQ(test, ret, 0);
	return echo_cb_connect(test);
}

/*
 * Shut the server's client down before the client that connected. echo_test_exit() does
 * the same, but a test needs it before its last checks.
 */
static void echo_cb_disconnect(struct kunit *test, struct rpc_clnt *cb_clnt)
{
	echo_finish_all(test);
	echo_disconnect(test, cb_clnt);
}

struct echo_cb_size {
	u32 arg;
	u32 res;
};

static const struct echo_cb_size echo_cb_sizes[] = {
	{ 0, 0 }, { 1, 0 }, { 0, 1 }, { 2, 3 }, { 4, 4 }, { 5, 500 },
	{ 500, 5 }, { 999, 1000 }, { 1000, 999 },
};

static void echo_cb_size_desc(const struct echo_cb_size *size, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes there, %u back",
		 size->arg, size->res);
}

KUNIT_ARRAY_PARAM(echo_cb_size, echo_cb_sizes, echo_cb_size_desc);

static void server_calls_client(struct kunit *test)
{
	const struct echo_cb_size *size = test->param_value;
	struct echo_shape shape = {
		.arg_head	= size->arg,
		.res_head	= size->res,
	};
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req;

	cb_clnt = echo_connect_both(test, &clnt);
	req = echo_new(test, &shape);
	echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
	echo_finish(test, req);
	echo_expect_good(test, req);
	echo_cb_disconnect(test, cb_clnt);
}

static const struct echo_shape echo_cb_shapes[] = {
	{ .arg_head = 10, .res_head = 900 },
	{ .arg_head = 900, .res_head = 10, .delay = 2 },
	{ },
};

/*
 * An RPC of any form if the transport has all forms in the reverse direction, else a
 * small one
 */
static void echo_new_callback(struct kunit *test,
			      const struct rpc_clnt *cb_clnt, unsigned int i)
{
	if (echo_cb_takes_any(cb_clnt))
		echo_new(test, &echo_mix[i % echo_mix_len]);
	else
		echo_new(test, &echo_cb_shapes[i % ARRAY_SIZE(echo_cb_shapes)]);
}

static void echo_new_callbacks(struct kunit *test,
			       const struct rpc_clnt *cb_clnt, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		echo_new_callback(test, cb_clnt, i);
}

static void echo_start_callbacks(struct kunit *test, struct rpc_clnt *cb_clnt,
				 const struct echo_shape *shape, unsigned int nr)
{
	while (nr--)
		echo_start(test, echo_new(test, shape), cb_clnt, ECHO_CB_FLAGS);
}

static void server_calls_client_many_times_at_once(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req;

	cb_clnt = echo_connect_both(test, &clnt);
	echo_new_callbacks(test, cb_clnt, 64);
	list_for_each_entry(req, &et->reqs, list)
		echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
	echo_finish_all(test);
	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
	echo_cb_disconnect(test, cb_clnt);
}

static void large_calls_from_server_at_once(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req;
	unsigned int i;

	cb_clnt = echo_connect_both(test, &clnt);
	if (!echo_cb_takes_any(cb_clnt))
		kunit_skip(test, "no Calls with chunks");
	for (i = 0; i < 24; i++)
		echo_new(test, &echo_large_shapes[i % ECHO_NR_LARGE]);
	list_for_each_entry(req, &et->reqs, list)
		echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
	echo_finish_all(test);
	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
	echo_cb_disconnect(test, cb_clnt);
}

/* These Replies go inline, but exceed the one page that each Call has for its Reply. */
static void long_inline_replies_to_server_at_once(struct kunit *test)
{
	static const struct echo_shape long_reply = { .res_head = 9000 };
	struct echo_test *et = test->priv;
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req;

	cb_clnt = echo_connect_both(test, &clnt);
	if (!echo_cb_takes_any(cb_clnt))
		kunit_skip(test, "no Replies longer than a page");
	echo_start_callbacks(test, cb_clnt, &long_reply, 24);
	echo_finish_all(test);
	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
	echo_cb_disconnect(test, cb_clnt);
}

static void calls_go_both_ways_at_once(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req;
	unsigned int i;

	cb_clnt = echo_connect_both(test, &clnt);
	for (i = 0; i < 64; i++) {
		echo_new_callback(test, cb_clnt, i);
		echo_new(test, &echo_mix[i % echo_mix_len]);
	}
	i = 0;
	list_for_each_entry(req, &et->reqs, list) {
		if (i++ % 2)
			echo_start(test, req, clnt, 0);
		else
			echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
	}
	echo_finish_all(test);
	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
	echo_cb_disconnect(test, cb_clnt);
}

/*
 * Wait until sunrpc has closed the connection. A fast device could otherwise answer
 * another RPC on it.
 */
static void wait_for_loss(struct kunit *test, struct rpc_clnt *clnt)
{
	unsigned long end = jiffies + 10 * HZ;
	struct rpc_xprt *xprt;
	bool connected;

	do {
		msleep(20);
		rcu_read_lock();
		xprt = rcu_dereference(clnt->cl_xprt);
		connected = xprt_connected(xprt);
		rcu_read_unlock();
	} while (connected && time_before(jiffies, end));
	KUNIT_EXPECT_FALSE(test, connected);
}

/*
 * Lose the connection as sunrpc's fault injection does, if the transport supports that.
 */
static void lose_connection(struct rpc_clnt *cb_clnt)
{
	struct rpc_xprt *xprt = rcu_access_pointer(cb_clnt->cl_xprt);

	if (echo_transport() == XPRT_TRANSPORT_RDMA &&
	    xprt->ops->inject_disconnect)
		xprt->ops->inject_disconnect(xprt);
	else
		echo_server_disconnect();
}

/* Calls of the server may fail on a disconnect, but must not hang. */
static void disconnect_ends_calls_from_server(struct kunit *test)
{
	static const struct echo_shape small = { .arg_head = 100 };
	struct echo_test *et = test->priv;
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req;
	unsigned int round;

	cb_clnt = echo_connect_both(test, &clnt);
	echo_new_callbacks(test, cb_clnt, 32);
	for (round = 0; round < 5; round++) {
		list_for_each_entry(req, &et->reqs, list)
			echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
		if (round % 3 == 0)
			rpc_clnt_disconnect(clnt);
		else if (round % 3 == 1)
			echo_server_disconnect();
		else
			lose_connection(cb_clnt);
		echo_finish_all(test);
		list_for_each_entry(req, &et->reqs, list)
			if (!req->status)
				echo_expect_good(test, req);
		echo_disconnect(test, cb_clnt);
		wait_for_loss(test, clnt);

		/* On the next connection, Calls of the server work again. */
		echo_call(test, clnt, &small);
		cb_clnt = echo_cb_connect(test);
		req = list_first_entry(&et->reqs, struct echo_req, list);
		echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
		echo_finish(test, req);
		echo_expect_good(test, req);
	}
	echo_cb_disconnect(test, cb_clnt);
	echo_expect_server_saw_no_bad_call(test);
}

/* Wait until the client has as many Calls as it grants. */
static void echo_wait_for_callbacks(struct rpc_clnt *clnt)
{
	struct rpc_xprt *xprt = rcu_access_pointer(clnt->cl_xprt);
	int tries = 100;

	while (atomic_read(&xprt->bc_slot_count) < ECHO_CB_GRANT && tries--)
		msleep(50);
}

/*
 * The client still works on Calls of a lost connection, and they take up all that the
 * client has for Calls. Calls of the next connection have to wait.
 */
static void calls_of_lost_connection_do_no_harm_to_next(struct kunit *test)
{
	static const struct echo_shape quick = { .arg_head = 100 };
	static const struct echo_shape held = { .flags = ECHO_HOLD };
	struct echo_test *et = test->priv;
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req, *next;

	cb_clnt = echo_connect_both(test, &clnt);
	/* The Reply brings the client's credit grant. */
	echo_start_callbacks(test, cb_clnt, &quick, 1);
	echo_finish_all(test);
	/* A client that has had a Reply reconnects at once. */
	echo_call(test, clnt, &quick);

	echo_svc_hold();
	echo_start_callbacks(test, cb_clnt, &held, 32);
	echo_wait_for_callbacks(clnt);
	rpc_clnt_disconnect(clnt);
	echo_finish_all(test);
	echo_disconnect(test, cb_clnt);
	list_for_each_entry_safe(req, next, &et->reqs, list) {
		list_del(&req->list);
		echo_req_free(req);
	}

	echo_call(test, clnt, &quick);
	cb_clnt = echo_cb_connect(test);
	echo_start_callbacks(test, cb_clnt, &quick, 32);
	/*
	 * By then, the first Calls have reached the client, which has no room for them.
	 */
	msleep(500);
	echo_svc_release();
	echo_finish_all(test);
	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
	echo_cb_disconnect(test, cb_clnt);
	echo_expect_server_saw_no_bad_call(test);
}

/* Wait until @nr tasks queue up to send, but no longer than five seconds. */
static void echo_wait_for_senders(struct rpc_xprt *xprt, unsigned int nr)
{
	int tries = 100;

	while (READ_ONCE(xprt->sending.qlen) < nr && tries--)
		msleep(50);
}

static void echo_wait_for_call(unsigned int calls)
{
	int tries = 100;

	while (echo_server_calls() == calls && tries--)
		msleep(50);
}

/*
 * A task of sunrpc sends the requests of others, and may see their errors. The error of
 * the lost connection's Reply must not hit the task of the next connection's Reply.
 * 1. The client holds a Call of the lost connection, and a new connection exists.
 * 2. The transport reports no buffer space, so no task can send.
 * 3. The lost connection's Reply is queued to be sent, then the next connection's
 *   Reply.
 * 4. The lost Reply's task wakes up, and queues up again behind the next Reply's task.
 * 5. Buffer space returns. The next Reply's task wakes up, and sends the lost Reply
 *   first.
 */
static void reply_of_lost_connection_does_no_harm_to_next(struct kunit *test)
{
	static const struct echo_shape quick = { .arg_head = 100 };
	static const struct echo_shape held = { .flags = ECHO_HOLD };
	struct rpc_clnt *clnt, *cb_clnt;
	unsigned int calls;
	struct rpc_xprt *xprt;
	struct echo_req *req;

	cb_clnt = echo_connect_both(test, &clnt);
	/* A client that has had a Reply reconnects at once. */
	echo_call(test, clnt, &quick);
	xprt = rcu_access_pointer(clnt->cl_xprt);

	echo_svc_hold();
	calls = echo_server_calls();
	echo_start_callbacks(test, cb_clnt, &held, 1);
	echo_wait_for_call(calls);
	rpc_clnt_disconnect(clnt);
	echo_finish_all(test);
	echo_disconnect(test, cb_clnt);
	echo_call(test, clnt, &quick);
	cb_clnt = echo_cb_connect(test);

	xprt_wait_for_buffer_space(xprt);
	echo_svc_release();
	echo_wait_for_senders(xprt, 1);
	req = echo_new(test, &quick);
	echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
	echo_wait_for_senders(xprt, 2);
	rpc_wake_up_next(&xprt->sending);
	echo_wait_for_senders(xprt, 2);
	xprt_write_space(xprt);
	echo_finish(test, req);
	echo_expect_good(test, req);
	echo_cb_disconnect(test, cb_clnt);
	echo_expect_server_saw_no_bad_call(test);
}

/* A second Reply to one Call would upset the count of credits. */
static void server_sends_no_call_twice(struct kunit *test)
{
	static const struct rpc_timeout often = {
		.to_initval	= HZ,
		.to_increment	= HZ,
		.to_maxval	= 3 * HZ,
		.to_retries	= 2,
	};
	static const struct echo_shape dropped = { .flags = ECHO_DROP };
	static const struct echo_shape quick = { .arg_head = 100 };
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req;
	unsigned int calls;

	if (echo_transport() != XPRT_TRANSPORT_RDMA)
		kunit_skip(test, "this transport has no credits");
	cb_clnt = echo_connect_both(test, &clnt);
	/* The Reply brings the client's credit grant. */
	echo_start_callbacks(test, cb_clnt, &quick, 1);
	echo_finish_all(test);
	calls = echo_server_calls();
	cb_clnt->cl_timeout = &often;
	req = echo_new(test, &dropped);
	echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
	echo_finish(test, req);
	KUNIT_EXPECT_NE(test, req->status, 0);
	KUNIT_EXPECT_EQ(test, echo_server_calls() - calls, 1);
	echo_disconnect(test, cb_clnt);
	echo_call(test, clnt, &quick);
}

/* The transport refuses Calls that would need chunks; the next Calls still work. */
static void large_calls_end_where_only_small_ones_are_taken(struct kunit *test)
{
	static const struct echo_shape large[] = {
		{ .arg_head = 300000 }, { .res_head = 300000 },
		{ .flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP,
		  .arg_pages = 300000 },
		{ .flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP,
		  .res_pages = 300000 },
	};
	static const struct echo_shape quick = { .arg_head = 100 };
	struct rpc_clnt *clnt, *cb_clnt;
	struct echo_req *req;
	unsigned int i;

	if (echo_transport() != XPRT_TRANSPORT_RDMA)
		kunit_skip(test, "this transport knows no limit");
	cb_clnt = echo_connect_both(test, &clnt);
	if (echo_cb_takes_any(cb_clnt))
		kunit_skip(test, "Calls with chunks are taken");
	for (i = 0; i < ARRAY_SIZE(large); i++) {
		req = echo_new(test, &large[i]);
		echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
		echo_finish(test, req);
		KUNIT_EXPECT_EQ(test, req->status, -EMSGSIZE);
		req = echo_new(test, &quick);
		echo_start(test, req, cb_clnt, ECHO_CB_FLAGS);
		echo_finish(test, req);
		echo_expect_good(test, req);
	}
	echo_cb_disconnect(test, cb_clnt);
}

/* The server must respect a client that grants no Calls. */
static void client_that_takes_no_calls_gets_none(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	struct rpc_clnt *cb_clnt;
	struct svc_xprt *xprt;
	int ret;

	ret = rpc_clnt_iterate_for_each_xprt(clnt, echo_cb_set_up_xprt, NULL);
	if (ret != -EPROTONOSUPPORT || echo_transport() != XPRT_TRANSPORT_RDMA)
		kunit_skip(test, "this client takes Calls");
	xprt = echo_server_get_connection();
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, xprt);
	cb_clnt = echo_cb_clnt_create(xprt, &echo_patient);
	svc_xprt_put(xprt);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cb_clnt), -EOPNOTSUPP);
	if (!IS_ERR(cb_clnt))
		rpc_shutdown_client(cb_clnt);
}

static struct kunit_case echo_reverse_cases[] = {
	KUNIT_CASE(server_sends_no_call_twice),
	KUNIT_CASE_PARAM(server_calls_client, echo_cb_size_gen_params),
	KUNIT_CASE(server_calls_client_many_times_at_once),
	KUNIT_CASE(large_calls_from_server_at_once),
	KUNIT_CASE(long_inline_replies_to_server_at_once),
	KUNIT_CASE(large_calls_end_where_only_small_ones_are_taken),
	KUNIT_CASE(client_that_takes_no_calls_gets_none),
	KUNIT_CASE(calls_go_both_ways_at_once),
	KUNIT_CASE(disconnect_ends_calls_from_server),
	KUNIT_CASE(calls_of_lost_connection_do_no_harm_to_next),
	KUNIT_CASE(reply_of_lost_connection_does_no_harm_to_next),
	{}
};

struct kunit_suite echo_reverse_suite = {
	.name		= "echo_reverse",
	.suite_init	= echo_reverse_suite_init,
	.suite_exit	= echo_reverse_suite_exit,
	.init		= echo_test_init,
	.exit		= echo_reverse_test_exit,
	.test_cases	= echo_reverse_cases,
};

#endif /* CONFIG_SUNRPC_BACKCHANNEL */
