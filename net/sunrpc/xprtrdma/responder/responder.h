/* SPDX-License-Identifier: GPL-2.0 */
/*
 * responder/: the role that answers Calls, at either end of a connection.
 *
 * A server's svc/ uses it for NFS operations, a client's xprt/ for callbacks. Each connection
 * has one responder, which owns the connection's jobs. This layer moves RPC messages between
 * chunks and an xdr_buf. It knows nothing else of sunrpc.
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
 * Limits of a connection's RDMA Reads under way, and likewise of its RDMA Writes. Two RPCs of
 * any size may always move, so that one moves while the next one is made. More may move if they
 * have less than RPCRDMA2_FLIGHT octets, for which a port of 100 Gb/s takes 20 microseconds.
 * Others would wait for these, hold pages, and push those pages out of the CPU's caches.
 */
#define RPCRDMA2_FLIGHT		SZ_256K
#define RPCRDMA2_FLIGHT_RPCS	2

/**
 * rpcrdma2_may_fly - may a connection begin another transfer?
 * @rpcs: Calls under RDMA Read, or Replies under RDMA Write
 * @pages: pages that they use
 *
 * Context: any.
 *
 * Return: true while @rpcs or @pages is below its limit
 */
static inline bool rpcrdma2_may_fly(unsigned int rpcs, unsigned int pages)
{
	return rpcs < RPCRDMA2_FLIGHT_RPCS ||
	       pages < RPCRDMA2_FLIGHT >> PAGE_SHIFT;
}

/**
 * struct rpcrdma2_transfers - what a responder moved
 * @reads: RDMA Reads, each of one segment or a part of a segment
 * @read_octets: octets that RDMA Reads moved
 * @read_waits: times that the device had no registration for a Call's RDMA Reads
 * @writes: RDMA Writes, each to one segment or a part of a segment
 * @write_octets: octets that RDMA Writes moved
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
 * @done: Calls that ended, with or without a Reply
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
 * @calls: Calls within the grant; the CQ writes it
 * @jobs: sum over jobs that were freed; the responder's lock protects it. Each other job has
 *	a count of its own, which its holder writes
 */
struct rpcrdma2_responder_stats {
	struct rpcrdma2_forms		calls;
	struct rpcrdma2_job_stats	jobs;
};

/**
 * struct rpcrdma2_responder_ops - what a responder asks of the layer above
 * @begin: rpcrdma2_responder_take() found no job for this Call, and now there is one. Process
 *	context, between enter and exit
 * @admitted: this Call may take pages after a wait in rpcrdma2_admit() or
 *	rpcrdma2_admit_at_once(). CQ or process context, no locks held, never after @drained
 */
struct rpcrdma2_responder_ops {
	void	(*begin)(struct rpcrdma2_job *job);
	void	(*admitted)(struct rpcrdma2_job *job);
};

/**
 * struct rpcrdma2_retry - what waits for memory: see retry.c
 * @calls: messages of Calls without a job, newest first; all are newer than @oldest
 * @oldest: Calls that the worker took out of @calls, oldest first; only the worker uses it
 * @calls_wait: a Call waits for a job. The worker takes free jobs then, and the CQ takes none
 * @jobs: jobs whose steps the worker tries again
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
 * @share: the account of the peer's address; admit.c's budget_lock protects its contents
 * @to_read: jobs that wait for admission to be read, oldest first
 * @to_run: jobs without Reads that wait for admission to run, oldest first
 * @flying: jobs whose RDMA Reads or Writes are being posted or are under way, oldest first
 * @nr_reading: jobs admitted out of @to_read whose Reads have not ended
 * @read_limit: maximum of @nr_reading, lowered while the device lacks something
 * @pages_reading: pages that these jobs are read to
 * @waits_since: when @nr_waiting of the responder last rose from 0, in jiffies
 * @lacks_since: since when a job alone on the connection has lacked something, in jiffies
 * @timer: closes the connection of a peer that takes too long
 * @in_line: link in @waiting of @share, while a job waits for pages; budget_lock protects it
 * @pages_wanted: pages of that job; budget_lock protects it
 *
 * The responder's lock protects the other members.
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
 * struct rpcrdma2_rw_pool - transfers kept for reuse
 * @free: the transfers
 * @nr: number of transfers in @free
 */
struct rpcrdma2_rw_pool {
	struct list_head	free;
	unsigned int		nr;
};

/**
 * struct rpcrdma2_responder - a connection's responder role
 * @conn: the connection
 * @ops: the layer above
 * @lock: protects @jobs, @nr_writing, @writing, @nr_waiting, @small_rws, @large_rws, @spare,
 *	@retry, @admission, and the jobs' part of @stats
 * @jobs: all jobs
 * @retry: what waits for memory
 * @calls_taken: Calls that came; the CQ's
 * @ready_jobs: free jobs, linked by @node. The CQ owns them; while Calls wait for jobs, the
 *	worker of @retry does
 * @calls: Calls since the last look at the grant; the CQ's
 * @peak: maximum of outstanding Calls since the last look at the grant; the CQ's
 * @look_at: when the next Call causes a look at the grant in any case, in jiffies; the CQ's
 * @free_jobs: more free jobs. Any context adds one; the owner of @ready_jobs takes all
 * @calls_returned: Calls whose credit was given back
 * @nr_writing: Replies under RDMA Write
 * @writing: pages that these Replies occupy
 * @nr_waiting: Replies that wait for a Send buffer, memory or mappings
 * @small_rws: transfers with room for a few pages
 * @large_rws: transfers with room for many pages
 * @spare: pages in reserve for an inline Reply, with NULL behind the last; NULL while a job
 *	has them, or if nothing provided them
 * @nr_spare: number of these pages
 * @admission: which Calls may take pages
 * @stats: counters
 */
struct rpcrdma2_responder {
	struct rpcrdma2_conn	*conn;
	const struct rpcrdma2_responder_ops *ops;
	spinlock_t		lock;	/* a Call without chunks takes it only for a new job */
	struct list_head	jobs;
	struct rpcrdma2_retry	retry;

	/* The CQ writes these for each Call. */
	unsigned int		calls_taken ____cacheline_aligned_in_smp;
	struct llist_node	*ready_jobs;
	unsigned int		calls;
	unsigned int		peak;
	unsigned long		look_at;

	/* The last holder of a job writes these. */
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
 * @list: link in @rws of a job, or in a pool
 * @ctx: state of the rdma_rw API
 * @dir: DMA_FROM_DEVICE for an RDMA Read, DMA_TO_DEVICE for an RDMA Write
 * @nents: entries of @sg in use
 * @sg: this end's memory
 * @last: the entry of @sg that was added last
 * @few: entries of a small transfer
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
 * struct rpcrdma2_payload - a part of a Reply that may travel by a Write chunk
 * @offset: where the part starts in the Reply, octets
 * @length: octets, without round-up
 */
struct rpcrdma2_payload {
	u32	offset;
	u32	length;
};

/**
 * struct rpcrdma2_job - a Call being answered
 * @node: link in @free_jobs or @ready_jobs, or for the job's holder
 * @list: for the job's holder
 * @responder: the connection's responder role
 * @recv: the Call's message; NULL after rpcrdma2_job_give_credit()
 * @xid: of the RPC
 * @vers: the Call's version of the protocol
 * @nr_pages: entries of @pages in use
 * @pages_held: pages that the budget of admit.c counts for this job
 * @nr_lent: pages in @lent; before rpcrdma2_job_lend(), how many the Reply may take
 * @writing: pages that the responder's @writing counts for this job; 0 without RDMA Writes
 * @lent: pages for the Reply of a program that has none, with NULL behind the last; or NULL
 * @rws: transfers made for this Call
 * @status: 0, or the negative errno that ended the RDMA Reads
 * @length: octets in @pages
 * @nr_payloads: entries of @payloads in use
 * @stage: how far the Call is; the job's holder writes it
 * @form: kind of the Reply, for the counters
 * @alone: the job's Reads failed when no other job of the connection had any; admit.c's
 * @linear: @pages hold the whole message. Otherwise they hold the contents of the only Read
 *	chunk and the message behind it
 * @lends_spare: @lent is the responder's @spare
 * @moved: RDMA Reads posted and RDMA Writes made for this Call
 * @stats: what the job did for all its Calls
 * @read_chain: the RDMA Reads, as a chain of WRs
 * @read_done: called after the RDMA Reads; CQ or process context, or the teardown
 * @step: what the worker of retry.c tries again
 * @since: when the job's present wait, or its transfer, began, in jiffies; admit.c's
 * @payloads: one for each Write chunk in use, in order
 * @reply: the Reply's RPC message while the Reply waits; its pages are in @pages
 * @all: link in the responder's @jobs
 * @pages: pages under I/O, pages of a waiting Reply, or pages that hold a callback's data
 *
 * A job has one holder at a time: the CQ, a queue, a server thread, a worker or the Send
 * Queue. Only the holder touches the job. Members that each Call needs come first, to keep
 * the number of cache lines small: a server has more jobs than the nearest cache holds.
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
 * rpcrdma2_job_advance - move a job to its next stage
 * @job: the job
 * @next: the next stage; rpcrdma2_stage_may_follow() has to allow it
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
 * rpcrdma2_job_pages - pages that the largest Call or Reply takes
 * @payload: octets of its data
 *
 * Context: any.
 *
 * Return: pages for the data, for the rest of the message, and for unaligned ends
 */
static inline unsigned int rpcrdma2_job_pages(u32 payload)
{
	return DIV_ROUND_UP(payload, PAGE_SIZE) + 4;
}

/**
 * rpcrdma2_job_read_pages - count the pages that a Call is read to
 * @job: a job for which rpcrdma2_job_plan() returned 0, or a job without Read chunks
 *
 * Context: any; the caller holds the job.
 *
 * Return: number of pages; 0 without Read chunks
 */
static inline unsigned int
rpcrdma2_job_read_pages(const struct rpcrdma2_job *job)
{
	return DIV_ROUND_UP(job->length, PAGE_SIZE);
}

/**
 * rpcrdma2_responder_has_room - may the program take another Call?
 * @responder: the responder
 *
 * Context: any. The answer is a hint, as the caller holds no lock. After the answer "no", the
 * room op is called once there is room.
 *
 * Return: true if no Reply waits, and the RDMA Writes under way are within the limit
 */
static inline bool
rpcrdma2_responder_has_room(const struct rpcrdma2_responder *responder)
{
	return !READ_ONCE(responder->nr_waiting) &&
	       rpcrdma2_may_fly(READ_ONCE(responder->nr_writing),
				READ_ONCE(responder->writing));
}

/**
 * rpcrdma2_is_transient - may an error go away by itself?
 * @rc: negative errno
 *
 * Context: any.
 *
 * Return: true if memory, a DMA mapping or a registration was lacking
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
struct rpcrdma2_job *rpcrdma2_responder_take(struct rpcrdma2_recv *recv);
void rpcrdma2_responder_drained(struct rpcrdma2_responder *responder);
void rpcrdma2_responder_destroy(struct rpcrdma2_responder *responder);

/**
 * struct rpcrdma2_stage_counts - how many Calls are where
 * @queued: Calls with chunks that wait until they may take pages
 * @reading: Calls whose arguments are under RDMA Read
 * @for_threads: Calls that wait for a thread of the server program
 * @running: Calls that the server program has
 * @waiting: Replies that wait for a Send buffer, memory or mappings
 * @writing: Replies under RDMA Write
 */
struct rpcrdma2_stage_counts {
	unsigned int	queued;
	unsigned int	reading;
	unsigned int	for_threads;
	unsigned int	running;
	unsigned int	waiting;
	unsigned int	writing;
};

void rpcrdma2_responder_count_stages(struct rpcrdma2_responder *responder,
				     struct rpcrdma2_stage_counts *count);
void rpcrdma2_responder_stats_add(struct rpcrdma2_responder_stats *sum,
				  struct rpcrdma2_responder *responder);
void rpcrdma2_show_responder_stats(struct seq_file *seq,
				   const struct rpcrdma2_responder_stats *stats);
void rpcrdma2_show_responder(struct seq_file *seq,
			     struct rpcrdma2_responder *responder);

/* job.c */
int rpcrdma2_jobs_provide(struct rpcrdma2_responder *responder, unsigned int n);
void rpcrdma2_jobs_trim(struct rpcrdma2_responder *responder, unsigned int n);
struct rpcrdma2_job *rpcrdma2_job_for(struct rpcrdma2_recv *recv);
bool rpcrdma2_jobs_for_calls(struct rpcrdma2_responder *responder);
void rpcrdma2_jobs_drop_calls(struct rpcrdma2_responder *responder);
void rpcrdma2_job_give_credit(struct rpcrdma2_job *job);
void rpcrdma2_job_put(struct rpcrdma2_job *job);
void rpcrdma2_job_refuse(struct rpcrdma2_job *job,
			 const struct rpcrdma2_error *error);
void rpcrdma2_job_refuse_reads(struct rpcrdma2_job *job, int rc);

/* call.c */
bool rpcrdma2_job_has_reads(const struct rpcrdma2_job *job);
int rpcrdma2_job_plan(struct rpcrdma2_job *job);
int rpcrdma2_job_read(struct rpcrdma2_job *job, struct page **pages,
		      unsigned int max_pages,
		      void (*done)(struct rpcrdma2_job *job));
unsigned int rpcrdma2_reads_start(struct rpcrdma2_job *job, struct page **pages,
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
void rpcrdma2_admission_end(struct rpcrdma2_responder *responder,
			    struct list_head *lost);
void rpcrdma2_admit(struct rpcrdma2_job *job);
bool rpcrdma2_admit_at_once(struct rpcrdma2_job *job);
void rpcrdma2_read_begin(struct rpcrdma2_job *job);
bool rpcrdma2_read_later(struct rpcrdma2_job *job);
void rpcrdma2_read_end(struct rpcrdma2_job *job);
void rpcrdma2_write_begin(struct rpcrdma2_job *job);
bool rpcrdma2_write_end(struct rpcrdma2_job *job);
void rpcrdma2_wait_begin(struct rpcrdma2_job *job);
void rpcrdma2_wait_end(struct rpcrdma2_job *job);
void rpcrdma2_admission_return(struct rpcrdma2_job *job);
void rpcrdma2_show_admission(struct seq_file *seq);

/**
 * struct rpcrdma2_page_use - pages of Calls with chunks
 * @held: pages that the budget counts now
 * @most: maximum of @held so far
 * @limit: pages that all Calls together may hold
 * @waits: times that a connection began to wait for pages
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
void rpcrdma2_retry_init(struct rpcrdma2_responder *responder, work_func_t work);
void rpcrdma2_retry_job(struct rpcrdma2_job *job,
			int (*step)(struct rpcrdma2_job *job), unsigned long delay);
void rpcrdma2_retry_delayed(struct rpcrdma2_job *job,
			    int (*step)(struct rpcrdma2_job *job));
void rpcrdma2_retry_now(struct rpcrdma2_responder *responder);
bool rpcrdma2_retry_steps(struct rpcrdma2_responder *responder);
void rpcrdma2_retry_again(struct rpcrdma2_responder *responder);
void rpcrdma2_retry_end(struct rpcrdma2_responder *responder, struct list_head *lost);

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
 * rpcrdma2_page_is_private - may a page hold other data from now on?
 * @page: the page
 *
 * Context: any; the caller has a reference to the page.
 *
 * Return: true if the caller has the only reference to a single, intact page that belongs to
 * no file. nfsd splices pages of files into Replies
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
