// SPDX-License-Identifier: GPL-2.0
/*
 * Every step of conn/ask.c, along the ways that a REQUEST for a size can go.
 */
#include <kunit/test.h>
#include "kunit_compat.h"
#include "conn/ask.h"

#define MOST_STEPS	8

/**
 * struct ask_path - what happens to REQUESTs, one event after the other
 * @name: what this is about
 * @steps: each event, and the state after it, from NOTHING until NOTHING again
 */
struct ask_path {
	const char *name;
	struct {
		enum rpcrdma2_ask_event	event;
		enum rpcrdma2_ask	state;
	} steps[MOST_STEPS];
};

#define STEP(event, state)	{ RPCRDMA2_ASK_##event, RPCRDMA2_ASK_##state }

static const struct ask_path ask_paths[] = {
	{ "an empty REQUEST",
	  { STEP(SEND_EMPTY, EMPTY), STEP(ANSWERED, NOTHING) } },
	{ "the peer has the size at once",
	  { STEP(SEND_SIZE, SIZE), STEP(DONE, NOTHING) } },
	{ "the peer does not want the size",
	  { STEP(SEND_SIZE, SIZE), STEP(REJECTED, NOTHING) } },
	{ "the peer needs time",
	  { STEP(SEND_SIZE, SIZE), STEP(ACCEPTED, PENDING), STEP(SETTLED, NOTHING) } },
	{ "empty REQUESTs meanwhile",
	  { STEP(SEND_SIZE, SIZE), STEP(ACCEPTED, PENDING),
	    STEP(SEND_EMPTY, PENDING_EMPTY), STEP(ANSWERED, PENDING),
	    STEP(SEND_EMPTY, PENDING_EMPTY), STEP(SETTLED, EMPTY),
	    STEP(ANSWERED, NOTHING) } },
	{ "another size meanwhile, and the UPDATE for the first one comes late",
	  { STEP(SEND_SIZE, SIZE), STEP(ACCEPTED, PENDING), STEP(SEND_SIZE, SIZE),
	    STEP(SETTLED, SIZE), STEP(ACCEPTED, PENDING), STEP(SETTLED, NOTHING) } },
	{ "nobody asked", { STEP(SETTLED, NOTHING) } },
	{ "nobody asked for a size",
	  { STEP(SEND_EMPTY, EMPTY), STEP(SETTLED, EMPTY), STEP(ANSWERED, NOTHING) } },
	{ "the peer knows no empty REQUEST",
	  { STEP(SEND_EMPTY, EMPTY), STEP(REFUSED, NOTHING) } },
	{ "the peer knows no REQUEST for a size",
	  { STEP(SEND_SIZE, SIZE), STEP(REFUSED, NOTHING) } },
	{ "the peer knows no REQUEST any more",
	  { STEP(SEND_SIZE, SIZE), STEP(ACCEPTED, PENDING),
	    STEP(SEND_EMPTY, PENDING_EMPTY), STEP(REFUSED, NOTHING) } },
};

static void ask_path_desc(const struct ask_path *path, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", path->name);
}

KUNIT_ARRAY_PARAM(ask_path, ask_paths, ask_path_desc);

static void requests_go_this_way(struct kunit *test)
{
	const struct ask_path *path = test->param_value;
	enum rpcrdma2_ask ask = RPCRDMA2_ASK_NOTHING;
	unsigned int i = 0;

	do {
		KUNIT_EXPECT_EQ_MSG(test, rpcrdma2_ask_next(ask, path->steps[i].event),
				    (int)path->steps[i].state, "step %u", i);
		ask = path->steps[i++].state;
	} while (ask != RPCRDMA2_ASK_NOTHING && i < MOST_STEPS);
	KUNIT_EXPECT_EQ(test, ask, RPCRDMA2_ASK_NOTHING);
}

/* A step that no path has must not happen. */
static void no_other_step_is_allowed(struct kunit *test)
{
	bool taken[RPCRDMA2_ASK_NR][RPCRDMA2_ASK_NR_EVENTS] = { };
	enum rpcrdma2_ask_event event;
	enum rpcrdma2_ask ask;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(ask_paths); i++) {
		ask = RPCRDMA2_ASK_NOTHING;
		k = 0;
		do {
			taken[ask][ask_paths[i].steps[k].event] = true;
			ask = ask_paths[i].steps[k++].state;
		} while (ask != RPCRDMA2_ASK_NOTHING && k < MOST_STEPS);
	}
	for (ask = 0; ask < RPCRDMA2_ASK_NR; ask++)
		for (event = 0; event < RPCRDMA2_ASK_NR_EVENTS; event++)
			if (!taken[ask][event])
				KUNIT_EXPECT_EQ_MSG(test, rpcrdma2_ask_next(ask, event),
						    -EPROTO, "%d: %d", ask, event);
}

/* A REQUEST for a size binds this end's Calls until the peer has settled it. */
static void a_size_binds_until_it_is_settled(struct kunit *test)
{
	enum rpcrdma2_ask ask;

	for (ask = 0; ask < RPCRDMA2_ASK_NR; ask++) {
		KUNIT_EXPECT_EQ(test, rpcrdma2_ask_has_size(ask),
				ask == RPCRDMA2_ASK_SIZE || ask == RPCRDMA2_ASK_PENDING ||
				ask == RPCRDMA2_ASK_PENDING_EMPTY);
		/* Only a REQUEST that is out can be answered, or refused. */
		KUNIT_EXPECT_EQ(test, rpcrdma2_ask_is_out(ask),
				rpcrdma2_ask_next(ask, RPCRDMA2_ASK_REFUSED) >= 0);
	}
}

static struct kunit_case ask_cases[] = {
	KUNIT_CASE_PARAM(requests_go_this_way, ask_path_gen_params),
	KUNIT_CASE(no_other_step_is_allowed),
	KUNIT_CASE(a_size_binds_until_it_is_settled),
	{ }
};

static struct kunit_suite ask_suite = {
	.name		= "rpcrdma2_ask",
	.test_cases	= ask_cases,
};

kunit_test_suite(ask_suite);
