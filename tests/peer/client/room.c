// SPDX-License-Identifier: GPL-2.0
/*
 * Replies that fit nowhere.
 */
#include "client.h"

static struct connection *ready_for_1024(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recv_size = 1024;
	c = connection_open(&options);
	connection_say(c, CONNPROP "00000001 " RBSIZ("00000400"));
	connection_expect(c, CONNPROP_ANSWER);
	return c;
}

/* A READ's Reply is this much longer than its data. */
#define READ_OVERHEAD	68

static void no_room_inline(void)
{
	struct connection *c = ready_for_1024();

	connection_say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, 2000);
	connection_expect(c, REFUSED("00000008") "%08x", READ_OVERHEAD + 2000);
	stays(c);
}

static void as_much_as_fits_inline(void)
{
	struct connection *c = ready_for_1024();
	unsigned int room = 1024 - 36 - READ_OVERHEAD;
	struct message m;

	connection_say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, room);
	if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE || m.len != 1024)
		fail("not a Reply of 1024 octets");
	connection_say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, room + 1);
	connection_expect(c, REFUSED("00000008") "%08x",
			  READ_OVERHEAD + room + 4);
	stays(c);
}

static void reply_chunk_too_short(void)
{
	struct connection *c = ready_for_1024();
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_WRITE);
	connection_say(c, CALL_HEAD END END END NEXT "00000001 " A_SEGMENT
		       READ_CALL, xid, m.mr->rkey, READ_OVERHEAD + 1996,
		       address(&m), xid, 2000);
	connection_expect(c, REFUSED("00000008") "%08x", READ_OVERHEAD + 2000);
	check_data(&m, 0, 0);
	stays(c);
}

static void reply_chunk(void)
{
	struct connection *c = ready_for_1024();
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_WRITE);
	connection_say(c, CALL_HEAD END END END NEXT "00000003 " A_SEGMENT
		       A_SEGMENT A_SEGMENT READ_CALL, xid,
		       m.mr->rkey, READ_OVERHEAD, address(&m),
		       m.mr->rkey, 0, address(&m),
		       m.mr->rkey, 4096 - READ_OVERHEAD,
		       address(&m) + READ_OVERHEAD, xid, 2000);
	connection_expect(c, XID VERS GRANT "00000001 " REPLY_FLAGS END END END
			  NEXT "00000003 " A_SEGMENT A_SEGMENT A_SEGMENT,
			  m.mr->rkey, READ_OVERHEAD, address(&m),
			  m.mr->rkey, 0, address(&m),
			  m.mr->rkey, 2000, address(&m) + READ_OVERHEAD);
	check_data(&m, READ_OVERHEAD, 2000);
	stays(c);
}

/* Receives that are shorter than this end said: the server's Send fails. */
static void receives_too_short(void)
{
	struct options options = default_options;
	struct connection *c;

	options.recv_size = 1024;
	c = connection_open(&options);
	negotiate(c);
	connection_say(c, CALL_HEAD NOTHING READ_CALL, xid, xid, 3000);
	connection_expect_closed(c);
}

const struct test room_tests[] = {
	{ "RBSIZ 1024: no room for the Reply", no_room_inline },
	{ "RBSIZ 1024: as much as fits", as_much_as_fits_inline },
	{ "RBSIZ 1024: a Reply chunk that is too short",
	  reply_chunk_too_short },
	{ "RBSIZ 1024: a Reply chunk", reply_chunk },
	{ "RBSIZ 4096, and the Receives have 1024", receives_too_short },
	{ },
};
