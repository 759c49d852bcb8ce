/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stages of a Call at its responder, as a table. The table knows nothing of jobs, so that
 * a unit test can walk through it.
 */
#ifndef _RPCRDMA2_STAGE_H
#define _RPCRDMA2_STAGE_H

#include <linux/types.h>

/**
 * enum rpcrdma2_job_stage - how far a Call is
 * @RPCRDMA2_JOB_FREE: the job has no Call
 * @RPCRDMA2_JOB_CAME: the Call came
 * @RPCRDMA2_JOB_QUEUED: the Call has chunks, and waits until it may take pages
 * @RPCRDMA2_JOB_ADMITTED: the Call may take pages
 * @RPCRDMA2_JOB_READING: RDMA Reads of the arguments are being posted, or are under way
 * @RPCRDMA2_JOB_READ: the RDMA Reads have ended
 * @RPCRDMA2_JOB_RUNNING: the server program has the Call
 * @RPCRDMA2_JOB_WAITING: the Reply waits for a Send buffer, memory or mappings
 * @RPCRDMA2_JOB_REPLIED: the Reply is posted; its RDMA Writes, if any, are under way
 * @RPCRDMA2_JOB_NR_STAGES: number of stages
 */
enum rpcrdma2_job_stage {
	RPCRDMA2_JOB_FREE,
	RPCRDMA2_JOB_CAME,
	RPCRDMA2_JOB_QUEUED,
	RPCRDMA2_JOB_ADMITTED,
	RPCRDMA2_JOB_READING,
	RPCRDMA2_JOB_READ,
	RPCRDMA2_JOB_RUNNING,
	RPCRDMA2_JOB_WAITING,
	RPCRDMA2_JOB_REPLIED,
	RPCRDMA2_JOB_NR_STAGES,
};

bool rpcrdma2_stage_may_follow(enum rpcrdma2_job_stage stage,
			       enum rpcrdma2_job_stage next);

#endif /* _RPCRDMA2_STAGE_H */
