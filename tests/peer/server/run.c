// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile server, for one client. It answers as much of NFS version 3 as a
 * mount and the reading of "file", which repeats DATA, take; and somewhere on
 * the way it does what the case says.
 *
 * The first word of a case's name says what the client's user has to see:
 *
 *	survives	all that was read is right, if on another connection
 *	errs		one read fails, the next ones do not
 *	killed		a reader that waits can be killed; SIGUSR1 says that it was
 *	fails		the mount fails, and does not take for ever
 *
 * and with v1 as the second, the server has only version 1, and its client asks in all
 * dialects if there is "all"; with genl, the client takes Calls with chunks, and says so.
 *
 * SIGTERM asks for the verdict.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

struct rdma_cm_id *listener;
volatile sig_atomic_t as_expected, reader_killed;
bool takes_chunks;

static const struct test * const cases[] = {
	greeting_cases, credit_cases, older_cases, reply_cases, memory_cases,
	error_cases, call_cases, change_cases,
};

/**
 * list_misbehaviours - print the names of all cases
 */
void list_misbehaviours(void)
{
	const struct test *test;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (test = cases[i]; test->name; test++)
			printf("%s\n", test->name);
}

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		reader_killed = true;
	else
		_exit(!as_expected);
}

static const struct test *find(const char *name)
{
	const struct test *test;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (test = cases[i]; test->name; test++)
			if (!strcmp(test->name, name))
				return test;
	return NULL;
}

/**
 * misbehave - be a server
 * @name: the case
 *
 * Does not return but for a name that is none.
 */
int misbehave(const char *name)
{
	const struct test *test = find(name);

	if (!test) {
		fprintf(stderr, "no case '%s'\n", name);
		return 2;
	}
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	version = strstr(name, "-v1-") ? 1 : 2;
	takes_chunks = strstr(name, "-genl-");
	listener = connection_listen();
	printf("# listening\n");
	test->run();
	as_expected = true;
	for (;;)
		serve(greeted());
}
