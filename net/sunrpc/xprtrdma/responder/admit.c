// SPDX-License-Identifier: GPL-2.0
/*
 * Which Calls may have their arguments read, and when.
 *
 * The Reads of a Call take pages, a MiB of them and more, before anybody knows who
 * sent it, and at a client its Reply does, too. So a Call with chunks waits here, and is
 * begun when it is admitted. At a server, those without Read chunks pass it by. What it
 * waits for:
 *
 * Reads
 *	Of one connection, no more Calls are under RDMA Read than the peer answers
 *	Reads at a time. More would gain nothing, but hold pages, and what is sent
 *	meanwhile would wait behind them.
 * Pages
 *	All connections together hold no more than the module parameter read_memory
 *	says, from when a Call is admitted until a server's thread has taken its pages
 *	over, or a client has replied.
 *	The connections whose first Call waits for pages stand in line; one Call is
 *	admitted at each turn.
 * Registrations, or mappings
 *	A device may have fewer of them than it answers Reads, and so may memory. The
 *	Call that finds none goes back to the head of the queue, and lowers the limit
 *	to what does fit; each Call that ends raises it again by one. Where no other Call
 *	of the connection has any, somebody else has them, and it tries again by the
 *	timer.
 *
 * Reads that take too long end the connection: a peer that trickles them would keep
 * the pages for ever. No thread waits for any of this.
 */
#include <linux/sizes.h>

#include "module.h"
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/* By then the client takes an RPC for lost. */
#define READ_TIMEOUT	(60 * HZ)

/* So long a Call may lack what others have, and so often it looks for it. */
#define LACK_TIMEOUT	(30 * HZ)
#define RETRY		(HZ / 20)

/* What is kept of a segment while it is read takes a part of a page, too. */
#define RWS_PER_PAGE	(PAGE_SIZE / SZ_1K)

static DEFINE_SPINLOCK(budget_lock);	/* budget, every in_line, pages_wanted */

/**
 * struct budget - the pages of all Calls that are admitted
 * @held: how many
 * @most: how many there were at a time
 * @waits: Calls that waited for theirs
 * @line: responders whose first Call does, by @in_line
 */
static struct budget {
	unsigned long		held;
	unsigned long		most;
	u64			waits;
	struct list_head	line;
} budget = {
	.line	= LIST_HEAD_INIT(budget.line),
};

static unsigned long budget_limit(void)
{
	return (unsigned long)READ_ONCE(rpcrdma2_read_memory) <<
	       (20 - PAGE_SHIFT);
}

/* The largest Call gets through even if it is beyond the limit by itself. */
static bool budget_has(unsigned int pages)
{
	lockdep_assert_held(&budget_lock);

	return !budget.held || budget.held + pages <= budget_limit();
}

static struct rpcrdma2_responder *first_in_line(void)
{
	lockdep_assert_held(&budget_lock);

	return list_first_entry_or_null(&budget.line, struct rpcrdma2_responder,
					admission.in_line);
}

/* Pages for the first Call of a connection, or a place in the line. */
static bool budget_take(struct rpcrdma2_responder *responder,
			struct rpcrdma2_job *job)
{
	struct rpcrdma2_admission *adm = &responder->admission;
	struct rpcrdma2_responder *first;
	bool ok;

	spin_lock(&budget_lock);
	first = first_in_line();
	job->admitted = rpcrdma2_job_read_pages(job) + job->nr_lent +
			job->recv->hdr.chunks.nsegs / RWS_PER_PAGE;
	ok = (!first || first == responder) && budget_has(job->admitted);
	if (ok) {
		list_del_init(&adm->in_line);
		budget.held += job->admitted;
		budget.most = max(budget.most, budget.held);
	} else {
		adm->pages_wanted = job->admitted;
		job->admitted = 0;
		if (list_empty(&adm->in_line)) {
			list_add_tail(&adm->in_line, &budget.line);
			budget.waits++;
		}
	}
	spin_unlock(&budget_lock);
	return ok;
}

static void leave_line(struct rpcrdma2_responder *responder)
{
	spin_lock(&budget_lock);
	list_del_init(&responder->admission.in_line);
	spin_unlock(&budget_lock);
}

/* Whoever stands in line is not drained, and so is there: see rpcrdma2_admission_end(). */
static struct rpcrdma2_responder *next_in_line(void)
{
	struct rpcrdma2_responder *responder;

	if (list_empty_careful(&budget.line))
		return NULL;
	spin_lock(&budget_lock);
	responder = first_in_line();
	if (responder && budget_has(responder->admission.pages_wanted))
		rpcrdma2_conn_get(responder->conn);
	else
		responder = NULL;
	spin_unlock(&budget_lock);
	return responder;
}

static unsigned int read_limit(const struct rpcrdma2_responder *responder)
{
	return min_t(unsigned int, responder->admission.read_limit,
		     responder->conn->peer_reads);
}

static bool may_read(const struct rpcrdma2_responder *responder)
{
	const struct rpcrdma2_admission *adm = &responder->admission;

	return !adm->lacks && adm->nr_reading < read_limit(responder) &&
	       rpcrdma2_may_fly(adm->nr_reading, adm->pages_reading);
}

/* The connection's upper layer is there: its @drained was not called. */
static bool admit_one(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_admission *adm = &responder->admission;
	struct rpcrdma2_job *job = NULL;

	spin_lock(&responder->lock);
	if (may_read(responder))
		job = list_first_entry_or_null(&adm->to_read,
					       struct rpcrdma2_job, list);
	if (!job) {
		leave_line(responder);
	} else if (!budget_take(responder, job)) {
		job = NULL;
	} else {
		adm->nr_reading++;
		adm->pages_reading += rpcrdma2_job_read_pages(job);
		list_del_init(&job->list);
	}
	spin_unlock(&responder->lock);
	if (job)
		adm->admitted(job);
	return job;
}

static void serve_line(void)
{
	struct rpcrdma2_responder *responder;
	struct rpcrdma2_conn *conn;

	while ((responder = next_in_line())) {
		conn = responder->conn;
		if (rpcrdma2_conn_enter(conn)) {
			admit_one(responder);
			rpcrdma2_conn_exit(conn);
		} else {
			leave_line(responder);
		}
		rpcrdma2_conn_put(conn);
	}
}

/* The line may have been waiting behind a connection that now left it. */
static void admit(struct rpcrdma2_responder *responder)
{
	while (admit_one(responder))
		;
	serve_line();
}

/**
 * rpcrdma2_admit - a Call came that takes pages
 * @job: the Call; rpcrdma2_job_plan() has said how much there is to read, and
 *	rpcrdma2_job_plan_reply() what is to be lent
 *
 * Process context or CQ, between enter and exit or before the connection is drained.
 */
void rpcrdma2_admit(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	spin_lock(&responder->lock);
	list_add_tail(&job->list, &responder->admission.to_read);
	spin_unlock(&responder->lock);
	admit(responder);
}

static void read_begin(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	job->since = jiffies;
	spin_lock(&responder->lock);
	list_add_tail(&job->list, &responder->admission.reading);
	spin_unlock(&responder->lock);
	queue_delayed_work(rpcrdma2_wq, &responder->admission.read_timer,
			   READ_TIMEOUT);
}

/**
 * rpcrdma2_read_end - a Call's Reads are done, or will not be posted
 * @job: the Call
 *
 * Any context but interrupts, between enter and exit, in the CQ, or in the teardown
 * before the connection is drained. Its pages still count.
 */
void rpcrdma2_read_end(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	struct rpcrdma2_admission *adm = &responder->admission;

	spin_lock(&responder->lock);
	list_del_init(&job->list);
	adm->nr_reading--;
	adm->pages_reading -= rpcrdma2_job_read_pages(job);
	if (adm->read_limit < responder->conn->peer_reads)
		adm->read_limit++;
	spin_unlock(&responder->lock);
	admit(responder);
}

/* The Call waits until others' Reads end, which have what it lacks; but not for ever. */
static bool read_later(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	struct rpcrdma2_admission *adm = &responder->admission;
	unsigned int others;
	bool later;

	rpcrdma2_admission_return(job);
	spin_lock(&responder->lock);
	others = adm->nr_reading - 1;
	if (others || !job->alone)
		adm->lacks_since = jiffies;
	later = time_before(jiffies, adm->lacks_since + LACK_TIMEOUT);
	if (later) {
		trace_rpcrdma2_wait(responder->conn, job->xid,
				    RPCRDMA2_WAIT_RDMA, adm->nr_reading,
				    read_limit(responder));
		job->alone = !others;
		adm->lacks = !others;
		if (adm->lacks)
			mod_delayed_work(rpcrdma2_wq, &adm->read_timer, RETRY);
		adm->nr_reading = others;
		adm->pages_reading -= rpcrdma2_job_read_pages(job);
		adm->read_limit = max(others, 1U);
		list_move(&job->list, &adm->to_read);
	}
	spin_unlock(&responder->lock);
	if (later)
		admit(responder);
	return later;
}

/* What is wrong with the Call, and would be so again, with any number of tries */
static bool is_the_peers(int rc)
{
	return rc == -EMSGSIZE || rc == -EINVAL || rc == -EAGAIN;
}

/**
 * rpcrdma2_reads_start - start to read a Call's arguments, or have that wait, or refuse
 * @job: the Call, admitted
 * @pages: as for rpcrdma2_job_read()
 * @max_pages: how many there are
 * @done: called in CQ context or the teardown when the Reads are over, and then
 *	rpcrdma2_read_end() is due; not if the Call was refused or dropped
 *
 * Between enter and exit; process context, sleeps for memory at most.
 *
 * Return: how many of @pages were taken
 */
unsigned int rpcrdma2_reads_start(struct rpcrdma2_job *job, struct page **pages,
				  unsigned int max_pages,
				  void (*done)(struct rpcrdma2_job *job))
{
	int rc;

	read_begin(job);
	rc = rpcrdma2_job_read(job, pages, max_pages, done);
	if (rc >= 0)
		return rc;
	/* Others' Reads have what it lacks, and end. */
	if (rpcrdma2_is_transient(rc) && read_later(job))
		return 0;
	rpcrdma2_read_end(job);
	if (is_the_peers(rc)) {
		rpcrdma2_job_refuse_reads(job, rc);
		return 0;
	}
	/* It comes again, on the next connection; an error would end it. */
	rpcrdma2_conn_close(job->responder->conn, rc);
	rpcrdma2_job_put(job);
	return 0;
}

/**
 * rpcrdma2_admission_return - a Call's pages are a thread's, or free
 * @job: the Call; nothing happens if it was not admitted
 *
 * Process context, no locks held.
 */
void rpcrdma2_admission_return(struct rpcrdma2_job *job)
{
	if (!job->admitted)
		return;
	spin_lock(&budget_lock);
	budget.held -= job->admitted;
	spin_unlock(&budget_lock);
	job->admitted = 0;
	serve_line();
}

static void read_timer(struct work_struct *work)
{
	struct rpcrdma2_responder *responder =
		container_of(to_delayed_work(work), struct rpcrdma2_responder,
			     admission.read_timer);
	struct rpcrdma2_admission *adm = &responder->admission;
	struct rpcrdma2_job *oldest;
	long left = 1;
	bool lacked;

	spin_lock(&responder->lock);
	lacked = adm->lacks;
	adm->lacks = false;
	oldest = list_first_entry_or_null(&adm->reading, struct rpcrdma2_job,
					  list);
	if (oldest) {
		left = oldest->since + READ_TIMEOUT - jiffies;
		/* Who has begun since this runs may have set it for later. */
		if (left > 0)
			mod_delayed_work(rpcrdma2_wq, &adm->read_timer, left);
	}
	spin_unlock(&responder->lock);
	if (left <= 0)
		rpcrdma2_conn_close(responder->conn, -ETIMEDOUT);
	if (lacked && rpcrdma2_conn_enter(responder->conn)) {
		admit(responder);
		rpcrdma2_conn_exit(responder->conn);
	}
}

/**
 * rpcrdma2_admission_init - no Call has come yet
 * @responder: a new one
 * @admitted: called with each Call that may be begun; CQ or process context, no locks
 *	held, the connection is not drained yet
 */
void rpcrdma2_admission_init(struct rpcrdma2_responder *responder,
			     void (*admitted)(struct rpcrdma2_job *job))
{
	struct rpcrdma2_admission *adm = &responder->admission;

	adm->admitted = admitted;
	INIT_LIST_HEAD(&adm->to_read);
	INIT_LIST_HEAD(&adm->reading);
	INIT_LIST_HEAD(&adm->in_line);
	adm->read_limit = UINT_MAX;
	INIT_DELAYED_WORK(&adm->read_timer, read_timer);
}

/**
 * rpcrdma2_admission_end - no Call will come any more
 * @responder: of a connection that is drained
 *
 * Process context, sleeps. What waits is dropped.
 */
void rpcrdma2_admission_end(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_job *job, *next;
	LIST_HEAD(lost);

	cancel_delayed_work_sync(&responder->admission.read_timer);
	spin_lock(&responder->lock);
	list_splice_tail_init(&responder->admission.to_read, &lost);
	leave_line(responder);
	spin_unlock(&responder->lock);
	list_for_each_entry_safe(job, next, &lost, list) {
		list_del_init(&job->list);
		rpcrdma2_job_put(job);
	}
	serve_line();
}

/**
 * rpcrdma2_show_admission - write what Calls under RDMA Read hold
 * @seq: where to
 */
void rpcrdma2_show_admission(struct seq_file *seq)
{
	struct budget now;

	spin_lock(&budget_lock);
	now = budget;
	spin_unlock(&budget_lock);
	rpcrdma2_show(seq, "read_pages", "%lu", now.held);
	rpcrdma2_show(seq, "read_pages_most", "%lu", now.most);
	rpcrdma2_show(seq, "read_pages_limit", "%lu", budget_limit());
	rpcrdma2_show_count(seq, "read_page_waits", now.waits);
}
