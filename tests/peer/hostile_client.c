// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile client. The server answers each message as the protocol has it, or
 * closes that connection, and neither it nor its other clients come to harm.
 *
 * The server exports a file "data" of 64 KiB, which repeats DATA, and an empty
 * one, "sink". It has the default module parameters.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attacks.h"
#include "messages.h"
#include "peer.h"

#define DATA		"hostile\n"
#define DATA_LEN	65536

/* What the server grants, and its Receive buffers. */
#define GRANTED		64
#define SERVER_RBSIZ	12288

/* What the server takes in one header. */
#define MAX_CHUNKS	8
#define MAX_SEGMENTS	64

/* A case that takes longer hangs. */
#define HANG_SECS	300

static struct connection *first_message(void)
{
	return connection_open(&default_options);
}

static void negotiate(struct connection *c)
{
	connection_say(c, CONNPROP PROPERTIES);
	connection_expect(c, CONNPROP_ANSWER);
}

static struct connection *ready_with(unsigned int recvs)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = recvs;
	c = connection_open(&options);
	negotiate(c);
	return c;
}

static struct connection *ready(void)
{
	return ready_with(default_options.recvs);
}

static void stays(struct connection *c)
{
	connection_say(c, NULL_CALL);
	connection_expect(c, NULL_REPLY);
}

static void attack(struct connection *c, const struct attack *a)
{
	connection_say(c, "%s", a->message);
	if (a->answer)
		connection_expect(c, "%s", a->answer);
	if (a->end == CLOSES)
		connection_expect_closed(c);
	else
		stays(c);
}

/* Each message, cut to every length that is less than it has */

static void cut(struct connection *(*connect)(void), const char *text,
		bool answer_closes)
{
	static struct octets whole;
	struct connection *c = NULL;
	unsigned int len;

	octets_format(&whole, "%s", text);
	for (len = 0; len < whole.len; len++) {
		/* Not even the XID of such a message is to be relied on. */
		bool silent = len % 4 || len < 16;

		if (!c)
			c = connect();
		connection_send(c, whole.data, len, 0);
		if (!silent)
			connection_expect(c, BAD_XDR);
		if (!silent && !answer_closes)
			continue;
		connection_expect_closed(c);
		c = NULL;
	}
}

static void cut_connprop(void)
{
	cut(first_message, CONNPROP PROPERTIES, true);
}

static void cut_first_call(void)
{
	cut(first_message, CALL NOTHING XID, false);
}

static void cut_call(void)
{
	cut(ready, CALL END NEXT "00000024 " SEG END NEXT "00000002 " SEG SEG
	    END NEXT "00000001 " SEG XID, false);
}

static void cut_external_call(void)
{
	cut(ready, CALL_NOMSG END NEXT "00000000 " SEG END NEXT "00000001 " SEG
	    END NEXT "00000001 " SEG, false);
}

static void cut_error(void)
{
	static struct octets whole;
	struct connection *c;
	unsigned int len;

	octets_format(&whole, ERROR REPLY_FLAGS "00000007 00000001 00001000");
	for (len = 0; len <= whole.len; len++) {
		c = ready();
		connection_send(c, whole.data, len, 0);
		connection_expect_closed(c);
	}
}

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
	connection_say(c, CONNPROP "00000001 00000063 %08x %s", 4096 - 32,
		       words);
	connection_expect(c, CONNPROP_ANSWER);
	stays(c);
}

static void twice_the_same_property(void)
{
	struct connection *c = first_message();

	connection_say(c, CONNPROP "00000003 " RBSIZ("00000400")
		       RBSIZ("00001000") RBSIZ("00000800"));
	connection_expect(c, CONNPROP_ANSWER);
	stays(c);
}

static void late_connprop(void)
{
	struct connection *c = first_message();

	stays(c);
	connection_say(c, CONNPROP PROPERTIES);
	connection_expect(c, BAD_XDR);
	stays(c);
}

static void never_speaks(void)
{
	connection_expect_closed(first_message());
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
	connection_expect(c, NULL_REPLY);
	stays(c);
}

/*
 * NFSv4.0 needs no session: (root) LOOKUP "data", READ and LOOKUP "sink", WRITE.
 */
#define COMPOUND	"%08x 00000000 00000002 000186a3 00000004 00000001 " \
			"00000001 00000014 00000000 00000000 00000000 " \
			"00000000 00000000 00000000 00000000 00000000 00000000 "
#define COMPOUND_REPLY	"%08x 00000001 00000000 00000000 00000000 00000000 " \
			"00000000 00000000 "
#define ANYONE		"00000000 00000000 00000000 00000000 "
#define LOOKUP_DATA	"00000018 0000000f 00000004 64617461 "
#define LOOKUP_SINK	"00000018 0000000f 00000004 73696e6b "
#define LOOKED_UP	"00000018 00000000 0000000f 00000000 "
/* Format: count */
#define READ		"00000019 " ANYONE "0000000000000000 %08x "
#define READ_CALL	COMPOUND "00000003 " LOOKUP_DATA READ
/* Formats: end of file, count */
#define READ_DONE	"00000019 00000000 %08x %08x "
#define READ_REPLY	COMPOUND_REPLY "00000003 " LOOKED_UP READ_DONE
/* Format: count, and then the data, at this position */
#define WRITE_CALL	COMPOUND "00000003 " LOOKUP_SINK "00000026 " ANYONE \
			"0000000000000000 00000001 %08x "
#define WRITE_POSITION	124
/* Format: count */
#define WRITE_REPLY	COMPOUND_REPLY "00000003 " LOOKED_UP \
			"00000026 00000000 %08x xxxxxxxx xxxxxxxxxxxxxxxx "

#define REPLY_HEAD	"%08x " VERS GRANT "00000000 " REPLY_FLAGS
#define CALL_HEAD	"%08x " VERS REQUEST "00000000 " CALL_FLAGS
#define A_SEGMENT	"%08x %08x %016lx "

static const unsigned int xid = 0x11223344;

static uint64_t address(const struct memory *m)
{
	return (uintptr_t)m->data;
}

static void check_data(const struct memory *m, unsigned int offset,
		       unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		if (m->data[offset + i] != DATA[i % strlen(DATA)])
			fail("octet %u is %02x", i, m->data[offset + i]);
	for (; offset + i < m->len; i++)
		if (m->data[offset + i])
			fail("octet %u was written", offset + i);
}

/* One READ of @count octets, with one Write chunk of @offered. */
static void say_read(struct connection *c, unsigned int id, unsigned int count,
		     uint32_t handle, unsigned int offered, uint64_t offset)
{
	connection_say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT END END
		       READ_CALL, id, handle, offered, offset, id, count);
}

static void expect_read(struct connection *c, unsigned int count,
			uint32_t handle, uint64_t offset)
{
	connection_expect(c, REPLY_HEAD END END NEXT "00000001 " A_SEGMENT
			  END END READ_REPLY, xid, handle, count, offset, xid,
			  count == DATA_LEN, count);
}

static void write_chunk(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	say_read(c, xid, DATA_LEN, m.mr->rkey, DATA_LEN, address(&m));
	expect_read(c, DATA_LEN, m.mr->rkey, address(&m));
	check_data(&m, 0, DATA_LEN);
	stays(c);
}

static void write_chunk_too_short(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	say_read(c, xid, 8192, m.mr->rkey, 8191, address(&m));
	connection_expect(c, REFUSED("00000007") "00000001 %08x", 8192);
	say_read(c, xid, 8192, m.mr->rkey, 0, address(&m));
	connection_expect(c, REFUSED("00000007") "00000001 %08x", 8192);
	check_data(&m, 0, 0);
	stays(c);
}

static void second_write_chunk_too_short(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	connection_say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT
		       NEXT "00000001 " A_SEGMENT END END
		       COMPOUND "00000004 " LOOKUP_DATA READ READ,
		       xid, m.mr->rkey, 4096, address(&m),
		       m.mr->rkey, 4092, address(&m) + 4096, xid, 4096, 4096);
	connection_expect(c, REFUSED("00000007") "00000002 %08x", 4096);
	check_data(&m, 0, 0);
	stays(c);
}

/* The first goes to the second's place: what is offered is used as it is. */
static void more_write_chunks_than_payloads(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	connection_say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT
		       NEXT "00000002 " A_SEGMENT A_SEGMENT NEXT "00000000 "
		       END END READ_CALL, xid,
		       m.mr->rkey, 8192, address(&m),
		       m.mr->rkey, 4096, address(&m),
		       0xdeadbeef, 4096, 0x1000UL, xid, 8192);
	connection_expect(c, REPLY_HEAD END END NEXT "00000001 " A_SEGMENT
			  NEXT "00000002 " A_SEGMENT A_SEGMENT NEXT "00000000 "
			  END END READ_REPLY, xid,
			  m.mr->rkey, 8192, address(&m),
			  m.mr->rkey, 0, address(&m),
			  0xdeadbeef, 0, 0x1000UL, xid, 0, 8192);
	check_data(&m, 0, 8192);
	stays(c);
}

/* Nothing is written to them, so their handles do not matter. */
static void write_chunks(unsigned int count)
{
	struct connection *c = ready();
	char list[4096] = "";
	unsigned int i;

	for (i = 0; i < count; i++)
		strcat(list, NEXT "00000001 " SEG);
	connection_say(c, CALL END END "%s" END END XID RPC_NULL, list);
	if (count > MAX_CHUNKS) {
		connection_expect(c, WRITE_CHUNKS);
	} else {
		list[0] = '\0';
		for (i = 0; i < count; i++)
			strcat(list, NEXT "00000001 0a0b0c0d 00000000 "
			       "0000000000010000");
		connection_expect(c, XID VERS GRANT "00000000 " REPLY_FLAGS
				  END END "%s" END END XID RPC_NULL_REPLY,
				  list);
	}
	stays(c);
}

static void write_chunks_at_limit(void)
{
	write_chunks(MAX_CHUNKS);
}

static void write_chunks_beyond_limit(void)
{
	write_chunks(MAX_CHUNKS + 1);
}

static void reply_segments(unsigned int count)
{
	struct connection *c = ready();
	char list[8192] = "";
	unsigned int i;

	for (i = 0; i < count; i++)
		strcat(list, SEG);
	connection_say(c, CALL END END END NEXT "%08x %s" XID RPC_NULL, count,
		       list);
	connection_expect(c, count > MAX_SEGMENTS ? SEGMENTS : NULL_REPLY);
	stays(c);
}

static void reply_segments_at_limit(void)
{
	reply_segments(MAX_SEGMENTS);
}

static void reply_segments_beyond_limit(void)
{
	reply_segments(MAX_SEGMENTS + 1);
}

/* The limit is for all chunks together. */
static void segments_together(void)
{
	struct connection *c = ready();
	char list[8192] = "";
	unsigned int i;

	for (i = 0; i < MAX_SEGMENTS / 2; i++)
		strcat(list, SEG);
	connection_say(c, CALL END NEXT "00000028 " SEG END
		       NEXT "%08x %s " END NEXT "%08x %s" XID RPC_NULL,
		       MAX_SEGMENTS / 2, list, MAX_SEGMENTS / 2, list);
	connection_expect(c, SEGMENTS);
	stays(c);
}

static void read_segments_beyond_limit(void)
{
	struct connection *c = ready();
	char list[8192] = "";
	unsigned int i;

	for (i = 0; i <= MAX_SEGMENTS; i++)
		strcat(list, NEXT "00000028 " SEG);
	connection_say(c, CALL END "%s" END END END XID RPC_NULL, list);
	connection_expect(c, SEGMENTS);
	stays(c);
}

static void read_chunks_beyond_limit(void)
{
	struct connection *c = ready();
	char list[4096] = "";
	unsigned int i;

	for (i = 0; i <= MAX_CHUNKS; i++)
		sprintf(list + strlen(list), NEXT "%08x " SEG, 40 + 256 * i);
	connection_say(c, CALL END "%s" END END END XID RPC_NULL, list);
	connection_expect(c, READ_CHUNKS);
	stays(c);
}

/* A WRITE whose data come in @segments segments, the last one first. */
static void write_in(unsigned int segments, unsigned int len)
{
	struct connection *c = ready();
	char list[8192] = "";
	struct memory m;
	unsigned int i;

	memory_expose(c, &m, segments * len, IBV_ACCESS_REMOTE_READ);
	memset(m.data, 'w', m.len);
	for (i = segments; i-- > 0; )
		sprintf(list + strlen(list), NEXT "%08x " A_SEGMENT,
			WRITE_POSITION, m.mr->rkey, len,
			address(&m) + i * len);
	connection_say(c, CALL_HEAD END "%s" END END END WRITE_CALL, xid, list,
		       xid, m.len);
	connection_expect(c, REPLY_HEAD NOTHING WRITE_REPLY, xid, xid, m.len);
	stays(c);
}

static void read_segments_at_limit(void)
{
	write_in(MAX_SEGMENTS, 1000);
}

static void read_segments_of_one_octet(void)
{
	write_in(MAX_SEGMENTS, 1);
}

/* A Call whose words, but for the first two, are a chunk each, last one first */
static void call_in_chunks(struct connection *c, const struct memory *m)
{
	char list[1024] = "";
	unsigned int i;

	for (i = MAX_CHUNKS; i-- > 0; )
		sprintf(list + strlen(list), NEXT "%08x " A_SEGMENT, 8 + 4 * i,
			m->mr->rkey, 4, address(m) + 8 + 4 * i);
	connection_say(c, CALL END "%s" END END END XID "00000000", list);
	connection_expect(c, NULL_REPLY);
}

/* Positions may come in any order. */
static void read_chunks_out_of_order(void)
{
	struct connection *c = ready();
	static struct octets call;
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_READ);
	octets_format(&call, XID RPC_NULL);
	memcpy(m.data, call.data, call.len);
	connection_say(c, CALL END NEXT "00000024 " A_SEGMENT
		       NEXT "00000008 " A_SEGMENT END END END XID "00000000 "
		       "000186a3 00000003 00000000 00000000 00000000 00000000 ",
		       m.mr->rkey, 4, address(&m) + 0x24,
		       m.mr->rkey, 4, address(&m) + 8);
	connection_expect(c, NULL_REPLY);
	call_in_chunks(c, &m);
	stays(c);
}

static void external_call(void)
{
	struct connection *c = ready();
	static struct octets call;
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_READ);
	octets_format(&call, XID RPC_NULL);
	memcpy(m.data, call.data, call.len);
	connection_say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
		       END, m.mr->rkey, call.len, address(&m));
	connection_expect(c, NULL_REPLY);
	/* What it holds is another RPC's, or no Call at all. */
	m.data[3] ^= 1;
	connection_say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
		       END, m.mr->rkey, call.len, address(&m));
	connection_expect(c, XID VERS GRANT "00000000 " REPLY_FLAGS NOTHING
			  "11223345 " RPC_NULL_REPLY);
	stays(c);
}

static void external_garbage(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_READ);
	memset(m.data, 0xff, m.len);
	connection_say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
		       END, m.mr->rkey, m.len, address(&m));
	/* Nobody can tell whom to answer. */
	connection_expect_silence(c, 1000);
	stays(c);
}

/* More than the server's program takes in one Call, all of it there */
static void external_call_too_long(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, (3 << 20) + 4096, IBV_ACCESS_REMOTE_READ);
	connection_say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
		       END, m.mr->rkey, m.len, address(&m));
	connection_expect(c, SYSTEM);
	stays(c);
}

/* Handles that are not what they should be */

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
	connection_say(c, CALL_HEAD END NEXT "%08x " A_SEGMENT END END END
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

static void read_to_window(struct connection *c, uint32_t inv_handle,
			   uint32_t handle, const struct memory *m)
{
	connection_say(c, CALL_HEAD "%08x " END NEXT "00000001 " A_SEGMENT
		       END END READ_CALL, xid, inv_handle, handle, 8192,
		       address(m), xid, 8192);
}

/* The Reply invalidates the handle that the Call names, and only then. */
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

/* What this end can't have invalidated breaks it, and only it. */
static void invalidate_unknown(void)
{
	struct connection *c = ready();

	connection_say(c, CALL "0a0b0c0d " END END NEXT "00000001 " SEG
		       XID RPC_NULL);
	connection_expect_broken(c);
	stays(ready());
}

/* Memory that goes away while the server reads it, over and over */
static void gone_in_time(void)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		struct connection *c = ready();
		struct memory m;

		memory_expose(c, &m, (1 << 20) - 4096, IBV_ACCESS_REMOTE_READ);
		connection_say(c, CALL_HEAD END NEXT "%08x " A_SEGMENT END END
			       END WRITE_CALL, xid, WRITE_POSITION, m.mr->rkey,
			       m.len, address(&m), xid, m.len);
		usleep(i * 2000);
		connection_close(c);
	}
}

/* Replies that fit nowhere */

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

/* Credits */

static void all_credits_at_once(void)
{
	struct connection *c = ready_with(GRANTED + 8);
	unsigned int i, j, words = 0;
	struct message m;
	struct memory mem;
	char list[8192] = "";

	memory_expose(c, &mem, MAX_SEGMENTS * 1024, IBV_ACCESS_REMOTE_READ);
	for (j = 0; j < MAX_SEGMENTS; j++)
		sprintf(list + strlen(list), NEXT "%08x " A_SEGMENT,
			WRITE_POSITION, mem.mr->rkey, 1024,
			address(&mem) + j * 1024);
	for (i = 0; i < GRANTED; i++)
		connection_say(c, CALL_HEAD END "%s" END END END WRITE_CALL,
			       xid + i, list, xid + i, mem.len);
	for (i = 0; i < GRANTED; i++) {
		if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
			fail("%u Replies instead of %u", i, GRANTED);
		words += word_at(m.data, 0) - xid;
		if (word_at(m.data, 3) != 0) {
			octets_print("got", m.data, NULL, m.len);
			fail("not a Reply");
		}
	}
	if (words != GRANTED * (GRANTED - 1) / 2)
		fail("not a Reply to each");
	stays(c);
}

/* The Replies of READs, which nobody takes: the Calls are not over. */
static struct connection *stuck(unsigned int calls)
{
	struct connection *c = ready_with(1);
	struct memory m;
	unsigned int i;

	/* The one Receive was for the CONNPROP. */
	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_WRITE);
	for (i = 0; i < calls; i++)
		say_read(c, xid + i, 4096, m.mr->rkey, 4096, address(&m));
	return c;
}

static void more_calls_than_granted(void)
{
	connection_expect_closed(stuck(GRANTED + 1));
}

static void replies_not_taken(void)
{
	struct connection *c = stuck(GRANTED);
	struct message m;
	unsigned int i;

	connection_needs_infiniband(c, "what finds no Receive ends it");
	usleep(3000000);
	connection_post_receives(c, GRANTED + 8);
	for (i = 0; i < GRANTED; i++)
		if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
			fail("%u Replies instead of %u", i, GRANTED);
	stays(c);
}

/* Connections that are opened and abandoned, so many in each way */
#define ABANDONED	150
#define BATCH		50

/* Whatever @open left open is closed by the end of its process. */
static void abandon(void (*open)(void), int sig)
{
	unsigned int i, n;
	int status;
	pid_t pid;

	for (i = 0; i < ABANDONED; i += BATCH) {
		int ready_pipe[2];
		char octet;

		if (pipe(ready_pipe))
			fail("no pipe");
		pid = fork();
		if (!pid) {
			for (n = 0; n < BATCH; n++)
				open();
			if (write(ready_pipe[1], "", 1) != 1 || !sig)
				_exit(0);
			pause();
		}
		close(ready_pipe[1]);
		if (read(ready_pipe[0], &octet, 1) != 1)
			fail("connections can't be opened");
		if (sig)
			kill(pid, sig);
		close(ready_pipe[0]);
		if (waitpid(pid, &status, 0) != pid ||
		    (!sig && status) || (sig && WTERMSIG(status) != sig))
			fail("status %x", status);
	}
	stays(ready());
}

static void open_and_do_not_wait(void)
{
	connection_start(true, &default_options);
}

static void open_and_spurn(void)
{
	connection_spurn(connection_start(false, &default_options));
}

static void open_half(void)
{
	connection_start(false, &default_options);
}

static void open_and_say_nothing(void)
{
	first_message();
}

static void open_and_do_not_listen(void)
{
	connection_say(first_message(), CONNPROP PROPERTIES);
}

static void open_and_call(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	say_read(c, xid, DATA_LEN, m.mr->rkey, DATA_LEN, address(&m));
}

static void open_and_take_nothing(void)
{
	stuck(4);
}

static void open_all(void)
{
	ready();
}

static void abandon_at_once(void) { abandon(open_and_do_not_wait, 0); }

static void abandon_spurned(void)
{
	connection_needs_infiniband(ready(), "a connect takes a QP");
	abandon(open_and_spurn, 0);
}

static void abandon_half_open(void)
{
	connection_needs_infiniband(ready(), "a connect takes a QP");
	abandon(open_half, 0);
}

static void abandon_silent(void) { abandon(open_and_say_nothing, 0); }
static void abandon_unheard(void) { abandon(open_and_do_not_listen, 0); }
static void abandon_calls(void) { abandon(open_and_call, 0); }
static void abandon_replies(void) { abandon(open_and_take_nothing, 0); }
static void abandon_killed(void) { abandon(open_all, SIGKILL); }

static const struct test tests[] = {
	{ "cut: CONNPROP, to every length", cut_connprop },
	{ "cut: the first Call, to every length", cut_first_call },
	{ "cut: a Call with all chunks, to every length", cut_call },
	{ "cut: an external Call, to every length", cut_external_call },
	{ "cut: an error, to every length", cut_error },
	{ "private data: every length", private_lengths },
	{ "private data: every offset", private_offsets },
	{ "private data: versions, a block in a block", private_versions },
	{ "connect: no RDMA Reads", no_reads },
	{ "properties: CONNPROP of 4 KiB", long_connprop },
	{ "properties: RBSIZ three times", twice_the_same_property },
	{ "properties: CONNPROP after a Call", late_connprop },
	{ "first: none", never_speaks },
	{ "length: as long as the server's Receives", as_long_as_may_be },
	{ "length: one octet longer", too_long },
	{ "chunks: a Write chunk", write_chunk },
	{ "chunks: a Write chunk that is too short", write_chunk_too_short },
	{ "chunks: a second Write chunk that is too short",
	  second_write_chunk_too_short },
	{ "chunks: more Write chunks than payloads",
	  more_write_chunks_than_payloads },
	{ "chunks: 8 Write chunks", write_chunks_at_limit },
	{ "chunks: 9 Write chunks", write_chunks_beyond_limit },
	{ "chunks: a Reply chunk of 64 segments", reply_segments_at_limit },
	{ "chunks: a Reply chunk of 65 segments", reply_segments_beyond_limit },
	{ "chunks: 65 segments in three chunks", segments_together },
	{ "chunks: a Read chunk of 64 segments", read_segments_at_limit },
	{ "chunks: a Read chunk of 64 octets in 64 segments",
	  read_segments_of_one_octet },
	{ "chunks: a Read chunk of 65 segments", read_segments_beyond_limit },
	{ "chunks: 8 Read chunks, out of order", read_chunks_out_of_order },
	{ "chunks: 9 Read chunks", read_chunks_beyond_limit },
	{ "chunks: an external Call", external_call },
	{ "chunks: an external Call that is none", external_garbage },
	{ "chunks: an external Call of 3 MiB", external_call_too_long },
	{ "handles: read what is not registered", read_unknown },
	{ "handles: read what is no longer registered", read_gone },
	{ "handles: read what is another connection's", read_foreign },
	{ "handles: read over the end", read_too_short },
	{ "handles: read what is for writing", read_wrong_access },
	{ "handles: write what is not registered", write_unknown },
	{ "handles: write what is no longer registered", write_gone },
	{ "handles: write what is another connection's", write_foreign },
	{ "handles: write what is for reading", write_wrong_access },
	{ "handles: write what the last Reply invalidated", invalidate },
	{ "handles: invalidate what is not registered", invalidate_unknown },
	{ "handles: the peer goes in mid-Read", gone_in_time },
	{ "RBSIZ 1024: no room for the Reply", no_room_inline },
	{ "RBSIZ 1024: as much as fits", as_much_as_fits_inline },
	{ "RBSIZ 1024: a Reply chunk that is too short",
	  reply_chunk_too_short },
	{ "RBSIZ 1024: a Reply chunk", reply_chunk },
	{ "RBSIZ 4096, and the Receives have 1024", receives_too_short },
	{ "credits: all at once, with 64 segments each", all_credits_at_once },
	{ "credits: one more than granted", more_calls_than_granted },
	{ "credits: Replies that are not taken for a while",
	  replies_not_taken },
	{ "abandoned: 150 that do not wait", abandon_at_once },
	{ "abandoned: 150 that reject the server", abandon_spurned },
	{ "abandoned: 150 half open", abandon_half_open },
	{ "abandoned: 150 that say nothing", abandon_silent },
	{ "abandoned: 150 that do not wait for CONNPROP", abandon_unheard },
	{ "abandoned: 150 with a Call", abandon_calls },
	{ "abandoned: 150 that take no Reply", abandon_replies },
	{ "abandoned: 150 of processes that are killed", abandon_killed },
};

static const struct {
	const char		*title;
	struct connection	*(*connect)(void);
	const struct attack	*attacks;
} tables[] = {
	{ "first", first_message, attacks_first },
	{ "prefix", ready, attacks_prefix },
	{ "lists", ready, attacks_lists },
	{ "RPC", ready, attacks_rpc },
};

static unsigned int passed, failed, skipped;

/* In a process of its own. @run or @a says what. */
static void run_case(const char *only, const char *title, const char *name,
		     void (*run)(void), struct connection *(*connect)(void),
		     const struct attack *a)
{
	unsigned int number;
	char full[160];
	int status;
	pid_t pid;

	snprintf(full, sizeof(full), "%s%s%s", title, *title ? ": " : "",
		 name);
	if (!strstr(full, only))
		return;
	pid = fork();
	if (!pid) {
		alarm(HANG_SECS);
		if (run)
			run();
		else
			attack(connect(), a);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("# ended by signal %d\n", WTERMSIG(status));
	number = passed + failed + skipped + 1;
	if (!status) {
		passed++;
		printf("ok %u - %s\n", number, full);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		skipped++;
		printf("ok %u - %s # SKIP\n", number, full);
	} else {
		failed++;
		printf("not ok %u - %s\n", number, full);
	}
}

int attack_server(const char *only)
{
	const struct attack *a;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (a = tables[i].attacks; a->name; a++)
			run_case(only, tables[i].title, a->name, NULL,
				 tables[i].connect, a);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		run_case(only, "", tests[i].name, tests[i].run, NULL, NULL);
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed || !passed;
}
