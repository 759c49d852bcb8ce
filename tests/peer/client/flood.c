// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that use no credit: the server takes a few, and closes the connection of a
 * peer that sends nothing else.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

/* Each connection's chain, in flood() */
#define CHAIN		64

#define UNKNOWN_TYPE	XID VERS REQUEST "00000063 " CALL_FLAGS
#define MALFORMED	CALL END "00000002 00000028 " SEG NO_LISTS XID RPC_NULL
#define UPDATE		XID VERS REQUEST "ffffff03 " CALL_FLAGS \
			RBSIZ("00003000") "00000000 "
#define REQUEST_NOTHING	XID VERS REQUEST "ffffff01 " CALL_FLAGS "00000000 "
#define DISPOSED_NOTHING XID VERS GRANT "ffffff02 " REPLY_FLAGS \
			"00000001 00000000 00000001 00000000 00000001 00000000 "

/* One that may change its properties */
static struct connection *ready_to_change(void)
{
	struct options options = default_options;
	struct connection *c;

	options.sends = CHAIN;
	options.recvs = CHAIN;
	c = connection_open(&options);
	connection_say(c, CONNPROP "00000003 " RBSIZ("00003000")
		       BRS("00000001") CHANGES);
	connection_expect(c, CONNPROP_ANSWER);
	return c;
}

/* Say a message so often, and hear its answer each time, if it has one. */
static void repeat(struct connection *c, unsigned int times, const char *message,
		   const char *answer)
{
	unsigned int i;

	for (i = 0; i < times; i++) {
		say(c, "%s", message);
		if (answer)
			expect(c, "%s", answer);
	}
}

static void only_so_many(struct connection *c, const char *message,
			 const char *answer)
{
	unsigned int rounds;

	/* Each Call starts the count anew, and is counted until it is seen to be one. */
	for (rounds = 0; rounds < 3; rounds++) {
		stays(c);
		repeat(c, MAX_UNPAID - 1, message, answer);
	}
	stays(c);
	repeat(c, MAX_UNPAID, message, answer);
	say(c, "%s", message);
	connection_expect_closed(c);
}

static void malformed(void)
{
	only_so_many(ready(), MALFORMED, BAD_XDR);
}

static void unknown_types(void)
{
	only_so_many(ready(), UNKNOWN_TYPE, INVAL_HTYPE);
}

static void updates(void)
{
	only_so_many(ready_to_change(), UPDATE, NULL);
}

/* Before anything else was said */
static void foreign(void)
{
	struct connection *c = first_message();
	unsigned int i;

	for (i = 0; i < MAX_UNPAID; i++) {
		connection_say(c, XID "00000063 " REQUEST "00000000 " CALL_FLAGS);
		connection_expect(c, BAD_FIRST("00000063"));
	}
	connection_say(c, XID "00000063 " REQUEST "00000000 " CALL_FLAGS);
	connection_expect_closed(c);
}

/* One may be out at a time, and each is answered: no limit to these */
static void requests(void)
{
	struct connection *c = ready_to_change();

	repeat(c, 4 * MAX_UNPAID, REQUEST_NOTHING, DISPOSED_NOTHING);
	stays(c);
}

/* One of many; it ends when the server closes the connection. */
static void flood_one(struct connection *c, const char *message)
{
	struct message m;

	do {
		say_at_once(c, CHAIN, "%s", message);
		connection_wait_sent(c);
		while (connection_receive(c, &m, 0) == MESSAGE)
			;
	} while (!connection_is_over(c));
}

/**
 * flood - many connections, on which nothing is said that uses a credit
 * @connections: how many
 *
 * It says when all of them are there, and begins; and when the server has closed all.
 *
 * Return: whether one ended otherwise
 */
int flood(unsigned int connections)
{
	struct connection *c;
	int ready[2], go[2];
	unsigned int i;
	int failed = 0;
	int status;
	char byte;

	if (pipe(ready) || pipe(go))
		fail("no pipe");
	version = 2;
	for (i = 0; i < connections; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		c = ready_to_change();
		/* Whoever was served is no stranger. */
		stays(c);
		if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1))
			fail("no pipe");
		flood_one(c, i % 2 ? UPDATE : UNKNOWN_TYPE);
		_exit(0);
	}
	close(ready[1]);
	for (i = 0; i < connections; i++)
		if (read(ready[0], &byte, 1) != 1)
			fail("%u connections, not %u", i, connections);
	printf("# flooding\n");
	close(go[1]);
	for (i = 0; i < connections; i++) {
		wait(&status);
		failed |= status;
	}
	printf("# over\n");
	return !!failed;
}

const struct test flood_tests[] = {
	{ "flood: malformed Calls", malformed },
	{ "flood: unknown types", unknown_types },
	{ "flood: updates", updates },
	{ "flood: other versions at first", foreign },
	{ "flood: requests, which are answered", requests },
	{ },
};

const struct test flood_1_tests[] = {
	{ "flood: malformed Calls", malformed },
	{ },
};
