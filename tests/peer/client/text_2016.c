// SPDX-License-Identifier: GPL-2.0
/* Cases in v2-01, the version 2 of 2016 */
#include <string.h>

#include "client.h"

#define OPTIONAL	XID VERS REQUEST "00000005 " CALL_FLAGS
#define OF_SERVER	XID VERS GRANT "00000005 " REPLY_FLAGS
/* An operation, the length of its arguments, and the arguments */
#define INIT_XCHAR	"00000001 0000002c 00000003 " \
			"00000001 00000004 00001000 00000002 00000004 00000000 " \
			"00000003 00000004 00000002 00000000 "
#define ITS_INIT_XCHAR	"00000001 00000038 00000004 " \
			"00000001 00000004 00003000 00000002 00000004 00000001 " \
			"00000003 00000004 00000002 " WISH("00000000") \
			"00000000 "
#define NO_XCHAR	"00000005 00000010 " \
			"00000001 00000001 00000004 00002000 "

#define OLD_CALL	CALL NO_LISTS XID RPC_NULL
#define OLD_REPLY	XID VERS GRANT "00000000 " REPLY_FLAGS NO_LISTS \
			XID RPC_NULL_REPLY
/* Errors without a direction */
#define OLD_REFUSED	XID VERS GRANT "00000004 "
#define BAD_HEADER	OLD_REFUSED "00000002 "
#define INVAL_OPTION	OLD_REFUSED "00000003 "

/* Send a message, and expect the answer. */
static void say_old(struct connection *c, const char *message, const char *answer)
{
	connection_say(c, "%s", message);
	connection_expect(c, "%s", answer);
}

static struct connection *ready_2016(void)
{
	struct connection *c = first_message();

	say_old(c, OPTIONAL INIT_XCHAR, OF_SERVER ITS_INIT_XCHAR);
	return c;
}

static void characteristics(void)
{
	struct connection *c = ready_2016();

	say_old(c, OLD_CALL, OLD_REPLY);
	/* Characteristics come only once. */
	say_old(c, OPTIONAL INIT_XCHAR, BAD_HEADER);
	say_old(c, OLD_CALL, OLD_REPLY);
}

static void call_first(void)
{
	struct connection *c = first_message();

	say_old(c, OLD_CALL, OLD_REPLY);
	say_old(c, OPTIONAL INIT_XCHAR, OF_SERVER ITS_INIT_XCHAR);
	say_old(c, OLD_CALL, OLD_REPLY);
}

static void unknown_operations(void)
{
	struct connection *c = first_message();

	say_old(c, OPTIONAL NO_XCHAR, INVAL_OPTION);
	say_old(c, OPTIONAL INIT_XCHAR, OF_SERVER ITS_INIT_XCHAR);
	say_old(c, OPTIONAL NO_XCHAR, INVAL_OPTION);
	/* The direction of an unknown operation does not matter. */
	say_old(c, XID VERS REQUEST "00000005 " REPLY_FLAGS NO_XCHAR,
		INVAL_OPTION);
	say_old(c, OPTIONAL "ffffffff 00000000 ", INVAL_OPTION);
	say_old(c, OLD_CALL, OLD_REPLY);
}

static void bad_headers(void)
{
	static const char * const messages[] = {
		/* direction 2; types 2 and 2^32-1; a message of v2-09 */
		XID VERS REQUEST "00000000 00000002 " NO_LISTS XID RPC_NULL,
		XID VERS REQUEST "00000002 " CALL_FLAGS,
		XID VERS REQUEST "ffffffff ",
		NULL_CALL,
		/* another XID; a Reply marked as a Call */
		CALL NO_LISTS "11223345 " RPC_NULL,
		CALL NO_LISTS XID RPC_NULL_REPLY,
		/* an error that only v2-09 has a code for */
		CALL END END NEXT "00000111 " XID RPC_NULL,
		NULL
	};
	struct connection *c = ready_2016();
	unsigned int i;

	for (i = 0; messages[i]; i++)
		say_old(c, messages[i], BAD_HEADER);
	say_old(c, OLD_CALL, OLD_REPLY);
}

/* The server closes the connection. */
static void bad_characteristics(void)
{
	static const char * const messages[] = {
		/* arguments longer than the message, and shorter */
		OPTIONAL "00000001 00000010 00000000 00000000 ",
		OPTIONAL "00000002 00000000 00000000 ",
		NULL
	};
	struct connection *c;
	unsigned int i;

	for (i = 0; messages[i]; i++) {
		c = ready_2016();
		say_old(c, messages[i], BAD_HEADER);
		connection_expect_closed(c);
	}
	c = ready_2016();
	connection_say(c, XID VERS REQUEST "00000004 " REPLY_FLAGS "00000007 ");
	connection_expect_closed(c);

	/* As a first message, it is valid in neither version 2. */
	c = first_message();
	connection_say(c, OPTIONAL "00000001 00000014 00000001 "
		       "00000002 00000004 00000002 00000000 ");
	connection_expect(c, BAD_XDR);
	connection_expect_closed(c);
}

/* The client did not agree to Send With Invalidate. */
static void no_invalidation(void)
{
	struct connection *c = ready_2016();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	connection_say(c, CALL END NEXT "00000001 " A_SEGMENT END END READ_CALL,
		       m.mr->rkey, 8192, address(&m), xid, 8192);
	connection_expect(c, XID VERS GRANT "00000000 " REPLY_FLAGS END NEXT
			  "00000001 " A_SEGMENT END END READ_REPLY,
			  m.mr->rkey, 8192, address(&m), xid, 0, 8192);
	check_data(&m, 0, 8192);
	say_old(c, OLD_CALL, OLD_REPLY);
}

const struct test text_2016_tests[] = {
	{ "v2-01: characteristics", characteristics },
	{ "v2-01: a Call before characteristics", call_first },
	{ "v2-01: unknown operations", unknown_operations },
	{ "v2-01: bad headers", bad_headers },
	{ "v2-01: bad characteristics, and a bad error", bad_characteristics },
	{ "v2-01: a Read, and no invalidation", no_invalidation },
	{ },
};
