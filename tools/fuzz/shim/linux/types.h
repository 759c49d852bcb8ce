/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel types for user space: only what the code under test and its tests use
 */
#ifndef _SHIM_LINUX_TYPES_H
#define _SHIM_LINUX_TYPES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef unsigned long long __be64;

#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX

#define __aligned(x)	__attribute__((aligned(x)))
#define __printf(a, b)	__attribute__((format(printf, a, b)))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define min_t(type, a, b) \
	({ type _a = (a); type _b = (b); _a < _b ? _a : _b; })
#define max_t(type, a, b) \
	({ type _a = (a); type _b = (b); _a > _b ? _a : _b; })
#define clamp_t(type, v, lo, hi)	min_t(type, max_t(type, v, lo), hi)

#define BIT(nr)		(1UL << (nr))
#define hweight32(v)	((u32)__builtin_popcount(v))

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/* Macros, because initializers use them, too */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define cpu_to_be32(v)	((__be32)__builtin_bswap32(v))
#define cpu_to_be64(v)	((__be64)__builtin_bswap64(v))
#else
#define cpu_to_be32(v)	((__be32)(v))
#define cpu_to_be64(v)	((__be64)(v))
#endif
#define be32_to_cpu(v)	((u32)cpu_to_be32(v))

#define container_of(ptr, type, member)	\
	((type *)((char *)(ptr) - offsetof(type, member)))

static inline u32 be32_to_cpup(const __be32 *p)
{
	return be32_to_cpu(*p);
}

static inline u32 get_unaligned_be32(const void *p)
{
	const u8 *b = p;

	return (u32)b[0] << 24 | (u32)b[1] << 16 | (u32)b[2] << 8 | b[3];
}

static inline u64 get_unaligned_be64(const void *p)
{
	return (u64)get_unaligned_be32(p) << 32 |
	       get_unaligned_be32((const u8 *)p + 4);
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	u8 *b = p;

	b[0] = v >> 24;
	b[1] = v >> 16;
	b[2] = v >> 8;
	b[3] = v;
}

static inline void put_unaligned_be64(u64 v, void *p)
{
	put_unaligned_be32(v >> 32, p);
	put_unaligned_be32(v, (u8 *)p + 4);
}

#endif /* _SHIM_LINUX_TYPES_H */
