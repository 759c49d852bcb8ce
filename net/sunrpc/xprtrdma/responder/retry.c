// SPDX-License-Identifier: GPL-2.0
/*
 * Retries of jobs that lacked memory, and the worker for them and for Calls without a job.
 *
 * A job waits here if its next step failed: a Reply, or the start of a Call. The job has the
 * step as a function. The worker tries every 50 ms, and at once when a Send buffer or a job is
 * back. It runs in process context, between enter and exit of the connection. The responder's
 * lock protects the list.
 */
#include "responder.h"

#define RETRY_DELAY	(HZ / 20)

/**
 * rpcrdma2_retry_job - have the worker do a job's next step
 * @job: the job, in no list; no longer the caller's
 * @step: the step. It returns -EAGAIN, -ENOMEM or -ENOBUFS if it lacks something, and the worker
 *	tries again. After any other value the worker no longer touches the job
 * @delay: when to try first, in jiffies
 *
 * Context: any but interrupts, no locks held; between enter and exit, in the CQ, or in the
 * teardown before the connection is drained.
 */
void rpcrdma2_retry_job(struct rpcrdma2_job *job, int (*step)(struct rpcrdma2_job *job),
			unsigned long delay)
{
	struct rpcrdma2_responder *responder = job->responder;

	job->step = step;
	spin_lock(&responder->lock);
	list_add_tail(&job->list, &responder->retry.jobs);
	WRITE_ONCE(responder->retry.nr_jobs, responder->retry.nr_jobs + 1);
	spin_unlock(&responder->lock);
	if (delay)
		queue_delayed_work(rpcrdma2_wq, &responder->retry.work, delay);
	else
		mod_delayed_work(rpcrdma2_wq, &responder->retry.work, 0);
}

/**
 * rpcrdma2_retry_delayed - as rpcrdma2_retry_job(), for a step that has just failed
 * @job: the job, in no list; no longer the caller's
 * @step: the step
 *
 * Context: as rpcrdma2_retry_job().
 */
void rpcrdma2_retry_delayed(struct rpcrdma2_job *job, int (*step)(struct rpcrdma2_job *job))
{
	rpcrdma2_retry_job(job, step, RETRY_DELAY);
}

/**
 * rpcrdma2_retry_now - have the worker try at once, as something came back
 * @responder: the responder; the caller keeps its memory
 *
 * Context: any but interrupts, no locks held.
 */
void rpcrdma2_retry_now(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_retry *retry = &responder->retry;

	if (!READ_ONCE(retry->calls_wait) && !READ_ONCE(retry->nr_jobs))
		return;
	/* The teardown cancels the work after all have left, so queue it between enter and exit. */
	if (rpcrdma2_ep_enter(&responder->conn->ep)) {
		mod_delayed_work(rpcrdma2_wq, &retry->work, 0);
		rpcrdma2_ep_exit(&responder->conn->ep);
	}
}

static bool retry_is_due(int rc)
{
	return rc == -EAGAIN || rc == -ENOMEM || rc == -ENOBUFS;
}

/**
 * rpcrdma2_retry_steps - do each step once
 * @responder: the responder
 *
 * After a step has failed, jobs behind it with the same step keep their places: they would
 * fail, too.
 *
 * Context: the worker.
 *
 * Return: whether a job still waits
 */
bool rpcrdma2_retry_steps(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_retry *retry = &responder->retry;
	int (*failed)(struct rpcrdma2_job *job) = NULL;
	struct rpcrdma2_job *job, *next;
	struct list_head *before;
	unsigned int done = 0;
	LIST_HEAD(jobs);
	bool wait;
	int rc;

	spin_lock(&responder->lock);
	list_splice_init(&retry->jobs, &jobs);
	spin_unlock(&responder->lock);

	list_for_each_entry_safe(job, next, &jobs, list) {
		if (job->step == failed)
			continue;
		before = job->list.prev;
		list_del_init(&job->list);
		rc = job->step(job);
		if (retry_is_due(rc)) {
			failed = job->step;
			list_add(&job->list, before);
		} else {
			done++;
		}
	}

	spin_lock(&responder->lock);
	list_splice(&jobs, &retry->jobs);
	WRITE_ONCE(retry->nr_jobs, retry->nr_jobs - done);
	wait = retry->nr_jobs;
	spin_unlock(&responder->lock);
	return wait;
}

/**
 * rpcrdma2_retry_init - prepare the worker
 * @responder: a new responder
 * @work: the worker's function: it calls rpcrdma2_jobs_for_calls() and rpcrdma2_retry_steps(),
 *	and then rpcrdma2_retry_again() if one of them says that something still waits
 *
 * Context: process.
 */
void rpcrdma2_retry_init(struct rpcrdma2_responder *responder, work_func_t work)
{
	init_llist_head(&responder->retry.calls);
	INIT_LIST_HEAD(&responder->retry.jobs);
	INIT_DELAYED_WORK(&responder->retry.work, work);
}

/**
 * rpcrdma2_retry_again - have the worker try again after a while
 * @responder: the responder
 *
 * Context: the worker, between enter and exit.
 */
void rpcrdma2_retry_again(struct rpcrdma2_responder *responder)
{
	queue_delayed_work(rpcrdma2_wq, &responder->retry.work, RETRY_DELAY);
}

/**
 * rpcrdma2_retry_end - stop the worker
 * @responder: the responder of a connection that is drained; nothing else can come
 * @lost: gets the jobs that wait
 *
 * Context: process, sleeps; the teardown's.
 */
void rpcrdma2_retry_end(struct rpcrdma2_responder *responder, struct list_head *lost)
{
	cancel_delayed_work_sync(&responder->retry.work);
	list_splice_tail_init(&responder->retry.jobs, lost);
}
