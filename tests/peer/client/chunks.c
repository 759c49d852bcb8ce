// SPDX-License-Identifier: GPL-2.0
/* Cases with any number of chunks and segments, which refer to real memory */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

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
	expect(c, REFUSED("00000007") "00000001 %08x", 8192);
	say_read(c, xid, 8192, m.mr->rkey, 0, address(&m));
	expect(c, REFUSED("00000007") "00000001 %08x", 8192);
	check_data(&m, 0, 0);
	stays(c);
}

static void second_write_chunk_too_short(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT
	    NEXT "00000001 " A_SEGMENT END END
	    COMPOUND "00000004 " LOOKUP_DATA READ READ,
	    xid, m.mr->rkey, 4096, address(&m),
	    m.mr->rkey, 4092, address(&m) + 4096, xid, 4096, 4096);
	expect(c, REFUSED("00000007") "00000002 %08x", 4096);
	check_data(&m, 0, 0);
	stays(c);
}

/*
 * Linux 7.3's nfsd takes the data of a COMPOUND's second READ from the wrong page, on
 * any transport. Skip the case there.
 */
static void needs_two_reads(struct connection *c)
{
	static const char end_and_start[] = "tile\nhos";
	static const unsigned int len = sizeof(end_and_start) - 1;
	struct message m;

	/* Data from inside a word, so that old data in the wrong page differ */
	say(c, CALL_HEAD END END END END COMPOUND "00000004 " LOOKUP_DATA
	    READ "00000019 " ANYONE "0000000000000003 %08x",
	    xid, xid, len, len);
	if (connection_receive(c, &m, 10000) != MESSAGE || m.len < len)
		fail("no Reply to two READs");
	if (!memcmp(m.data + m.len - len, end_and_start, len))
		return;
	printf("# nfsd: the second READ of a COMPOUND has other data, inline, too\n");
	fflush(stdout);
	_exit(SKIPPED);
}

/*
 * An empty Write chunk leaves the first payload inline; the second goes to its own
 * chunk.
 */
static void empty_write_chunk(void)
{
	struct connection *c = ready();
	char data[2 * 64 + 1] = "";
	struct memory m;
	unsigned int i;

	for (i = 0; i < 64; i++)
		sprintf(data + 2 * i, "%02x", DATA[i % strlen(DATA)]);
	say(c, CALL_HEAD END END NEXT "00000000 " END END READ_CALL, xid, xid,
	    64);
	expect(c, REPLY_HEAD END END NEXT "00000000 " END END READ_REPLY "%s",
	       xid, xid, 0, 64, data);

	needs_two_reads(c);
	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	say(c, CALL_HEAD END END NEXT "00000000 " NEXT "00000001 " A_SEGMENT
	    END END COMPOUND "00000004 " LOOKUP_DATA READ READ, xid,
	    m.mr->rkey, 4096, address(&m), xid, 64, 4096);
	expect(c, REPLY_HEAD END END NEXT "00000000 " NEXT "00000001 " A_SEGMENT
	       END END COMPOUND_REPLY "00000004 " LOOKED_UP READ_DONE "%s"
	       READ_DONE, xid, m.mr->rkey, 4096, address(&m), xid,
	       0, 64, data, 0, 4096);
	check_data(&m, 0, 4096);
	stays(c);
}

/* The server writes to the chunks as offered, even where they share memory. */
static void more_write_chunks_than_payloads(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT
	    NEXT "00000002 " A_SEGMENT A_SEGMENT NEXT "00000000 "
	    END END READ_CALL, xid,
	    m.mr->rkey, 8192, address(&m),
	    m.mr->rkey, 4096, address(&m),
	    0xdeadbeef, 4096, 0x1000UL, xid, 8192);
	expect(c, REPLY_HEAD END END NEXT "00000001 " A_SEGMENT
	       NEXT "00000002 " A_SEGMENT A_SEGMENT NEXT "00000000 "
	       END END READ_REPLY, xid,
	       m.mr->rkey, 8192, address(&m),
	       m.mr->rkey, 0, address(&m),
	       0xdeadbeef, 0, 0x1000UL, xid, 0, 8192);
	check_data(&m, 0, 8192);
	stays(c);
}

/* The server writes nothing to these chunks, so their handles don't matter. */
static void write_chunks(unsigned int count)
{
	struct connection *c = ready();
	char list[LIST_TEXT] = "";
	unsigned int i;

	for (i = 0; i < count; i++)
		strcat(list, NEXT "00000001 " SEG);
	say(c, CALL END END "%s" END END XID RPC_NULL, list);
	if (count > MAX_CHUNKS) {
		expect(c, WRITE_CHUNKS);
	} else {
		list[0] = '\0';
		for (i = 0; i < count; i++)
			strcat(list, NEXT "00000001 0a0b0c0d 00000000 "
			       "0000000000010000");
		expect(c, XID VERS GRANT "00000000 " REPLY_FLAGS
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
	char list[LIST_TEXT] = "";
	unsigned int i;

	for (i = 0; i < count; i++)
		strcat(list, SEG);
	say(c, CALL END END END NEXT "%08x %s" XID RPC_NULL, count,
	    list);
	expect(c, count > MAX_SEGMENTS ? SEGMENTS : NULL_REPLY);
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

/*
 * The limit is for each chunk, so two chunks together may have more segments. The Reply
 * returns one of the chunks, for which version 1 has 1024 octets.
 */
static void segments_together(void)
{
	enum { RETURNED = 50, OTHERS = 250 };
	char list[LIST_TEXT] = "", others[LIST_TEXT] = "", unused[LIST_TEXT] = "";
	struct connection *c = ready();
	unsigned int i;

	for (i = 0; i < RETURNED; i++) {
		strcat(list, SEG);
		strcat(unused, "0a0b0c0d 00000000 0000000000010000 ");
	}
	for (i = 0; i < OTHERS; i++)
		strcat(others, SEG);
	say(c, CALL END END NEXT "%08x %s " END NEXT "%08x %s" XID RPC_NULL,
	    RETURNED, list, OTHERS, others);
	expect(c, XID VERS GRANT "00000000 " REPLY_FLAGS END END
	       NEXT "%08x %s" END END XID RPC_NULL_REPLY, RETURNED, unused);
	stays(c);
}

static void read_segments_beyond_limit(void)
{
	struct connection *c = ready();
	char list[LIST_TEXT] = "";
	unsigned int i;

	for (i = 0; i <= MAX_SEGMENTS; i++)
		strcat(list, NEXT "00000028 " SEG);
	say(c, CALL END "%s" END END END XID RPC_NULL, list);
	expect(c, SEGMENTS);
	stays(c);
}

static void read_chunks_beyond_limit(void)
{
	struct connection *c = ready();
	char list[LIST_TEXT] = "";
	unsigned int i;

	for (i = 0; i <= MAX_CHUNKS; i++)
		sprintf(list + strlen(list), NEXT "%08x " SEG, 40 + 256 * i);
	say(c, CALL END "%s" END END END XID RPC_NULL, list);
	expect(c, READ_CHUNKS);
	stays(c);
}

/* List the segments of @m as a Read list, the last one first. */
static void read_list(char *list, const struct memory *m, unsigned int segments,
		      unsigned int len)
{
	unsigned int i;

	for (i = segments; i-- > 0; )
		list += sprintf(list, NEXT "%08x " A_SEGMENT, WRITE_POSITION,
				m->mr->rkey, len, address(m) + i * len);
}

/*
 * Send a WRITE with its data in @segments segments. An unused page follows them,
 * because rxe of Linux 6.1 looks beyond a multiple of 256 pages.
 */
static void write_in(struct connection *c, struct memory *m,
		     unsigned int segments, unsigned int len)
{
	char list[LIST_TEXT] = "";

	memory_expose(c, m, segments * len + 4096, IBV_ACCESS_REMOTE_READ |
		      IBV_ACCESS_REMOTE_WRITE);
	m->len -= 4096;
	memset(m->data, 'w', m->len);
	read_list(list, m, segments, len);
	say(c, CALL_HEAD END "%s" END END END WRITE_CALL, xid, list,
	    xid, m->len);
}

static unsigned int read_segments_of(const struct connection *c)
{
	return connection_is_iwarp(c) ? IWARP_READ_SEGMENTS : MAX_SEGMENTS;
}

static void read_segments(unsigned int len)
{
	struct connection *c = ready();
	struct memory m;

	write_in(c, &m, read_segments_of(c), len);
	expect(c, REPLY_HEAD NOTHING WRITE_REPLY, xid, xid, m.len);
	stays(c);
}

static void read_segments_at_limit(void)
{
	read_segments(1000);
}

static void read_segments_of_one_octet(void)
{
	read_segments(1);
}

/* The segments of all Read chunks count together. */
static void read_segments_beyond_device(void)
{
	struct connection *c = ready();
	struct memory m;

	write_in(c, &m, read_segments_of(c) + 1, 1000);
	expect(c, connection_is_iwarp(c) ? IWARP_SEGMENTS : SEGMENTS);
	stays(c);
}

/*
 * Move 1 MiB each way, in a segment for each page. Version 1 has fewer, as many as the
 * header of a Reply has room for.
 */
static void mebibyte_in_pages(void)
{
	enum { PAGE = 4096 };
	const unsigned int pages = version == 1 ? 50 : 256;
	struct options options = default_options;
	char list[LIST_TEXT] = "", *end = list;
	struct connection *c;
	struct memory m;
	unsigned int i;

	options.recv_size = 0x3000;
	c = connection_open(&options);
	connection_needs_infiniband(c, "a registration for each segment");
	if (version != 1) {
		say(c, CONNPROP "00000002 " RBSIZ("00003000") BRS("00000001"));
		expect(c, CONNPROP_ANSWER);
	}
	write_in(c, &m, pages, PAGE);
	expect(c, REPLY_HEAD NOTHING WRITE_REPLY, xid, xid, m.len);

	memset(m.data, 0, m.len);
	for (i = pages; i-- > 0; )
		end += sprintf(end, A_SEGMENT, m.mr->rkey, PAGE,
			       address(&m) + i * PAGE);
	say(c, CALL_HEAD END END NEXT "%08x %s" END END
	    COMPOUND "00000003 " LOOKUP_SINK READ, xid, pages, list, xid, m.len);
	expect(c, REPLY_HEAD END END NEXT "%08x %s" END END
	       COMPOUND_REPLY "00000003 " LOOKED_UP
	       "00000019 00000000 xxxxxxxx %08x ", xid, pages, list, xid, m.len);
	for (i = 0; i < m.len; i++)
		if (m.data[i] != 'w')
			fail("octet %u is %02x", i, m.data[i]);
	stays(c);
}

/*
 * Send a WRITE with part of its data in a Read chunk, and the rest inline behind that.
 * The file must hold these data, not old contents of the server's pages. Each such
 * WRITE differs, so that the server takes none for a retransmission.
 */
static void write_around(unsigned int in_chunk)
{
	const unsigned int octet = 0x60 + 8 * version + in_chunk;
	enum { COUNT = 800, READ_AT = 2048 };
	struct connection *c = ready();
	char rest[2 * COUNT + 1] = "";
	struct memory m;
	unsigned int i;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	memset(m.data, octet, COUNT);
	for (i = 0; i < COUNT - in_chunk; i++)
		sprintf(rest + 2 * i, "%02x", octet);
	say(c, CALL_HEAD END NEXT "%08x " A_SEGMENT END END END WRITE_CALL "%s",
	    xid, WRITE_POSITION, m.mr->rkey, in_chunk, address(&m), xid, COUNT,
	    rest);
	expect(c, REPLY_HEAD NOTHING WRITE_REPLY, xid, xid, COUNT);

	say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT END END
	    COMPOUND "00000003 " LOOKUP_SINK READ, xid,
	    m.mr->rkey, COUNT, address(&m) + READ_AT, xid, COUNT);
	expect(c, REPLY_HEAD END END NEXT "00000001 " A_SEGMENT END END
	       COMPOUND_REPLY "00000003 " LOOKED_UP
	       "00000019 00000000 xxxxxxxx %08x ", xid,
	       m.mr->rkey, COUNT, address(&m) + READ_AT, xid, COUNT);
	for (i = 0; i < COUNT; i++)
		if (m.data[READ_AT + i] != octet)
			fail("octet %u is %02x", i, m.data[READ_AT + i]);
	stays(c);
}

static void read_chunk_of_first_word(void)
{
	write_around(4);
}

static void read_chunk_of_nothing(void)
{
	write_around(0);
}

/* Send a Call with a chunk for each word but the first two, the last chunk first. */
static void call_in_chunks(struct connection *c, const struct memory *m)
{
	char list[1024] = "";
	unsigned int i;

	for (i = MAX_CHUNKS; i-- > 0; )
		sprintf(list + strlen(list), NEXT "%08x " A_SEGMENT, 8 + 4 * i,
			m->mr->rkey, 4, address(m) + 8 + 4 * i);
	say(c, CALL END "%s" END END END XID "00000000", list);
	expect(c, NULL_REPLY);
}

/* The order of positions in a Read list is free. */
static void read_chunks_out_of_order(void)
{
	struct connection *c = ready();
	static struct octets call;
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_READ);
	octets_format(&call, XID RPC_NULL);
	memcpy(m.data, call.data, call.len);
	say(c, CALL END NEXT "00000024 " A_SEGMENT
	    NEXT "00000008 " A_SEGMENT END END END XID "00000000 "
	    "000186a3 00000003 00000000 00000000 00000000 00000000 ",
	    m.mr->rkey, 4, address(&m) + 0x24,
	    m.mr->rkey, 4, address(&m) + 8);
	expect(c, NULL_REPLY);
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
	say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
	    END, m.mr->rkey, call.len, address(&m));
	expect(c, NULL_REPLY);
	/* The memory holds a Call of another XID, or a Reply. */
	m.data[3] ^= 1;
	say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
	    END, m.mr->rkey, call.len, address(&m));
	expect(c, BAD_XDR);
	m.data[3] ^= 1;
	m.data[7] ^= 1;
	say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
	    END, m.mr->rkey, call.len, address(&m));
	expect(c, BAD_XDR);
	stays(c);
}

/* An external Call of an XID alone, or of nothing */
static void external_call_too_short(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_READ);
	say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
	    END, m.mr->rkey, 4, address(&m));
	expect(c, BAD_XDR);
	say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
	    END, m.mr->rkey, 0, address(&m));
	expect(c, BAD_XDR);
	stays(c);
}

static void external_garbage(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_READ);
	memset(m.data, 0xff, m.len);
	say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
	    END, m.mr->rkey, m.len, address(&m));
	expect(c, BAD_XDR);
	stays(c);
}

/* A Call that is longer than nfsd takes, with all of its memory */
static void external_call_too_long(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, (3 << 20) + 4096, IBV_ACCESS_REMOTE_READ);
	say(c, CALL_NOMSG END NEXT "00000000 " A_SEGMENT END END
	    END, m.mr->rkey, m.len, address(&m));
	expect(c, SYSTEM);
	stays(c);
}

const struct test chunk_tests[] = {
	{ "chunks: a Write chunk", write_chunk },
	{ "chunks: a Write chunk that is too short", write_chunk_too_short },
	{ "chunks: a second Write chunk that is too short",
	  second_write_chunk_too_short },
	{ "chunks: a Write chunk of no segments", empty_write_chunk },
	{ "chunks: more Write chunks than payloads",
	  more_write_chunks_than_payloads },
	{ "chunks: 8 Write chunks", write_chunks_at_limit },
	{ "chunks: 9 Write chunks", write_chunks_beyond_limit },
	{ "chunks: a Reply chunk of 272 segments", reply_segments_at_limit },
	{ "chunks: a Reply chunk of 273 segments", reply_segments_beyond_limit },
	{ "chunks: 300 segments in two chunks", segments_together },
	{ "chunks: a Read chunk of as many segments as there may be",
	  read_segments_at_limit },
	{ "chunks: a Read chunk of as many octets, in a segment each",
	  read_segments_of_one_octet },
	{ "chunks: a Read chunk of one segment more",
	  read_segments_beyond_device },
	{ "chunks: a Read chunk of 273 segments", read_segments_beyond_limit },
	{ "chunks: 1 MiB in 256 segments, both ways", mebibyte_in_pages },
	{ "chunks: a Read chunk of the first word of the data",
	  read_chunk_of_first_word },
	{ "chunks: a Read chunk of nothing, before the data",
	  read_chunk_of_nothing },
	{ "chunks: 8 Read chunks, out of order", read_chunks_out_of_order },
	{ "chunks: 9 Read chunks", read_chunks_beyond_limit },
	{ "chunks: an external Call", external_call },
	{ "chunks: an external Call that is none", external_garbage },
	{ "chunks: an external Call that is too short",
	  external_call_too_short },
	{ "chunks: an external Call of 3 MiB", external_call_too_long },
	{ },
};
