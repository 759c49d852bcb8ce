// SPDX-License-Identifier: GPL-2.0
/*
 * A connection's responder role: its beginning, its end, and what it shows.
 *
 * job.c has the life of a Call. The role belongs to the connection: it is created before the
 * connection is established, and destroyed with the connection's memory.
 */
#include "responder.h"

/**
 * rpcrdma2_responder_stats_add - add up what a responder did
 * @sum: what others did
 * @responder: whose counters are added; the memory of its connection can't go
 *
 * Process context, no locks held but that of a server's totals.
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
	/* In this order: no job is done before it came. */
	smp_rmb();
	rpcrdma2_counters_add(&sum->calls, &responder->stats.calls,
			      sizeof(sum->calls));
}

/**
 * rpcrdma2_show_responder_stats - write what a responder did, or some together
 * @seq: where to
 * @stats: their counters
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

/* How many Calls are where, of those that have a job */
static void responder_show_stages(struct seq_file *seq,
				  struct rpcrdma2_responder *responder)
{
	unsigned int count[RPCRDMA2_JOB_NR_STAGES] = { };
	struct rpcrdma2_job *job;

	spin_lock(&responder->lock);
	list_for_each_entry(job, &responder->jobs, all)
		count[READ_ONCE(job->stage)]++;
	spin_unlock(&responder->lock);
	rpcrdma2_show(seq, "calls_queued", "%u", count[RPCRDMA2_JOB_QUEUED]);
	rpcrdma2_show(seq, "calls_reading", "%u", count[RPCRDMA2_JOB_READING]);
	rpcrdma2_show(seq, "calls_for_threads", "%u",
		      count[RPCRDMA2_JOB_CAME] + count[RPCRDMA2_JOB_ADMITTED] +
		      count[RPCRDMA2_JOB_READ]);
	rpcrdma2_show(seq, "calls_running", "%u", count[RPCRDMA2_JOB_RUNNING]);
	rpcrdma2_show(seq, "replies_waiting", "%u", count[RPCRDMA2_JOB_WAITING]);
	rpcrdma2_show(seq, "replies_writing", "%u", count[RPCRDMA2_JOB_REPLIED]);
}

/**
 * rpcrdma2_show_responder - write what there is to say of a responder
 * @seq: where to
 * @responder: of a connection that the caller has entered
 */
void rpcrdma2_show_responder(struct seq_file *seq,
			     struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_responder_stats stats = { };

	rpcrdma2_responder_stats_add(&stats, responder);
	rpcrdma2_show(seq, "responder_credits", "%u",
		      READ_ONCE(responder->conn->grant_out));
	rpcrdma2_show_count(seq, "responder_outstanding",
			    stats.calls.messages - stats.jobs.done);
	responder_show_stages(seq, responder);
	rpcrdma2_show_responder_stats(seq, &stats);
}

/**
 * rpcrdma2_responder_create - give a connection its responder role
 * @conn: a connection that is not established yet
 * @peer: address of the peer
 * @ops: the layer above
 *
 * Context: process, sleeps.
 *
 * Return: the role, or NULL
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
	rpcrdma2_retry_init(responder);
	if (rpcrdma2_admission_init(responder, peer)) {
		kfree(responder);
		return NULL;
	}
	conn->responder = responder;
	return responder;
}

/**
 * rpcrdma2_responder_drained - no Call will come any more: drop those that wait
 * @responder: of a connection that is drained
 *
 * Context: process, sleeps.
 */
void rpcrdma2_responder_drained(struct rpcrdma2_responder *responder)
{
	rpcrdma2_admission_end(responder);
	rpcrdma2_retry_end(responder);
}

/**
 * rpcrdma2_responder_destroy - end of the role
 * @responder: its role; every job was put; may be NULL
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
