// SPDX-License-Identifier: GPL-2.0
/*
 * The stages of a Call at its responder: which one may follow which.
 *
 * The holder of a job moves it on. A Call that is refused, dropped or lost is free at once,
 * from whatever stage it has reached.
 */
#include <linux/bits.h>

#include "stage.h"

#define TO(stage)	BIT(RPCRDMA2_JOB_##stage)

static const u16 followers[RPCRDMA2_JOB_NR_STAGES] = {
	[RPCRDMA2_JOB_FREE]	= TO(CAME),
	/* Without chunks it runs at once. */
	[RPCRDMA2_JOB_CAME]	= TO(FREE) | TO(QUEUED) | TO(ADMITTED) | TO(RUNNING),
	[RPCRDMA2_JOB_QUEUED]	= TO(FREE) | TO(ADMITTED),
	/* With Write chunks or a Reply chunk alone there is nothing to read. */
	[RPCRDMA2_JOB_ADMITTED]	= TO(FREE) | TO(READING) | TO(RUNNING),
	/* There were too few registrations or mappings: it queues again. */
	[RPCRDMA2_JOB_READING]	= TO(FREE) | TO(QUEUED) | TO(READ),
	[RPCRDMA2_JOB_READ]	= TO(FREE) | TO(RUNNING),
	[RPCRDMA2_JOB_RUNNING]	= TO(FREE) | TO(WAITING) | TO(REPLIED),
	[RPCRDMA2_JOB_WAITING]	= TO(FREE) | TO(REPLIED),
	/* The connection is closing, and the Reply was not posted after all. */
	[RPCRDMA2_JOB_REPLIED]	= TO(FREE) | TO(RUNNING),
};

/**
 * rpcrdma2_stage_may_follow - may a job go from one stage to another?
 * @stage: where it is
 * @next: where it would go
 *
 * Context: any.
 *
 * Return: whether @next is one of the stages that follow @stage
 */
bool rpcrdma2_stage_may_follow(enum rpcrdma2_job_stage stage,
			       enum rpcrdma2_job_stage next)
{
	return followers[stage] & BIT(next);
}
