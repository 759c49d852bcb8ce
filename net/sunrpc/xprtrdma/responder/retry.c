// SPDX-License-Identifier: GPL-2.0
/*
 * Retries of Calls and jobs that lacked memory.
 *
 * Two things can wait here:
 *  - a Call for which there is no job. It keeps its Receive. Calls that come later wait
 *    behind it.
 *  - a job whose next step failed: a Reply, or the start of a Call. The job has the step
 *    as a function.
 * One worker tries them again: every 50 ms, and at once when a Send buffer or a job is back.
 * The worker runs in process context, between enter and exit of the connection. The
 * responder's lock protects the lists.
 */
#include "responder.h"

#include <trace/events/rpcrdma2.h>

#define RETRY_DELAY	(HZ / 20)

/**
 * rpcrdma2_retry_call - let a Call wait for a job
 * @recv: the Call's message; no longer the caller's
 *
 * From now on, and until no Call waits, the worker takes free jobs, and the CQ takes none. The
 * worker hands each Call with its job to the begin op.
 *
 * Context: CQ.
 */
void rpcrdma2_retry_call(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_responder *responder = recv->conn->responder;
	struct rpcrdma2_retry *retry = &responder->retry;

	trace_rpcrdma2_wait(recv->conn, recv->hdr.xid, RPCRDMA2_WAIT_JOB, 0, 0);
	spin_lock(&responder->lock);
	llist_add(&recv->node, &retry->calls);
	WRITE_ONCE(retry->calls_wait, true);
	spin_unlock(&responder->lock);
	/* Try at once: a job may have come back before its holder could see @calls_wait. */
	queue_delayed_work(rpcrdma2_wq, &retry->work, 0);
}

/**
 * rpcrdma2_retry_job - have the worker do a job's next step
 * @job: the job, in no list; no longer the caller's
 * @step: the step. It returns -EAGAIN or -ENOMEM if it lacks something, and the worker tries
 *	again. After any other value the worker no longer touches the job
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
	if (rpcrdma2_conn_enter(responder->conn)) {
		mod_delayed_work(rpcrdma2_wq, &retry->work, 0);
		rpcrdma2_conn_exit(responder->conn);
	}
}

/* Give jobs to Calls, oldest first. Return: whether a Call still waits */
static bool retry_calls(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_retry *retry = &responder->retry;
	struct llist_node *node;
	struct rpcrdma2_job *job;

	if (!READ_ONCE(retry->calls_wait))
		return false;
	for (;;) {
		spin_lock(&responder->lock);
		if (!retry->oldest)
			retry->oldest = llist_reverse_order(llist_del_all(&retry->calls));
		node = retry->oldest;
		if (!node)
			/* Pairs with the acquire in jobs_are_awaited(): the CQ takes jobs again. */
			smp_store_release(&retry->calls_wait, false);
		spin_unlock(&responder->lock);
		if (!node)
			return false;
		job = rpcrdma2_job_try(llist_entry(node, struct rpcrdma2_recv, node));
		if (!job)
			return true;
		retry->oldest = node->next;
		responder->ops->begin(job);
	}
}

/*
 * Do each step once. After a step has failed, jobs behind it with the same step keep their
 * places: they would fail, too. Return: whether a job still waits
 */
static bool retry_jobs(struct rpcrdma2_responder *responder)
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
		if (rc == -EAGAIN || rc == -ENOMEM) {
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

static void retry_work(struct work_struct *work)
{
	struct rpcrdma2_responder *responder =
		container_of(to_delayed_work(work), struct rpcrdma2_responder, retry.work);
	struct rpcrdma2_conn *conn = responder->conn;
	struct rpcrdma2_memalloc saved;
	bool wait;

	if (!rpcrdma2_conn_enter(conn))
		return;
	saved = rpcrdma2_memalloc_save(conn->param.swapper);
	wait = retry_calls(responder);
	wait |= retry_jobs(responder);
	if (wait)
		queue_delayed_work(rpcrdma2_wq, &responder->retry.work, RETRY_DELAY);
	rpcrdma2_memalloc_restore(saved);
	rpcrdma2_conn_exit(conn);
}

/**
 * rpcrdma2_retry_init - prepare the worker
 * @responder: a new responder
 *
 * Context: process.
 */
void rpcrdma2_retry_init(struct rpcrdma2_responder *responder)
{
	init_llist_head(&responder->retry.calls);
	INIT_LIST_HEAD(&responder->retry.jobs);
	INIT_DELAYED_WORK(&responder->retry.work, retry_work);
}

static void retry_drop_calls(struct llist_node *first)
{
	struct rpcrdma2_recv *recv, *next;

	llist_for_each_entry_safe(recv, next, first, node)
		rpcrdma2_recv_put(recv);
}

/**
 * rpcrdma2_retry_end - drop all that waits
 * @responder: the responder of a connection that is drained; nothing else can come
 *
 * Context: process, sleeps; the teardown's.
 */
void rpcrdma2_retry_end(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_retry *retry = &responder->retry;
	struct rpcrdma2_job *job, *next;

	cancel_delayed_work_sync(&retry->work);
	retry_drop_calls(retry->oldest);
	retry_drop_calls(llist_del_all(&retry->calls));
	retry->oldest = NULL;
	list_for_each_entry_safe(job, next, &retry->jobs, list) {
		list_del_init(&job->list);
		rpcrdma2_job_put(job);
	}
}
