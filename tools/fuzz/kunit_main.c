// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the KUnit suites that are linked in, as an ordinary program. It prints each
 * failure. With -v it also prints each verdict; with -x it stops at the first failure.
 */
#include <kunit/test.h>
#include <stdarg.h>

#define MAX_SUITES	32

static struct kunit_suite *suites[MAX_SUITES];
static unsigned int nsuites, passed, failed;
static bool verbose, until_failure;

void shim_register_suite(struct kunit_suite *suite)
{
	if (nsuites < MAX_SUITES)
		suites[nsuites++] = suite;
}

void shim_expect(struct kunit *test, bool ok, bool fatal, const char *file,
		 int line, const char *fmt, ...)
{
	va_list ap;

	if (ok)
		return;
	test->failed = true;
	printf("    %s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (fatal)
		longjmp(test->abort, 1);
}

void *kunit_kzalloc(struct kunit *test, size_t size, int flags)
{
	(void)flags;
	if (test->nallocs == ARRAY_SIZE(test->allocs))
		return NULL;
	return test->allocs[test->nallocs++] = calloc(1, size);
}

static void run_one(struct kunit_suite *suite, struct kunit_case *c,
		    const void *param, const char *desc)
{
	struct kunit test = { .param_value = param };

	if (!setjmp(test.abort))
		c->run_case(&test);
	while (test.nallocs)
		free(test.allocs[--test.nallocs]);
	if (test.failed)
		failed++;
	else
		passed++;
	if (test.failed || verbose)
		printf("%s %s.%s %s\n", test.failed ? "not ok" : "ok",
		       suite->name, c->name, desc);
	if (test.failed && until_failure)
		exit(1);
}

static void run_case(struct kunit_suite *suite, struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;

	if (!c->generate_params) {
		run_one(suite, c, NULL, "");
		return;
	}
	while ((param = c->generate_params(param, desc)))
		run_one(suite, c, param, desc);
}

int main(int argc, char **argv)
{
	struct kunit_case *c;
	unsigned int i;

	verbose = argc > 1 && !strcmp(argv[1], "-v");
	until_failure = argc > 1 && !strcmp(argv[1], "-x");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < nsuites; i++) {
		printf("# %s\n", suites[i]->name);
		for (c = suites[i]->test_cases; c->run_case; c++)
			run_case(suites[i], c);
	}
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed || !passed;
}
