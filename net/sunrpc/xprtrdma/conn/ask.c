// SPDX-License-Identifier: GPL-2.0
/*
 * This end's REQUESTs for a size of the peer's Receives: which event leads to which state.
 *
 * resize.c moves a connection on. The peer answers each REQUEST before settling it. So an UPDATE
 * that settles a REQUEST, but comes before the last answer, settles the previous REQUEST.
 */
#include <linux/errno.h>
#include <linux/types.h>

#include "ask.h"

#define NEXT(state)	(RPCRDMA2_ASK_##state + 1)

/* 0: the event must not happen in this state; else the next state, plus 1 */
static const u8 steps[RPCRDMA2_ASK_NR][RPCRDMA2_ASK_NR_EVENTS] = {
	[RPCRDMA2_ASK_NOTHING] = {
		[RPCRDMA2_ASK_SEND_EMPTY]	= NEXT(EMPTY),
		[RPCRDMA2_ASK_SEND_SIZE]	= NEXT(SIZE),
		[RPCRDMA2_ASK_SETTLED]		= NEXT(NOTHING),
	},
	[RPCRDMA2_ASK_EMPTY] = {
		[RPCRDMA2_ASK_ANSWERED]		= NEXT(NOTHING),
		[RPCRDMA2_ASK_SETTLED]		= NEXT(EMPTY),
		[RPCRDMA2_ASK_REFUSED]		= NEXT(NOTHING),
	},
	[RPCRDMA2_ASK_SIZE] = {
		[RPCRDMA2_ASK_DONE]		= NEXT(NOTHING),
		[RPCRDMA2_ASK_REJECTED]		= NEXT(NOTHING),
		[RPCRDMA2_ASK_ACCEPTED]		= NEXT(PENDING),
		[RPCRDMA2_ASK_SETTLED]		= NEXT(SIZE),
		[RPCRDMA2_ASK_REFUSED]		= NEXT(NOTHING),
	},
	[RPCRDMA2_ASK_PENDING] = {
		[RPCRDMA2_ASK_SEND_EMPTY]	= NEXT(PENDING_EMPTY),
		[RPCRDMA2_ASK_SEND_SIZE]	= NEXT(SIZE),
		[RPCRDMA2_ASK_SETTLED]		= NEXT(NOTHING),
	},
	[RPCRDMA2_ASK_PENDING_EMPTY] = {
		[RPCRDMA2_ASK_ANSWERED]		= NEXT(PENDING),
		[RPCRDMA2_ASK_SETTLED]		= NEXT(EMPTY),
		[RPCRDMA2_ASK_REFUSED]		= NEXT(NOTHING),
	},
};

/**
 * rpcrdma2_ask_next - which state follows an event?
 * @ask: the present state
 * @event: the event
 *
 * Context: Any.
 * Return: enum rpcrdma2_ask; -EPROTO: the event must not happen in state @ask
 */
int rpcrdma2_ask_next(enum rpcrdma2_ask ask, enum rpcrdma2_ask_event event)
{
	return steps[ask][event] ? steps[ask][event] - 1 : -EPROTO;
}
