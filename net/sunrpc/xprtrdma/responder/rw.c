// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Reads and Writes, one segment each, by the rdma_rw API.
 */
#include "responder.h"

#include <trace/events/rpcrdma2.h>

/* Head, tail, and a page that the data starts in the middle of. */
#define EXTRA_NENTS	3

/*
 * A large transfer uses one from the pool, of full size; the pool keeps a
 * few. For a small one memory is allocated as needed: a peer chooses how many
 * segments there are.
 */
#define LARGE_NENTS	16
#define FULL_NENTS	(RPCRDMA2_JOB_PAGES + EXTRA_NENTS)
#define KEPT_RWS	32

static struct rpcrdma2_rw *rw_alloc(unsigned int nents)
{
	struct rpcrdma2_rw *rw;

	rw = kmalloc(struct_size(rw, sg, nents), GFP_KERNEL);
	if (!rw)
		return NULL;
	rw->max_nents = nents;
	rw->nents = 0;
	sg_init_table(rw->sg, nents);
	return rw;
}

static struct rpcrdma2_rw *rw_get(struct rpcrdma2_responder *responder,
				  u32 length)
{
	unsigned int nents = DIV_ROUND_UP(length, PAGE_SIZE) + EXTRA_NENTS;
	struct rpcrdma2_rw *rw = NULL;

	if (nents > LARGE_NENTS) {
		nents = FULL_NENTS;
		spin_lock(&responder->lock);
		rw = list_first_entry_or_null(&responder->free_rws,
					      struct rpcrdma2_rw, list);
		if (rw) {
			list_del(&rw->list);
			responder->nr_free_rws--;
		}
		spin_unlock(&responder->lock);
	}
	if (!rw)
		return rw_alloc(nents);
	sg_unmark_end(&rw->sg[rw->nents - 1]);
	rw->nents = 0;
	return rw;
}

static void rw_put(struct rpcrdma2_responder *responder,
		   struct rpcrdma2_rw *rw)
{
	bool keep = rw->max_nents == FULL_NENTS;

	spin_lock(&responder->lock);
	keep = keep && responder->nr_free_rws < KEPT_RWS;
	if (keep) {
		list_add(&rw->list, &responder->free_rws);
		responder->nr_free_rws++;
	}
	spin_unlock(&responder->lock);
	if (!keep)
		kfree(rw);
}

static int rw_start(struct rpcrdma2_job *job, struct rpcrdma2_rw *rw,
		    const struct rpcrdma2_segment *seg, u32 skip, u32 length,
		    enum dma_data_direction dir)
{
	struct rpcrdma2_conn *conn = job->responder->conn;
	int rc;

	sg_mark_end(&rw->sg[rw->nents - 1]);
	rw->dir = dir;
	rc = rdma_rw_ctx_init(&rw->ctx, conn->qp, conn->cm_id->port_num,
			      rw->sg, rw->nents, 0, seg->offset + skip,
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

static int read_part(struct rpcrdma2_job *job,
		     const struct rpcrdma2_segment *seg, u32 skip, u32 length,
		     u32 to)
{
	struct rpcrdma2_rw *rw = rw_get(job->responder, length);
	u32 left = length, n;

	if (!rw)
		return -ENOMEM;
	for (; left; left -= n, to += n) {
		n = min_t(u32, left, PAGE_SIZE - offset_in_page(to));
		sg_set_page(&rw->sg[rw->nents++], job->pages[to >> PAGE_SHIFT],
			    n, offset_in_page(to));
	}
	trace_rpcrdma2_rdma_read(job->responder->conn, job->xid, seg, length);
	return rw_start(job, rw, seg, skip, length, DMA_FROM_DEVICE);
}

/*
 * Whole pages by themselves, and what is less than a page at either end: a bounce
 * buffer may begin elsewhere in its page, which leaves a gap in a registration.
 */
static int read_apart(struct rpcrdma2_job *job,
		      const struct rpcrdma2_segment *seg, u32 skip, u32 length,
		      u32 to)
{
	u32 n;
	int rc;

	for (; length; skip += n, length -= n, to += n) {
		n = min_t(u32, length, PAGE_SIZE - offset_in_page(to));
		if (n == PAGE_SIZE)
			n = round_down(length, PAGE_SIZE);
		rc = read_part(job, seg, skip, n, to);
		if (rc)
			return rc;
	}
	return 0;
}

/**
 * rpcrdma2_rw_read - make an RDMA Read, or some
 * @job: gets it, and has the pages to read into
 * @seg: what to read
 * @skip: octets of @seg to leave out at its start
 * @length: octets to read, more than 0
 * @to: where to, octets from the start of the first page
 *
 * Between enter and exit; process context, sleeps.
 *
 * Return: 0 or negative errno
 */
int rpcrdma2_rw_read(struct rpcrdma2_job *job,
		     const struct rpcrdma2_segment *seg, u32 skip, u32 length,
		     u32 to)
{
	int rc = read_part(job, seg, skip, length, to);

	/* Where it reads to can't be one registration. */
	return rc == -EINVAL ? read_apart(job, seg, skip, length, to) : rc;
}

static void add_kvec(struct rpcrdma2_rw *rw, const struct kvec *vec)
{
	if (vec->iov_len)
		sg_set_buf(&rw->sg[rw->nents++], vec->iov_base, vec->iov_len);
}

/**
 * rpcrdma2_rw_write - make an RDMA Write
 * @job: gets it
 * @seg: where to
 * @skip: octets of @seg to leave alone at its start
 * @from: what to write, more than 0 octets
 *
 * Between enter and exit; process context, sleeps.
 *
 * Return: 0 or negative errno
 */
int rpcrdma2_rw_write(struct rpcrdma2_job *job,
		      const struct rpcrdma2_segment *seg, u32 skip,
		      const struct xdr_buf *from)
{
	struct rpcrdma2_rw *rw = rw_get(job->responder, from->len);
	u32 offset = from->page_base, left = from->page_len, n;

	if (!rw)
		return -ENOMEM;
	add_kvec(rw, &from->head[0]);
	for (; left; left -= n, offset += n) {
		n = min_t(u32, left, PAGE_SIZE - offset_in_page(offset));
		sg_set_page(&rw->sg[rw->nents++],
			    from->pages[offset >> PAGE_SHIFT], n,
			    offset_in_page(offset));
	}
	add_kvec(rw, &from->tail[0]);
	trace_rpcrdma2_rdma_write(job->responder->conn, job->xid, seg,
				  from->len);
	return rw_start(job, rw, seg, skip, from->len, DMA_TO_DEVICE);
}

/**
 * rpcrdma2_rw_chain - chain a job's transfers
 * @job: the job, with at least one transfer
 * @next: what comes after them, or NULL
 * @first: the first WR
 * @last: the last WR of the transfers
 * @count: how many WRs they are
 */
void rpcrdma2_rw_chain(struct rpcrdma2_job *job, struct ib_send_wr *next,
		       struct ib_send_wr **first, struct ib_send_wr **last,
		       unsigned int *count)
{
	struct rpcrdma2_conn *conn = job->responder->conn;
	struct ib_send_wr *wr = next;
	struct rpcrdma2_rw *rw;

	list_for_each_entry_reverse(rw, &job->rws, list)
		wr = rdma_rw_ctx_wrs(&rw->ctx, conn->qp,
				     conn->cm_id->port_num, NULL, wr);
	*first = wr;
	*count = 1;
	for (; wr->next != next; wr = wr->next)
		(*count)++;
	*last = wr;
}

/**
 * rpcrdma2_rws_release - a job's transfers are done, or were never posted
 * @job: the job
 *
 * The QP still exists: transfers of a job that outlives its connection are
 * released by the teardown. Any context but interrupts.
 */
void rpcrdma2_rws_release(struct rpcrdma2_job *job)
{
	struct rpcrdma2_conn *conn = job->responder->conn;
	struct rpcrdma2_rw *rw, *next;

	list_for_each_entry_safe(rw, next, &job->rws, list) {
		list_del(&rw->list);
		rdma_rw_ctx_destroy(&rw->ctx, conn->qp, conn->cm_id->port_num,
				    rw->sg, rw->nents, rw->dir);
		rw_put(job->responder, rw);
	}
}
