// SPDX-License-Identifier: GPL-2.0
/*
 * Errors that a test makes a server report, in a kernel with fault injection. A server
 * finds nothing to refuse in the Calls of this module's client. Runs in server threads.
 */
#include "svc.h"

/* Code of an RDMA2_ERROR for the next Call with chunks. Two digits are codes for two Calls. */
static u32 injected;

/**
 * rpcrdma2_svc_inject_error - refuse a Call if a test asks for an error
 * @job: a job with @recv. Its RDMA Reads, if it has Read chunks, are admitted but not started
 *
 * Context: process, between enter and exit; no locks held.
 *
 * Return: true if the Call is refused, and @job is no longer the caller's
 */
bool rpcrdma2_svc_inject_error(struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	struct rpcrdma2_error error = {
		.max_segments	= 1,
		.chunk_index	= 1,
	};

	if (likely(!READ_ONCE(injected)) || !cl->nsegs)
		return false;
	error.code = xchg(&injected, RDMA2_ERR_NONE);
	if (error.code > RDMA2_ERR_SYSTEM) {
		WRITE_ONCE(injected, error.code / 10);
		error.code %= 10;
	}
	if (!error.code || error.code > RDMA2_ERR_SYSTEM)
		return false;
	if (cl->nwrites)
		error.length_needed = cl->writes[0].length;
	else if (cl->has_reply)
		error.length_needed = cl->reply.length;
	if (cl->nreads)
		rpcrdma2_read_end(job);
	rpcrdma2_job_refuse(job, &error);
	return true;
}

/**
 * rpcrdma2_svc_inject_init - make the file in debugfs by which a test asks for errors
 *
 * Context: process, sleeps.
 */
void rpcrdma2_svc_inject_init(void)
{
	rpcrdma2_debugfs_add_u32("inject_error", &injected);
}
