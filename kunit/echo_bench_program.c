// SPDX-License-Identifier: GPL-2.0
/* The echo program's code as part of the benchmark's module */
#include "echo_pattern.c"
#include "echo_svc.c"
#include "echo_clnt.c"
