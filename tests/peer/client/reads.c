// SPDX-License-Identifier: GPL-2.0
/* Cases whose Calls have long arguments, which the server must read */
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* Not a multiple of 1 MiB: see memory_expose(). */
#define ARGUMENT_LEN	((1 << 20) - 4096)

static unsigned int id_of(unsigned int call)
{
	return xid + call;
}

/* Send GRANTED - 1 Calls with almost 1 MiB each, and then a Call of a few words. */
static void say_all(struct connection *c, const struct memory *m)
{
	struct octets *messages = calloc(GRANTED, sizeof(*messages));
	const struct octets *chain[GRANTED];
	unsigned int i;

	if (!messages)
		fail("no memory");
	for (i = 0; i < GRANTED - 1; i++)
		octets_format(&messages[i],
			      CALL_HEAD END NEXT "%08x " A_SEGMENT END END END
			      WRITE_CALL, id_of(i), WRITE_POSITION, m->mr->rkey,
			      m->len, address(m), id_of(i), m->len);
	octets_format(&messages[i], CALL_HEAD NOTHING "%08x " RPC_NULL,
		      id_of(i), id_of(i));
	for (i = 0; i < GRANTED; i++) {
		in_this_version(&messages[i]);
		chain[i] = &messages[i];
	}
	connection_send_chain(c, chain, GRANTED);
	free(messages);
}

/*
 * A Reply must not wait on the Send Queue behind all the Reads. The server may have
 * only one Read at a time here. So the Reply to the short Call has to overtake most of
 * the others. Count the Replies, because times depend on the load of the machine.
 */
static void short_call_behind_them(void)
{
	struct options options = default_options;
	struct connection *c;
	struct message reply;
	unsigned int i, before = GRANTED;
	struct memory m;

	options.sends = GRANTED;
	options.recvs = GRANTED + 8;
	options.reads = 1;
	c = connection_open(&options);
	negotiate(c);
	earn(c);
	memory_expose(c, &m, ARGUMENT_LEN, IBV_ACCESS_REMOTE_READ);
	memset(m.data, 'w', m.len);
	say_all(c, &m);
	for (i = 0; i < GRANTED; i++) {
		if (connection_receive(c, &reply, PATIENCE_MS) != MESSAGE)
			fail("%u Replies instead of %u", i, GRANTED);
		if (word_at(reply.data, 3) != 0)
			fail("not a Reply");
		if (word_at(reply.data, 0) == id_of(GRANTED - 1))
			before = i;
	}
	if (before > GRANTED / 2)
		fail("%u of %u Replies before the short one", before, GRANTED);
	stays(c);
}

const struct test read_tests[] = {
	{ "reads: a short Call behind 63 MiB", short_call_behind_them },
	{ },
};
