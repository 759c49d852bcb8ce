// SPDX-License-Identifier: GPL-2.0
/*
 * The stages of a Call at its responder: which stage may follow which.
 *
 * The holder of a job moves the job on: rpcrdma2_job_advance(). A Call that is refused,
 * dropped or lost becomes FREE at once, from any stage.
 */
#include <linux/bits.h>

#include "stage.h"

#define TO(stage)	BIT(RPCRDMA2_JOB_##stage)

static const u16 followers[RPCRDMA2_JOB_NR_STAGES] = {
	[RPCRDMA2_JOB_FREE]	= TO(CAME),
	/* A Call without chunks runs at once. */
	[RPCRDMA2_JOB_CAME]	= TO(FREE) | TO(QUEUED) | TO(ADMITTED) | TO(RUNNING),
	[RPCRDMA2_JOB_QUEUED]	= TO(FREE) | TO(ADMITTED),
	/* A Call with Write chunks or a Reply chunk alone has nothing to read. */
	[RPCRDMA2_JOB_ADMITTED]	= TO(FREE) | TO(READING) | TO(RUNNING),
	/* Registrations, mappings or memory were lacking, and the Call queues again. */
	[RPCRDMA2_JOB_READING]	= TO(FREE) | TO(QUEUED) | TO(READ),
	[RPCRDMA2_JOB_READ]	= TO(FREE) | TO(RUNNING),
	[RPCRDMA2_JOB_RUNNING]	= TO(FREE) | TO(WAITING) | TO(REPLIED),
	[RPCRDMA2_JOB_WAITING]	= TO(FREE) | TO(REPLIED),
	/* The post of the Reply failed, as the connection is closing. The Reply is dropped. */
	[RPCRDMA2_JOB_REPLIED]	= TO(FREE) | TO(RUNNING),
};

/**
 * rpcrdma2_stage_may_follow - may a job move from one stage to another?
 * @stage: the present stage
 * @next: the stage to move to
 *
 * Context: any.
 *
 * Return: true if @next may follow @stage
 */
bool rpcrdma2_stage_may_follow(enum rpcrdma2_job_stage stage,
			       enum rpcrdma2_job_stage next)
{
	return followers[stage] & BIT(next);
}
