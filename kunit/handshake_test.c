// SPDX-License-Identifier: GPL-2.0
/*
 * Every step of the negotiation in conn/handshake.c, in scenarios. They are made of messages
 * as they come from the wire. Other cases check rules for the whole table.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "handshake_test.h"
#include "kunit_compat.h"
#include "wire_test.h"

#define NR_STATES	RPCRDMA2_HS_NR_STATES
#define NR_EVENTS	RPCRDMA2_HS_NR_EVENTS

/* The steps that scenarios have taken: a bit for each event, by state */
struct visited {
	u32	events[NR_STATES];
};

static void scenario_desc(const struct hs_scenario *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", s->name);
}

static const void *scenario_gen_params(KUNIT_GENERATOR_ARGS)
{
	const struct hs_scenario *s = prev;

	s = s ? s + 1 : hs_scenarios;
	if (s == hs_scenarios + hs_nr_scenarios)
		return NULL;
	scenario_desc(s, desc);
	return s;
}

/*
 * No line of a scenario does nothing and ends in WAITING, so such a line marks the end.
 */
static bool is_empty(const struct hs_line *line)
{
	return line->action == RPCRDMA2_HS_NOTHING &&
	       line->next == RPCRDMA2_HS_WAITING;
}

/**
 * struct talk - a scenario that is being played
 * @scenario: the scenario
 * @state: its current state
 * @dialect: the dialect that is spoken, or that the client asked in; NULL: none yet
 * @event: the last event
 * @error: the error in the last message
 */
struct talk {
	const struct hs_scenario	*scenario;
	enum rpcrdma2_hs_state		state;
	const struct rpcrdma2_dialect	*dialect;
	enum rpcrdma2_hs_event		event;
	struct rpcrdma2_error		error;
};

static u32 talk_codec_of(const struct rpcrdma2_dialect *dialect)
{
	u32 codec = 1;

	while (wire_dialect(codec) != dialect)
		codec++;
	return codec;
}

static void talk_begin(struct talk *talk, const struct hs_scenario *s)
{
	talk->scenario = s;
	talk->state = s->end.start;
	talk->dialect = NULL;
	if (s->end.start == RPCRDMA2_HS_VERSION_1)
		talk->dialect = &rpcrdma2_v1;
	else if (s->end.client)
		talk->dialect = s->dialects->dialect[0];
}

static enum rpcrdma2_hs_event understand(struct talk *talk,
					 struct rpcrdma2_header *hdr,
					 struct wire_msg *msg)
{
	const struct hs_scenario *s = talk->scenario;
	const struct rpcrdma2_dialect *found;
	size_t rest;
	int rc;

	/* A server may change the dialect until a message decides. */
	if (!s->end.client && !rpcrdma2_hs_decided(talk->state))
		talk->dialect = NULL;
	found = rpcrdma2_hs_dialect(talk->state, s->dialects, talk->dialect,
				    msg->octets, msg->len);
	talk->dialect = talk->dialect ?: found;
	hdr->response = s->end.client;
	rc = wire_decode(talk_codec_of(found), msg->octets, msg->len, hdr,
			 &rest);
	talk->error = hdr->error;
	talk->event = rpcrdma2_hs_event(hdr, rc, s->dialects, talk->dialect);
	return talk->event;
}

static enum rpcrdma2_hs_event hear(struct kunit *test, struct talk *talk,
				   const char *wire)
{
	struct rpcrdma2_header *hdr;
	struct wire_msg *msg;
	int event = -ENOMEM;

	hdr = kzalloc(sizeof(*hdr), GFP_KERNEL);
	msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	if (hdr && msg) {
		wire_parse(msg, wire);
		event = understand(talk, hdr, msg);
	}
	kfree(msg);
	kfree(hdr);
	KUNIT_ASSERT_EQ(test, event < 0 || event >= NR_EVENTS, false);
	return event;
}

static const struct rpcrdma2_dialect *next_of(const struct talk *talk)
{
	return rpcrdma2_hs_next(talk->event, &talk->error,
				talk->scenario->dialects, talk->dialect);
}

static void take(struct kunit *test, struct talk *talk,
		 const struct rpcrdma2_hs_step *step)
{
	talk->state = step->next;
	if (step->action != RPCRDMA2_HS_ASK_NEXT)
		return;
	talk->dialect = next_of(talk);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, talk->dialect);
	talk->state = rpcrdma2_hs_start(talk->dialect);
}

static void walk(struct kunit *test, const struct hs_scenario *s,
		 struct visited *visited)
{
	enum rpcrdma2_hs_event event;
	const struct rpcrdma2_hs_step *step;
	const struct hs_line *line;
	struct talk talk;
	unsigned int i;

	talk_begin(&talk, s);
	for (i = 0; i < HS_LINES && !is_empty(&s->line[i]); i++) {
		line = &s->line[i];
		event = line->event;
		if (line->wire)
			event = hear(test, &talk, line->wire);
		KUNIT_ASSERT_EQ_MSG(test, event, line->event, "line %u", i);
		step = rpcrdma2_hs_step(talk.state, event);
		visited->events[talk.state] |= 1U << event;
		take(test, &talk, step);
		KUNIT_EXPECT_EQ_MSG(test, step->action, line->action,
				    "line %u", i);
		KUNIT_ASSERT_EQ_MSG(test, talk.state, line->next, "line %u", i);
	}
	KUNIT_EXPECT_EQ(test, i > 0, true);
}

static void goes_as_the_protocol_says(struct kunit *test)
{
	struct visited visited = { { 0 } };

	walk(test, test->param_value, &visited);
}

static void scenarios_take_every_step(struct kunit *test)
{
	struct visited visited = { { 0 } };
	unsigned int i;

	for (i = 0; i < hs_nr_scenarios; i++)
		walk(test, &hs_scenarios[i], &visited);
	for (i = 0; i < NR_STATES; i++)
		KUNIT_EXPECT_EQ_MSG(test, visited.events[i],
				    (1U << NR_EVENTS) - 1,
				    "events of state %u", i);
}

/* A rule that each step of the table must fulfil */
typedef bool (*step_ok)(enum rpcrdma2_hs_state from,
			enum rpcrdma2_hs_event event,
			enum rpcrdma2_hs_action action,
			enum rpcrdma2_hs_state next);

static void expect_of_all(struct kunit *test, step_ok ok)
{
	const struct rpcrdma2_hs_step *step;
	unsigned int from, event;

	for (from = 0; from < NR_STATES; from++) {
		for (event = 0; event < NR_EVENTS; event++) {
			step = rpcrdma2_hs_step(from, event);
			KUNIT_EXPECT_EQ_MSG(test,
					    ok(from, event, step->action,
					       step->next), true,
					    "state %u, event %u", from, event);
		}
	}
}

/* A step that the table leaves out is all zeros: NOTHING, and WAITING. */
static bool is_set(enum rpcrdma2_hs_state from, enum rpcrdma2_hs_event event,
		   enum rpcrdma2_hs_action action, enum rpcrdma2_hs_state next)
{
	if (action > RPCRDMA2_HS_ASSUME_NEXT || next >= NR_STATES)
		return false;
	return action != RPCRDMA2_HS_NOTHING || next != RPCRDMA2_HS_WAITING;
}

static void no_step_is_left_out(struct kunit *test)
{
	expect_of_all(test, is_set);
}

static bool goes_forward(enum rpcrdma2_hs_state from,
			 enum rpcrdma2_hs_event event,
			 enum rpcrdma2_hs_action action,
			 enum rpcrdma2_hs_state next)
{
	if (event == RPCRDMA2_HS_LOST)
		return next == RPCRDMA2_HS_FAILED;
	switch (from) {
	case RPCRDMA2_HS_WAITING:
		return next != RPCRDMA2_HS_ASKING &&
		       next != RPCRDMA2_HS_TRYING &&
		       next != RPCRDMA2_HS_UNANSWERED;
	case RPCRDMA2_HS_ASKING:
	case RPCRDMA2_HS_TRYING:
		/* The first answer decides, unless the message was none. */
		if (event == RPCRDMA2_HS_UNKNOWN)
			return next == from;
		if (from == RPCRDMA2_HS_ASKING &&
		    (event == RPCRDMA2_HS_SPEAKS_OTHER ||
		     event == RPCRDMA2_HS_REFUSED_TRY_OTHER))
			return next == from;
		if (event == RPCRDMA2_HS_SILENCE)
			return next == (from == RPCRDMA2_HS_ASKING ?
					RPCRDMA2_HS_TRYING :
					RPCRDMA2_HS_FAILED);
		return rpcrdma2_hs_decided(next) || next == RPCRDMA2_HS_FAILED;
	case RPCRDMA2_HS_UNASKED:
	case RPCRDMA2_HS_UNANSWERED:
		/* The version stays; properties may come once. */
		if (next == RPCRDMA2_HS_VERSION_2)
			return event == RPCRDMA2_HS_PROPS ||
			       event == RPCRDMA2_HS_PROPS_ANSWER;
		return next == from || next == RPCRDMA2_HS_FAILED;
	default:
		return next == from || next == RPCRDMA2_HS_FAILED;
	}
}

static bool is_asked(enum rpcrdma2_hs_state state)
{
	return state == RPCRDMA2_HS_WAITING || state == RPCRDMA2_HS_UNASKED;
}

static bool is_asking(enum rpcrdma2_hs_state state)
{
	return state == RPCRDMA2_HS_ASKING || state == RPCRDMA2_HS_TRYING;
}

static void nothing_is_decided_twice(struct kunit *test)
{
	expect_of_all(test, goes_forward);
}

static bool does_what_can_be_done(enum rpcrdma2_hs_state from,
				  enum rpcrdma2_hs_event event,
				  enum rpcrdma2_hs_action action,
				  enum rpcrdma2_hs_state next)
{
	if (from == RPCRDMA2_HS_FAILED)
		return action == RPCRDMA2_HS_NOTHING;
	switch (action) {
	case RPCRDMA2_HS_TAKE_PROPS:
		return (event == RPCRDMA2_HS_PROPS_ANSWER ||
			event == RPCRDMA2_HS_PROPS) && !is_asked(from) &&
		       next == RPCRDMA2_HS_VERSION_2;
	case RPCRDMA2_HS_ANSWER_PROPS:
		return event == RPCRDMA2_HS_PROPS && is_asked(from) &&
		       next == RPCRDMA2_HS_VERSION_2;
	case RPCRDMA2_HS_DELIVER:
		return event >= RPCRDMA2_HS_CALL_1 &&
		       event <= RPCRDMA2_HS_ERROR && rpcrdma2_hs_decided(next);
	case RPCRDMA2_HS_HANG_UP:
		return event != RPCRDMA2_HS_LOST && next == RPCRDMA2_HS_FAILED;
	case RPCRDMA2_HS_ASSUME_NEXT:
		return is_asking(from) && next == RPCRDMA2_HS_FAILED &&
		       (event == RPCRDMA2_HS_LOST ||
			event == RPCRDMA2_HS_CALL_1 ||
			event == RPCRDMA2_HS_FOREIGN ||
			event == RPCRDMA2_HS_MALFORMED ||
			(from == RPCRDMA2_HS_ASKING &&
			 (event == RPCRDMA2_HS_CALL_2 ||
			  event == RPCRDMA2_HS_REPLY)) ||
			(from == RPCRDMA2_HS_TRYING &&
			 (event == RPCRDMA2_HS_SILENCE ||
			  event == RPCRDMA2_HS_SPEAKS_OTHER)));
	case RPCRDMA2_HS_ASK_NEXT:
		return from == RPCRDMA2_HS_ASKING &&
		       (event == RPCRDMA2_HS_SPEAKS_OTHER ||
			event == RPCRDMA2_HS_REFUSED_TRY_OTHER);
	case RPCRDMA2_HS_ANSWER_ERROR:
		/* An error must not be answered with an error. */
		return next == from && event != RPCRDMA2_HS_ERROR &&
		       event != RPCRDMA2_HS_REFUSED_TRY_OTHER &&
		       event != RPCRDMA2_HS_HAS_NONE &&
		       event != RPCRDMA2_HS_NO_VERSION &&
		       event != RPCRDMA2_HS_SPEAKS_OTHER &&
		       event != RPCRDMA2_HS_SILENCE &&
		       event != RPCRDMA2_HS_LOST;
	default:
		return event == RPCRDMA2_HS_LOST ||
		       event == RPCRDMA2_HS_SILENCE ||
		       event == RPCRDMA2_HS_HAS_NONE;
	}
}

static void nothing_impossible_is_done(struct kunit *test)
{
	expect_of_all(test, does_what_can_be_done);
}

static void only_versions_are_decisions(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, rpcrdma2_hs_decided(RPCRDMA2_HS_WAITING));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_hs_decided(RPCRDMA2_HS_ASKING));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_hs_decided(RPCRDMA2_HS_TRYING));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_hs_decided(RPCRDMA2_HS_UNASKED));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_hs_decided(RPCRDMA2_HS_UNANSWERED));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_hs_decided(RPCRDMA2_HS_VERSION_1));
	KUNIT_EXPECT_TRUE(test, rpcrdma2_hs_decided(RPCRDMA2_HS_VERSION_2));
	KUNIT_EXPECT_FALSE(test, rpcrdma2_hs_decided(RPCRDMA2_HS_FAILED));
}

/* TRYING is the only undecided state in which a client sends Calls. */
static void calls_need_a_version(struct kunit *test)
{
	enum rpcrdma2_hs_state state;

	for (state = 0; state < NR_STATES; state++)
		KUNIT_EXPECT_EQ(test, rpcrdma2_hs_calls(state),
				rpcrdma2_hs_decided(state) ||
				state == RPCRDMA2_HS_TRYING);
}

struct refusal {
	const char	*name;
	u32		code;
	u32		vers_low, vers_high;
	u32		version_low;
	bool		try_1;
};

static const struct refusal refusals[] = {
	{ "1 to 1", 1, 1, 1, 1, true },
	{ "1 to 2", 1, 1, 2, 1, true },
	{ "0 to 1", 1, 0, 1, 1, true },
	{ "0 to the highest", 1, 0, U32_MAX, 1, true },
	{ "0 to 0", 1, 0, 0, 1, false },
	{ "2 to 2", 1, 2, 2, 1, false },
	{ "2 to the highest", 1, 2, U32_MAX, 1, false },
	{ "BAD_XDR", 2, 0, 0, 1, true },
	{ "INVAL_HTYPE", 3, 0, 0, 1, true },
	{ "SYSTEM", 9, 0, 0, 1, true },
	{ "an extension's", 10, 0, 0, 1, true },
	{ "1 to 1, version 2 alone", 1, 1, 1, 2, false },
	{ "0 to the highest, version 2 alone", 1, 0, U32_MAX, 2, false },
	{ "BAD_XDR, version 2 alone", 2, 0, 0, 2, false },
	{ "INVAL_HTYPE, version 2 alone", 3, 0, 0, 2, false },
};

static void handshake_refusal_desc(const struct refusal *r, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", r->name);
}

KUNIT_ARRAY_PARAM(refusal, refusals, handshake_refusal_desc);

/* ERR_VERS has two shapes on the wire, and both lead to the same event. */
static void error_leaves_version_1(struct kunit *test)
{
	const struct refusal *r = test->param_value;
	struct wire_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	struct rpcrdma2_header *hdr;
	bool vers = r->code == RDMA2_ERR_VERS;
	struct rpcrdma2_dialects dialects = {
		3 - r->version_low, { &rpcrdma2_v2_09, &rpcrdma2_v1 }
	};
	int bare, event, try_1, otherwise;
	size_t rest;

	hdr = kunit_kzalloc(test, sizeof(*hdr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, msg);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hdr);
	for (bare = 0; bare <= vers; bare++) {
		hdr->vers = 2;
		hdr->kind = RPCRDMA2_ERROR;
		hdr->response = true;
		memset(&hdr->error, 0, sizeof(hdr->error));
		hdr->error.code = r->code;
		hdr->error.vers_low = r->vers_low;
		hdr->error.vers_high = r->vers_high;
		hdr->error.bare = bare;
		KUNIT_ASSERT_EQ(test, wire_encode(WIRE_V2, msg, hdr), 0);
		KUNIT_ASSERT_EQ(test, wire_decode(2, msg->octets, msg->len, hdr,
						  &rest), 0);
		KUNIT_EXPECT_EQ(test, hdr->error.bare, bare);
		event = rpcrdma2_hs_event(hdr, 0, &dialects, &rpcrdma2_v2_09);
		try_1 = vers ? RPCRDMA2_HS_SPEAKS_OTHER :
			       RPCRDMA2_HS_REFUSED_TRY_OTHER;
		otherwise = vers ? RPCRDMA2_HS_NO_VERSION : RPCRDMA2_HS_ERROR;
		KUNIT_EXPECT_EQ(test, event, r->try_1 ? try_1 : otherwise);
	}
}

/*
 * ERR_VERS rules out all dialects of the version, even if it names the version as
 * supported.
 */
static void err_vers_leaves_no_dialect_of_the_version(struct kunit *test)
{
	const struct rpcrdma2_error error = {
		.code = RDMA2_ERR_VERS, .vers_low = 1, .vers_high = 2,
	};
	const struct rpcrdma2_dialect *next;

	next = rpcrdma2_hs_next(RPCRDMA2_HS_SPEAKS_OTHER, &error,
				&rpcrdma2_all_dialects, &rpcrdma2_v2_09);
	KUNIT_EXPECT_TRUE(test, next == &rpcrdma2_v1);
}

/*
 * Every list of dialects that a client may be given. Lists that start with version 1 are
 * left out: there, a client asks nothing.
 */
static const struct rpcrdma2_dialects orders[] = {
	{ 1, { &rpcrdma2_v2_09 } },
	{ 1, { &rpcrdma2_v2_01 } },
	{ 2, { &rpcrdma2_v2_09, &rpcrdma2_v1 } },
	{ 2, { &rpcrdma2_v2_01, &rpcrdma2_v1 } },
	{ 2, { &rpcrdma2_v2_09, &rpcrdma2_v2_01 } },
	{ 2, { &rpcrdma2_v2_01, &rpcrdma2_v2_09 } },
	{ 3, { &rpcrdma2_v2_09, &rpcrdma2_v2_01, &rpcrdma2_v1 } },
	{ 3, { &rpcrdma2_v2_01, &rpcrdma2_v2_09, &rpcrdma2_v1 } },
};

struct bad_answer {
	const char	*name;
	const char	*wire;
};

/* Messages that no dialect of version 2 takes for an answer to a CONNPROP or a Call */
static const struct bad_answer bad_answers[] = {
	{ "nothing at all", "" },
	{ "part of a word", "474554202f20485454502f312e310d0a0d0a" },
	{ "no header", "474554202f20485454502f312e310d0a0d0a0d0a" },
	{ "half a header", "00000001 00000002 00000040 " },
	{ "a Call of version 3",
	  "11223344 00000003 00000020 00000000;"
	  "00000000 00000000 00000000 11223344 00000000 " },
	{ "an error of version 3",
	  "11223344 00000003 00000020 00000004 00000001 00000003 00000003 " },
	{ "a Call of version 1",
	  "11223344 00000001 00000020 00000000;"
	  "00000000 00000000 00000000 11223344 00000000 " },
	{ "a Reply of version 1",
	  "11223344 00000001 00000020 00000000;"
	  "00000000 00000000 00000000 11223344 00000001 " },
	{ "a Reply that is cut off",
	  "11223344 00000002 00000020 00000000 00000001;"
	  "00000000 00000000 00000000 " },
	{ "an error without a number",
	  "00000001 00000002 00000020 00000004 " },
	{ "an error of a requester",
	  "00000001 00000002 00000020 00000004 00000000 00000002 " },
	{ "an error that no text has",
	  "00000001 00000002 00000020 00000004 00001000 " },
	{ "another draft's error",
	  "00000001 00000002 00000020 00000004 00000020 " },
};

static void bad_answer_desc(const struct bad_answer *answer, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", answer->name);
}

KUNIT_ARRAY_PARAM(bad_answer, bad_answers, bad_answer_desc);

/*
 * Play a client that gets this answer in one dialect after the other, at once or to a
 * Call.
 * Return: the number of dialects that the client tried.
 */
static unsigned int ask_all(struct kunit *test, const char *wire,
			    const struct rpcrdma2_dialects *dialects, bool try)
{
	struct hs_scenario s = {
		.end = { true, RPCRDMA2_HS_ASKING }, .dialects = dialects,
	};
	const struct rpcrdma2_hs_step *step;
	struct talk talk;
	unsigned int i;

	talk_begin(&talk, &s);
	for (i = 0; talk.dialect && talk.dialect->props; i++) {
		KUNIT_ASSERT_EQ(test, i < dialects->nr, true);
		KUNIT_EXPECT_EQ(test, talk.dialect == dialects->dialect[i], true);
		talk.state = RPCRDMA2_HS_ASKING;
		if (try)
			talk.state = rpcrdma2_hs_step(talk.state,
						      RPCRDMA2_HS_SILENCE)->next;
		step = rpcrdma2_hs_step(talk.state, hear(test, &talk, wire));
		if (step->action == RPCRDMA2_HS_HANG_UP) {
			/*
			 * This answer rules out all other dialects, so this must be the
			 * last.
			 */
			KUNIT_EXPECT_EQ(test, i + 1, dialects->nr);
			return i + 1;
		}
		KUNIT_ASSERT_EQ(test, step->action == RPCRDMA2_HS_ASK_NEXT ||
				step->action == RPCRDMA2_HS_ASSUME_NEXT, true);
		talk.dialect = next_of(&talk);
	}
	return talk.dialect ? i + 1 : i;
}

static void bad_answer_leads_to_the_next_dialect(struct kunit *test)
{
	const struct bad_answer *answer = test->param_value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		KUNIT_EXPECT_EQ(test, ask_all(test, answer->wire, &orders[i], false),
				orders[i].nr);
		KUNIT_EXPECT_EQ(test, ask_all(test, answer->wire, &orders[i], true),
				orders[i].nr);
	}
}

static struct kunit_case handshake_cases[] = {
	KUNIT_CASE_PARAM(goes_as_the_protocol_says, scenario_gen_params),
	KUNIT_CASE(scenarios_take_every_step),
	KUNIT_CASE(no_step_is_left_out),
	KUNIT_CASE(nothing_is_decided_twice),
	KUNIT_CASE(nothing_impossible_is_done),
	KUNIT_CASE(only_versions_are_decisions),
	KUNIT_CASE(calls_need_a_version),
	KUNIT_CASE_PARAM(error_leaves_version_1, refusal_gen_params),
	KUNIT_CASE(err_vers_leaves_no_dialect_of_the_version),
	KUNIT_CASE_PARAM(bad_answer_leads_to_the_next_dialect, bad_answer_gen_params),
	{}
};

static struct kunit_suite handshake_suite = {
	.name = "rpcrdma2_handshake",
	.test_cases = handshake_cases,
};

kunit_test_suite(handshake_suite);
