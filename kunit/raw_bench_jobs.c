// SPDX-License-Identifier: GPL-2.0
/* The code of jobs and figures as part of the device benchmark's module */
#include "bench.c"
