// SPDX-License-Identifier: GPL-2.0
/*
 * Pages for a Call and its Reply, where the server program has none.
 *
 * A server thread has pages for both. A callback service of a client has none, so the job
 * lends it pages. They suffice for the arguments that are read, and for the largest Reply that
 * can go inline or by the requester's chunks. The job stays their owner. All functions run in
 * process context, the CQ's included.
 */
#include "responder.h"

/* Pages for the Reply's head, and for data that does not start at a page */
#define EXTRA_PAGES	2

static unsigned int lend_pages_for(const struct rpcrdma2_conn *conn, u64 room)
{
	return min_t(u64, conn->param.job_pages,
		     DIV_ROUND_UP(room, PAGE_SIZE) + EXTRA_PAGES);
}

/**
 * rpcrdma2_lend_provide - allocate pages for an inline Reply in advance
 * @responder: the responder of a connection that is not established yet
 *
 * One Reply at a time can use these pages when there is no memory.
 *
 * Context: process, sleeps.
 *
 * Return: 0; or -ENOMEM, and rpcrdma2_lend_free() is still due
 */
int rpcrdma2_lend_provide(struct rpcrdma2_responder *responder)
{
	unsigned int n = lend_pages_for(responder->conn,
					responder->conn->param.sbsiz);

	responder->spare = kcalloc(n + 1, sizeof(*responder->spare), GFP_KERNEL);
	if (!responder->spare)
		return -ENOMEM;
	for (; responder->nr_spare < n; responder->nr_spare++) {
		responder->spare[responder->nr_spare] = alloc_page(GFP_KERNEL);
		if (!responder->spare[responder->nr_spare])
			return -ENOMEM;
	}
	return 0;
}

/**
 * rpcrdma2_lend_free - free the pages that rpcrdma2_lend_provide() allocated
 * @responder: the responder; rpcrdma2_job_put() was called for every job
 *
 * Context: process.
 */
void rpcrdma2_lend_free(struct rpcrdma2_responder *responder)
{
	if (!responder->spare)
		return;
	release_pages(responder->spare, responder->nr_spare);
	kfree(responder->spare);
}

/* Lend the pages in reserve, unless another job has them. */
static int lend_spare(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	spin_lock(&responder->lock);
	if (responder->spare) {
		job->lent = responder->spare;
		job->nr_lent = responder->nr_spare;
		job->lends_spare = true;
		responder->spare = NULL;
	}
	spin_unlock(&responder->lock);
	return job->lent ? 0 : -ENOMEM;
}

static void lend_take_back_spare(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	spin_lock(&responder->lock);
	responder->spare = job->lent;
	spin_unlock(&responder->lock);
	job->lends_spare = false;
}

/**
 * rpcrdma2_job_plan_reply - compute how many pages a Call's Reply may take
 * @job: a job from rpcrdma2_responder_take()
 *
 * A server only accounts for these pages. A client also lends them.
 *
 * Context: the CQ, or process; the caller holds the job.
 */
void rpcrdma2_job_plan_reply(struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	struct rpcrdma2_conn *conn = job->responder->conn;
	u64 room = READ_ONCE(conn->ep.limit.reply);
	unsigned int i;

	if (cl->has_reply)
		room = max_t(u64, room, cl->reply.length);
	for (i = 0; i < cl->nwrites; i++)
		room += cl->writes[i].length;
	job->nr_lent = lend_pages_for(conn, room);
}

static int lend_new(struct rpcrdma2_job *job)
{
	unsigned int n = rpcrdma2_job_read_pages(job);

	if (!job->nr_pages && rpcrdma2_pages_get(job->pages, n))
		return -ENOMEM;
	job->nr_pages = n;
	if (job->lent)
		return 0;
	job->lent = kcalloc(job->nr_lent + 1, sizeof(*job->lent),
			    RPCRDMA2_GFP_ONCE);
	if (!job->lent)
		return -ENOMEM;
	if (!rpcrdma2_pages_get(job->lent, job->nr_lent))
		return 0;
	kfree(job->lent);
	job->lent = NULL;
	return -ENOMEM;
}

/**
 * rpcrdma2_job_lend - get the pages for a Call and its Reply
 * @job: a job after rpcrdma2_job_plan_reply(), and after rpcrdma2_job_plan() if the Call has
 *	Read chunks
 *
 * Pages from an earlier attempt stay in use. If memory is lacking, a Call without chunks takes
 * the pages in reserve.
 *
 * Context: the CQ, or process. Does not wait long for memory.
 *
 * Return: 0; or -ENOMEM, and the caller tries again later
 */
int rpcrdma2_job_lend(struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	int rc;

	rc = lend_new(job);
	if (rc && !cl->nreads && !cl->nwrites && !cl->has_reply)
		rc = lend_spare(job);
	return rc;
}

/* job_hold_reply() leaves NULL for the pages that it took, which are the first ones. */
static void lend_give_back(struct rpcrdma2_job *job)
{
	unsigned int used = 0;

	while (used < job->nr_lent && !job->lent[used])
		used++;
	rpcrdma2_pages_give(job->lent + used, job->nr_lent - used);
	kfree(job->lent);
}

/**
 * rpcrdma2_job_take_back - take back the pages that were lent for a Reply
 * @job: the job; the server program uses them no more
 *
 * Context: any but interrupts, no locks held.
 */
void rpcrdma2_job_take_back(struct rpcrdma2_job *job)
{
	if (!job->lent)
		return;
	if (job->lends_spare)
		lend_take_back_spare(job);
	else
		lend_give_back(job);
	job->lent = NULL;
	job->nr_lent = 0;
}
