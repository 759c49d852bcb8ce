/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernels for KUnit's users, by the probes in Kbuild.
 */
#ifndef RPCRDMA2_KUNIT_COMPAT_H
#define RPCRDMA2_KUNIT_COMPAT_H

/* What a generator of parameters is called with: @prev and @desc, among others */
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
