// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the cases of the hostile client. The server must answer each message as the
 * protocol says, or close that connection. Neither the server nor its other clients may
 * suffer.
 *
 * The server has the default module parameters. It exports a file "data" of 64 KiB,
 * which repeats DATA, and an empty file "sink".
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

/* A case that takes longer than this hangs. */
#define HANG_SECS	300

#define NAME_MAX_LEN	160

/* A list of attacks, and how to connect for them */
struct table {
	const char		*title;
	struct connection	*(*connect)(void);
	const struct attack	*attacks;
	void			(*attack)(struct connection *c,
					  const struct attack *a);
	unsigned int		version;
};

static const struct table tables[] = {
	{ "first: ", first_message, attacks_first, attack, 2 },
	{ "prefix: ", ready, attacks_prefix, attack, 2 },
	{ "lists: ", ready, attacks_lists, attack, 2 },
	{ "RPC: ", ready, attacks_rpc, attack, 2 },
	{ "first: ", first_message, attacks_1_first, attack_as_written, 1 },
	{ "prefix: ", ready, attacks_1, attack_as_written, 1 },
	{ "lists: ", ready, attacks_lists, attack, 1 },
	{ "RPC: ", ready, attacks_rpc, attack, 1 },
};

static const struct {
	const struct test	*tests;
	unsigned int		version;
} lists[] = {
	{ cut_tests, 2 },
	{ terms_tests, 2 },
	{ chunk_tests, 2 },
	{ handle_tests, 2 },
	{ invalidate_tests, 2 },
	{ room_tests, 2 },
	{ credit_tests, 2 },
	{ read_tests, 2 },
	{ cut_1_tests, 1 },
	{ version_1_tests, 1 },
	{ chunk_tests, 1 },
	{ handle_tests, 1 },
	{ room_tests, 1 },
	{ credit_tests, 1 },
	{ read_tests, 1 },
	{ text_2016_tests, 2 },
	{ change_tests, 2 },
	{ abandon_tests, 2 },
	{ flood_tests, 2 },
	{ flood_1_tests, 1 },
};

static unsigned int passed, failed, skipped;

static void print_result(const char *name, int status, time_t seconds)
{
	unsigned int number = passed + failed + skipped + 1;

	if (WIFSIGNALED(status))
		printf("# ended by signal %d\n", WTERMSIG(status));
	if (!status) {
		passed++;
		printf("ok %u - %s", number, name);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		skipped++;
		printf("ok %u - %s # SKIP", number, name);
	} else {
		failed++;
		printf("not ok %u - %s", number, name);
	}
	if (seconds > 1)
		printf(" (%ld s)", (long)seconds);
	printf("\n");
}

/* One attack or one test */
struct one_case {
	const char		*title;
	const char		*name;
	unsigned int		version;
	const struct table	*table;
	const struct attack	*attack;
	void			(*run)(void);
};

static void full_name(char *name, size_t size, const struct one_case *one)
{
	snprintf(name, size, "%s%s%s", one->version == 1 ? "v1 " : "",
		 one->title, one->name);
}

/* Return: whether the name contains one of the texts, or there are no texts. */
static bool is_wanted(char *const *texts, const char *name)
{
	bool wanted = !*texts;

	for (; *texts; texts++)
		wanted |= !!strstr(name, *texts);
	return wanted;
}

/* Start a case in its own process. Return: its pid, or 0 if nobody wants the case. */
static pid_t start_case(char *const *texts, const struct one_case *one)
{
	char name[NAME_MAX_LEN];
	pid_t pid;

	full_name(name, sizeof(name), one);
	if (!is_wanted(texts, name))
		return 0;
	pid = fork();
	if (pid)
		return pid;
	alarm(HANG_SECS);
	version = one->version;
	if (one->run)
		one->run();
	else
		one->table->attack(one->table->connect(), one->attack);
	fflush(stdout);
	_exit(0);
}

static void finish_case(const struct one_case *one, pid_t pid, time_t start)
{
	char name[NAME_MAX_LEN];
	int status;

	if (!pid)
		return;
	waitpid(pid, &status, 0);
	full_name(name, sizeof(name), one);
	print_result(name, status, time(NULL) - start);
}

static void run_case(char *const *texts, const struct one_case *one)
{
	time_t start = time(NULL);

	finish_case(one, start_case(texts, one), start);
}

static void run_table(char *const *texts, const struct table *table)
{
	const struct attack *a;

	for (a = table->attacks; a->name; a++)
		run_case(texts, &(struct one_case) {
			.title = table->title, .name = a->name,
			.version = table->version, .table = table,
			.attack = a });
}

static void run_tests(char *const *texts, const struct test *test,
		      unsigned int version)
{
	for (; test->name; test++)
		run_case(texts, &(struct one_case) {
			.title = "", .name = test->name, .version = version,
			.run = test->run });
}

/**
 * attack_server - run all cases
 * @texts: run only cases with one of these in their names
 *
 * Return: 1 if a case failed or none passed, else 0.
 */
int attack_server(char *const *texts)
{
	/* The server waits long in these cases, so they run beside the others. */
	static const struct one_case slow[] = {
		{ .title = "first: ", .name = "none", .version = 2,
		  .run = never_speaks },
		{ .title = "changes: ", .name = "no Receive, but many words",
		  .version = 2, .run = takes_nothing },
	};
	struct ibv_device **devices;
	pid_t pids[ARRAY_SIZE(slow)];
	time_t start = time(NULL);
	unsigned int i;

	/* Load the library's drivers here, once, so that the cases need not. */
	devices = ibv_get_device_list(NULL);
	if (devices)
		ibv_free_device_list(devices);
	for (i = 0; i < ARRAY_SIZE(slow); i++)
		pids[i] = start_case(texts, &slow[i]);
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		run_table(texts, &tables[i]);
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		run_tests(texts, lists[i].tests, lists[i].version);
	for (i = 0; i < ARRAY_SIZE(slow); i++)
		finish_case(&slow[i], pids[i], start);
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed || !passed;
}
