// SPDX-License-Identifier: GPL-2.0
/* Cases of version 1 alone; other files have the cases that run in both versions */
#include <string.h>

#include "client.h"

/* Attacks as the first message */
const struct attack attacks_1_first[] = {
	{ "a Call", NULL_CALL_1, NULL_REPLY_1, STAYS },
	{ "a Reply", CALL_1 NO_LISTS XID RPC_NULL_REPLY, NULL, CLOSES },
	{ "ERR_CHUNK", ERROR_1 "00000002", NULL, CLOSES },
	{ "ERR_VERS", ERROR_1 "00000001 00000001 00000001", NULL, CLOSES },
	{ "an error of no code", ERROR_1, NULL, CLOSES },
	{ "a Call that is cut", CALL_1 END END, ERR_CHUNK_1, STAYS },
	{ "MSGP", CALL_1_MSGP END END NO_LISTS XID RPC_NULL, ERR_CHUNK_1,
	  STAYS },
	{ "DONE", DONE_1, ERR_CHUNK_1, STAYS },
	{ "type 5", XID VERS_1 REQUEST "00000005 " CALL_FLAGS PROPERTIES,
	  ERR_CHUNK_1, STAYS },
	{ "type 2^32-1", XID VERS_1 REQUEST "ffffffff", ERR_CHUNK_1, STAYS },
	{ },
};

/* Attacks after a Call, which version 2 does not have */
const struct attack attacks_1[] = {
	{ "version 0", XID "00000000 " REQUEST "00000000 " NO_LISTS
	  XID RPC_NULL, BAD_VERS_1("00000000"), STAYS },
	{ "a Call of version 2", NULL_CALL, BAD_VERS_1("00000002"), STAYS },
	{ "CONNPROP", CONNPROP PROPERTIES, BAD_VERS_1("00000002"), STAYS },
	{ "version 3", XID "00000003 " REQUEST "00000000 " NO_LISTS
	  XID RPC_NULL, BAD_VERS_1("00000003"), STAYS },
	{ "version 2^32-1", XID "ffffffff " REQUEST "00000000 " NO_LISTS
	  XID RPC_NULL, BAD_VERS_1("ffffffff"), STAYS },
	{ "an error of version 2", ERROR REPLY_FLAGS "00000009", NULL,
	  CLOSES },
	{ "MSGP", CALL_1_MSGP END END NO_LISTS XID RPC_NULL, ERR_CHUNK_1,
	  STAYS },
	{ "DONE", DONE_1, ERR_CHUNK_1, STAYS },
	{ "DONE, and more", DONE_1 NO_LISTS XID RPC_NULL, ERR_CHUNK_1, STAYS },
	{ "type 5", XID VERS_1 REQUEST "00000005 " NO_LISTS XID RPC_NULL,
	  ERR_CHUNK_1, STAYS },
	{ "type 2^32-1", XID VERS_1 REQUEST "ffffffff", ERR_CHUNK_1, STAYS },
	{ "a request of no credit", XID VERS_1 "00000000 00000000 " NO_LISTS
	  XID RPC_NULL, NULL_REPLY_1, STAYS },
	{ "a request of 2^32-1 credits", XID VERS_1 "ffffffff 00000000 "
	  NO_LISTS XID RPC_NULL, NULL_REPLY_1, STAYS },
	{ "two XIDs", CALL_1 NO_LISTS "11223345 " RPC_NULL, ERR_CHUNK_1,
	  STAYS },
	/* The RPC message tells the direction. */
	{ "a Reply to no Call", CALL_1 NO_LISTS XID RPC_NULL_REPLY, NULL,
	  CLOSES },
	{ "a Reply of two XIDs", CALL_1 NO_LISTS "11223345 " RPC_NULL_REPLY,
	  NULL, CLOSES },
	{ "a Reply with a Read list", CALL_1 NEXT "00000028 " SEG NO_LISTS
	  XID RPC_NULL_REPLY, NULL, CLOSES },
	{ "a message that is neither", CALL_1 NO_LISTS XID "00000002 00000000",
	  ERR_CHUNK_1, STAYS },
	{ "direction 2^32-1", CALL_1 NO_LISTS XID "ffffffff 00000000",
	  ERR_CHUNK_1, STAYS },
	{ "a Reply that lies elsewhere", CALL_1_NOMSG END END NEXT "00000001 "
	  SEG, ERR_CHUNK_1, STAYS },
	/* Only a server may send errors. */
	{ "ERR_CHUNK", ERROR_1 "00000002", NULL, CLOSES },
	{ "ERR_CHUNK, and more", ERROR_1 "00000002 00000000", NULL, CLOSES },
	{ "ERR_VERS", ERROR_1 "00000001 00000001 00000001", NULL, CLOSES },
	{ "half an ERR_VERS", ERROR_1 "00000001 00000001", NULL, CLOSES },
	{ "ERR_VERS, from 2 to 1", ERROR_1 "00000001 00000002 00000001", NULL,
	  CLOSES },
	{ "an error of code 0", ERROR_1 "00000000", NULL, CLOSES },
	{ "an error of code 2^32-1", ERROR_1 "ffffffff", NULL, CLOSES },
	{ },
};

struct private {
	const char	*data;
	uint8_t		len;
	/* limit that follows: octets of a message to this end */
	unsigned int	limit;
};

static struct connection *ready_with_private(const char *data, uint8_t len)
{
	struct options options = default_options;
	struct connection *c;

	options.private_data = data;
	options.private_len = len;
	options.recv_size = SERVER_RBSIZ;
	c = connection_open(&options);
	negotiate(c);
	return c;
}

/* RFC 8797; without private data, the limit is 1024. */
static void limits(void)
{
	static const struct private privates[] = {
		{ NULL, 0, 1024 },
		{ "\xf6\xab\x0e\x18\x01\x00\xff\x00", 8, 1024 },
		{ "\xf6\xab\x0e\x18\x01\x00\x00\x03", 8, 4096 },
		{ "\xf6\xab\x0e\x18\x01\xff\x00\xff", 8, SERVER_RBSIZ },
		{ "\0\0\0\0\xf6\xab\x0e\x18\x01\x00\x00\x03", 12, 4096 },
		{ "\xf6\xab\x0e\x18\x02\x00\x00\x03", 8, 1024 },
		{ "\x18\x0e\xab\xf6\x01\x00\x00\x03", 8, 1024 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(privates); i++)
		expect_limit(ready_with_private(privates[i].data,
						privates[i].len),
			     privates[i].limit);
}

#define WITH_R		"\xf6\xab\x0e\x18\x01\x01\x03\x03"
#define WITHOUT_R	"\xf6\xab\x0e\x18\x01\x00\x03\x03"

/* The Reply invalidates the Call's first handle only if both ends agreed. */
static void invalidate(struct connection *c, bool agreed)
{
	uint32_t handle;
	struct memory m;
	unsigned int i;

	connection_needs_infiniband(c, "siw has no memory windows");
	memory_expose(c, &m, 8192, IBV_ACCESS_MW_BIND);
	handle = memory_bind(c, &m);
	for (i = 0; i < (agreed ? 1 : 3); i++) {
		memset(m.data, 0, m.len);
		read_to_window(c, 0, handle, &m);
		expect_read(c, 8192, handle, address(&m));
		check_data(&m, 0, 8192);
	}
	if (!agreed)
		return;
	read_to_window(c, 0, handle, &m);
	connection_expect_closed(c);
}

static void invalidate_agreed(void)
{
	invalidate(ready_with_private(WITH_R, 8), true);
}

static void invalidate_not_agreed(void)
{
	invalidate(ready_with_private(WITHOUT_R, 8), false);
}

static void invalidate_without_private(void)
{
	invalidate(ready(), false);
}

#define UNUSED_CALL	CALL_1 END NEXT "00000001 " SEG END END XID RPC_NULL
#define UNUSED_REPLY	XID VERS_1 GRANT "00000000 " END NEXT "00000001 " \
			"0a0b0c0d 00000000 0000000000010000 " END END \
			XID RPC_NULL_REPLY

/*
 * An invalidation that this end can't do breaks the connection, if this end agreed to
 * invalidation.
 */
static void invalidate_unknown(void)
{
	struct connection *c = ready_with_private(WITHOUT_R, 8);

	connection_say(c, UNUSED_CALL);
	connection_expect(c, UNUSED_REPLY);
	stays(c);
	c = ready_with_private(WITH_R, 8);
	connection_say(c, UNUSED_CALL);
	connection_expect_broken(c);
	stays(ready());
}

const struct test version_1_tests[] = {
	{ "private data: limits", limits },
	{ "private data: R", invalidate_agreed },
	{ "private data: no R", invalidate_not_agreed },
	{ "private data: none", invalidate_without_private },
	{ "private data: R, and a handle that is not registered",
	  invalidate_unknown },
	{ },
};
