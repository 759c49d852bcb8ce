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
 * connected, and sent a CONNPROP. Then the version is known, or the
 * connection is of no use.
 */
enum rpcrdma2_hs_state {
	RPCRDMA2_HS_WAITING,
	RPCRDMA2_HS_ASKING,
	RPCRDMA2_HS_VERSION_1,
	RPCRDMA2_HS_VERSION_2,
	RPCRDMA2_HS_FAILED,
	RPCRDMA2_HS_NR_STATES,
};

/*
 * What came. PROPS: the peer's CONNPROP, as the first word or as the answer;
 * CALL, REPLY: an RPC message, of one version or the other; SPEAKS_1: an
 * ERR_VERS that leaves version 1; NO_VERSION: one that leaves none;
 * REFUSED_TRY_1: another error, where version 1 may be tried; ERROR: where it
 * may not; FOREIGN: a version not spoken here; MALFORMED: what could not be
 * decoded; LOST: the peer hung up, or was silent for too long.
 */
enum rpcrdma2_hs_event {
	RPCRDMA2_HS_PROPS,
	RPCRDMA2_HS_PROPS_ANSWER,
	RPCRDMA2_HS_CALL_1,
	RPCRDMA2_HS_CALL_2,
	RPCRDMA2_HS_REPLY,
	RPCRDMA2_HS_SPEAKS_1,
	RPCRDMA2_HS_NO_VERSION,
	RPCRDMA2_HS_REFUSED_TRY_1,
	RPCRDMA2_HS_ERROR,
	RPCRDMA2_HS_FOREIGN,
	RPCRDMA2_HS_MALFORMED,
	RPCRDMA2_HS_LOST,
	RPCRDMA2_HS_NR_EVENTS,
};

/*
 * What to do about it. TAKE_PROPS: they are the peer's; ANSWER_PROPS: and this
 * end's are the answer; DELIVER: to the layer above; ANSWER_ERROR: say what is
 * wrong; HANG_UP: close the connection; ASSUME_1: remember that this peer
 * does not answer what only version 2 has.
 */
enum rpcrdma2_hs_action {
	RPCRDMA2_HS_NOTHING,
	RPCRDMA2_HS_TAKE_PROPS,
	RPCRDMA2_HS_ANSWER_PROPS,
	RPCRDMA2_HS_DELIVER,
	RPCRDMA2_HS_ANSWER_ERROR,
	RPCRDMA2_HS_HANG_UP,
	RPCRDMA2_HS_ASSUME_1,
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
u32 rpcrdma2_hs_version(enum rpcrdma2_hs_state state, u32 low, u32 high,
			const void *msg, size_t len);
const struct rpcrdma2_hs_step *
rpcrdma2_hs_step(enum rpcrdma2_hs_state state, enum rpcrdma2_hs_event event);
enum rpcrdma2_hs_event
rpcrdma2_hs_event(const struct rpcrdma2_header *hdr, int decoded,
		  u32 version_low);

#endif /* _RPCRDMA2_HANDSHAKE_H */
