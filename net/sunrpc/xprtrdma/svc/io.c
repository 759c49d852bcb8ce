// SPDX-License-Identifier: GPL-2.0
/*
 * Calls to the server's threads, and Replies back.
 *
 * The CQ queues a Call, and a thread takes it:
 *  - A Call with Read chunks is queued when it is admitted (responder/admit.c). The thread
 *    starts its RDMA Reads and leaves. When they have ended, the Call is queued again, and any
 *    thread runs it with the pages that were read. A thread starts the Reads of several Calls
 *    at once, as each visit of a thread costs time.
 *  - A Call with other chunks is admitted when a thread takes it. If there is no room, it is
 *    queued again once there is.
 *  - A Call without chunks runs at once.
 * A thread never waits for the device or the peer. It may sleep for memory.
 */
#include "compat.h"
#include "svc.h"

#include <trace/events/rpcrdma2.h>

/*
 * Queue a Call for a thread. For most Calls the CQ does this. It should not meet threads at a
 * lock.
 *
 *	svc_enqueue_call()		svc_update_data_flag()
 *	add the Call to @arrived	clear XPT_DATA
 *	full barrier (llist_add())	full barrier (smp_mb__after_atomic())
 *	test XPT_DATA			test @arrived
 *
 * So either this function finds XPT_DATA clear, or the thread finds the Call.
 */
static void svc_enqueue_call(struct rpcrdma2_svc_xprt *sx,
			     struct rpcrdma2_job *job)
{
	llist_add(&job->node, &sx->arrived);
	if (!test_bit(XPT_DATA, &sx->xprt.xpt_flags))
		set_bit(XPT_DATA, &sx->xprt.xpt_flags);
	svc_xprt_enqueue(&sx->xprt);
}

static void svc_enqueue_job(struct rpcrdma2_svc_xprt *sx,
			    struct list_head *queue, struct rpcrdma2_job *job)
{
	spin_lock(&sx->lock);
	list_add_tail(&job->list, queue);
	set_bit(XPT_DATA, &sx->xprt.xpt_flags);
	spin_unlock(&sx->lock);
	svc_xprt_enqueue(&sx->xprt);
}

static void svc_call_admitted(struct rpcrdma2_job *job)
{
	svc_enqueue_call(job->responder->conn->svc_xprt, job);
}

static void svc_begin_call(struct rpcrdma2_job *job)
{
	int rc;

	if (job->recv->hdr.chunks.nsegs)
		rpcrdma2_job_plan_reply(job);
	if (!rpcrdma2_job_has_reads(job)) {
		svc_enqueue_call(job->responder->conn->svc_xprt, job);
		return;
	}
	rc = rpcrdma2_job_plan(job);
	if (rc)
		rpcrdma2_job_refuse_reads(job, rc);
	else
		rpcrdma2_admit(job);
}

const struct rpcrdma2_responder_ops rpcrdma2_svc_responder_ops = {
	.begin		= svc_begin_call,
	.admitted	= svc_call_admitted,
};

/**
 * rpcrdma2_svc_call - take in a Call; the call op of a server's connections
 * @recv: the Call's message; no longer the caller's
 *
 * Context: CQ.
 */
void rpcrdma2_svc_call(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_job *job = rpcrdma2_responder_take(recv);

	if (job)
		svc_begin_call(job);
}

static void svc_read_done(struct rpcrdma2_job *job)
{
	struct rpcrdma2_svc_xprt *sx = job->responder->conn->svc_xprt;

	rpcrdma2_read_end(job);
	svc_enqueue_job(sx, &sx->read_jobs, job);
}

/* @arrived has the newest Call first, @calls the oldest. */
static void svc_gather_calls(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_job *job, *next;
	struct llist_node *first;

	lockdep_assert_held(&sx->lock);

	if (llist_empty(&sx->arrived))
		return;
	first = llist_reverse_order(llist_del_all(&sx->arrived));
	llist_for_each_entry_safe(job, next, first, node)
		list_add_tail(&job->list, &sx->calls);
}

/* Jobs that are nearest to their end come first. Return: a list that is not empty, or NULL */
static struct list_head *svc_next_queue(struct rpcrdma2_svc_xprt *sx)
{
	lockdep_assert_held(&sx->lock);

	if (!list_empty(&sx->read_jobs))
		return &sx->read_jobs;
	if (list_empty(&sx->calls))
		svc_gather_calls(sx);
	if (!list_empty(&sx->calls))
		return &sx->calls;
	return NULL;
}

/*
 * Clear XPT_DATA if no job is left for a thread. All except svc_enqueue_call() queue a job and
 * set XPT_DATA under the lock.
 */
static void svc_update_data_flag(struct rpcrdma2_svc_xprt *sx)
{
	if (svc_next_queue(sx))
		return;
	clear_bit(XPT_DATA, &sx->xprt.xpt_flags);
	/* Pairs with llist_add() in svc_enqueue_call(). */
	smp_mb__after_atomic();
	if (!llist_empty(&sx->arrived))
		set_bit(XPT_DATA, &sx->xprt.xpt_flags);
}

static struct rpcrdma2_job *svc_dequeue_job(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_job *job = NULL;
	struct list_head *queue;

	spin_lock(&sx->lock);
	queue = svc_next_queue(sx);
	if (queue) {
		job = list_first_entry(queue, struct rpcrdma2_job, list);
		list_del_init(&job->list);
	}
	svc_update_data_flag(sx);
	spin_unlock(&sx->lock);
	return job;
}

static bool svc_must_read(const struct rpcrdma2_job *job)
{
	return rpcrdma2_job_has_reads(job) && job->stage != RPCRDMA2_JOB_READ;
}

/* Take @job, and Calls to read behind it, as many as @pages pages suffice for. */
static void svc_dequeue_reads(struct rpcrdma2_svc_xprt *sx,
			      struct rpcrdma2_job *job, struct list_head *jobs,
			      unsigned int pages)
{
	unsigned int used = rpcrdma2_job_read_pages(job);
	struct rpcrdma2_job *next;

	list_add(&job->list, jobs);
	spin_lock(&sx->lock);
	svc_gather_calls(sx);
	list_for_each_entry_safe(job, next, &sx->calls, list) {
		used += rpcrdma2_job_read_pages(job);
		if (!rpcrdma2_job_has_reads(job) || used > pages)
			break;
		list_move_tail(&job->list, jobs);
	}
	svc_update_data_flag(sx);
	spin_unlock(&sx->lock);
}

/**
 * rpcrdma2_svc_room - have threads look for Calls again; the room op
 * @sx: the svc_xprt
 *
 * Also has the worker of retry.c try again.
 *
 * Context: process, no locks held.
 */
void rpcrdma2_svc_room(struct rpcrdma2_svc_xprt *sx)
{
	rpcrdma2_retry_now(sx->conn->responder);
	/* Pairs with the barrier in rpcrdma2_svc_has_wspace(). */
	smp_mb();
	svc_xprt_enqueue(&sx->xprt);
}

/**
 * rpcrdma2_svc_init_jobs - prepare the queues of jobs
 * @sx: a new svc_xprt
 *
 * Context: process.
 */
void rpcrdma2_svc_init_jobs(struct rpcrdma2_svc_xprt *sx)
{
	init_llist_head(&sx->arrived);
	INIT_LIST_HEAD(&sx->calls);
	INIT_LIST_HEAD(&sx->read_jobs);
}

/**
 * rpcrdma2_svc_drop_jobs - drop all Calls that no thread has taken
 * @sx: the svc_xprt of a connection that is drained
 *
 * Context: process, sleeps; the teardown's.
 */
void rpcrdma2_svc_drop_jobs(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_job *job;

	rpcrdma2_responder_drained(sx->conn->responder);
	while ((job = svc_dequeue_job(sx)))
		rpcrdma2_job_put(job);
}

static void svc_drop_call(struct rpcrdma2_job *job)
{
	trace_rpcrdma2_call_drop(job, job->status);
	rpcrdma2_job_put(job);
}

static bool svc_may_run(struct rpcrdma2_svc_xprt *sx, struct rpcrdma2_job *job)
{
	if (!job->status && rpcrdma2_ep_enter(&sx->conn->ep))
		return true;
	svc_drop_call(job);
	return false;
}

static void svc_start_all_reads(struct rpcrdma2_svc_xprt *sx,
				struct svc_rqst *rqstp, struct list_head *jobs)
{
	unsigned int max_pages = rpcrdma2_call_pages(rqstp), lent = 0;
	struct rpcrdma2_job *job, *next;

	list_for_each_entry_safe(job, next, jobs, list) {
		list_del_init(&job->list);
		if (!svc_may_run(sx, job))
			continue;
		if (!rpcrdma2_svc_inject_error(job))
			lent += rpcrdma2_reads_start(job,
						     rqstp->rq_pages + lent,
						     max_pages - lent,
						     svc_read_done);
		rpcrdma2_ep_exit(&sx->conn->ep);
	}
	rpcrdma2_call_pages_taken(rqstp, lent);
}

static int svc_deliver_call(struct svc_rqst *rqstp, struct rpcrdma2_job *job)
{
	unsigned int used = 0;
	int rc;

	if (rpcrdma2_job_has_reads(job)) {
		rc = rpcrdma2_job_read_finish(job);
		if (rc) {
			rpcrdma2_job_refuse_reads(job, rc);
			return 0;
		}
		used = rpcrdma2_thread_take_pages(rqstp, job);
	}
	rpcrdma2_job_arg(job, &rqstp->rq_arg, rqstp->rq_pages);
	rpcrdma2_thread_begin_reply(rqstp, used, job->responder->conn->param.job_pages);
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_RUNNING);
	rqstp->rq_xprt_ctxt = job;
	rqstp->rq_prot = IPPROTO_MAX;
	rpcrdma2_secure_port(rqstp);
	svc_xprt_copy_addrs(rqstp, rqstp->rq_xprt);
	trace_rpcrdma2_call_deliver(job, 0);
	return rqstp->rq_arg.len;
}

/* A Call without chunks needs nothing of the device, so this does not enter the connection. */
static int svc_deliver_inline(struct rpcrdma2_svc_xprt *sx,
			      struct svc_rqst *rqstp, struct rpcrdma2_job *job)
{
	if (rpcrdma2_conn_is_ready(sx->conn))
		return svc_deliver_call(rqstp, job);
	svc_drop_call(job);
	return 0;
}

/* Return: true if the Call may run now. Otherwise the job is no longer the caller's */
static bool svc_may_execute(struct rpcrdma2_job *job)
{
	if (job->stage != RPCRDMA2_JOB_CAME)
		return true;
	return !rpcrdma2_svc_inject_error(job) && rpcrdma2_admit_at_once(job);
}

/* Return: octets of the Call that the thread runs, or 0 if it runs none */
static int svc_run_job(struct rpcrdma2_svc_xprt *sx, struct svc_rqst *rqstp,
		       struct rpcrdma2_job *job)
{
	int len = 0;

	if (!job->recv->hdr.chunks.nsegs)
		return svc_deliver_inline(sx, rqstp, job);
	if (!svc_may_run(sx, job))
		return 0;
	if (svc_may_execute(job))
		len = svc_deliver_call(rqstp, job);
	rpcrdma2_ep_exit(&sx->conn->ep);
	return len;
}

/**
 * rpcrdma2_svc_recvfrom - get a Call for a server thread; xpo_recvfrom
 * @rqstp: the thread's request. The caller holds XPT_BUSY, which is released here
 *
 * Context: process; may sleep for memory.
 *
 * Return: octets of the RPC message, or 0 if there is none to run now
 */
int rpcrdma2_svc_recvfrom(struct svc_rqst *rqstp)
{
	struct rpcrdma2_svc_xprt *sx = to_rpcrdma2_svc_xprt(rqstp->rq_xprt);
	struct rpcrdma2_job *job;
	LIST_HEAD(to_start);
	unsigned int nofs;
	int len = 0;

	rqstp->rq_xprt_ctxt = NULL;
	rpcrdma2_reply_pages_begin(rqstp, 0);

	job = svc_dequeue_job(sx);
	if (job && svc_must_read(job)) {
		svc_dequeue_reads(sx, job, &to_start,
				  rpcrdma2_call_pages(rqstp));
		job = NULL;
	}
	svc_xprt_received(rqstp->rq_xprt);
	nofs = memalloc_nofs_save();
	svc_start_all_reads(sx, rqstp, &to_start);
	if (job)
		len = svc_run_job(sx, rqstp, job);
	memalloc_nofs_restore(nofs);
	return len;
}

/**
 * rpcrdma2_svc_sendto - send the Reply of a server thread; xpo_sendto
 * @rqstp: the thread's request
 *
 * A Reply that waits for memory counts as sent: a worker posts it later.
 *
 * Context: process; may sleep for memory, and never waits for the device.
 *
 * Return: octets of the RPC message; -ENOTCONN if the connection is closing
 */
int rpcrdma2_svc_sendto(struct svc_rqst *rqstp)
{
	struct rpcrdma2_svc_xprt *sx = to_rpcrdma2_svc_xprt(rqstp->rq_xprt);
	struct rpcrdma2_job *job = rqstp->rq_xprt_ctxt;
	unsigned int nofs, nr_read = 0;
	int rc;

	rqstp->rq_xprt_ctxt = NULL;
	if (rpcrdma2_job_has_reads(job))
		nr_read = rpcrdma2_job_read_pages(job);
	if (!rpcrdma2_ep_enter(&sx->conn->ep)) {
		rpcrdma2_job_put(job);
		return -ENOTCONN;
	}
	nofs = memalloc_nofs_save();
	rpcrdma2_thread_find_last_page(rqstp);
	rc = rpcrdma2_job_reply(job, &rqstp->rq_res, rqstp->rq_respages,
				rqstp->rq_next_page - rqstp->rq_respages);
	rpcrdma2_thread_fill_reply_pages(rqstp);
	rpcrdma2_thread_keep_reply_pages(rqstp);
	/* RDMA Reads left these pages in the CPU's caches: use them for the next Call. */
	rpcrdma2_pages_exchange(rqstp->rq_pages, nr_read);
	if (rc == -ENOBUFS) {
		rpcrdma2_conn_close(sx->conn, rc);
		rpcrdma2_job_put(job);
	}
	memalloc_nofs_restore(nofs);
	rpcrdma2_ep_exit(&sx->conn->ep);
	return rc ? -ENOTCONN : rqstp->rq_res.len;
}

/**
 * rpcrdma2_svc_result_payload - name a payload of a Reply; xpo_result_payload
 * @rqstp: the thread's request
 * @offset: where the payload starts in rq_res, octets
 * @length: octets, without round-up
 *
 * Context: process.
 *
 * Return: 0; -EINVAL if the payload does not lie behind the one named before
 */
int rpcrdma2_svc_result_payload(struct svc_rqst *rqstp, unsigned int offset,
				unsigned int length)
{
	return rpcrdma2_job_add_payload(rqstp->rq_xprt_ctxt, offset, length);
}

/**
 * rpcrdma2_svc_release_ctxt - drop a Call that gets no Reply; xpo_release_ctxt
 * @xprt: the transport
 * @ctxt: the Call's job; NULL after rpcrdma2_svc_sendto()
 *
 * Context: process, no locks held.
 */
void rpcrdma2_svc_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	struct rpcrdma2_job *job = ctxt;

	if (!job)
		return;
	trace_rpcrdma2_call_drop(job, 0);
	rpcrdma2_job_put(job);
}

/**
 * rpcrdma2_svc_has_wspace - may a thread take another Call? xpo_has_wspace
 * @xprt: the transport
 *
 * Context: any but interrupts.
 *
 * Return: true if no Reply waits, and the Send Queue and the RDMA Writes under way have room
 */
int rpcrdma2_svc_has_wspace(struct svc_xprt *xprt)
{
	struct rpcrdma2_svc_xprt *sx = to_rpcrdma2_svc_xprt(xprt);

	/*
	 * Either this thread finds the room, or the other one finds the change of xpt_flags:
	 *
	 *	this thread			a thread that makes room
	 *	change a bit of xpt_flags	make room
	 *	this barrier			smp_mb() in rpcrdma2_svc_room()
	 *	look for room			svc_xprt_enqueue() looks at xpt_flags
	 */
	smp_mb__after_atomic();
	return rpcrdma2_ep_has_room(&sx->conn->ep) &&
	       rpcrdma2_responder_has_room(sx->conn->responder);
}
