// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a job, which is a Call being answered:
 *
 *   rpcrdma2_responder_take()	a Call came (CQ)
 *   rpcrdma2_job_plan()	measure what its Read chunks bring
 *   rpcrdma2_admit()		wait until the Call may take pages, or
 *   rpcrdma2_admit_at_once()	for a thread of a server, if there are no Read chunks
 *   rpcrdma2_reads_start()	post the RDMA Reads; nobody waits for them
 *   rpcrdma2_job_arg()		describe the RPC message to the server program
 *   rpcrdma2_job_reply()	post RDMA Writes and the Send as one chain
 *   rpcrdma2_job_put()		the Send completed, or there is no Reply
 *
 * Pages under I/O belong to the job, so no thread waits for the device. A thread may hold a job
 * after its connection has closed. So the svc_xprt, or the rpc_rqst of a callback, keeps the
 * connection's memory.
 */
#include "responder.h"

#include <trace/events/rpcrdma2.h>

static struct rpcrdma2_job *job_alloc(struct rpcrdma2_responder *responder,
				      gfp_t gfp)
{
	struct rpcrdma2_job *job;

	job = kzalloc(struct_size(job, pages,
				  responder->conn->param.job_pages), gfp);
	if (!job)
		return NULL;
	job->responder = responder;
	INIT_LIST_HEAD(&job->list);
	INIT_LIST_HEAD(&job->rws);
	spin_lock(&responder->lock);
	list_add(&job->all, &responder->jobs);
	spin_unlock(&responder->lock);
	return job;
}

/* Only the owner of @ready_jobs calls this, so it takes no lock. */
static struct rpcrdma2_job *job_take_free(struct rpcrdma2_responder *responder)
{
	struct llist_node *node = responder->ready_jobs;

	if (!node)
		node = llist_del_all(&responder->free_jobs);
	if (!node)
		return NULL;
	responder->ready_jobs = node->next;
	return llist_entry(node, struct rpcrdma2_job, node);
}

/* While Calls wait for jobs, the worker of retry.c owns @ready_jobs. */
static bool jobs_are_awaited(const struct rpcrdma2_responder *responder)
{
	/* Pairs with the release in rpcrdma2_jobs_for_calls(), which hands @ready_jobs back. */
	return unlikely(smp_load_acquire(&responder->retry.calls_wait));
}

/**
 * rpcrdma2_jobs_provide - allocate jobs in advance
 * @responder: the responder of a connection that is not established yet
 * @n: number of jobs. With one, Calls are answered one after the other when there is no
 *	memory. An end whose Calls must not wait provides one more than it grants: a job that
 *	gave its credit back may still be in use
 *
 * Context: process, sleeps.
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_jobs_provide(struct rpcrdma2_responder *responder, unsigned int n)
{
	struct rpcrdma2_job *job;

	while (n--) {
		job = job_alloc(responder, GFP_KERNEL);
		if (!job)
			return -ENOMEM;
		llist_add(&job->node, &responder->free_jobs);
	}
	return 0;
}

/**
 * rpcrdma2_jobs_trim - free jobs after a grant was lowered
 * @responder: the responder
 * @n: maximum number of jobs to free
 *
 * Keeps one free job for the Call that just came, and keeps all while Calls wait for jobs. The
 * counters of a freed job are added to the responder's.
 *
 * Context: CQ.
 */
void rpcrdma2_jobs_trim(struct rpcrdma2_responder *responder, unsigned int n)
{
	struct rpcrdma2_job *job, *kept;

	if (jobs_are_awaited(responder))
		return;
	kept = job_take_free(responder);
	while (n-- && (job = job_take_free(responder))) {
		spin_lock(&responder->lock);
		list_del(&job->all);
		rpcrdma2_counters_add(&responder->stats.jobs, &job->stats,
				      sizeof(job->stats));
		spin_unlock(&responder->lock);
		kfree(job);
	}
	if (kept)
		llist_add(&kept->node, &responder->free_jobs);
}

static struct rpcrdma2_job *job_begin(struct rpcrdma2_job *job,
				      struct rpcrdma2_recv *recv)
{
	job->recv = recv;
	job->xid = recv->hdr.xid;
	job->vers = recv->hdr.vers;
	job->pages_held = 0;
	job->alone = false;
	job->status = 0;
	job->length = 0;
	job->nr_lent = 0;
	job->nr_payloads = 0;
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_CAME);
	return job;
}

/* The owner of @ready_jobs calls this. Return: a job that owns @recv, or NULL */
static struct rpcrdma2_job *job_try(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_responder *responder = rpcrdma2_recv_conn(recv)->responder;
	struct rpcrdma2_job *job;

	job = job_take_free(responder) ?: job_alloc(responder, RPCRDMA2_GFP_ONCE);
	return job ? job_begin(job, recv) : NULL;
}

/* The Call waits for a job, and later Calls wait behind it. */
static void jobs_add_waiting(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_responder *responder = rpcrdma2_recv_conn(recv)->responder;
	struct rpcrdma2_retry *retry = &responder->retry;

	trace_rpcrdma2_wait(&rpcrdma2_recv_conn(recv)->ep, recv->hdr.xid, RPCRDMA2_WAIT_JOB, 0, 0);
	spin_lock(&responder->lock);
	llist_add(&recv->node, &retry->calls);
	WRITE_ONCE(retry->calls_wait, true);
	spin_unlock(&responder->lock);
	/* Try at once: a job may have come back before its holder could see @calls_wait. */
	rpcrdma2_retry_now(responder);
}

/**
 * rpcrdma2_job_for - get a job for a Call, or have the Call wait for one
 * @recv: the Call's message; no longer the caller's
 *
 * While a Call waits, the worker of retry.c takes free jobs, and the CQ takes none.
 *
 * Context: CQ. Does not wait long for memory.
 *
 * Return: a job that owns @recv; or NULL, and the begin op takes the Call later
 */
struct rpcrdma2_job *rpcrdma2_job_for(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_job *job = NULL;

	if (!jobs_are_awaited(rpcrdma2_recv_conn(recv)->responder))
		job = job_try(recv);
	if (!job)
		jobs_add_waiting(recv);
	return job;
}

/**
 * rpcrdma2_jobs_for_calls - give jobs to Calls that wait, oldest first
 * @responder: the responder
 *
 * Context: the worker of retry.c.
 *
 * Return: whether a Call still waits
 */
bool rpcrdma2_jobs_for_calls(struct rpcrdma2_responder *responder)
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
		job = job_try(llist_entry(node, struct rpcrdma2_recv, node));
		if (!job)
			return true;
		retry->oldest = node->next;
		responder->ops->begin(job);
	}
}

static void jobs_drop(struct llist_node *first)
{
	struct rpcrdma2_recv *recv, *next;

	llist_for_each_entry_safe(recv, next, first, node)
		rpcrdma2_recv_put(recv);
}

/**
 * rpcrdma2_jobs_drop_calls - drop the Calls that wait for jobs
 * @responder: the responder of a connection that is drained, after rpcrdma2_retry_end()
 *
 * Context: process; the teardown's.
 */
void rpcrdma2_jobs_drop_calls(struct rpcrdma2_responder *responder)
{
	jobs_drop(responder->retry.oldest);
	jobs_drop(llist_del_all(&responder->retry.calls));
	responder->retry.oldest = NULL;
}

/* Counters of a job need no lock: a job has one holder. */
static void job_count_done(struct rpcrdma2_job *job)
{
	struct rpcrdma2_job_stats *stats = &job->stats;

	stats->done++;
	if (job->stage == RPCRDMA2_JOB_REPLIED) {
		rpcrdma2_count_form(&stats->replies, job->form);
	} else {
		job->moved.writes = 0;
		job->moved.write_octets = 0;
	}
	if (likely(!job->moved.reads && !job->moved.read_waits &&
		   !job->moved.writes))
		return;
	rpcrdma2_counters_add(&stats->moved, &job->moved, sizeof(job->moved));
	memset(&job->moved, 0, sizeof(job->moved));
}

/**
 * rpcrdma2_job_give_credit - give back a Call's Receive and its credit
 * @job: the job, about to be answered; @recv is NULL on return
 *
 * Call this before the Reply is posted: the peer may send its next Call as soon as it has the
 * Reply. A device sees all writes that precede a post. So rpcrdma2_responder_take() finds the
 * credit returned when it handles the next Call. For admit.c, the Reply's wait ends here, and
 * its RDMA Writes begin.
 *
 * Context: any but interrupts, no locks held.
 */
void rpcrdma2_job_give_credit(struct rpcrdma2_job *job)
{
	if (unlikely(job->stage == RPCRDMA2_JOB_WAITING))
		rpcrdma2_wait_end(job);
	rpcrdma2_write_begin(job);
	atomic_inc(&job->responder->calls_returned);
	rpcrdma2_recv_put(job->recv);
	job->recv = NULL;
}

/**
 * rpcrdma2_job_put - end a job
 * @job: the job; none of its I/O is under way
 *
 * Gives back all that the job holds: pages, transfers, the Receive and its credit, and its
 * part of the budget. If the job has transfers, the QP still exists.
 *
 * Context: any but interrupts, no locks held. The caller keeps the connection's memory.
 */
void rpcrdma2_job_put(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	struct rpcrdma2_conn *conn = responder->conn;
	bool room;

	rpcrdma2_rws_release(job);
	rpcrdma2_pages_give(job->pages, job->nr_pages);
	job->nr_pages = 0;
	rpcrdma2_job_take_back(job);
	if (job->recv)
		rpcrdma2_job_give_credit(job);

	job_count_done(job);
	room = rpcrdma2_write_end(job);
	rpcrdma2_admission_return(job);
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_FREE);
	/* Last, as the next holder uses the job at once. */
	llist_add(&job->node, &responder->free_jobs);
	if (unlikely(READ_ONCE(responder->retry.calls_wait)))
		rpcrdma2_retry_now(responder);
	/*
	 * @room is true only for a Reply with RDMA Writes. Its chain ends before CLOSED, or a
	 * thread that has the svc_xprt drops the Reply. So the upper layer still exists.
	 */
	if (room && conn->param.ops->room)
		conn->param.ops->room(conn);
}

/**
 * rpcrdma2_job_refuse - answer a Call with an RDMA2_ERROR
 * @job: the job; no longer the caller's
 * @error: the error to report
 *
 * Context: process, between enter and exit; or the CQ. No locks held.
 */
void rpcrdma2_job_refuse(struct rpcrdma2_job *job,
			 const struct rpcrdma2_error *error)
{
	rpcrdma2_job_give_credit(job);
	rpcrdma2_send_error(job->responder->conn, job->xid, job->vers, error,
			    false);
	rpcrdma2_job_put(job);
}

/**
 * rpcrdma2_job_refuse_reads - refuse a Call whose Read chunks can't be read
 * @job: the job; no longer the caller's
 * @rc: error of rpcrdma2_job_plan(), rpcrdma2_job_read() or rpcrdma2_job_read_finish()
 *
 * Reports -EBADMSG as BAD_XDR, -E2BIG as too many segments, and other errors as SYSTEM.
 *
 * Context: process, between enter and exit; or the CQ. No locks held.
 */
void rpcrdma2_job_refuse_reads(struct rpcrdma2_job *job, int rc)
{
	struct rpcrdma2_error error = { .code = RDMA2_ERR_SYSTEM };

	if (rc == -EBADMSG) {
		error.code = RDMA2_ERR_BAD_XDR;
	} else if (rc == -E2BIG) {
		error.code = RDMA2_ERR_SEGMENTS;
		error.max_segments = RPCRDMA2_OWN_SEGMENTS /
				     job->recv->hdr.chunks.nreads;
	}
	rpcrdma2_job_refuse(job, &error);
}
