// SPDX-License-Identifier: GPL-2.0
/*
 * The echo program, for many clients: a module of its own.
 */
#include "echo_pattern.c"
#include "echo_svc.c"
#include "echo_clnt.c"
