// SPDX-License-Identifier: GPL-2.0
/*
 * The pages of a server's threads.
 *
 * A thread of sunrpc has pages for a Call and a Reply of the largest size. sunrpc frees the pages
 * of a Reply, and fills empty places before the next Call. This file moves pages between threads,
 * jobs and the CPU's kept pages (responder/pages.c), so that few of them are freed and allocated.
 *
 * sunrpc lacks: functions by which a transport takes pages from a request, gives pages to it, and
 * says which ones stay. So this file knows rq_pages, rq_respages, rq_next_page and rq_page_end.
 * compat.h has what differs between kernels.
 */
#include "compat.h"
#include "svc.h"

/**
 * rpcrdma2_thread_take_pages - make a job's pages the thread's
 * @rqstp: the thread's request
 * @job: the job, whose arguments are in its pages
 *
 * Gives away the thread's pages in their places.
 *
 * Context: process.
 *
 * Return: number of pages
 */
unsigned int rpcrdma2_thread_take_pages(struct svc_rqst *rqstp,
					struct rpcrdma2_job *job)
{
	unsigned int i, n = job->nr_pages;

	for (i = 0; i < n; i++)
		swap(rqstp->rq_pages[i], job->pages[i]);
	rpcrdma2_pages_give(job->pages, n);
	job->nr_pages = 0;
	return n;
}

/**
 * rpcrdma2_thread_begin_reply - say where the pages of the Reply begin
 * @rqstp: the thread's request
 * @used: number of pages that the Call has
 * @job_pages: number of pages that a job can keep, which limits the Reply
 *
 * Context: process.
 */
void rpcrdma2_thread_begin_reply(struct svc_rqst *rqstp, unsigned int used,
				 unsigned int job_pages)
{
	rpcrdma2_reply_pages_begin(rqstp, used);
	rqstp->rq_page_end = min(rqstp->rq_page_end, rqstp->rq_respages +
				 job_pages - 1);
}

/*
 * nfsd may splice a page of a file behind the last place that sunrpc fills. sunrpc has to free
 * such a page with this Reply, because it never looks there again.
 */
static bool thread_page_is_beyond_end(const struct svc_rqst *rqstp,
				      struct page **place)
{
	return place >= rqstp->rq_page_end;
}

/**
 * rpcrdma2_thread_keep_reply_pages - keep pages of an inline Reply for the thread's next Reply
 * @rqstp: the thread's request; its Reply is posted, and was copied if it is inline
 *
 * sunrpc frees the pages from rq_respages to rq_next_page, and fills these places. So lower
 * rq_next_page past pages that nobody else has. A place is NULL if the job took its page. If it has
 * a page of a file, drop that page here. Some kernels expect no NULL among the pages that they
 * free (see rpcrdma2_reply_page_stays()).
 *
 * Context: process.
 */
void rpcrdma2_thread_keep_reply_pages(struct svc_rqst *rqstp)
{
	struct page **last;

	for (; rqstp->rq_next_page > rqstp->rq_respages; rqstp->rq_next_page--) {
		last = rqstp->rq_next_page - 1;
		if (*last && thread_page_is_beyond_end(rqstp, last))
			break;
		if (*last && !rpcrdma2_page_is_private(*last)) {
			put_page(*last);
			*last = NULL;
		}
		if (!rpcrdma2_reply_page_stays(*last))
			break;
	}
}

/**
 * rpcrdma2_thread_fill_reply_pages - fill empty places with pages that the CPU keeps
 * @rqstp: the thread's request
 *
 * The allocator would fill these places, too, but takes longer.
 *
 * Context: process.
 */
void rpcrdma2_thread_fill_reply_pages(struct svc_rqst *rqstp)
{
	struct page **end = min(rqstp->rq_next_page, rqstp->rq_page_end);

	if (end > rqstp->rq_respages)
		rpcrdma2_pages_fill(rqstp->rq_respages, end - rqstp->rq_respages);
}

/**
 * rpcrdma2_thread_find_last_page - move rq_next_page to the end of the Reply
 * @rqstp: the thread's request, encoded
 *
 * Not all encoders move it: pages with an ACL, or with a checksum of krb5i, may lie behind it.
 *
 * Context: process.
 */
void rpcrdma2_thread_find_last_page(struct svc_rqst *rqstp)
{
	const struct xdr_buf *res = &rqstp->rq_res;
	struct page **end;

	end = res->pages + DIV_ROUND_UP(res->page_base + res->page_len,
					PAGE_SIZE);
	if (res->page_len && end > rqstp->rq_next_page &&
	    end <= rqstp->rq_page_end)
		rqstp->rq_next_page = end;
}
