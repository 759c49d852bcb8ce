// SPDX-License-Identifier: GPL-2.0
/*
 * Cases about the first messages, private data and properties, and about the length of
 * messages
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

/* Octets of a request's private data that the CM leaves to its users */
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

	/* The last blocks run over the end. */
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

/* The server could not fetch this client's Calls. */
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

	/* Property 99 fills 4 KiB, less the words of the header and of the property. */
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

	/* The server takes properties late, but only once. */
	stays(c);
	say(c, CONNPROP PROPERTIES);
	expect(c, CONNPROP_ANSWER);
	stays(c);
	say(c, CONNPROP PROPERTIES);
	expect(c, BAD_XDR);
	stays(c);
}

/*
 * The server must use a larger limit that it learns late: more goes inline than 4096
 * octets.
 */
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

/*
 * A smaller limit comes too late: messages of the assumed size may be under way, so
 * that size stays.
 */
static void late_connprop_of_less(void)
{
	struct connection *c = first_message();

	stays(c);
	say(c, CONNPROP "00000001 " RBSIZ("00000400"));
	expect(c, CONNPROP_ANSWER);
	expect_limit(c, 4096);
}

/**
 * never_speaks - fail unless the server closes a connection without messages
 */
void never_speaks(void)
{
	connection_expect_closed(first_message());
}

/* Receives are shorter than this end claims, so the server's Send fails. */
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

/* Longer than the server's Receive buffers */
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

	/* nfsd ignores 12 KiB behind the arguments that it decodes. */
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
