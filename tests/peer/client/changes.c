// SPDX-License-Identifier: GPL-2.0
/*
 * Cases with properties that change: Documentation/protocol/property-change.rst. The
 * server's Receives have a fixed size.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#define REQPROP		XID VERS REQUEST "ffffff01 " CALL_FLAGS
#define RESPPROP	"%08x " VERS REQUEST "ffffff02 " REPLY_FLAGS
#define UPDPROP		XID VERS REQUEST "ffffff03 " CALL_FLAGS

/* The server's messages */
#define ITS_REQPROP	"00000002 " VERS "xxxxxxxx ffffff01 " CALL_FLAGS
#define ITS_RESPPROP	XID VERS GRANT "ffffff02 " REPLY_FLAGS
#define DISPOSED(done, rejected, pending) \
	"00000001 " done " 00000001 " rejected " 00000001 " pending " "

/* XID of the server's requests */
static const unsigned int its_xid = 2;

static void agree_to_change(struct connection *c)
{
	connection_say(c, CONNPROP "00000003 " RBSIZ("00003000")
		       BRS("00000001") CHANGES);
	connection_expect(c, CONNPROP_ANSWER);
}

static struct connection *ready_to_change(void)
{
	struct connection *c = first_message();

	agree_to_change(c);
	return c;
}

/* Requests, and the server's dispositions */
static void requests(void)
{
	static const struct {
		const char *wanted, *disposed;
	} cases[] = {
		/* nothing */
		{ "00000000 ", DISPOSED("00000000", "00000000", "00000000") },
		/* the present size */
		{ "00000001 " RBSIZ("00003000"),
		  DISPOSED("00000001", "00000000", "00000000") },
		/* a smaller size, and larger ones than the server ever has */
		{ "00000001 " RBSIZ("00001000"),
		  DISPOSED("00000000", "00000001", "00000000") },
		{ "00000001 " RBSIZ("00004000"),
		  DISPOSED("00000000", "00000001", "00000000") },
		{ "00000001 " RBSIZ("fffffffc"),
		  DISPOSED("00000000", "00000001", "00000000") },
		/* the same property twice: the last value decides for both */
		{ "00000002 " RBSIZ("00001000") RBSIZ("00003000"),
		  DISPOSED("00000003", "00000000", "00000000") },
		/* a property that can't change, and an unknown one */
		{ "00000003 " BRS("00000002") RBSIZ("00003000")
		  "12345678 00000005 01020304 05000000 ",
		  DISPOSED("00000002", "00000005", "00000000") },
		{ }
	};
	struct connection *c = ready_to_change();
	unsigned int i;

	for (i = 0; cases[i].wanted; i++) {
		connection_say(c, REQPROP "%s", cases[i].wanted);
		connection_expect(c, ITS_RESPPROP "%s", cases[i].disposed);
	}
	stays(c);
}

static void as_many_as_a_word_has(void)
{
	struct connection *c = ready_to_change();
	char wanted[32 * 18 + 1] = "";
	unsigned int i;

	for (i = 0; i < 32; i++)
		strcat(wanted, "00000063 00000000 ");
	connection_say(c, REQPROP "00000020 %s", wanted);
	connection_expect(c, ITS_RESPPROP
			  DISPOSED("00000000", "ffffffff", "00000000"));
	connection_say(c, REQPROP "00000021 %s00000063 00000000 ", wanted);
	connection_expect(c, BAD_XDR);
	stays(c);
}

/* A peer without the extension has none of its header types. */
static void not_said(void)
{
	struct connection *c = ready();

	connection_say(c, REQPROP "00000000 ");
	connection_expect(c, INVAL_HTYPE);
	connection_say(c, UPDPROP RBSIZ("00001000") "00000000 ");
	connection_expect(c, INVAL_HTYPE);
	connection_say(c, RESPPROP DISPOSED("00000000", "00000000", "00000000"),
		       xid);
	connection_expect(c, INVAL_HTYPE);
	stays(c);
}

static void before_properties(void)
{
	struct connection *c = first_message();

	connection_say(c, REQPROP "00000000 ");
	connection_expect(c, INVAL_HTYPE);
	negotiate(c);
	stays(c);
}

static void malformed(void)
{
	static const char * const messages[] = {
		REQPROP,
		REQPROP "00000001 ",
		REQPROP "00000001 " RBSIZ("00000001"),
		REQPROP "00000001 " RBSIZ("00003000") "00000000 ",
		REQPROP "ffffffff " RBSIZ("00003000"),
		UPDPROP RBSIZ("00003000"),
		UPDPROP RBSIZ("00003000") "00000002 ",
		UPDPROP RBSIZ("00000000") "00000000 ",
		NULL
	};
	struct connection *c = ready_to_change();
	unsigned int i;

	for (i = 0; messages[i]; i++) {
		connection_say(c, "%s", messages[i]);
		connection_expect(c, BAD_XDR);
	}
	stays(c);
}

/* The server takes any size that it may send, and ignores what it does not know. */
static void updates(void)
{
	static const char * const now[] = {
		RBSIZ("00001000"), RBSIZ("00010000"), RBSIZ("fffffffc"),
		RBSIZ("00000400"), BRS("00000000"), "12345678 00000000 ",
		CHANGES, WISH("00000001"), WISH("00040000"), RBSIZ("00003000"),
		NULL
	};
	struct connection *c = ready_to_change();
	unsigned int i;

	for (i = 0; now[i]; i++) {
		connection_say(c, UPDPROP "%s%08x ", now[i], i % 2);
		stays(c);
	}
}

/**
 * takes_nothing - fail unless the server closes a connection that takes no Reply, but speaks
 */
void takes_nothing(void)
{
	struct options options = default_options;
	struct connection *c;
	unsigned int i;

	options.recvs = 1;
	c = connection_open(&options);
	/* The server's answer uses up the only Receive. */
	agree_to_change(c);
	say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, 3000);
	/* Too few messages to lose the connection for them alone */
	for (i = 0; i < 25; i++) {
		sleep(4);
		connection_say(c, UPDPROP RBSIZ("00003000") "00000000 ");
	}
	connection_expect_closed(c);
}

/* Wish for a size, and wait until the server asks for it. */
static struct connection *asked(void)
{
	struct connection *c = ready_to_change();

	connection_say(c, UPDPROP WISH("00001000") "00000000 ");
	connection_expect(c, ITS_REQPROP "00000001 " RBSIZ("00001000"));
	return c;
}

static void wish(void)
{
	struct connection *c = asked();

	/* Without an answer, the server must not ask again. */
	connection_say(c, UPDPROP WISH("00000800") "00000000 ");
	stays(c);
	connection_say(c, RESPPROP DISPOSED("00000000", "00000000", "00000001"),
		       its_xid);
	connection_expect(c, ITS_REQPROP "00000001 " RBSIZ("00000800"));
	connection_say(c, RESPPROP DISPOSED("00000000", "00000001", "00000000"),
		       its_xid);
	connection_say(c, UPDPROP RBSIZ("00001000") "00000001 ");
	stays(c);
}

static void wish_refused(void)
{
	struct connection *c = asked();

	connection_say(c, "%08x " VERS REQUEST "00000004 " REPLY_FLAGS
		       "00000003 ", its_xid);
	stays(c);
	/* The server now knows that this peer lacks these header types. */
	connection_say(c, REQPROP "00000000 ");
	connection_expect(c, INVAL_HTYPE);
	stays(c);
}

static void answer_lies(const char *disposed, unsigned int of)
{
	struct connection *c = asked();

	connection_say(c, RESPPROP "%s", of, disposed);
	connection_expect_closed(c);
}

static void answers_that_lie(void)
{
	/*
	 * not disposed; disposed twice; more than was asked for; the XID of another
	 * message
	 */
	answer_lies(DISPOSED("00000000", "00000000", "00000000"), its_xid);
	answer_lies(DISPOSED("00000001", "00000001", "00000000"), its_xid);
	answer_lies(DISPOSED("00000001", "00000000", "00000002"), its_xid);
	answer_lies(DISPOSED("00000001", "00000000", "00000000"), xid);
}

static void answer_to_nothing(void)
{
	struct connection *c = ready_to_change();

	connection_say(c, RESPPROP DISPOSED("00000000", "00000000", "00000000"),
		       its_xid);
	connection_expect_closed(c);
}

/* A REQUEST must not be marked as a response, and a DISPOSITION must be. */
static void wrong_way(void)
{
	struct connection *c = ready_to_change();

	connection_say(c, XID VERS REQUEST "ffffff01 " REPLY_FLAGS "00000000 ");
	connection_expect_closed(c);
	c = asked();
	connection_say(c, "%08x " VERS REQUEST "ffffff02 " CALL_FLAGS
		       DISPOSED("00000001", "00000000", "00000000"), its_xid);
	connection_expect_closed(c);
}

/* Have the server grow its Receives, and answer its empty REQUESTs until it says so. */
static void let_it_grow(struct connection *c)
{
	const unsigned char update = 0x03, request = 0x01;
	struct message m;

	connection_say(c, REQPROP "00000001 " RBSIZ("00004000"));
	connection_expect(c, ITS_RESPPROP
			  DISPOSED("00000000", "00000000", "00000001"));
	for (;;) {
		if (connection_receive(c, &m, 10000) != MESSAGE || m.len < 16)
			fail("the server does not say that its Receives have grown");
		/* the last octet of the header type */
		if (m.data[15] == update)
			return;
		if (m.data[15] != request)
			fail("unexpected header type %02x", m.data[15]);
		connection_say(c, RESPPROP DISPOSED("00000000", "00000000", "00000000"),
			       its_xid);
	}
}

/**
 * withhold - ask for smaller Receives, and leave the server's REQUEST without an answer
 *
 * The server must have inline_min=12288, a larger inline_size, and no shared Receives.
 *
 * Return: never; waits until the process is killed.
 */
int withhold(void)
{
	struct connection *c = ready_to_change();

	let_it_grow(c);
	connection_expect(c, ITS_REQPROP "00000000 ");
	connection_say(c, REQPROP "00000001 " RBSIZ("00003000"));
	connection_expect(c, ITS_RESPPROP
			  DISPOSED("00000000", "00000000", "00000001"));
	printf("withholding\n");
	for (;;)
		pause();
}

const struct test change_tests[] = {
	{ "changes: what becomes of requests", requests },
	{ "changes: 32 properties, and 33", as_many_as_a_word_has },
	{ "changes: by a peer that did not say so", not_said },
	{ "changes: before properties", before_properties },
	{ "changes: malformed messages", malformed },
	{ "changes: updates", updates },
	{ "changes: a wish, and its end", wish },
	{ "changes: a request refused as unknown", wish_refused },
	{ "changes: answers that lie", answers_that_lie },
	{ "changes: an answer to nothing", answer_to_nothing },
	{ "changes: the wrong way", wrong_way },
	{ },
};
