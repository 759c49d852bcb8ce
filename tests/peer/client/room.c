// SPDX-License-Identifier: GPL-2.0
/* Cases whose Replies fit neither inline nor into a Reply chunk */
#include "client.h"

static struct connection *ready_for_1024(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recv_size = 1024;
	c = connection_open(&options);
	if (version == 1)
		/* 1024 octets are version 1's default. */
		return c;
	say(c, CONNPROP "00000001 " RBSIZ("00000400"));
	expect(c, CONNPROP_ANSWER);
	return c;
}

/* Octets of a READ's Reply besides the data, and octets of its header */
#define READ_OVERHEAD	68
#define HEADER		(version == 1 ? 28 : 36)

static void no_room_inline(void)
{
	struct connection *c = ready_for_1024();

	say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, 2000);
	expect(c, REFUSED("00000008") "%08x", READ_OVERHEAD + 2000);
	stays(c);
}

/**
 * expect_limit - fail unless the server sends messages up to a limit, and no longer ones
 * @c: the connection
 * @limit: octets of the longest message that the server may send
 */
void expect_limit(struct connection *c, unsigned int limit)
{
	unsigned int room = limit - HEADER - READ_OVERHEAD;
	struct message m;

	say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, room);
	if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE || m.len != limit)
		fail("not a Reply of %u octets", limit);
	say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, room + 1);
	expect(c, REFUSED("00000008") "%08x", READ_OVERHEAD + room + 4);
	stays(c);
}

static void as_much_as_fits_inline(void)
{
	expect_limit(ready_for_1024(), 1024);
}

static void reply_chunk_too_short(void)
{
	struct connection *c = ready_for_1024();
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_WRITE);
	say(c, CALL_HEAD END END END NEXT "00000001 " A_SEGMENT
	    READ_CALL, xid, m.mr->rkey, READ_OVERHEAD + 1996,
	    address(&m), xid, 2000);
	expect(c, REFUSED("00000008") "%08x", READ_OVERHEAD + 2000);
	check_data(&m, 0, 0);
	stays(c);
}

static void reply_chunk(void)
{
	struct connection *c = ready_for_1024();
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_WRITE);
	say(c, CALL_HEAD END END END NEXT "00000003 " A_SEGMENT
	    A_SEGMENT A_SEGMENT READ_CALL, xid,
	    m.mr->rkey, READ_OVERHEAD, address(&m),
	    m.mr->rkey, 0, address(&m),
	    m.mr->rkey, 4096 - READ_OVERHEAD,
	    address(&m) + READ_OVERHEAD, xid, 2000);
	expect(c, XID VERS GRANT "00000001 " REPLY_FLAGS END END END
	       NEXT "00000003 " A_SEGMENT A_SEGMENT A_SEGMENT,
	       m.mr->rkey, READ_OVERHEAD, address(&m),
	       m.mr->rkey, 0, address(&m),
	       m.mr->rkey, 2000, address(&m) + READ_OVERHEAD);
	check_data(&m, READ_OVERHEAD, 2000);
	stays(c);
}

const struct test room_tests[] = {
	{ "limit 1024: no room for the Reply", no_room_inline },
	{ "limit 1024: as much as fits", as_much_as_fits_inline },
	{ "limit 1024: a Reply chunk that is too short",
	  reply_chunk_too_short },
	{ "limit 1024: a Reply chunk", reply_chunk },
	{ },
};
