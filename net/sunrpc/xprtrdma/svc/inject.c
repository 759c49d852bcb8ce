// SPDX-License-Identifier: GPL-2.0
/*
 * Errors that a test has a server answer with, where the kernel has fault injection. An
 * honest server refuses no Call of this module's client.
 */
#include "svc.h"

/* RDMA2_ERROR code for the next Call that has chunks; or two digits, for two Calls */
static u32 injected;

/**
 * rpcrdma2_svc_inject_error - refuse a Call, if a test says so
 * @job: the Call, which was not begun; or its arguments have been read
 *
 * Process context, between enter and exit.
 *
 * Return: whether it was refused, and the job is done with
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
 * rpcrdma2_svc_inject_init - have a file in debugfs for errors to inject
 */
void rpcrdma2_svc_inject_init(void)
{
	rpcrdma2_debugfs_add_u32("inject_error", &injected);
}
