// SPDX-License-Identifier: GPL-2.0
/* Honest Replies, and connections with an honest client */
#include <stdio.h>
#include <string.h>

#include "server.h"

unsigned int grant = 32;
struct memory file_data;
/* Memory for a Reply that goes to a Reply chunk */
static struct memory scratch;

/**
 * put_header - write the header of an honest Reply
 * @o: receives the header
 * @call: Call to answer
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
 * build_reply - write an honest Reply
 * @o: receives the Reply
 * @call: Call to answer, without a Reply chunk
 */
void build_reply(struct octets *o, const struct call *call)
{
	put_header(o, call);
	put_rpc(o, call);
}

/**
 * write_data - do the RDMA Write of an honest Reply
 * @c: the connection
 * @call: Call to answer
 */
void write_data(struct connection *c, const struct call *call)
{
	if (call->has_write)
		connection_write(c, &file_data, read_count(call),
				 call->segments[0].handle,
				 call->segments[0].offset);
}

/**
 * reply_in_chunk - answer a Call in its Reply chunk
 * @c: the connection
 * @call: the Call
 * @spoil: octet of the RPC message to make wrong; -1: none
 * @fill: claim to have written all of the chunk
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
 * @options: how to make the connection
 *
 * Return: the connection.
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
 * expect_connprop - fail unless the next message is the client's CONNPROP
 * @c: the connection
 */
void expect_connprop(struct connection *c)
{
	connection_expect(c, "00000001 " VERS "xxxxxxxx 00000005 " CALL_FLAGS
			  PROPERTIES_OF("%08x"), takes_chunks ? 2 : 1);
}

/**
 * build_connprop_answer - write an honest answer to CONNPROP
 * @o: receives the answer
 */
void build_connprop_answer(struct octets *o)
{
	octets_format(o, "00000001 " VERS "%08x 00000005 " REPLY_FLAGS
		      PROPERTIES, grant);
}

/**
 * answer_connprop - send an honest answer to CONNPROP
 * @c: the connection
 */
void answer_connprop(struct connection *c)
{
	static struct octets o;

	build_connprop_answer(&o);
	connection_send(c, o.data, o.len, 0);
}

/**
 * greet - exchange CONNPROPs
 * @c: a connection without messages so far
 *
 * In version 1, next_call() answers the client's question instead.
 */
void greet(struct connection *c)
{
	if (version == 1)
		return;
	expect_connprop(c);
	answer_connprop(c);
}

/**
 * silent_client - accept the client's next connection, and say nothing
 *
 * Posts a Receive for each granted Call. In version 1, the client assumes that each has
 * 1024 octets.
 *
 * Return: the connection.
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
 * greeted - accept the client's next connection, and exchange CONNPROPs
 *
 * Return: the connection.
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
 * @call: receives the Call
 *
 * Return: false if the client closed the connection.
 */
bool next_call(struct connection *c, struct call *call)
{
	struct message m;

	while (connection_receive(c, &m, FOREVER_MS) == MESSAGE) {
		if (word_at(m.data, 1) == version) {
			parse_call(&m, call);
			return true;
		}
		/* The client asks for version 2. */
		connection_say(c, "%08x " VERS "%08x 00000004 00000001 "
			       VERS_1 VERS_1, word_at(m.data, 0), grant);
	}
	return false;
}

/**
 * serve_until - answer Calls until a certain one comes
 * @c: the connection
 * @procedure: procedure of that Call
 * @call: receives that Call, without an answer
 *
 * Return: false if the client closed the connection first.
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
 * serve - answer Calls honestly until the client closes the connection
 * @c: the connection
 */
void serve(struct connection *c)
{
	struct call call;

	while (next_call(c, &call))
		reply(c, &call);
}

/**
 * expect_gone - fail unless the client closes the connection
 * @c: the connection; Calls may still arrive
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
 * at_read - accept connections until the client reads
 * @call: receives the second READ, without an answer
 *
 * Answers the first READ, because a client may be slow with a server that answers
 * nothing.
 *
 * Return: the connection.
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
