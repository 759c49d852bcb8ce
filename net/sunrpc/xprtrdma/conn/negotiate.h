/* SPDX-License-Identifier: GPL-2.0 */
/* The dialect of a connection: see negotiate.c. handshake.h has the table of its states. */
#ifndef _RPCRDMA2_NEGOTIATE_H
#define _RPCRDMA2_NEGOTIATE_H

#include "handshake.h"
#include "state.h"

struct rpcrdma2_conn;
struct rpcrdma2_recv;

/* A peer answers a CONNPROP at once if it answers at all, and a Call within this time. */
#define RPCRDMA2_ANSWER_TIMEOUT_SECS	5

/**
 * struct rpcrdma2_negotiation - a connection's way to a dialect
 * @state: state of the handshake; under the endpoint's lock
 * @tried: a Call is out, so the peer's time to answer one has begun; the timer's
 * @connprop_out: this end's CONNPROP is neither answered nor refused; cleared by the CQ
 * @assume: dialect for the next connection, as the peer's answer shows that it does not speak
 *	this one; or NULL; stable after the drain
 * @suspect: dialect to try if the next connection ends like this one, or NULL. The peer hung
 *	up on this dialect, or did not answer. Stable after the drain
 */
struct rpcrdma2_negotiation {
	enum rpcrdma2_hs_state		state;
	bool				tried;
	bool				connprop_out;
	const struct rpcrdma2_dialect	*assume;
	const struct rpcrdma2_dialect	*suspect;
};

void rpcrdma2_negotiate_start(struct rpcrdma2_conn *conn);
void rpcrdma2_negotiate_silence(struct rpcrdma2_conn *conn,
				enum rpcrdma2_conn_state state);
void rpcrdma2_negotiate_lost(struct rpcrdma2_conn *conn);
bool rpcrdma2_negotiate_adopt(struct rpcrdma2_conn *conn,
			      const struct rpcrdma2_dialect *dialect);
bool rpcrdma2_negotiate_message(struct rpcrdma2_recv *recv,
				enum rpcrdma2_hs_event event);

#endif /* _RPCRDMA2_NEGOTIATE_H */
