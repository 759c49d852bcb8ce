// SPDX-License-Identifier: GPL-2.0
/*
 * Cases with a server that has only version 1, and shows that in different ways. The client
 * must then speak version 1.
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

/* BAD_XDR, INVAL_OPTION and INVAL_HTYPE, as the drafts of 2016 and 2022 encode them */
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

/* The server has neither version, so the mount fails. */
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

/* One silence may be the network's fault, so the client asks again. */
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

static void hang_up(unsigned int times)
{
	struct connection *c;
	struct call call;

	while (times--) {
		c = silent_client();
		expect_connprop(c);
		connection_close(c);
	}
	c = greeted();
	if (!serve_until(c, READ, &call))
		fail("the client went by itself");
	reply(c, &call);
	as_expected = true;
	serve(c);
}

static void hangs_up_once(void)
{
	hang_up(1);
}

/* The client knows that this server speaks version 2, so it asks for version 2 again. */
static void hangs_up_often(void)
{
	struct call call;

	connection_close(at_read(&call));
	hang_up(3);
}

/* Answer the question in each dialect of version 2 with the same malformed message. */
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

/*
 * The server answers a Call with this error. The client must not try another dialect of
 * version 2.
 */
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
	{ "survives-both-hangs-up-often", hangs_up_often },
	{ "fails-v1-and-refuses", older_and_refuses },
	{ },
};
