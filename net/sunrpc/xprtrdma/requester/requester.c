// SPDX-License-Identifier: GPL-2.0
/*
 * A connection's requester role: its beginning and its end. call.c has the life of a Call.
 *
 * A client's connection has the role from the start. An accepted connection gets it when a
 * server's program has Calls of its own.
 */
#include "requester.h"

/**
 * rpcrdma2_requester_create - give a connection its requester role
 * @conn: a new connection, or an accepted connection that the caller has entered
 * @xprt: the transport whose RPCs the role will send
 *
 * Context: process; sleeps for memory.
 *
 * Return: the role; NULL if there is no memory, or if @conn has a requester already
 */
struct rpcrdma2_requester *
rpcrdma2_requester_create(struct rpcrdma2_conn *conn, struct rpc_xprt *xprt)
{
	struct rpcrdma2_requester *requester;

	requester = kzalloc(sizeof(*requester), GFP_KERNEL);
	if (!requester)
		return NULL;
	requester->conn = conn;
	requester->xprt = xprt;
	spin_lock_init(&requester->lock);
	rpcrdma2_mrs_init(requester);
	rpcrdma2_credits_init(requester);
	INIT_LIST_HEAD(&requester->to_deregister);
	INIT_WORK(&requester->deregister, rpcrdma2_deregister);
	/*
	 * On an accepted connection the CQ may look for the role now, and a second NFS client may
	 * create one at the same time. The release pairs with the acquires of conn->requester in
	 * svc/transport.c, netlink/fill.c and rpcrdma2_totals_add().
	 */
	if (cmpxchg_release(&conn->requester, NULL, requester)) {
		kfree(requester);
		return NULL;
	}
	return requester;
}

/**
 * rpcrdma2_requester_ready - use the grant of the peer's CONNPROP, if there was one
 * @requester: the role, on a connection that has become READY
 *
 * Context: process: a completion handler, a CM handler or the connection's timer.
 */
void rpcrdma2_requester_ready(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_conn *conn = requester->conn;

	if (conn->terms.first_grant)
		rpcrdma2_credits_update(requester, conn->terms.first_grant);
}

/**
 * rpcrdma2_requester_is_quiet - check that no Call is outstanding
 * @requester: the role, or NULL
 *
 * A Call that is being marshaled counts. The connection's lock orders the check behind all Calls
 * that were posted before.
 *
 * Context: any but interrupts; takes conn->ep.lock.
 *
 * Return: true if no Call holds a credit
 */
bool rpcrdma2_requester_is_quiet(struct rpcrdma2_requester *requester)
{
	bool quiet;

	if (!requester)
		return true;
	spin_lock(&requester->conn->ep.lock);
	quiet = !rpcrdma2_requester_outstanding(requester);
	spin_unlock(&requester->conn->ep.lock);
	return quiet;
}

/**
 * rpcrdma2_requester_room - let Calls that wait for a Send buffer try again
 * @requester: the role, or NULL
 *
 * Context: any but interrupts; takes the xprt's transport_lock.
 */
void rpcrdma2_requester_room(struct rpcrdma2_requester *requester)
{
	if (requester)
		rpcrdma2_requester_wake(requester->xprt);
}

/**
 * rpcrdma2_requester_drained - free everything that the role has of the device
 * @requester: the role, on a drained connection, after rpcrdma2_mrs_fence()
 *
 * Afterwards no memory of any RPC is exposed or mapped, except memory that the device refused to
 * give up.
 *
 * Context: process, in the connection's teardown; sleeps.
 */
void rpcrdma2_requester_drained(struct rpcrdma2_requester *requester)
{
	/* Complete these Calls while their registrations still exist. */
	rpcrdma2_deregister_lost(requester);
	rpcrdma2_credits_stop(requester);
	rpcrdma2_mrs_stop(requester);
	rpcrdma2_mrs_destroy(requester);
}

/**
 * rpcrdma2_requester_destroy - free the role
 * @requester: the role, drained or never ready; may be NULL
 *
 * Context: any that allows kfree().
 */
void rpcrdma2_requester_destroy(struct rpcrdma2_requester *requester)
{
	kfree(requester);
}
