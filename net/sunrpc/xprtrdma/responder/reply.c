// SPDX-License-Identifier: GPL-2.0
/*
 * From an xdr_buf to a Reply.
 *
 * The server program names payloads of its Reply. Each payload travels by the Write chunk of
 * the same rank, if the requester offered one with segments. The payload and its round-up
 * leave the message then. The rest goes inline if it fits, or else by the Reply chunk.
 *
 * RDMA Writes and the Send are one chain. The job owns the pages under RDMA Write until the
 * Send completes. If memory is lacking, the job keeps the Reply, and the worker of retry.c
 * tries again. Replies are made in process context; the CQ, or the teardown, ends them.
 */
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/**
 * rpcrdma2_job_add_payload - name a part of the Reply that may travel by a Write chunk
 * @job: the job
 * @offset: where the part starts in the Reply, octets
 * @length: octets, without round-up
 *
 * Payloads beyond the last Write chunk travel with the rest of the message.
 *
 * Context: any; the caller holds the job.
 *
 * Return: 0; -EINVAL if the part does not lie behind the one named before
 */
int rpcrdma2_job_add_payload(struct rpcrdma2_job *job, u32 offset, u32 length)
{
	struct rpcrdma2_payload *payload = &job->payloads[job->nr_payloads];
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;

	if (job->nr_payloads &&
	    offset < payload[-1].offset + xdr_align_size(payload[-1].length))
		return -EINVAL;
	if (job->nr_payloads >= cl->nwrites)
		return 0;
	payload->offset = offset;
	/* A Write chunk without segments asks for this payload inline (RFC 8267). */
	payload->length = cl->writes[job->nr_payloads].nsegs ? length : 0;
	job->nr_payloads++;
	return 0;
}

/* Where the next RDMA Write to a chunk begins: a segment, and octets used of it */
struct place {
	unsigned int	segment;
	u32		used;
};

/* A Reply under construction */
struct builder {
	struct rpcrdma2_job	*job;
	const struct xdr_buf	*res;
	struct rpcrdma2_send	*send;
	struct place		reply_chunk;
	struct rpcrdma2_header	hdr;
};

static u32 job_payload_end(const struct builder *b,
			   const struct rpcrdma2_payload *payload)
{
	u32 end = payload->offset + xdr_align_size(payload->length);

	return min_t(u32, end, b->res->len);
}

/* The program may have shortened its Reply since it named payloads: drop those past the end. */
static void job_drop_stale_payloads(struct builder *b)
{
	struct rpcrdma2_job *job = b->job;
	struct rpcrdma2_payload *last;

	for (; job->nr_payloads; job->nr_payloads--) {
		last = &job->payloads[job->nr_payloads - 1];
		if (last->offset <= b->res->len &&
		    last->length <= b->res->len - last->offset)
			break;
	}
}

static u32 job_reduced_length(const struct builder *b)
{
	const struct rpcrdma2_payload *payload = b->job->payloads;
	u32 length = b->res->len;
	unsigned int i;

	for (i = 0; i < b->job->nr_payloads; i++, payload++)
		length -= job_payload_end(b, payload) - payload->offset;
	return length;
}

/* Call @run for each part of the Reply that is in no payload. Stop at the first error. */
static int job_each_run(struct builder *b,
			int (*run)(struct builder *b, u32 offset, u32 length))
{
	const struct rpcrdma2_payload *payload = b->job->payloads;
	u32 offset = 0;
	unsigned int i;
	int rc;

	for (i = 0; i < b->job->nr_payloads; i++, payload++) {
		rc = run(b, offset, payload->offset - offset);
		if (rc)
			return rc;
		offset = job_payload_end(b, payload);
	}
	return run(b, offset, b->res->len - offset);
}

static int job_copy_run(struct builder *b, u32 offset, u32 length)
{
	return rpcrdma2_send_append(b->send, b->res, offset, length);
}

/* Continue in chunk @offer at @at: the octets before were written up to there. */
static int job_write_on(struct builder *b, const struct rpcrdma2_chunk *offer,
			struct place *at, u32 offset, u32 length)
{
	const struct rpcrdma2_chunk_lists *cl = &b->job->recv->hdr.chunks;
	struct rpcrdma2_segment seg;
	u32 n;
	int rc;

	while (length) {
		seg = rpcrdma2_chunk_segment(cl, offer, at->segment);
		n = min(length, seg.length - at->used);
		if (n) {
			rc = rpcrdma2_rw_write(b->job, &seg, at->used, b->res,
					       offset, n);
			if (rc)
				return rc;
		}
		offset += n;
		length -= n;
		at->used += n;
		if (at->used == seg.length) {
			at->segment++;
			at->used = 0;
		}
	}
	return 0;
}

/* The Reply returns each Write chunk, with the number of octets that were written. */
static int job_write_payloads(struct builder *b)
{
	const struct rpcrdma2_chunk_lists *cl = &b->job->recv->hdr.chunks;
	struct rpcrdma2_chunk_lists *ours = &b->hdr.chunks;
	const struct rpcrdma2_payload *payload;
	unsigned int i;
	int rc;

	for (i = 0; i < cl->nwrites; i++) {
		struct place start = { };

		payload = &b->job->payloads[i];
		rpcrdma2_return_chunk(ours, rpcrdma2_add_write_chunk(ours),
				      &cl->writes[i],
				      i < b->job->nr_payloads ?
				      payload->length : 0);
		if (!ours->writes[i].length)
			continue;
		rc = job_write_on(b, &cl->writes[i], &start, payload->offset,
				  payload->length);
		if (rc)
			return rc;
	}
	return 0;
}

/* All runs go to the Reply chunk, one behind the other. */
static int job_write_run(struct builder *b, u32 offset, u32 length)
{
	return job_write_on(b, &b->job->recv->hdr.chunks.reply, &b->reply_chunk,
			    offset, length);
}

/* Is each Write chunk large enough for its payload? If not, @error says so (v2-09, 5.3.3). */
static int job_check_offer(const struct builder *b,
			   struct rpcrdma2_error *error)
{
	const struct rpcrdma2_chunk_lists *cl = &b->job->recv->hdr.chunks;
	unsigned int i;

	for (i = 0; i < b->job->nr_payloads; i++) {
		if (b->job->payloads[i].length <= cl->writes[i].length)
			continue;
		error->code = RDMA2_ERR_WRITE_RESOURCE;
		error->chunk_index = i + 1;
		error->length_needed = b->job->payloads[i].length;
		return -EMSGSIZE;
	}
	return 0;
}

static int job_choose_inline_or_chunk(struct builder *b,
				      struct rpcrdma2_error *error)
{
	const struct rpcrdma2_chunk_lists *cl = &b->job->recv->hdr.chunks;
	struct rpcrdma2_conn *conn = b->job->responder->conn;
	u32 length = job_reduced_length(b), size, limit;
	bool fits = cl->has_reply && cl->reply.length >= length;
	int rc;

	/*
	 * Without a large enough Reply chunk, the Reply has to go inline. It may then be as long as
	 * the peer's Receives, even if @limit.call was lowered since.
	 */
	limit = fits ? READ_ONCE(conn->ep.limit.call) : READ_ONCE(conn->ep.limit.reply);
	size = rpcrdma2_header_size(conn->terms.dialect, &b->hdr) + length;
	if (size <= min(limit, b->send->size)) {
		rc = rpcrdma2_send_encode(b->send, &b->hdr);
		return rc ?: job_each_run(b, job_copy_run);
	}
	if (!fits && size <= limit)
		/* The peer can take the Reply, but this Send buffer is too small for now. */
		return -ENOMEM;
	if (!fits) {
		error->code = RDMA2_ERR_REPLY_RESOURCE;
		error->length_needed = length;
		return -EMSGSIZE;
	}
	b->hdr.kind = RPCRDMA2_NOMSG;
	rpcrdma2_return_chunk(&b->hdr.chunks,
			      rpcrdma2_add_reply_chunk(&b->hdr.chunks),
			      &cl->reply, length);
	rc = job_each_run(b, job_write_run);
	return rc ?: rpcrdma2_send_encode(b->send, &b->hdr);
}

static int job_build_reply(struct builder *b, struct rpcrdma2_error *error)
{
	struct rpcrdma2_conn *conn = b->job->responder->conn;
	int rc;

	rpcrdma2_rpc_header(&b->hdr, b->job->xid, b->job->vers,
			    READ_ONCE(conn->ep.grant.now), true,
			    b->job->recv->hdr.chunks.words);
	job_drop_stale_payloads(b);
	rc = job_check_offer(b, error);
	if (!rc)
		rc = job_write_payloads(b);
	return rc ?: job_choose_inline_or_chunk(b, error);
}

/* CQ context, or the teardown */
static void job_reply_sent(struct rpcrdma2_send *send, int status)
{
	struct rpcrdma2_job *job = send->owner;

	trace_rpcrdma2_reply_done(job, status);
	rpcrdma2_job_put(job);
}

/*
 * A server's thread keeps a Reply below this limit from recvfrom on. But a Call that sunrpc
 * deferred comes to a thread without recvfrom.
 */
static bool job_may_keep_pages(const struct rpcrdma2_job *job,
			       unsigned int nr_pages)
{
	return job->nr_pages + nr_pages <=
	       job->responder->conn->param.job_pages;
}

/* The pages of a Reply that waited are the job's already, and @nr_pages is 0 then. */
static void job_keep_pages(struct rpcrdma2_job *job, struct page **pages,
			   unsigned int nr_pages)
{
	unsigned int i;

	for (i = 0; i < nr_pages; i++) {
		job->pages[job->nr_pages++] = pages[i];
		pages[i] = NULL;
	}
}

static void job_chain_writes(struct rpcrdma2_job *job,
			     struct rpcrdma2_send *send)
{
	struct ib_send_wr *first, *last;
	unsigned int count;

	rpcrdma2_rw_chain(job, send->chain.first, &first, &last, &count);
	rpcrdma2_chain_prepend(&send->chain, first, count);
}

/* On success the job is put: now, or when the Send of a Reply with RDMA Writes completes. */
static int job_post_reply(struct builder *b, struct page **pages,
			  unsigned int nr_pages)
{
	u32 inv_handle = b->job->recv->hdr.chunks.inv_handle;
	struct rpcrdma2_send *send = b->send;
	struct rpcrdma2_job *job = b->job;
	bool writes = !list_empty(&job->rws);
	int rc;

	rpcrdma2_send_prepare(send);
	if (inv_handle) {
		send->wr.opcode = IB_WR_SEND_WITH_INV;
		send->wr.ex.invalidate_rkey = inv_handle;
	}
	if (writes) {
		if (!job_may_keep_pages(job, nr_pages))
			return -EMSGSIZE;
		job_keep_pages(job, pages, nr_pages);
		job_chain_writes(job, send);
		send->chain.prompt = true;
		send->owner = job;
		send->done = job_reply_sent;
	}
	if (!rpcrdma2_send_fits(send))
		return -EMSGSIZE;
	trace_rpcrdma2_reply_send(job->responder->conn, &b->hdr,
				  send->sge.length);
	job->form = rpcrdma2_counted_form(&b->hdr.chunks);
	rpcrdma2_job_give_credit(job);
	rpcrdma2_job_advance(job, RPCRDMA2_JOB_REPLIED);
	rc = rpcrdma2_send_post(send);
	/*
	 * The peer's limit fell meanwhile. An RDMA2_ERROR instead is too late, as the credit is
	 * given back. So the connection ends.
	 */
	if (rc == -EMSGSIZE)
		rc = -ENOTCONN;
	if (rc)
		rpcrdma2_job_advance(job, RPCRDMA2_JOB_RUNNING);
	else if (!writes)
		rpcrdma2_job_put(job);
	return rc;
}

/*
 * A thread whose Reply may wait tries only once to allocate a Send buffer. Without
 * __GFP_NORETRY, the allocator could keep the thread searching for contiguous pages, although a
 * buffer may come back meanwhile. The Reply waits for that buffer; the thread does not.
 */
static int job_get_send(struct builder *b, bool may_wait)
{
	struct rpcrdma2_conn *conn = b->job->responder->conn;
	int rc = -ENOBUFS;

	b->send = rpcrdma2_send_get(&conn->ep);
	if (!b->send && may_wait) {
		rc = rpcrdma2_send_pool_provide(&conn->ep,
						GFP_KERNEL | __GFP_NORETRY);
		/* Get the new buffer, or one that came back. Another thread may have taken both. */
		b->send = rpcrdma2_send_get(&conn->ep);
		if (!rc && !b->send)
			rc = -ENOMEM;
	}
	return b->send ? 0 : rc;
}

static void job_hold_reply(struct rpcrdma2_job *job, const struct xdr_buf *res,
			   struct page **pages, unsigned int nr_pages)
{
	job->reply = *res;
	job->reply.pages = job->pages + (res->pages - pages);
	job_keep_pages(job, pages, nr_pages);
}

/* Such a Reply is refused in the end, so it is not worth its pages while it waits. */
static bool job_reply_fits_nowhere(struct builder *b)
{
	const struct rpcrdma2_chunk_lists *cl = &b->job->recv->hdr.chunks;
	struct rpcrdma2_error error;
	u32 length;

	job_drop_stale_payloads(b);
	length = job_reduced_length(b);
	return job_check_offer(b, &error) ||
	       (length > READ_ONCE(b->job->responder->conn->ep.limit.reply) &&
		!(cl->has_reply && cl->reply.length >= length));
}

/*
 * The RPC was executed, so its Reply must not be lost. The job takes the Reply's pages, and
 * the transfers made so far are undone. admit_timer_work() closes the connection if a Reply
 * waits too long.
 *
 * Return: false if the Reply can't wait
 */
static bool job_wait_for_memory(struct builder *b, struct page **pages,
				unsigned int nr_pages)
{
	struct rpcrdma2_job *job = b->job;

	if (job_reply_fits_nowhere(b) || !job_may_keep_pages(job, nr_pages))
		return false;
	if (!job->nr_pages)
		job_hold_reply(job, b->res, pages, nr_pages);
	rpcrdma2_wait_begin(job);
	trace_rpcrdma2_wait(&job->responder->conn->ep, job->xid,
			    RPCRDMA2_WAIT_SEND_BUFFER, 0, 0);
	rpcrdma2_rws_release(job);
	job->moved.writes = 0;
	job->moved.write_octets = 0;
	return true;
}

/*
 * Return: as rpcrdma2_job_reply(); or -EAGAIN: memory is lacking, the job has the Reply, and
 * the caller arranges for job_reply_again()
 */
static int job_try_reply(struct rpcrdma2_job *job, const struct xdr_buf *res,
			 struct page **pages, unsigned int nr_pages)
{
	struct rpcrdma2_conn *conn = job->responder->conn;
	bool may_wait = nr_pages || job->nr_pages;
	struct rpcrdma2_error error = { };
	/* Zeroing all of it takes time. Each member is set here or below before it is used. */
	struct builder b __uninitialized;
	int rc;

	b.job = job;
	b.res = res;
	b.reply_chunk = (struct place){ };
	rc = job_get_send(&b, may_wait);
	if (rc && !may_wait)
		return -ENOBUFS;
	if (rc)
		goto out_wait;
	rc = job_build_reply(&b, &error);
	if (error.code)
		goto out_refuse;
	if (rc)
		goto out_put_send;
	rc = job_post_reply(&b, pages, nr_pages);
	if (!rc)
		return 0;
	if (rc != -EMSGSIZE)
		goto out_put_send;
	error.code = RDMA2_ERR_SYSTEM;

out_refuse:
	rpcrdma2_send_put(b.send);
	rpcrdma2_rws_release(job);
	rpcrdma2_job_refuse(job, &error);
	return 0;

out_put_send:
	rpcrdma2_send_put(b.send);
out_wait:
	if (rpcrdma2_is_transient(rc) && !may_wait) {
		rpcrdma2_rws_release(job);
		return -ENOBUFS;
	}
	if (rpcrdma2_is_transient(rc) &&
	    job_wait_for_memory(&b, pages, nr_pages))
		return -EAGAIN;
	rpcrdma2_conn_close(conn, rc);
	rpcrdma2_job_put(job);
	return -ENOTCONN;
}

static int job_reply_again(struct rpcrdma2_job *job)
{
	return job_try_reply(job, &job->reply, NULL, 0);
}

/**
 * rpcrdma2_job_reply - send a Reply, or an RDMA2_ERROR in its place
 * @job: the job; no longer the caller's, unless -ENOBUFS is returned
 * @res: the RPC message
 * @pages: all pages that @res refers to. The job takes them if the Reply has RDMA Writes, or
 *	has to wait, and leaves NULL. A Reply without @pages does not wait
 * @nr_pages: number of @pages
 *
 * Context: process, between enter and exit; may sleep for memory.
 *
 * Return: 0: the Reply, or an error, is posted, or a worker posts the Reply later; -ENOBUFS:
 * memory is lacking, and the Reply can't wait; -ENOTCONN: the connection is closing
 */
int rpcrdma2_job_reply(struct rpcrdma2_job *job, const struct xdr_buf *res,
		       struct page **pages, unsigned int nr_pages)
{
	int rc = job_try_reply(job, res, pages, nr_pages);

	if (rc != -EAGAIN)
		return rc;
	rpcrdma2_retry_delayed(job, job_reply_again);
	return 0;
}

/**
 * rpcrdma2_job_reply_later - have the worker send a Reply that stands in lent pages
 * @job: the job; no longer the caller's
 * @res: the RPC message, in pages from rpcrdma2_job_lend(). The pages of the Call are given
 *	back, so @res must not refer to them
 *
 * Context: process, between enter and exit.
 */
void rpcrdma2_job_reply_later(struct rpcrdma2_job *job,
			      const struct xdr_buf *res)
{
	unsigned int used;

	rpcrdma2_pages_give(job->pages, job->nr_pages);
	job->nr_pages = 0;
	used = res->pages - job->lent +
	       DIV_ROUND_UP(res->page_base + res->page_len, PAGE_SIZE);
	job_hold_reply(job, res, job->lent, min(used, job->nr_lent));
	rpcrdma2_job_take_back(job);
	rpcrdma2_retry_job(job, job_reply_again, 0);
}
