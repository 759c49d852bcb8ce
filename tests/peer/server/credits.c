// SPDX-License-Identifier: GPL-2.0
/* Cases with credit grants and Receives that are hard on the client */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

static void grant_nothing(void)
{
	struct connection *c;
	struct message m;
	struct call call;

	grant = 0;
	c = greeted();
	as_expected = true;
	/* A grant of 0 counts as 1, so the client may never have a second Call. */
	while (next_call(c, &call)) {
		usleep(50000);
		if (connection_receive(c, &m, 0) == MESSAGE)
			fail("a Call without a credit");
		reply(c, &call);
	}
}

static void grant_everything(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = 140;
	grant = 0xffffffff;
	c = next_client(&options);
	greet(c);
	as_expected = true;
	serve(c);
}

/* Several Calls wait for a new connection. Until the first Reply, the client may have one Call. */
static void call_once_at_first(void)
{
	struct connection *c;
	struct message m;
	struct call call;

	connection_close(at_read(&call));
	c = greeted();
	if (!next_call(c, &call))
		fail("the client does not use the next connection");
	if (connection_receive(c, &m, 200) == MESSAGE)
		fail("a Call without a credit");
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/* A larger grant must release the waiting Calls at once, not one for each Reply. */
static void raise_the_grant(void)
{
	enum { LITTLE = 4, MORE = 32 };
	struct options options = default_options;
	struct call calls[MORE];
	struct connection *c;
	unsigned int i, n = 0;
	struct message m;

	options.recvs = MORE + 4;
	grant = LITTLE;
	c = next_client(&options);
	greet(c);
	if (!serve_until(c, READ, &calls[0]))
		fail("the client went by itself");
	grant = MORE;
	reply(c, &calls[0]);
	while (n < MORE && connection_receive(c, &m, 2000) == MESSAGE)
		parse_call(&m, &calls[n++]);
	if (n <= LITTLE)
		fail("only %u Calls at once", n);
	as_expected = true;
	for (i = 0; i < n; i++)
		reply(c, &calls[i]);
	serve(c);
}

/* The credit field of an error is no grant: v2-09, 5.3.3. */
static void grant_in_an_error(void)
{
	struct connection *c;
	struct message m;
	struct call call;

	grant = 1;
	c = at_read(&call);
	say(c, "%08x " VERS "ffffffff 00000004 " REPLY_FLAGS "00000005 00000000",
	    call.xid);
	if (!next_call(c, &call))
		fail("the client does not send it again");
	if (connection_receive(c, &m, 200) == MESSAGE)
		fail("a Call without a credit");
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/*
 * Accept connections, and answer nothing. The client must not reconnect all the time.
 */
static void close_on_each_call(void)
{
	unsigned int connections = 0;
	struct connection *c;
	struct call call;
	time_t start;

	c = at_read(&call);
	connection_close(c);
	for (start = time(NULL); time(NULL) < start + 12; connections++) {
		c = greeted();
		if (!serve_until(c, READ, &call))
			fail("the client went by itself");
		connection_close(c);
	}
	printf("# %u connections in 12 s\n", connections);
	if (connections > 6)
		fail("%u connections in 12 s", connections);
}

/* No message of the client may exceed small Receives. */
static void small_receives(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = grant + 4;
	options.recv_size = 1024;
	c = next_client(&options);
	expect_connprop(c);
	connection_say(c, ANSWER "00000001 " RBSIZ("00000400"));
	as_expected = true;
	serve(c);
}

const struct test credit_cases[] = {
	{ "survives-no-grant", grant_nothing },
	{ "survives-grant-of-everything", grant_everything },
	{ "survives-raised-grant", raise_the_grant },
	{ "survives-grant-in-an-error", grant_in_an_error },
	{ "survives-close-on-each-call", close_on_each_call },
	{ "survives-small-receives", small_receives },
	{ "survives-v1-no-grant", grant_nothing },
	{ "survives-v1-first-grant", call_once_at_first },
	{ "survives-v1-grant-of-everything", grant_everything },
	{ },
};
