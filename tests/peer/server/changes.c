// SPDX-License-Identifier: GPL-2.0
/*
 * Cases with changes of the server's properties, and with its requests to change the
 * client's: Documentation/protocol/property-change.rst. The client's Receives have a
 * fixed size.
 */
#include "server.h"

#define REQPROP		"44332211 " VERS "00000020 ffffff01 " CALL_FLAGS
#define UPDPROP		"44332211 " VERS "00000020 ffffff03 " CALL_FLAGS
#define RESPPROP	"%08x " VERS "00000020 ffffff02 " REPLY_FLAGS
#define DISPOSED(done, rejected, pending) \
	"00000001 " done " 00000001 " rejected " 00000001 " pending " "

#define ITS_REQPROP	"00000002 " VERS "xxxxxxxx ffffff01 " CALL_FLAGS
#define ITS_RESPPROP	"44332211 " VERS "xxxxxxxx ffffff02 " REPLY_FLAGS

static void serve_a_read(struct connection *c)
{
	struct call call;

	if (!serve_until(c, READ, &call))
		fail("the client went by itself");
	reply(c, &call);
}

/* Accept a client, agree that properties may change, and answer a READ. */
static struct connection *changing(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = grant + 8;
	options.recv_size = 12288;
	c = next_client(&options);
	expect_connprop(c);
	connection_say(c, ANSWER "00000003 " RBSIZ("00003000") BRS("00000001")
		       CHANGES);
	serve_a_read(c);
	return c;
}

/* Serve the Calls that come before the message. */
static void expect_change(struct connection *c, const char *text)
{
	struct octets expected;
	struct message m;
	struct call call;

	octets_format(&expected, "%s", text);
	while (connection_receive(c, &m, PATIENCE_MS) == MESSAGE) {
		if (octets_match(&expected, m.data, m.len))
			return;
		if (word_at(m.data, 3) > 1)
			break;
		parse_call(&m, &call);
		reply(c, &call);
	}
	fail("not what is due about changes");
}

static void go_on(struct connection *c)
{
	as_expected = true;
	serve(c);
}

static void updates(void)
{
	static const char * const now[] = {
		RBSIZ("00000400"), RBSIZ("00010000"), RBSIZ("fffffffc"),
		BRS("00000000"), "12345678 00000000 ", RBSIZ("00003000"),
		WISH("00040000"),
	};
	struct connection *c = changing();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(now); i++) {
		connection_say(c, UPDPROP "%s%08x ", now[i], i % 2);
		serve_a_read(c);
	}
	go_on(c);
}

static void requests(void)
{
	struct connection *c = changing();

	connection_say(c, REQPROP "00000002 " RBSIZ("00010000")
		       "12345678 00000000 ");
	expect_change(c, ITS_RESPPROP
		      DISPOSED("00000000", "00000003", "00000000"));
	connection_say(c, REQPROP "00000001 " RBSIZ("00003000"));
	expect_change(c, ITS_RESPPROP
		      DISPOSED("00000001", "00000000", "00000000"));
	go_on(c);
}

static struct connection *asked(void)
{
	struct connection *c = changing();

	connection_say(c, UPDPROP WISH("00001000") "00000000 ");
	expect_change(c, ITS_REQPROP "00000001 " RBSIZ("00001000"));
	return c;
}

/*
 * The client keeps to the size that it asked for, and nothing else waits for the
 * answer.
 */
static void asks_in_vain(void)
{
	go_on(asked());
}

/* An UPDATE settles the request; the answer that follows changes nothing more. */
static void settled_and_done(void)
{
	struct connection *c = asked();

	connection_say(c, UPDPROP RBSIZ("00003000") "00000001 ");
	connection_say(c, RESPPROP DISPOSED("00000001", "00000000", "00000000"),
		       2);
	serve_a_read(c);
	go_on(c);
}

static void answer_to_nothing(void)
{
	struct connection *c = changing();

	connection_say(c, RESPPROP DISPOSED("00000000", "00000000", "00000000"),
		       2);
	expect_gone(c);
}

static void answer_that_lies(void)
{
	struct connection *c = asked();

	connection_say(c, RESPPROP DISPOSED("00000001", "00000000", "00000001"),
		       2);
	expect_gone(c);
}

/* Invalidate the handle of a Call that waits for its Reply. */
static void refusal_that_invalidates(void)
{
	struct connection *c = asked();
	static struct octets o;
	struct call call;

	if (!serve_until(c, READ, &call))
		fail("the client went by itself");
	octets_format(&o, "00000002 " VERS "%08x 00000004 " REPLY_FLAGS
		      "00000009", grant);
	connection_send(c, o.data, o.len, call.inv_handle);
	expect_gone(c);
}

const struct test change_cases[] = {
	{ "survives-changes-updates", updates },
	{ "survives-changes-requests", requests },
	{ "survives-changes-no-answer", asks_in_vain },
	{ "survives-changes-settled-and-done", settled_and_done },
	{ "survives-changes-answer-to-nothing", answer_to_nothing },
	{ "survives-changes-answer-that-lies", answer_that_lies },
	{ "survives-changes-refusal-that-invalidates", refusal_that_invalidates },
	{ },
};
