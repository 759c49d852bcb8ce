// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Reads and Writes by the rdma_rw API, one segment each.
 *
 * A transfer (struct rpcrdma2_rw) belongs to its job from rw_start() to
 * rpcrdma2_rws_release(). Free transfers are in two pools of the responder, under its lock.
 * Transfers are made in process context between enter and exit, and released in any context
 * but interrupts.
 */
#include "rdma/device.h"
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/* Entries besides the whole pages: head, tail, and data that starts within a page */
#define EXTRA_NENTS	3

/*
 * A small transfer contains its entries. A large one has a chain of lists, each within a page.
 * Each pool keeps KEPT_RWS transfers. Others are allocated and freed as needed, because a peer
 * chooses the number of segments.
 */
#define FEW_NENTS	16
#define KEPT_RWS	16

/* Entries for a MiB. rdma_rw allocates an SGE for each entry: limit these SGEs to a page. */
#define FULL_NENTS	min_t(u32, (SZ_1M >> PAGE_SHIFT) + EXTRA_NENTS, \
			      PAGE_SIZE / sizeof(struct ib_sge))

/* Octets of an entry: no device and no bounce buffer takes less. */
#define ENTRY_MAX	SZ_64K

static bool rw_is_large(const struct rpcrdma2_rw *rw)
{
	return rw->sg.sgl != rw->few;
}

static struct rpcrdma2_rw *rw_alloc(bool large)
{
	struct rpcrdma2_rw *rw;

	rw = kmalloc(struct_size(rw, few, large ? 0 : FEW_NENTS), GFP_KERNEL);
	if (!rw)
		return NULL;
	rw->nents = 0;
	rw->sg.sgl = rw->few;
	if (!large) {
		sg_init_table(rw->few, FEW_NENTS);
	} else if (sg_alloc_table(&rw->sg, FULL_NENTS, GFP_KERNEL)) {
		kfree(rw);
		return NULL;
	}
	return rw;
}

static void rw_free(struct rpcrdma2_rw *rw)
{
	if (rw_is_large(rw))
		sg_free_table(&rw->sg);
	kfree(rw);
}

static struct rpcrdma2_rw_pool *rw_pool_of(struct rpcrdma2_responder *responder,
					   bool large)
{
	return large ? &responder->large_rws : &responder->small_rws;
}

static struct rpcrdma2_rw *rw_get(struct rpcrdma2_responder *responder,
				  u32 length)
{
	bool large = DIV_ROUND_UP(length, PAGE_SIZE) + EXTRA_NENTS > FEW_NENTS;
	struct rpcrdma2_rw_pool *pool = rw_pool_of(responder, large);
	struct rpcrdma2_rw *rw;

	spin_lock(&responder->lock);
	rw = list_first_entry_or_null(&pool->free, struct rpcrdma2_rw, list);
	if (rw) {
		list_del(&rw->list);
		pool->nr--;
	}
	spin_unlock(&responder->lock);
	return rw ?: rw_alloc(large);
}

static void rw_put(struct rpcrdma2_responder *responder,
		   struct rpcrdma2_rw *rw)
{
	struct rpcrdma2_rw_pool *pool = rw_pool_of(responder, rw_is_large(rw));
	bool keep;

	rw->nents = 0;
	rpcrdma2_sg_reset(rw->sg.sgl);
	spin_lock(&responder->lock);
	keep = pool->nr < KEPT_RWS;
	if (keep) {
		list_add(&rw->list, &pool->free);
		pool->nr++;
	}
	spin_unlock(&responder->lock);
	if (!keep)
		rw_free(rw);
}

static struct scatterlist *rw_add_entry(struct rpcrdma2_rw *rw)
{
	rw->last = rw->nents++ ? sg_next(rw->last) : rw->sg.sgl;
	return rw->last;
}

/* Memory that continues the last entry joins it: a WR moves more with its SGEs then. */
static void rw_add_piece(struct rpcrdma2_rw *rw, struct page *page,
			 unsigned int length, unsigned int offset, u32 entry_max)
{
	if (rw->nents && rw->last->length + length <= entry_max &&
	    sg_phys(rw->last) + rw->last->length == page_to_phys(page) + offset)
		rw->last->length += length;
	else
		sg_set_page(rw_add_entry(rw), page, length, offset);
}

static int rw_start(struct rpcrdma2_job *job, struct rpcrdma2_rw *rw,
		    const struct rpcrdma2_segment *seg, u32 skip, u32 length,
		    enum dma_data_direction dir)
{
	struct rpcrdma2_conn *conn = job->responder->conn;
	int rc;

	rw->dir = dir;
	rc = rdma_rw_ctx_init(&rw->ctx, conn->ep.qp, conn->ep.cm_id->port_num,
			      rw->sg.sgl, rw->nents, 0, seg->offset + skip,
			      seg->handle, dir);
	if (rc < 0) {
		rw_put(job->responder, rw);
		return rc;
	}
	list_add_tail(&rw->list, &job->rws);
	if (dir == DMA_FROM_DEVICE) {
		job->moved.reads++;
		job->moved.read_octets += length;
	} else {
		job->moved.writes++;
		job->moved.write_octets += length;
	}
	return 0;
}

static int rw_read_part(struct rpcrdma2_job *job,
			const struct rpcrdma2_segment *seg, u32 skip,
			u32 length, u32 to, u32 entry_max)
{
	struct rpcrdma2_rw *rw = rw_get(job->responder, length);
	u32 left = length, n;

	if (!rw)
		return -ENOMEM;
	for (; left; left -= n, to += n) {
		n = min_t(u32, left, PAGE_SIZE - offset_in_page(to));
		rw_add_piece(rw, job->pages[to >> PAGE_SHIFT], n,
			     offset_in_page(to), entry_max);
	}
	trace_rpcrdma2_rdma_read(job->responder->conn, job->xid, seg, length);
	return rw_start(job, rw, seg, skip, length, DMA_FROM_DEVICE);
}

/*
 * Read the partial pages at both ends and the whole pages between them separately. A partial
 * page's bounce buffer may begin elsewhere in its page, which leaves a gap in a registration.
 */
static int rw_split_read(struct rpcrdma2_job *job,
			 const struct rpcrdma2_segment *seg, u32 skip,
			 u32 length, u32 to)
{
	u32 n;
	int rc;

	for (; length; skip += n, length -= n, to += n) {
		n = min_t(u32, length, PAGE_SIZE - offset_in_page(to));
		if (n == PAGE_SIZE)
			n = round_down(length, PAGE_SIZE);
		rc = rw_read_part(job, seg, skip, n, to, PAGE_SIZE);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * The rdma_rw API counts the entries of a registration, as if each were a page. So where it
 * registers each Read, an entry is a page.
 */
static u32 rw_read_entry_max(const struct rdma_cm_id *cm_id)
{
	return rdma_protocol_iwarp(cm_id->device, cm_id->port_num) ? PAGE_SIZE :
								     ENTRY_MAX;
}

/* Return: octets of the longest transfer, out of @length octets that take @nents entries */
static u32 rw_longest_part(u32 length, unsigned int nents)
{
	return nents > FULL_NENTS ? (FULL_NENTS - EXTRA_NENTS) * PAGE_SIZE : length;
}

/**
 * rpcrdma2_rw_read - make RDMA Reads of a part of a segment
 * @job: gets the transfers, and has the pages to read into
 * @seg: the segment to read
 * @skip: octets of @seg to leave out at its start
 * @length: octets to read, more than 0
 * @to: where to put the first octet, in octets from the start of @job's pages
 *
 * Context: process, between enter and exit; sleeps.
 *
 * Return: 0 or negative errno; -EAGAIN: the device has no registration left for now. After an
 * error, rpcrdma2_rws_release() releases transfers that were made before it
 */
int rpcrdma2_rw_read(struct rpcrdma2_job *job,
		     const struct rpcrdma2_segment *seg, u32 skip, u32 length,
		     u32 to)
{
	unsigned int pages = DIV_ROUND_UP(offset_in_page(to) + length, PAGE_SIZE);
	u32 entry_max = rw_read_entry_max(job->responder->conn->ep.cm_id);
	u32 n, longest = rw_longest_part(length, pages);
	int rc;

	for (; length; skip += n, length -= n, to += n) {
		n = min(length, longest);
		rc = rw_read_part(job, seg, skip, n, to, entry_max);
		/* One registration can't cover this memory, or has entries larger than a page. */
		if (rc == -EINVAL)
			rc = rw_split_read(job, seg, skip, n, to);
		if (rc)
			return rc;
	}
	return 0;
}

static void rw_add_kvec(struct rpcrdma2_rw *rw, const struct kvec *vec)
{
	if (vec->iov_len)
		sg_set_buf(rw_add_entry(rw), vec->iov_base, vec->iov_len);
}

static int rw_write_part(struct rpcrdma2_job *job,
			 const struct rpcrdma2_segment *seg, u32 skip,
			 const struct xdr_buf *from)
{
	struct rpcrdma2_rw *rw = rw_get(job->responder, from->len);
	u32 offset = from->page_base, left = from->page_len, n;

	if (!rw)
		return -ENOMEM;
	rw_add_kvec(rw, &from->head[0]);
	for (; left; left -= n, offset += n) {
		n = min_t(u32, left, PAGE_SIZE - offset_in_page(offset));
		rw_add_piece(rw, from->pages[offset >> PAGE_SHIFT], n,
			     offset_in_page(offset), ENTRY_MAX);
	}
	rw_add_kvec(rw, &from->tail[0]);
	trace_rpcrdma2_rdma_write(job->responder->conn, job->xid, seg,
				  from->len);
	return rw_start(job, rw, seg, skip, from->len, DMA_TO_DEVICE);
}

static unsigned int rw_nents(const struct xdr_buf *buf)
{
	return !!buf->head[0].iov_len + !!buf->tail[0].iov_len +
	       DIV_ROUND_UP(offset_in_page(buf->page_base) + buf->page_len,
			    PAGE_SIZE);
}

/**
 * rpcrdma2_rw_write - make RDMA Writes to a part of a segment
 * @job: gets the transfers
 * @seg: the segment to write to
 * @skip: octets of @seg to leave alone at its start
 * @from: buffer with the data
 * @offset: where the data starts in @from, octets
 * @length: octets to write, more than 0
 *
 * Context: process, between enter and exit; sleeps.
 *
 * Return: 0 or negative errno; -EINVAL if @from is too short. After an error,
 * rpcrdma2_rws_release() releases transfers that were made before it
 */
int rpcrdma2_rw_write(struct rpcrdma2_job *job,
		      const struct rpcrdma2_segment *seg, u32 skip,
		      const struct xdr_buf *from, u32 offset, u32 length)
{
	struct xdr_buf part;
	u32 n;
	int rc;

	for (; length; skip += n, offset += n, length -= n) {
		if (xdr_buf_subsegment(from, &part, offset, length))
			return -EINVAL;
		n = rw_longest_part(length, rw_nents(&part));
		if (n < length && xdr_buf_subsegment(from, &part, offset, n))
			return -EINVAL;
		rc = rw_write_part(job, seg, skip, &part);
		if (rc)
			return rc;
	}
	return 0;
}

/**
 * rpcrdma2_rw_chain - link the WRs of a job's transfers
 * @job: a job with at least one transfer
 * @next: WR to link behind the last one, or NULL
 * @first: gets the first WR
 * @last: gets the last WR of the transfers
 * @count: gets the number of WRs from @first to @last
 *
 * Context: process, between enter and exit.
 */
void rpcrdma2_rw_chain(struct rpcrdma2_job *job, struct ib_send_wr *next,
		       struct ib_send_wr **first, struct ib_send_wr **last,
		       unsigned int *count)
{
	struct rpcrdma2_conn *conn = job->responder->conn;
	struct ib_send_wr *wr = next;
	struct rpcrdma2_rw *rw;

	list_for_each_entry_reverse(rw, &job->rws, list)
		wr = rdma_rw_ctx_wrs(&rw->ctx, conn->ep.qp,
				     conn->ep.cm_id->port_num, NULL, wr);
	*first = wr;
	*count = 1;
	for (; wr->next != next; wr = wr->next)
		(*count)++;
	*last = wr;
}

/**
 * rpcrdma2_rws_release - release a job's transfers
 * @job: the job; its transfers have completed, or were never posted
 *
 * Nothing happens without transfers. Otherwise the QP still exists: the teardown returns all
 * chains before it destroys the QP.
 *
 * Context: any but interrupts, no locks held.
 */
void rpcrdma2_rws_release(struct rpcrdma2_job *job)
{
	struct rpcrdma2_conn *conn = job->responder->conn;
	struct rpcrdma2_rw *rw, *next;

	list_for_each_entry_safe(rw, next, &job->rws, list) {
		list_del(&rw->list);
		rdma_rw_ctx_destroy(&rw->ctx, conn->ep.qp, conn->ep.cm_id->port_num,
				    rw->sg.sgl, rw->nents, rw->dir);
		rw_put(job->responder, rw);
	}
}

/**
 * rpcrdma2_rws_init - prepare the pools of transfers
 * @responder: a new responder
 *
 * Context: process.
 */
void rpcrdma2_rws_init(struct rpcrdma2_responder *responder)
{
	INIT_LIST_HEAD(&responder->small_rws.free);
	INIT_LIST_HEAD(&responder->large_rws.free);
}

static void rw_pool_free(struct rpcrdma2_rw_pool *pool)
{
	struct rpcrdma2_rw *rw, *next;

	list_for_each_entry_safe(rw, next, &pool->free, list)
		rw_free(rw);
}

/**
 * rpcrdma2_rws_free - free the transfers in the pools
 * @responder: the responder; nobody else refers to it
 *
 * Context: process.
 */
void rpcrdma2_rws_free(struct rpcrdma2_responder *responder)
{
	rw_pool_free(&responder->small_rws);
	rw_pool_free(&responder->large_rws);
}
