// SPDX-License-Identifier: GPL-2.0
/*
 * A client that has the server hold memory for it, on many connections.
 *
 * The means is the same in each case: the client posts no Receive, and asks the
 * device to try again for ever. A Send to it does not complete then, and neither does
 * what the server posts behind that Send. tests/hostile.sh looks at the server's
 * memory meanwhile, and at honest mounts.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#define MIB		(1024 * 1024)
/* Replies are due by then, if there is a Send buffer for them. */
#define ANSWER_MS	3000
#define BATCH		16

#define LOOKUP_HUGE	"00000018 0000000f 00000004 68756765 "
/* An operation behind the READ: so nfsd copies, and the pages are not the file's. */
#define COPIED_READ	COMPOUND "00000004 " LOOKUP_HUGE READ "00000018"

struct hold {
	const char		*name;
	struct connection	*(*prepare)(const char *source);
	void			(*attack)(struct connection *c,
					  const struct memory *m);
};

/* Memory of a MiB for each READ or WRITE. No two connections share a handle. */
struct held {
	struct connection	*c;
	struct memory		m;
};

static struct connection *prepare(const char *source, unsigned int recvs)
{
	struct options options = default_options;
	struct connection *c;

	options.recvs = recvs;
	options.sends = MAX_CHAIN;
	options.source = source;
	c = connection_open(&options);
	negotiate(c);
	return c;
}

/* The one Receive is for what negotiates it. */
static struct connection *without_receives(const char *source)
{
	return prepare(source, 1);
}

static struct connection *with_credits(const char *source)
{
	struct connection *c = prepare(source, GRANTED + 8);

	earn(c);
	return c;
}

/* Calls of all clients that are not answered */
static long long unanswered(void)
{
	/* In this order: an answer follows its Call. */
	unsigned long long replies = server_counter("replies_sent");

	return server_counter("calls_received") - replies;
}

static bool is_answered_within(long long before, int ms)
{
	int64_t deadline = now_ms() + ms;

	while (unanswered() > before) {
		if (now_ms() > deadline)
			return false;
		usleep(20000);
	}
	return true;
}

/* The server has a Send buffer for each, until it has no more. */
static void use_up_sends(struct connection *c)
{
	long long before = unanswered();

	do {
		say_at_once(c, BATCH, NULL_CALL);
	} while (is_answered_within(before, ANSWER_MS));
}

static void say_reads(struct connection *c, const struct memory *m,
		      unsigned int calls)
{
	unsigned int i;

	for (i = 0; i < calls; i++)
		say(c, CALL_HEAD END END NEXT "00000001 " A_SEGMENT END END
		    COPIED_READ, xid + i, m->mr->rkey, MIB, address(m),
		    xid + i, MIB);
}

static void replies_wait(struct connection *c, const struct memory *m)
{
	use_up_sends(c);
	say_reads(c, m, GRANTED - BATCH);
}

static void replies_written(struct connection *c, const struct memory *m)
{
	say_reads(c, m, FIRST_GRANTED);
}

/*
 * The Reads are behind a Reply on the Send Queue. Calls of the connection before this one
 * may arrive while this one waits, and look as if the NULL were not answered: the wait ends
 * after ANSWER_MS in any case.
 */
static void reads(struct connection *c, const struct memory *m)
{
	long long before = unanswered();
	unsigned int i;

	say(c, NULL_CALL);
	is_answered_within(before, ANSWER_MS);
	for (i = 0; i < FIRST_GRANTED - 1; i++)
		say(c, CALL_HEAD END NEXT "%08x " A_SEGMENT END END END
		    WRITE_CALL, xid + i, WRITE_POSITION, m->mr->rkey,
		    MIB, address(m), xid + i, MIB);
}

static const struct hold holds[] = {
	{ "replies-wait", with_credits, replies_wait },
	{ "replies-written", without_receives, replies_written },
	{ "reads", without_receives, reads },
};

static const struct hold *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(holds); i++)
		if (!strcmp(holds[i].name, name))
			return &holds[i];
	fail("no case %s", name);
}

/* Say so, and go on at SIGUSR1. */
static void say_and_wait(const char *what, const sigset_t *set)
{
	int signal;

	printf("%s\n", what);
	sigwait(set, &signal);
}

/**
 * hold - have the server hold what it can be made to hold, until a signal comes
 * @name: of a case
 * @connections: how many
 * @sources: how many addresses they come from: 192.168.77.10 and those behind it
 *
 * It says "ready" when all are connected, and goes on at SIGUSR1; and then "holding".
 */
int hold(const char *name, unsigned int connections, unsigned int sources)
{
	const struct hold *h = find(name);
	struct held *held = calloc(connections, sizeof(*held));
	char source[sizeof("192.168.77.255")];
	sigset_t set;
	unsigned int i;

	if (!held || !sources || sources > 200)
		fail("%u connections, %u addresses", connections, sources);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < connections; i++) {
		sprintf(source, "192.168.77.%u", 10 + i % sources);
		held[i].c = h->prepare(source);
		memory_expose(held[i].c, &held[i].m, MIB + 4096,
			      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	}
	say_and_wait("ready", &set);
	for (i = 0; i < connections; i++)
		h->attack(held[i].c, &held[i].m);
	say_and_wait("holding", &set);
	return 0;
}
