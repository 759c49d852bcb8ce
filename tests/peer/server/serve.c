// SPDX-License-Identifier: GPL-2.0
/*
 * Honest Replies, and connections with a client that gets them.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

unsigned int grant = 32;
struct memory file_data;
/* For a Reply that goes to a Reply chunk */
static struct memory scratch;

/**
 * put_header - the header of an honest Reply
 * @o: where to; overwritten
 * @call: what it answers
 */
void put_header(struct octets *o, const struct call *call)
{
	if (call->has_write)
		octets_format(o, REPLY_TO WRITTEN, call->xid, grant,
			      call->segments[0].handle, read_count(call),
			      call->segments[0].offset);
	else
		octets_format(o, REPLY_TO NOTHING, call->xid, grant);
	in_this_version(o);
}

/**
 * build_reply - all of an honest Reply
 * @o: where to; overwritten
 * @call: what it answers, without a Reply chunk
 */
void build_reply(struct octets *o, const struct call *call)
{
	put_header(o, call);
	put_rpc(o, call);
}

/**
 * write_data - do the RDMA Write of an honest Reply
 * @c: the connection
 * @call: what it answers
 */
void write_data(struct connection *c, const struct call *call)
{
	if (call->has_write)
		connection_write(c, &file_data, read_count(call),
				 call->segments[0].handle,
				 call->segments[0].offset);
}

/**
 * reply_in_chunk - answer a Call that has a Reply chunk
 * @c: the connection
 * @call: the Call
 * @spoil: which octet of the RPC message is wrong; -1: none
 * @fill: say that all of the chunk was written to
 */
void reply_in_chunk(struct connection *c, const struct call *call, int spoil,
		    bool fill)
{
	char list[MAX_SEGMENTS * 40] = "";
	const struct segment *seg = call->segments;
	static struct octets o;
	unsigned int i, n, done = 0;

	memset(&o, 0, sizeof(o));
	put_rpc(&o, call);
	if (spoil >= 0)
		o.data[spoil] ^= 1;
	for (i = 0; i < call->nsegs; i++, seg++) {
		n = o.len - done < seg->length ? o.len - done : seg->length;
		memcpy(scratch.data, o.data + done, n);
		if (n)
			connection_write(c, &scratch, n, seg->handle,
					 seg->offset);
		sprintf(list + strlen(list), "%08x %08x %016lx ", seg->handle,
			fill ? seg->length : n, seg->offset);
		done += n;
	}
	if (done < o.len)
		fail("the Reply chunk has only %u octets", done);
	say(c, "%08x " VERS "%08x 00000001 " REPLY_FLAGS END END END
	    NEXT "%08x %s", call->xid, grant, call->nsegs, list);
}

/**
 * reply - answer a Call honestly
 * @c: the connection
 * @call: the Call
 */
void reply(struct connection *c, const struct call *call)
{
	static struct octets o;

	if (call->has_reply) {
		reply_in_chunk(c, call, -1, false);
		return;
	}
	build_reply(&o, call);
	write_data(c, call);
	connection_send(c, o.data, o.len, call->inv_handle);
}

/* Connections */

/**
 * next_client - accept the client's next connection
 * @options: how
 */
struct connection *next_client(const struct options *options)
{
	struct connection *c = connection_accept(listener, FOREVER_MS, options);
	unsigned int i;

	memory_expose(c, &file_data, READ_MAX, 0);
	for (i = 0; i < READ_MAX; i++)
		file_data.data[i] = DATA[i % strlen(DATA)];
	memory_expose(c, &scratch, MESSAGE_MAX, 0);
	return c;
}

/**
 * expect_connprop - it has to be the client's first message
 * @c: the connection
 */
void expect_connprop(struct connection *c)
{
	connection_expect(c, "00000001 " VERS "xxxxxxxx 00000005 " CALL_FLAGS
			  PROPERTIES_OF("%08x"), takes_chunks ? 2 : 1);
}

/**
 * build_connprop_answer - as it should be
 * @o: where to; overwritten
 */
void build_connprop_answer(struct octets *o)
{
	octets_format(o, "00000001 " VERS "%08x 00000005 " REPLY_FLAGS
		      PROPERTIES, grant);
}

/**
 * answer_connprop - as it should be
 * @c: the connection
 */
void answer_connprop(struct connection *c)
{
	static struct octets o;

	build_connprop_answer(&o);
	connection_send(c, o.data, o.len, 0);
}

/**
 * greet - negotiate
 * @c: a connection on which nothing was said
 *
 * In version 1 that is done when the client asks, see next_call().
 */
void greet(struct connection *c)
{
	if (version == 1)
		return;
	expect_connprop(c);
	answer_connprop(c);
}

/**
 * silent_client - the client's next connection; nothing was said yet
 *
 * It has as many Receives as are granted, which a client of version 1 takes to
 * have room for 1024 octets.
 */
struct connection *silent_client(void)
{
	struct options options = default_options;

	options.recvs = grant + 4;
	if (version == 1)
		options.recv_size = 1024;
	return next_client(&options);
}

/**
 * greeted - the client's next connection, negotiated
 */
struct connection *greeted(void)
{
	struct connection *c = silent_client();

	greet(c);
	return c;
}

/**
 * next_call - wait for a Call
 * @c: the connection
 * @call: it
 *
 * Return: false if the client closed the connection
 */
bool next_call(struct connection *c, struct call *call)
{
	struct message m;

	while (connection_receive(c, &m, FOREVER_MS) == MESSAGE) {
		if (word_at(m.data, 1) == version) {
			parse_call(&m, call);
			return true;
		}
		/* It asks for version 2. */
		connection_say(c, "%08x " VERS "%08x 00000004 00000001 "
			       VERS_1 VERS_1, word_at(m.data, 0), grant);
	}
	return false;
}

/**
 * serve_until - answer Calls until one comes that stays to be answered
 * @c: the connection
 * @procedure: what to wait for
 * @call: it
 *
 * Return: false if the client closed the connection before
 */
bool serve_until(struct connection *c, uint32_t procedure, struct call *call)
{
	while (next_call(c, call)) {
		if (call->procedure == procedure)
			return true;
		reply(c, call);
	}
	return false;
}

/**
 * serve - be honest for the rest of a connection
 * @c: the connection
 */
void serve(struct connection *c)
{
	struct call call;

	while (next_call(c, &call))
		reply(c, &call);
}

/**
 * expect_gone - the client has to close a connection
 * @c: the connection; Calls may be on their way
 */
void expect_gone(struct connection *c)
{
	enum happening what;
	struct message m;

	do {
		what = connection_receive(c, &m, PATIENCE_MS);
	} while (what == MESSAGE);
	if (what != CLOSED)
		fail("the client keeps the connection");
}

/**
 * at_read - the client's next connection on which it wants to read
 * @call: the READ, which stays to be answered
 *
 * One READ is answered before: a client need not hurry to a server that answers
 * nothing.
 */
struct connection *at_read(struct call *call)
{
	struct connection *c;

	for (;;) {
		c = greeted();
		if (!serve_until(c, READ, call))
			continue;
		reply(c, call);
		if (serve_until(c, READ, call))
			return c;
	}
}
