// SPDX-License-Identifier: GPL-2.0
/*
 * The owners of a connection's svc_xprt: the action and the next owner after each event.
 *
 * The connection owns its svc_xprt until sunrpc may accept it. sunrpc closes an svc_xprt by
 * xpo_detach, and a lost connection asks sunrpc to do so. An svc_xprt that sunrpc detaches
 * before CLOSED is kept until CLOSED, as the connection still uses it.
 */
#include "owner.h"

#define GO(action, next)	{ true, RPCRDMA2_DO_##action, RPCRDMA2_OWNER_##next }

static const struct rpcrdma2_owner_step
owner_steps[RPCRDMA2_NR_OWNERS][RPCRDMA2_NR_OWNER_EVENTS] = {
	[RPCRDMA2_OWNER_CONN] = {
		[RPCRDMA2_ON_READY]	= GO(OFFER, SUNRPC),
		[RPCRDMA2_ON_CLOSING]	= GO(NOTHING, CLOSING_CONN),
	},
	[RPCRDMA2_OWNER_CLOSING_CONN] = {
		/* READY and the loss of the connection met: sunrpc never sees it. */
		[RPCRDMA2_ON_READY]	= GO(NOTHING, CLOSING_CONN),
		[RPCRDMA2_ON_CLOSED]	= GO(DISCARD, NONE),
	},
	[RPCRDMA2_OWNER_SUNRPC] = {
		[RPCRDMA2_ON_TAKE_BACK]	= GO(CLOSE, CONN),
		[RPCRDMA2_ON_DETACH]	= GO(KEEP, DETACHED),
		[RPCRDMA2_ON_CLOSING]	= GO(ASK, SUNRPC_CLOSING),
	},
	[RPCRDMA2_OWNER_SUNRPC_CLOSING] = {
		[RPCRDMA2_ON_TAKE_BACK]	= GO(NOTHING, CLOSING_CONN),
		[RPCRDMA2_ON_DETACH]	= GO(KEEP, DETACHED),
		[RPCRDMA2_ON_CLOSED]	= GO(NOTHING, SUNRPC_CLOSED),
	},
	[RPCRDMA2_OWNER_SUNRPC_CLOSED] = {
		[RPCRDMA2_ON_TAKE_BACK]	= GO(DISCARD, NONE),
		[RPCRDMA2_ON_DETACH]	= GO(NOTHING, NONE),
	},
	[RPCRDMA2_OWNER_DETACHED] = {
		[RPCRDMA2_ON_CLOSING]	= GO(NOTHING, DETACHED),
		[RPCRDMA2_ON_CLOSED]	= GO(PUT, NONE),
	},
};

/**
 * rpcrdma2_owner_step - the action and the next owner after an event
 * @owner: the present owner
 * @event: the event
 *
 * Context: any.
 *
 * Return: the step
 */
const struct rpcrdma2_owner_step *
rpcrdma2_owner_step(enum rpcrdma2_owner owner, enum rpcrdma2_owner_event event)
{
	return &owner_steps[owner][event];
}
