// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake (v2-09, 5.3.4 and 7; RFC 8166, 5).
 *
 * The end that connected asks: its first message is a CONNPROP, in version 2.
 * A server of version 2 answers with its own, or says it unasked, or has none
 * to say: then the answer to a Call tells. One of version 1 says ERR_VERS, and
 * both go on in version 1, on the same connection; or it hangs up or says
 * nothing at all, and then the next connection starts in version 1. A server
 * lets its client's first message decide.
 *
 * Nothing changes the version of a connection later.
 */
#include "handshake.h"

#define ON(event, act, state)						\
	[RPCRDMA2_HS_##event] = {					\
		.action = RPCRDMA2_HS_##act,				\
		.next = RPCRDMA2_HS_##state,				\
	}

static const struct rpcrdma2_hs_step
table[RPCRDMA2_HS_NR_STATES][RPCRDMA2_HS_NR_EVENTS] = {
	[RPCRDMA2_HS_WAITING] = {
		ON(PROPS,		ANSWER_PROPS,	VERSION_2),
		ON(PROPS_ANSWER,	HANG_UP,	FAILED),
		ON(CALL_1,		DELIVER,	VERSION_1),
		/* It has the default properties, until it says others. */
		ON(CALL_2,		DELIVER,	UNASKED),
		ON(REPLY,		HANG_UP,	FAILED),
		ON(SPEAKS_1,		HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_1,	HANG_UP,	FAILED),
		ON(ERROR,		HANG_UP,	FAILED),
		/* It may try another one. */
		ON(FOREIGN,		ANSWER_ERROR,	WAITING),
		ON(UNKNOWN,		ANSWER_ERROR,	WAITING),
		ON(MALFORMED,		ANSWER_ERROR,	WAITING),
		ON(SILENCE,		HANG_UP,	FAILED),
		ON(LOST,		NOTHING,	FAILED),
	},
	[RPCRDMA2_HS_ASKING] = {
		ON(PROPS,		TAKE_PROPS,	VERSION_2),
		ON(PROPS_ANSWER,	TAKE_PROPS,	VERSION_2),
		ON(CALL_1,		HANG_UP,	FAILED),
		ON(CALL_2,		HANG_UP,	FAILED),
		ON(REPLY,		HANG_UP,	FAILED),
		ON(SPEAKS_1,		NOTHING,	VERSION_1),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_1,	NOTHING,	VERSION_1),
		ON(ERROR,		HANG_UP,	FAILED),
		ON(FOREIGN,		HANG_UP,	FAILED),
		ON(UNKNOWN,		ANSWER_ERROR,	ASKING),
		ON(MALFORMED,		HANG_UP,	FAILED),
		/* It may have taken the properties, and have none to say. */
		ON(SILENCE,		NOTHING,	TRYING),
		ON(LOST,		ASSUME_1,	FAILED),
	},
	[RPCRDMA2_HS_TRYING] = {
		ON(PROPS,		TAKE_PROPS,	VERSION_2),
		ON(PROPS_ANSWER,	TAKE_PROPS,	VERSION_2),
		ON(CALL_1,		HANG_UP,	FAILED),
		ON(CALL_2,		DELIVER,	UNANSWERED),
		ON(REPLY,		DELIVER,	UNANSWERED),
		/* Too late for this connection. */
		ON(SPEAKS_1,		ASSUME_1,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_1,	DELIVER,	UNANSWERED),
		ON(ERROR,		DELIVER,	UNANSWERED),
		ON(FOREIGN,		HANG_UP,	FAILED),
		ON(UNKNOWN,		ANSWER_ERROR,	TRYING),
		ON(MALFORMED,		HANG_UP,	FAILED),
		ON(SILENCE,		ASSUME_1,	FAILED),
		ON(LOST,		ASSUME_1,	FAILED),
	},
	[RPCRDMA2_HS_VERSION_1] = {
		ON(PROPS,		ANSWER_ERROR,	VERSION_1),
		ON(PROPS_ANSWER,	ANSWER_ERROR,	VERSION_1),
		ON(CALL_1,		DELIVER,	VERSION_1),
		ON(CALL_2,		HANG_UP,	FAILED),
		ON(REPLY,		DELIVER,	VERSION_1),
		/* The peer is no longer what it was. */
		ON(SPEAKS_1,		HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_1,	DELIVER,	VERSION_1),
		ON(ERROR,		DELIVER,	VERSION_1),
		ON(FOREIGN,		ANSWER_ERROR,	VERSION_1),
		ON(UNKNOWN,		ANSWER_ERROR,	VERSION_1),
		ON(MALFORMED,		ANSWER_ERROR,	VERSION_1),
		ON(SILENCE,		NOTHING,	VERSION_1),
		ON(LOST,		NOTHING,	FAILED),
	},
	[RPCRDMA2_HS_UNASKED] = {
		ON(PROPS,		ANSWER_PROPS,	VERSION_2),
		ON(PROPS_ANSWER,	ANSWER_ERROR,	UNASKED),
		ON(CALL_1,		HANG_UP,	FAILED),
		ON(CALL_2,		DELIVER,	UNASKED),
		ON(REPLY,		DELIVER,	UNASKED),
		ON(SPEAKS_1,		HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_1,	DELIVER,	UNASKED),
		ON(ERROR,		DELIVER,	UNASKED),
		ON(FOREIGN,		ANSWER_ERROR,	UNASKED),
		ON(UNKNOWN,		ANSWER_ERROR,	UNASKED),
		ON(MALFORMED,		ANSWER_ERROR,	UNASKED),
		ON(SILENCE,		NOTHING,	UNASKED),
		ON(LOST,		NOTHING,	FAILED),
	},
	[RPCRDMA2_HS_UNANSWERED] = {
		ON(PROPS,		TAKE_PROPS,	VERSION_2),
		ON(PROPS_ANSWER,	TAKE_PROPS,	VERSION_2),
		ON(CALL_1,		HANG_UP,	FAILED),
		ON(CALL_2,		DELIVER,	UNANSWERED),
		ON(REPLY,		DELIVER,	UNANSWERED),
		ON(SPEAKS_1,		HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_1,	DELIVER,	UNANSWERED),
		ON(ERROR,		DELIVER,	UNANSWERED),
		ON(FOREIGN,		ANSWER_ERROR,	UNANSWERED),
		ON(UNKNOWN,		ANSWER_ERROR,	UNANSWERED),
		ON(MALFORMED,		ANSWER_ERROR,	UNANSWERED),
		ON(SILENCE,		NOTHING,	UNANSWERED),
		ON(LOST,		NOTHING,	FAILED),
	},
	[RPCRDMA2_HS_VERSION_2] = {
		/* Properties do not change: v2-09, 5.3.4. */
		ON(PROPS,		ANSWER_ERROR,	VERSION_2),
		ON(PROPS_ANSWER,	ANSWER_ERROR,	VERSION_2),
		ON(CALL_1,		HANG_UP,	FAILED),
		ON(CALL_2,		DELIVER,	VERSION_2),
		ON(REPLY,		DELIVER,	VERSION_2),
		/* The peer is no longer what it was. */
		ON(SPEAKS_1,		HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_1,	DELIVER,	VERSION_2),
		ON(ERROR,		DELIVER,	VERSION_2),
		ON(FOREIGN,		ANSWER_ERROR,	VERSION_2),
		ON(UNKNOWN,		ANSWER_ERROR,	VERSION_2),
		ON(MALFORMED,		ANSWER_ERROR,	VERSION_2),
		ON(SILENCE,		NOTHING,	VERSION_2),
		ON(LOST,		NOTHING,	FAILED),
	},
	[RPCRDMA2_HS_FAILED] = {
		ON(PROPS,		NOTHING,	FAILED),
		ON(PROPS_ANSWER,	NOTHING,	FAILED),
		ON(CALL_1,		NOTHING,	FAILED),
		ON(CALL_2,		NOTHING,	FAILED),
		ON(REPLY,		NOTHING,	FAILED),
		ON(SPEAKS_1,		NOTHING,	FAILED),
		ON(NO_VERSION,		NOTHING,	FAILED),
		ON(REFUSED_TRY_1,	NOTHING,	FAILED),
		ON(ERROR,		NOTHING,	FAILED),
		ON(FOREIGN,		NOTHING,	FAILED),
		ON(UNKNOWN,		NOTHING,	FAILED),
		ON(MALFORMED,		NOTHING,	FAILED),
		ON(SILENCE,		NOTHING,	FAILED),
		ON(LOST,		NOTHING,	FAILED),
	},
};

/**
 * rpcrdma2_hs_decided - is the version known?
 * @state: of the handshake
 */
bool rpcrdma2_hs_decided(enum rpcrdma2_hs_state state)
{
	return state >= RPCRDMA2_HS_VERSION_1 && state <= RPCRDMA2_HS_VERSION_2;
}

/**
 * rpcrdma2_hs_calls - may Calls be sent?
 * @state: of the handshake
 */
bool rpcrdma2_hs_calls(enum rpcrdma2_hs_state state)
{
	return state == RPCRDMA2_HS_TRYING || rpcrdma2_hs_decided(state);
}

/**
 * rpcrdma2_hs_version - the version to read a message in
 * @state: of the handshake
 * @low: the lowest version that this end may speak
 * @high: the highest version that this end may speak
 * @msg: what came
 * @len: octets of @msg
 *
 * Until the version is known, the one that the message itself is of, if it may
 * be spoken. No dialect accepts another one's messages.
 */
u32 rpcrdma2_hs_version(enum rpcrdma2_hs_state state, u32 low, u32 high,
			const void *msg, size_t len)
{
	const __be32 *p = msg;
	u32 said;

	if (state == RPCRDMA2_HS_VERSION_1)
		return RPCRDMA2_VERSION_1;
	if (rpcrdma2_hs_decided(state))
		return RPCRDMA2_VERSION_2;
	if (len < 2 * XDR_UNIT)
		return high;
	said = be32_to_cpup(p + 1);
	return said >= low && said <= high ? said : high;
}

/**
 * rpcrdma2_hs_step - what to do about an event
 * @state: of the handshake
 * @event: what came
 *
 * Return: an action and the state that follows
 */
const struct rpcrdma2_hs_step *
rpcrdma2_hs_step(enum rpcrdma2_hs_state state, enum rpcrdma2_hs_event event)
{
	return &table[state][event];
}

static bool speaks_1(const struct rpcrdma2_error *err)
{
	return err->vers_low <= RPCRDMA2_VERSION_1 &&
	       err->vers_high >= RPCRDMA2_VERSION_1;
}

/*
 * Whoever does not know CONNPROP may call it an unknown type or malformed: it
 * speaks another text of version 2.
 */
static enum rpcrdma2_hs_event error_event(const struct rpcrdma2_error *err,
					  bool may_speak_1)
{
	if (err->code == RDMA2_ERR_VERS)
		may_speak_1 = may_speak_1 && speaks_1(err);
	if (err->code == RDMA2_ERR_VERS || err->bare)
		return may_speak_1 ? RPCRDMA2_HS_SPEAKS_1 :
				     RPCRDMA2_HS_NO_VERSION;
	return may_speak_1 ? RPCRDMA2_HS_REFUSED_TRY_1 : RPCRDMA2_HS_ERROR;
}

static enum rpcrdma2_hs_event refused_event(const struct rpcrdma2_error *answer)
{
	switch (answer->code) {
	case RDMA2_ERR_VERS:
		return RPCRDMA2_HS_FOREIGN;
	case RDMA2_ERR_INVAL_HTYPE:
		return RPCRDMA2_HS_UNKNOWN;
	default:
		return RPCRDMA2_HS_MALFORMED;
	}
}

/**
 * rpcrdma2_hs_event - what kind of message is it?
 * @hdr: its header
 * @decoded: what the dialect's decode returned
 * @version_low: the lowest version that this end may speak
 *
 * Return: the event
 */
enum rpcrdma2_hs_event
rpcrdma2_hs_event(const struct rpcrdma2_header *hdr, int decoded,
		  u32 version_low)
{
	if (decoded)
		return refused_event(&hdr->error);

	switch (hdr->htype) {
	case RDMA2_CONNPROP:
		return hdr->response ? RPCRDMA2_HS_PROPS_ANSWER :
				       RPCRDMA2_HS_PROPS;
	case RDMA2_ERROR:
		return error_event(&hdr->error,
				   version_low <= RPCRDMA2_VERSION_1);
	default:
		if (hdr->response)
			return RPCRDMA2_HS_REPLY;
		return hdr->vers == RPCRDMA2_VERSION_1 ? RPCRDMA2_HS_CALL_1 :
							 RPCRDMA2_HS_CALL_2;
	}
}
