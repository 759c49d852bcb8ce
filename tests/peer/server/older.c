// SPDX-License-Identifier: GPL-2.0
/*
 * What a server of an older version may do: the client has to speak that one.
 */
#include "server.h"

static void expect_version_1(struct connection *c)
{
	connection_expect(c, "xxxxxxxx 00000001 xxxxxxxx 00000000 "
			  END END END "xxxxxxxx " RPC_NULL);
	as_expected = true;
	for (;;)
		next_client(&default_options);
}

static void older_by_error(const char *error)
{
	struct connection *c = next_client(&default_options);

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
	older_by_error("00000001 00000020 00000004 "
		       "00000001 00000001 00000001");
}

static void older_of_another_text(void)
{
	older_by_error(VERS "00000020 00000004 " REPLY_FLAGS "00000003");
}

static void older_and_silent(void)
{
	struct connection *c = next_client(&default_options);

	expect_connprop(c);
	expect_gone(c);
	expect_version_1(next_client(&default_options));
}

static void older_and_hangs_up(void)
{
	struct connection *c = next_client(&default_options);

	expect_connprop(c);
	connection_close(c);
	expect_version_1(next_client(&default_options));
}

const struct test older_cases[] = {
	{ "older-says-so", older_says_so },
	{ "older-says-so-in-version-2", older_says_so_in_version_2 },
	{ "older-says-so-in-version-1", older_says_so_in_version_1 },
	{ "older-of-another-text", older_of_another_text },
	{ "older-and-silent", older_and_silent },
	{ "older-and-hangs-up", older_and_hangs_up },
	{ },
};
