// SPDX-License-Identifier: GPL-2.0
/*
 * What the two ends tell each other first: private data and properties. And how
 * long messages may be.
 */
#include <string.h>

#include "client.h"

/* Private data */

static void served_with_private(const void *data, unsigned int len)
{
	struct options options = default_options;
	struct connection *c;
	const void *theirs;
	unsigned int got;

	options.private_data = data;
	options.private_len = len;
	c = connection_open(&options);
	theirs = connection_private(c, &got);
	if (got < 8 || memcmp(theirs, "\xf6\xab\x0e\x18\x01\x01\x0b\x0b", 8)) {
		octets_print("private data", theirs, NULL, got);
		fail("not the server's");
	}
	stays(c);
	connection_close(c);
}

/* What the CM leaves to its users of the private data of a request */
#define PRIVATE_MAX	56

static void private_lengths(void)
{
	unsigned char data[PRIVATE_MAX];
	unsigned int len;

	memset(data, 0xff, sizeof(data));
	for (len = 0; len <= PRIVATE_MAX; len++)
		served_with_private(data, len);
}

static void private_offsets(void)
{
	static const unsigned char block[] = "\xf6\xab\x0e\x18\x01\xff\xff\xff";
	unsigned char data[PRIVATE_MAX];
	unsigned int offset;

	/* The last ones run over the end. */
	for (offset = 0; offset < PRIVATE_MAX; offset++) {
		unsigned int n = PRIVATE_MAX - offset;

		memset(data, 0, sizeof(data));
		memcpy(data + offset, block, n < 8 ? n : 8);
		served_with_private(data, PRIVATE_MAX);
	}
}

static void private_versions(void)
{
	unsigned char data[16] = "\xf6\xab\x0e\x18\xf6\xab\x0e\x18";

	for (data[4] = 0; data[4] < 4; data[4]++)
		served_with_private(data, 8);
	data[4] = 0xf6;
	served_with_private(data, 12);
	served_with_private(data, 16);
}

/* The server could not fetch the Calls of such a client. */
static void no_reads(void)
{
	struct options options = default_options;

	options.reads = 0;
	connection_expect_refused(&options);
}

/* Properties */

static void long_connprop(void)
{
	static char words[8192 * 2 + 1];
	struct connection *c = first_message();

	/* Property 99 takes all but the words of header and this property's. */
	memset(words, '0', 2 * (4096 - 32));
	say(c, CONNPROP "00000001 00000063 %08x %s", 4096 - 32,
	    words);
	expect(c, CONNPROP_ANSWER);
	stays(c);
}

static void twice_the_same_property(void)
{
	struct connection *c = first_message();

	say(c, CONNPROP "00000003 " RBSIZ("00000400")
	    RBSIZ("00001000") RBSIZ("00000800"));
	expect(c, CONNPROP_ANSWER);
	stays(c);
}

static void late_connprop(void)
{
	struct connection *c = first_message();

	/* Once. */
	stays(c);
	say(c, CONNPROP PROPERTIES);
	expect(c, CONNPROP_ANSWER);
	stays(c);
	say(c, CONNPROP PROPERTIES);
	expect(c, BAD_XDR);
	stays(c);
}

/* More than fits in 4096 octets is inline when the server knows that it may. */
static void late_connprop_is_used(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recv_size = SERVER_RBSIZ;
	c = connection_open(&options);
	stays(c);
	say(c, CONNPROP "00000001 " RBSIZ("00003000"));
	expect(c, CONNPROP_ANSWER);
	expect_limit(c, SERVER_RBSIZ);
}

/* What was assumed before may be under way: less is too late. */
static void late_connprop_of_less(void)
{
	struct connection *c = first_message();

	stays(c);
	say(c, CONNPROP "00000001 " RBSIZ("00000400"));
	expect(c, CONNPROP_ANSWER);
	expect_limit(c, 4096);
}

/**
 * never_speaks - a client that has nothing to say loses its connection
 */
void never_speaks(void)
{
	connection_expect_closed(first_message());
}

/* Receives that are shorter than this end said: the server's Send fails. */
static void receives_too_short(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recv_size = 1024;
	c = connection_open(&options);
	negotiate(c);
	say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, 3000);
	connection_expect_closed(c);
}

/* More than the server's Receive buffers have room for */
static void too_long(void)
{
	static unsigned char message[SERVER_RBSIZ + 1];
	struct connection *c = ready();

	connection_send(c, message, sizeof(message), 0);
	connection_expect_closed(c);
}

static void as_long_as_may_be(void)
{
	static struct octets o;
	struct connection *c = ready();

	/* The server's program has a Call with 12 KiB more than it decodes. */
	octets_format(&o, NULL_CALL);
	connection_send(c, o.data, SERVER_RBSIZ, 0);
	expect(c, NULL_REPLY);
	stays(c);
}

const struct test terms_tests[] = {
	{ "private data: every length", private_lengths },
	{ "private data: every offset", private_offsets },
	{ "private data: versions, a block in a block", private_versions },
	{ "connect: no RDMA Reads", no_reads },
	{ "properties: CONNPROP of 4 KiB", long_connprop },
	{ "properties: RBSIZ three times", twice_the_same_property },
	{ "properties: CONNPROP after a Call", late_connprop },
	{ "properties: CONNPROP after a Call, more", late_connprop_is_used },
	{ "properties: CONNPROP after a Call, less", late_connprop_of_less },
	{ "properties: RBSIZ 4096, and the Receives have 1024",
	  receives_too_short },
	{ "length: as long as the server's Receives", as_long_as_may_be },
	{ "length: one octet longer", too_long },
	{ },
};
