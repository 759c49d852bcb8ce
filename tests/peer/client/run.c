// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile client. The server answers each message as the protocol has it, or
 * closes that connection, and neither it nor its other clients come to harm.
 *
 * The server exports a file "data" of 64 KiB, which repeats DATA, and an empty
 * one, "sink". It has the default module parameters.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

/* A case that takes longer hangs. */
#define HANG_SECS	300

static const struct {
	const char		*title;
	struct connection	*(*connect)(void);
	const struct attack	*attacks;
} tables[] = {
	{ "first", first_message, attacks_first },
	{ "prefix", ready, attacks_prefix },
	{ "lists", ready, attacks_lists },
	{ "RPC", ready, attacks_rpc },
};

static const struct test * const tests[] = {
	cut_tests, terms_tests, chunk_tests, handle_tests, room_tests,
	credit_tests, abandon_tests,
};

static unsigned int passed, failed, skipped;

/* In a process of its own. @run or @a says what. */
static void run_case(const char *only, const char *title, const char *name,
		     void (*run)(void), struct connection *(*connect)(void),
		     const struct attack *a)
{
	unsigned int number;
	char full[160];
	int status;
	pid_t pid;

	snprintf(full, sizeof(full), "%s%s%s", title, *title ? ": " : "",
		 name);
	if (!strstr(full, only))
		return;
	pid = fork();
	if (!pid) {
		alarm(HANG_SECS);
		if (run)
			run();
		else
			attack(connect(), a);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("# ended by signal %d\n", WTERMSIG(status));
	number = passed + failed + skipped + 1;
	if (!status) {
		passed++;
		printf("ok %u - %s\n", number, full);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		skipped++;
		printf("ok %u - %s # SKIP\n", number, full);
	} else {
		failed++;
		printf("not ok %u - %s\n", number, full);
	}
}

/**
 * attack_server - do all that there is
 * @only: or what has this in its name
 *
 * Return: whether the server did something wrong
 */
int attack_server(const char *only)
{
	const struct attack *a;
	const struct test *test;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (a = tables[i].attacks; a->name; a++)
			run_case(only, tables[i].title, a->name, NULL,
				 tables[i].connect, a);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		for (test = tests[i]; test->name; test++)
			run_case(only, "", test->name, test->run, NULL, NULL);
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed || !passed;
}
