// SPDX-License-Identifier: GPL-2.0
/*
 * Cases with messages that use no credit. The server accepts a few of them in a row. It must
 * close the connection of a peer that sends nothing else.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

/* Messages in the chain of each connection in flood() */
#define CHAIN		64

#define UNKNOWN_TYPE	XID VERS REQUEST "00000063 " CALL_FLAGS
#define MALFORMED	CALL END "00000002 00000028 " SEG NO_LISTS XID RPC_NULL
#define UPDATE		XID VERS REQUEST "ffffff03 " CALL_FLAGS \
			RBSIZ("00003000") "00000000 "
#define REQUEST_NOTHING	XID VERS REQUEST "ffffff01 " CALL_FLAGS "00000000 "
#define DISPOSED_NOTHING XID VERS GRANT "ffffff02 " REPLY_FLAGS \
			"00000001 00000000 00000001 00000000 00000001 00000000 "

/* Connect, and agree that properties may change. */
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

/* Send a message @times times, and expect its answer each time, if it has one. */
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

	/*
	 * Each Call must reset the server's count. The server counts the Call, too, until
	 * it has decoded the Call.
	 */
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

/* Messages of another version, before any other message */
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

/*
 * A REQUEST is answered before the next one may follow, so the server needs no limit.
 */
static void requests(void)
{
	struct connection *c = ready_to_change();

	repeat(c, 4 * MAX_UNPAID, REQUEST_NOTHING, DISPOSED_NOTHING);
	stays(c);
}

/* Send chains until the server closes the connection. */
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
 * flood - send messages without credits on many connections
 * @connections: number of connections
 *
 * Prints a line when all are connected and start, and a line when the server has closed
 * all.
 *
 * Return: 1 if a connection ended in another way, else 0.
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
		/*
		 * After a served Call, the server takes the client for an honest one.
		 */
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
