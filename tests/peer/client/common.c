// SPDX-License-Identifier: GPL-2.0
/* Steps that most cases of the hostile client start and end with */
#include <stdio.h>
#include <string.h>

#include "client.h"

/**
 * first_message - connect, and send nothing
 *
 * Return: the connection.
 */
struct connection *first_message(void)
{
	return connection_open(&default_options);
}

/**
 * negotiate - exchange CONNPROPs; in version 1, make a Call
 * @c: a connection without messages so far
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
 * ready_with - connect and negotiate
 * @recvs: Receives to post; as many messages can be sent at once
 *
 * Return: the connection.
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
 * ready - connect and negotiate, with the default options
 *
 * Return: the connection.
 */
struct connection *ready(void)
{
	return ready_with(default_options.recvs);
}

/**
 * stays - make an honest Call, and fail unless the server answers
 * @c: the connection
 */
void stays(struct connection *c)
{
	say(c, NULL_CALL);
	expect(c, NULL_REPLY);
}

/**
 * earn - get the server's largest credit grant
 * @c: a negotiated connection, with a Receive for each Call
 *
 * The server raises the grant of a client that uses up its credits.
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
 * attack - send an attack in the case's version, and expect the server's reaction
 * @c: the connection
 * @a: the attack
 */
void attack(struct connection *c, const struct attack *a)
{
	say(c, "%s", a->message);
	if (a->answer)
		expect(c, "%s", a->answer);
	expect_end(c, a->end);
}

/**
 * attack_as_written - send an attack in its own version, and expect the server's reaction
 * @c: the connection
 * @a: the attack
 */
void attack_as_written(struct connection *c, const struct attack *a)
{
	connection_say(c, "%s", a->message);
	if (a->answer)
		connection_expect(c, "%s", a->answer);
	expect_end(c, a->end);
}

/**
 * server_counter - read a counter of the server
 * @name: name of the counter
 *
 * Return: the counter.
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
 * address - make the offset of a segment
 * @m: memory of the segment
 *
 * Return: the offset.
 */
uint64_t address(const struct memory *m)
{
	return (uintptr_t)m->data;
}

/**
 * check_data - fail unless memory holds data of the server's file, and nothing else
 * @m: the memory, which was zeroed before
 * @offset: offset of the data
 * @len: octets of the data
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
 * say_read - send a READ of the server's file with one Write chunk
 * @c: the connection
 * @id: XID of the READ
 * @count: octets to read
 * @handle: handle of the chunk
 * @offered: octets of the chunk
 * @offset: offset of the chunk
 */
void say_read(struct connection *c, unsigned int id, unsigned int count,
	      uint32_t handle, unsigned int offered, uint64_t offset)
{
	say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT END END
	    READ_CALL, id, handle, offered, offset, id, count);
}

/**
 * expect_read - fail unless the next message is the Reply to say_read()
 * @c: the connection
 * @count: octets that were read
 * @handle: handle of the chunk
 * @offset: offset of the chunk
 */
void expect_read(struct connection *c, unsigned int count, uint32_t handle,
		 uint64_t offset)
{
	expect(c, REPLY_HEAD END END NEXT "00000001 " A_SEGMENT
	       END END READ_REPLY, xid, handle, count, offset, xid,
	       count == DATA_LEN, count);
}

/**
 * stuck - connect, and send READs without a Receive for any Reply
 * @calls: number of READs
 *
 * Return: the connection.
 */
struct connection *stuck(unsigned int calls)
{
	struct connection *c = ready_with(1);
	struct memory m;
	unsigned int i;

	/* Negotiation used up the only Receive. */
	memory_expose(c, &m, 4096, IBV_ACCESS_REMOTE_WRITE);
	for (i = 0; i < calls; i++)
		say_read(c, xid + i, 4096, m.mr->rkey, 4096, address(&m));
	return c;
}
