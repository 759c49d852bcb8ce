// SPDX-License-Identifier: GPL-2.0
/*
 * Connections come and go, one at a time and many at once.
 */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include "echo.h"

static const struct echo_shape echo_small = { .arg_head = 100 };

static uint clients = 24;
module_param(clients, uint, 0444);
MODULE_PARM_DESC(clients, "how many connect at once");

static void clients_come_and_go(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 50; i++) {
		struct rpc_clnt *clnt = echo_connect(test, &echo_patient);

		echo_call(test, clnt, &echo_small);
		echo_disconnect(test, clnt);
	}
}

static void clients_come_and_go_without_rpcs(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 50; i++)
		echo_disconnect(test, echo_connect(test, &echo_patient));
}

static void many_clients_connect_at_once(struct kunit *test)
{
	struct echo_test *et = test->priv;
	struct sockaddr_storage ss;
	struct rpc_clnt **clnts;
	struct echo_req *req;
	unsigned int i;
	int len;

	clnts = kunit_kcalloc(test, clients, sizeof(*clnts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, clnts);
	/* Without a ping, a client connects with its first RPC. */
	len = echo_server_addr(&ss, PF_INET);
	for (i = 0; i < clients; i++) {
		clnts[i] = echo_clnt_create((struct sockaddr *)&ss, len,
					    &echo_patient,
					    RPC_CLNT_CREATE_NOPING);
		KUNIT_ASSERT_FALSE(test, IS_ERR(clnts[i]));
		echo_test_add_clnt(test, clnts[i]);
		echo_new(test, &echo_small);
	}
	i = 0;
	list_for_each_entry(req, &et->reqs, list)
		echo_start(test, req, clnts[i++], 0);
	echo_finish_all(test);
	list_for_each_entry(req, &et->reqs, list)
		echo_expect_good(test, req);
}

/* The test's own connection must survive the failures of the others. */
static void connect_where_nobody_listens_fails(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	unsigned long start = jiffies;
	struct sockaddr_storage ss;
	struct rpc_clnt *lost;
	unsigned int i;
	int len;

	len = echo_server_addr(&ss, PF_INET);
	rpc_set_port((struct sockaddr *)&ss, echo_port() + 1);
	for (i = 0; i < 5; i++) {
		lost = echo_clnt_create((struct sockaddr *)&ss, len,
					&echo_patient, 0);
		if (!IS_ERR(lost))
			rpc_shutdown_client(lost);
		KUNIT_EXPECT_TRUE(test, IS_ERR(lost));
	}
	KUNIT_EXPECT_LT_MSG(test, (long)(jiffies - start), 60L * HZ,
			    "a refused connection is known at once");
	echo_call(test, clnt, &echo_small);
}

static void client_waits_for_server(struct kunit *test)
{
	struct sockaddr_storage ss;
	struct rpc_clnt *clnt;
	struct echo_req *req;
	int len;

	echo_server_stop();
	len = echo_server_addr(&ss, PF_INET);
	clnt = echo_clnt_create((struct sockaddr *)&ss, len, &echo_patient,
				RPC_CLNT_CREATE_NOPING);
	if (!IS_ERR(clnt)) {
		echo_test_add_clnt(test, clnt);
		req = echo_new(test, &echo_small);
		echo_start(test, req, clnt, 0);
		wait_for_completion_timeout(&req->done, HZ);
		KUNIT_EXPECT_FALSE(test, completion_done(&req->done));
	}
	KUNIT_ASSERT_EQ(test, echo_server_start(PF_INET), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(clnt));
	echo_finish(test, req);
	echo_expect_good(test, req);
}

static void server_stops_with_clients_connected(struct kunit *test)
{
	struct rpc_clnt *clnts[8];
	unsigned int round, i;

	for (i = 0; i < ARRAY_SIZE(clnts); i++)
		clnts[i] = echo_connect(test, &echo_patient);
	for (round = 0; round < 5; round++) {
		echo_server_stop();
		KUNIT_ASSERT_EQ(test, echo_server_start(PF_INET), 0);
		for (i = 0; i < ARRAY_SIZE(clnts); i++)
			echo_call(test, clnts[i], &echo_small);
	}
}

#if IS_ENABLED(CONFIG_IPV6)
static void ipv6(struct kunit *test)
{
	static const struct echo_shape shape = {
		.flags		= ECHO_ARG_PAYLOAD | ECHO_ARG_DDP,
		.arg_pages	= 100001,
	};
	struct sockaddr_storage ss;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&ss;
	struct rpc_clnt *clnt;
	int len, ret;

	len = echo_server_addr(&ss, PF_INET6);
	if (len < 0 || !ipv6_chk_addr(&init_net, &sin6->sin6_addr, NULL, 0))
		kunit_skip(test, "this machine has no address addr6");

	echo_server_stop();
	ret = echo_server_start(PF_INET6);
	if (!ret) {
		clnt = echo_clnt_create((struct sockaddr *)&ss, len,
					&echo_patient, 0);
		KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(clnt), "%ld",
				       PTR_ERR(clnt));
		if (!IS_ERR(clnt)) {
			echo_test_add_clnt(test, clnt);
			echo_call(test, clnt, &shape);
			echo_disconnect(test, clnt);
		}
	}
	echo_server_stop();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, echo_server_start(PF_INET), 0);
}
#endif

/*
 * /proc/mounts reads the strings under RCU, and sunrpc's debugfs reads them without. So
 * a new port must not free the old strings.
 */
static void strings_of_address_outlive_new_port(struct kunit *test)
{
	struct rpc_clnt *clnt = echo_connect(test, &echo_patient);
	struct rpc_xprt *xprt = rcu_access_pointer(clnt->cl_xprt);
	u16 old = rpc_get_port((struct sockaddr *)&xprt->addr);
	const char *address, *port;

	address = xprt->address_strings[RPC_DISPLAY_ADDR];
	port = xprt->address_strings[RPC_DISPLAY_PORT];
	xprt->ops->set_port(xprt, 9);
	KUNIT_EXPECT_PTR_EQ(test, address,
			    (const char *)xprt->address_strings[RPC_DISPLAY_ADDR]);
	KUNIT_EXPECT_STREQ(test, xprt->address_strings[RPC_DISPLAY_PORT], "9");
	KUNIT_EXPECT_STREQ(test, xprt->address_strings[RPC_DISPLAY_HEX_PORT],
			   "   9");
	KUNIT_EXPECT_STREQ(test, port, "9");
	xprt->ops->set_port(xprt, old);
	echo_call(test, clnt, &echo_small);
	echo_disconnect(test, clnt);
}

static struct kunit_case echo_connect_cases[] = {
	KUNIT_CASE(clients_come_and_go),
	KUNIT_CASE(clients_come_and_go_without_rpcs),
	KUNIT_CASE(many_clients_connect_at_once),
	KUNIT_CASE(connect_where_nobody_listens_fails),
	KUNIT_CASE(client_waits_for_server),
	KUNIT_CASE(server_stops_with_clients_connected),
	KUNIT_CASE(strings_of_address_outlive_new_port),
#if IS_ENABLED(CONFIG_IPV6)
	KUNIT_CASE(ipv6),
#endif
	{}
};

struct kunit_suite echo_connect_suite = {
	.name		= "echo_connect",
	.suite_init	= echo_suite_init,
	.suite_exit	= echo_suite_exit,
	.init		= echo_test_init,
	.exit		= echo_test_exit,
	.test_cases	= echo_connect_cases,
};
