// SPDX-License-Identifier: GPL-2.0
/*
 * v2-01's codec as part of the suites' module. A file of its own, because the dialects
 * use the same names for their static functions.
 */
#include "wire/v2_01.c"
