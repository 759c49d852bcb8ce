// SPDX-License-Identifier: GPL-2.0
/*
 * Registering memory that a responder may reach. invalidate.c ends registrations.
 *
 * A registration costs one FastReg WR, which goes to the Send Queue in front of the Send that
 * tells the responder of the memory. Each connection has two pools of registrations:
 *
 *	mrs		cover memory without gaps. A Call that finds none waits.
 *	gap_mrs		bridge gaps. A Call that finds none uses the first pool.
 *
 * Head, pages and tail of a message lie apart, so one chunk for them takes three of the first
 * kind. The responder invalidates only one of the three. Some devices can bridge the gaps, but a
 * bridge costs them more. So only memory with gaps uses the second pool, which starts empty.
 *
 * Senders take registrations in process context. Workers refill the pools.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/highmem.h>

#include "rdma/device.h"
#include "requester.h"

#include <trace/events/rpcrdma2.h>

/* First pool: registrations to add at a time, and the limit for each Call */
#define MRS_BATCH	16U
#define MRS_PER_CALL	8

/* Second pool, likewise. Few Calls have gaps both in the Call and in the Reply. */
#define GAP_MRS_BATCH	4
#define GAP_MRS_PER_CALL 1

/* Entries for head and tail, beyond the pages: either may cross the end of a page. */
#define GAP_MR_ENTRIES	4

/* Jiffies until a pool is refilled after a failure, or while no Call waits for the pool */
#define REFILL_DELAY	(HZ / 10)

static void mr_unmap(struct rpcrdma2_requester *requester,
		     struct rpcrdma2_mr *mr)
{
	if (!mr->nents || mr->kept)
		return;
	ib_dma_unmap_sg_attrs(requester->conn->ep.pd->device, mr->sg.sgl,
			      mr->nents, mr->dir,
			      mr->unused ? DMA_ATTR_SKIP_CPU_SYNC : 0);
	rpcrdma2_sg_reset(mr->sg.sgl);
	mr->nents = 0;
}

/*
 * Keep the mapped memory for good. Pages get a reference. Slab memory has no references, so the
 * Call keeps its buffer.
 */
static void mr_hold_memory(struct rpcrdma2_mr *mr)
{
	struct scatterlist *sg;
	unsigned int i;

	if (!mr->nents)
		return;
	mr->call->kept = true;
	for_each_sg(mr->sg.sgl, sg, mr->nents, i)
		if (!PageSlab(sg_page(sg)))
			get_page_unless_zero(sg_page(sg));
}

/*
 * Deregister before the memory returns to its owner: a valid registration ends here. If the
 * device refuses, it may still reach the memory, so all of the memory is kept for good.
 */
static void mr_deregister(struct rpcrdma2_requester *requester,
			  struct rpcrdma2_mr *mr)
{
	struct rpcrdma2_conn *conn = requester->conn;
	int rc = ib_dereg_mr(mr->mr);

	if (!rc) {
		mr->mr = NULL;
		return;
	}
	pr_err_ratelimited("device %s does not give up a registration (error %d): %u pages are kept for good\n",
			   conn->ep.pd->device->name, rc, mr->nents);
	mr->kept = true;
	conn->ep.keeps_pd = true;
	mr_hold_memory(mr);
}

static void mr_free(struct rpcrdma2_requester *requester,
		    struct rpcrdma2_mr *mr)
{
	if (mr->mr && !mr->kept)
		mr_deregister(requester, mr);
	if (mr->kept)
		return;
	mr_unmap(requester, mr);
	sg_free_table(&mr->sg);
	kfree(mr);
}

static bool mr_pool_bridges_gaps(const struct rpcrdma2_mr_pool *pool)
{
	return pool->type == IB_MR_TYPE_SG_GAPS;
}

/* Return: the number of pages, or parts of pages, that one registration of the pool covers */
static unsigned int mr_pool_max_entries(const struct rpcrdma2_mr_pool *pool)
{
	const struct rpcrdma2_conn *conn = pool->requester->conn;

	if (!mr_pool_bridges_gaps(pool))
		return conn->ep.max_pages;
	return min_t(unsigned int, conn->ep.max_pages + GAP_MR_ENTRIES,
		     conn->ep.pd->device->attrs.max_fast_reg_page_list_len);
}

static struct rpcrdma2_mr *mr_alloc(struct rpcrdma2_mr_pool *pool)
{
	struct rpcrdma2_conn *conn = pool->requester->conn;
	struct rpcrdma2_mr *mr;

	mr = kzalloc_node(sizeof(*mr), GFP_KERNEL,
			  ibdev_to_node(conn->ep.pd->device));
	if (!mr)
		return NULL;
	/* A chained table: its parts are no larger than a page, so it needs no contiguous pages. */
	if (sg_alloc_table(&mr->sg, mr_pool_max_entries(pool), GFP_KERNEL))
		goto out_free;
	mr->mr = ib_alloc_mr(conn->ep.pd, pool->type, mr_pool_max_entries(pool));
	if (IS_ERR(mr->mr))
		goto out_free_sg;
	mr->pool = pool;
	INIT_LIST_HEAD(&mr->list);
	mr->reg_wr.wr.opcode = IB_WR_REG_MR;
	mr->reg_wr.mr = mr->mr;
	mr->inv_wr.opcode = IB_WR_LOCAL_INV;
	return mr;

out_free_sg:
	sg_free_table(&mr->sg);
out_free:
	kfree(mr);
	return NULL;
}

static bool mr_pool_add(struct rpcrdma2_mr_pool *pool)
{
	struct rpcrdma2_requester *requester = pool->requester;
	struct rpcrdma2_mr *mr = mr_alloc(pool);

	if (!mr)
		return false;
	spin_lock(&requester->lock);
	list_add(&mr->list, &pool->free);
	list_add(&mr->all, &requester->all_mrs);
	pool->nr++;
	requester->stats.mrs_allocated++;
	spin_unlock(&requester->lock);
	return true;
}

/*
 * Return: an upper bound of registrations for a range without gaps. A bounce buffer may split off
 * the partial page at either end: see reg_map_mr().
 */
static unsigned int
mrs_for_range(const struct rpcrdma2_requester *requester,
	      unsigned long from, unsigned int len)
{
	unsigned int offset = offset_in_page(from), pages;

	pages = DIV_ROUND_UP(offset + len, PAGE_SIZE);
	if (pages < 2)
		return pages;
	return DIV_ROUND_UP(pages, requester->conn->ep.max_pages) + !!offset +
	       !!offset_in_page(offset + len);
}

/* Return: registrations for the largest Call: payload, head and tail, in both directions */
static unsigned int mrs_for_call(const struct rpcrdma2_requester *requester)
{
	unsigned int payload;

	payload = mrs_for_range(requester, 1, requester->xprt->max_payload);
	return min_t(unsigned int, 2 * (payload + 2), RPCRDMA2_OWN_SEGMENTS);
}

/* Return: the limit of registrations in the pool; 0 if the device has none of this type */
static unsigned int mr_pool_max(const struct rpcrdma2_mr_pool *pool)
{
	const struct rpcrdma2_conn *conn = pool->requester->conn;
	unsigned int calls = conn->ep.calls_out;

	if (!mr_pool_bridges_gaps(pool))
		return max(calls * MRS_PER_CALL, mrs_for_call(pool->requester));
	if (!(conn->ep.pd->device->attrs.kernel_cap_flags & IBK_SG_GAPS_REG))
		return 0;
	return calls * GAP_MRS_PER_CALL;
}

/**
 * rpcrdma2_mrs_provide - allocate the registrations that any one Call may need
 * @requester: the role, on a connection with a new QP
 *
 * A connection with these registrations can send each Call later, even if no memory is free.
 *
 * Context: process; sleeps for memory.
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_mrs_provide(struct rpcrdma2_requester *requester)
{
	unsigned int n = max(MRS_BATCH, mrs_for_call(requester));

	while (requester->mrs.nr < n)
		if (!mr_pool_add(&requester->mrs))
			return -ENOMEM;
	return 0;
}

/* Add a batch of registrations to a pool. Context: process, in a workqueue */
static void mr_pool_refill(struct work_struct *work)
{
	struct rpcrdma2_mr_pool *pool =
		container_of(to_delayed_work(work), struct rpcrdma2_mr_pool,
			     refill);
	bool gaps = mr_pool_bridges_gaps(pool);
	unsigned int i, max, batch = gaps ? GAP_MRS_BATCH : MRS_BATCH;
	struct rpcrdma2_conn *conn = pool->requester->conn;
	struct rpcrdma2_memalloc saved;

	if (!rpcrdma2_ep_enter(&conn->ep))
		return;
	max = mr_pool_max(pool);
	saved = rpcrdma2_memalloc_save(conn->param.swapper);
	for (i = 0; i < batch && pool->nr < max; i++)
		if (!mr_pool_add(pool))
			break;
	rpcrdma2_memalloc_restore(saved);
	/* No Call waits for the second pool. The next Call with gaps asks for a refill again. */
	if (!i && pool->nr < max && !gaps)
		queue_delayed_work(rpcrdma2_wq, &pool->refill, REFILL_DELAY);
	trace_rpcrdma2_mr_alloc(pool, i, mr_pool_max_entries(pool));
	rpcrdma2_ep_exit(&conn->ep);
	if (i)
		rpcrdma2_requester_wake(pool->requester->xprt);
}

static void mr_pool_init(struct rpcrdma2_mr_pool *pool,
			 struct rpcrdma2_requester *requester,
			 enum ib_mr_type type)
{
	pool->requester = requester;
	pool->type = type;
	INIT_LIST_HEAD(&pool->free);
	INIT_DELAYED_WORK(&pool->refill, mr_pool_refill);
}

/**
 * rpcrdma2_mrs_init - set up both pools, empty
 * @requester: the new role
 *
 * Context: any.
 */
void rpcrdma2_mrs_init(struct rpcrdma2_requester *requester)
{
	INIT_LIST_HEAD(&requester->all_mrs);
	mr_pool_init(&requester->mrs, requester, IB_MR_TYPE_MEM_REG);
	mr_pool_init(&requester->gap_mrs, requester, IB_MR_TYPE_SG_GAPS);
}

/**
 * rpcrdma2_mrs_stop - stop refilling the pools
 * @requester: the role, on a drained connection
 *
 * Context: process; sleeps until a running refill has ended.
 */
void rpcrdma2_mrs_stop(struct rpcrdma2_requester *requester)
{
	cancel_delayed_work_sync(&requester->mrs.refill);
	cancel_delayed_work_sync(&requester->gap_mrs.refill);
}

/**
 * rpcrdma2_mrs_fence - deregister all registrations
 * @requester: the role, on a drained connection that no thread is in; may be NULL
 *
 * Afterwards no peer can reach the memory of any Call, so the memory may return to its owners. If
 * the device refuses to deregister some memory, that memory is kept for good.
 *
 * Context: process, in the connection's teardown; sleeps.
 */
void rpcrdma2_mrs_fence(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_mr *mr;

	if (!requester)
		return;
	list_for_each_entry(mr, &requester->all_mrs, all)
		mr_deregister(requester, mr);
}

/**
 * rpcrdma2_mrs_destroy - unmap the memory and free all registrations
 * @requester: the role, after rpcrdma2_mrs_fence() and rpcrdma2_mrs_stop()
 *
 * Also empties the lists of Calls that still have registrations.
 *
 * Context: process, in the connection's teardown; sleeps.
 */
void rpcrdma2_mrs_destroy(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &requester->all_mrs, all) {
		list_del(&mr->all);
		list_del(&mr->list);
		mr_free(requester, mr);
	}
}

/**
 * rpcrdma2_mr_drop - deregister and free a Call's registration
 * @requester: the role
 * @mr: the registration; freed, unless the device refuses to give it up
 *
 * Deregistering takes the place of LOCAL_INV on a device that refuses the latter. The pool
 * shrinks by one registration. The next Call that finds the pool empty has it refilled.
 *
 * Context: process, in a workqueue; the caller has entered the connection. Sleeps.
 */
void rpcrdma2_mr_drop(struct rpcrdma2_requester *requester,
		      struct rpcrdma2_mr *mr)
{
	spin_lock(&requester->lock);
	list_del(&mr->list);
	list_del(&mr->all);
	mr->pool->nr--;
	spin_unlock(&requester->lock);
	mr_free(requester, mr);
}

static struct rpcrdma2_mr *mr_get(struct rpcrdma2_mr_pool *pool)
{
	struct rpcrdma2_requester *requester = pool->requester;
	struct rpcrdma2_mr *mr;

	spin_lock(&requester->lock);
	mr = list_first_entry_or_null(&pool->free, struct rpcrdma2_mr, list);
	if (mr)
		list_del_init(&mr->list);
	spin_unlock(&requester->lock);
	return mr;
}

/**
 * rpcrdma2_mr_put - return a registration to its pool
 * @requester: the role
 * @mr: a registration that was never posted, or is invalid again
 *
 * Unmaps the memory first.
 *
 * Context: any but interrupts; takes the requester's lock.
 */
void rpcrdma2_mr_put(struct rpcrdma2_requester *requester,
		     struct rpcrdma2_mr *mr)
{
	mr_unmap(requester, mr);
	spin_lock(&requester->lock);
	list_move(&mr->list, &mr->pool->free);
	spin_unlock(&requester->lock);
}

static void *mr_try(struct rpcrdma2_requester *requester)
{
	return mr_get(&requester->mrs);
}

/* The lock in rpcrdma2_mr_put() is the barrier before xprt_write_space(). */
static struct rpcrdma2_mr *mr_get_or_wait(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_mr *mr = mr_get(&requester->mrs);

	if (!mr)
		mr = rpcrdma2_wait_or_get(requester, mr_try);
	if (mr)
		return mr;
	requester->stats.mr_waits++;
	queue_delayed_work(rpcrdma2_wq, &requester->mrs.refill, 0);
	return NULL;
}

/* The Call does not wait. The delay limits the attempts on a device that refuses more. */
static struct rpcrdma2_mr *mr_get_for_gaps(struct rpcrdma2_requester *requester)
{
	struct rpcrdma2_mr_pool *pool = &requester->gap_mrs;
	struct rpcrdma2_mr *mr = mr_get(pool);

	if (!mr && READ_ONCE(pool->nr) < mr_pool_max(pool))
		queue_delayed_work(rpcrdma2_wq, &pool->refill, REFILL_DELAY);
	return mr;
}

/**
 * struct builder - a chunk under construction
 * @requester: the role
 * @call: the Call whose memory the chunk covers
 * @chunk: the chunk; each full registration becomes one of its segments
 * @dir: direction of the DMA mapping
 * @gaps: take registrations from the second pool if there are any
 * @mr: the registration under construction, or NULL
 * @last: the last entry of @mr's scatterlist that is in use
 * @nents: entries of @mr's scatterlist in use
 */
struct builder {
	struct rpcrdma2_requester	*requester;
	struct rpcrdma2_call		*call;
	struct rpcrdma2_chunk		*chunk;
	enum dma_data_direction		dir;
	bool				gaps;
	struct rpcrdma2_mr		*mr;
	struct scatterlist		*last;
	unsigned int			nents;
};

static int reg_map_entries(struct builder *b, unsigned int nents)
{
	struct ib_device *dev = b->requester->conn->ep.pd->device;
	struct rpcrdma2_mr *mr = b->mr;
	int n;

	n = ib_dma_map_sg(dev, mr->sg.sgl, nents, b->dir);
	if (!n)
		return -ENOBUFS;
	mr->nents = nents;
	mr->dir = b->dir;
	mr->unused = false;
	return n;
}

/*
 * Map the registration under construction, or as much of it as the device can register. A bounce
 * buffer may begin elsewhere in its page than the memory that it stands for. The registration
 * ends there, because the bounce buffer leaves a gap.
 *
 * Return: the number of entries that are registered, or negative errno
 */
static int reg_map_mr(struct builder *b)
{
	unsigned int nents = b->nents;
	struct rpcrdma2_mr *mr = b->mr;
	int n, mapped;

	for (;;) {
		n = reg_map_entries(b, nents);
		if (n < 0)
			return n;
		mapped = ib_map_mr_sg(mr->mr, mr->sg.sgl, n, NULL, PAGE_SIZE);
		if (mapped == n)
			return nents;
		mr->unused = true;
		mr_unmap(b->requester, mr);
		if (mapped <= 0 || nents == 1)
			return -EIO;
		/* After the DMA layer merged entries, @mapped does not say how many entries fit. */
		nents = n == nents ? mapped : 1;
	}
}

static void mr_fill_wrs(struct rpcrdma2_mr *mr)
{
	struct ib_reg_wr *reg = &mr->reg_wr;

	ib_update_fast_reg_key(mr->mr, ib_inc_rkey(mr->mr->rkey));

	reg->wr.send_flags = 0;
	reg->key = mr->mr->rkey;
	reg->access = mr->dir == DMA_TO_DEVICE ? IB_ACCESS_REMOTE_READ :
		      IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;

	mr->inv_wr.send_flags = 0;
	mr->inv_wr.ex.invalidate_rkey = mr->mr->rkey;
}

static struct rpcrdma2_mr *reg_take_mr(struct builder *b)
{
	struct rpcrdma2_requester *requester = b->requester;
	struct rpcrdma2_mr *mr = NULL;

	if (b->gaps)
		mr = mr_get_for_gaps(requester);
	if (!mr)
		mr = mr_get_or_wait(requester);
	if (!mr)
		trace_rpcrdma2_wait(&requester->conn->ep,
				    be32_to_cpu(b->call->rqst->rq_xid),
				    RPCRDMA2_WAIT_MR, requester->mrs.nr,
				    requester->mrs.nr);
	return mr;
}

static void reg_add_entry(struct builder *b, struct page *page,
			  unsigned int offset, unsigned int len)
{
	b->last = b->nents++ ? sg_next(b->last) : b->mr->sg.sgl;
	sg_set_page(b->last, page, len, offset);
}

/* Move the entries that @full does not cover, from entry @from on, to a new registration. */
static int reg_carry_over(struct builder *b, struct rpcrdma2_mr *full,
			  unsigned int from)
{
	unsigned int i, n = b->nents;
	struct scatterlist *sg;

	b->nents = 0;
	if (n == from)
		return 0;
	b->mr = reg_take_mr(b);
	if (!b->mr)
		return -EAGAIN;
	for_each_sg(full->sg.sgl, sg, n, i)
		if (i >= from)
			reg_add_entry(b, sg_page(sg), sg->offset,
				      sg->length);
	return 0;
}

/* Make a segment of the registration under construction, or of its first entries. */
static int reg_flush_mr(struct builder *b)
{
	struct rpcrdma2_requester *requester = b->requester;
	struct rpcrdma2_mr *mr = b->mr;
	struct ib_mr *ibmr = mr->mr;
	int n, rc;

	n = reg_map_mr(b);
	b->mr = NULL;
	/* After an error, rpcrdma2_unregister() returns the Call's registrations, mapped or not. */
	list_add_tail(&mr->list, &b->call->mrs);
	if (n < 0)
		return n;
	mr_fill_wrs(mr);
	mr->call = b->call;
	/* The handle precedes the XID. Pairs with the acquire in rpcrdma2_inv_stray(). */
	smp_store_release(&mr->xid, be32_to_cpu(b->call->rqst->rq_xid));
	trace_rpcrdma2_mr_register(requester->conn, b->call->rqst, ibmr);
	rc = rpcrdma2_add_segment(&requester->hdr.chunks, b->chunk,
				  ibmr->rkey, ibmr->length, ibmr->iova);
	return rc ?: reg_carry_over(b, mr, n);
}

/* Without bridges, a registration goes on only from the end of a page to the start of one. */
static bool reg_continues(const struct builder *b, unsigned int offset)
{
	const struct rpcrdma2_mr_pool *pool = b->mr->pool;

	if (b->nents == mr_pool_max_entries(pool))
		return false;
	if (mr_pool_bridges_gaps(pool))
		return true;
	return !offset && b->last->offset + b->last->length == PAGE_SIZE;
}

static int reg_add_piece(struct builder *b, struct page *page,
			 unsigned int offset, unsigned int len)
{
	int rc;

	while (b->mr && !reg_continues(b, offset)) {
		rc = reg_flush_mr(b);
		if (rc)
			return rc;
	}
	if (!b->mr)
		b->mr = reg_take_mr(b);
	if (!b->mr)
		return -EAGAIN;
	reg_add_entry(b, page, offset, len);
	return 0;
}

static int reg_add_kvec(struct builder *b, void *base, size_t len)
{
	unsigned int n;
	int rc;

	while (len) {
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(base));
		rc = reg_add_piece(b, virt_to_page(base),
				   offset_in_page(base), n);
		if (rc)
			return rc;
		base += n;
		len -= n;
	}
	return 0;
}

static int reg_add_pages(struct builder *b, const struct xdr_buf *buf)
{
	struct page **page = buf->pages + (buf->page_base >> PAGE_SHIFT);
	unsigned int offset = offset_in_page(buf->page_base);
	unsigned int len = buf->page_len, n;
	int rc;

	while (len) {
		n = min_t(unsigned int, len, PAGE_SIZE - offset);
		rc = reg_add_piece(b, *page++, offset, n);
		if (rc)
			return rc;
		len -= n;
		offset = 0;
	}
	return 0;
}

/*
 * Has the chunk gaps that the device can bridge? Head, page data and tail have no gaps inside, so
 * gaps are only between them.
 */
static bool reg_has_gaps(const struct builder *b,
			 const struct xdr_buf *buf, unsigned int parts)
{
	unsigned int n = 0;

	if (parts & RPCRDMA2_PART_HEAD)
		n += !!buf->head[0].iov_len;
	if (parts & RPCRDMA2_PART_PAGES)
		n += !!buf->page_len;
	if (parts & RPCRDMA2_PART_TAIL)
		n += !!buf->tail[0].iov_len;
	return n > 1 && mr_pool_max(&b->requester->gap_mrs);
}

static bool reg_is_copied(const struct builder *b)
{
	if (b->dir == DMA_FROM_DEVICE && b->call->reply_copied)
		return true;
	return b->call->max_segments;
}

/* Register a copy of the whole message, or pages of the transport's own for the Reply. */
static int reg_add_copy(struct builder *b, const struct xdr_buf *buf)
{
	bool sent = b->dir == DMA_TO_DEVICE;
	unsigned int i, n, left = rpcrdma2_room(buf);
	struct rpcrdma2_copy *copy;
	int rc;

	if (!sent)
		left = max(left, b->call->reply_needed);
	copy = sent ? &b->call->sent_copy : &b->call->reply_copy;
	rc = rpcrdma2_copy_make(copy, sent ? buf : NULL, left);
	for (i = 0; !rc && left; i++, left -= n) {
		n = min_t(unsigned int, left, PAGE_SIZE);
		rc = reg_add_piece(b, copy->pages[i], 0, n);
	}
	return rc;
}

static int reg_add_parts(struct builder *b, const struct xdr_buf *buf,
			 unsigned int parts)
{
	int rc = 0;

	b->gaps = reg_has_gaps(b, buf, parts);
	if (parts & RPCRDMA2_PART_HEAD)
		rc = reg_add_kvec(b, buf->head[0].iov_base,
				  buf->head[0].iov_len);
	if (!rc && (parts & RPCRDMA2_PART_PAGES))
		rc = reg_add_pages(b, buf);
	if (!rc && (parts & RPCRDMA2_PART_TAIL))
		rc = reg_add_kvec(b, buf->tail[0].iov_base,
				  buf->tail[0].iov_len);
	return rc;
}

/**
 * rpcrdma2_register - register parts of an xdr_buf as one chunk
 * @requester: the role, on a connection that the caller has entered
 * @call: the Call whose memory it is; gets the registrations, after an error too
 * @chunk: the chunk that was last added to @requester->hdr
 * @buf: the memory
 * @parts: mask of RPCRDMA2_PART_...: the parts of @buf to register
 * @dir: DMA_TO_DEVICE for the responder to read, DMA_FROM_DEVICE for the responder to write
 *
 * The chunk may cover the transport's own pages instead of @buf: the responder has refused too
 * many segments, or the Reply may outgrow @buf. In both cases @parts is RPCRDMA2_PART_ALL.
 *
 * Context: process; the xprt's write lock is held. Sleeps only in drivers that sleep to map.
 *
 * Return: 0; -EAGAIN: no registration is free, and sunrpc tries again after xprt_write_space();
 * -ENOBUFS: there are no pages or DMA mappings at the moment; -EREMOTEIO: the chunk has more
 * segments than the responder takes; another negative errno: the Call can't be sent
 */
int rpcrdma2_register(struct rpcrdma2_requester *requester,
		      struct rpcrdma2_call *call, struct rpcrdma2_chunk *chunk,
		      const struct xdr_buf *buf, unsigned int parts,
		      enum dma_data_direction dir)
{
	struct builder b = {
		.requester	= requester,
		.call		= call,
		.chunk		= chunk,
		.dir		= dir,
	};
	int rc;

	if (reg_is_copied(&b))
		rc = reg_add_copy(&b, buf);
	else
		rc = reg_add_parts(&b, buf, parts);
	while (!rc && b.mr)
		rc = reg_flush_mr(&b);
	if (b.mr)
		rpcrdma2_mr_put(requester, b.mr);
	if (!rc && call->max_segments && chunk->nsegs > call->max_segments)
		/* A copy has the fewest segments possible, so another attempt is useless. */
		rc = -EREMOTEIO;
	return rc;
}

static unsigned int
mrs_for_kvec(const struct rpcrdma2_requester *requester,
	     const struct kvec *vec)
{
	return mrs_for_range(requester, (unsigned long)vec->iov_base,
			     vec->iov_len);
}

/**
 * rpcrdma2_max_segments - bound the number of segments of a chunk
 * @requester: the role that would register the chunk
 * @buf: the memory
 * @parts: mask of RPCRDMA2_PART_...: the parts of @buf
 *
 * Context: any.
 *
 * Return: an upper bound of segments
 */
unsigned int rpcrdma2_max_segments(const struct rpcrdma2_requester *requester,
				   const struct xdr_buf *buf,
				   unsigned int parts)
{
	unsigned int n = 0;

	if (parts & RPCRDMA2_PART_HEAD)
		n += mrs_for_kvec(requester, &buf->head[0]);
	if (parts & RPCRDMA2_PART_PAGES)
		n += mrs_for_range(requester, buf->page_base,
				   buf->page_len);
	if (parts & RPCRDMA2_PART_TAIL)
		n += mrs_for_kvec(requester, &buf->tail[0]);
	return n;
}

/**
 * rpcrdma2_mrs_prepend - put a Call's FastReg WRs in front of its Send
 * @call: the Call
 * @send: the Call's Send, after rpcrdma2_send_prepare()
 *
 * Context: process; the xprt's write lock is held.
 *
 * Return: the number of registrations that bridge gaps
 */
unsigned int rpcrdma2_mrs_prepend(struct rpcrdma2_call *call,
				  struct rpcrdma2_send *send)
{
	struct rpcrdma2_chain *chain = &send->chain;
	struct rpcrdma2_mr *mr;
	unsigned int gaps = 0;

	list_for_each_entry_reverse(mr, &call->mrs, list) {
		mr->reg_wr.wr.next = chain->first;
		mr->reg_wr.wr.wr_cqe = &chain->cqe;
		rpcrdma2_chain_prepend(chain, &mr->reg_wr.wr, 1);
		gaps += mr_pool_bridges_gaps(mr->pool);
	}
	return gaps;
}
