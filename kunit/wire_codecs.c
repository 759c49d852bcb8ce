// SPDX-License-Identifier: GPL-2.0
/*
 * The codecs, and the tables of states, as part of the suites' module.
 * rpcrdma2.ko exports nothing, and the suites run without it.
 */
#include "wire/stream.c"
#include "wire/chunks.c"
#include "wire/props.c"
#include "wire/change.c"
#include "wire/error.c"
#include "wire/private_data.c"
#include "wire/message.c"
#include "wire/dialect.c"
#include "wire/v2_09.c"
#include "conn/ask.c"
#include "conn/handshake.c"
#include "responder/stage.c"
#include "svc/owner.c"
