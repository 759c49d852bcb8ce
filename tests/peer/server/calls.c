// SPDX-License-Identifier: GPL-2.0
/*
 * Cases with Calls from the server that have chunks. The client fetches the chunks of a good
 * Call, and then refuses the Call, because no program there handles it. For a bad Call, the
 * client sends an error or closes the connection.
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

/* Formats: handle and offset of memory that starts with an RPC message */
#define LENT(len)	"%1$08x " len " %2$016lx "
#define AT(position)	NEXT position " "

/* Calls that the client fetches, good and bad, and Calls that it does not fetch */
static const struct {
	const char	*call;
	const char	*answer;
} calls[] = {
	/* one chunk, in the middle or at the end; two chunks */
	{ CALLED END AT("00000014") LENT("00000100") NO_LISTS XID_CALLED RPC,
	  NOT_WANTED },
	{ CALLED END AT("00000028") LENT("00000fff") NO_LISTS XID_CALLED RPC,
	  NOT_WANTED },
	{ CALLED END AT("00000014") LENT("00000003") AT("0000001c")
	  LENT("00000100") NO_LISTS XID_CALLED RPC, NOT_WANTED },
	/* the whole message, in one segment or two */
	{ CALLED_NOMSG END AT("00000000") LENT("00000028") NO_LISTS,
	  NOT_WANTED },
	{ CALLED_NOMSG END AT("00000000") LENT("00000028") AT("00000000")
	  LENT("00000100") NO_LISTS, NOT_WANTED },
	/* another RPC's message, or a Reply */
	{ CALLED_NOMSG END AT("00000000") "%1$08x 00000028 %3$016lx " NO_LISTS,
	  INVALID },
	{ CALLED_NOMSG END AT("00000000") "%1$08x 00000028 %4$016lx " NO_LISTS,
	  INVALID },
	/* outside the message; overlapping; longer than any Call */
	{ CALLED END AT("0000002c") LENT("00000100") NO_LISTS XID_CALLED RPC,
	  INVALID },
	{ CALLED END AT("00000014") LENT("00000100") AT("00000018")
	  LENT("00000100") NO_LISTS XID_CALLED RPC, INVALID },
	{ CALLED END AT("00000028") LENT("7ffffff0") NO_LISTS XID_CALLED RPC,
	  NOT_WANTED },
	{ CALLED END AT("00000028") LENT("00110000") NO_LISTS XID_CALLED RPC,
	  NOT_WANTED },
	/* room for the largest Replies, and for more than there is */
	{ CALLED END END NEXT "00000001 " LENT("00100000") END END XID_CALLED
	  RPC, NOT_WANTED },
	{ CALLED END END END NEXT "00000001 " LENT("ffffffff") XID_CALLED RPC,
	  NOT_WANTED },
	{ CALLED END END NEXT "00000001 " LENT("ffffffff") NEXT "00000001 "
	  LENT("ffffffff") END NEXT "00000001 " LENT("ffffffff") XID_CALLED RPC,
	  NOT_WANTED },
	/* all kinds of chunks */
	{ CALLED END AT("00000028") LENT("00000100") END
	  NEXT "00000001 " LENT("00010000") END
	  NEXT "00000001 " LENT("00010000") XID_CALLED RPC, NOT_WANTED },
};

/* Lend an RPC message, another RPC's message and a Reply, 4096 octets apart. */
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
	/* As many Calls as the client grants, with the largest chunks that it takes */
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

/* an unknown handle; more than the memory has; an unknown handle at position zero */
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
