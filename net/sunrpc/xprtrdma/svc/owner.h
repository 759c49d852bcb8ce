/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owners of a connection's svc_xprt, as a table of owners and events. The table decides,
 * and svc/ acts. The table knows no svc_xprt, so that a unit test can walk through it.
 */
#ifndef _RPCRDMA2_OWNER_H
#define _RPCRDMA2_OWNER_H

#include <linux/types.h>

/**
 * enum rpcrdma2_owner - the owner of a connection's svc_xprt, which drops it
 * @RPCRDMA2_OWNER_CONN: the connection has it to itself
 * @RPCRDMA2_OWNER_CLOSING_CONN: the same, and the connection is closing
 * @RPCRDMA2_OWNER_SUNRPC: sunrpc has it, or gets it by xpo_accept
 * @RPCRDMA2_OWNER_SUNRPC_CLOSING: the same, and the connection is closing
 * @RPCRDMA2_OWNER_SUNRPC_CLOSED: the same, and the connection is CLOSED
 * @RPCRDMA2_OWNER_DETACHED: sunrpc let go of it, and the connection has a reference until CLOSED
 * @RPCRDMA2_OWNER_NONE: both have let go of it
 * @RPCRDMA2_NR_OWNERS: number of owners
 */
enum rpcrdma2_owner {
	RPCRDMA2_OWNER_CONN,
	RPCRDMA2_OWNER_CLOSING_CONN,
	RPCRDMA2_OWNER_SUNRPC,
	RPCRDMA2_OWNER_SUNRPC_CLOSING,
	RPCRDMA2_OWNER_SUNRPC_CLOSED,
	RPCRDMA2_OWNER_DETACHED,
	RPCRDMA2_OWNER_NONE,
	RPCRDMA2_NR_OWNERS,
};

/**
 * enum rpcrdma2_owner_event - an event in the life of a connection's svc_xprt
 * @RPCRDMA2_ON_READY: the connection became READY
 * @RPCRDMA2_ON_TAKE_BACK: the listener closes before sunrpc accepted the connection
 * @RPCRDMA2_ON_DETACH: sunrpc lets go of the svc_xprt
 * @RPCRDMA2_ON_CLOSING: the connection starts to close
 * @RPCRDMA2_ON_CLOSED: the connection became CLOSED
 * @RPCRDMA2_NR_OWNER_EVENTS: number of events
 */
enum rpcrdma2_owner_event {
	RPCRDMA2_ON_READY,
	RPCRDMA2_ON_TAKE_BACK,
	RPCRDMA2_ON_DETACH,
	RPCRDMA2_ON_CLOSING,
	RPCRDMA2_ON_CLOSED,
	RPCRDMA2_NR_OWNER_EVENTS,
};

/**
 * enum rpcrdma2_owner_action - the action that an event requires
 * @RPCRDMA2_DO_NOTHING: no action
 * @RPCRDMA2_DO_OFFER: offer the svc_xprt to sunrpc
 * @RPCRDMA2_DO_ASK: ask sunrpc to detach the svc_xprt
 * @RPCRDMA2_DO_CLOSE: close the connection
 * @RPCRDMA2_DO_KEEP: get a reference to the svc_xprt for the connection
 * @RPCRDMA2_DO_PUT: drop that reference
 * @RPCRDMA2_DO_DISCARD: drop the svc_xprt, which sunrpc never had
 */
enum rpcrdma2_owner_action {
	RPCRDMA2_DO_NOTHING,
	RPCRDMA2_DO_OFFER,
	RPCRDMA2_DO_ASK,
	RPCRDMA2_DO_CLOSE,
	RPCRDMA2_DO_KEEP,
	RPCRDMA2_DO_PUT,
	RPCRDMA2_DO_DISCARD,
};

/**
 * struct rpcrdma2_owner_step - the action and the next owner after an event
 * @is_possible: the event can happen to an svc_xprt of this owner
 * @action: enum rpcrdma2_owner_action to take
 * @next: enum rpcrdma2_owner after the event
 */
struct rpcrdma2_owner_step {
	bool	is_possible;
	u8	action;
	u8	next;
};

const struct rpcrdma2_owner_step *
rpcrdma2_owner_step(enum rpcrdma2_owner owner, enum rpcrdma2_owner_event event);

#endif /* _RPCRDMA2_OWNER_H */
