// SPDX-License-Identifier: GPL-2.0
/*
 * Version 1's codec as part of the suites' module. A file of its own, because the
 * dialects use the same names for their static functions.
 */
#include "wire/v1.c"
