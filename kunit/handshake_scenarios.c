// SPDX-License-Identifier: GPL-2.0
/*
 * Scenarios of the first messages: v2-09, 5.3.4 and 7; RFC 8166, 5. They follow from
 * what the protocol requires, not from the table in conn/handshake.c.
 */
#include "handshake_test.h"

/* An end's role and first state; then the dialects that it may speak */
#define SERVER		{ false, RPCRDMA2_HS_WAITING }
#define CLIENT		{ true, RPCRDMA2_HS_ASKING }
#define CLIENT_OF_1	{ true, RPCRDMA2_HS_VERSION_1 }
#define UNCONNECTED	{ true, RPCRDMA2_HS_WAITING }
#define BOTH		(&both)
#define ONLY_1		(&only_1)
#define ONLY_2		(&only_2)
#define ALL		(&all)
#define OLD_FIRST	(&old_first)

static const struct rpcrdma2_dialects both = {
	2, { &rpcrdma2_v2_09, &rpcrdma2_v1 }
};

static const struct rpcrdma2_dialects only_1 = { 1, { &rpcrdma2_v1 } };
static const struct rpcrdma2_dialects only_2 = { 1, { &rpcrdma2_v2_09 } };

static const struct rpcrdma2_dialects all = {
	3, { &rpcrdma2_v2_09, &rpcrdma2_v2_01, &rpcrdma2_v1 }
};

static const struct rpcrdma2_dialects old_first = {
	3, { &rpcrdma2_v2_01, &rpcrdma2_v2_09, &rpcrdma2_v1 }
};

#define HEARS(message, what, act, state)				\
	{ message, RPCRDMA2_HS_##what, RPCRDMA2_HS_##act, RPCRDMA2_HS_##state }
/* An event without a message, or one that no message can cause in this state */
#define MEETS(what, act, state)						\
	{ NULL, RPCRDMA2_HS_##what, RPCRDMA2_HS_##act, RPCRDMA2_HS_##state }

#define PROPERTIES	"00000002 00000001 00000004 00003000;" \
			"00000002 00000004 00000001 "
#define ASK		"00000001 00000002 00000040 00000005 00000000 " \
			PROPERTIES
#define ANSWER		"00000001 00000002 00000040 00000005 00000001 " \
			PROPERTIES
#define BAD_ASK		"00000001 00000002 00000040 00000005 00000000;" \
			"00000001 00000001 00000004 00000001 "

/* Messages of each version; version 1 has no CONNPROP and no DONE. */
#define V1_CALL		"11223344 00000001 00000020 00000000;" \
			"00000000 00000000 00000000 11223344 00000000 "
#define V1_REPLY	"11223344 00000001 00000020 00000000;" \
			"00000000 00000000 00000000 11223344 00000001 "
#define V2_CALL		"11223344 00000002 00000020 00000000 00000000;" \
			"00000000 00000000 00000000 00000000 " \
			"11223344 00000000 "
#define V2_REPLY	"11223344 00000002 00000020 00000000 00000001;" \
			"00000000 00000000 00000000 00000000 " \
			"11223344 00000001 "
#define V3_CALL		"11223344 00000003 00000020 00000000;" \
			"00000000 00000000 00000000 11223344 00000000 "
#define V3_ERROR	"11223344 00000003 00000020 00000004;" \
			"00000001 00000003 00000003 "
#define V1_CONNPROP	"00000001 00000001 00000020 00000005 "
#define V1_DONE		"11223344 00000001 00000020 00000003 "
/* Messages of the draft of 2016 */
#define OPTIONAL	"00000001 00000002 00000040 00000005 "
#define INIT_XCHAR	"00000001 0000002c 00000003;" \
			"00000001 00000004 00003000;" \
			"00000002 00000004 00000001;" \
			"00000003 00000004 00000002 00000000 "
#define OLD_ASK		OPTIONAL "00000000 " INIT_XCHAR
#define OLD_ANSWER	OPTIONAL "00000001 " INIT_XCHAR
#define NO_XCHAR	OPTIONAL "00000000 00000005 00000004 00000000 "
#define OLD_CALL	"11223344 00000002 00000020 00000000 00000000;" \
			"00000000 00000000 00000000 11223344 00000000 "
#define OLD_REPLY	"11223344 00000002 00000020 00000000 00000001;" \
			"00000000 00000000 00000000 11223344 00000001 "
/* No message: with a part of a word at the end, and with whole words */
#define GARBAGE		"474554202f20485454502f312e310d0a0d0a"
#define WHOLE_GARBAGE	"474554202f20485454502f312e310d0a0d0a0d0a"

/* First messages of the draft of 2022; the last has a count of properties. */
#define TYPE_6		"00000001 00000002 00000001 00000006 00000000 "
#define TYPE_7		"00000001 00000002 00000001 00000007 00000001;" \
			"00000002 00000004 00001000 "

/* Errors of version 2, of other shapes, and in messages of version 1 */
#define ERROR		"00000001 00000002 00000020 00000004 "
#define INVAL_HTYPE	ERROR "00000001 00000003 "
#define BAD_XDR		ERROR "00000001 00000002 "
#define SEGMENTS	ERROR "00000001 00000006 00000010 "
#define SPEAKS_1_TO_3	ERROR "00000001 00000001 00000001 00000003 "
#define SPEAKS_3_TO_9	ERROR "00000001 00000001 00000003 00000009 "
#define SPEAKS_1	ERROR "00000001 00000001 00000001 "
#define SPEAKS_2	ERROR "00000001 00000002 00000002 "
#define BARE_2		ERROR "00000002 "
#define BARE_3		ERROR "00000003 "
#define BARE_4		ERROR "00000004 "
#define V1_ERROR	"11223344 00000001 00000020 00000004 "
#define V1_CHUNK	V1_ERROR "00000002 "
#define V1_SPEAKS_1	V1_ERROR "00000001 00000001 00000001 "
#define V1_SPEAKS_2	V1_ERROR "00000001 00000002 00000002 "

const struct hs_scenario hs_scenarios[] = {
	/* A server lets its client's first message decide. */
	{ "a server is asked", SERVER, BOTH, {
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
		HEARS(V2_CALL, CALL_2, DELIVER, VERSION_2),
		HEARS(V2_REPLY, REPLY, DELIVER, VERSION_2),
		HEARS(SEGMENTS, REFUSED_TRY_OTHER, DELIVER, VERSION_2),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a server of version 2 gets Calls at once", SERVER, BOTH, {
		HEARS(V2_CALL, CALL_2, DELIVER, UNASKED),
		HEARS(V2_CALL, CALL_2, DELIVER, UNASKED),
		HEARS(V2_REPLY, REPLY, DELIVER, UNASKED),
		HEARS(BAD_XDR, REFUSED_TRY_OTHER, DELIVER, UNASKED),
		HEARS(V1_CALL, FOREIGN, ANSWER_ERROR, UNASKED),
		HEARS(BAD_ASK, MALFORMED, ANSWER_ERROR, UNASKED),
		HEARS(TYPE_7, UNKNOWN, ANSWER_ERROR, UNASKED),
		HEARS(ANSWER, PROPS_ANSWER, ANSWER_ERROR, UNASKED),
		MEETS(ERROR, DELIVER, UNASKED),
		MEETS(SILENCE, NOTHING, UNASKED),
		MEETS(CALL_1, HANG_UP, FAILED),
	} }, {
	  "a server without properties of its client loses it", SERVER, BOTH, {
		HEARS(V2_CALL, CALL_2, DELIVER, UNASKED),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a server without properties is told of other versions", SERVER,
	  BOTH, {
		HEARS(V2_CALL, CALL_2, DELIVER, UNASKED),
		HEARS(SPEAKS_3_TO_9, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "a server without properties is told of version 1", SERVER, BOTH, {
		HEARS(V2_CALL, CALL_2, DELIVER, UNASKED),
		HEARS(SPEAKS_1, SPEAKS_OTHER, HANG_UP, FAILED),
	} }, {
	  "a server asked after the first Call", SERVER, BOTH, {
		HEARS(V2_CALL, CALL_2, DELIVER, UNASKED),
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
		HEARS(V2_CALL, CALL_2, DELIVER, VERSION_2),
		HEARS(ASK, PROPS, ANSWER_ERROR, VERSION_2),
		HEARS(TYPE_7, UNKNOWN, ANSWER_ERROR, VERSION_2),
		MEETS(SILENCE, NOTHING, VERSION_2),
	} }, {
	  "a server asked twice", SERVER, BOTH, {
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
		HEARS(ASK, PROPS, ANSWER_ERROR, VERSION_2),
		HEARS(V2_CALL, CALL_2, DELIVER, VERSION_2),
	} }, {
	  "a server's client knows version 1 only", SERVER, BOTH, {
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
		HEARS(V1_CHUNK, ERROR, DELIVER, VERSION_1),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a server's client tries version 3 first, then 1", SERVER, BOTH, {
		HEARS(V3_CALL, FOREIGN, ANSWER_ERROR, WAITING),
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
	} }, {
	  "a server's client tries version 3 first, then asks", SERVER, BOTH, {
		HEARS(V3_CALL, FOREIGN, ANSWER_ERROR, WAITING),
		HEARS(V3_CALL, FOREIGN, ANSWER_ERROR, WAITING),
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
	} }, {
	  "a server of version 1 alone is asked", SERVER, ONLY_1, {
		HEARS(ASK, FOREIGN, ANSWER_ERROR, WAITING),
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		HEARS(V2_CALL, FOREIGN, ANSWER_ERROR, VERSION_1),
	} }, {
	  "a server of version 2 alone gets version 1", SERVER, ONLY_2, {
		HEARS(V1_CALL, FOREIGN, ANSWER_ERROR, WAITING),
		HEARS(V1_CALL, FOREIGN, ANSWER_ERROR, WAITING),
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
	} }, {
	  "a server's client comes with bad properties", SERVER, BOTH, {
		HEARS(BAD_ASK, MALFORMED, ANSWER_ERROR, WAITING),
	} }, {
	  "a server's client speaks the 2022 text, then asks", SERVER, BOTH, {
		HEARS(TYPE_7, UNKNOWN, ANSWER_ERROR, WAITING),
		HEARS(TYPE_6, UNKNOWN, ANSWER_ERROR, WAITING),
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
	} }, {
	  "a server gets what version 1 no longer has", SERVER, BOTH, {
		HEARS(V1_DONE, MALFORMED, ANSWER_ERROR, WAITING),
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
	} }, {
	  "a server gets garbage", SERVER, BOTH, {
		HEARS(GARBAGE, MALFORMED, ANSWER_ERROR, WAITING),
		HEARS(WHOLE_GARBAGE, FOREIGN, ANSWER_ERROR, WAITING),
		HEARS("", MALFORMED, ANSWER_ERROR, WAITING),
	} }, {
	  "a server gets an error of a version that it doesn't speak", SERVER,
	  BOTH, {
		HEARS(V3_ERROR, MALFORMED, ANSWER_ERROR, WAITING),
	} }, {
	  "a server is answered, and never asked", SERVER, BOTH, {
		HEARS(ANSWER, PROPS_ANSWER, HANG_UP, FAILED),
		HEARS(V2_CALL, CALL_2, NOTHING, FAILED),
	} }, {
	  "a server gets a Reply to nothing, in version 1", SERVER, BOTH, {
		HEARS(V1_REPLY, REPLY, HANG_UP, FAILED),
	} }, {
	  "a server gets a Reply to nothing, in version 2", SERVER, BOTH, {
		HEARS(V2_REPLY, REPLY, HANG_UP, FAILED),
	} }, {
	  "a server is refused", SERVER, BOTH, {
		HEARS(BAD_XDR, REFUSED_TRY_OTHER, HANG_UP, FAILED),
	} }, {
	  "a server is refused in version 1", SERVER, BOTH, {
		HEARS(V1_CHUNK, ERROR, HANG_UP, FAILED),
	} }, {
	  "a server is told of other versions", SERVER, BOTH, {
		HEARS(SPEAKS_3_TO_9, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "a server is told of version 1", SERVER, BOTH, {
		HEARS(SPEAKS_1, SPEAKS_OTHER, HANG_UP, FAILED),
	} }, {
	  "a server of version 2 alone is refused", SERVER, ONLY_2, {
		HEARS(BAD_XDR, ERROR, HANG_UP, FAILED),
	} }, {
	  "a server's client never speaks", SERVER, BOTH, {
		MEETS(SILENCE, HANG_UP, FAILED),
		MEETS(SILENCE, NOTHING, FAILED),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a server's client goes before it speaks", SERVER, BOTH, {
		MEETS(LOST, NOTHING, FAILED),
	} },

	/* A client asks. */
	{ "a client is answered", CLIENT, BOTH, {
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(V2_REPLY, REPLY, DELIVER, VERSION_2),
		HEARS(V2_CALL, CALL_2, DELIVER, VERSION_2),
		HEARS(BAD_XDR, REFUSED_TRY_OTHER, DELIVER, VERSION_2),
		HEARS(SPEAKS_3_TO_9, NO_VERSION, HANG_UP, FAILED),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a client's server becomes one of version 1", CLIENT, BOTH, {
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(SPEAKS_1, SPEAKS_OTHER, HANG_UP, FAILED),
	} }, {
	  "a client is answered twice", CLIENT, BOTH, {
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(ANSWER, PROPS_ANSWER, ANSWER_ERROR, VERSION_2),
		HEARS(V2_REPLY, REPLY, DELIVER, VERSION_2),
	} }, {
	  "a client's server knows version 1 only", CLIENT, BOTH, {
		HEARS(SPEAKS_1, SPEAKS_OTHER, ASK_NEXT, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		HEARS(V1_CHUNK, ERROR, DELIVER, VERSION_1),
		MEETS(SILENCE, NOTHING, VERSION_1),
		MEETS(UNKNOWN, ANSWER_ERROR, VERSION_1),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a client's server advertises", CLIENT, BOTH, {
		HEARS(ASK, PROPS, TAKE_PROPS, VERSION_2),
		HEARS(V2_REPLY, REPLY, DELIVER, VERSION_2),
		HEARS(ASK, PROPS, ANSWER_ERROR, VERSION_2),
	} }, {
	  "a client's server advertises, and answers", CLIENT, BOTH, {
		HEARS(ASK, PROPS, TAKE_PROPS, VERSION_2),
		HEARS(ANSWER, PROPS_ANSWER, ANSWER_ERROR, VERSION_2),
	} }, {
	  "a client's server answers Calls alone", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(V2_REPLY, REPLY, DELIVER, UNANSWERED),
		HEARS(V2_CALL, CALL_2, DELIVER, UNANSWERED),
		HEARS(V2_REPLY, REPLY, DELIVER, UNANSWERED),
		HEARS(BAD_XDR, REFUSED_TRY_OTHER, DELIVER, UNANSWERED),
		HEARS(V1_CALL, FOREIGN, ANSWER_ERROR, UNANSWERED),
		HEARS(TYPE_7, UNKNOWN, ANSWER_ERROR, UNANSWERED),
		HEARS(BAD_ASK, MALFORMED, ANSWER_ERROR, UNANSWERED),
		MEETS(SILENCE, NOTHING, UNANSWERED),
		MEETS(ERROR, DELIVER, UNANSWERED),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a client's server calls it, and answers nothing", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(V2_CALL, CALL_2, DELIVER, UNANSWERED),
		MEETS(CALL_1, HANG_UP, FAILED),
	} }, {
	  "a client's server answers late", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(V2_REPLY, REPLY, DELIVER, VERSION_2),
	} }, {
	  "a client's server advertises late", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(ASK, PROPS, TAKE_PROPS, VERSION_2),
	} }, {
	  "a client's server answers after a Reply", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(V2_REPLY, REPLY, DELIVER, UNANSWERED),
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
	} }, {
	  "a client's server advertises after a Reply", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(V2_REPLY, REPLY, DELIVER, UNANSWERED),
		HEARS(ASK, PROPS, TAKE_PROPS, VERSION_2),
		HEARS(ASK, PROPS, ANSWER_ERROR, VERSION_2),
	} }, {
	  "a client's server answers a Call with an error", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(TYPE_6, UNKNOWN, ANSWER_ERROR, TRYING),
		HEARS(SEGMENTS, REFUSED_TRY_OTHER, DELIVER, UNANSWERED),
		HEARS(SPEAKS_1, SPEAKS_OTHER, HANG_UP, FAILED),
	} }, {
	  "a client of version 2 alone: no properties, an error", CLIENT,
	  ONLY_2, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(SEGMENTS, ERROR, DELIVER, UNANSWERED),
		HEARS(SPEAKS_3_TO_9, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "a client's server knows nothing but version 1, late", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(SPEAKS_1, SPEAKS_OTHER, ASSUME_NEXT, FAILED),
	} }, {
	  "a client's server knows neither version, late", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(SPEAKS_3_TO_9, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "a client's server is silent", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		MEETS(SILENCE, ASSUME_NEXT, FAILED),
	} }, {
	  "a client's server hangs up on a Call", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		MEETS(LOST, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets version 1 for an answer to a Call", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(V1_CALL, CALL_1, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets version 3 for an answer to a Call", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(V3_CALL, FOREIGN, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets a Reply in version 1 to a Call", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(V1_REPLY, FOREIGN, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets garbage for an answer to a Call", CLIENT, BOTH, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(GARBAGE, MALFORMED, ASSUME_NEXT, FAILED),
	} }, {
	  "a client is asked something else before it is answered", CLIENT,
	  BOTH, {
		HEARS(TYPE_7, UNKNOWN, ANSWER_ERROR, ASKING),
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
	} }, {
	  "a client's server knows the 2016 text: BAD_HEADER", CLIENT, BOTH, {
		HEARS(BARE_2, SPEAKS_OTHER, ASK_NEXT, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
	} }, {
	  "a client's server knows the 2016 text: INVAL_OPTION", CLIENT, BOTH, {
		HEARS(BARE_3, SPEAKS_OTHER, ASK_NEXT, VERSION_1),
	} }, {
	  "a client's server knows the 2022 text: INVAL_HTYPE", CLIENT, BOTH, {
		HEARS(BARE_4, SPEAKS_OTHER, ASK_NEXT, VERSION_1),
	} }, {
	  "a client of version 2 alone: another draft", CLIENT, ONLY_2, {
		HEARS(BARE_3, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "another draft's error in the middle of this one's", CLIENT, BOTH, {
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(BARE_2, SPEAKS_OTHER, HANG_UP, FAILED),
	} }, {
	  "a client's server knows other texts of version 2", CLIENT, BOTH, {
		HEARS(SPEAKS_1_TO_3, SPEAKS_OTHER, ASK_NEXT, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
	} }, {
	  "a client's server does not know CONNPROP", CLIENT, BOTH, {
		HEARS(INVAL_HTYPE, REFUSED_TRY_OTHER, ASK_NEXT, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
	} }, {
	  "a client's server reads something else into it", CLIENT, BOTH, {
		HEARS(BAD_XDR, REFUSED_TRY_OTHER, ASK_NEXT, VERSION_1),
	} }, {
	  "a client's server says so in version 1", CLIENT, BOTH, {
		HEARS(V1_CHUNK, REFUSED_TRY_OTHER, ASK_NEXT, VERSION_1),
	} }, {
	  "a client's server speaks neither version", CLIENT, BOTH, {
		HEARS(SPEAKS_3_TO_9, NO_VERSION, HANG_UP, FAILED),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a client's server is of two minds about version 2", CLIENT, BOTH, {
		HEARS(SPEAKS_2, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "a client of version 2 alone: ERR_VERS", CLIENT, ONLY_2, {
		HEARS(SPEAKS_1, NO_VERSION, HANG_UP, FAILED),
		HEARS(V1_CALL, FOREIGN, NOTHING, FAILED),
	} }, {
	  "a client of version 2 alone: ERR_VERS, 32 octets", CLIENT, ONLY_2, {
		HEARS(SPEAKS_1_TO_3, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "a client of version 2 alone: ERR_INVAL_HTYPE", CLIENT, ONLY_2, {
		HEARS(INVAL_HTYPE, ERROR, HANG_UP, FAILED),
	} }, {
	  "a client of version 2 alone is answered", CLIENT, ONLY_2, {
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(SEGMENTS, ERROR, DELIVER, VERSION_2),
	} }, {
	  "a client of version 1 alone", CLIENT_OF_1, ONLY_1, {
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		MEETS(ERROR, DELIVER, VERSION_1),
		MEETS(REFUSED_TRY_OTHER, DELIVER, VERSION_1),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a client of version 1, whose server speaks something else",
	  CLIENT_OF_1, ONLY_1, {
		MEETS(SPEAKS_OTHER, HANG_UP, FAILED),
	} }, {
	  "a client of version 1, whose server has become another",
	  CLIENT_OF_1, ONLY_1, {
		HEARS(V1_SPEAKS_2, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "a client of version 1, whose server contradicts itself",
	  CLIENT_OF_1, BOTH, {
		HEARS(V1_SPEAKS_1, NO_VERSION, HANG_UP, FAILED),
	} }, {
	  "a client's server hangs up instead of an answer", CLIENT, BOTH, {
		MEETS(LOST, ASSUME_NEXT, FAILED),
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a client's connection is lost before it is made", UNCONNECTED,
	  BOTH, {
		MEETS(LOST, NOTHING, FAILED),
	} }, {
	  "a client gets a Call in version 1 for an answer", CLIENT, BOTH, {
		HEARS(V1_CALL, CALL_1, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets a Call in version 2 for an answer", CLIENT, BOTH, {
		HEARS(V2_CALL, CALL_2, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets a Reply in version 1 for an answer", CLIENT, BOTH, {
		HEARS(V1_REPLY, FOREIGN, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets a Reply in version 2 for an answer", CLIENT, BOTH, {
		HEARS(V2_REPLY, REPLY, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets version 3 for an answer", CLIENT, BOTH, {
		HEARS(V3_CALL, FOREIGN, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets garbage for an answer", CLIENT, BOTH, {
		HEARS(GARBAGE, MALFORMED, ASSUME_NEXT, FAILED),
	} }, {
	  "a client gets bad properties for an answer", CLIENT, BOTH, {
		HEARS(BAD_ASK, MALFORMED, ASSUME_NEXT, FAILED),
	} },

	/* Two drafts have version 2. */
	{ "a server is asked in the 2016 text", SERVER, ALL, {
		HEARS(OLD_ASK, PROPS, ANSWER_PROPS, VERSION_2),
		HEARS(OLD_CALL, CALL_2, DELIVER, VERSION_2),
		HEARS(OLD_REPLY, REPLY, DELIVER, VERSION_2),
		HEARS(V2_CALL, MALFORMED, ANSWER_ERROR, VERSION_2),
		HEARS(NO_XCHAR, UNKNOWN, ANSWER_ERROR, VERSION_2),
		HEARS(OLD_ASK, PROPS, ANSWER_ERROR, VERSION_2),
		HEARS(BARE_3, HAS_NONE, DELIVER, VERSION_2),
	} }, {
	  "a server of all texts is asked in v2-09", SERVER, ALL, {
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
		HEARS(V2_CALL, CALL_2, DELIVER, VERSION_2),
		HEARS(OLD_CALL, MALFORMED, ANSWER_ERROR, VERSION_2),
	} }, {
	  "a server of all texts gets a Call of v2-09", SERVER, ALL, {
		HEARS(V2_CALL, CALL_2, DELIVER, UNASKED),
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
	} }, {
	  "a server of all texts gets a Call of version 1", SERVER, ALL, {
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		MEETS(HAS_NONE, DELIVER, VERSION_1),
	} }, {
	  "a server gets a Call of the 2016 text", SERVER, ALL, {
		HEARS(OLD_CALL, CALL_2, DELIVER, UNASKED),
		HEARS(BARE_3, HAS_NONE, DELIVER, UNASKED),
		HEARS(OLD_ASK, PROPS, ANSWER_PROPS, VERSION_2),
	} }, {
	  "a server gets an unknown operation of the 2016 text", SERVER, ALL, {
		HEARS(NO_XCHAR, UNKNOWN, ANSWER_ERROR, WAITING),
		HEARS(OLD_ASK, PROPS, ANSWER_PROPS, VERSION_2),
	} }, {
	  "a server without the 2016 text is asked in it", SERVER, BOTH, {
		HEARS(OLD_ASK, MALFORMED, ANSWER_ERROR, WAITING),
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
	} }, {
	  "a server gets an error of the 2016 text", SERVER, ALL, {
		MEETS(HAS_NONE, HANG_UP, FAILED),
		MEETS(HAS_NONE, NOTHING, FAILED),
	} }, {
	  "a client of the 2016 text is answered", CLIENT, OLD_FIRST, {
		HEARS(OLD_ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(OLD_REPLY, REPLY, DELIVER, VERSION_2),
		HEARS(BARE_2, REFUSED_TRY_OTHER, DELIVER, VERSION_2),
	} }, {
	  "a client's server has no characteristics", CLIENT, OLD_FIRST, {
		HEARS(BARE_3, HAS_NONE, NOTHING, UNANSWERED),
		HEARS(OLD_REPLY, REPLY, DELIVER, UNANSWERED),
		HEARS(BARE_3, HAS_NONE, DELIVER, UNANSWERED),
	} }, {
	  "a client's server says late that it has none", CLIENT, OLD_FIRST, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(BARE_3, HAS_NONE, NOTHING, UNANSWERED),
	} }, {
	  "a client's server has v2-09, not the 2016 text", CLIENT, OLD_FIRST, {
		HEARS(BAD_XDR, REFUSED_TRY_OTHER, ASK_NEXT, ASKING),
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(V2_REPLY, REPLY, DELIVER, VERSION_2),
	} }, {
	  "a client's server has the 2016 text, not v2-09", CLIENT, ALL, {
		HEARS(BARE_2, SPEAKS_OTHER, ASK_NEXT, ASKING),
		HEARS(OLD_ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
		HEARS(OLD_REPLY, REPLY, DELIVER, VERSION_2),
	} }, {
	  "a client's server has neither, and says so twice", CLIENT, ALL, {
		HEARS(BARE_2, SPEAKS_OTHER, ASK_NEXT, ASKING),
		HEARS(BARE_2, REFUSED_TRY_OTHER, ASK_NEXT, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
	} }, {
	  "a client's server knows the 2022 text, not the 2016 one", CLIENT,
	  OLD_FIRST, {
		HEARS(BARE_4, SPEAKS_OTHER, ASK_NEXT, ASKING),
		HEARS(BARE_4, SPEAKS_OTHER, ASK_NEXT, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
	} }, {
	  "a client's server answers the 2016 text by v2-09's error", CLIENT,
	  OLD_FIRST, {
		HEARS(SEGMENTS, SPEAKS_OTHER, ASK_NEXT, ASKING),
		HEARS(ANSWER, PROPS_ANSWER, TAKE_PROPS, VERSION_2),
	} }, {
	  "a client's server answers a Call of the 2016 text so", CLIENT,
	  OLD_FIRST, {
		MEETS(SILENCE, NOTHING, TRYING),
		HEARS(SEGMENTS, SPEAKS_OTHER, ASSUME_NEXT, FAILED),
	} }, {
	  "a client's server has version 1 alone, and no text of 2", CLIENT,
	  ALL, {
		HEARS(SPEAKS_1, SPEAKS_OTHER, ASK_NEXT, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
	} },

	/* A decision stays. */
	{ "version 1 in the middle of version 2", SERVER, BOTH, {
		HEARS(ASK, PROPS, ANSWER_PROPS, VERSION_2),
		HEARS(V1_CALL, FOREIGN, ANSWER_ERROR, VERSION_2),
		HEARS(V1_REPLY, FOREIGN, ANSWER_ERROR, VERSION_2),
		HEARS(V1_CHUNK, MALFORMED, ANSWER_ERROR, VERSION_2),
		HEARS(V2_CALL, CALL_2, DELIVER, VERSION_2),
		MEETS(CALL_1, HANG_UP, FAILED),
	} }, {
	  "version 2 in the middle of version 1", SERVER, BOTH, {
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		HEARS(ASK, FOREIGN, ANSWER_ERROR, VERSION_1),
		HEARS(V2_CALL, FOREIGN, ANSWER_ERROR, VERSION_1),
		HEARS(SPEAKS_1, MALFORMED, ANSWER_ERROR, VERSION_1),
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		MEETS(CALL_2, HANG_UP, FAILED),
	} }, {
	  "properties in version 1", SERVER, BOTH, {
		HEARS(V1_CALL, CALL_1, DELIVER, VERSION_1),
		HEARS(V1_CONNPROP, MALFORMED, ANSWER_ERROR, VERSION_1),
		MEETS(PROPS, ANSWER_ERROR, VERSION_1),
		MEETS(PROPS_ANSWER, ANSWER_ERROR, VERSION_1),
	} }, {
	  "an answer that comes late", CLIENT, BOTH, {
		HEARS(SPEAKS_1, SPEAKS_OTHER, ASK_NEXT, VERSION_1),
		HEARS(ANSWER, FOREIGN, ANSWER_ERROR, VERSION_1),
		HEARS(V1_REPLY, REPLY, DELIVER, VERSION_1),
	} }, {
	  "after the end nothing matters", SERVER, BOTH, {
		MEETS(LOST, NOTHING, FAILED),
		HEARS(ASK, PROPS, NOTHING, FAILED),
		HEARS(ANSWER, PROPS_ANSWER, NOTHING, FAILED),
		HEARS(V1_CALL, CALL_1, NOTHING, FAILED),
		HEARS(V2_CALL, CALL_2, NOTHING, FAILED),
		HEARS(V1_REPLY, REPLY, NOTHING, FAILED),
		HEARS(SPEAKS_1, SPEAKS_OTHER, NOTHING, FAILED),
		HEARS(SPEAKS_3_TO_9, NO_VERSION, NOTHING, FAILED),
		HEARS(BAD_XDR, REFUSED_TRY_OTHER, NOTHING, FAILED),
		MEETS(ERROR, NOTHING, FAILED),
		HEARS(V3_CALL, FOREIGN, NOTHING, FAILED),
		HEARS(BAD_ASK, MALFORMED, NOTHING, FAILED),
		HEARS(TYPE_7, UNKNOWN, NOTHING, FAILED),
		MEETS(SILENCE, NOTHING, FAILED),
		MEETS(LOST, NOTHING, FAILED),
	} },
};

const unsigned int hs_nr_scenarios = ARRAY_SIZE(hs_scenarios);
