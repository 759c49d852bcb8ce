// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a job, which is a Call being answered.
 *
 *   rpcrdma2_job_get()		a Call came (CQ)
 *   rpcrdma2_job_plan()	it has Read chunks: how much is there to read?
 *   rpcrdma2_admit()		when may it be? Or, of a Call with other chunks alone,
 *   rpcrdma2_admit_at_once()	may it be executed?
 *   rpcrdma2_reads_start()	fetch it; nobody waits
 *   rpcrdma2_job_arg()		the RPC message, for the server to decode
 *   rpcrdma2_job_reply()	RDMA Writes and the Send, one chain
 *   rpcrdma2_job_put()		the Send is done, or there was no Reply
 *
 * There are never more Calls outstanding than the peer was granted credits: one
 * too many costs the peer its connection. The next Call may be there as soon as
 * a Reply is posted, so the credit is given back before; a job that has more to
 * do then has the Reply's Send buffer, of which there are so many. A thread of
 * the server never waits for the device; pages under I/O belong to the job. A slow
 * server thread may outlive the connection: who has a job from here sees to it that the
 * memory of that, and so of this role, is there. At a server the svc_xprt does, which
 * sunrpc has longer than any of its Calls.
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

/* By the owner of @ready_jobs, which needs no lock for them. */
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

/*
 * While Calls wait for jobs, free jobs are the worker's in retry.c. Pairs with the release in
 * retry_calls().
 */
static bool jobs_are_awaited(const struct rpcrdma2_responder *responder)
{
	return unlikely(smp_load_acquire(&responder->retry.calls_wait));
}

/**
 * rpcrdma2_jobs_provide - have jobs, whatever memory there is later
 * @responder: of a connection that is not established yet
 * @n: how many: one at least, which does for one Call after the other. Who can't have
 *	Calls wait for them has one more than are granted, for the one that just gave its
 *	credit back
 *
 * Process context, sleeps.
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
 * rpcrdma2_jobs_trim - free jobs that will hardly be needed
 * @responder: whose
 * @n: how many
 *
 * CQ context. What they did still counts. One that is free remains, for the Call that just
 * came, and all do while Calls wait for them.
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

/**
 * rpcrdma2_job_try - a free job, or a new one, for a Call
 * @recv: the Call's message
 *
 * Context: process; the owner of @ready_jobs. Does not wait for memory.
 *
 * Return: a job that has @recv; or NULL, and @recv stays the caller's
 */
struct rpcrdma2_job *rpcrdma2_job_try(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_responder *responder = recv->conn->responder;
	struct rpcrdma2_job *job;

	job = job_take_free(responder) ?: job_alloc(responder, RPCRDMA2_GFP_ONCE);
	return job ? job_begin(job, recv) : NULL;
}

/**
 * rpcrdma2_job_get - a Call came
 * @recv: its message; the responder's from now on
 *
 * Context: CQ. A holder that keeps the job beyond @drained keeps the connection's memory.
 *
 * Return: a job; or NULL: there is no memory for one, and the begin op comes later, or the
 * peer exceeded its grant, and the connection is closing
 */
struct rpcrdma2_job *rpcrdma2_job_get(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_responder *responder = recv->conn->responder;
	struct rpcrdma2_job *job = NULL;
	unsigned int outstanding;

	/* A job raises @calls_returned before its Reply is posted: it never lags. */
	outstanding = responder->calls_taken + 1 -
		      atomic_read(&responder->calls_returned);
	if (outstanding > recv->conn->grant_out_max) {
		rpcrdma2_conn_close(recv->conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return NULL;
	}
	responder->calls_taken++;
	rpcrdma2_conn_paid(recv->conn);
	trace_rpcrdma2_call_recv(recv->conn, &recv->hdr,
				 recv->offset + recv->len);
	rpcrdma2_count_form(&responder->stats.calls,
			    rpcrdma2_counted_form(&recv->hdr.chunks));
	rpcrdma2_grant_adapt(responder, outstanding);
	if (!jobs_are_awaited(responder))
		job = rpcrdma2_job_try(recv);
	if (!job)
		rpcrdma2_retry_call(recv);
	return job;
}

/* In the job, which has one holder: so it takes no lock. */
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
 * rpcrdma2_job_give_credit - a Call's Receive and its credit may be used again
 * @job: the job, about to be answered; its message is gone
 *
 * Any context but interrupts. The caller posts what tells the peer afterwards: as the
 * message is in memory before the device hears of it, so is what is written here.
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
 * rpcrdma2_job_put - done with a Call
 * @job: the job, none of its I/O under way
 *
 * Any context but interrupts. What it still holds is given back. The connection's memory
 * is not the job's: it is there on return.
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
	/* Behind all that was done with it: whoever takes it finds it so. */
	llist_add(&job->node, &responder->free_jobs);
	if (unlikely(READ_ONCE(responder->retry.calls_wait)))
		rpcrdma2_retry_now(responder);
	/*
	 * The upper layer is there: a Reply is given back before CLOSED, and a server's
	 * thread has its svc_xprt.
	 */
	if (room && conn->param.ops->room)
		conn->param.ops->room(conn);
}

/**
 * rpcrdma2_job_refuse - answer a Call with an RDMA2_ERROR
 * @job: the job; done with on return
 * @error: what to report
 *
 * Process context, between enter and exit or in the CQ.
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
 * rpcrdma2_job_refuse_reads - answer a Call whose Read chunks can't be read
 * @job: the job; done with on return
 * @rc: what rpcrdma2_job_plan(), _read() or _read_finish() returned
 *
 * Process context, between enter and exit or in the CQ.
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
