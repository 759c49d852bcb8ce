// SPDX-License-Identifier: GPL-2.0
/*
 * Every step of a Call's stages in responder/stage.c, along the paths that Calls take.
 */
#include <kunit/test.h>
#include "kunit_compat.h"
#include "responder/stage.h"

#define NR_STAGES	RPCRDMA2_JOB_NR_STAGES
#define MOST_STEPS	16

/**
 * struct stage_path - a Call's path
 * @name: what happens to the Call
 * @stages: the stages after FREE; the last one is FREE again
 */
struct stage_path {
	const char		*name;
	enum rpcrdma2_job_stage	stages[MOST_STEPS];
};

#define STAGE(name)	RPCRDMA2_JOB_##name

static const struct stage_path stage_paths[] = {
	{ "no chunks", { STAGE(CAME), STAGE(RUNNING), STAGE(REPLIED) } },
	{ "no Reply", { STAGE(CAME), STAGE(RUNNING) } },
	{ "dropped before a thread has it", { STAGE(CAME) } },
	{ "the Reply waits for memory",
	  { STAGE(CAME), STAGE(RUNNING), STAGE(WAITING), STAGE(REPLIED) } },
	{ "dropped while the Reply waits",
	  { STAGE(CAME), STAGE(RUNNING), STAGE(WAITING) } },
	{ "the connection closes as the Reply is posted",
	  { STAGE(CAME), STAGE(RUNNING), STAGE(REPLIED), STAGE(RUNNING) } },
	{ "a Write chunk", { STAGE(CAME), STAGE(ADMITTED), STAGE(RUNNING), STAGE(REPLIED) } },
	{ "a Write chunk, and no pages for it",
	  { STAGE(CAME), STAGE(QUEUED), STAGE(ADMITTED), STAGE(RUNNING), STAGE(REPLIED) } },
	{ "Read chunks",
	  { STAGE(CAME), STAGE(QUEUED), STAGE(ADMITTED), STAGE(READING), STAGE(READ),
	    STAGE(RUNNING), STAGE(REPLIED) } },
	{ "Read chunks, and no registration at first",
	  { STAGE(CAME), STAGE(QUEUED), STAGE(ADMITTED), STAGE(READING), STAGE(QUEUED),
	    STAGE(ADMITTED), STAGE(READING), STAGE(READ), STAGE(RUNNING), STAGE(REPLIED) } },
	{ "lost in the queue", { STAGE(CAME), STAGE(QUEUED) } },
	{ "lost before it is read", { STAGE(CAME), STAGE(QUEUED), STAGE(ADMITTED) } },
	{ "refused as it is read",
	  { STAGE(CAME), STAGE(QUEUED), STAGE(ADMITTED), STAGE(READING) } },
	{ "its Reads failed",
	  { STAGE(CAME), STAGE(QUEUED), STAGE(ADMITTED), STAGE(READING), STAGE(READ) } },
};

static void path_desc(const struct stage_path *path, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", path->name);
}

KUNIT_ARRAY_PARAM(path, stage_paths, path_desc);

/* Call @step for each step of a path, and end at FREE. */
static void path_walk(const struct stage_path *path, void *context,
		      void (*step)(void *context, enum rpcrdma2_job_stage stage,
				   enum rpcrdma2_job_stage next))
{
	enum rpcrdma2_job_stage stage = STAGE(FREE);
	unsigned int i;

	for (i = 0; i < MOST_STEPS; i++) {
		step(context, stage, path->stages[i]);
		stage = path->stages[i];
		if (stage == STAGE(FREE))
			break;
	}
}

static void expect_allowed(void *context, enum rpcrdma2_job_stage stage,
			   enum rpcrdma2_job_stage next)
{
	struct kunit *test = context;

	KUNIT_EXPECT_TRUE_MSG(test, rpcrdma2_stage_may_follow(stage, next), "%d -> %d",
			      stage, next);
}

static void calls_can_take_this_path(struct kunit *test)
{
	path_walk(test->param_value, test, expect_allowed);
}

static void note_step(void *context, enum rpcrdma2_job_stage stage,
		      enum rpcrdma2_job_stage next)
{
	u16 *taken = context;

	taken[stage] |= BIT(next);
}

static void a_path_takes_each_step(struct kunit *test)
{
	enum rpcrdma2_job_stage stage, next;
	u16 taken[NR_STAGES] = { };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stage_paths); i++)
		path_walk(&stage_paths[i], taken, note_step);
	for (stage = 0; stage < NR_STAGES; stage++)
		for (next = 0; next < NR_STAGES; next++)
			KUNIT_EXPECT_EQ_MSG(test, rpcrdma2_stage_may_follow(stage, next),
					    !!(taken[stage] & BIT(next)), "%d -> %d", stage,
					    next);
}

static struct kunit_case job_stage_cases[] = {
	KUNIT_CASE_PARAM(calls_can_take_this_path, path_gen_params),
	KUNIT_CASE(a_path_takes_each_step),
	{ }
};

static struct kunit_suite job_stage_suite = {
	.name		= "rpcrdma2_job_stage",
	.test_cases	= job_stage_cases,
};

kunit_test_suite(job_stage_suite);
