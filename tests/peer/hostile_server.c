// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile server, for one client. It answers as much of NFS version 3 as a
 * mount and the reading of "file", which repeats DATA, take; and
 * somewhere on the way it does what the case says.
 *
 * The first word of a case's name says what the client's user has to see:
 *
 *	survives	all that was read is right, if on another connection
 *	errs		one read fails, the next ones do not
 *	killed		a reader that waits can be killed; SIGUSR1 says that it was
 *	fails		the mount fails, and does not take for ever
 *
 * SIGTERM asks for the verdict.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "messages.h"
#include "peer.h"

#define DATA		"hostile\n"
#define FILE_LEN	(96 * 16384)
#define READ_MAX	32768

/* Procedures */
enum {
	GETATTR		= 1,
	LOOKUP		= 3,
	ACCESS		= 4,
	READ		= 6,
	WRITE		= 7,
	READDIR		= 16,
	READDIRPLUS	= 17,
	FSSTAT		= 18,
	FSINFO		= 19,
	PATHCONF	= 20,
};

#define FILE_HANDLE	"file"

static struct rdma_cm_id *listener;
static unsigned int grant = 32;
static volatile sig_atomic_t as_expected, reader_killed;

#define MAX_SEGMENTS	8

struct segment {
	uint32_t	handle;
	uint32_t	length;
	uint64_t	offset;
};

/* A Call of the client, which is honest: it is not checked. */
struct call {
	uint32_t	xid;
	uint32_t	inv_handle;
	uint32_t	procedure;
	/* of the Write chunk, or the Reply chunk */
	bool		has_write;
	bool		has_reply;
	unsigned int	nsegs;
	struct segment	segments[MAX_SEGMENTS];
	/* arguments: words from the first one on */
	const unsigned char *args;
};

/* The data of the file, for RDMA Writes; and a Reply for one. */
static struct memory data, scratch;

static const unsigned char *parse_segments(const unsigned char *p,
					   struct call *call)
{
	struct segment *seg = call->segments;
	unsigned int i;

	call->nsegs = word_at(p, 0);
	if (call->nsegs > MAX_SEGMENTS)
		fail("%u segments", call->nsegs);
	p += 4;
	for (i = 0; i < call->nsegs; i++, seg++, p += 4 * 4) {
		seg->handle = word_at(p, 0);
		seg->length = word_at(p, 1);
		seg->offset = (uint64_t)word_at(p, 2) << 32 | word_at(p, 3);
	}
	return p;
}

static void parse_call(const struct message *m, struct call *call)
{
	const unsigned char *p = m->data + 6 * 4;
	unsigned int i;

	memset(call, 0, sizeof(*call));
	call->xid = word_at(m->data, 0);
	call->inv_handle = word_at(m->data, 5);
	for (; word_at(p, 0); p += 6 * 4)
		;
	p += 4;
	call->has_write = word_at(p, 0);
	if (call->has_write)
		p = parse_segments(p + 4, call);
	p += 4;
	call->has_reply = word_at(p, 0);
	p = call->has_reply ? parse_segments(p + 4, call) : p + 4;
	call->procedure = word_at(p, 5);
	if (call->procedure == READDIRPLUS)
		call->procedure = READDIR;
	p += 6 * 4;
	for (i = 0; i < 2; i++)
		p += 2 * 4 + (word_at(p, 1) + 3) / 4 * 4;
	call->args = p;
}

/* Results, from the status on */

static void put(struct octets *o, uint32_t word)
{
	if (o->len + 4 > MESSAGE_MAX)
		fail("a Reply that is too long");
	o->data[o->len++] = word >> 24;
	o->data[o->len++] = word >> 16;
	o->data[o->len++] = word >> 8;
	o->data[o->len++] = word;
}

static void put_words(struct octets *o, unsigned int count, uint32_t word)
{
	while (count--)
		put(o, word);
}

/* type, mode, nlink, uid, gid, size, used, rdev, fsid, fileid, three times */
static void put_attributes(struct octets *o, bool file)
{
	put(o, file ? 1 : 2);
	put(o, file ? 0666 : 0777);
	put(o, file ? 1 : 2);
	put_words(o, 2, 0);
	put(o, 0);
	put(o, file ? FILE_LEN : 4096);
	put(o, 0);
	put(o, 4096);
	put_words(o, 4, 0);
	put(o, 0);
	put(o, file ? 2 : 1);
	put_words(o, 6, 1);
}

static bool is_file(const unsigned char *handle)
{
	return word_at(handle, 0) == strlen(FILE_HANDLE);
}

static const unsigned char *after_handle(const struct call *call)
{
	return call->args + 4 + (word_at(call->args, 0) + 3) / 4 * 4;
}

static void put_fsinfo(struct octets *o)
{
	put(o, 0);			/* no attributes */
	put_words(o, 2, 1 << 20);	/* reads: at most, at best */
	put(o, 4096);
	put_words(o, 2, 1 << 20);	/* writes */
	put(o, 4096);
	put(o, 4096);			/* directories */
	put(o, 0x7fffffff);		/* files: at most */
	put(o, 0xffffffff);
	put_words(o, 2, 1);		/* times: granularity */
	put(o, 0x1b);
}

static unsigned int read_count(const struct call *call)
{
	return word_at(after_handle(call), 2);
}

static void put_read(struct octets *o, const struct call *call)
{
	uint64_t offset = word_at(after_handle(call), 1);
	unsigned int count = read_count(call);

	put(o, 0);
	put(o, count);
	put(o, offset + count >= FILE_LEN);
	put(o, count);
	if (call->has_write)
		return;
	memcpy(o->data + o->len, data.data, count);
	o->len += (count + 3) / 4 * 4;
}

static void put_results(struct octets *o, const struct call *call)
{
	if (!call->procedure)
		return;
	put(o, 0);
	switch (call->procedure) {
	case GETATTR:
		put_attributes(o, is_file(call->args));
		break;
	case LOOKUP:
		put(o, strlen(FILE_HANDLE));
		memcpy(o->data + o->len, FILE_HANDLE, strlen(FILE_HANDLE));
		o->len += strlen(FILE_HANDLE);
		put(o, 1);
		put_attributes(o, true);
		put(o, 0);
		break;
	case ACCESS:
		put(o, 0);
		put(o, word_at(after_handle(call), 0));
		break;
	case READ:
		put_read(o, call);
		break;
	case WRITE:
		put_words(o, 2, 0);
		put(o, word_at(after_handle(call), 2));
		put(o, 2);
		put_words(o, 2, 0);
		break;
	case FSSTAT:
		put_words(o, 14, 0);
		break;
	case FSINFO:
		put_fsinfo(o);
		break;
	case PATHCONF:
		put(o, 0);
		put(o, 100);
		put(o, 255);
		put_words(o, 4, 1);
		break;
	default:
		fail("procedure %u", call->procedure);
	}
}

#define REPLY_TO	"%1$08x " VERS "%2$08x 00000000 " REPLY_FLAGS
#define WRITTEN		END END NEXT "00000001 %3$08x %4$08x %5$016lx " END END

/* The header of an honest Reply, and all of it. */
static void put_header(struct octets *o, const struct call *call)
{
	if (call->has_write)
		octets_format(o, REPLY_TO WRITTEN, call->xid, grant,
			      call->segments[0].handle, read_count(call),
			      call->segments[0].offset);
	else
		octets_format(o, REPLY_TO NOTHING, call->xid, grant);
}

static void put_rpc(struct octets *o, const struct call *call)
{
	put(o, call->xid);
	put(o, 1);
	put_words(o, 4, 0);
	put_results(o, call);
}

static void build_reply(struct octets *o, const struct call *call)
{
	put_header(o, call);
	put_rpc(o, call);
}

static void write_data(struct connection *c, const struct call *call)
{
	if (call->has_write)
		connection_write(c, &data, read_count(call),
				 call->segments[0].handle,
				 call->segments[0].offset);
}

static void send_in_reply_chunk(struct connection *c, const struct call *call)
{
	char list[MAX_SEGMENTS * 40] = "";
	const struct segment *seg = call->segments;
	static struct octets o;
	unsigned int i, n, done = 0;

	memset(&o, 0, sizeof(o));
	put_rpc(&o, call);
	for (i = 0; i < call->nsegs; i++, seg++) {
		n = o.len - done < seg->length ? o.len - done : seg->length;
		memcpy(scratch.data, o.data + done, n);
		if (n)
			connection_write(c, &scratch, n, seg->handle,
					 seg->offset);
		sprintf(list + strlen(list), "%08x %08x %016lx ", seg->handle,
			n, seg->offset);
		done += n;
	}
	if (done < o.len)
		fail("the Reply chunk has only %u octets", done);
	connection_say(c, "%08x " VERS "%08x 00000001 " REPLY_FLAGS END END END
		       NEXT "%08x %s", call->xid, grant, call->nsegs, list);
}

static void reply(struct connection *c, const struct call *call)
{
	static struct octets o;

	if (call->has_reply) {
		send_in_reply_chunk(c, call);
		return;
	}
	build_reply(&o, call);
	write_data(c, call);
	connection_send(c, o.data, o.len, call->inv_handle);
}

/* Connections */

static struct connection *next_client(const struct options *options)
{
	struct connection *c = connection_accept(listener, FOREVER_MS, options);
	unsigned int i;

	memory_expose(c, &data, READ_MAX, 0);
	for (i = 0; i < READ_MAX; i++)
		data.data[i] = DATA[i % strlen(DATA)];
	memory_expose(c, &scratch, MESSAGE_MAX, 0);
	return c;
}

/* It has to be the client's first message. */
static void expect_connprop(struct connection *c)
{
	connection_expect(c, "00000001 " VERS "xxxxxxxx 00000005 " CALL_FLAGS
			  "00000002 " RBSIZ("00003000") BRS("00000001"));
}

static void answer_connprop(struct connection *c)
{
	connection_say(c, "00000001 " VERS "%08x 00000005 " REPLY_FLAGS
		       PROPERTIES, grant);
}

static struct connection *greeted(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = grant + 4;
	c = next_client(&options);
	expect_connprop(c);
	answer_connprop(c);
	return c;
}

/* Serve until the Call of @procedure, which stays to be answered. */
static bool serve_until(struct connection *c, uint32_t procedure,
			struct call *call)
{
	struct message m;

	while (connection_receive(c, &m, FOREVER_MS) == MESSAGE) {
		parse_call(&m, call);
		if (call->procedure == procedure)
			return true;
		reply(c, call);
	}
	return false;
}

static void serve(struct connection *c)
{
	struct message m;
	struct call call;

	while (connection_receive(c, &m, FOREVER_MS) == MESSAGE) {
		parse_call(&m, &call);
		reply(c, &call);
	}
}

static void serve_for_ever(void)
{
	for (;;)
		serve(greeted());
}

/* Other Calls may be on their way. */
static void expect_gone(struct connection *c)
{
	enum happening what;
	struct message m;

	do {
		what = connection_receive(c, &m, PATIENCE_MS);
	} while (what == MESSAGE);
	if (what != CLOSED)
		fail("the client keeps the connection");
}

/*
 * The client's next connection on which it wants to read, and how. One READ is
 * answered before: a client need not hurry to a server that answers nothing.
 */
static struct connection *at_read(struct call *call)
{
	struct connection *c;

	for (;;) {
		c = greeted();
		if (!serve_until(c, READ, call))
			continue;
		reply(c, call);
		if (serve_until(c, READ, call))
			return c;
	}
}

/* What the client answers, as the responder that it is, too; it grants 8. */
#define REFUSED_BY_CLIENT(vers, code) \
	"%1$08x " vers " 00000008 00000004 00000001 " code

/* Other Calls may be on their way. */
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
 * Not even the direction of such a message is known: the client refuses it, as
 * if it were a Call, and goes on to wait for its Reply.
 */
static const struct {
	const char	*message;
	const char	*answer;
} puzzles[] = {
	{ "%1$08x " VERS "%2$08x 00000000",
	  REFUSED_BY_CLIENT("00000002", "00000002") },
	{ "%1$08x " VERS "%2$08x 00000006 00000000",
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
	/* The Calls that were passed over are sent again elsewhere. */
	connection_close(c);
}

/* Replies to a READ that the client has to close the connection for. */

#define READ_RESULTS	"%1$08x 00000001 00000000 00000000 00000000 00000000 " \
			"00000000 00000000 %4$08x 00000000 %4$08x "
#define SEGMENT		"%3$08x %4$08x %5$016lx "

static const char * const bad_replies[] = {
	/* version */
	"%1$08x 00000000 %2$08x 00000000 00000001 " WRITTEN READ_RESULTS,
	"%1$08x 00000001 %2$08x 00000000 " END END END READ_RESULTS,
	"%1$08x 00000003 %2$08x 00000000 00000001 " WRITTEN READ_RESULTS,
	"%1$08x ffffffff %2$08x 00000000 00000001 " WRITTEN READ_RESULTS,
	/* header type */
	"%1$08x " VERS "%2$08x 00000003 00000001 " WRITTEN READ_RESULTS,
	"%1$08x " VERS "%2$08x 00000006 00000001 " WRITTEN READ_RESULTS,
	"%1$08x " VERS "%2$08x ffffffff 00000001 " WRITTEN READ_RESULTS,
	/* RESPONSE, but a Call; two XIDs */
	REPLY_TO NOTHING "%1$08x 00000000 00000002 00000000",
	REPLY_TO NOTHING "00000000 00000001 00000000 00000000",
	/* a Read list */
	REPLY_TO END NEXT "00000008 " SEGMENT END END END READ_RESULTS,
	/* longer than what was offered; 2^32 together; beyond 2^64 */
	REPLY_TO END END NEXT "00000001 %3$08x 00100000 %5$016lx " END END
		READ_RESULTS,
	REPLY_TO END END NEXT "00000002 %3$08x ffffffff %5$016lx "
		"%3$08x 00000001 %5$016lx " END END READ_RESULTS,
	REPLY_TO END END NEXT "00000001 %3$08x %4$08x ffffffffffffffff "
		END END READ_RESULTS,
	/* two Write chunks; more segments than there are; booleans */
	REPLY_TO END END NEXT "00000001 " SEGMENT NEXT "00000001 " SEGMENT
		END END READ_RESULTS,
	REPLY_TO END END NEXT "ffffffff " SEGMENT END END READ_RESULTS,
	REPLY_TO END END NEXT "10000000 " SEGMENT END END READ_RESULTS,
	REPLY_TO END END "00000002 00000001 " SEGMENT END END READ_RESULTS,
	/* an external Reply: not asked for, without a chunk, and one inline */
	"%1$08x " VERS "%2$08x 00000001 " REPLY_FLAGS END END END
		NEXT "00000001 " SEGMENT,
	"%1$08x " VERS "%2$08x 00000001 " REPLY_FLAGS NOTHING,
	"%1$08x " VERS "%2$08x 00000001 " REPLY_FLAGS WRITTEN READ_RESULTS,
	/* CONNPROP again */
	"%1$08x " VERS "%2$08x 00000005 " REPLY_FLAGS PROPERTIES,
	/* errors that are none: no code, not all words, words too many */
	"%1$08x " VERS "%2$08x 00000004 " REPLY_FLAGS "00000000",
	"%1$08x " VERS "%2$08x 00000004 " REPLY_FLAGS "00000007 00000001",
	"%1$08x " VERS "%2$08x 00000004 " REPLY_FLAGS "00000009 00000000",
	"%1$08x " VERS "%2$08x 00000004 " REPLY_FLAGS
		"00000001 00000003 00000002",
	"%1$08x " VERS "%2$08x 00000004 00000000 00000009",
};

static void say_about(struct connection *c, const struct call *call,
		      const char *fmt)
{
	connection_say(c, fmt, call->xid, grant, call->segments[0].handle,
		       read_count(call), call->segments[0].offset);
}

static void reply_badly(void)
{
	struct connection *c;
	struct call call;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_replies); i++) {
		c = at_read(&call);
		if (!call.has_write)
			fail("a READ without a Write chunk");
		printf("# bad Reply %u\n", i);
		say_about(c, &call, bad_replies[i]);
		expect_gone(c);
	}
}

/* Cut within the header, or within the first two words of the RPC. */
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
		/* That has no flags, and is a puzzle. */
		len += len == 16;
	} while (len < end);
}

/* More than the client's Receives have room for */
static void reply_too_long(void)
{
	static unsigned char message[12288 + 1];
	struct call call;
	struct connection *c = at_read(&call);

	connection_send(c, message, sizeof(message), 0);
	expect_gone(c);
}

/* Answers to CONNPROP that the client has to close the connection for. */

#define ANSWER		"00000001 " VERS "00000020 00000005 " REPLY_FLAGS

static const char * const bad_answers[] = {
	"",
	"00000001",
	"00000001 " VERS "00000020 00000005",
	ANSWER,
	ANSWER "00000001",
	ANSWER "00000001 00000001 00000004",
	ANSWER "ffffffff",
	ANSWER "00000001 00000063 ffffffff 00000000",
	ANSWER "00000001 " RBSIZ("00000000"),
	ANSWER "00000001 " RBSIZ("000003fc"),
	ANSWER "00000001 " RBSIZ("ffffffff"),
	ANSWER PROPERTIES "00000000",
	"00000001 00000003 00000020 00000005 " REPLY_FLAGS PROPERTIES,
	"00000001 " VERS "00000020 00000005 " CALL_FLAGS PROPERTIES,
	"00000001 " VERS "00000020 00000006 " REPLY_FLAGS,
	/* a Call, a Reply */
	"00000001 " VERS "00000020 00000000 " CALL_FLAGS NOTHING
		"00000001 " RPC_NULL,
	"00000001 " VERS "00000020 00000000 " REPLY_FLAGS NOTHING
		"00000001 " RPC_NULL_REPLY,
};

/*
 * The client waits a while after a connection that did not come up: three cases
 * at a time share the answers.
 */
static void answer_badly(unsigned int first)
{
	struct connection *c;
	struct call call;
	unsigned int i;

	for (i = first; i < ARRAY_SIZE(bad_answers); i += 3) {
		c = at_read(&call);
		connection_close(c);
		c = next_client(&default_options);
		expect_connprop(c);
		printf("# bad answer %u\n", i);
		connection_say(c, "%s", bad_answers[i]);
		/* The client may have something to say about it. */
		expect_gone(c);
	}
}

static void answer_badly_0(void) { answer_badly(0); }
static void answer_badly_1(void) { answer_badly(1); }
static void answer_badly_2(void) { answer_badly(2); }

static void long_answer(void)
{
	static char zeroes[8192 + 1];
	struct connection *c = next_client(&default_options);

	memset(zeroes, '0', 2 * (4096 - 32));
	expect_connprop(c);
	connection_say(c, ANSWER "00000001 00000063 %08x %s", 4096 - 32,
		       zeroes);
	as_expected = true;
	serve(c);
}

static void no_answer(void)
{
	struct connection *c;
	struct call call;

	c = at_read(&call);
	connection_close(c);
	c = next_client(&default_options);
	expect_connprop(c);
	expect_gone(c);
}

static void never_an_answer(void)
{
	as_expected = true;
	for (;;)
		expect_gone(next_client(&default_options));
}

static void refuse(void)
{
	for (;;)
		as_expected = connection_refuse(listener, FOREVER_MS);
}

static void answer_with_error(void)
{
	struct connection *c;

	as_expected = true;
	for (;;) {
		c = next_client(&default_options);
		expect_connprop(c);
		connection_say(c, "00000001 " VERS "00000020 00000004 "
			       REPLY_FLAGS "00000002");
		expect_gone(c);
	}
}

static void close_at_once(void)
{
	struct connection *c;
	struct call call;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		c = at_read(&call);
		connection_close(c);
		connection_close(next_client(&default_options));
	}
}

/* What a server of an older version may do: the client has to speak that one. */

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

/* Private data of any kind: the client reads what is not, and takes it so. */
static void private_data(void)
{
	static unsigned char junk[196];
	struct options options = default_options;
	struct connection *c;
	struct call call;
	unsigned int i;

	memset(junk, 0xff, sizeof(junk));
	for (i = 0; i < sizeof(junk); i += 7) {
		memset(junk, 0xff, sizeof(junk));
		if (i % 2)
			memcpy(junk + i, "\xf6\xab\x0e\x18\x01\x01\xff\xff",
			       sizeof(junk) - i < 8 ? sizeof(junk) - i : 8);
		options.recvs = grant + 4;
		options.private_data = junk;
		options.private_len = i % 2 ? sizeof(junk) : i;
		c = next_client(&options);
		expect_connprop(c);
		answer_connprop(c);
		if (!serve_until(c, READ, &call))
			fail("the client went by itself");
		reply(c, &call);
		connection_close(c);
	}
}

/* Credits */

static void grant_nothing(void)
{
	struct connection *c;
	struct message m;
	struct call call;

	grant = 0;
	c = greeted();
	as_expected = true;
	/* Nothing granted is one granted: there is never a second Call. */
	while (connection_receive(c, &m, FOREVER_MS) == MESSAGE) {
		parse_call(&m, &call);
		usleep(50000);
		if (connection_receive(c, &m, 0) == MESSAGE)
			fail("a Call without a credit");
		reply(c, &call);
	}
}

static void grant_everything(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = 140;
	grant = 0xffffffff;
	c = next_client(&options);
	expect_connprop(c);
	answer_connprop(c);
	as_expected = true;
	serve(c);
}

/* Replies to RPCs that are not there */

static void reply_to_unknown(void)
{
	struct call call;
	struct connection *c = at_read(&call);
	unsigned int i;

	for (i = 0; i < 500; i++)
		connection_say(c, "%08x " VERS "%08x 00000000 " REPLY_FLAGS
			       NOTHING "%08x " RPC_NULL_REPLY, ~call.xid - i,
			       grant, ~call.xid - i);
	connection_say(c, "%08x " VERS "%08x 00000004 " REPLY_FLAGS "00000009",
		       ~call.xid, grant);
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/* The second is too late for the RPC, or the end of the connection. */
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

/* Invalidation */

static void invalidate(struct connection *c, const struct call *call,
		       uint32_t handle)
{
	static struct octets o;

	build_reply(&o, call);
	write_data(c, call);
	connection_send(c, o.data, o.len, handle);
}

static void invalidate_nothing(void)
{
	struct call call;
	struct connection *c = at_read(&call);

	invalidate(c, &call, 0);
	as_expected = true;
	serve(c);
}

static void invalidate_unknown(void)
{
	struct call call;
	struct connection *c = at_read(&call);

	invalidate(c, &call, 0xdeadbeef);
	expect_gone(c);
}

static void invalidate_again(void)
{
	struct call call, next;
	struct connection *c = at_read(&call);

	reply(c, &call);
	if (!serve_until(c, READ, &next))
		fail("the client went by itself");
	invalidate(c, &next, call.inv_handle);
	expect_gone(c);
}

static void invalidate_anothers(void)
{
	struct call call, next;
	struct connection *c = at_read(&call);

	if (!serve_until(c, READ, &next))
		fail("the client went by itself");
	invalidate(c, &call, next.inv_handle);
	expect_gone(c);
}

static void invalidate_unasked(void)
{
	struct connection *c = greeted();
	struct call call;

	if (!serve_until(c, FSINFO, &call))
		fail("the client went by itself");
	if (call.inv_handle)
		fail("FSINFO with a chunk");
	invalidate(c, &call, 0x1234500);
	expect_gone(c);
}

/* RDMA Writes to what is not offered, or not any more */

/* All of the first segment, but @skip octets further on, or another handle */
static void write_to(struct connection *c, const struct call *call,
		     uint32_t handle, unsigned int skip)
{
	const struct segment *seg = &call->segments[0];

	connection_write(c, &data, seg->length, handle ? handle : seg->handle,
			 seg->offset + skip);
}

static void write_elsewhere(void)
{
	struct call call;
	struct connection *c = at_read(&call);

	write_to(c, &call, 0, 4096);
	expect_gone(c);
	c = at_read(&call);
	write_to(c, &call, 0xdeadbeef, 0);
	expect_gone(c);
}

static void write_after_reply(void)
{
	struct call call;
	struct connection *c = at_read(&call);

	reply(c, &call);
	write_to(c, &call, 0, 0);
	expect_gone(c);
}

static void close_in_the_middle(void)
{
	struct connection *c;
	struct call call;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		c = at_read(&call);
		if (i % 2)
			write_data(c, &call);
		connection_close(c);
	}
}

/*
 * Connections come up, and then nothing is answered: the client may not spend
 * its time with making them.
 */
static void close_on_each_call(void)
{
	unsigned int connections = 0;
	struct connection *c;
	struct call call;
	time_t start;

	c = at_read(&call);
	connection_close(c);
	for (start = time(NULL); time(NULL) < start + 12; connections++) {
		c = greeted();
		if (!serve_until(c, READ, &call))
			fail("the client went by itself");
		connection_close(c);
	}
	printf("# %u connections in 12 s\n", connections);
	if (connections > 6)
		fail("%u connections in 12 s", connections);
}

/* Small Receives: never may a message of the client exceed them. */
static void small_receives(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = grant + 4;
	options.recv_size = 1024;
	c = next_client(&options);
	expect_connprop(c);
	connection_say(c, ANSWER "00000001 " RBSIZ("00000400"));
	as_expected = true;
	serve(c);
}

/* Calls of a server whose client waits for none */

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

/* The RPC fits nowhere: more data than asked for, and no chunk used. */
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

/* Readers that were killed while they waited */

/* A directory is read by the process itself, one RPC at a time. */
static struct connection *keep_waiting(struct call *call)
{
	struct options options = default_options;
	struct connection *c;
	struct message m;

	/* This end sends 1024 octets at most: the Reply gets a chunk. */
	options.private_data = "\xf6\xab\x0e\x18\x01\x01\x00\x00";
	options.private_len = 8;
	options.recvs = grant + 4;
	c = next_client(&options);
	expect_connprop(c);
	answer_connprop(c);
	if (!serve_until(c, READDIR, call))
		fail("the client went by itself");
	if (!call->has_reply)
		fail("READDIR without a Reply chunk");
	while (!reader_killed)
		connection_receive(c, &m, 100);
	return c;
}

static void reply_to_killed(void)
{
	struct call call;
	struct connection *c = keep_waiting(&call);

	connection_say(c, "%08x " VERS "%08x 00000000 " REPLY_FLAGS NOTHING
		       "%08x " RPC_NULL_REPLY, call.xid, grant, call.xid);
	as_expected = true;
	serve(c);
}

static void write_to_killed(void)
{
	struct call call;
	struct connection *c = keep_waiting(&call);

	write_to(c, &call, 0, 0);
	expect_gone(c);
}

static const struct test tests[] = {
	{ "fails-refused", refuse },
	{ "fails-no-answer", never_an_answer },
	{ "fails-error", answer_with_error },
	{ "older-says-so", older_says_so },
	{ "older-says-so-in-version-2", older_says_so_in_version_2 },
	{ "older-says-so-in-version-1", older_says_so_in_version_1 },
	{ "older-of-another-text", older_of_another_text },
	{ "older-and-silent", older_and_silent },
	{ "older-and-hangs-up", older_and_hangs_up },
	{ "survives-close-at-once", close_at_once },
	{ "survives-no-answer-once", no_answer },
	{ "survives-bad-answers-0", answer_badly_0 },
	{ "survives-bad-answers-1", answer_badly_1 },
	{ "survives-bad-answers-2", answer_badly_2 },
	{ "survives-long-answer", long_answer },
	{ "survives-private-data", private_data },
	{ "survives-bad-replies", reply_badly },
	{ "survives-cut-replies", cut_replies },
	{ "survives-puzzles", puzzle },
	{ "survives-reply-too-long", reply_too_long },
	{ "survives-unknown-xids", reply_to_unknown },
	{ "survives-reply-twice", reply_twice },
	{ "survives-no-grant", grant_nothing },
	{ "survives-grant-of-everything", grant_everything },
	{ "survives-invalidate-nothing", invalidate_nothing },
	{ "survives-invalidate-unknown", invalidate_unknown },
	{ "survives-invalidate-again", invalidate_again },
	{ "survives-invalidate-anothers", invalidate_anothers },
	{ "survives-invalidate-unasked", invalidate_unasked },
	{ "survives-write-elsewhere", write_elsewhere },
	{ "survives-write-after-reply", write_after_reply },
	{ "survives-close-in-the-middle", close_in_the_middle },
	{ "survives-close-on-each-call", close_on_each_call },
	{ "survives-small-receives", small_receives },
	{ "survives-calls", call_the_client },
	{ "survives-write-resource", err_write_resource },
	{ "survives-write-chunks", err_write_chunks },
	{ "errs-write-resource", err_write_resource_unknown },
	{ "errs-reply-resource", err_reply_resource },
	{ "errs-unknown-error", err_unknown },
	{ "errs-reply-beyond-buffers", reply_beyond_buffers },
	{ "killed-reply", reply_to_killed },
	{ "killed-write", write_to_killed },
};

void list_misbehaviours(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		printf("%s\n", tests[i].name);
}

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		reader_killed = true;
	else
		_exit(!as_expected);
}

int misbehave(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (strcmp(tests[i].name, name))
			continue;
		signal(SIGTERM, on_signal);
		signal(SIGUSR1, on_signal);
		listener = connection_listen();
		printf("# listening\n");
		tests[i].run();
		as_expected = true;
		serve_for_ever();
	}
	fprintf(stderr, "no case '%s'\n", name);
	return 2;
}
