// SPDX-License-Identifier: GPL-2.0
/*
 * The echo program, once more: the benchmark is a module of its own.
 */
#include "echo_pattern.c"
#include "echo_svc.c"
#include "echo_clnt.c"
