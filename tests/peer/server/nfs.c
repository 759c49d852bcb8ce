// SPDX-License-Identifier: GPL-2.0
/* The part of NFS version 3 that a mount and the reading of "file" need */
#include <string.h>

#include "server.h"

#define FILE_HANDLE	"file"

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

/**
 * parse_call - parse a Call
 * @m: the message
 * @call: receives the Call
 */
void parse_call(const struct message *m, struct call *call)
{
	bool has_flags = word_at(m->data, 1) == 2;
	const unsigned char *p = m->data + (has_flags ? 6 : 4) * 4;
	unsigned int i;

	memset(call, 0, sizeof(*call));
	call->xid = word_at(m->data, 0);
	if (has_flags)
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
	put_words(o, 2, 1 << 20);	/* reads: largest, best */
	put(o, 4096);
	put_words(o, 2, 1 << 20);	/* writes */
	put(o, 4096);
	put(o, 4096);			/* directories */
	put(o, 0x7fffffff);		/* largest file */
	put(o, 0xffffffff);
	put_words(o, 2, 1);		/* times: granularity */
	put(o, 0x1b);
}

/**
 * read_count - find the octets that a READ asks for
 * @call: the READ
 *
 * Return: octets.
 */
unsigned int read_count(const struct call *call)
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
	memcpy(o->data + o->len, file_data.data, count);
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
	case READDIR:
		/* An empty directory, also for READDIRPLUS */
		put_words(o, 4, 0);
		put(o, 1);
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

/**
 * put_rpc - append an honest RPC Reply
 * @o: the message
 * @call: Call to answer
 */
void put_rpc(struct octets *o, const struct call *call)
{
	put(o, call->xid);
	put(o, 1);
	put_words(o, 4, 0);
	put_results(o, call);
}
