// SPDX-License-Identifier: GPL-2.0
/*
 * From a Call's message to an xdr_buf.
 *
 * Without Read chunks the message stands in the Receive buffer. With one Read
 * chunk, the usual case of an NFS WRITE, its contents are read to the start
 * of a page: the xdr_buf has the message before it as head, the contents and a
 * copy of the rest of the message as pages. Not as tail: nfsd takes what follows
 * the head for pages, whatever is in them. Everything else (a Position-Zero
 * Read chunk, several Read chunks) is assembled in pages from the first octet
 * on, each chunk read to where its position says.
 *
 * Positions count the round-up of the chunks before them, which need not
 * travel; it is supplied here, as zeroes.
 */
#include <linux/highmem.h>

#include "responder.h"

#include <trace/events/rpcrdma2.h>

/**
 * rpcrdma2_job_has_reads - must rpcrdma2_job_read() be called?
 * @job: a job that came from rpcrdma2_job_get()
 *
 * Return: whether its Call has Read chunks
 */
bool rpcrdma2_job_has_reads(const struct rpcrdma2_job *job)
{
	return job->recv->hdr.chunks.nreads;
}

/* The stream that Read chunks are cut out of: inline, or at position zero. */
static u32 job_base_length(const struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	const struct rpcrdma2_chunk *zero = rpcrdma2_position_zero(cl);

	return zero ? zero->length : job->recv->len;
}

/*
 * A walk over the assembled message calls @base for each run of the base
 * stream and @chunk for each Read chunk cut out of it.
 */
struct walker {
	int	(*base)(struct rpcrdma2_job *job, u32 to, u32 from, u32 length);
	int	(*chunk)(struct rpcrdma2_job *job, u32 to,
			 const struct rpcrdma2_chunk *chunk);
};

/* Return: length of the message, 0 if chunks lie outside it, or an error. */
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

/* Read @length octets of a chunk, from @skip on. */
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

/* After the Reads: what came inline, and round-up. */
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

/* The only chunk, at the start of the pages, and the message behind it */
static void job_fill_behind_chunk(struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk *chunk = &job->recv->hdr.chunks.reads[0];
	u32 end = xdr_align_size(chunk->length);

	job_fill_chunk(job, 0, chunk);
	job_fill_base(job, end, chunk->position, job->length - end);
}

/* On iWARP each segment takes a registration, of which there are so many at least. */
static bool job_has_too_many_segments(const struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;
	const struct rdma_cm_id *cm_id = job->responder->conn->cm_id;
	unsigned int i, segments = 0;

	if (!rdma_protocol_iwarp(cm_id->device, cm_id->port_num))
		return false;
	for (i = 0; i < cl->nreads; i++)
		segments += cl->reads[i].nsegs;
	return segments > RPCRDMA2_OWN_SEGMENTS;
}

/**
 * rpcrdma2_job_plan - what will be read, and where to
 * @job: a job with Read chunks
 *
 * The CQ, or between enter and exit.
 *
 * Return: 0; -EBADMSG: chunks lie outside the message; -EMSGSIZE: it is longer than
 * any that is served; -E2BIG: it comes in more segments than the device can read, of
 * which there may be %RPCRDMA2_OWN_SEGMENTS for all Read chunks
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

/**
 * rpcrdma2_job_read_pages - how many pages will be read to?
 * @job: a job that rpcrdma2_job_plan() returned 0 for
 *
 * Return: pages
 */
unsigned int rpcrdma2_job_read_pages(const struct rpcrdma2_job *job)
{
	return DIV_ROUND_UP(job->length, PAGE_SIZE);
}

/* Return: how many were taken of @pages */
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
	return rpcrdma2_chain_post(job->responder->conn, &job->read_chain);
}

/**
 * rpcrdma2_job_read - start to read a Call's arguments, if it has Read chunks
 * @job: a job that rpcrdma2_job_plan() returned 0 for, if so
 * @pages: pages to read into, besides those that were given back; those that are
 *	taken are replaced by NULL. NULL: rpcrdma2_job_lend() got some
 * @max_pages: how many there are
 * @done: called when all is read, or failed; CQ context or teardown, perhaps
 *	before this function returns
 *
 * Between enter and exit; process context, sleeps for memory at most.
 *
 * Return: 0 or more: how many of @pages were taken, and @done will be called;
 * otherwise the job stays the caller's, as do @pages:
 * -EMSGSIZE: there is more to read than @max_pages; -EAGAIN: the device is out of
 * registrations for now; another negative errno. What the job was lent is given back
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

/* What a decoder sees to where the RPC message is inline: v2-09, 3.2 */
static bool job_is_the_call(const struct rpcrdma2_job *job)
{
	__be32 words[2];

	memcpy_from_page((char *)words, job->pages[0], 0, sizeof(words));
	return rpcrdma2_rpc_agrees(words, job->xid, false);
}

/**
 * rpcrdma2_job_read_finish - the Reads are done: complete the message
 * @job: a job whose @read_done was called, with status 0
 *
 * Return: 0; -EBADMSG: what was read is another RPC's, or no Call
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
 * rpcrdma2_job_arg - describe the Call's RPC message
 * @job: a job without Read chunks, or one that is finished reading
 * @arg: where to
 * @pages: the array that now has the job's pages, in order
 *
 * @arg is valid until the job is replied to or put.
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
