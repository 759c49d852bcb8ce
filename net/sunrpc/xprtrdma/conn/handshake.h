/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The handshake: the first messages of a connection, which choose its dialect.
 *
 * This is a table of states and events. It decides, and conn/negotiate.c acts. Like wire/,
 * it allocates nothing, takes no lock and knows no connection. So a test can walk through
 * the whole table. Its functions may run in any context.
 */
#ifndef _RPCRDMA2_HANDSHAKE_H
#define _RPCRDMA2_HANDSHAKE_H

#include "wire/wire.h"

/**
 * enum rpcrdma2_hs_state - state of the handshake at one end
 * @RPCRDMA2_HS_WAITING: the peer has said nothing that this end understands, and this end
 *	has not asked
 * @RPCRDMA2_HS_ASKING: this end connected and sent a CONNPROP
 * @RPCRDMA2_HS_TRYING: nobody answered the CONNPROP, so this end sends Calls in the same
 *	dialect
 * @RPCRDMA2_HS_VERSION_1: the ends speak version 1
 * @RPCRDMA2_HS_UNASKED: the ends speak version 2. The peer connected, and sent a Call before
 *	it stated its properties
 * @RPCRDMA2_HS_UNANSWERED: the ends speak version 2. This end connected, and the peer has
 *	stated no properties
 * @RPCRDMA2_HS_VERSION_2: the ends speak version 2, and the peer stated its properties
 * @RPCRDMA2_HS_FAILED: the connection is of no use
 * @RPCRDMA2_HS_NR_STATES: number of states
 */
enum rpcrdma2_hs_state {
	RPCRDMA2_HS_WAITING,
	RPCRDMA2_HS_ASKING,
	RPCRDMA2_HS_TRYING,
	RPCRDMA2_HS_VERSION_1,
	RPCRDMA2_HS_UNASKED,
	RPCRDMA2_HS_UNANSWERED,
	RPCRDMA2_HS_VERSION_2,
	RPCRDMA2_HS_FAILED,
	RPCRDMA2_HS_NR_STATES,
};

/**
 * enum rpcrdma2_hs_event - an event of the handshake: a received message, or another cause
 * @RPCRDMA2_HS_PROPS: a CONNPROP that is no answer
 * @RPCRDMA2_HS_PROPS_ANSWER: a CONNPROP that says it is an answer
 * @RPCRDMA2_HS_CALL_1: a Call in version 1
 * @RPCRDMA2_HS_CALL_2: a Call in version 2
 * @RPCRDMA2_HS_REPLY: a Reply
 * @RPCRDMA2_HS_SPEAKS_OTHER: an ERR_VERS, or an error of another draft of version 2; this end
 *	may try another dialect
 * @RPCRDMA2_HS_NO_VERSION: the same, but this end has no other dialect to try
 * @RPCRDMA2_HS_HAS_NONE: the error by which a peer says that it knows no properties
 * @RPCRDMA2_HS_REFUSED_TRY_OTHER: any other error; this end may try another dialect
 * @RPCRDMA2_HS_ERROR: any other error; this end has no other dialect to try
 * @RPCRDMA2_HS_FOREIGN: a message in another version than the dialect's
 * @RPCRDMA2_HS_UNKNOWN: a message with a header type that the dialect does not have
 * @RPCRDMA2_HS_MALFORMED: any other message that this end cannot decode
 * @RPCRDMA2_HS_SILENCE: the peer's time to answer is over
 * @RPCRDMA2_HS_LOST: the connection is gone
 * @RPCRDMA2_HS_NR_EVENTS: number of events
 */
enum rpcrdma2_hs_event {
	RPCRDMA2_HS_PROPS,
	RPCRDMA2_HS_PROPS_ANSWER,
	RPCRDMA2_HS_CALL_1,
	RPCRDMA2_HS_CALL_2,
	RPCRDMA2_HS_REPLY,
	RPCRDMA2_HS_SPEAKS_OTHER,
	RPCRDMA2_HS_NO_VERSION,
	RPCRDMA2_HS_HAS_NONE,
	RPCRDMA2_HS_REFUSED_TRY_OTHER,
	RPCRDMA2_HS_ERROR,
	RPCRDMA2_HS_FOREIGN,
	RPCRDMA2_HS_UNKNOWN,
	RPCRDMA2_HS_MALFORMED,
	RPCRDMA2_HS_SILENCE,
	RPCRDMA2_HS_LOST,
	RPCRDMA2_HS_NR_EVENTS,
};

/**
 * enum rpcrdma2_hs_action - the action that an event requires
 * @RPCRDMA2_HS_NOTHING: no action
 * @RPCRDMA2_HS_TAKE_PROPS: keep the peer's properties
 * @RPCRDMA2_HS_ANSWER_PROPS: keep the peer's properties, and answer with this end's
 * @RPCRDMA2_HS_DELIVER: hand the message to the upper layer
 * @RPCRDMA2_HS_ANSWER_ERROR: answer with an RDMA2_ERROR
 * @RPCRDMA2_HS_HANG_UP: close the connection
 * @RPCRDMA2_HS_ASK_NEXT: ask again in the next dialect, on this connection
 * @RPCRDMA2_HS_ASSUME_NEXT: close the connection; assume that the peer speaks the next dialect
 *	(after SILENCE and LOST, suspect so)
 */
enum rpcrdma2_hs_action {
	RPCRDMA2_HS_NOTHING,
	RPCRDMA2_HS_TAKE_PROPS,
	RPCRDMA2_HS_ANSWER_PROPS,
	RPCRDMA2_HS_DELIVER,
	RPCRDMA2_HS_ANSWER_ERROR,
	RPCRDMA2_HS_HANG_UP,
	RPCRDMA2_HS_ASK_NEXT,
	RPCRDMA2_HS_ASSUME_NEXT,
};

/**
 * struct rpcrdma2_hs_step - one step of the handshake
 * @action: enum rpcrdma2_hs_action to take
 * @next: enum rpcrdma2_hs_state after the step
 */
struct rpcrdma2_hs_step {
	u8	action;
	u8	next;
};

bool rpcrdma2_hs_decided(enum rpcrdma2_hs_state state);
bool rpcrdma2_hs_calls(enum rpcrdma2_hs_state state);
enum rpcrdma2_hs_state rpcrdma2_hs_start(const struct rpcrdma2_dialect *dialect);
const struct rpcrdma2_dialect *
rpcrdma2_hs_dialect(enum rpcrdma2_hs_state state,
		    const struct rpcrdma2_dialects *dialects,
		    const struct rpcrdma2_dialect *spoken, void *msg, size_t len);
const struct rpcrdma2_hs_step *
rpcrdma2_hs_step(enum rpcrdma2_hs_state state, enum rpcrdma2_hs_event event);
const struct rpcrdma2_dialect *
rpcrdma2_hs_next(enum rpcrdma2_hs_event event,
		 const struct rpcrdma2_error *error,
		 const struct rpcrdma2_dialects *dialects,
		 const struct rpcrdma2_dialect *dialect);
enum rpcrdma2_hs_event
rpcrdma2_hs_event(const struct rpcrdma2_header *hdr, int decoded,
		  const struct rpcrdma2_dialects *dialects,
		  const struct rpcrdma2_dialect *dialect);

#endif /* _RPCRDMA2_HANDSHAKE_H */
