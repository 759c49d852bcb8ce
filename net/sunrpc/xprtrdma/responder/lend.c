// SPDX-License-Identifier: GPL-2.0
/*
 * Pages for a Call and its Reply, where the server program has none.
 *
 * A thread of a server has pages for both. One that answers callbacks at a client has
 * what the transport gives it. So the job lends it pages: as many as there is to read,
 * and for the Reply, as many as the requester offers chunks for, or as may go inline.
 */
#include "responder.h"

/* What a Reply's data may start in the middle of, and what is in front of it */
#define EXTRA_PAGES	2

static unsigned int lend_pages_for(const struct rpcrdma2_conn *conn, u64 room)
{
	return min_t(u64, conn->param.job_pages,
		     DIV_ROUND_UP(room, PAGE_SIZE) + EXTRA_PAGES);
}

/**
 * rpcrdma2_lend_provide - have pages for an inline Reply, whatever memory there is later
 * @responder: of a connection that is not established yet
 *
 * Process context, sleeps. They are for one Reply at a time.
 *
 * Return: 0 or -ENOMEM
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
 * rpcrdma2_lend_free - free what rpcrdma2_lend_provide() got
 * @responder: the role, at its end
 */
void rpcrdma2_lend_free(struct rpcrdma2_responder *responder)
{
	if (!responder->spare)
		return;
	release_pages(responder->spare, responder->nr_spare);
	kfree(responder->spare);
}

/* Those that are for a Reply without chunks, unless another one has them */
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
 * rpcrdma2_job_plan_reply - how many pages will be lent?
 * @job: a job that came from rpcrdma2_job_get()
 *
 * The CQ.
 */
void rpcrdma2_job_plan_reply(struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	struct rpcrdma2_conn *conn = job->responder->conn;
	u64 room = READ_ONCE(conn->send_max);
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
 * rpcrdma2_job_lend - have the pages that were planned
 * @job: a job that rpcrdma2_job_plan_reply() was called for, and rpcrdma2_job_plan()
 *	if it has Read chunks
 *
 * Process context; does not wait long for memory. Those that the job has are enough. If
 * there are none for a Reply without chunks, it has the spare ones, or waits for these.
 *
 * Return: 0 or -ENOMEM
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

/* Pages that were taken out are NULL, the first ones. */
static void lend_give_back(struct rpcrdma2_job *job)
{
	unsigned int used = 0;

	while (used < job->nr_lent && !job->lent[used])
		used++;
	rpcrdma2_pages_give(job->lent + used, job->nr_lent - used);
	kfree(job->lent);
}

/**
 * rpcrdma2_job_take_back - the program is done with what it was lent
 * @job: the job
 *
 * Any context but interrupts.
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
