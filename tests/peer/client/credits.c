// SPDX-License-Identifier: GPL-2.0
/* Cases with as many Calls as the server grants, and with more */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

static void all_credits_at_once(void)
{
	struct connection *c = ready_with(GRANTED + 8);
	unsigned long long waits;
	unsigned int i, j, words = 0;
	struct message m;
	struct memory mem;
	char list[LIST_TEXT] = "";

	earn(c);
	waits = server_counter("rdma_read_waits");
	memory_expose(c, &mem, IWARP_READ_SEGMENTS * 1024, IBV_ACCESS_REMOTE_READ);
	for (j = 0; j < IWARP_READ_SEGMENTS; j++)
		sprintf(list + strlen(list), NEXT "%08x " A_SEGMENT,
			WRITE_POSITION, mem.mr->rkey, 1024,
			address(&mem) + j * 1024);
	for (i = 0; i < GRANTED; i++)
		say(c, CALL_HEAD END "%s" END END END WRITE_CALL,
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
	/*
	 * Of the Calls that wait for registrations, only one or two may retry at a
	 * time.
	 */
	waits = server_counter("rdma_read_waits") - waits;
	if (waits > 2 * GRANTED)
		fail("%llu attempts were in vain", waits);
	stays(c);
}

/*
 * Send Calls faster than the server can answer. The server may still answer each Call
 * before the next one arrives, so send them repeatedly.
 */
static void too_many_at_once(struct connection *c, unsigned int rounds)
{
	struct message m;
	unsigned int i;

	negotiate(c);
	for (i = 0; i < rounds * MAX_CHAIN; i++) {
		if (i % MAX_CHAIN == 0)
			say_at_once(c, MAX_CHAIN, NULL_CALL);
		if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
			break;
	}
	connection_expect_closed(c);
}

/*
 * A Call counts until the server answers. The server may keep more Replies that nobody
 * takes than it granted, but not any number.
 */
static void more_calls_than_granted(void)
{
	struct options options = default_options;

	options.sends = MAX_CHAIN;
	options.recvs = 1;
	too_many_at_once(connection_open(&options), 1);
}

/* The client takes all Replies, so only the Calls exceed the grant. */
static void more_at_once_than_granted(void)
{
	struct options options = default_options;
	struct connection *c;

	options.sends = MAX_CHAIN;
	options.recvs = MAX_CHAIN;
	c = connection_open(&options);
	connection_needs_infiniband(c, "what finds no Receive ends it");
	too_many_at_once(c, 20);
}

static void replies_not_taken(void)
{
	struct connection *c = stuck(FIRST_GRANTED);
	struct message m;
	unsigned int i;

	connection_needs_infiniband(c, "what finds no Receive ends it");
	usleep(3000000);
	connection_post_receives(c, FIRST_GRANTED + 8);
	for (i = 0; i < FIRST_GRANTED; i++)
		if (connection_receive(c, &m, PATIENCE_MS) != MESSAGE)
			fail("%u Replies instead of %u", i, FIRST_GRANTED);
	stays(c);
}

const struct test credit_tests[] = {
	{ "credits: all at once, with 64 segments each", all_credits_at_once },
	{ "credits: twice as many as granted, and no Reply is taken",
	  more_calls_than_granted },
	{ "credits: twice as many as granted at once, and all Replies are taken",
	  more_at_once_than_granted },
	{ "credits: Replies that are not taken for a while",
	  replies_not_taken },
	{ },
};
