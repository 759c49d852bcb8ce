// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake (v2-09, 5.3.4 and 7; RFC 8166, 5).
 *
 * The end that connected asks: its first message is a CONNPROP, in the dialect of
 * version 2 that it prefers. A server that speaks it answers with its own, or says it
 * unasked, or has none to say: then the answer to a Call tells. One that doesn't says
 * so in an error, and then the next dialect is tried, on the same connection; or it
 * answers what is no answer, and then the next connection starts with the next dialect.
 * A network that fails looks like a server that hangs up or says nothing at all: the
 * next dialect is tried once two connections have ended so. Version 1 comes last, and
 * has nothing to ask. A server lets its client's first message decide.
 *
 * Nothing changes the dialect of a connection later.
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
		ON(SPEAKS_OTHER,	HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(HAS_NONE,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_OTHER,	HANG_UP,	FAILED),
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
		ON(CALL_1,		ASSUME_NEXT,	FAILED),
		ON(CALL_2,		ASSUME_NEXT,	FAILED),
		ON(REPLY,		ASSUME_NEXT,	FAILED),
		ON(SPEAKS_OTHER,	ASK_NEXT,	ASKING),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(HAS_NONE,		NOTHING,	UNANSWERED),
		ON(REFUSED_TRY_OTHER,	ASK_NEXT,	ASKING),
		ON(ERROR,		HANG_UP,	FAILED),
		ON(FOREIGN,		ASSUME_NEXT,	FAILED),
		ON(UNKNOWN,		ANSWER_ERROR,	ASKING),
		ON(MALFORMED,		ASSUME_NEXT,	FAILED),
		/* It may have taken the properties, and have none to say. */
		ON(SILENCE,		NOTHING,	TRYING),
		ON(LOST,		ASSUME_NEXT,	FAILED),
	},
	[RPCRDMA2_HS_TRYING] = {
		ON(PROPS,		TAKE_PROPS,	VERSION_2),
		ON(PROPS_ANSWER,	TAKE_PROPS,	VERSION_2),
		ON(CALL_1,		ASSUME_NEXT,	FAILED),
		ON(CALL_2,		DELIVER,	UNANSWERED),
		ON(REPLY,		DELIVER,	UNANSWERED),
		/* Too late for this connection. */
		ON(SPEAKS_OTHER,	ASSUME_NEXT,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(HAS_NONE,		NOTHING,	UNANSWERED),
		ON(REFUSED_TRY_OTHER,	DELIVER,	UNANSWERED),
		ON(ERROR,		DELIVER,	UNANSWERED),
		ON(FOREIGN,		ASSUME_NEXT,	FAILED),
		ON(UNKNOWN,		ANSWER_ERROR,	TRYING),
		ON(MALFORMED,		ASSUME_NEXT,	FAILED),
		ON(SILENCE,		ASSUME_NEXT,	FAILED),
		ON(LOST,		ASSUME_NEXT,	FAILED),
	},
	[RPCRDMA2_HS_VERSION_1] = {
		ON(PROPS,		ANSWER_ERROR,	VERSION_1),
		ON(PROPS_ANSWER,	ANSWER_ERROR,	VERSION_1),
		ON(CALL_1,		DELIVER,	VERSION_1),
		ON(CALL_2,		HANG_UP,	FAILED),
		ON(REPLY,		DELIVER,	VERSION_1),
		/* The peer is no longer what it was. */
		ON(SPEAKS_OTHER,	HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(HAS_NONE,		DELIVER,	VERSION_1),
		ON(REFUSED_TRY_OTHER,	DELIVER,	VERSION_1),
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
		ON(SPEAKS_OTHER,	HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(HAS_NONE,		DELIVER,	UNASKED),
		ON(REFUSED_TRY_OTHER,	DELIVER,	UNASKED),
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
		ON(SPEAKS_OTHER,	HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(HAS_NONE,		DELIVER,	UNANSWERED),
		ON(REFUSED_TRY_OTHER,	DELIVER,	UNANSWERED),
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
		ON(SPEAKS_OTHER,	HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(HAS_NONE,		DELIVER,	VERSION_2),
		ON(REFUSED_TRY_OTHER,	DELIVER,	VERSION_2),
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
		ON(SPEAKS_OTHER,	NOTHING,	FAILED),
		ON(NO_VERSION,		NOTHING,	FAILED),
		ON(HAS_NONE,		NOTHING,	FAILED),
		ON(REFUSED_TRY_OTHER,	NOTHING,	FAILED),
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
 * rpcrdma2_hs_start - where the end that connected starts
 * @dialect: the one that it tries
 *
 * Return: ASKING; in version 1 there is nothing to ask
 */
enum rpcrdma2_hs_state rpcrdma2_hs_start(const struct rpcrdma2_dialect *dialect)
{
	return dialect->props ? RPCRDMA2_HS_ASKING : RPCRDMA2_HS_VERSION_1;
}

/**
 * rpcrdma2_hs_dialect - the dialect to read a message in
 * @state: of the handshake
 * @dialects: those that this end may speak
 * @spoken: the one that is spoken, or was asked in; NULL: none yet
 * @msg: what came
 * @len: octets of @msg
 *
 * Until it is known, the one that the message itself is of, if it may be spoken.
 *
 * Return: the dialect
 */
const struct rpcrdma2_dialect *
rpcrdma2_hs_dialect(enum rpcrdma2_hs_state state,
		    const struct rpcrdma2_dialects *dialects,
		    const struct rpcrdma2_dialect *spoken, void *msg, size_t len)
{
	const struct rpcrdma2_dialect *found;

	if (rpcrdma2_hs_decided(state))
		return spoken;
	found = rpcrdma2_recognize(dialects, msg, len);
	/* An answer is in the dialect of the question. */
	return spoken && spoken->version == found->version ? spoken : found;
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

static const struct rpcrdma2_dialect *
hs_next_after_error(const struct rpcrdma2_error *error,
		    const struct rpcrdma2_dialects *dialects,
		    const struct rpcrdma2_dialect *dialect)
{
	if (error->code != RDMA2_ERR_VERS)
		return rpcrdma2_next_dialect(dialects, dialect, 0, U32_MAX);
	/* That is for all dialects of the version. */
	return rpcrdma2_next_dialect(dialects, dialect, error->vers_low,
				     min_t(u32, error->vers_high,
					   dialect->version - 1));
}

/**
 * rpcrdma2_hs_next - which dialect to try after the peer's answer
 * @event: what the answer is
 * @error: the error, if the answer is one
 * @dialects: those that this end may speak
 * @dialect: the one that the peer was asked in
 *
 * The versions in an ERR_VERS count only where the peer sent it: of a message that was
 * refused here, @error is this end's own.
 *
 * Return: the dialect, or NULL if there is none
 */
const struct rpcrdma2_dialect *
rpcrdma2_hs_next(enum rpcrdma2_hs_event event,
		 const struct rpcrdma2_error *error,
		 const struct rpcrdma2_dialects *dialects,
		 const struct rpcrdma2_dialect *dialect)
{
	if (event == RPCRDMA2_HS_SPEAKS_OTHER)
		return hs_next_after_error(error, dialects, dialect);
	return rpcrdma2_next_dialect(dialects, dialect, 0, U32_MAX);
}

/*
 * Whoever does not know CONNPROP may call it an unknown type or malformed: it
 * speaks another dialect.
 */
static enum rpcrdma2_hs_event
hs_error_event(const struct rpcrdma2_error *err,
	       const struct rpcrdma2_dialects *dialects,
	       const struct rpcrdma2_dialect *dialect)
{
	bool other = hs_next_after_error(err, dialects, dialect);

	if (dialect->props_optional && err->code == RDMA2_ERR_INVAL_HTYPE)
		return RPCRDMA2_HS_HAS_NONE;
	if (err->code == RDMA2_ERR_VERS || err->bare)
		return other ? RPCRDMA2_HS_SPEAKS_OTHER : RPCRDMA2_HS_NO_VERSION;
	return other ? RPCRDMA2_HS_REFUSED_TRY_OTHER : RPCRDMA2_HS_ERROR;
}

static enum rpcrdma2_hs_event
hs_refused_event(const struct rpcrdma2_error *answer)
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
 * @dialects: those that this end may speak
 * @dialect: the one that is spoken, or was asked in, or of the message
 *
 * Return: the event
 */
enum rpcrdma2_hs_event
rpcrdma2_hs_event(const struct rpcrdma2_header *hdr, int decoded,
		  const struct rpcrdma2_dialects *dialects,
		  const struct rpcrdma2_dialect *dialect)
{
	if (decoded)
		return hs_refused_event(&hdr->error);

	switch (hdr->kind) {
	case RPCRDMA2_PROPS:
		return hdr->response ? RPCRDMA2_HS_PROPS_ANSWER :
				       RPCRDMA2_HS_PROPS;
	case RPCRDMA2_ERROR:
		return hs_error_event(&hdr->error, dialects, dialect);
	default:
		/* A Reply of the other version answers nothing that was asked. */
		if (hdr->response)
			return hdr->vers == dialect->version ?
			       RPCRDMA2_HS_REPLY : RPCRDMA2_HS_FOREIGN;
		return hdr->vers == RPCRDMA2_VERSION_1 ? RPCRDMA2_HS_CALL_1 :
							 RPCRDMA2_HS_CALL_2;
	}
}
