// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs and figures, for the second benchmark that has them.
 */
#include "bench.c"
