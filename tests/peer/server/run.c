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
 * dialects if there is "all"; with both, the client may fall back to version 1, and the
 * server has version 2; with genl, the client takes Calls with chunks, and says so.
 *
 * SIGTERM asks for the verdict. The client may be done before the server has seen that all
 * was as expected: it has five seconds for that.
 */
#include <pthread.h>
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

static void give_verdict(void)
{
	unsigned int tries;

	for (tries = 0; !as_expected && tries < 500; tries++)
		usleep(10000);
	_exit(!as_expected);
}

/* A thread: a handler would interrupt what the server waits for. */
static void *obey(void *signals)
{
	int sig;

	for (;;) {
		sigwait(signals, &sig);
		if (sig == SIGUSR1)
			reader_killed = true;
		else
			give_verdict();
	}
	return NULL;
}

static void obey_signals(void)
{
	static sigset_t signals;
	pthread_t thread;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	if (pthread_sigmask(SIG_BLOCK, &signals, NULL) ||
	    pthread_create(&thread, NULL, obey, &signals))
		fail("no thread for signals");
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
	obey_signals();
	version = strstr(name, "-v1-") ? 1 : 2;
	takes_chunks = strstr(name, "-genl-");
	listener = connection_listen();
	printf("# listening\n");
	test->run();
	as_expected = true;
	for (;;)
		serve(greeted());
}
