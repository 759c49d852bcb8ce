// SPDX-License-Identifier: GPL-2.0
/*
 * Cases with errors from the server, and with Calls from the server, which the client
 * answers with errors
 */
#include "server.h"

#define CALLED(type)	"0badca11 " VERS REQUEST type " " CALL_FLAGS
#define ANSWERED(code)	"0badca11 " VERS "00000008 00000004 " REPLY_FLAGS code
#define RPC_CALLED	" 00000000 00000002 40000000 00000001 00000000 " \
			"00000000 00000000 00000000 00000000"

/* Chunk lists and XID of a Call, and the client's answer */
static const struct {
	const char	*rest;
	const char	*answer;
} calls[] = {
	{ NOTHING "0badca11", ANSWERED("00000009") },
	{ NOTHING "0badca12", ANSWERED("00000002") },
	{ END NEXT "00000028 " SEG NO_LISTS "0badca11",
	  ANSWERED("00000004 00000000") },
	/* v2-09, 5.3.3: an end that takes no Write chunks says so */
	{ END END NEXT "00000001 " SEG END END "0badca11",
	  ANSWERED("00000008 00000000") },
	/* A Reply that fits inline needs no Reply chunk. */
	{ END END END NEXT "00000001 " SEG "0badca11",
	  ANSWERED("00000009") },
};

static void call_the_client(void)
{
	struct connection *c = greeted();
	struct call call;
	unsigned int i;

	if (!serve_until(c, FSINFO, &call))
		fail("the client went by itself");
	for (i = 0; i < 4 * ARRAY_SIZE(calls); i++) {
		say(c, CALLED("00000000") "%s" RPC_CALLED,
		    calls[i % ARRAY_SIZE(calls)].rest);
		expect(c, "%s", calls[i % ARRAY_SIZE(calls)].answer);
	}
	say(c, CALLED("00000001") END NEXT "00000000 " SEG NO_LISTS);
	expect(c, ANSWERED("00000004 00000000"));
	say(c, CALLED("00000000") END "00000002 00000028 " SEG NO_LISTS
	    "0badca11" RPC_CALLED);
	if (version == 1) {
		/* In version 1, a malformed message may as well be a Reply. */
		expect_gone(c);
		return;
	}
	expect(c, ANSWERED("00000002"));
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/* The client answers a few malformed Calls, and then closes the connection. */
static void malformed_calls_without_end(void)
{
	struct connection *c = greeted();
	struct message m;
	struct call call;
	unsigned int i;

	if (!serve_until(c, FSINFO, &call))
		fail("the client went by itself");
	for (i = 0; i <= MAX_UNPAID; i++) {
		say(c, CALLED("00000000") END "00000002 00000028 " SEG NO_LISTS
		    "0badca11" RPC_CALLED);
		if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
			break;
	}
	if (i < MAX_UNPAID)
		fail("the client took no more than %u", i);
	expect_gone(c);
}

/* After an error, the client may try once more in another form; else the RPC fails. */

static void err(const char *error)
{
	struct call call;
	struct connection *c = at_read(&call);

	say(c, "%08x " VERS "%08x 00000004 " REPLY_FLAGS "%s", call.xid, grant,
	    error);
	as_expected = true;
	serve(c);
}

static void err_unknown(void) { err("00000063 00000001 00000002"); }
static void err_reply_resource(void) { err("00000008 ffffffff"); }
static void err_write_resource_unknown(void) { err("00000007 00000001 00000000"); }
static void err_write_resource(void) { err("00000007 00000001 ffffffff"); }
static void err_write_chunks(void) { err("00000005 ffffffff"); }
static void err_segments(void) { err("00000006 00000001"); }
static void err_no_segments(void) { err("00000006 00000000"); }

/*
 * ERR_VERS on an established connection: the server has changed, whatever range it
 * names.
 */
static void err_vers(void)
{
	static const char * const ranges[] = {
		"00000001 00000001", "00000001 00000002", "00000002 00000002",
		"00000003 00000009",
	};
	struct connection *c;
	struct call call;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(ranges); i++) {
		version = 2 - i % 2;
		c = at_read(&call);
		connection_say(c, "%08x %08x %08x 00000004 00000001 %s",
			       call.xid, version, grant, ranges[i / 2]);
		expect_gone(c);
	}
}

const struct test error_cases[] = {
	{ "survives-calls", call_the_client },
	{ "survives-v1-calls", call_the_client },
	{ "survives-malformed-calls", malformed_calls_without_end },
	{ "survives-v1-err-vers", err_vers },
	{ "errs-v1-chunk", err_unknown },
	{ "survives-write-resource", err_write_resource },
	{ "survives-write-chunks", err_write_chunks },
	{ "survives-segments", err_segments },
	{ "errs-no-segments", err_no_segments },
	{ "errs-write-resource", err_write_resource_unknown },
	{ "errs-reply-resource", err_reply_resource },
	{ "errs-unknown-error", err_unknown },
	{ },
};
