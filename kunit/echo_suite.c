// SPDX-License-Identifier: GPL-2.0
/*
 * Common parts of the suites of the echo program: module parameters, a server for each
 * suite, clients and RPCs for each test.
 *
 * Nothing waits forever. RPCs are soft unless a test makes them hard. A test waits for an
 * RPC only as long as the RPC can take. echo_test_exit() kills RPCs that still run.
 *
 * KUnit calls everything here in process context, and everything may sleep.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/xprt.h>
#include <linux/sunrpc/xprtsock.h>
#include "echo.h"

static char *addr = "192.168.77.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "the server's IPv4 address, one of this machine's");

static char *addr6 = "fd00:77::1";
module_param(addr6, charp, 0444);
MODULE_PARM_DESC(addr6, "the server's IPv6 address, one of this machine's");

static ushort port = 20050;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "the server's port; nobody may listen at the next one");

static char *proto = "rdma";
module_param(proto, charp, 0444);
MODULE_PARM_DESC(proto, "transport: rdma, or tcp to test the tests");

static uint threads = 16;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "the server's");

static char *suites = "";
module_param(suites, charp, 0444);
MODULE_PARM_DESC(suites, "names of the suites to run, instead of all but echo_reverse_forms");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "run those tests only whose name has this in it");

const struct rpc_timeout echo_patient = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

/**
 * echo_is_rdma - tell whether the suites test an RDMA transport
 *
 * Context: any.
 *
 * Return: false if they test TCP.
 */
bool echo_is_rdma(void)
{
	return strcmp(proto, "tcp");
}

/**
 * echo_transport - the transport of clients
 *
 * Context: any.
 *
 * Return: an ident for rpc_create().
 */
int echo_transport(void)
{
	return echo_is_rdma() ? XPRT_TRANSPORT_RDMA : XPRT_TRANSPORT_TCP;
}

/**
 * echo_svc_class - the transport of the server
 *
 * Context: any.
 *
 * Return: a name for svc_xprt_create().
 */
const char *echo_svc_class(void)
{
	return proto;
}

/**
 * echo_port - the server's port
 *
 * Context: any.
 *
 * Return: the port, in host byte order.
 */
unsigned short echo_port(void)
{
	return port;
}

/**
 * echo_threads - the number of the server's threads
 *
 * Context: any.
 *
 * Return: their number, at least 1.
 */
unsigned int echo_threads(void)
{
	return max(threads, 1U);
}

/**
 * echo_server_addr - parse the server's address
 * @ss: receives the address and the port
 * @family: PF_INET or PF_INET6
 *
 * Context: process.
 *
 * Return: length of the address, or -EINVAL if the module's parameter is no such
 *	address.
 */
int echo_server_addr(struct sockaddr_storage *ss, int family)
{
	struct sockaddr *sa = (struct sockaddr *)ss;
	const char *text = family == PF_INET6 ? addr6 : addr;
	size_t len;

	len = rpc_pton(&init_net, text, strlen(text), sa, sizeof(*ss));
	if (!len || sa->sa_family != family)
		return -EINVAL;
	rpc_set_port(sa, port);
	return len;
}

/**
 * echo_suite_init - start the suite's server
 * @suite: the suite
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno.
 */
int echo_suite_init(struct kunit_suite *suite)
{
	int ret;

	ret = echo_server_start(PF_INET);
	if (ret == -EPROTONOSUPPORT)
		pr_err("echo: no transport \"%s\": load its module first\n",
		       proto);
	return ret;
}

/**
 * echo_suite_exit - stop the suite's server
 * @suite: the suite
 *
 * Context: process, may sleep.
 */
void echo_suite_exit(struct kunit_suite *suite)
{
	echo_server_stop();
}

/**
 * echo_test_init - prepare a test, or skip it if "only" leaves it out
 * @test: the test
 *
 * Context: process, may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int echo_test_init(struct kunit *test)
{
	struct echo_test *et;

	if (!strstr(test->name, only))
		kunit_skip(test, "not asked for");
	et = kunit_kzalloc(test, sizeof(*et), GFP_KERNEL);
	if (!et)
		return -ENOMEM;
	INIT_LIST_HEAD(&et->clnts);
	INIT_LIST_HEAD(&et->reqs);
	test->priv = et;
	return 0;
}

/**
 * echo_test_exit - end a test's RPCs, then its clients
 * @test: the test
 *
 * Context: process, may sleep.
 */
void echo_test_exit(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct echo_test_clnt *tc, *next_tc;
	struct echo_req *req, *next;

	if (!et)
		return;
	list_for_each_entry_safe(req, next, &et->reqs, list) {
		list_del(&req->list);
		if (echo_req_kill_and_wait(req))
			echo_req_free(req);
		else
			KUNIT_FAIL(test, "a killed RPC does not end");
	}
	list_for_each_entry_safe(tc, next_tc, &et->clnts, list) {
		list_del(&tc->list);
		rpc_shutdown_client(tc->clnt);
		kfree(tc);
	}
}

/**
 * echo_test_add_clnt - give a client to the test, whose exit shuts it down
 * @test: the test
 * @clnt: the client
 *
 * The test's exit shuts down the last client first.
 *
 * Context: process, may sleep.
 */
void echo_test_add_clnt(struct kunit *test, struct rpc_clnt *clnt)
{
	struct echo_test *et = test->priv;
	struct echo_test_clnt *tc;

	tc = kmalloc(sizeof(*tc), GFP_KERNEL | __GFP_NOFAIL);
	tc->clnt = clnt;
	list_add(&tc->list, &et->clnts);
}

/**
 * echo_connect - connect a new client to the suite's server
 * @test: the test, which ends if that fails
 * @timeout: timeout of the client's RPCs
 *
 * Context: process, may sleep.
 *
 * Return: the client, which the test's exit shuts down.
 */
struct rpc_clnt *echo_connect(struct kunit *test,
			      const struct rpc_timeout *timeout)
{
	struct sockaddr_storage ss;
	struct rpc_clnt *clnt;
	int tries = 10;
	int len;

	len = echo_server_addr(&ss, PF_INET);
	KUNIT_ASSERT_GT_MSG(test, len, 0, "addr=%s", addr);
	clnt = echo_clnt_create((struct sockaddr *)&ss, len, timeout, 0);
	/* On iWARP, a port may still belong to a connection that has just ended. */
	while (clnt == ERR_PTR(-EADDRNOTAVAIL) && tries--)
		clnt = echo_clnt_create((struct sockaddr *)&ss, len, timeout,
					0);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(clnt), "can't connect: %ld",
			       PTR_ERR(clnt));
	echo_test_add_clnt(test, clnt);
	return clnt;
}

/**
 * echo_test_forget_clnt - take a client from the test
 * @test: the test
 * @clnt: the client, which the test's exit no longer shuts down
 *
 * Context: process.
 */
void echo_test_forget_clnt(struct kunit *test, struct rpc_clnt *clnt)
{
	struct echo_test *et = test->priv;
	struct echo_test_clnt *tc;

	list_for_each_entry(tc, &et->clnts, list)
		if (tc->clnt == clnt) {
			list_del(&tc->list);
			kfree(tc);
			return;
		}
}

/**
 * echo_disconnect - shut down a client before the test's exit
 * @test: the test
 * @clnt: the client
 *
 * Context: process, may sleep.
 */
void echo_disconnect(struct kunit *test, struct rpc_clnt *clnt)
{
	echo_test_forget_clnt(test, clnt);
	rpc_shutdown_client(clnt);
}

/**
 * echo_new - allocate an RPC that the test's exit frees
 * @test: the test, which ends if there is no memory
 * @shape: what the RPC looks like
 *
 * Context: process, may sleep.
 *
 * Return: the RPC.
 */
struct echo_req *echo_new(struct kunit *test, const struct echo_shape *shape)
{
	struct echo_test *et = test->priv;
	struct echo_req *req;

	req = echo_req_alloc(shape);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, req);
	list_add_tail(&req->list, &et->reqs);
	return req;
}

/**
 * echo_start - start an RPC
 * @test: the test, which ends if that fails
 * @req: the RPC
 * @clnt: client that runs the RPC
 * @flags: RPC_TASK_*
 *
 * Context: process, may sleep.
 */
void echo_start(struct kunit *test, struct echo_req *req,
		struct rpc_clnt *clnt, int flags)
{
	KUNIT_ASSERT_EQ(test, echo_req_start(req, clnt, flags), 0);
}

/**
 * echo_finish - wait for an RPC
 * @test: the test, which ends if the RPC does not
 * @req: the RPC
 *
 * Context: process, may sleep.
 */
void echo_finish(struct kunit *test, struct echo_req *req)
{
	KUNIT_ASSERT_NE_MSG(test, echo_req_wait(req), -EINPROGRESS,
			    "an RPC does not end");
}

/**
 * echo_finish_all - wait for all RPCs of a test
 * @test: the test, which ends if an RPC does not
 *
 * Context: process, may sleep.
 */
void echo_finish_all(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct echo_req *req;

	list_for_each_entry(req, &et->reqs, list)
		echo_finish(test, req);
}

/* A failed expectation prints the shape of its RPC. */
#define ECHO_EXPECT_EQ(test, req, left, right)				\
do {									\
	const struct echo_shape *__s = &(req)->shape;			\
									\
	KUNIT_EXPECT_EQ_MSG(test, left, right,				\
			    "call %u+%u@%u reply %u+%u@%u flags %#x",	\
			    __s->arg_head, __s->arg_pages,		\
			    __s->arg_base, __s->res_head,		\
			    __s->res_pages, __s->res_base, __s->flags);	\
} while (0)

static void echo_expect_call_arrived(struct kunit *test, struct echo_req *req)
{
	const struct echo_shape *s = &req->shape;

	ECHO_EXPECT_EQ(test, req, req->sent.head_len, s->arg_head);
	ECHO_EXPECT_EQ(test, req, req->sent.head_bad, ECHO_ALL_GOOD);
	ECHO_EXPECT_EQ(test, req, req->sent.pages_len, s->arg_pages);
	ECHO_EXPECT_EQ(test, req, req->sent.pages_bad, ECHO_ALL_GOOD);
	ECHO_EXPECT_EQ(test, req, req->sent.trailer_bad, false);
}

static void echo_expect_reply_arrived(struct kunit *test, struct echo_req *req)
{
	const struct echo_shape *s = &req->shape;
	size_t good;

	ECHO_EXPECT_EQ(test, req, req->received.head_len, s->res_head);
	ECHO_EXPECT_EQ(test, req, req->received.head_bad, ECHO_ALL_GOOD);
	ECHO_EXPECT_EQ(test, req, req->received.pages_len, s->res_pages);
	ECHO_EXPECT_EQ(test, req, req->received.trailer_bad, false);
	good = echo_diff_pages(req->res.pages, req->res.base, s->res_pages,
			       echo_stream(req->seed, ECHO_RES_PAGES), 0);
	ECHO_EXPECT_EQ(test, req, good, s->res_pages);
}

/* Nobody wrote to the arguments, nor to the margins of either payload. */
static void echo_expect_rest_untouched(struct kunit *test, struct echo_req *req)
{
	size_t good;

	good = echo_diff_pages(req->arg.pages, req->arg.base, req->arg.len,
			       echo_stream(req->seed, ECHO_ARG_PAGES), 0);
	ECHO_EXPECT_EQ(test, req, good, req->arg.len);
	ECHO_EXPECT_EQ(test, req, true,
		       echo_pages_margins_poisoned(&req->arg, ECHO_POISON));
	ECHO_EXPECT_EQ(test, req, true,
		       echo_pages_margins_poisoned(&req->res, ECHO_POISON));
}

/**
 * echo_expect_good - check that an RPC did what its shape says
 * @test: the test
 * @req: the RPC, which has ended
 *
 * Context: process.
 */
void echo_expect_good(struct kunit *test, struct echo_req *req)
{
	bool fail = req->shape.flags & ECHO_FAIL;

	ECHO_EXPECT_EQ(test, req, req->status, 0);
	if (req->status)
		return;
	ECHO_EXPECT_EQ(test, req, req->res_status,
		       fail ? ECHO_STATUS_FAILED : 0);
	if (!fail) {
		echo_expect_call_arrived(test, req);
		echo_expect_reply_arrived(test, req);
	}
	echo_expect_rest_untouched(test, req);
}

/**
 * echo_call - run one RPC and check it
 * @test: the test
 * @clnt: client that runs the RPC
 * @shape: what the RPC looks like
 *
 * Context: process, may sleep.
 */
void echo_call(struct kunit *test, struct rpc_clnt *clnt,
	       const struct echo_shape *shape)
{
	struct echo_req *req = echo_new(test, shape);

	echo_start(test, req, clnt, 0);
	echo_finish(test, req);
	echo_expect_good(test, req);
}

/**
 * echo_expect_server_saw_no_bad_call - check Calls whose RPC has ended, too
 * @test: the test
 *
 * Context: process.
 */
void echo_expect_server_saw_no_bad_call(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, echo_server_bad_calls(), 0U);
}

/*
 * kunit_test_suites() would run the suites before the module's parameters are set, in
 * some kernels.
 */
static struct kunit_suite *echo_suites[] = {
	&echo_forms_suite,
	&echo_rare_suite,
	&echo_many_suite,
	&echo_disconnect_suite,
	&echo_connect_suite,
#if IS_ENABLED(CONFIG_SUNRPC_BACKCHANNEL)
	&echo_reverse_suite,
	&echo_reverse_forms_suite,
#endif
};

/* Only some transports have all forms in the reverse direction. */
static bool is_by_name_only(const struct kunit_suite *suite)
{
#if IS_ENABLED(CONFIG_SUNRPC_BACKCHANNEL)
	return suite == &echo_reverse_forms_suite;
#else
	return false;
#endif
}

static struct kunit_suite *echo_chosen[ARRAY_SIZE(echo_suites)];
static int echo_nr_chosen;

static int __init echo_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(echo_suites); i++)
		if (*suites ? !!strstr(suites, echo_suites[i]->name) :
			      !is_by_name_only(echo_suites[i]))
			echo_chosen[echo_nr_chosen++] = echo_suites[i];
	return __kunit_test_suites_init(echo_chosen, echo_nr_chosen, true);
}

static void __exit echo_exit(void)
{
	__kunit_test_suites_exit(echo_chosen, echo_nr_chosen);
}

module_init(echo_init);
module_exit(echo_exit);
MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("KUnit suites that do RPCs over real connections");
MODULE_LICENSE("GPL");
