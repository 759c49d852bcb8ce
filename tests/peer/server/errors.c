// SPDX-License-Identifier: GPL-2.0
/*
 * Errors: the client may know better, once, or its RPC fails. And its own: Calls
 * of a server whose client waits for none.
 */
#include "server.h"

static void say_call(struct connection *c, const char *lists)
{
	connection_say(c, "0badca11 " VERS REQUEST "00000000 " CALL_FLAGS "%s "
		       "0badca11 00000000 00000002 40000000 00000001 00000000 "
		       "00000000 00000000 00000000 00000000", lists);
}

#define ANSWERED(code)	"0badca11 " VERS "00000008 00000004 " REPLY_FLAGS code

static void call_the_client(void)
{
	struct connection *c = greeted();
	struct call call;
	unsigned int i;

	if (!serve_until(c, FSINFO, &call))
		fail("the client went by itself");
	for (i = 0; i < 20; i++) {
		say_call(c, NOTHING);
		connection_expect(c, ANSWERED("00000009"));
	}
	say_call(c, END NEXT "00000028 " SEG END END END);
	connection_expect(c, ANSWERED("00000004 00000000"));
	say_call(c, END END NEXT "00000001 " SEG END END);
	connection_expect(c, ANSWERED("00000005 00000000"));
	say_call(c, END END END NEXT "00000001 " SEG);
	connection_expect(c, ANSWERED("00000005 00000000"));
	say_call(c, END "00000002 00000028 " SEG END END END);
	connection_expect(c, ANSWERED("00000002"));
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/* Errors: the client may know better, once, or its RPC fails. */

static void err(const char *error)
{
	struct call call;
	struct connection *c = at_read(&call);

	connection_say(c, "%08x " VERS "%08x 00000004 " REPLY_FLAGS "%s",
		       call.xid, grant, error);
	as_expected = true;
	serve(c);
}

static void err_unknown(void) { err("00000063 00000001 00000002"); }
static void err_reply_resource(void) { err("00000008 ffffffff"); }
static void err_write_resource_unknown(void) { err("00000007 00000001 00000000"); }
static void err_write_resource(void) { err("00000007 00000001 ffffffff"); }
static void err_write_chunks(void) { err("00000005 ffffffff"); }

const struct test error_cases[] = {
	{ "survives-calls", call_the_client },
	{ "survives-write-resource", err_write_resource },
	{ "survives-write-chunks", err_write_chunks },
	{ "errs-write-resource", err_write_resource_unknown },
	{ "errs-reply-resource", err_reply_resource },
	{ "errs-unknown-error", err_unknown },
	{ },
};
