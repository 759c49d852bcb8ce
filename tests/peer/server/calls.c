// SPDX-License-Identifier: GPL-2.0
/*
 * Calls with chunks, of a server whose client takes those, but waits for none: it
 * fetches them, and says so then. Those that are wrong it refuses, or takes for what
 * they are.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

#define XID_CALLED	"0badca11 "
#define CALLED		XID_CALLED VERS REQUEST "00000000 " CALL_FLAGS
#define CALLED_NOMSG	XID_CALLED VERS REQUEST "00000001 " CALL_FLAGS
#define ANSWERED(code)	XID_CALLED VERS "00000008 00000004 " REPLY_FLAGS code
#define RPC		" 00000000 00000002 40000000 00000001 00000000 " \
			"00000000 00000000 00000000 00000000"
#define INVALID		ANSWERED("00000002")
#define NOT_WANTED	ANSWERED("00000009")

/* Formats: handle and offset of memory that has an RPC message at its start */
#define LENT(len)	"%1$08x " len " %2$016lx "
#define AT(position)	NEXT position " "

/* What is fetched, and found to be right or wrong; what is not even fetched */
static const struct {
	const char	*call;
	const char	*answer;
} calls[] = {
	/* one chunk, in the middle or at the end; two; none of it */
	{ CALLED END AT("00000014") LENT("00000100") NO_LISTS XID_CALLED RPC,
	  NOT_WANTED },
	{ CALLED END AT("00000028") LENT("00000fff") NO_LISTS XID_CALLED RPC,
	  NOT_WANTED },
	{ CALLED END AT("00000014") LENT("00000003") AT("0000001c")
	  LENT("00000100") NO_LISTS XID_CALLED RPC, NOT_WANTED },
	/* all of the message, in one segment or two */
	{ CALLED_NOMSG END AT("00000000") LENT("00000028") NO_LISTS,
	  NOT_WANTED },
	{ CALLED_NOMSG END AT("00000000") LENT("00000028") AT("00000000")
	  LENT("00000100") NO_LISTS, NOT_WANTED },
	/* what is read there is no Call: it is a Reply, or another one's */
	{ CALLED_NOMSG END AT("00000000") "%1$08x 00000028 %3$016lx " NO_LISTS,
	  INVALID },
	{ CALLED_NOMSG END AT("00000000") "%1$08x 00000028 %4$016lx " NO_LISTS,
	  INVALID },
	/* outside the message; one inside another; longer than any */
	{ CALLED END AT("0000002c") LENT("00000100") NO_LISTS XID_CALLED RPC,
	  INVALID },
	{ CALLED END AT("00000014") LENT("00000100") AT("00000018")
	  LENT("00000100") NO_LISTS XID_CALLED RPC, INVALID },
	{ CALLED END AT("00000028") LENT("7ffffff0") NO_LISTS XID_CALLED RPC,
	  NOT_WANTED },
	{ CALLED END AT("00000028") LENT("00110000") NO_LISTS XID_CALLED RPC,
	  NOT_WANTED },
	/* room for the largest Replies, and more than there are addresses for */
	{ CALLED END END NEXT "00000001 " LENT("00100000") END END XID_CALLED
	  RPC, NOT_WANTED },
	{ CALLED END END END NEXT "00000001 " LENT("ffffffff") XID_CALLED RPC,
	  NOT_WANTED },
	{ CALLED END END NEXT "00000001 " LENT("ffffffff") NEXT "00000001 "
	  LENT("ffffffff") END NEXT "00000001 " LENT("ffffffff") XID_CALLED RPC,
	  NOT_WANTED },
	/* everything at once */
	{ CALLED END AT("00000028") LENT("00000100") END
	  NEXT "00000001 " LENT("00010000") END
	  NEXT "00000001 " LENT("00010000") XID_CALLED RPC, NOT_WANTED },
};

/* An RPC message, another one's, and a Reply, 4096 octets from one another */
static void lend(struct connection *c, struct memory *m)
{
	static const char * const messages[] = {
		XID_CALLED RPC, "0badca12" RPC, XID_CALLED "00000001" RPC,
	};
	static struct octets o;
	unsigned int i;

	memory_expose(c, m, 65536, IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE);
	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		octets_format(&o, "%s", messages[i]);
		memcpy(m->data + i * 4096, o.data, o.len);
	}
}

static void call_with(struct connection *c, const struct memory *m,
		      const char *fmt)
{
	uint64_t at = (uintptr_t)m->data;

	connection_say(c, fmt, m->mr->rkey, at, at + 4096, at + 8192);
}

static void call_with_chunks(void)
{
	struct connection *c = greeted();
	struct memory lent;
	struct call call;
	unsigned int i, n;

	if (!serve_until(c, FSINFO, &call))
		fail("the client went by itself");
	lend(c, &lent);
	for (i = 0; i < 4 * ARRAY_SIZE(calls); i++) {
		n = i % ARRAY_SIZE(calls);
		printf("# Call %u\n", n);
		call_with(c, &lent, calls[n].call);
		connection_expect(c, "%s", calls[n].answer);
	}
	/* As many as are granted, with as much as may be read and lent */
	for (i = 0; i < 8; i++)
		call_with(c, &lent, CALLED END AT("00000028") LENT("0000f000")
			  END END NEXT "00000001 " LENT("ffffffff") XID_CALLED
			  RPC);
	for (i = 0; i < 8; i++)
		connection_expect(c, NOT_WANTED);
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/* A handle that is none; one that may not be read; more than it is for */
static const char * const unreadable[] = {
	CALLED END AT("00000028") SEG NO_LISTS XID_CALLED RPC,
	CALLED END AT("00000028") LENT("00010004") NO_LISTS XID_CALLED RPC,
	CALLED_NOMSG END AT("00000000") SEG NO_LISTS,
};

static void call_with_bad_handles(void)
{
	struct connection *c;
	struct memory lent;
	struct call call;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unreadable); i++) {
		c = at_read(&call);
		lend(c, &lent);
		printf("# bad handle %u\n", i);
		call_with(c, &lent, unreadable[i]);
		expect_gone(c);
	}
	as_expected = true;
	serve(greeted());
}

const struct test call_cases[] = {
	{ "survives-genl-calls", call_with_chunks },
	{ "survives-genl-bad-handles", call_with_bad_handles },
	{ },
};
