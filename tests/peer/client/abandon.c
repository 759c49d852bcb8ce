// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that are opened and abandoned, so many in each way.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define ABANDONED	150
#define BATCH		50

/* An address that no peer has who was served, and places for such */
#define STRANGER	"192.168.77.2"
#define STRANGERS	128
/* For so long, one more has none. */
#define WAIT_MS		3000

/* Whatever @open left open is closed by the end of its process. */
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

/*
 * As many strangers as there are places for, who say nothing: another one has to wait, but
 * not who was served before, as those at this end's other address were.
 */
static void take_places(void)
{
	struct options options = default_options;
	unsigned int i;

	stays(ready());
	options.source = STRANGER;
	for (i = 0; i < STRANGERS; i++)
		if (!connection_try(&options))
			fail("only %u strangers had a place", i);
	connection_expect_wait(&options, WAIT_MS);
	stays(ready());
}

const struct test abandon_tests[] = {
	{ "abandoned: strangers that say nothing", take_places },
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
