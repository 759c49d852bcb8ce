/* SPDX-License-Identifier: GPL-2.0 */
/* gcc's built-in functions, for tcc (tests/mutate.py) and Frama-C (tests/prove.sh) */
#ifndef _SHIM_BUILTINS_H
#define _SHIM_BUILTINS_H

static inline unsigned int shim_bswap32(unsigned int v)
{
	return v >> 24 | (v >> 8 & 0xff00) | (v & 0xff00) << 8 | v << 24;
}

static inline int shim_ctz(unsigned int v)
{
	int n = 0;

	for (; n < 32 && !(v & 1); v >>= 1)
		n++;
	return n;
}

static inline int shim_popcount(unsigned int v)
{
	int n = 0;

	for (; v; v &= v - 1)
		n++;
	return n;
}

#define __builtin_bswap32	shim_bswap32
#define __builtin_ctz		shim_ctz
#define __builtin_popcount	shim_popcount

#endif /* _SHIM_BUILTINS_H */
