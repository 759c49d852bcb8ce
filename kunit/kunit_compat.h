/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels for suites of KUnit. probe.mk finds them. The suites of wire/ build
 * in user space, too, so svc_compat.h is a header of its own.
 */
#ifndef RPCRDMA2_KUNIT_COMPAT_H
#define RPCRDMA2_KUNIT_COMPAT_H

/* Parameters of a function that generates test parameters */
#ifdef RPCRDMA2_HAVE_KUNIT_GENERATOR_TEST
#define KUNIT_GENERATOR_ARGS	\
	struct kunit *test, const void *prev, char *desc
#else
#define KUNIT_GENERATOR_ARGS	const void *prev, char *desc
#endif

#ifndef RPCRDMA2_HAVE_KUNIT_RUN_TESTS
#define __kunit_test_suites_init(suites, n, run_tests)	\
	__kunit_test_suites_init(suites, n)
#endif

#endif /* RPCRDMA2_KUNIT_COMPAT_H */
