// SPDX-License-Identifier: GPL-2.0
/*
 * Which Calls may have their arguments read, and when.
 *
 * The Reads of a Call take pages, a MiB of them and more, before anybody knows who
 * sent it. So a Call with Read chunks waits here, and is queued for a thread when it
 * is admitted. Calls without pass it by. What it waits for:
 *
 * Reads
 *	Of one connection, no more Calls are under RDMA Read than the peer answers
 *	Reads at a time. More would gain nothing, but hold pages, and what is sent
 *	meanwhile would wait behind them.
 * Pages
 *	All connections together hold no more than the module parameter read_memory
 *	says, from when a Call is admitted until a thread has taken its pages over.
 *	The connections whose first Call waits for pages stand in line; one Call is
 *	admitted at each turn.
 * Registrations, or mappings
 *	A device may have fewer of them than it answers Reads, and so may memory. The
 *	Call that finds none goes back to the head of the queue, and lowers the limit
 *	to what does fit; each Call that ends raises it again by one.
 *
 * Reads that take too long end the connection: a peer that trickles them would keep
 * the pages for ever. No thread waits for any of this.
 */
#include "module.h"
#include "svc.h"

#include <trace/events/rpcrdma2.h>

/* By then the client takes an RPC for lost. */
#define READ_TIMEOUT	(60 * HZ)

static DEFINE_SPINLOCK(budget_lock);	/* budget, every in_line, pages_wanted */

/**
 * struct budget - the pages of all Calls that are admitted
 * @held: how many
 * @most: how many there were at a time
 * @waits: Calls that waited for theirs
 * @line: svc_xprts whose first Call does, by @in_line
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

static struct rpcrdma2_svc_xprt *first_in_line(void)
{
	lockdep_assert_held(&budget_lock);

	return list_first_entry_or_null(&budget.line, struct rpcrdma2_svc_xprt,
					in_line);
}

/* Pages for the first Call of a connection, or a place in the line. */
static bool budget_take(struct rpcrdma2_svc_xprt *sx, struct rpcrdma2_job *job)
{
	struct rpcrdma2_svc_xprt *first;
	bool ok;

	spin_lock(&budget_lock);
	first = first_in_line();
	job->admitted = rpcrdma2_job_read_pages(job);
	ok = (!first || first == sx) && budget_has(job->admitted);
	if (ok) {
		list_del_init(&sx->in_line);
		budget.held += job->admitted;
		budget.most = max(budget.most, budget.held);
	} else {
		sx->pages_wanted = job->admitted;
		job->admitted = 0;
		if (list_empty(&sx->in_line)) {
			list_add_tail(&sx->in_line, &budget.line);
			budget.waits++;
		}
	}
	spin_unlock(&budget_lock);
	return ok;
}

static void leave_line(struct rpcrdma2_svc_xprt *sx)
{
	spin_lock(&budget_lock);
	list_del_init(&sx->in_line);
	spin_unlock(&budget_lock);
}

/* Whoever stands in line has a reference: see rpcrdma2_admission_end(). */
static struct rpcrdma2_svc_xprt *next_in_line(void)
{
	struct rpcrdma2_svc_xprt *sx;

	if (list_empty_careful(&budget.line))
		return NULL;
	spin_lock(&budget_lock);
	sx = first_in_line();
	if (sx && budget_has(sx->pages_wanted))
		svc_xprt_get(&sx->xprt);
	else
		sx = NULL;
	spin_unlock(&budget_lock);
	return sx;
}

/* One Call may be larger than that. */
static bool may_read(const struct rpcrdma2_svc_xprt *sx)
{
	return sx->nr_reading < sx->read_limit &&
	       sx->pages_reading < RPCRDMA2_FLIGHT_PAGES;
}

static bool admit_one(struct rpcrdma2_svc_xprt *sx)
{
	struct rpcrdma2_job *job = NULL;

	spin_lock(&sx->lock);
	if (may_read(sx))
		job = list_first_entry_or_null(&sx->to_read,
					       struct rpcrdma2_job, list);
	if (!job) {
		leave_line(sx);
	} else if (!budget_take(sx, job)) {
		job = NULL;
	} else {
		sx->nr_reading++;
		sx->pages_reading += job->admitted;
		list_move_tail(&job->list, &sx->calls);
		set_bit(XPT_DATA, &sx->xprt.xpt_flags);
	}
	spin_unlock(&sx->lock);
	if (job)
		svc_xprt_enqueue(&sx->xprt);
	return job;
}

static void serve_line(void)
{
	struct rpcrdma2_svc_xprt *sx;

	while ((sx = next_in_line())) {
		admit_one(sx);
		svc_xprt_put(&sx->xprt);
	}
}

/* The line may have been waiting behind a connection that now left it. */
static void admit(struct rpcrdma2_svc_xprt *sx)
{
	while (admit_one(sx))
		;
	serve_line();
}

/**
 * rpcrdma2_admit - a Call with Read chunks came
 * @sx: its svc_xprt
 * @job: the Call; rpcrdma2_job_plan() has said how much there is to read
 *
 * CQ context.
 */
void rpcrdma2_admit(struct rpcrdma2_svc_xprt *sx, struct rpcrdma2_job *job)
{
	spin_lock(&sx->lock);
	list_add_tail(&job->list, &sx->to_read);
	spin_unlock(&sx->lock);
	admit(sx);
}

/**
 * rpcrdma2_read_begin - a thread is about to post a Call's Reads
 * @sx: its svc_xprt
 * @job: the Call, admitted
 */
void rpcrdma2_read_begin(struct rpcrdma2_svc_xprt *sx, struct rpcrdma2_job *job)
{
	job->since = jiffies;
	spin_lock(&sx->lock);
	list_add_tail(&job->list, &sx->reading);
	spin_unlock(&sx->lock);
	queue_delayed_work(rpcrdma2_wq, &sx->read_timer, READ_TIMEOUT);
}

/**
 * rpcrdma2_read_end - a Call's Reads are done, or will not be posted
 * @sx: its svc_xprt
 * @job: the Call
 *
 * Any context but interrupts. Its pages still count.
 */
void rpcrdma2_read_end(struct rpcrdma2_svc_xprt *sx, struct rpcrdma2_job *job)
{
	spin_lock(&sx->lock);
	list_del_init(&job->list);
	sx->nr_reading--;
	sx->pages_reading -= rpcrdma2_job_read_pages(job);
	if (sx->read_limit < sx->conn->peer_reads)
		sx->read_limit++;
	spin_unlock(&sx->lock);
	admit(sx);
}

/**
 * rpcrdma2_read_later - a Call's Reads could not be posted for now
 * @sx: its svc_xprt
 * @job: the Call
 *
 * Process context. The Call waits until others' Reads end, which have what it
 * lacks. Once it had all there is to itself, there is nothing to wait for.
 *
 * Return: false if that is so; the caller still has the job
 */
bool rpcrdma2_read_later(struct rpcrdma2_svc_xprt *sx, struct rpcrdma2_job *job)
{
	unsigned int others;
	bool later;

	rpcrdma2_admission_return(job);
	spin_lock(&sx->lock);
	others = sx->nr_reading - 1;
	later = others || !job->alone;
	if (later) {
		trace_rpcrdma2_wait(sx->conn, job->xid, RPCRDMA2_WAIT_RDMA,
				    sx->nr_reading, sx->read_limit);
		job->alone = !others;
		sx->nr_reading = others;
		sx->pages_reading -= rpcrdma2_job_read_pages(job);
		sx->read_limit = max(others, 1U);
		list_move(&job->list, &sx->to_read);
	}
	spin_unlock(&sx->lock);
	if (later)
		admit(sx);
	return later;
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

static void read_timeout(struct work_struct *work)
{
	struct rpcrdma2_svc_xprt *sx =
		container_of(to_delayed_work(work), struct rpcrdma2_svc_xprt,
			     read_timer);
	struct rpcrdma2_job *oldest;
	long left = 1;

	spin_lock(&sx->lock);
	oldest = list_first_entry_or_null(&sx->reading, struct rpcrdma2_job,
					  list);
	if (oldest) {
		left = oldest->since + READ_TIMEOUT - jiffies;
		if (left > 0)
			queue_delayed_work(rpcrdma2_wq, &sx->read_timer, left);
	}
	spin_unlock(&sx->lock);
	if (left <= 0)
		rpcrdma2_conn_close(sx->conn, -ETIMEDOUT);
}

/**
 * rpcrdma2_admission_init - no Call has come yet
 * @sx: a new svc_xprt
 */
void rpcrdma2_admission_init(struct rpcrdma2_svc_xprt *sx)
{
	INIT_LIST_HEAD(&sx->to_read);
	INIT_LIST_HEAD(&sx->reading);
	INIT_LIST_HEAD(&sx->in_line);
	INIT_DELAYED_WORK(&sx->read_timer, read_timeout);
}

/**
 * rpcrdma2_admission_end - no Call will come any more
 * @sx: its svc_xprt; the connection is drained, which has a reference
 *
 * Process context, sleeps. What waits is queued, for the caller to drop.
 */
void rpcrdma2_admission_end(struct rpcrdma2_svc_xprt *sx)
{
	cancel_delayed_work_sync(&sx->read_timer);
	spin_lock(&sx->lock);
	list_splice_tail_init(&sx->to_read, &sx->calls);
	leave_line(sx);
	spin_unlock(&sx->lock);
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
