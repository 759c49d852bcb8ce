// SPDX-License-Identifier: GPL-2.0
/*
 * The code that the tracepoints' macros generate: only one file may define
 * CREATE_TRACE_POINTS.
 */
#include "compat.h"
#include "requester/requester.h"
#include "responder/responder.h"

#define CREATE_TRACE_POINTS
#include <trace/events/rpcrdma2.h>
