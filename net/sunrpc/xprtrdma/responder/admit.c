// SPDX-License-Identifier: GPL-2.0
/*
 * Admission: which Calls with chunks may take pages, and for how long.
 *
 * A peer can ask for a MiB and more with one Call: for arguments under RDMA Read, and for a
 * Reply under RDMA Write. So a Call with chunks waits here until it may take the largest number
 * of pages that it can need. A job holds that part of a budget until rpcrdma2_job_put(). No
 * thread waits here. Calls without chunks pass by: they take a Receive and a Send only.
 *
 * Three limits are here: budget_may_hold() limits the pages of all connections,
 * admit_may_read() the Calls that a connection reads, and admit_is_late() the peer's time.
 * Everything runs in process context, the CQ's included. budget_lock is taken inside of the
 * responder's lock.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <net/ipv6.h>

#include "param.h"
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/* By default, an NFS client sends a Call again after 60 s. */
#define TRANSFER_TIMEOUT	(60 * HZ)
#define REPLY_TIMEOUT		(30 * HZ)
/* The timeout for both, while an address that holds nothing waits */
#define CROWDED_TIMEOUT		(5 * HZ)
/* Period of the timer, while a transfer is under way or a Reply waits */
#define LOOK			(2 * HZ)

/* Time after which a Call that is alone on its connection stops waiting for what it lacks */
#define LACK_TIMEOUT	(30 * HZ)

/* A struct rpcrdma2_rw with its entries takes memory, too: about a KiB for each segment. */
#define RWS_PER_PAGE	(PAGE_SIZE / SZ_1K)

/* Protects the budget, all shares, and @in_line and @pages_wanted of each admission. */
static DEFINE_SPINLOCK(budget_lock);

/**
 * struct budget - the pages of all Calls that are admitted
 * @held: number of pages
 * @most: maximum of @held so far
 * @waits: times that a connection began to wait for pages
 * @line: shares with Calls that wait, linked by @in_line
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
 * struct rpcrdma2_share - the part of the budget that one address holds
 * @node: link in @shares
 * @address: the address; IPv4 is mapped into IPv6
 * @users: responders that refer to this share
 * @held: pages of admitted Calls from this address
 * @waiting: admissions of this address whose first Call waits for pages, linked by @in_line
 * @in_line: link in the budget's line, unless @waiting is empty
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

/* Find or make the share of an address. Return: the share, referenced; or NULL: no memory */
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

/* Return: pages; an unsigned long would overflow on 32 bits */
static u64 budget_limit(void)
{
	return (u64)READ_ONCE(rpcrdma2_read_memory) << (20 - PAGE_SHIFT);
}

/*
 * An address leaves as many pages to others as it holds. So one address alone gets half of the
 * budget, and two get a third each. A Call of 1 MiB from another address finds room while there
 * are fewer addresses than the budget has MiBs.
 *
 * A Call that exceeds the limit by itself may have its pages when nobody holds any.
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

/* If other connections of the address wait, the address goes to the end of the line. */
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
	/*
	 * Only budget_take() joins the line, and holds the responder's lock. A caller without
	 * that lock may miss this, but rpcrdma2_admission_end() looks again.
	 */
	if (list_empty_careful(&responder->admission.in_line))
		return;
	spin_lock(&budget_lock);
	admit_leave_line_locked(&responder->admission);
	spin_unlock(&budget_lock);
}

/*
 * A later address may pass one that holds pages, but never one that holds none.
 * Return: the first responder that may have its pages now, or NULL
 */
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

/* Return: pages for the arguments, for the Reply, and for the structs of the transfers */
static unsigned int admit_pages_of_job(const struct rpcrdma2_job *job)
{
	return rpcrdma2_job_read_pages(job) + job->nr_lent +
	       job->recv->hdr.chunks.nsegs / RWS_PER_PAGE;
}

/* Do not pass connections of the same address that wait, nor an address that holds nothing. */
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

/*
 * Take pages for the first Call of a connection, or join the line.
 * Return: whether the Call has its pages
 */
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

/*
 * Return: the responder that is next, with a reference to its connection; or NULL.
 * The connection of a responder in line still exists: rpcrdma2_admission_end() leaves the line.
 */
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

/* More Reads than the peer answers at a time would only wait for one another. */
static unsigned int admit_read_limit(const struct rpcrdma2_responder *responder)
{
	return min_t(unsigned int, responder->admission.read_limit,
		     responder->conn->cm.max_reads_out);
}

/* Reads would take memory or mappings that a Reply waits for. */
static bool admit_may_read(const struct rpcrdma2_responder *responder)
{
	const struct rpcrdma2_admission *adm = &responder->admission;

	return !responder->nr_waiting &&
	       adm->nr_reading < admit_read_limit(responder) &&
	       rpcrdma2_may_fly(adm->nr_reading, adm->pages_reading);
}

/*
 * Choose the older of the first Call to read, if one more may be read, and the first one to run.
 * @reads: gets whether it is one to read
 * Return: the Call, which lacks only pages; or NULL
 */
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

/*
 * Admit a Call, if there is one that may be. @drained was not called yet, so the layer above can
 * take the Call. Return: whether a Call was admitted
 */
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

/*
 * Admit Calls until none may be admitted, or until one lacks pages and puts its connection in
 * line. If this stopped earlier, nobody might admit the remaining Calls: a job that returns
 * pages looks only at the line.
 */
static void admit_all_of(struct rpcrdma2_responder *responder)
{
	while (admit_one(responder))
		;
}

static void admit_serve_line(void)
{
	struct rpcrdma2_responder *responder;
	struct rpcrdma2_conn *conn;

	while ((responder = admit_next_in_line())) {
		conn = responder->conn;
		if (rpcrdma2_ep_enter(&conn->ep)) {
			admit_all_of(responder);
			rpcrdma2_ep_exit(&conn->ep);
		} else {
			admit_leave_line(responder);
		}
		rpcrdma2_conn_put(conn);
	}
}

/* A connection that has left the line may have held up others behind it. */
static void admit_all(struct rpcrdma2_responder *responder)
{
	admit_all_of(responder);
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
 * rpcrdma2_admit - admit a Call that is to be read, now or later
 * @job: the job; no longer the caller's. rpcrdma2_job_plan_reply() was called. If the Call has
 *	Read chunks, rpcrdma2_job_plan() returned 0
 *
 * Calls @admitted, perhaps before this function returns. The layer above then calls
 * rpcrdma2_reads_start().
 *
 * Context: process, between enter and exit; or the CQ. No locks held.
 */
void rpcrdma2_admit(struct rpcrdma2_job *job)
{
	admit_later(job, &job->responder->admission.to_read);
}

/**
 * rpcrdma2_admit_at_once - admit a Call with chunks but without Read chunks
 * @job: the job, which a thread is about to run; rpcrdma2_job_plan_reply() was called
 *
 * Context: process, between enter and exit; no locks held.
 *
 * Return: true if the Call is admitted. Otherwise @job is no longer the caller's, and
 * @admitted is called when there is room
 */
bool rpcrdma2_admit_at_once(struct rpcrdma2_job *job)
{
	if (budget_take_at_once(job))
		return true;
	admit_later(job, &job->responder->admission.to_run);
	return false;
}

/* admit_timer_work() stops when there is no transfer and no Reply to watch. */
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

/**
 * rpcrdma2_read_begin - a Call's Reads are about to be posted
 * @job: the job, admitted out of @to_read
 *
 * Context: process, between enter and exit; no locks held.
 */
void rpcrdma2_read_begin(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	rpcrdma2_job_advance(job, RPCRDMA2_JOB_READING);
	spin_lock(&responder->lock);
	admit_flight_begin(job);
	spin_unlock(&responder->lock);
}

static void admit_uncount_read(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	struct rpcrdma2_admission *adm = &responder->admission;

	lockdep_assert_held(&responder->lock);

	adm->nr_reading--;
	adm->pages_reading -= rpcrdma2_job_read_pages(job);
}

/**
 * rpcrdma2_read_end - note that a Call's Reads have ended, or will not be posted
 * @job: the job, admitted out of @to_read
 *
 * The job's pages still count in the budget. May admit other Calls.
 *
 * Context: any but interrupts, no locks held; between enter and exit, in the CQ, or in the
 * teardown before @drained.
 */
void rpcrdma2_read_end(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	struct rpcrdma2_admission *adm = &responder->admission;

	spin_lock(&responder->lock);
	list_del_init(&job->list);
	admit_uncount_read(job);
	if (adm->read_limit < responder->conn->cm.max_reads_out)
		adm->read_limit++;
	spin_unlock(&responder->lock);
	admit_all(responder);
}

/**
 * rpcrdma2_write_begin - note that a Reply is about to be posted
 * @job: the job; nothing happens if its Reply has no RDMA Writes
 *
 * Context: any but interrupts, no locks held.
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
 * rpcrdma2_write_end - note that a Reply's RDMA Writes have ended, or were not posted
 * @job: the job; nothing happens without rpcrdma2_write_begin()
 *
 * Context: any but interrupts, no locks held.
 *
 * Return: true if threads may take Calls again, and could not before
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
 * rpcrdma2_wait_begin - note that a Reply waits for a Send buffer, memory or mappings
 * @job: the job; nothing happens if its Reply waits already
 *
 * Until no Reply of the connection waits, none of its Calls is admitted for reading.
 *
 * Context: process, between enter and exit; no locks held.
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
 * rpcrdma2_wait_end - note that a Reply that waited is about to be posted, or is dropped
 * @job: the job; rpcrdma2_wait_begin() was called
 *
 * May admit other Calls, and calls the room op after the last Reply that waited.
 *
 * Context: any but interrupts, no locks held.
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
	if (responder->conn->param.ops->room)
		responder->conn->param.ops->room(responder->conn);
}

/* Put the Call back at the head of the queue. This is also a step for retry.c. */
static int admit_again(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;

	spin_lock(&responder->lock);
	admit_uncount_read(job);
	list_add(&job->list, &responder->admission.to_read);
	spin_unlock(&responder->lock);
	admit_all(responder);
	return 0;
}

/**
 * rpcrdma2_read_later - have a Call wait that found no registration, mapping or memory
 * @job: the job; rpcrdma2_read_begin() was called, and nothing is posted
 *
 * Reads under way hold what the Call lacks. If this connection has other Reads, the Call goes to
 * the head of the queue, and no more Calls read than do now. If it has none, a worker tries
 * again. Until then the Call counts as one that reads, so that no other Call passes it.
 *
 * Context: process, between enter and exit; no locks held.
 *
 * Return: true, and @job is no longer the caller's; false if the Call has waited long enough
 */
bool rpcrdma2_read_later(struct rpcrdma2_job *job)
{
	struct rpcrdma2_responder *responder = job->responder;
	struct rpcrdma2_admission *adm = &responder->admission;
	unsigned int others;
	bool later;

	if (job->lent) {
		/* Pages that no budget counts must not wait with the Call. */
		rpcrdma2_job_take_back(job);
		rpcrdma2_job_plan_reply(job);
	}
	rpcrdma2_admission_return(job);
	spin_lock(&responder->lock);
	others = adm->nr_reading - 1;
	if (others || !job->alone)
		adm->lacks_since = jiffies;
	later = time_before(jiffies, adm->lacks_since + LACK_TIMEOUT);
	if (later) {
		trace_rpcrdma2_wait(&responder->conn->ep, job->xid,
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

/**
 * rpcrdma2_admission_return - give a Call's pages back to the budget
 * @job: the job; nothing happens if it is not admitted
 *
 * May admit Calls of other connections.
 *
 * Context: any but interrupts, no locks held.
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

/* A peer has less time for its transfers and Replies while an address that holds nothing waits. */
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
 * rpcrdma2_admission_init - prepare a responder's admission
 * @responder: a new responder
 * @peer: address of the peer
 *
 * Context: process, sleeps.
 *
 * Return: 0, and rpcrdma2_admission_free() is due in the end; or -ENOMEM
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
 * @responder: the responder; rpcrdma2_job_put() was called for every job
 *
 * Context: process.
 */
void rpcrdma2_admission_free(struct rpcrdma2_responder *responder)
{
	share_put(responder->admission.share);
}

/**
 * rpcrdma2_admission_end - stop, as no Call will come any more
 * @responder: the responder of a connection that is drained
 * @lost: gets the jobs that wait
 *
 * Context: process, sleeps; the teardown's.
 */
void rpcrdma2_admission_end(struct rpcrdma2_responder *responder,
			    struct list_head *lost)
{
	struct rpcrdma2_admission *adm = &responder->admission;

	cancel_delayed_work_sync(&adm->timer);
	spin_lock(&responder->lock);
	list_splice_tail_init(&adm->to_read, lost);
	list_splice_tail_init(&adm->to_run, lost);
	admit_leave_line(responder);
	spin_unlock(&responder->lock);
	admit_serve_line();
}

/**
 * rpcrdma2_admission_use - find how many pages Calls with chunks hold
 * @use: gets the answer
 *
 * Context: process.
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
 * @seq: where to write
 *
 * Context: process.
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
