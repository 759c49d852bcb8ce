// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a case of the hostile server, for one client. The server answers what a mount and the
 * reading of "file" need of NFS version 3. On the way, the case misbehaves.
 *
 * SIGTERM asks for the verdict. The client may finish first, so the server has five more
 * seconds.
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

/*
 * The first word of a case's name says what the client's user must see:
 *
 *	survives	all data are right, perhaps on another connection
 *	errs		one read fails, and later reads succeed
 *	killed		a reader that waits can be killed; SIGUSR1 says that it was
 *	fails		the mount fails within a limited time
 *
 * More words say:
 *
 *	v1		the server has only version 1
 *	all		the client asks in all dialects
 *	both		the client may fall back to version 1
 *	genl		the client takes Calls with chunks
 */
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

/* A thread takes the signals, because a handler would interrupt the server's waits. */
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
 * misbehave - run a case
 * @name: name of the case
 *
 * Return: 2 for an unknown name; otherwise never.
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
