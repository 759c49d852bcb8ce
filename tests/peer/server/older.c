// SPDX-License-Identifier: GPL-2.0
/*
 * How a server may show that it has only version 1: the client has to speak that
 * one, and is then served.
 */
#include "server.h"

static void expect_version_1(struct connection *c)
{
	static struct octets o;
	struct message m;
	struct call call;

	octets_format(&o, "xxxxxxxx " VERS_1 "xxxxxxxx 00000000 " NO_LISTS
		      "xxxxxxxx " RPC_NULL);
	if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
		fail("the client says nothing");
	if (!octets_match(&o, m.data, m.len)) {
		octets_print("got", m.data, NULL, m.len);
		fail("not a Call of version 1");
	}
	parse_call(&m, &call);
	reply(c, &call);
	as_expected = true;
	serve(c);
}

static void older_by_error(const char *error)
{
	struct connection *c = silent_client();

	expect_connprop(c);
	connection_say(c, "00000001 %s", error);
	expect_version_1(c);
}

/* Without the word of flags, and with it: RFC 8166, 5; v2-09, 5.3.3 */
static void older_says_so(void)
{
	older_by_error(VERS "00000020 00000004 00000001 00000001 00000001");
}

static void older_says_so_in_version_2(void)
{
	older_by_error(VERS "00000020 00000004 " REPLY_FLAGS
		       "00000001 00000001 00000001");
}

static void older_says_so_in_version_1(void)
{
	older_by_error(VERS_1 "00000020 00000004 00000001 00000001 00000001");
}

static void older_of_another_text(void)
{
	older_by_error(VERS "00000020 00000004 " REPLY_FLAGS "00000003");
}

/* As the 2016 and 2022 texts write BAD_XDR, INVAL_OPTION and INVAL_HTYPE */
static void older_of_2016(void)
{
	older_by_error(VERS "00000020 00000004 00000002");
}

static void older_of_2016_option(void)
{
	older_by_error(VERS "00000020 00000004 00000003");
}

static void older_of_2022(void)
{
	older_by_error(VERS "00000020 00000004 00000004");
}

/* Neither version: there is nothing to be tried again and again. */
static void older_and_refuses(void)
{
	unsigned int connections;
	struct connection *c;

	for (connections = 1;; connections++) {
		c = silent_client();
		expect_connprop(c);
		connection_say(c, "00000001 " VERS "00000020 00000004 "
			       REPLY_FLAGS "00000003");
		connection_expect(c, "xxxxxxxx " VERS_1 "xxxxxxxx 00000000 "
				  NO_LISTS "xxxxxxxx " RPC_NULL);
		connection_say(c, "00000002 " VERS_1 "00000020 00000004 "
			       "00000001 00000002 00000002");
		expect_gone(c);
		as_expected = connections == 1;
	}
}

/* Once may be the network's fault: the client asks again. */
static void older_and_silent(void)
{
	struct connection *c;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		c = silent_client();
		expect_connprop(c);
		expect_gone(c);
	}
	expect_version_1(silent_client());
}

static void older_and_hangs_up(void)
{
	struct connection *c;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		c = silent_client();
		expect_connprop(c);
		connection_close(c);
	}
	expect_version_1(silent_client());
}

static void hangs_up_once(void)
{
	struct connection *c = silent_client();
	struct call call;

	expect_connprop(c);
	connection_close(c);
	c = greeted();
	if (!serve_until(c, READ, &call))
		fail("the client went by itself");
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/* What is no answer in any dialect, to each of them */
static void older_and_malformed(const char *answer)
{
	struct connection *c;
	struct message m;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		c = silent_client();
		if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE ||
		    word_at(m.data, 1) != 2 || word_at(m.data, 3) != 5)
			fail("not a question in version 2");
		connection_say(c, "%s", answer);
		expect_gone(c);
	}
	expect_version_1(silent_client());
}

static void older_says_half(void)
{
	older_and_malformed("00000001 " VERS "00000020 00000005");
}

static void older_says_version_3(void)
{
	older_and_malformed("00000001 00000003 00000020 00000004 "
			    "00000001 00000003 00000003");
}

/* It says so when it gets a Call: no other text of version 2 is worth a connection. */
static void older_says_so_late(void)
{
	struct connection *c = silent_client();

	expect_connprop(c);
	connection_expect(c, "xxxxxxxx " VERS "xxxxxxxx 00000000 " CALL_FLAGS
			  NOTHING "xxxxxxxx " RPC_NULL);
	connection_say(c, "00000001 " VERS "00000020 00000004 "
		       "00000001 00000001 00000001");
	expect_gone(c);
	expect_version_1(silent_client());
}

const struct test older_cases[] = {
	{ "survives-v1-and-silent", older_and_silent },
	{ "survives-v1-and-hangs-up", older_and_hangs_up },
	{ "survives-v1-says-so", older_says_so },
	{ "survives-v1-says-so-in-version-2", older_says_so_in_version_2 },
	{ "survives-v1-says-so-in-version-1", older_says_so_in_version_1 },
	{ "survives-v1-of-another-text", older_of_another_text },
	{ "survives-v1-of-2016", older_of_2016 },
	{ "survives-v1-of-2016-option", older_of_2016_option },
	{ "survives-v1-of-2022", older_of_2022 },
	{ "survives-v1-all-says-so-late", older_says_so_late },
	{ "survives-v1-all-says-half", older_says_half },
	{ "survives-v1-all-says-version-3", older_says_version_3 },
	{ "survives-both-hangs-up-once", hangs_up_once },
	{ "fails-v1-and-refuses", older_and_refuses },
	{ },
};
