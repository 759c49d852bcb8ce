// SPDX-License-Identifier: GPL-2.0
/* Cases that cut a message to each shorter length */
#include "client.h"

static void cut(struct connection *(*connect)(void), const char *text,
		bool answer_closes)
{
	static struct octets whole;
	struct connection *c = NULL;
	unsigned int len;

	octets_format(&whole, "%s", text);
	in_this_version(&whole);
	for (len = 0; len < whole.len; len++) {
		/* Such a message has no reliable XID, so the server can't answer. */
		bool silent = len % 4 || len < 16;

		if (!c)
			c = connect();
		connection_send(c, whole.data, len, 0);
		if (!silent)
			expect(c, BAD_XDR);
		if (!silent && !answer_closes)
			continue;
		connection_expect_closed(c);
		c = NULL;
	}
}

static void cut_connprop(void)
{
	cut(first_message, CONNPROP PROPERTIES, true);
}

static void cut_first_call(void)
{
	cut(first_message, CALL NOTHING XID, false);
}

static void cut_call(void)
{
	cut(ready, CALL END NEXT "00000024 " SEG END NEXT "00000002 " SEG SEG
	    END NEXT "00000001 " SEG XID, false);
}

static void cut_external_call(void)
{
	cut(ready, CALL_NOMSG END NEXT "00000000 " SEG END NEXT "00000001 " SEG
	    END NEXT "00000001 " SEG, false);
}

static void cut_error(void)
{
	static struct octets whole;
	struct connection *c;
	unsigned int len;

	octets_format(&whole, ERROR REPLY_FLAGS "00000007 00000001 00001000");
	in_this_version(&whole);
	for (len = 0; len <= whole.len; len++) {
		c = ready();
		connection_send(c, whole.data, len, 0);
		connection_expect_closed(c);
	}
}

/* The server knows only the number of this obsolete type, and looks at nothing else. */
static void cut_msgp(void)
{
	cut(ready, CALL_1_MSGP "00000004 00000008 " NO_LISTS XID, false);
}

const struct test cut_tests[] = {
	{ "cut: CONNPROP, to every length", cut_connprop },
	{ "cut: the first Call, to every length", cut_first_call },
	{ "cut: a Call with all chunks, to every length", cut_call },
	{ "cut: an external Call, to every length", cut_external_call },
	{ "cut: an error, to every length", cut_error },
	{ },
};

const struct test cut_1_tests[] = {
	{ "cut: the first Call, to every length", cut_first_call },
	{ "cut: a Call with all chunks, to every length", cut_call },
	{ "cut: an external Call, to every length", cut_external_call },
	{ "cut: an error, to every length", cut_error },
	{ "cut: MSGP, to every length", cut_msgp },
	{ },
};
