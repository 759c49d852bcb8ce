// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a job, which is a Call being answered.
 *
 *   rpcrdma2_job_get()		a Call came (CQ)
 *   rpcrdma2_job_plan()	it has Read chunks: how much is there to read?
 *   rpcrdma2_admit()		when may it be?
 *   rpcrdma2_reads_start()	fetch it; nobody waits
 *   rpcrdma2_job_arg()		the RPC message, for the server to decode
 *   rpcrdma2_job_reply()	RDMA Writes and the Send, one chain
 *   rpcrdma2_job_put()		the Send is done, or there was no Reply
 *
 * There are never more Calls outstanding than the peer was granted credits: one
 * too many costs the peer its connection. The next Call may be there as soon as
 * a Reply is posted, so the credit is given back before; a job that has more to
 * do then has the Reply's Send buffer, of which there are so many. A thread of
 * the server never waits for the device; pages under I/O belong to the job. A job
 * keeps the memory of its connection, and so of this role, alive: a slow server
 * thread may outlive it.
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
	return job;
}

/**
 * rpcrdma2_jobs_provide - have a job for each Call, whatever memory there is later
 * @responder: of a connection that is not established yet
 *
 * Process context, sleeps. One more than are granted, for the one that just gave
 * its credit back.
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_jobs_provide(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_job *job;
	unsigned int i;

	for (i = 0; i <= responder->conn->param.calls_in; i++) {
		job = job_alloc(responder, GFP_KERNEL);
		if (!job)
			return -ENOMEM;
		list_add(&job->list, &responder->free_jobs);
	}
	return 0;
}

/**
 * rpcrdma2_jobs_trim - free jobs that will hardly be needed
 * @responder: whose
 * @n: how many
 *
 * Any context but interrupts.
 */
void rpcrdma2_jobs_trim(struct rpcrdma2_responder *responder, unsigned int n)
{
	struct rpcrdma2_job *job;

	while (n--) {
		spin_lock(&responder->lock);
		job = list_first_entry_or_null(&responder->free_jobs,
					       struct rpcrdma2_job, list);
		if (job)
			list_del(&job->list);
		spin_unlock(&responder->lock);
		if (!job)
			break;
		kfree(job);
	}
}

/**
 * rpcrdma2_job_get - a Call came
 * @recv: its message; the job's from now on, or given back
 *
 * CQ context.
 *
 * Return: a job; or NULL, and the connection is closing: -EPROTO: the peer
 * exceeded its grant; -ENOMEM: its Calls come again on the next one
 */
struct rpcrdma2_job *rpcrdma2_job_get(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_responder *responder = recv->conn->responder;
	struct rpcrdma2_job *job = NULL;
	unsigned int outstanding;
	bool granted;

	spin_lock(&responder->lock);
	granted = responder->outstanding < recv->conn->granted_most;
	if (granted)
		job = list_first_entry_or_null(&responder->free_jobs,
					       struct rpcrdma2_job, list);
	if (job)
		list_del_init(&job->list);
	responder->outstanding += granted;
	outstanding = responder->outstanding;
	spin_unlock(&responder->lock);
	if (!granted) {
		rpcrdma2_conn_close(recv->conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return NULL;
	}
	rpcrdma2_grant_adapt(responder, outstanding);
	if (!job)
		job = job_alloc(responder, GFP_NOIO | __GFP_NORETRY |
				__GFP_NOWARN);
	if (!job) {
		rpcrdma2_conn_close(recv->conn, -ENOMEM);
		rpcrdma2_recv_put(recv);
		return NULL;
	}
	trace_rpcrdma2_call_recv(recv->conn, &recv->hdr,
				 recv->offset + recv->len);
	rpcrdma2_count_form(&responder->stats.calls, &recv->hdr);
	rpcrdma2_conn_get(recv->conn);
	job->recv = recv;
	job->xid = recv->hdr.xid;
	job->vers = recv->hdr.vers;
	job->admitted = 0;
	job->alone = false;
	job->status = 0;
	job->length = 0;
	job->nr_lent = 0;
	job->nr_payloads = 0;
	job->replied = false;
	memset(&job->moved, 0, sizeof(job->moved));
	return job;
}

static void count_done(struct rpcrdma2_responder *responder,
		       struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder_stats *stats = &responder->stats;

	lockdep_assert_held(&responder->lock);

	stats->done++;
	if (job->replied) {
		rpcrdma2_count_form(&stats->replies, &job->reply_hdr);
	} else {
		job->moved.writes = 0;
		job->moved.write_octets = 0;
	}
	rpcrdma2_counters_add(&stats->moved, &job->moved, sizeof(job->moved));
}

/**
 * rpcrdma2_job_give_credit - a Call's Receive and its credit may be used again
 * @job: the job, about to be answered; its message is gone
 *
 * Any context but interrupts. The caller posts what tells the peer afterwards.
 */
void rpcrdma2_job_give_credit(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	spin_lock(&responder->lock);
	responder->outstanding--;
	job->writing = list_empty(&job->rws) ? 0 : job->nr_pages;
	WRITE_ONCE(responder->writing, responder->writing + job->writing);
	spin_unlock(&responder->lock);
	rpcrdma2_recv_put(job->recv);
	job->recv = NULL;
}

/**
 * rpcrdma2_job_put - done with a Call
 * @job: the job, none of its I/O under way
 *
 * Any context but interrupts. What it still holds is given back.
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
	rpcrdma2_admission_return(job);
	if (job->recv)
		rpcrdma2_job_give_credit(job);

	spin_lock(&responder->lock);
	count_done(responder, job);
	room = !rpcrdma2_responder_has_room(responder);
	WRITE_ONCE(responder->writing, responder->writing - job->writing);
	room = room && rpcrdma2_responder_has_room(responder);
	job->writing = 0;
	list_add(&job->list, &responder->free_jobs);
	spin_unlock(&responder->lock);
	/* The upper layer is there: a Reply is given back before CLOSED. */
	if (room && conn->param.ops->room)
		conn->param.ops->room(conn);
	rpcrdma2_conn_put(conn);
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

/**
 * rpcrdma2_show_responder_stats - write what a responder did, or some together
 * @seq: where to
 * @stats: their counters
 */
void rpcrdma2_show_responder_stats(struct seq_file *seq,
				   const struct rpcrdma2_responder_stats *stats)
{
	const struct rpcrdma2_transfers *moved = &stats->moved;

	rpcrdma2_show_forms(seq, "calls_received", &stats->calls);
	rpcrdma2_show_forms(seq, "replies_sent", &stats->replies);
	rpcrdma2_show_count(seq, "rdma_reads", moved->reads);
	rpcrdma2_show_count(seq, "rdma_read_octets", moved->read_octets);
	rpcrdma2_show_count(seq, "rdma_read_waits", moved->read_waits);
	rpcrdma2_show_count(seq, "rdma_writes", moved->writes);
	rpcrdma2_show_count(seq, "rdma_write_octets", moved->write_octets);
}

/**
 * rpcrdma2_show_responder - write what there is to say of a responder
 * @seq: where to
 * @responder: of a connection that the caller has entered
 */
void rpcrdma2_show_responder(struct seq_file *seq,
			     const struct rpcrdma2_responder *responder)
{
	const struct rpcrdma2_responder_stats *stats = &responder->stats;
	/* In this order: no job is done before it came. */
	u64 done = READ_ONCE(stats->done);
	u64 came = READ_ONCE(stats->calls.messages);

	rpcrdma2_show(seq, "responder_credits", "%u",
		      READ_ONCE(responder->conn->granted));
	rpcrdma2_show_count(seq, "responder_outstanding", came - done);
	rpcrdma2_show_responder_stats(seq, stats);
}

/**
 * rpcrdma2_responder_create - give a connection its responder role
 * @conn: a connection that is not established yet
 * @admitted: as for rpcrdma2_admission_init()
 *
 * Process context.
 *
 * Return: the role, or NULL
 */
struct rpcrdma2_responder *
rpcrdma2_responder_create(struct rpcrdma2_conn *conn,
			  void (*admitted)(struct rpcrdma2_job *job))
{
	struct rpcrdma2_responder *responder;

	responder = kzalloc(sizeof(*responder), GFP_KERNEL);
	if (!responder)
		return NULL;
	responder->conn = conn;
	spin_lock_init(&responder->lock);
	INIT_LIST_HEAD(&responder->free_jobs);
	INIT_LIST_HEAD(&responder->free_rws);
	rpcrdma2_admission_init(responder, admitted);
	conn->responder = responder;
	return responder;
}

/**
 * rpcrdma2_responder_destroy - end of the role
 * @responder: its role; every job was put; may be NULL
 */
void rpcrdma2_responder_destroy(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_job *job, *next_job;

	if (!responder)
		return;
	list_for_each_entry_safe(job, next_job, &responder->free_jobs, list)
		kfree(job);
	rpcrdma2_rws_free(responder);
	rpcrdma2_lend_free(responder);
	kfree(responder);
}
