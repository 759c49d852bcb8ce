// SPDX-License-Identifier: GPL-2.0
/* Cases about the first messages: private data, and answers to CONNPROP */
#include <string.h>
#include <stdio.h>

#include "server.h"

/* Answers to CONNPROP that must make the client close the connection */

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
	/* a Call, a Reply */
	"00000001 " VERS "00000020 00000000 " CALL_FLAGS NOTHING
		"00000001 " RPC_NULL,
	"00000001 " VERS "00000020 00000000 " REPLY_FLAGS NOTHING
		"00000001 " RPC_NULL_REPLY,
};

/* Lose a connection, and wait for the CONNPROP on the next one. */
static struct connection *asked_again(void)
{
	struct connection *c;
	struct call call;

	c = at_read(&call);
	connection_close(c);
	c = next_client(&default_options);
	expect_connprop(c);
	return c;
}

/*
 * Three cases share the answers, because the client waits after each connection that
 * did not come up.
 */
static void answer_badly(unsigned int first)
{
	struct connection *c;
	unsigned int i;

	for (i = first; i < ARRAY_SIZE(bad_answers); i += 3) {
		c = asked_again();
		printf("# bad answer %u\n", i);
		connection_say(c, "%s", bad_answers[i]);
		/* The client may send an error first. */
		expect_gone(c);
	}
}

static void answer_badly_0(void) { answer_badly(0); }
static void answer_badly_1(void) { answer_badly(1); }
static void answer_badly_2(void) { answer_badly(2); }

/*
 * One after the other, all waiting Calls learn that the connection did not come up. That must
 * not harm the next connection.
 */
static void answer_badly_once(void)
{
	struct connection *c = asked_again();
	struct call call;

	connection_say(c, "%s", bad_answers[0]);
	expect_gone(c);
	c = greeted();
	if (!serve_until(c, READ, &call))
		fail("the client does not use the next connection");
	reply(c, &call);
	as_expected = true;
	serve(c);
}

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
	expect_gone(asked_again());
}

static void never_an_answer(void)
{
	as_expected = true;
	for (;;)
		expect_gone(next_client(&default_options));
}

/* Serve a client that assumes the defaults. */
static void serve_a_read(struct connection *c)
{
	struct call call;

	if (!serve_until(c, READ, &call))
		fail("the client went by itself");
	reply(c, &call);
}

/* A server's own CONNPROP grants no credits, so the client may have one Call only. */
static void advertise(void)
{
	struct connection *c = silent_client();
	struct message m;
	struct call call;

	expect_connprop(c);
	connection_say(c, "00000077 " VERS "ffffffff 00000005 " CALL_FLAGS
		       PROPERTIES);
	if (!next_call(c, &call))
		fail("the client does not take it");
	if (connection_receive(c, &m, 100) == MESSAGE)
		fail("a Call without a credit");
	reply(c, &call);
	serve_a_read(c);
	as_expected = true;
	serve(c);
}

/* Leave the client's CONNPROP without an answer, but answer its Calls. */
static struct connection *says_no_properties(void)
{
	struct connection *c = silent_client();
	struct message m;
	struct call call;

	expect_connprop(c);
	if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
		fail("the client says nothing more");
	if (word_at(m.data, 1) != 2 || word_at(m.data, 3) > 1)
		fail("not a Call of version 2");
	if (m.len > 1024)
		fail("%u octets to who may have version 1 only", m.len);
	parse_call(&m, &call);
	if (connection_receive(c, &m, 100) == MESSAGE)
		fail("a Call without a credit");
	reply(c, &call);
	return c;
}

static void no_properties(void)
{
	struct connection *c = says_no_properties();

	serve_a_read(c);
	as_expected = true;
	serve(c);
}

/* Answer Calls until the client sends this error. */
static void serve_until_error(struct connection *c, const char *error)
{
	static struct octets o;
	struct message m;
	struct call call;

	while (connection_receive(c, &m, PATIENCE_MS) == MESSAGE) {
		if (word_at(m.data, 3) == 4) {
			octets_format(&o, "%s", error);
			if (!octets_match(&o, m.data, m.len))
				fail("another error");
			return;
		}
		parse_call(&m, &call);
		reply(c, &call);
	}
	fail("the client does not answer");
}

#define LATE		"00000077 " VERS "00000010 00000005 " CALL_FLAGS PROPERTIES
#define TOO_LATE	"00000077 " VERS "00000008 00000004 " REPLY_FLAGS "00000002"

/* The client takes late properties once, whether they are an answer or not. */
static void late_properties(void)
{
	struct connection *c = says_no_properties();

	serve_a_read(c);
	answer_connprop(c);
	serve_a_read(c);
	connection_say(c, LATE);
	serve_until_error(c, TOO_LATE);
	connection_close(c);

	c = says_no_properties();
	connection_say(c, LATE);
	serve_a_read(c);
	connection_say(c, LATE);
	serve_until_error(c, TOO_LATE);
	as_expected = true;
	serve(c);
}

/* A late refusal of CONNPROP answers no Call, so it returns no credit. */
static void late_refusal(void)
{
	struct connection *c;
	struct call call;

	grant = 1;
	c = says_no_properties();
	if (!serve_until(c, READ, &call))
		fail("the client went by itself");
	connection_say(c, "00000001 " VERS "00000001 00000004 " REPLY_FLAGS
		       "00000002");
	/* The client has no credit left. */
	connection_expect_silence(c, 200);
	reply(c, &call);
	as_expected = true;
	serve(c);
}

/* An unknown message must not keep the client from the answer. */
static void unknown_type(void)
{
	struct connection *c = silent_client();

	expect_connprop(c);
	connection_say(c, "00000078 " VERS "00000020 00000006");
	connection_expect(c, "00000078 " VERS "00000008 00000004 " REPLY_FLAGS
			  "00000003");
	answer_connprop(c);
	serve_a_read(c);
	connection_say(c, "00000079 " VERS "00000020 00000007 00000001 00000000");
	serve_until_error(c, "00000079 " VERS "00000008 00000004 " REPLY_FLAGS
			  "00000003");
	as_expected = true;
	serve(c);
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

/* The client must ignore private data of other protocols, and junk. */
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

static bool read_has_chunk(const struct options *options)
{
	struct connection *c = next_client(options);
	bool has_chunk;
	struct call call;

	greet(c);
	if (!serve_until(c, READ, &call))
		fail("the client went by itself");
	if (read_count(&call) != 8192)
		fail("a READ of %u", read_count(&call));
	has_chunk = call.has_write;
	reply(c, &call);
	connection_close(c);
	return has_chunk;
}

/* Without private data, the client assumes that the server sends 4096 octets inline. */
static void reads_of_8k(void)
{
	struct options options = default_options;

	options.recvs = grant + 4;
	if (!read_has_chunk(&options))
		fail("no chunk for more than 4096 octets");
	options.private_data = "\xf6\xab\x0e\x18\x01\x01\x07\x07";
	options.private_len = 8;
	if (!read_has_chunk(&options))
		fail("no chunk for more than 8192 octets");
	options.private_data = "\xf6\xab\x0e\x18\x01\x01\x0b\x0b";
	if (read_has_chunk(&options))
		fail("a chunk for what fits inline");
}

const struct test greeting_cases[] = {
	{ "survives-8k-reads", reads_of_8k },
	{ "fails-refused", refuse },
	{ "fails-no-answer", never_an_answer },
	{ "fails-error", answer_with_error },
	{ "survives-props-unasked", advertise },
	{ "survives-no-props", no_properties },
	{ "survives-late-props", late_properties },
	{ "survives-late-refusal", late_refusal },
	{ "survives-unknown-type", unknown_type },
	{ "survives-close-at-once", close_at_once },
	{ "survives-no-answer-once", no_answer },
	{ "survives-bad-answers-0", answer_badly_0 },
	{ "survives-bad-answers-1", answer_badly_1 },
	{ "survives-bad-answers-2", answer_badly_2 },
	{ "survives-bad-answer-once", answer_badly_once },
	{ "survives-long-answer", long_answer },
	{ "survives-private-data", private_data },
	{ },
};
