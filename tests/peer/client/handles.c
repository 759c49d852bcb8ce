// SPDX-License-Identifier: GPL-2.0
/* Cases with bad handles, and with handles that a Reply invalidates */
#include <string.h>
#include <unistd.h>

#include "client.h"

enum handle { UNKNOWN, GONE, FOREIGN, TOO_SHORT, WRONG_ACCESS };

struct segment {
	struct memory	memory;
	uint32_t	handle;
	unsigned int	len;
};

static void make_bad_segment(struct connection *c, enum handle kind, int access,
			     struct segment *s)
{
	struct connection *owner = kind == FOREIGN ? ready() : c;

	if (kind == WRONG_ACCESS)
		access = access == IBV_ACCESS_REMOTE_READ ?
			 IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ;
	memory_expose(owner, &s->memory, 8192, access);
	s->handle = s->memory.mr->rkey;
	s->len = 8192;
	if (kind == UNKNOWN)
		s->handle = 0xdeadbeef;
	if (kind == GONE)
		memory_hide(&s->memory);
	if (kind == TOO_SHORT)
		s->len = 8192 + 4096;
}

static void read_from(enum handle kind)
{
	struct connection *c = ready();
	struct segment s;

	make_bad_segment(c, kind, IBV_ACCESS_REMOTE_READ, &s);
	say(c, CALL_HEAD END NEXT "%08x " A_SEGMENT END END END
	    WRITE_CALL, xid, WRITE_POSITION, s.handle, s.len,
	    address(&s.memory), xid, s.len);
	connection_expect_closed(c);
}

static void write_to(enum handle kind)
{
	struct connection *c = ready();
	struct segment s;

	make_bad_segment(c, kind, IBV_ACCESS_REMOTE_WRITE, &s);
	say_read(c, xid, s.len, s.handle, s.len, address(&s.memory));
	connection_expect_closed(c);
	check_data(&s.memory, 0, kind == TOO_SHORT ? s.memory.len : 0);
}

static void read_unknown(void) { read_from(UNKNOWN); }
static void read_gone(void) { read_from(GONE); }
static void read_foreign(void) { read_from(FOREIGN); }
static void read_too_short(void) { read_from(TOO_SHORT); }
static void read_wrong_access(void)
{
	connection_needs_infiniband(ready(), "siw lets peers read all memory");
	read_from(WRONG_ACCESS);
}

static void write_unknown(void) { write_to(UNKNOWN); }
static void write_gone(void) { write_to(GONE); }
static void write_foreign(void) { write_to(FOREIGN); }
static void write_wrong_access(void) { write_to(WRONG_ACCESS); }

/**
 * read_to_window - send a READ of 8192 octets into a memory window
 * @c: the connection
 * @inv_handle: handle that the Reply may invalidate
 * @handle: handle of the window
 * @m: memory of the window
 */
void read_to_window(struct connection *c, uint32_t inv_handle, uint32_t handle,
		    const struct memory *m)
{
	say(c, CALL_HEAD "%08x " END NEXT "00000001 " A_SEGMENT
	    END END READ_CALL, xid, inv_handle, handle, 8192,
	    address(m), xid, 8192);
}

/* The Reply invalidates the handle that the Call names, and no Reply does before. */
static void invalidate(void)
{
	struct connection *c = ready();
	uint32_t handle;
	struct memory m;
	unsigned int i;

	connection_needs_infiniband(c, "siw has no memory windows");
	memory_expose(c, &m, 8192, IBV_ACCESS_MW_BIND);
	handle = memory_bind(c, &m);
	for (i = 0; i < 3; i++) {
		memset(m.data, 0, m.len);
		read_to_window(c, i == 2 ? handle : 0, handle, &m);
		expect_read(c, 8192, handle, address(&m));
		check_data(&m, 0, 8192);
	}
	read_to_window(c, handle, handle, &m);
	connection_expect_closed(c);
}

/* An invalidation that this end can't do breaks this connection, and no other. */
static void invalidate_unknown(void)
{
	struct connection *c = ready();

	say(c, CALL "0a0b0c0d " END END NEXT "00000001 " SEG
	    XID RPC_NULL);
	connection_expect_broken(c);
	stays(ready());
}

/* Close connections while the server reads their memory. */
static void gone_in_time(void)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		struct connection *c = ready();
		struct memory m;

		memory_expose(c, &m, (1 << 20) - 4096, IBV_ACCESS_REMOTE_READ);
		say(c, CALL_HEAD END NEXT "%08x " A_SEGMENT END END
		    END WRITE_CALL, xid, WRITE_POSITION, m.mr->rkey,
		    m.len, address(&m), xid, m.len);
		usleep(i * 2000);
		connection_close(c);
	}
}

const struct test handle_tests[] = {
	{ "handles: read what is not registered", read_unknown },
	{ "handles: read what is no longer registered", read_gone },
	{ "handles: read what is another connection's", read_foreign },
	{ "handles: read over the end", read_too_short },
	{ "handles: read what is for writing", read_wrong_access },
	{ "handles: write what is not registered", write_unknown },
	{ "handles: write what is no longer registered", write_gone },
	{ "handles: write what is another connection's", write_foreign },
	{ "handles: write what is for reading", write_wrong_access },
	{ "handles: the peer goes in mid-Read", gone_in_time },
	{ },
};

const struct test invalidate_tests[] = {
	{ "handles: write what the last Reply invalidated", invalidate },
	{ "handles: invalidate what is not registered", invalidate_unknown },
	{ },
};
