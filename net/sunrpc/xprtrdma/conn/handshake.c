// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the handshake (v2-09, 5.3.4 and 7; RFC 8166, 5). See handshake.h.
 *
 * A client sends a CONNPROP first, in its preferred dialect of version 2. Then:
 *
 * - The server states its properties: the ends speak this dialect.
 * - The server answers with an error: try the next dialect on the same connection.
 * - The server's answer makes no sense: try the next dialect on the next connection.
 * - The server stays silent: send Calls. If it answers one, the ends speak this dialect.
 * - The server stays silent once more, or hangs up. A failed network looks the same, so try
 *   the next dialect only after two such connections in a row (xprt/connect.c).
 *
 * Version 1 has no properties to ask for, so a client tries it last. A server takes the
 * dialect of the first message that it understands. After that, the dialect never changes.
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
		/* The peer has the initial properties until it states its own. */
		ON(CALL_2,		DELIVER,	UNASKED),
		ON(REPLY,		HANG_UP,	FAILED),
		ON(SPEAKS_OTHER,	HANG_UP,	FAILED),
		ON(NO_VERSION,		HANG_UP,	FAILED),
		ON(HAS_NONE,		HANG_UP,	FAILED),
		ON(REFUSED_TRY_OTHER,	HANG_UP,	FAILED),
		ON(ERROR,		HANG_UP,	FAILED),
		/* The peer may try another dialect, so keep waiting. */
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
		/* The server may know the dialect, but have no properties: send Calls. */
		ON(SILENCE,		NOTHING,	TRYING),
		ON(LOST,		ASSUME_NEXT,	FAILED),
	},
	[RPCRDMA2_HS_TRYING] = {
		ON(PROPS,		TAKE_PROPS,	VERSION_2),
		ON(PROPS_ANSWER,	TAKE_PROPS,	VERSION_2),
		ON(CALL_1,		ASSUME_NEXT,	FAILED),
		ON(CALL_2,		DELIVER,	UNANSWERED),
		ON(REPLY,		DELIVER,	UNANSWERED),
		/* A Call may be out in this dialect, so it is too late to ask in another one. */
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
		/* The peer refuses a dialect that it spoke before. */
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
		/* A CONNPROP comes once: properties do not change (v2-09, 5.3.4). */
		ON(PROPS,		ANSWER_ERROR,	VERSION_2),
		ON(PROPS_ANSWER,	ANSWER_ERROR,	VERSION_2),
		ON(CALL_1,		HANG_UP,	FAILED),
		ON(CALL_2,		DELIVER,	VERSION_2),
		ON(REPLY,		DELIVER,	VERSION_2),
		/* The peer refuses a dialect that it spoke before. */
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
 * rpcrdma2_hs_decided - whether the dialect of a connection is known
 * @state: state of the handshake
 *
 * Context: Any context.
 * Return: true if it is known
 */
bool rpcrdma2_hs_decided(enum rpcrdma2_hs_state state)
{
	return state >= RPCRDMA2_HS_VERSION_1 && state <= RPCRDMA2_HS_VERSION_2;
}

/**
 * rpcrdma2_hs_calls - whether this end may send Calls
 * @state: state of the handshake
 *
 * Context: Any context.
 * Return: true if the dialect is known, or if a Call has to find out
 */
bool rpcrdma2_hs_calls(enum rpcrdma2_hs_state state)
{
	return state == RPCRDMA2_HS_TRYING || rpcrdma2_hs_decided(state);
}

/**
 * rpcrdma2_hs_start - the state in which the connecting end asks in a dialect
 * @dialect: the dialect
 *
 * Context: Any context.
 * Return: %RPCRDMA2_HS_ASKING, or %RPCRDMA2_HS_VERSION_1 for a dialect without properties
 */
enum rpcrdma2_hs_state rpcrdma2_hs_start(const struct rpcrdma2_dialect *dialect)
{
	return dialect->props ? RPCRDMA2_HS_ASKING : RPCRDMA2_HS_VERSION_1;
}

/**
 * rpcrdma2_hs_dialect - choose the dialect in which to decode a message
 * @state: state of the handshake
 * @dialects: dialects that this end may speak
 * @spoken: dialect in which the ends speak or this end asked; NULL if it has not asked
 * @msg: the message, aligned to a word
 * @len: size of @msg, octets
 *
 * As long as the handshake is undecided, the message itself shows its dialect.
 *
 * Context: Any context.
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
	/* The answer to a CONNPROP is in the dialect of the CONNPROP. */
	return spoken && spoken->version == found->version ? spoken : found;
}

/**
 * rpcrdma2_hs_step - look up the step for an event
 * @state: state of the handshake
 * @event: the event
 *
 * Context: Any context.
 * Return: the action and the next state
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
	/* An ERR_VERS refuses all dialects of this version. */
	return rpcrdma2_next_dialect(dialects, dialect, error->vers_low,
				     min_t(u32, error->vers_high,
					   dialect->version - 1));
}

/**
 * rpcrdma2_hs_next - choose the dialect to try after a peer's answer
 * @event: the answer
 * @error: the peer's error, if @event is %RPCRDMA2_HS_SPEAKS_OTHER; not used otherwise
 * @dialects: dialects that this end may speak
 * @dialect: dialect in which this end asked
 *
 * Context: Any context.
 * Return: the dialect, or NULL if none is left
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
 * A server that does not know CONNPROP may call it an unknown header type, or malformed. So
 * any error means that the server may speak another dialect.
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
 * rpcrdma2_hs_event - classify a received message
 * @hdr: its header
 * @decoded: result of rpcrdma2_decode()
 * @dialects: dialects that this end may speak
 * @dialect: dialect in which the ends speak, in which this end asked, or of the message
 *
 * Context: Any context.
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
		/* A Reply in the other version answers no Call of this end. */
		if (hdr->response)
			return hdr->vers == dialect->version ?
			       RPCRDMA2_HS_REPLY : RPCRDMA2_HS_FOREIGN;
		return hdr->vers == RPCRDMA2_VERSION_1 ? RPCRDMA2_HS_CALL_1 :
							 RPCRDMA2_HS_CALL_2;
	}
}
