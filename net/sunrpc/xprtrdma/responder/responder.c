// SPDX-License-Identifier: GPL-2.0
/*
 * A connection's responder role: how it begins and ends, and its counters.
 *
 * The role is created before the connection is established, and destroyed with the
 * connection's memory. job.c describes the life of a Call. All functions here run in process
 * context.
 */
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/**
 * rpcrdma2_responder_take - take in a Call
 * @recv: the Call's message; no longer the caller's
 *
 * Closes the connection of a peer that exceeds its grant.
 *
 * Context: CQ. A holder that keeps the job beyond @drained keeps the connection's memory, too.
 *
 * Return: a job; or NULL if the connection is closing, or if there is no memory and the
 * begin op takes the Call later
 */
struct rpcrdma2_job *rpcrdma2_responder_take(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_conn *conn = rpcrdma2_recv_conn(recv);
	struct rpcrdma2_responder *responder = conn->responder;
	unsigned int outstanding;

	/*
	 * A job raises @calls_returned before it posts its Reply, so the count never lags what
	 * the peer knows: see rpcrdma2_job_give_credit().
	 */
	outstanding = responder->calls_taken + 1 -
		      atomic_read(&responder->calls_returned);
	if (outstanding > conn->ep.grant.most) {
		rpcrdma2_conn_close(conn, -EPROTO);
		rpcrdma2_recv_put(recv);
		return NULL;
	}
	responder->calls_taken++;
	rpcrdma2_conn_paid(conn);
	trace_rpcrdma2_call_recv(conn, &recv->hdr, recv->offset + recv->len);
	rpcrdma2_count_form(&responder->stats.calls,
			    rpcrdma2_counted_form(&recv->hdr.chunks));
	rpcrdma2_grant_adapt(responder, outstanding);
	return rpcrdma2_job_for(recv);
}

/**
 * rpcrdma2_responder_stats_add - add a responder's counters to a sum
 * @sum: the sum
 * @responder: the responder; the caller keeps its memory
 *
 * Context: process. The caller may hold the lock of a server's totals, or the mutex of a
 * namespace's connections.
 */
void rpcrdma2_responder_stats_add(struct rpcrdma2_responder_stats *sum,
				  struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_job *job;

	spin_lock(&responder->lock);
	rpcrdma2_counters_add(&sum->jobs, &responder->stats.jobs,
			      sizeof(sum->jobs));
	list_for_each_entry(job, &responder->jobs, all)
		rpcrdma2_counters_add(&sum->jobs, &job->stats,
				      sizeof(sum->jobs));
	spin_unlock(&responder->lock);
	/*
	 * A Call is counted before its job is handed on. So read the number of Calls last, and
	 * the sum has no more Calls done than Calls received.
	 */
	smp_rmb();
	rpcrdma2_counters_add(&sum->calls, &responder->stats.calls,
			      sizeof(sum->calls));
}

/**
 * rpcrdma2_show_responder_stats - write the counters of one or several responders
 * @seq: where to write
 * @stats: the counters
 *
 * Context: process.
 */
void rpcrdma2_show_responder_stats(struct seq_file *seq,
				   const struct rpcrdma2_responder_stats *stats)
{
	const struct rpcrdma2_transfers *moved = &stats->jobs.moved;

	rpcrdma2_show_forms(seq, "calls_received", &stats->calls);
	rpcrdma2_show_forms(seq, "replies_sent", &stats->jobs.replies);
	rpcrdma2_show_count(seq, "rdma_reads", moved->reads);
	rpcrdma2_show_count(seq, "rdma_read_octets", moved->read_octets);
	rpcrdma2_show_count(seq, "rdma_read_waits", moved->read_waits);
	rpcrdma2_show_count(seq, "rdma_writes", moved->writes);
	rpcrdma2_show_count(seq, "rdma_write_octets", moved->write_octets);
}

/**
 * rpcrdma2_responder_count_stages - count the Calls at each stage
 * @responder: the responder; the caller keeps its memory
 * @count: gets the numbers
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_responder_count_stages(struct rpcrdma2_responder *responder,
				     struct rpcrdma2_stage_counts *count)
{
	unsigned int n[RPCRDMA2_JOB_NR_STAGES] = { };
	struct rpcrdma2_job *job;

	spin_lock(&responder->lock);
	list_for_each_entry(job, &responder->jobs, all)
		n[READ_ONCE(job->stage)]++;
	spin_unlock(&responder->lock);
	count->queued = n[RPCRDMA2_JOB_QUEUED];
	count->reading = n[RPCRDMA2_JOB_READING];
	count->for_threads = n[RPCRDMA2_JOB_CAME] + n[RPCRDMA2_JOB_ADMITTED] +
			     n[RPCRDMA2_JOB_READ];
	count->running = n[RPCRDMA2_JOB_RUNNING];
	count->waiting = n[RPCRDMA2_JOB_WAITING];
	count->writing = n[RPCRDMA2_JOB_REPLIED];
}

static void responder_show_stages(struct seq_file *seq,
				  struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_stage_counts count;

	rpcrdma2_responder_count_stages(responder, &count);
	rpcrdma2_show(seq, "responder_queued", "%u", count.queued);
	rpcrdma2_show(seq, "responder_reading", "%u", count.reading);
	rpcrdma2_show(seq, "responder_for_threads", "%u", count.for_threads);
	rpcrdma2_show(seq, "responder_running", "%u", count.running);
	rpcrdma2_show(seq, "responder_waiting", "%u", count.waiting);
	rpcrdma2_show(seq, "responder_writing", "%u", count.writing);
}

/**
 * rpcrdma2_show_responder - write a responder's state and counters
 * @seq: where to write
 * @responder: the responder; the caller is between enter and exit of its connection
 *
 * Context: process; does not sleep.
 */
void rpcrdma2_show_responder(struct seq_file *seq,
			     struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_responder_stats stats = { };

	rpcrdma2_responder_stats_add(&stats, responder);
	rpcrdma2_show(seq, "responder_credits", "%u",
		      READ_ONCE(responder->conn->ep.grant.now));
	rpcrdma2_show_count(seq, "responder_outstanding",
			    stats.calls.messages - stats.jobs.done);
	responder_show_stages(seq, responder);
	rpcrdma2_show_responder_stats(seq, &stats);
}

/* The worker of retry.c */
static void responder_retry_work(struct work_struct *work)
{
	struct rpcrdma2_responder *responder =
		container_of(to_delayed_work(work), struct rpcrdma2_responder, retry.work);
	struct rpcrdma2_conn *conn = responder->conn;
	struct rpcrdma2_memalloc saved;
	bool wait;

	if (!rpcrdma2_ep_enter(&conn->ep))
		return;
	saved = rpcrdma2_memalloc_save(conn->param.swapper);
	wait = rpcrdma2_jobs_for_calls(responder);
	wait |= rpcrdma2_retry_steps(responder);
	if (wait)
		rpcrdma2_retry_again(responder);
	rpcrdma2_memalloc_restore(saved);
	rpcrdma2_ep_exit(&conn->ep);
}

/**
 * rpcrdma2_responder_create - give a connection its responder role
 * @conn: a connection that is not established yet
 * @peer: address of the peer
 * @ops: the layer above
 *
 * Context: process, sleeps.
 *
 * Return: the role, or NULL if there is no memory
 */
struct rpcrdma2_responder *
rpcrdma2_responder_create(struct rpcrdma2_conn *conn,
			  const struct sockaddr *peer,
			  const struct rpcrdma2_responder_ops *ops)
{
	struct rpcrdma2_responder *responder;

	responder = kzalloc(sizeof(*responder), GFP_KERNEL);
	if (!responder)
		return NULL;
	responder->conn = conn;
	responder->ops = ops;
	responder->look_at = jiffies;
	spin_lock_init(&responder->lock);
	INIT_LIST_HEAD(&responder->jobs);
	init_llist_head(&responder->free_jobs);
	rpcrdma2_rws_init(responder);
	rpcrdma2_retry_init(responder, responder_retry_work);
	if (rpcrdma2_admission_init(responder, peer)) {
		kfree(responder);
		return NULL;
	}
	conn->responder = responder;
	return responder;
}

/**
 * rpcrdma2_responder_drained - drop all Calls that wait
 * @responder: the responder of a connection that is drained; no other Call can come
 *
 * Context: process, sleeps; the teardown's.
 */
void rpcrdma2_responder_drained(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_job *job, *next;
	LIST_HEAD(lost);

	rpcrdma2_admission_end(responder, &lost);
	rpcrdma2_retry_end(responder, &lost);
	rpcrdma2_jobs_drop_calls(responder);
	list_for_each_entry_safe(job, next, &lost, list) {
		list_del_init(&job->list);
		rpcrdma2_job_put(job);
	}
}

/**
 * rpcrdma2_responder_destroy - end the role
 * @responder: the responder, or NULL; rpcrdma2_job_put() was called for every job
 *
 * Context: process; runs with the last reference to the connection.
 */
void rpcrdma2_responder_destroy(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_job *job, *next;

	if (!responder)
		return;
	list_for_each_entry_safe(job, next, &responder->jobs, all)
		kfree(job);
	rpcrdma2_rws_free(responder);
	rpcrdma2_lend_free(responder);
	rpcrdma2_admission_free(responder);
	kfree(responder);
}
