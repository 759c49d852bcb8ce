// SPDX-License-Identifier: GPL-2.0
/*
 * How much of the machine's memory peers may use by their chunks, and for how long.
 *
 * A Call without chunks takes a Receive and a Send, and nothing else. A Call with
 * chunks takes pages: for the arguments that are read by RDMA, and for a Reply that
 * goes by RDMA Write, or has to wait. A stranger can ask for a MiB and more of either.
 * So such a Call is admitted first, for the largest number of pages that it may take. It
 * holds its part of one budget until its job ends. This file decides which Call is
 * admitted, and when. No thread waits for that.
 *
 * The budget
 *	All connections together hold no more than the module parameter read_memory
 *	says. Each address leaves as many pages to others as it holds itself: one alone
 *	gets half of the budget, two get a third each. So there is room for an address
 *	that comes later, as long as there are fewer of them than the budget has MiBs.
 *	Addresses that wait stand in line. An address passes those in front of it that
 *	hold their share, but none that holds nothing.
 * Reads of a connection
 *	A server reads the arguments of a Call before a thread takes it. Of one
 *	connection no more Calls are under RDMA Read than the peer answers Reads at a
 *	time, and no more than rpcrdma2_may_fly() says. More would gain nothing. While a
 *	Reply of the connection waits, nothing is read.
 *	A Call without Read chunks is admitted when a thread takes it.
 * Registrations, or mappings
 *	A device may have fewer of them than it answers Reads, and so may memory. The
 *	Call that finds none goes back to the head of the queue, and lowers the limit
 *	to what does fit; each Call that ends raises it again by one. Where no other Call
 *	of the connection has any, other connections have them, and retry.c tries again.
 * Time
 *	A peer that takes too long for its Reads, Writes or Replies loses its connection.
 *	It has much less time while an address waits that holds nothing.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <net/ipv6.h>

#include "param.h"
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/* By then the client takes an RPC for lost. */
#define TRANSFER_TIMEOUT	(60 * HZ)
#define REPLY_TIMEOUT		(30 * HZ)
/* While an address that holds nothing waits */
#define CROWDED_TIMEOUT		(5 * HZ)
/* The timer looks this often, while a transfer is under way or a Reply waits. */
#define LOOK			(2 * HZ)

/* So long a Call may lack what other connections have. */
#define LACK_TIMEOUT	(30 * HZ)

/* What is kept of a segment while it is read or written takes a part of a page, too. */
#define RWS_PER_PAGE	(PAGE_SIZE / SZ_1K)

/* budget, shares and what is in them, every in_line and pages_wanted */
static DEFINE_SPINLOCK(budget_lock);

/**
 * struct budget - the pages of all Calls that are admitted
 * @held: how many
 * @most: how many there were at a time
 * @waits: Calls that waited for theirs
 * @line: shares of addresses whose Calls wait, by @in_line
 */
static struct budget {
	unsigned long		held;
	unsigned long		most;
	u64			waits;
	struct list_head	line;
} budget = {
	.line	= LIST_HEAD_INIT(budget.line),
};

/**
 * struct rpcrdma2_share - what the connections of one address have of the budget
 * @node: in @shares
 * @address: whose; an address of IPv4 is mapped
 * @users: responders that refer to it
 * @held: pages of its Calls that are admitted
 * @waiting: its responders whose first Call waits for pages, by their @in_line
 * @in_line: in the budget's line, if there are any
 */
struct rpcrdma2_share {
	struct hlist_node	node;
	struct in6_addr		address;
	unsigned int		users;
	unsigned long		held;
	struct list_head	waiting;
	struct list_head	in_line;
};

static DEFINE_HASHTABLE(shares, 8);

static void share_set_address(struct in6_addr *address,
			      const struct sockaddr *sa)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)sa;

	if (sa->sa_family == AF_INET6)
		*address = sin6->sin6_addr;
	else
		ipv6_addr_set_v4mapped(sin->sin_addr.s_addr, address);
}

static struct rpcrdma2_share *share_find(const struct in6_addr *address,
					 u32 hash)
{
	struct rpcrdma2_share *share;

	lockdep_assert_held(&budget_lock);

	hash_for_each_possible(shares, share, node, hash)
		if (ipv6_addr_equal(&share->address, address))
			return share;
	return NULL;
}

/* The share of an address, which is referenced; or NULL: no memory */
static struct rpcrdma2_share *share_get(const struct sockaddr *sa)
{
	struct rpcrdma2_share *share, *new;
	u32 hash;

	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return NULL;
	share_set_address(&new->address, sa);
	INIT_LIST_HEAD(&new->waiting);
	INIT_LIST_HEAD(&new->in_line);
	hash = jhash(&new->address, sizeof(new->address), 0);

	spin_lock(&budget_lock);
	share = share_find(&new->address, hash);
	if (!share) {
		share = new;
		new = NULL;
		hash_add(shares, &share->node, hash);
	}
	share->users++;
	spin_unlock(&budget_lock);
	kfree(new);
	return share;
}

static void share_put(struct rpcrdma2_share *share)
{
	bool last;

	spin_lock(&budget_lock);
	last = !--share->users;
	if (last)
		hash_del(&share->node);
	spin_unlock(&budget_lock);
	if (last)
		kfree(share);
}

static unsigned long budget_limit(void)
{
	return (unsigned long)READ_ONCE(rpcrdma2_read_memory) <<
	       (20 - PAGE_SHIFT);
}

/*
 * A share leaves to others as much as it has. A Call that is beyond the limit by itself
 * gets through when there is no other.
 */
static bool budget_may_hold(const struct rpcrdma2_share *share,
			    unsigned int pages)
{
	lockdep_assert_held(&budget_lock);

	return !budget.held ||
	       budget.held + share->held + pages <= budget_limit();
}

static void budget_hold(struct rpcrdma2_share *share, struct rpcrdma2_job *job,
			unsigned int pages)
{
	lockdep_assert_held(&budget_lock);

	job->pages_held = pages;
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_ADMITTED);
	share->held += pages;
	budget.held += pages;
	budget.most = max(budget.most, budget.held);
}

static void admit_enter_line(struct rpcrdma2_admission *adm, unsigned int pages)
{
	struct rpcrdma2_share *share = adm->share;

	lockdep_assert_held(&budget_lock);

	adm->pages_wanted = pages;
	if (!list_empty(&adm->in_line))
		return;
	budget.waits++;
	list_add_tail(&adm->in_line, &share->waiting);
	if (list_empty(&share->in_line))
		list_add_tail(&share->in_line, &budget.line);
}

/* The other connections of its address go to the end of the line. */
static void admit_leave_line_locked(struct rpcrdma2_admission *adm)
{
	struct rpcrdma2_share *share = adm->share;

	lockdep_assert_held(&budget_lock);

	if (list_empty(&adm->in_line))
		return;
	list_del_init(&adm->in_line);
	if (list_empty(&share->waiting))
		list_del_init(&share->in_line);
	else
		list_move_tail(&share->in_line, &budget.line);
}

static void admit_leave_line(struct rpcrdma2_responder *responder)
{
	/* The caller is the only one that could make it enter. */
	if (list_empty_careful(&responder->admission.in_line))
		return;
	spin_lock(&budget_lock);
	admit_leave_line_locked(&responder->admission);
	spin_unlock(&budget_lock);
}

/* Return: the first of the line that may have its pages now, or NULL */
static struct rpcrdma2_responder *admit_first_served(void)
{
	struct rpcrdma2_responder *responder;
	struct rpcrdma2_share *share;

	lockdep_assert_held(&budget_lock);

	list_for_each_entry(share, &budget.line, in_line) {
		responder = list_first_entry(&share->waiting,
					     struct rpcrdma2_responder,
					     admission.in_line);
		if (budget_may_hold(share, responder->admission.pages_wanted))
			return responder;
		if (!share->held)
			break;
	}
	return NULL;
}

/* Does an address that holds nothing wait? */
static bool admit_one_starves(void)
{
	struct rpcrdma2_share *share;

	lockdep_assert_held(&budget_lock);

	list_for_each_entry(share, &budget.line, in_line)
		if (!share->held)
			return true;
	return false;
}

static bool admit_is_crowded(void)
{
	bool crowded;

	spin_lock(&budget_lock);
	crowded = admit_one_starves();
	spin_unlock(&budget_lock);
	return crowded;
}

/* Those that the Call and its Reply may take */
static unsigned int admit_pages_of_job(const struct rpcrdma2_job *job)
{
	return rpcrdma2_job_read_pages(job) + job->nr_lent +
	       job->recv->hdr.chunks.nsegs / RWS_PER_PAGE;
}

/* Pages for a Call without a place in the line; or none, if its address has one */
static bool budget_take_at_once(struct rpcrdma2_job *job)
{
	struct rpcrdma2_share *share = job->responder->admission.share;
	unsigned int pages = admit_pages_of_job(job);
	bool ok;

	spin_lock(&budget_lock);
	ok = list_empty(&share->in_line) && budget_may_hold(share, pages) &&
	     !admit_one_starves();
	if (ok)
		budget_hold(share, job, pages);
	spin_unlock(&budget_lock);
	return ok;
}

/* Pages for the first Call of a connection, or a place in the line. */
static bool budget_take(struct rpcrdma2_responder *responder,
			struct rpcrdma2_job *job)
{
	struct rpcrdma2_admission *adm = &responder->admission;
	unsigned int pages = admit_pages_of_job(job);
	bool ok;

	lockdep_assert_held(&responder->lock);

	if (list_empty_careful(&adm->in_line) && budget_take_at_once(job))
		return true;
	spin_lock(&budget_lock);
	admit_enter_line(adm, pages);
	ok = admit_first_served() == responder;
	if (ok) {
		budget_hold(adm->share, job, pages);
		admit_leave_line_locked(adm);
	}
	spin_unlock(&budget_lock);
	return ok;
}

/* Whoever stands in line is not drained, and so is there: see rpcrdma2_admission_end(). */
static struct rpcrdma2_responder *admit_next_in_line(void)
{
	struct rpcrdma2_responder *responder;

	if (list_empty_careful(&budget.line))
		return NULL;
	spin_lock(&budget_lock);
	responder = admit_first_served();
	if (responder)
		rpcrdma2_conn_get(responder->conn);
	spin_unlock(&budget_lock);
	return responder;
}

static unsigned int admit_read_limit(const struct rpcrdma2_responder *responder)
{
	return min_t(unsigned int, responder->admission.read_limit,
		     responder->conn->max_reads_out);
}

static bool admit_may_read(const struct rpcrdma2_responder *responder)
{
	const struct rpcrdma2_admission *adm = &responder->admission;

	return !responder->nr_waiting &&
	       adm->nr_reading < admit_read_limit(responder) &&
	       rpcrdma2_may_fly(adm->nr_reading, adm->pages_reading);
}

/* Return: the Call that has waited longest and only lacks pages, or NULL */
static struct rpcrdma2_job *admit_next_job(struct rpcrdma2_responder *responder,
					   bool *reads)
{
	struct rpcrdma2_admission *adm = &responder->admission;
	struct rpcrdma2_job *read = NULL, *other;

	if (admit_may_read(responder))
		read = list_first_entry_or_null(&adm->to_read,
						struct rpcrdma2_job, list);
	other = list_first_entry_or_null(&adm->to_run, struct rpcrdma2_job,
					 list);
	*reads = read && (!other || time_before(read->since, other->since));
	return *reads ? read : other;
}

/* The connection's upper layer is there: its @drained was not called. */
static bool admit_one(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_admission *adm = &responder->admission;
	struct rpcrdma2_job *job;
	bool reads;

	spin_lock(&responder->lock);
	job = admit_next_job(responder, &reads);
	if (!job) {
		admit_leave_line(responder);
	} else if (!budget_take(responder, job)) {
		job = NULL;
	} else {
		adm->nr_reading += reads;
		if (reads)
			adm->pages_reading += rpcrdma2_job_read_pages(job);
		list_del_init(&job->list);
	}
	spin_unlock(&responder->lock);
	if (job)
		responder->ops->admitted(job);
	return job;
}

static void admit_serve_line(void)
{
	struct rpcrdma2_responder *responder;
	struct rpcrdma2_conn *conn;

	while ((responder = admit_next_in_line())) {
		conn = responder->conn;
		if (rpcrdma2_conn_enter(conn)) {
			admit_one(responder);
			rpcrdma2_conn_exit(conn);
		} else {
			admit_leave_line(responder);
		}
		rpcrdma2_conn_put(conn);
	}
}

/* The line may have been waiting behind a connection that now left it. */
static void admit_all(struct rpcrdma2_responder *responder)
{
	while (admit_one(responder))
		;
	admit_serve_line();
}

static void admit_later(struct rpcrdma2_job *job, struct list_head *queue)
{
	struct rpcrdma2_responder *responder = job->responder;

	job->since = jiffies;
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_QUEUED);
	spin_lock(&responder->lock);
	list_add_tail(&job->list, queue);
	spin_unlock(&responder->lock);
	admit_all(responder);
}

/**
 * rpcrdma2_admit - a Call came whose arguments are to be read
 * @job: the Call; rpcrdma2_job_plan_reply() was called, and rpcrdma2_job_plan() if it has
 *	Read chunks
 *
 * Process context or CQ, between enter and exit or before the connection is drained.
 * @admitted is called, now or later, and then rpcrdma2_reads_start() is due.
 */
void rpcrdma2_admit(struct rpcrdma2_job *job)
{
	admit_later(job, &job->responder->admission.to_read);
}

/**
 * rpcrdma2_admit_at_once - a thread is about to run a Call with chunks, but no Reads
 * @job: the Call; rpcrdma2_job_plan_reply() was called
 *
 * Between enter and exit; process context.
 *
 * Return: whether it is admitted; if not, the job is no longer the caller's, and
 * @admitted is called later
 */
bool rpcrdma2_admit_at_once(struct rpcrdma2_job *job)
{
	if (budget_take_at_once(job))
		return true;
	admit_later(job, &job->responder->admission.to_run);
	return false;
}

/* The timer looks until nothing is left to look after. */
static void admit_start_timer(struct rpcrdma2_responder *responder)
{
	lockdep_assert_held(&responder->lock);

	queue_delayed_work(rpcrdma2_wq, &responder->admission.timer, LOOK);
}

static void admit_flight_begin(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	struct rpcrdma2_admission *adm = &responder->admission;

	lockdep_assert_held(&responder->lock);

	job->since = jiffies;
	if (list_empty(&adm->flying))
		admit_start_timer(responder);
	list_add_tail(&job->list, &adm->flying);
}

static void admit_read_begin(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	rpcrdma2_job_advance(job, RPCRDMA2_JOB_READING);
	spin_lock(&responder->lock);
	admit_flight_begin(job);
	spin_unlock(&responder->lock);
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
	if (adm->read_limit < responder->conn->max_reads_out)
		adm->read_limit++;
	spin_unlock(&responder->lock);
	admit_all(responder);
}

/**
 * rpcrdma2_write_begin - a Reply is about to be posted
 * @job: the Call
 *
 * Any context but interrupts. Nothing happens if the Reply has no RDMA Writes.
 */
void rpcrdma2_write_begin(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	if (list_empty(&job->rws))
		return;
	job->writing = max(job->nr_pages, 1U);
	spin_lock(&responder->lock);
	WRITE_ONCE(responder->nr_writing, responder->nr_writing + 1);
	WRITE_ONCE(responder->writing, responder->writing + job->writing);
	admit_flight_begin(job);
	spin_unlock(&responder->lock);
}

/**
 * rpcrdma2_write_end - a Reply's RDMA Writes are done, or were not posted
 * @job: the Call
 *
 * Any context but interrupts. Nothing happens if there were none.
 *
 * Return: whether there is room for others now, and was not before
 */
bool rpcrdma2_write_end(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	bool room;

	if (!job->writing)
		return false;
	spin_lock(&responder->lock);
	list_del_init(&job->list);
	room = !rpcrdma2_responder_has_room(responder);
	WRITE_ONCE(responder->nr_writing, responder->nr_writing - 1);
	WRITE_ONCE(responder->writing, responder->writing - job->writing);
	room = room && rpcrdma2_responder_has_room(responder);
	spin_unlock(&responder->lock);
	job->writing = 0;
	return room;
}

/**
 * rpcrdma2_wait_begin - a Reply waits for a Send buffer, memory or mappings
 * @job: the Call; nothing happens if its Reply waits already
 *
 * Between enter and exit; process context. Until it is posted, the connection is closed,
 * or rpcrdma2_job_put() was called, nothing else of the connection is admitted.
 */
void rpcrdma2_wait_begin(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	if (job->stage == RPCRDMA2_JOB_WAITING)
		return;
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_WAITING);
	spin_lock(&responder->lock);
	if (!responder->nr_waiting) {
		responder->admission.waits_since = jiffies;
		admit_start_timer(responder);
	}
	WRITE_ONCE(responder->nr_waiting, responder->nr_waiting + 1);
	spin_unlock(&responder->lock);
}

/**
 * rpcrdma2_wait_end - a Reply that waited is posted, or dropped
 * @job: the Call; rpcrdma2_wait_begin() was called
 *
 * Any context but interrupts.
 */
void rpcrdma2_wait_end(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	bool last;

	spin_lock(&responder->lock);
	WRITE_ONCE(responder->nr_waiting, responder->nr_waiting - 1);
	last = !responder->nr_waiting;
	spin_unlock(&responder->lock);
	if (!last)
		return;
	admit_all(responder);
	/* Threads take Calls again. */
	if (responder->conn->param.ops->room)
		responder->conn->param.ops->room(responder->conn);
}

/* The Call is the first of those that wait. */
static int admit_again(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	struct rpcrdma2_admission *adm = &responder->admission;

	spin_lock(&responder->lock);
	adm->nr_reading--;
	adm->pages_reading -= rpcrdma2_job_read_pages(job);
	list_add(&job->list, &adm->to_read);
	spin_unlock(&responder->lock);
	admit_all(responder);
	return 0;
}

/*
 * The Call waits until the Reads end that have what it lacks; but not for ever. If those are
 * of other connections, it counts as one that reads until it is tried again, so that nothing
 * passes it.
 */
static bool admit_read_later(struct rpcrdma2_job *job)
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
				    admit_read_limit(responder));
		job->alone = !others;
		rpcrdma2_job_advance(job, RPCRDMA2_JOB_QUEUED);
		adm->read_limit = max(others, 1U);
		list_del_init(&job->list);
	}
	spin_unlock(&responder->lock);
	if (later && others)
		admit_again(job);
	else if (later)
		rpcrdma2_retry_delayed(job, admit_again);
	return later;
}

/* What is wrong with the Call, and would be so again, with any number of tries */
static bool admit_is_peers_fault(int rc)
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

	admit_read_begin(job);
	rc = rpcrdma2_job_read(job, pages, max_pages, done);
	if (rc >= 0)
		return rc;
	/* Others' Reads have what it lacks, and end. */
	if (rpcrdma2_is_transient(rc) && admit_read_later(job))
		return 0;
	rpcrdma2_read_end(job);
	if (admit_is_peers_fault(rc)) {
		rpcrdma2_job_refuse_reads(job, rc);
		return 0;
	}
	/* It comes again, on the next connection; an error would end it. */
	rpcrdma2_conn_close(job->responder->conn, rc);
	rpcrdma2_job_put(job);
	return 0;
}

/**
 * rpcrdma2_admission_return - a Call holds no pages any more
 * @job: the Call; nothing happens if it was not admitted
 *
 * Any context but interrupts, no locks held.
 */
void rpcrdma2_admission_return(struct rpcrdma2_job *job)
{
	if (!job->pages_held)
		return;
	spin_lock(&budget_lock);
	job->responder->admission.share->held -= job->pages_held;
	budget.held -= job->pages_held;
	spin_unlock(&budget_lock);
	job->pages_held = 0;
	admit_serve_line();
}

static bool admit_has_passed(unsigned long since, unsigned long time,
			     bool crowded)
{
	if (crowded)
		time = CROWDED_TIMEOUT;
	return time_after_eq(jiffies, since + time);
}

/* Does the peer take too long for something? */
static bool admit_is_late(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_admission *adm = &responder->admission;
	struct rpcrdma2_job *oldest;
	bool crowded = admit_is_crowded();

	lockdep_assert_held(&responder->lock);

	oldest = list_first_entry_or_null(&adm->flying, struct rpcrdma2_job,
					  list);
	if (oldest &&
	    admit_has_passed(oldest->since, TRANSFER_TIMEOUT, crowded))
		return true;
	return responder->nr_waiting &&
	       admit_has_passed(adm->waits_since, REPLY_TIMEOUT, crowded);
}

static void admit_timer_work(struct work_struct *work)
{
	struct rpcrdma2_responder *responder =
		container_of(to_delayed_work(work), struct rpcrdma2_responder,
			     admission.timer);
	struct rpcrdma2_admission *adm = &responder->admission;
	bool late;

	spin_lock(&responder->lock);
	late = admit_is_late(responder);
	if (!late && (!list_empty(&adm->flying) || responder->nr_waiting))
		admit_start_timer(responder);
	spin_unlock(&responder->lock);
	if (late)
		rpcrdma2_conn_close(responder->conn, -ETIMEDOUT);
}

/**
 * rpcrdma2_admission_init - no Call has come yet
 * @responder: a new one
 * @peer: address of the peer
 *
 * Process context, sleeps. rpcrdma2_admission_free() is due in the end.
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_admission_init(struct rpcrdma2_responder *responder,
			    const struct sockaddr *peer)
{
	struct rpcrdma2_admission *adm = &responder->admission;

	adm->share = share_get(peer);
	if (!adm->share)
		return -ENOMEM;
	INIT_LIST_HEAD(&adm->to_read);
	INIT_LIST_HEAD(&adm->to_run);
	INIT_LIST_HEAD(&adm->flying);
	INIT_LIST_HEAD(&adm->in_line);
	adm->read_limit = UINT_MAX;
	INIT_DELAYED_WORK(&adm->timer, admit_timer_work);
	return 0;
}

/**
 * rpcrdma2_admission_free - undo rpcrdma2_admission_init()
 * @responder: the role, at its end: every job was put
 */
void rpcrdma2_admission_free(struct rpcrdma2_responder *responder)
{
	share_put(responder->admission.share);
}

/**
 * rpcrdma2_admission_end - no Call will come any more
 * @responder: of a connection that is drained
 *
 * Process context, sleeps. What waits is dropped.
 */
void rpcrdma2_admission_end(struct rpcrdma2_responder *responder)
{
	struct rpcrdma2_admission *adm = &responder->admission;
	struct rpcrdma2_job *job, *next;
	LIST_HEAD(lost);

	cancel_delayed_work_sync(&adm->timer);
	spin_lock(&responder->lock);
	list_splice_tail_init(&adm->to_read, &lost);
	list_splice_tail_init(&adm->to_run, &lost);
	admit_leave_line(responder);
	spin_unlock(&responder->lock);
	list_for_each_entry_safe(job, next, &lost, list) {
		list_del_init(&job->list);
		rpcrdma2_job_put(job);
	}
	admit_serve_line();
}

/**
 * rpcrdma2_admission_use - how many pages do Calls with chunks hold?
 * @use: where to put the answer
 *
 * Process context.
 */
void rpcrdma2_admission_use(struct rpcrdma2_page_use *use)
{
	spin_lock(&budget_lock);
	use->held = budget.held;
	use->most = budget.most;
	use->waits = budget.waits;
	spin_unlock(&budget_lock);
	use->limit = budget_limit();
}

/**
 * rpcrdma2_show_admission - write how many pages Calls with chunks hold
 * @seq: where to
 */
void rpcrdma2_show_admission(struct seq_file *seq)
{
	struct rpcrdma2_page_use now;

	rpcrdma2_admission_use(&now);
	rpcrdma2_show_count(seq, "read_pages", now.held);
	rpcrdma2_show_count(seq, "read_pages_most", now.most);
	rpcrdma2_show_count(seq, "read_pages_limit", now.limit);
	rpcrdma2_show_count(seq, "read_page_waits", now.waits);
}
