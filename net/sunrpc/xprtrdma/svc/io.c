// SPDX-License-Identifier: GPL-2.0
/*
 * Calls to nfsd's threads, and their Replies back.
 *
 * A thread takes a job from the connection's queue. If the job has Read chunks,
 * which is queued when it is admitted (responder/admit.c), the thread starts the Reads, lends
 * the job its pages and looks for other work; when they are done, the job is queued
 * again and any thread takes the message together with the pages. A thread that
 * starts one job's Reads starts those of the next ones, too: each turn of a thread
 * has its price. A job that has other chunks alone is admitted when a thread takes it;
 * if there are no pages for it then, it is queued again when there are.
 */
#include "compat.h"
#include "svc.h"

#include <trace/events/rpcrdma2.h>

/*
 * For a thread, by a CQ that should not meet threads at a lock. If XPT_DATA is found set,
 * the thread that clears it finds the Call behind that: either has a full barrier between
 * its two steps, here the cmpxchg in llist_add(). See svc_update_data_flag().
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

/* It may be read, or executed. */
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
 * rpcrdma2_svc_call - a Call came
 * @recv: its message
 *
 * CQ context; the call op of a server's connections.
 */
void rpcrdma2_svc_call(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_job *job = rpcrdma2_job_get(recv);

	if (job)
		svc_begin_call(job);
}

static void svc_read_done(struct rpcrdma2_job *job)
{
	struct rpcrdma2_svc_xprt *sx = job->responder->conn->svc_xprt;

	rpcrdma2_read_end(job);
	svc_enqueue_job(sx, &sx->read_jobs, job);
}

/* The newest is the first of those that arrived. */
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

/* Where there is something to do; what is nearest to its end comes first. */
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

/* Is there more for threads to do? All but svc_enqueue_call() say so under the lock. */
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

/* The job, and others behind it: those whose Reads @pages are enough for */
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
 * rpcrdma2_svc_room - threads may take Calls again, or what waits may get through
 * @sx: its svc_xprt
 *
 * Context: process, no locks held.
 */
void rpcrdma2_svc_room(struct rpcrdma2_svc_xprt *sx)
{
	rpcrdma2_retry_now(sx->conn->responder);
	/* Pairs with that of rpcrdma2_svc_has_wspace(). */
	smp_mb();
	svc_xprt_enqueue(&sx->xprt);
}

/**
 * rpcrdma2_svc_init_jobs - there is no Call yet
 * @sx: a new svc_xprt
 */
void rpcrdma2_svc_init_jobs(struct rpcrdma2_svc_xprt *sx)
{
	init_llist_head(&sx->arrived);
	INIT_LIST_HEAD(&sx->calls);
	INIT_LIST_HEAD(&sx->read_jobs);
}

/**
 * rpcrdma2_svc_drop_jobs - the connection is gone: forget what is queued
 * @sx: its svc_xprt
 *
 * Process context, sleeps.
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
	if (!job->status && rpcrdma2_conn_enter(sx->conn))
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
		rpcrdma2_conn_exit(sx->conn);
	}
	rpcrdma2_call_pages_taken(rqstp, lent);
}

/* The job's pages are the thread's now, whose own ones are in their place. */
static unsigned int thread_take_pages(struct svc_rqst *rqstp,
				      struct rpcrdma2_job *job)
{
	unsigned int i, n = job->nr_pages;

	for (i = 0; i < n; i++)
		swap(rqstp->rq_pages[i], job->pages[i]);
	rpcrdma2_pages_give(job->pages, n);
	job->nr_pages = 0;
	return n;
}

/* The Reply gets no more pages than a job holds. */
static void thread_begin_reply(struct svc_rqst *rqstp, unsigned int used,
			       unsigned int job_pages)
{
	rpcrdma2_reply_pages_begin(rqstp, used);
	rqstp->rq_page_end = min(rqstp->rq_page_end, rqstp->rq_respages +
				 job_pages - 1);
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
		used = thread_take_pages(rqstp, job);
	}
	rpcrdma2_job_arg(job, &rqstp->rq_arg, rqstp->rq_pages);
	thread_begin_reply(rqstp, used, job->responder->conn->param.job_pages);
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_RUNNING);
	rqstp->rq_xprt_ctxt = job;
	rqstp->rq_prot = IPPROTO_MAX;
	rpcrdma2_secure_port(rqstp);
	svc_xprt_copy_addrs(rqstp, rqstp->rq_xprt);
	trace_rpcrdma2_call_deliver(job, 0);
	return rqstp->rq_arg.len;
}

/* All that it takes is in memory, and needs nothing of the device. */
static int svc_deliver_inline(struct rpcrdma2_svc_xprt *sx,
			      struct svc_rqst *rqstp, struct rpcrdma2_job *job)
{
	if (rpcrdma2_conn_is_ready(sx->conn))
		return svc_deliver_call(rqstp, job);
	svc_drop_call(job);
	return 0;
}

/* Return: whether the caller still has the Call, and may execute it now */
static bool svc_may_execute(struct rpcrdma2_job *job)
{
	if (job->stage != RPCRDMA2_JOB_CAME)
		return true;
	return !rpcrdma2_svc_inject_error(job) && rpcrdma2_admit_at_once(job);
}

/* Return: octets of a Call for the thread, or 0 */
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
	rpcrdma2_conn_exit(sx->conn);
	return len;
}

/**
 * rpcrdma2_svc_recvfrom - get a Call for a server thread
 * @rqstp: the thread's request; the caller holds XPT_BUSY of its transport,
 *	which is released here
 *
 * Return: octets of the RPC message, or 0 if there is none for now
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

/* nfsd splices a page of a file to where sunrpc neither allocates one nor looks for it. */
static bool thread_page_is_beyond_end(const struct svc_rqst *rqstp,
				      struct page **place)
{
	return place >= rqstp->rq_page_end;
}

/*
 * sunrpc frees the pages from rq_respages up to rq_next_page and allocates as
 * many for the next Call. What an inline Reply was copied from can serve
 * again as it is; others are the job's by now, and NULL, or a file's. Those that somebody
 * else has are freed here: some versions of sunrpc can't free pages with a NULL among them.
 */
static void thread_keep_reply_pages(struct svc_rqst *rqstp)
{
	struct page **last;

	for (; rqstp->rq_next_page > rqstp->rq_respages; rqstp->rq_next_page--) {
		last = rqstp->rq_next_page - 1;
		if (*last && thread_page_is_beyond_end(rqstp, last))
			break;
		if (*last && !rpcrdma2_page_is_private(*last)) {
			put_page(*last);
			*last = NULL;
		}
		if (!rpcrdma2_reply_page_stays(*last))
			break;
	}
}

/* As the allocator would, which takes longer */
static void thread_fill_reply_pages(struct svc_rqst *rqstp)
{
	struct page **end = min(rqstp->rq_next_page, rqstp->rq_page_end);

	if (end > rqstp->rq_respages)
		rpcrdma2_pages_fill(rqstp->rq_respages, end - rqstp->rq_respages);
}

/*
 * sunrpc knows a Reply's pages by rq_next_page, but not all that encodes moves it:
 * what was encoded last may lie behind it, such as ACLs or a checksum of krb5i.
 */
static void thread_find_last_page(struct svc_rqst *rqstp)
{
	const struct xdr_buf *res = &rqstp->rq_res;
	struct page **end;

	end = res->pages + DIV_ROUND_UP(res->page_base + res->page_len,
					PAGE_SIZE);
	if (res->page_len && end > rqstp->rq_next_page &&
	    end <= rqstp->rq_page_end)
		rqstp->rq_next_page = end;
}

/**
 * rpcrdma2_svc_sendto - send the Reply of a server thread
 * @rqstp: the thread's request
 *
 * Process context; does not wait for the device. A Reply that waits for memory is as
 * good as sent: a worker sends it.
 *
 * Return: octets of the RPC message, or negative errno if the connection is
 * lost
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
	if (!rpcrdma2_conn_enter(sx->conn)) {
		rpcrdma2_job_put(job);
		return -ENOTCONN;
	}
	nofs = memalloc_nofs_save();
	thread_find_last_page(rqstp);
	rc = rpcrdma2_job_reply(job, &rqstp->rq_res, rqstp->rq_respages,
				rqstp->rq_next_page - rqstp->rq_respages);
	thread_fill_reply_pages(rqstp);
	thread_keep_reply_pages(rqstp);
	/* The next Call is read to what this one's Reads have left in the CPU's caches. */
	rpcrdma2_pages_exchange(rqstp->rq_pages, nr_read);
	if (rc == -ENOBUFS) {
		rpcrdma2_conn_close(sx->conn, rc);
		rpcrdma2_job_put(job);
	}
	memalloc_nofs_restore(nofs);
	rpcrdma2_conn_exit(sx->conn);
	return rc ? -ENOTCONN : rqstp->rq_res.len;
}

/**
 * rpcrdma2_svc_result_payload - the program names a payload of its Reply
 * @rqstp: the thread's request
 * @offset: in rq_res, octets
 * @length: octets, without round-up
 *
 * Return: 0 or -EINVAL
 */
int rpcrdma2_svc_result_payload(struct svc_rqst *rqstp, unsigned int offset,
				unsigned int length)
{
	return rpcrdma2_job_add_payload(rqstp->rq_xprt_ctxt, offset, length);
}

/**
 * rpcrdma2_svc_release_ctxt - a Call gets no Reply, or has had it
 * @xprt: its transport
 * @ctxt: its job, or NULL
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
 * rpcrdma2_svc_has_wspace - may a thread take another Call?
 * @xprt: the transport
 *
 * Return: whether Replies get through
 */
int rpcrdma2_svc_has_wspace(struct svc_xprt *xprt)
{
	struct rpcrdma2_svc_xprt *sx = to_rpcrdma2_svc_xprt(xprt);

	/*
	 * Callers have set or cleared a bit of xpt_flags, and look at the room behind that.
	 * Those that make room do the reverse.
	 */
	smp_mb__after_atomic();
	return rpcrdma2_conn_has_room(sx->conn) &&
	       rpcrdma2_responder_has_room(sx->conn->responder);
}
