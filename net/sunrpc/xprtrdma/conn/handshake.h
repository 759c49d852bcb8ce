/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two ends say to each other before RPCs flow, as a table. Like wire/,
 * it knows no connection: a test walks through it.
 */
#ifndef _RPCRDMA2_HANDSHAKE_H
#define _RPCRDMA2_HANDSHAKE_H

#include "wire/wire.h"

/*
 * WAITING: this end accepted, and its peer has not spoken. ASKING: it
 * connected, and sent a CONNPROP, in one dialect of version 2. TRYING: nothing
 * came of that, so it sends Calls, in the same. Then the dialect is known, or the
 * connection is of no use. UNASKED, UNANSWERED: version 2, and the peer has not
 * said its properties, at the end that accepted and at the one that connected.
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

/*
 * What came. PROPS: the peer's CONNPROP, of its own accord or as an answer;
 * CALL, REPLY: an RPC message, of one version or the other; SPEAKS_OTHER: an
 * ERR_VERS that leaves another dialect which this end may speak, or what other
 * texts of version 2 have for an error; NO_VERSION: one that leaves none; HAS_NONE:
 * a dialect's word for a peer that knows no properties; REFUSED_TRY_OTHER: another
 * error, where another dialect may be tried; ERROR: where none may; FOREIGN: a version not
 * spoken here; UNKNOWN: a header type that this end doesn't know; MALFORMED:
 * what could not be decoded; SILENCE: nothing, for a while; LOST: the peer
 * hung up.
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

/*
 * What to do about it. TAKE_PROPS: they are the peer's; ANSWER_PROPS: and this
 * end's are the answer; DELIVER: to the layer above; ANSWER_ERROR: say what is
 * wrong; HANG_UP: close the connection; ASK_NEXT: start again, in the next
 * dialect; ASSUME_NEXT: close the connection, and start the next one in that.
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
 * @action: what to do
 * @next: the state after that; RPCs may flow once it is one of the versions
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
