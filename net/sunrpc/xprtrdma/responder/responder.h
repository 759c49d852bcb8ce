/* SPDX-License-Identifier: GPL-2.0 */
/*
 * responder/: the end that answers Calls, whichever direction it faces.
 *
 * A server's svc/ has one for NFS, a client's xprt/ one for callbacks. What
 * they have in common is an RPC message in an xdr_buf, and that is all this
 * layer knows of sunrpc.
 */
#ifndef _RPCRDMA2_RESPONDER_H
#define _RPCRDMA2_RESPONDER_H

#include <linux/llist.h>
#include <linux/sizes.h>
#include <linux/sunrpc/xdr.h>
#include <rdma/rw.h>

#include "conn/conn.h"
#include "stage.h"

struct rpcrdma2_job;
struct rpcrdma2_share;

/*
 * What RDMA Reads or Writes of a connection move at a time: so many octets, which a
 * port of 100 Gb/s has for 20 microseconds, or so many Calls or Replies, however large:
 * one is moved while the next one is made. More would wait for one another, keep pages,
 * and leave none of them in the CPU's caches.
 */
#define RPCRDMA2_FLIGHT		SZ_256K
#define RPCRDMA2_FLIGHT_RPCS	2

/**
 * rpcrdma2_may_fly - may one more Call be read, or one more Reply be made?
 * @rpcs: how many are under RDMA Read, or Write
 * @pages: how many pages they have
 *
 * Return: whether that is little enough
 */
static inline bool rpcrdma2_may_fly(unsigned int rpcs, unsigned int pages)
{
	return rpcs < RPCRDMA2_FLIGHT_RPCS ||
	       pages < RPCRDMA2_FLIGHT >> PAGE_SHIFT;
}

/**
 * struct rpcrdma2_transfers - what a responder moved
 * @reads: RDMA Reads, each of one segment or a part of it
 * @read_octets: octets that they read
 * @read_waits: times that the Reads of a Call waited for a registration
 * @writes: RDMA Writes, each to one segment or a part of it
 * @write_octets: octets that they wrote
 */
struct rpcrdma2_transfers {
	u64	reads;
	u64	read_octets;
	u64	read_waits;
	u64	writes;
	u64	write_octets;
};

/**
 * struct rpcrdma2_job_stats - what jobs did
 * @done: Calls that are done with, with or without a Reply
 * @replies: Replies sent
 * @moved: RDMA Reads and Writes
 */
struct rpcrdma2_job_stats {
	u64				done;
	struct rpcrdma2_forms		replies;
	struct rpcrdma2_transfers	moved;
};

/**
 * struct rpcrdma2_responder_stats - what a responder did
 * @calls: Calls that came and found a job; the CQ's
 * @jobs: what jobs did that are gone; below the responder's lock. Each of the others has
 *	its own, written by its holder
 */
struct rpcrdma2_responder_stats {
	struct rpcrdma2_forms		calls;
	struct rpcrdma2_job_stats	jobs;
};

/**
 * struct rpcrdma2_responder_ops - what a responder asks of the layer above
 * @begin: A Call has a job at last, for which rpcrdma2_job_get() found none. Process
 *	context, between enter and exit
 * @admitted: A Call that waited in rpcrdma2_admit() or rpcrdma2_admit_at_once() may be
 *	begun. CQ or process context, no locks held, before the connection is drained
 */
struct rpcrdma2_responder_ops {
	void	(*begin)(struct rpcrdma2_job *job);
	void	(*admitted)(struct rpcrdma2_job *job);
};

/**
 * struct rpcrdma2_retry - what a responder lacked memory for: see retry.c
 * @calls: messages of Calls that wait for jobs, newest first, behind @oldest
 * @oldest: those that the worker took out of @calls, oldest first; the worker's
 * @calls_wait: there are such Calls: the worker takes free jobs, and the CQ takes none
 * @jobs: jobs whose steps are to be tried again
 * @nr_jobs: number of jobs in @jobs or in the worker's hands
 * @work: the worker
 *
 * The responder's lock protects @calls, @jobs, and each change of @calls_wait and @nr_jobs.
 */
struct rpcrdma2_retry {
	struct llist_head	calls;
	struct llist_node	*oldest;
	bool			calls_wait;
	struct list_head	jobs;
	unsigned int		nr_jobs;
	struct delayed_work	work;
};

/**
 * struct rpcrdma2_admission - which Calls of a connection may take pages, and when
 * @share: what its address has of the budget; admit.c's lock is for that
 * @to_read: jobs that are not admitted, whose arguments are to be read; oldest first
 * @to_run: others that are not admitted, oldest first
 * @flying: jobs whose Reads or Writes are being made or under way, oldest first
 * @nr_reading: jobs that are admitted, and whose Reads have not ended
 * @read_limit: how many may be, if the device has too few of something
 * @pages_reading: pages that they read to
 * @waits_since: when the first of the Replies that wait now began to, in jiffies
 * @lacks_since: since when a Call has lacked something that no other job of the connection
 *	has, in jiffies
 * @timer: ends a connection whose peer takes too long
 * @in_line: in @share, if the first job waits for pages
 * @pages_wanted: pages of the first job, if so
 *
 * Under the responder's lock, but for the last two.
 */
struct rpcrdma2_admission {
	struct rpcrdma2_share	*share;
	struct list_head	to_read;
	struct list_head	to_run;
	struct list_head	flying;
	unsigned int		nr_reading;
	unsigned int		read_limit;
	unsigned int		pages_reading;
	unsigned long		waits_since;
	unsigned long		lacks_since;
	struct delayed_work	timer;
	struct list_head	in_line;
	unsigned int		pages_wanted;
};

/**
 * struct rpcrdma2_rw_pool - transfers that are kept for use
 * @free: they are
 * @nr: how many
 */
struct rpcrdma2_rw_pool {
	struct list_head	free;
	unsigned int		nr;
};

/**
 * struct rpcrdma2_responder - a connection's responder role
 * @conn: the connection
 * @ops: the layer above
 * @lock: @jobs, @nr_writing, @writing, @nr_waiting, transfers, spare pages, @retry, and
 *	@admission
 * @jobs: all of them
 * @calls_taken: Calls that came; the CQ's
 * @ready_jobs: jobs to use, linked by their @node; the CQ's, or the worker's of @retry while
 *	Calls wait
 * @calls: Calls since the grant was looked at; the CQ's
 * @peak: most of them that were outstanding at a time; the CQ's
 * @look_at: when the grant is looked at even after fewer Calls, in jiffies; the CQ's
 * @free_jobs: jobs to use when there are no @ready_jobs: anybody adds one, the owner of
 *	@ready_jobs takes all
 * @calls_returned: those of @calls_taken whose credit was given back; anybody's
 * @nr_writing: Replies that are under RDMA Write
 * @writing: pages that they are made from
 * @nr_waiting: Replies that wait for a Send buffer, memory or mappings
 * @small_rws: transfers of a few pages to use
 * @large_rws: others
 * @spare: where pages are lent: those for a Reply without chunks for which there is no
 *	memory, and NULL; NULL while it has them
 * @nr_spare: how many
 * @retry: what lacked memory
 * @admission: of Calls with chunks
 * @stats: of this connection
 */
struct rpcrdma2_responder {
	struct rpcrdma2_conn	*conn;
	const struct rpcrdma2_responder_ops *ops;
	spinlock_t		lock;	/* not for Calls without chunks */
	struct list_head	jobs;
	struct rpcrdma2_retry	retry;

	/* By the CQ, with each Call */
	unsigned int		calls_taken ____cacheline_aligned_in_smp;
	struct llist_node	*ready_jobs;
	unsigned int		calls;
	unsigned int		peak;
	unsigned long		look_at;

	/* By whoever is done with one */
	struct llist_head	free_jobs ____cacheline_aligned_in_smp;
	atomic_t		calls_returned;

	unsigned int		nr_writing ____cacheline_aligned_in_smp;
	unsigned int		writing;
	unsigned int		nr_waiting;
	struct rpcrdma2_rw_pool	small_rws;
	struct rpcrdma2_rw_pool	large_rws;
	struct page		**spare;
	unsigned int		nr_spare;
	struct rpcrdma2_admission admission;
	struct rpcrdma2_responder_stats stats;
};

/**
 * struct rpcrdma2_rw - an RDMA Read or Write of one segment
 * @list: in a job's rws, or in a pool
 * @ctx: of the rdma_rw API
 * @dir: direction
 * @nents: entries of @sg in use
 * @sg: this end's memory
 * @last: entry of @sg that was added last
 * @few: entries of a small one
 */
struct rpcrdma2_rw {
	struct list_head	list;
	struct rdma_rw_ctx	ctx;
	enum dma_data_direction	dir;
	unsigned int		nents;
	struct sg_table		sg;
	struct scatterlist	*last;
	struct scatterlist	few[];
};

/**
 * struct rpcrdma2_payload - part of a Reply that may travel by a Write chunk
 * @offset: in the Reply, octets
 * @length: octets, without round-up
 */
struct rpcrdma2_payload {
	u32	offset;
	u32	length;
};

/**
 * struct rpcrdma2_job - a Call being answered
 * @node: in @free_jobs, or for whoever holds it
 * @list: for whoever holds it
 * @responder: whose
 * @recv: the Call's message; NULL once it was given back
 * @xid: of the RPC
 * @vers: version of the Call
 * @nr_pages: pages in use
 * @pages_held: for admit.c: pages that it holds, or may take, for its Reads and its Reply
 * @nr_lent: pages that are @lent, or how many the Reply may take
 * @writing: how many of @pages are the responder's @writing
 * @lent: pages for the Reply, where the server program has none: @nr_lent of them, and
 *	NULL; or NULL
 * @rws: transfers made for it
 * @status: 0, or why its Reads failed
 * @length: octets in @pages
 * @nr_payloads: Write chunks that have a payload
 * @stage: how far it is; its holder's
 * @form: as what the Reply is counted
 * @alone: for admit.c: it found none of something while no other had any
 * @linear: the message is assembled in @pages from its first octet on; else
 *	@pages has the contents of the only Read chunk, and what follows it
 * @lends_spare: those that are @lent are the responder's @spare
 * @moved: RDMA Reads that were posted, and Writes that were made; zeroes between Calls
 * @stats: what it did with all its Calls
 * @read_chain: RDMA Reads of its arguments
 * @read_done: called when they have completed, in CQ context or the teardown
 * @step: for retry.c: what is to be tried again
 * @since: for admit.c: when it began to wait, or its Reads or Writes began, in jiffies
 * @payloads: one for each Write chunk, in order
 * @reply: the Reply's RPC message, if it waits for memory; it is in @pages
 * @all: in the responder's @jobs
 * @pages: pages under I/O, or those that a client's Call was read to
 *
 * From the CQ to a server thread, to the CQ while Reads are under way, to
 * a server thread again, or to several while there is no memory for the Reply, and
 * with that to the CQ for good. One holder at a time. What every Call needs comes first,
 * on as few cache lines as may be: no job is found in a CPU's nearest cache.
 */
struct rpcrdma2_job {
	struct llist_node		node;
	struct list_head		list;
	struct rpcrdma2_responder	*responder;
	struct rpcrdma2_recv		*recv;
	u32				xid;
	u32				vers;
	unsigned int			nr_pages;
	unsigned int			pages_held;
	unsigned int			nr_lent;
	unsigned int			writing;
	struct page			**lent;
	struct list_head		rws;
	int				status;
	u32				length;
	unsigned int			nr_payloads;
	enum rpcrdma2_job_stage		stage;
	u8				form;
	bool				alone;
	bool				linear;
	bool				lends_spare;
	struct rpcrdma2_transfers	moved;
	struct rpcrdma2_job_stats	stats;

	struct rpcrdma2_chain		read_chain;
	void				(*read_done)(struct rpcrdma2_job *job);
	int				(*step)(struct rpcrdma2_job *job);
	unsigned long			since;
	struct rpcrdma2_payload		payloads[RPCRDMA2_MAX_WRITE_CHUNKS];
	struct xdr_buf			reply;
	struct list_head		all;
	struct page			*pages[];
};

/**
 * rpcrdma2_job_advance - a job reaches its next stage
 * @job: the job
 * @next: one that may follow
 *
 * Context: any; the caller holds the job.
 */
static inline void rpcrdma2_job_advance(struct rpcrdma2_job *job,
					enum rpcrdma2_job_stage next)
{
	WARN_ON_ONCE(!rpcrdma2_stage_may_follow(job->stage, next));
	WRITE_ONCE(job->stage, next);
}

/**
 * rpcrdma2_job_pages - pages of the largest Call or Reply
 * @payload: octets of its data
 *
 * Return: those of the data, of what is around it, and of its ends
 */
static inline unsigned int rpcrdma2_job_pages(u32 payload)
{
	return DIV_ROUND_UP(payload, PAGE_SIZE) + 4;
}

/**
 * rpcrdma2_responder_has_room - may more be answered?
 * @responder: whose
 *
 * A hint. If the answer is no, the room op will be called.
 *
 * Return: whether no Reply waits, and little enough is under RDMA Write
 */
static inline bool
rpcrdma2_responder_has_room(const struct rpcrdma2_responder *responder)
{
	return !READ_ONCE(responder->nr_waiting) &&
	       rpcrdma2_may_fly(READ_ONCE(responder->nr_writing),
				READ_ONCE(responder->writing));
}

/**
 * rpcrdma2_is_transient - may what failed succeed in a moment?
 * @rc: negative errno
 *
 * Return: whether memory, DMA mappings or registrations were lacking
 */
static inline bool rpcrdma2_is_transient(int rc)
{
	return rc == -ENOMEM || rc == -EIO || rc == -EAGAIN;
}

/* responder.c */
struct rpcrdma2_responder *
rpcrdma2_responder_create(struct rpcrdma2_conn *conn,
			  const struct sockaddr *peer,
			  const struct rpcrdma2_responder_ops *ops);
void rpcrdma2_responder_drained(struct rpcrdma2_responder *responder);
void rpcrdma2_responder_destroy(struct rpcrdma2_responder *responder);
void rpcrdma2_responder_stats_add(struct rpcrdma2_responder_stats *sum,
				  struct rpcrdma2_responder *responder);
void rpcrdma2_show_responder_stats(struct seq_file *seq,
				   const struct rpcrdma2_responder_stats *stats);
void rpcrdma2_show_responder(struct seq_file *seq,
			     struct rpcrdma2_responder *responder);

/* job.c */
int rpcrdma2_jobs_provide(struct rpcrdma2_responder *responder, unsigned int n);
void rpcrdma2_jobs_trim(struct rpcrdma2_responder *responder, unsigned int n);
struct rpcrdma2_job *rpcrdma2_job_get(struct rpcrdma2_recv *recv);
struct rpcrdma2_job *rpcrdma2_job_try(struct rpcrdma2_recv *recv);
void rpcrdma2_job_give_credit(struct rpcrdma2_job *job);
void rpcrdma2_job_put(struct rpcrdma2_job *job);
void rpcrdma2_job_refuse(struct rpcrdma2_job *job,
			 const struct rpcrdma2_error *error);
void rpcrdma2_job_refuse_reads(struct rpcrdma2_job *job, int rc);

/* call.c */
bool rpcrdma2_job_has_reads(const struct rpcrdma2_job *job);
int rpcrdma2_job_plan(struct rpcrdma2_job *job);
unsigned int rpcrdma2_job_read_pages(const struct rpcrdma2_job *job);
int rpcrdma2_job_read(struct rpcrdma2_job *job, struct page **pages,
		      unsigned int max_pages,
		      void (*done)(struct rpcrdma2_job *job));
int rpcrdma2_job_read_finish(struct rpcrdma2_job *job);
void rpcrdma2_job_arg(struct rpcrdma2_job *job, struct xdr_buf *arg,
		      struct page **pages);

/* lend.c */
int rpcrdma2_lend_provide(struct rpcrdma2_responder *responder);
void rpcrdma2_lend_free(struct rpcrdma2_responder *responder);
void rpcrdma2_job_plan_reply(struct rpcrdma2_job *job);
int rpcrdma2_job_lend(struct rpcrdma2_job *job);
void rpcrdma2_job_take_back(struct rpcrdma2_job *job);

/* admit.c */
int rpcrdma2_admission_init(struct rpcrdma2_responder *responder,
			    const struct sockaddr *peer);
void rpcrdma2_admission_free(struct rpcrdma2_responder *responder);
void rpcrdma2_admission_end(struct rpcrdma2_responder *responder);
void rpcrdma2_admit(struct rpcrdma2_job *job);
bool rpcrdma2_admit_at_once(struct rpcrdma2_job *job);
unsigned int rpcrdma2_reads_start(struct rpcrdma2_job *job, struct page **pages,
				  unsigned int max_pages,
				  void (*done)(struct rpcrdma2_job *job));
void rpcrdma2_read_end(struct rpcrdma2_job *job);
void rpcrdma2_write_begin(struct rpcrdma2_job *job);
bool rpcrdma2_write_end(struct rpcrdma2_job *job);
void rpcrdma2_wait_begin(struct rpcrdma2_job *job);
void rpcrdma2_wait_end(struct rpcrdma2_job *job);
void rpcrdma2_admission_return(struct rpcrdma2_job *job);
void rpcrdma2_show_admission(struct seq_file *seq);

/**
 * struct rpcrdma2_page_use - pages of Calls with chunks
 * @held: pages that Calls hold now, or may use
 * @most: the most so far
 * @limit: pages that they may hold
 * @waits: Calls that waited for pages
 */
struct rpcrdma2_page_use {
	u64	held;
	u64	most;
	u64	limit;
	u64	waits;
};

void rpcrdma2_admission_use(struct rpcrdma2_page_use *use);

/* reply.c */
int rpcrdma2_job_add_payload(struct rpcrdma2_job *job, u32 offset, u32 length);
int rpcrdma2_job_reply(struct rpcrdma2_job *job, const struct xdr_buf *res,
		       struct page **pages, unsigned int nr_pages);
void rpcrdma2_job_reply_later(struct rpcrdma2_job *job,
			      const struct xdr_buf *res);

/* retry.c */
void rpcrdma2_retry_init(struct rpcrdma2_responder *responder);
void rpcrdma2_retry_call(struct rpcrdma2_recv *recv);
void rpcrdma2_retry_job(struct rpcrdma2_job *job,
			int (*step)(struct rpcrdma2_job *job), unsigned long delay);
void rpcrdma2_retry_delayed(struct rpcrdma2_job *job,
			    int (*step)(struct rpcrdma2_job *job));
void rpcrdma2_retry_now(struct rpcrdma2_responder *responder);
void rpcrdma2_retry_end(struct rpcrdma2_responder *responder);

/* rw.c */
int rpcrdma2_rw_read(struct rpcrdma2_job *job,
		     const struct rpcrdma2_segment *seg, u32 skip, u32 length,
		     u32 to);
int rpcrdma2_rw_write(struct rpcrdma2_job *job,
		      const struct rpcrdma2_segment *seg, u32 skip,
		      const struct xdr_buf *from, u32 offset, u32 length);
void rpcrdma2_rw_chain(struct rpcrdma2_job *job, struct ib_send_wr *next,
		       struct ib_send_wr **first, struct ib_send_wr **last,
		       unsigned int *count);
void rpcrdma2_rws_release(struct rpcrdma2_job *job);
void rpcrdma2_rws_init(struct rpcrdma2_responder *responder);
void rpcrdma2_rws_free(struct rpcrdma2_responder *responder);

/**
 * rpcrdma2_page_is_private - may a page of a thread's be used again as it is?
 * @page: the page
 *
 * Return: whether nobody else has it, and it is neither one of some file, as nfsd splices
 * them into Replies, nor broken
 */
static inline bool rpcrdma2_page_is_private(struct page *page)
{
	return page_count(page) == 1 && !page->mapping && !PageLRU(page) &&
	       !PageCompound(page) && !PageHWPoison(page);
}

/* grant.c */
void rpcrdma2_grant_adapt(struct rpcrdma2_responder *responder,
			  unsigned int outstanding);

/* pages.c */
unsigned int rpcrdma2_pages_take(struct page **pages, unsigned int n);
int rpcrdma2_pages_get(struct page **pages, unsigned int n);
void rpcrdma2_pages_give(struct page **pages, unsigned int n);
void rpcrdma2_pages_exchange(struct page **pages, unsigned int n);
void rpcrdma2_pages_fill(struct page **pages, unsigned int n);
unsigned long rpcrdma2_pages_kept(void);
void rpcrdma2_show_pages(struct seq_file *seq);
int rpcrdma2_pages_init(void);
void rpcrdma2_pages_exit(void);

#endif /* _RPCRDMA2_RESPONDER_H */
