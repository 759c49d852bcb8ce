// SPDX-License-Identifier: GPL-2.0
/* Cases with bad Replies: malformed, contradictory, repeated, or to unknown RPCs */
#include <stdio.h>
#include <string.h>

#include "server.h"

/* The client's error as a responder, which grants 8 credits */
#define REFUSED_BY_CLIENT(vers, code) \
	"%1$08x " vers " 00000008 00000004 00000001 " code

/* Skip Calls that arrive before the error. */
static void expect_error(struct connection *c, const struct call *call,
			 const char *fmt)
{
	static struct octets o;
	struct message m;

	octets_format(&o, fmt, call->xid);
	do {
		if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
			fail("no answer");
	} while (word_at(m.data, 3) != 4);
	if (octets_match(&o, m.data, m.len))
		return;
	octets_print("expected", o.data, o.mask, o.len);
	octets_print("got", m.data, NULL, m.len);
	fail("another answer");
}

/*
 * Messages of unknown direction. The client refuses them like Calls, and still waits
 * for its Reply.
 */
static const struct {
	const char	*message;
	const char	*answer;
} puzzles[] = {
	{ "%1$08x " VERS "%2$08x 00000000",
	  REFUSED_BY_CLIENT("00000002", "00000002") },
	{ "%1$08x " VERS "%2$08x 00000006 00000000",
	  REFUSED_BY_CLIENT("00000002", "00000003") },
	{ "%1$08x " VERS "%2$08x 00000003 00000001 " NOTHING,
	  REFUSED_BY_CLIENT("00000002", "00000003") },
	{ "%1$08x " VERS "%2$08x ffffffff 00000001 " NOTHING,
	  REFUSED_BY_CLIENT("00000002", "00000003") },
	{ "%1$08x " VERS "%2$08x 00000005 00000000 " PROPERTIES,
	  REFUSED_BY_CLIENT("00000002", "00000002") },
};

static void puzzle(void)
{
	struct call call;
	struct connection *c = at_read(&call);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(puzzles); i++) {
		connection_say(c, puzzles[i].message, call.xid, grant);
		expect_error(c, &call, puzzles[i].answer);
	}
	as_expected = true;
	/* Close the connection, so that the client sends the skipped Calls again. */
	connection_close(c);
}

/* Replies to a READ that must make the client close the connection */

#define READ_RESULTS	"%1$08x 00000001 00000000 00000000 00000000 00000000 " \
			"00000000 00000000 %4$08x 00000000 %4$08x "
#define SEGMENT		"%3$08x %4$08x %5$016lx "

static const char * const bad_replies[] = {
	/* version */
	"%1$08x 00000000 %2$08x 00000000 00000001 " WRITTEN READ_RESULTS,
	"%1$08x 00000001 %2$08x 00000000 " END END END READ_RESULTS,
	"%1$08x 00000003 %2$08x 00000000 00000001 " WRITTEN READ_RESULTS,
	"%1$08x ffffffff %2$08x 00000000 00000001 " WRITTEN READ_RESULTS,
	/* a Call marked as a response; two XIDs */
	REPLY_TO NOTHING "%1$08x 00000000 00000002 00000000",
	REPLY_TO NOTHING "00000000 00000001 00000000 00000000",
	/* a Read list */
	REPLY_TO END NEXT "00000008 " SEGMENT END END END READ_RESULTS,
	/* longer than the chunk; 2^32 together; beyond 2^64 */
	REPLY_TO END END NEXT "00000001 %3$08x 00100000 %5$016lx " END END
		READ_RESULTS,
	REPLY_TO END END NEXT "00000002 %3$08x ffffffff %5$016lx "
		"%3$08x 00000001 %5$016lx " END END READ_RESULTS,
	REPLY_TO END END NEXT "00000001 %3$08x %4$08x ffffffffffffffff "
		END END READ_RESULTS,
	/* two Write chunks; more segments than there are; a bad boolean */
	REPLY_TO END END NEXT "00000001 " SEGMENT NEXT "00000001 " SEGMENT
		END END READ_RESULTS,
	REPLY_TO END END NEXT "ffffffff " SEGMENT END END READ_RESULTS,
	REPLY_TO END END NEXT "10000000 " SEGMENT END END READ_RESULTS,
	REPLY_TO END END "00000002 00000001 " SEGMENT END END READ_RESULTS,
	/*
	 * an external Reply: in a chunk that nobody offered; without a chunk; with an
	 * inline Reply
	 */
	"%1$08x " VERS "%2$08x 00000001 " REPLY_FLAGS END END END
		NEXT "00000001 " SEGMENT,
	"%1$08x " VERS "%2$08x 00000001 " REPLY_FLAGS NOTHING,
	"%1$08x " VERS "%2$08x 00000001 " REPLY_FLAGS WRITTEN READ_RESULTS,
	/* a second CONNPROP */
	"%1$08x " VERS "%2$08x 00000005 " REPLY_FLAGS PROPERTIES,
	/* malformed errors: no code; too few words; too many words */
	"%1$08x " VERS "%2$08x 00000004 " REPLY_FLAGS "00000000",
	"%1$08x " VERS "%2$08x 00000004 " REPLY_FLAGS "00000007 00000001",
	"%1$08x " VERS "%2$08x 00000004 " REPLY_FLAGS "00000009 00000000",
	"%1$08x " VERS "%2$08x 00000004 " REPLY_FLAGS
		"00000001 00000003 00000002",
	"%1$08x " VERS "%2$08x 00000004 00000000 00000009",
	NULL
};

#define REPLY_1_TO	"%1$08x " VERS_1 "%2$08x 00000000 "
#define WRITTEN_1	END NEXT "00000001 " SEGMENT END END
#define NOMSG_1		"%1$08x " VERS_1 "%2$08x 00000001 "
#define ERROR_1_TO	"%1$08x " VERS_1 "%2$08x 00000004 "

static const char * const bad_replies_1[] = {
	/* version */
	"%1$08x 00000000 %2$08x 00000000 " WRITTEN_1 READ_RESULTS,
	REPLY_TO WRITTEN READ_RESULTS,
	"%1$08x 00000003 %2$08x 00000000 " WRITTEN_1 READ_RESULTS,
	"%1$08x ffffffff %2$08x 00000000 " WRITTEN_1 READ_RESULTS,
	/* header types: MSGP, DONE, unknown ones */
	"%1$08x " VERS_1 "%2$08x 00000002 00000004 00000008 " WRITTEN_1
		READ_RESULTS,
	"%1$08x " VERS_1 "%2$08x 00000003",
	"%1$08x " VERS_1 "%2$08x 00000005 " WRITTEN_1 READ_RESULTS,
	"%1$08x " VERS_1 "%2$08x ffffffff " WRITTEN_1 READ_RESULTS,
	/* a bad direction; two XIDs */
	REPLY_1_TO NO_LISTS "%1$08x 00000002 00000000",
	REPLY_1_TO NO_LISTS "%1$08x ffffffff 00000000",
	REPLY_1_TO NO_LISTS "00000000 00000001 00000000 00000000",
	/* a Read list */
	REPLY_1_TO NEXT "00000008 " SEGMENT NO_LISTS READ_RESULTS,
	/* longer than the chunk; 2^32 together; beyond 2^64 */
	REPLY_1_TO END NEXT "00000001 %3$08x 00100000 %5$016lx " END END
		READ_RESULTS,
	REPLY_1_TO END NEXT "00000002 %3$08x ffffffff %5$016lx "
		"%3$08x 00000001 %5$016lx " END END READ_RESULTS,
	REPLY_1_TO END NEXT "00000001 %3$08x %4$08x ffffffffffffffff "
		END END READ_RESULTS,
	/* two Write chunks; more segments than there are; a bad boolean */
	REPLY_1_TO END NEXT "00000001 " SEGMENT NEXT "00000001 " SEGMENT
		END END READ_RESULTS,
	REPLY_1_TO END NEXT "ffffffff " SEGMENT END END READ_RESULTS,
	REPLY_1_TO END "00000002 00000001 " SEGMENT END END READ_RESULTS,
	/*
	 * an external Reply: in a chunk that nobody offered; without a chunk; with an
	 * inline Reply
	 */
	NOMSG_1 END END NEXT "00000001 " SEGMENT,
	NOMSG_1 NO_LISTS,
	NOMSG_1 WRITTEN_1 READ_RESULTS,
	/* malformed errors */
	ERROR_1_TO,
	ERROR_1_TO "00000000",
	ERROR_1_TO "00000003",
	ERROR_1_TO "00000002 00000000",
	ERROR_1_TO "00000001 00000001",
	ERROR_1_TO "00000001 00000002 00000001",
	NULL
};

static void say_about(struct connection *c, const struct call *call,
		      const char *fmt)
{
	connection_say(c, fmt, call->xid, grant, call->segments[0].handle,
		       read_count(call), call->segments[0].offset);
}

static void reply_badly(void)
{
	const char * const *bad = version == 1 ? bad_replies_1 : bad_replies;
	struct connection *c;
	struct call call;
	unsigned int i;

	for (i = 0; bad[i]; i++) {
		c = at_read(&call);
		if (!call.has_write)
			fail("a READ without a Write chunk");
		printf("# bad Reply %u\n", i);
		say_about(c, &call, bad[i]);
		expect_gone(c);
	}
}

/* Cut a Reply inside the header, or inside the first two words of the RPC message. */
static void cut_replies(void)
{
	static struct octets o;
	struct connection *c;
	unsigned int len = 0, end;
	struct call call;

	do {
		c = at_read(&call);
		put_header(&o, &call);
		end = o.len + 8;
		put_rpc(&o, &call);
		connection_send(c, o.data, len, 0);
		expect_gone(c);
		len++;
		/* A cut after 16 octets leaves no flags: see puzzles. */
		len += version == 2 && len == 16;
	} while (len < end);
}

/* Longer than the client's Receives */
static void reply_too_long(void)
{
	static unsigned char message[12288 + 1];
	struct call call;
	struct connection *c = at_read(&call);

	connection_send(c, message, sizeof(message), 0);
	expect_gone(c);
}

/* Replies to unknown RPCs */

static void reply_to_unknown(void)
{
	struct call call;
	struct connection *c = at_read(&call);
	unsigned int i;

	for (i = 0; i < 500; i++)
		say(c, "%08x " VERS "%08x 00000000 " REPLY_FLAGS NOTHING
		    "%08x " RPC_NULL_REPLY, ~call.xid - i, grant,
		    ~call.xid - i);
	say(c, "%08x " VERS "%08x 00000004 " REPLY_FLAGS "00000009", ~call.xid,
	    grant);
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/* The second Reply comes too late for its RPC, or ends the connection. */
static void reply_twice(void)
{
	static struct octets o;
	struct call call;
	struct connection *c = at_read(&call);

	build_reply(&o, &call);
	write_data(c, &call);
	connection_send(c, o.data, o.len, 0);
	connection_send(c, o.data, o.len, 0);
	as_expected = true;
	serve(c);
}

/* Write a READ's Reply with a few data, inline. */
static void build_short_read(struct octets *o, const struct call *call)
{
	octets_format(o, "%08x " VERS "%08x 00000000 " REPLY_FLAGS NOTHING
		      "%08x 00000001 00000000 00000000 00000000 00000000 "
		      "00000000 00000000 00000008 00000000 00000008 ",
		      call->xid, grant, call->xid);
	memcpy(o->data + o->len, DATA, strlen(DATA));
	o->len += strlen(DATA);
}

/* Leave the Write chunk alone, and don't invalidate it; the client has to. */
static void leave_the_chunk(void)
{
	static struct octets o;
	struct connection *c;
	struct call call;
	unsigned int i;

	c = greeted();
	for (i = 0; i < 20; i++) {
		if (!serve_until(c, READ, &call))
			fail("too few READs");
		if (!call.has_write)
			fail("a READ without a Write chunk");
		build_short_read(&o, &call);
		connection_send(c, o.data, o.len, 0);
	}
	as_expected = true;
	serve(c);
}

/*
 * Answer a Call of a lost connection on the next one, together with the CONNPROP. The
 * client can't have sent the Call there yet. The Reply must suit the Call that comes
 * next, too, so it has a few data, inline.
 */
static void reply_to_earlier_connection(void)
{
	static struct octets answer, o;
	const struct octets *both[] = { &answer, &o };
	struct connection *c;
	struct call call;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		c = at_read(&call);
		connection_close(c);
		c = silent_client();
		expect_connprop(c);
		build_connprop_answer(&answer);
		build_short_read(&o, &call);
		connection_send_chain(c, both, ARRAY_SIZE(both));
		if (serve_until(c, READ, &call))
			reply(c, &call);
		connection_close(c);
	}
	as_expected = true;
	serve(greeted());
}

/*
 * Send more data than were asked for, without using the chunk, so that they fit
 * nowhere.
 */
static void reply_beyond_buffers(void)
{
	struct call call;
	struct connection *c = at_read(&call);
	static struct octets o;

	octets_format(&o, "%08x " VERS "%08x 00000000 " REPLY_FLAGS NOTHING
		      "%08x 00000001 00000000 00000000 00000000 00000000 "
		      "00000000 00000000 00002000 00000000 ffffffff",
		      call.xid, grant, call.xid);
	connection_send(c, o.data, 12288, 0);
	as_expected = true;
	serve(c);
}

/* The Reply chunk holds a Reply to another RPC, or no Reply. */
static void external_reply_of_another(void)
{
	static const int octets[] = { 0, 3, 7 };
	struct connection *c;
	struct call call;
	unsigned int i = 0;

	while (i < ARRAY_SIZE(octets)) {
		c = greeted();
		if (!serve_until(c, READDIR, &call))
			continue;
		if (!call.has_reply)
			fail("READDIR without a Reply chunk");
		reply_in_chunk(c, &call, octets[i++], false);
		expect_gone(c);
	}
	as_expected = true;
	serve(greeted());
}

#define NEEDED	0x20000

static unsigned int room_for_reply(const struct call *call)
{
	unsigned int i, room = 0;

	for (i = 0; call->has_reply && i < call->nsegs; i++)
		room += call->segments[i].length;
	return room;
}

/*
 * Ask for more room than the client's buffers have. A Call that was refused on an
 * earlier connection offers the room from the start.
 */
static bool at_long_reply(struct connection *c, struct call *call)
{
	uint32_t xid;

	if (!serve_until(c, READDIR, call))
		return false;
	if (room_for_reply(call) >= NEEDED)
		return true;
	xid = call->xid;
	say(c, "%08x " VERS "%08x 00000004 " REPLY_FLAGS "00000008 %08x", xid,
	    grant, NEEDED);
	if (!serve_until(c, READDIR, call) || call->xid != xid)
		fail("the Call does not come again");
	if (room_for_reply(call) < NEEDED)
		fail("the client offers only %u octets", room_for_reply(call));
	return true;
}

/*
 * The client takes the start of a long Reply, if it is a Reply to the Call. This one
 * claims more octets than were written.
 */
static void long_external_reply(void)
{
	static const int octets[] = { 3, 7, -1 };
	struct connection *c;
	struct call call;
	unsigned int i = 0;

	while (i < ARRAY_SIZE(octets)) {
		c = greeted();
		if (!at_long_reply(c, &call))
			continue;
		reply_in_chunk(c, &call, octets[i], true);
		if (octets[i++] >= 0)
			expect_gone(c);
	}
	as_expected = true;
	serve(c);
}

/*
 * The client does not hurry from one connection to the next, though each had Replies.
 * Between two connections, it leaves a second, less up to a third.
 */
static void hang_up_at_reads(void)
{
	enum { TIMES = 6, SPACE_MS = 600 };
	int64_t start = 0, took;
	struct call call;
	unsigned int i;

	for (i = 0; i < TIMES; i++) {
		connection_close(at_read(&call));
		if (!i)
			start = now_ms();
	}
	took = now_ms() - start;
	/* The second connection may come at once, because mounting takes its time. */
	if (took < (TIMES - 2) * SPACE_MS)
		fail("%d connections within %lld ms", TIMES - 1,
		     (long long)took);
	as_expected = true;
	serve(greeted());
}

const struct test reply_cases[] = {
	{ "survives-external-reply-of-another", external_reply_of_another },
	{ "survives-v1-external-reply-of-another", external_reply_of_another },
	{ "survives-long-external-reply", long_external_reply },
	{ "survives-hang-ups-at-reads", hang_up_at_reads },
	{ "survives-bad-replies", reply_badly },
	{ "survives-chunk-that-is-left", leave_the_chunk },
	{ "survives-cut-replies", cut_replies },
	{ "survives-puzzles", puzzle },
	{ "survives-reply-too-long", reply_too_long },
	{ "survives-unknown-xids", reply_to_unknown },
	{ "survives-reply-twice", reply_twice },
	{ "survives-reply-to-earlier-connection",
	  reply_to_earlier_connection },
	{ "errs-reply-beyond-buffers", reply_beyond_buffers },
	{ "survives-v1-bad-replies", reply_badly },
	{ "survives-v1-cut-replies", cut_replies },
	{ "survives-v1-unknown-xids", reply_to_unknown },
	{ "survives-v1-reply-twice", reply_twice },
	{ },
};
