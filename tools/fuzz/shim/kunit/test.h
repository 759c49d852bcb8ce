/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of KUnit that kunit/wire_*_test.c use, for user space, so that sanitizers
 * can watch. It has nothing that KUnit lacks, so a suite that builds here builds in a
 * kernel.
 */
#ifndef _SHIM_KUNIT_TEST_H
#define _SHIM_KUNIT_TEST_H

#include <setjmp.h>
#include <stdio.h>
#include <linux/types.h>
#include <linux/slab.h>
#include <linux/module.h>

#define KUNIT_PARAM_DESC_SIZE	128

struct kunit {
	const void	*param_value;
	bool		failed;
	jmp_buf		abort;
	unsigned int	nallocs;
	void		*allocs[16];
};

struct kunit_case {
	void		(*run_case)(struct kunit *test);
	const char	*name;
	const void	*(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char		*name;
	struct kunit_case	*test_cases;
};

#define KUNIT_CASE(fn)			{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_PARAM(fn, gen) \
	{ .run_case = fn, .name = #fn, .generate_params = gen }

#define KUNIT_ARRAY_PARAM(name, array, get_desc)			\
	static const void *name##_gen_params(const void *prev, char *desc) \
	{								\
		const typeof(*(array)) *next = prev;			\
									\
		next = next ? next + 1 : (array);			\
		if (next == (array) + ARRAY_SIZE(array))		\
			return NULL;					\
		get_desc(next, desc);					\
		return next;						\
	}

void shim_register_suite(struct kunit_suite *suite);

#define kunit_test_suite(suite)						\
	static void __attribute__((__constructor__)) suite##_register(void) \
	{								\
		shim_register_suite(&(suite));				\
	}

__printf(6, 7)
void shim_expect(struct kunit *test, bool ok, bool fatal, const char *file,
		 int line, const char *fmt, ...);
void *kunit_kzalloc(struct kunit *test, size_t size, int flags);

#define SHIM_EXPECT(test, ok, fatal, fmt, ...) \
	shim_expect(test, ok, fatal, __FILE__, __LINE__, fmt, ##__VA_ARGS__)

/* Evaluate both sides once, and print both values. */
#define SHIM_EXPECT_EQ(test, left, right, fatal, fmt, ...)		\
	do {								\
		long long _l = (long long)(left);			\
		long long _r = (long long)(right);			\
									\
		SHIM_EXPECT(test, _l == _r, fatal,			\
			    "%s is %lld, and %s is %lld: " fmt,		\
			    #left, _l, #right, _r, ##__VA_ARGS__);	\
	} while (0)

#define KUNIT_EXPECT_EQ(test, left, right) \
	SHIM_EXPECT_EQ(test, left, right, false, "differ")
#define KUNIT_EXPECT_EQ_MSG(test, left, right, fmt, ...) \
	SHIM_EXPECT_EQ(test, left, right, false, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, left, right) \
	SHIM_EXPECT_EQ(test, left, right, true, "differ")
#define KUNIT_ASSERT_EQ_MSG(test, left, right, fmt, ...) \
	SHIM_EXPECT_EQ(test, left, right, true, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_TRUE(test, cond) \
	SHIM_EXPECT(test, cond, false, "%s is false", #cond)
#define KUNIT_EXPECT_TRUE_MSG(test, cond, fmt, ...) \
	SHIM_EXPECT(test, cond, false, "%s is false: " fmt, #cond, ##__VA_ARGS__)
#define KUNIT_EXPECT_FALSE(test, cond) \
	SHIM_EXPECT(test, !(cond), false, "%s is true", #cond)
#define KUNIT_EXPECT_STREQ_MSG(test, left, right, fmt, ...) \
	SHIM_EXPECT(test, !strcmp(left, right), false, \
		    "\"%s\" is not \"%s\": " fmt, left, right, ##__VA_ARGS__)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr) \
	SHIM_EXPECT(test, ptr, true, "%s is NULL", #ptr)

#endif /* _SHIM_KUNIT_TEST_H */
