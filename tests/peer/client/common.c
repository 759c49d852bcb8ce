// SPDX-License-Identifier: GPL-2.0
/*
 * What most cases begin and end with.
 */
#include <stdio.h>
#include <string.h>

#include "client.h"

/**
 * first_message - a connection on which nothing was said
 */
struct connection *first_message(void)
{
	return connection_open(&default_options);
}

/**
 * negotiate - say CONNPROP, and hear the server's; or a Call of version 1
 * @c: a connection on which nothing was said
 */
void negotiate(struct connection *c)
{
	if (version == 1) {
		stays(c);
		return;
	}
	say(c, CONNPROP PROPERTIES);
	expect(c, CONNPROP_ANSWER);
}

/**
 * ready_with - a connection that is negotiated
 * @recvs: how many Receives are posted, and messages may be sent at once
 */
struct connection *ready_with(unsigned int recvs)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = recvs;
	if (options.sends < recvs)
		options.sends = recvs;
	c = connection_open(&options);
	negotiate(c);
	return c;
}

/**
 * ready - a connection that is negotiated
 */
struct connection *ready(void)
{
	return ready_with(default_options.recvs);
}

/**
 * stays - an honest Call has to be served
 * @c: the connection
 */
void stays(struct connection *c)
{
	say(c, NULL_CALL);
	expect(c, NULL_REPLY);
}

/**
 * earn - be granted as many Calls as the server grants at the most
 * @c: a connection that is negotiated, with a Receive for each of them
 *
 * A client that uses what it has gets more, if it doesn't have all of it at once.
 */
void earn(struct connection *c)
{
	unsigned int granted = FIRST_GRANTED, rounds, i;
	struct message m;

	for (rounds = 0; rounds < 100 && granted < GRANTED; rounds++) {
		say_at_once(c, granted, NULL_CALL);
		for (i = granted; i; i--) {
			if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
				fail("not all was answered");
			granted = word_at(m.data, 2);
		}
	}
	if (granted != GRANTED)
		fail("%u Calls are granted, not %u", granted, GRANTED);
}

static void expect_end(struct connection *c, enum end end)
{
	if (end == CLOSES)
		connection_expect_closed(c);
	else
		stays(c);
}

/**
 * attack - say one message, and expect what is due
 * @c: the connection
 * @a: the message
 */
void attack(struct connection *c, const struct attack *a)
{
	say(c, "%s", a->message);
	if (a->answer)
		expect(c, "%s", a->answer);
	expect_end(c, a->end);
}

/**
 * attack_as_written - the same, in whatever version it is written
 * @c: the connection
 * @a: the message
 */
void attack_as_written(struct connection *c, const struct attack *a)
{
	connection_say(c, "%s", a->message);
	if (a->answer)
		connection_expect(c, "%s", a->answer);
	expect_end(c, a->end);
}

/**
 * server_counter - what the server says that it has done
 * @name: of a counter
 */
unsigned long long server_counter(const char *name)
{
	FILE *file = fopen("/sys/kernel/debug/rpcrdma2/server", "r");
	unsigned long long value;
	char line[128];

	if (!file)
		fail("no statistics of the server");
	while (fscanf(file, "%127[^:]: %llu ", line, &value) == 2) {
		if (!strcmp(line, name)) {
			fclose(file);
			return value;
		}
	}
	fail("the server has no %s", name);
}

/**
 * address - where memory is, for a segment
 * @m: the memory
 */
uint64_t address(const struct memory *m)
{
	return (uintptr_t)m->data;
}

/**
 * check_data - memory has to hold data of the server's file, and no more
 * @m: the memory, of zeroes before
 * @offset: where the data start
 * @len: octets of them
 */
void check_data(const struct memory *m, unsigned int offset, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		if (m->data[offset + i] != DATA[i % strlen(DATA)])
			fail("octet %u is %02x", i, m->data[offset + i]);
	for (; offset + i < m->len; i++)
		if (m->data[offset + i])
			fail("octet %u was written", offset + i);
}

/**
 * say_read - a READ of the server's file, with one Write chunk
 * @c: the connection
 * @id: its XID
 * @count: octets to be read
 * @handle: of the chunk
 * @offered: octets of the chunk
 * @offset: of the chunk
 */
void say_read(struct connection *c, unsigned int id, unsigned int count,
	      uint32_t handle, unsigned int offered, uint64_t offset)
{
	say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT END END
	    READ_CALL, id, handle, offered, offset, id, count);
}

/**
 * expect_read - what answers say_read()
 * @c: the connection
 * @count: octets that were read
 * @handle: of the chunk
 * @offset: of the chunk
 */
void expect_read(struct connection *c, unsigned int count, uint32_t handle,
		 uint64_t offset)
{
	expect(c, REPLY_HEAD END END NEXT "00000001 " A_SEGMENT
	       END END READ_REPLY, xid, handle, count, offset, xid,
	       count == DATA_LEN, count);
}

/**
 * stuck - a connection with READs under way whose Replies nobody takes
 * @calls: how many
 */
struct connection *stuck(unsigned int calls)
{
	struct connection *c = ready_with(1);
	struct memory m;
	unsigned int i;

	/* The one Receive was for what negotiated it. */
	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_WRITE);
	for (i = 0; i < calls; i++)
		say_read(c, xid + i, 4096, m.mr->rkey, 4096, address(&m));
	return c;
}
