// SPDX-License-Identifier: GPL-2.0
/*
 * From a Call's message to an xdr_buf, with RDMA Reads of its Read chunks.
 *
 * There are three forms:
 *  - No Read chunk: the message stands in the Receive buffer.
 *  - One Read chunk behind position zero, as in most NFS WRITEs: the chunk is read to the
 *    start of a page. The head of the xdr_buf is the message in front of the chunk. The pages
 *    are the chunk and a copy of the message behind it. nfsd expects those octets in the
 *    pages, and looks for no tail.
 *  - Anything else: the message is assembled in pages, each chunk at its position.
 *
 * Positions count the round-up of earlier chunks. The round-up does not travel, and is filled
 * with zeroes here. All of this runs in process context, the CQ's included.
 */
#include <linux/highmem.h>

#include "responder.h"

#include <trace/events/rpcrdma2.h>

/**
 * rpcrdma2_job_has_reads - does a Call have Read chunks?
 * @job: a job that has its @recv
 *
 * Context: any; the caller holds the job.
 *
 * Return: true if so
 */
bool rpcrdma2_job_has_reads(const struct rpcrdma2_job *job)
{
	return job->recv->hdr.chunks.nreads;
}

/*
 * The base stream is the message without the octets that its Read chunks carry. The base
 * stream comes inline, or in the Position-Zero Read chunk.
 */
static u32 job_base_length(const struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	const struct rpcrdma2_chunk *zero = rpcrdma2_position_zero(cl);

	return zero ? zero->length : job->recv->len;
}

/**
 * struct walker - what a walk over the assembled message does
 * @base: called for each run of the base stream
 * @chunk: called for each Read chunk behind position zero
 */
struct walker {
	int	(*base)(struct rpcrdma2_job *job, u32 to, u32 from, u32 length);
	int	(*chunk)(struct rpcrdma2_job *job, u32 to,
			 const struct rpcrdma2_chunk *chunk);
};

/*
 * @length: gets the octets of the assembled message; may be NULL.
 * Return: 0; -EBADMSG if a chunk lies outside of the message; -EMSGSIZE if the message is too
 * long; or an error of @walker
 */
static int job_walk(struct rpcrdma2_job *job, const struct walker *walker,
		    u32 *length)
{
	u32 limit = job->responder->conn->param.job_pages * PAGE_SIZE;
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	unsigned int i = rpcrdma2_position_zero(cl) ? 1 : 0;
	u32 left = job_base_length(job), from = 0, to = 0, n;
	int rc;

	for (; i < cl->nreads; i++) {
		const struct rpcrdma2_chunk *chunk = &cl->reads[i];

		if (chunk->position < to || chunk->position - to > left)
			return -EBADMSG;
		n = chunk->position - to;
		rc = walker->base(job, to, from, n);
		if (!rc)
			rc = walker->chunk(job, chunk->position, chunk);
		if (rc)
			return rc;
		from += n;
		left -= n;
		to = chunk->position + xdr_align_size(chunk->length);
		if (to > limit)
			return -EMSGSIZE;
	}
	if (left > limit - to)
		return -EMSGSIZE;
	rc = walker->base(job, to, from, left);
	if (length)
		*length = to + left;
	return rc;
}

static int job_measure_base(struct rpcrdma2_job *job, u32 to, u32 from,
			    u32 length)
{
	return 0;
}

static int job_measure_chunk(struct rpcrdma2_job *job, u32 to,
			     const struct rpcrdma2_chunk *chunk)
{
	return 0;
}

static const struct walker measure = {
	.base	= job_measure_base,
	.chunk	= job_measure_chunk,
};

/* Make RDMA Reads of @length octets of a chunk, from its octet @skip on, to octet @to. */
static int job_read_range(struct rpcrdma2_job *job,
			  const struct rpcrdma2_chunk *chunk, u32 skip,
			  u32 length, u32 to)
{
	struct rpcrdma2_segment seg;
	unsigned int i;
	u32 n;
	int rc;

	for (i = 0; length; i++) {
		seg = rpcrdma2_chunk_segment(&job->recv->hdr.chunks, chunk, i);
		if (skip >= seg.length) {
			skip -= seg.length;
			continue;
		}
		n = min(length, seg.length - skip);
		rc = rpcrdma2_rw_read(job, &seg, skip, n, to);
		if (rc)
			return rc;
		length -= n;
		to += n;
		skip = 0;
	}
	return 0;
}

static int job_fetch_base(struct rpcrdma2_job *job, u32 to, u32 from,
			  u32 length)
{
	const struct rpcrdma2_chunk *zero =
		rpcrdma2_position_zero(&job->recv->hdr.chunks);

	return zero ? job_read_range(job, zero, from, length, to) : 0;
}

static int job_fetch_chunk(struct rpcrdma2_job *job, u32 to,
			   const struct rpcrdma2_chunk *chunk)
{
	return job_read_range(job, chunk, 0, chunk->length, to);
}

static const struct walker fetch = {
	.base	= job_fetch_base,
	.chunk	= job_fetch_chunk,
};

static void job_copy_to_pages(struct rpcrdma2_job *job, u32 to,
			      const void *from, u32 length)
{
	u32 n;

	for (; length; length -= n, to += n) {
		n = min_t(u32, length, PAGE_SIZE - offset_in_page(to));
		if (from) {
			memcpy_to_page(job->pages[to >> PAGE_SHIFT],
				       offset_in_page(to), from, n);
			from += n;
		} else {
			memzero_page(job->pages[to >> PAGE_SHIFT],
				     offset_in_page(to), n);
		}
	}
}

/* The Reads are done: put the inline octets where they belong. */
static int job_fill_base(struct rpcrdma2_job *job, u32 to, u32 from, u32 length)
{
	struct rpcrdma2_recv *recv = job->recv;

	if (!rpcrdma2_position_zero(&recv->hdr.chunks))
		job_copy_to_pages(job, to, recv->buf + recv->offset + from,
				  length);
	return 0;
}

static int job_fill_chunk(struct rpcrdma2_job *job, u32 to,
			  const struct rpcrdma2_chunk *chunk)
{
	job_copy_to_pages(job, to + chunk->length, NULL,
			  xdr_pad_size(chunk->length));
	return 0;
}

static const struct walker fill = {
	.base	= job_fill_base,
	.chunk	= job_fill_chunk,
};

/* Complete the form with one Read chunk: round-up, then the message behind the chunk. */
static void job_fill_behind_chunk(struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk *chunk = &job->recv->hdr.chunks.reads[0];
	u32 end = xdr_align_size(chunk->length);

	job_fill_chunk(job, 0, chunk);
	job_fill_base(job, end, chunk->position, job->length - end);
}

/*
 * On iWARP each segment takes a registration. The QP has at least RPCRDMA2_OWN_SEGMENTS of
 * them: see qp_read_registrations().
 */
static bool job_has_too_many_segments(const struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	const struct rdma_cm_id *cm_id = job->responder->conn->ep.cm_id;
	unsigned int i, segments = 0;

	if (!rdma_protocol_iwarp(cm_id->device, cm_id->port_num))
		return false;
	for (i = 0; i < cl->nreads; i++)
		segments += cl->reads[i].nsegs;
	return segments > RPCRDMA2_OWN_SEGMENTS;
}

/**
 * rpcrdma2_job_plan - measure a Call's message, and choose its form
 * @job: a job with Read chunks
 *
 * Context: the CQ; or process, between enter and exit.
 *
 * Return: 0; -EBADMSG: a chunk lies outside of the message; -EMSGSIZE: the message is longer
 * than this end serves; -E2BIG: the device can't read so many segments. It can read
 * %RPCRDMA2_OWN_SEGMENTS of all Read chunks together
 */
int rpcrdma2_job_plan(struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	u32 length;
	int rc;

	rc = job_walk(job, &measure, &length);
	if (rc)
		return rc;
	if (job_has_too_many_segments(job))
		return -E2BIG;
	job->linear = cl->nreads > 1 || rpcrdma2_position_zero(cl);
	job->length = job->linear ? length : length - cl->reads[0].position;
	return 0;
}

/* Pages that the CPU keeps come first. Return: number of pages taken from @pages */
static unsigned int job_borrow_pages(struct rpcrdma2_job *job,
				     struct page **pages)
{
	unsigned int i, n = rpcrdma2_job_read_pages(job), kept;

	if (!pages)
		return 0;
	kept = rpcrdma2_pages_take(job->pages, n);
	for (i = 0; i < n - kept; i++) {
		job->pages[kept + i] = pages[i];
		pages[i] = NULL;
	}
	job->nr_pages = n;
	return n - kept;
}

static void job_return_pages(struct rpcrdma2_job *job, struct page **pages,
			     unsigned int taken)
{
	unsigned int kept = job->nr_pages - taken;

	if (taken)
		memcpy(pages, job->pages + kept, taken * sizeof(*pages));
	rpcrdma2_pages_give(job->pages, kept);
	job->nr_pages = 0;
}

static void job_reads_done(struct rpcrdma2_chain *chain, int status)
{
	struct rpcrdma2_job *job = container_of(chain, struct rpcrdma2_job,
						read_chain);

	rpcrdma2_rws_release(job);
	job->status = status;
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_READ);
	trace_rpcrdma2_call_read_done(job, status);
	job->read_done(job);
}

static int job_post_reads(struct rpcrdma2_job *job)
{
	struct ib_send_wr *first, *last;
	unsigned int count;

	trace_rpcrdma2_call_read(job, 0);
	if (list_empty(&job->rws)) {
		job_reads_done(&job->read_chain, 0);
		return 0;
	}
	rpcrdma2_rw_chain(job, NULL, &first, &last, &count);
	rpcrdma2_chain_init(&job->read_chain, job->xid, first, last, count,
			    job_reads_done);
	job->read_chain.prompt = true;
	job->read_chain.reads = true;
	return rpcrdma2_chain_post(&job->responder->conn->ep, &job->read_chain);
}

/**
 * rpcrdma2_job_read - post the RDMA Reads of a Call's arguments
 * @job: an admitted job. If it has Read chunks, rpcrdma2_job_plan() returned 0
 * @pages: pages to read into, besides those that the CPU keeps. NULL replaces each page that
 *	is taken. If @pages is NULL, rpcrdma2_job_lend() has filled @job's own pages
 * @max_pages: number of entries in @pages, or of @job's own pages
 * @done: called when the Reads have ended, perhaps before this function returns; CQ context
 *	or the teardown. If there is nothing to read, this function calls it
 *
 * On failure the caller keeps @job and @pages. The pages that were lent for the arguments are
 * given back; those for the Reply stay lent.
 *
 * Context: process, between enter and exit; may sleep for memory.
 *
 * Return: number of @pages that were taken, and @done is called; or an error, and @done is
 * not called: -EMSGSIZE: the arguments take more than @max_pages; -EAGAIN: the device has no
 * registration left for now; another negative errno
 */
int rpcrdma2_job_read(struct rpcrdma2_job *job, struct page **pages,
		      unsigned int max_pages,
		      void (*done)(struct rpcrdma2_job *job))
{
	unsigned int taken;
	int rc = 0;

	if (rpcrdma2_job_read_pages(job) > max_pages)
		return -EMSGSIZE;
	taken = job_borrow_pages(job, pages);
	job->read_done = done;
	if (!rpcrdma2_job_has_reads(job))
		;
	else if (job->linear)
		rc = job_walk(job, &fetch, NULL);
	else
		rc = job_fetch_chunk(job, 0, &job->recv->hdr.chunks.reads[0]);
	if (!rc)
		rc = job_post_reads(job);
	if (!rc)
		return taken;

	rpcrdma2_rws_release(job);
	job->moved.reads = 0;
	job->moved.read_octets = 0;
	job->moved.read_waits += rc == -EAGAIN;
	job_return_pages(job, pages, taken);
	return rc;
}

/* The Call would fail with any number of tries: refuse it. The connection may stay. */
static bool job_reads_are_wrong(int rc)
{
	return rc == -EMSGSIZE || rc == -EINVAL || rc == -EAGAIN;
}

/**
 * rpcrdma2_reads_start - start to read a Call's arguments
 * @job: the job, admitted out of @to_read; no longer the caller's
 * @pages: pages to read into, as for rpcrdma2_job_read()
 * @max_pages: number of entries in @pages, or of @job's own pages
 * @done: called when the Reads have ended, in CQ context, in the teardown, or before this
 *	function returns. @done calls rpcrdma2_read_end()
 *
 * A Call that can't be read now is queued again, refused, or dropped with its connection.
 * @done is not called then.
 *
 * Context: process, between enter and exit; no locks held. May sleep for memory.
 *
 * Return: number of @pages that were taken
 */
unsigned int rpcrdma2_reads_start(struct rpcrdma2_job *job, struct page **pages,
				  unsigned int max_pages,
				  void (*done)(struct rpcrdma2_job *job))
{
	int rc;

	rpcrdma2_read_begin(job);
	rc = rpcrdma2_job_read(job, pages, max_pages, done);
	if (rc >= 0)
		return rc;
	if (rpcrdma2_is_transient(rc) && rpcrdma2_read_later(job))
		return 0;
	rpcrdma2_read_end(job);
	if (job_reads_are_wrong(rc)) {
		rpcrdma2_job_refuse_reads(job, rc);
		return 0;
	}
	/*
	 * The requester sends the Call again on its next connection. An RDMA2_ERROR would
	 * end the RPC.
	 */
	rpcrdma2_conn_close(job->responder->conn, rc);
	rpcrdma2_job_put(job);
	return 0;
}

/*
 * Do the XID and the direction of the RPC message agree with the header (v2-09, 3.2)? The
 * decoder of headers has checked an inline message, and no other.
 */
static bool job_is_the_call(const struct rpcrdma2_job *job)
{
	__be32 words[2];

	memcpy_from_page((char *)words, job->pages[0], 0, sizeof(words));
	return rpcrdma2_rpc_agrees(words, job->xid, false);
}

/**
 * rpcrdma2_job_read_finish - complete a message after its RDMA Reads
 * @job: a job whose @read_done was called with @status 0; or one without Read chunks
 *
 * Context: any but interrupts.
 *
 * Return: 0; -EBADMSG: the message is no Call, or has another XID than the header
 */
int rpcrdma2_job_read_finish(struct rpcrdma2_job *job)
{
	if (!rpcrdma2_job_has_reads(job))
		return 0;
	if (!job->linear) {
		job_fill_behind_chunk(job);
		return 0;
	}
	job_walk(job, &fill, NULL);
	return job_is_the_call(job) ? 0 : -EBADMSG;
}

static void job_arg_inline(struct rpcrdma2_job *job, struct xdr_buf *arg)
{
	struct rpcrdma2_recv *recv = job->recv;

	arg->head[0].iov_base = recv->buf + recv->offset;
	arg->head[0].iov_len = recv->len;
}

static void job_arg_around_chunk(struct rpcrdma2_job *job, struct xdr_buf *arg)
{
	job_arg_inline(job, arg);
	arg->head[0].iov_len = job->recv->hdr.chunks.reads[0].position;
	arg->page_len = job->length;
}

static void job_arg_linear(struct rpcrdma2_job *job, struct xdr_buf *arg)
{
	arg->head[0].iov_base = page_address(arg->pages[0]);
	arg->head[0].iov_len = min_t(u32, job->length, PAGE_SIZE);
	arg->pages++;
	arg->page_len = job->length - arg->head[0].iov_len;
}

/**
 * rpcrdma2_job_arg - describe a Call's RPC message
 * @job: a job without Read chunks, or after rpcrdma2_job_read_finish()
 * @arg: becomes the message; valid until the Reply is posted or @job is put
 * @pages: an array that has the pages of the message, in order
 *
 * Context: any but interrupts.
 */
void rpcrdma2_job_arg(struct rpcrdma2_job *job, struct xdr_buf *arg,
		      struct page **pages)
{
	*arg = (struct xdr_buf){ .pages = pages };
	if (!rpcrdma2_job_has_reads(job))
		job_arg_inline(job, arg);
	else if (job->linear)
		job_arg_linear(job, arg);
	else
		job_arg_around_chunk(job, arg);
	arg->len = arg->head[0].iov_len + arg->page_len;
	arg->buflen = arg->len;
}
