// SPDX-License-Identifier: GPL-2.0
/* Cases that open many connections and abandon them at several stages */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define ABANDONED	150
#define BATCH		50

/*
 * Addresses of the crowd, and one of an honest client. The server has answered none of
 * them before.
 */
static const char * const crowd[] = {
	"192.168.77.2", "192.168.77.4", "192.168.77.5", "192.168.77.6",
};

#define BYSTANDER	"192.168.77.3"

/*
 * Connections of one address that the server accepts, or keeps waiting, until they
 * speak
 */
#define PLACES_EACH	64
/* ... and of all addresses together */
#define PLACES		256
#define WAITING_EACH	1024
/* Connections beyond the ones that have a place or may wait */
#define MORE		100
/* For this long, one more connection must find no place. */
#define WAIT_MS		3000
/* Within this time, an honest client is served, although the others use up the CPU. */
#define SOON_MS		10000
/*
 * The same if the honest client has to wait until the server gives up on silent peers
 */
#define LATER_MS	20000

/* Connections of each kind that linger */
#define LINGERING	35

/* Open connections in a process, whose end closes what @open left open. */
static void abandon(void (*open)(void), int sig)
{
	unsigned int i, n;
	int status;
	pid_t pid;

	for (i = 0; i < ABANDONED; i += BATCH) {
		int ready_pipe[2];
		char octet;

		if (pipe(ready_pipe))
			fail("no pipe");
		pid = fork();
		if (!pid) {
			for (n = 0; n < BATCH; n++)
				open();
			if (write(ready_pipe[1], "", 1) != 1 || !sig)
				_exit(0);
			pause();
		}
		close(ready_pipe[1]);
		if (read(ready_pipe[0], &octet, 1) != 1)
			fail("connections can't be opened");
		if (sig)
			kill(pid, sig);
		close(ready_pipe[0]);
		if (waitpid(pid, &status, 0) != pid ||
		    (!sig && status) || (sig && WTERMSIG(status) != sig))
			fail("status %x", status);
	}
	stays(ready());
}

static void open_and_do_not_wait(void)
{
	connection_start(true, &default_options);
}

static void open_and_spurn(void)
{
	connection_spurn(connection_start(false, &default_options));
}

static void open_half(void)
{
	connection_start(false, &default_options);
}

static void open_and_say_nothing(void)
{
	first_message();
}

static void open_and_do_not_listen(void)
{
	connection_say(first_message(), CONNPROP PROPERTIES);
}

static void open_and_call(void)
{
	struct connection *c = ready();
	struct memory m;

	memory_expose(c, &m, DATA_LEN, IBV_ACCESS_REMOTE_WRITE);
	say_read(c, xid, DATA_LEN, m.mr->rkey, DATA_LEN, address(&m));
}

static void open_and_take_nothing(void)
{
	stuck(4);
}

static void open_all(void)
{
	ready();
}

static void abandon_at_once(void) { abandon(open_and_do_not_wait, 0); }

static void abandon_spurned(void)
{
	connection_needs_infiniband(ready(), "a connect takes a QP");
	abandon(open_and_spurn, 0);
}

static void abandon_half_open(void)
{
	connection_needs_infiniband(ready(), "a connect takes a QP");
	abandon(open_half, 0);
}

static void abandon_silent(void) { abandon(open_and_say_nothing, 0); }
static void abandon_unheard(void) { abandon(open_and_do_not_listen, 0); }
static void abandon_calls(void) { abandon(open_and_call, 0); }
static void abandon_replies(void) { abandon(open_and_take_nothing, 0); }
static void abandon_killed(void) { abandon(open_all, SIGKILL); }

/* The server must serve a client that it does not know, within @ms. */
static void bystander_is_served(int ms)
{
	struct options options = default_options;
	int64_t start = now_ms();
	struct connection *c;

	options.source = BYSTANDER;
	c = connection_try(&options);
	if (!c)
		fail("the server does not accept another client");
	negotiate(c);
	stays(c);
	if (now_ms() - start > ms)
		fail("that took %d ms", (int)(now_ms() - start));
	connection_close(c);
}

/* One address takes all of its places, and says nothing. */
static void take_places(void)
{
	struct options options = default_options;
	unsigned int i;

	options.source = crowd[0];
	for (i = 0; i < PLACES_EACH; i++)
		if (!connection_try(&options))
			fail("only %u connections had a place", i);
	connection_expect_wait(&options, WAIT_MS);
	/* Without the limit for an address, these would take all other places. */
	for (i = PLACES_EACH; i < PLACES; i++)
		connection_start(true, &options);
	bystander_is_served(SOON_MS);
}

static void many_files(void)
{
	const struct rlimit limit = { 8192, 8192 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		fail("setrlimit");
}

/* One address asks for more connections than may wait for a place. */
static void overflow_backlog(void)
{
	unsigned long long refused = server_counter("connections_refused");
	struct options options = default_options;
	unsigned int i;

	connection_needs_infiniband(ready(), "a connect takes a QP");
	many_files();
	options.source = crowd[0];
	for (i = 0; i < PLACES_EACH + WAITING_EACH; i++)
		connection_start(false, &options);
	for (i = 0; i < MORE; i++)
		connection_expect_refused(&options);
	if (server_counter("connections_refused") - refused < MORE)
		fail("the server does not count what it refuses");
	bystander_is_served(SOON_MS);
}

/* Several addresses take all places, and nobody hears the server's answers. */
static void take_all_places(void)
{
	struct options options = default_options;
	unsigned int i, n;

	connection_needs_infiniband(ready(), "a connect takes a QP");
	many_files();
	for (i = 0; i < ARRAY_SIZE(crowd); i++) {
		options.source = crowd[i];
		for (n = 0; n < PLACES_EACH; n++)
			connection_start(false, &options);
	}
	bystander_is_served(LATER_MS);
}

/**
 * linger - hold connections that are not set up, until the process is killed
 *
 * Return: never.
 */
int linger(void)
{
	bool half = !connection_is_iwarp(first_message());
	unsigned int i;

	for (i = 0; i < LINGERING; i++)
		open_and_say_nothing();
	/* These take the rest of this address's places, or wait for one. */
	for (i = 0; half && i < LINGERING; i++)
		open_half();
	printf("lingering\n");
	for (;;)
		pause();
}

const struct test abandon_tests[] = {
	{ "abandoned: as many as have a place", take_places },
	{ "abandoned: more than may wait", overflow_backlog },
	{ "abandoned: all places", take_all_places },
	{ "abandoned: 150 that do not wait", abandon_at_once },
	{ "abandoned: 150 that reject the server", abandon_spurned },
	{ "abandoned: 150 half open", abandon_half_open },
	{ "abandoned: 150 that say nothing", abandon_silent },
	{ "abandoned: 150 that do not wait for CONNPROP", abandon_unheard },
	{ "abandoned: 150 with a Call", abandon_calls },
	{ "abandoned: 150 that take no Reply", abandon_replies },
	{ "abandoned: 150 of processes that are killed", abandon_killed },
	{ },
};
