// SPDX-License-Identifier: GPL-2.0
/*
 * A server's Calls (callbacks), answered by its client.
 *
 * Each Call becomes an rpc_rqst for the callback service that NFSv4.1 attached to the
 * transport. The service's Reply comes back by send_request. There are as many rpc_rqsts as
 * Calls are granted. Calls wait if the service still holds rpc_rqsts of a lost connection.
 *
 * With reverse=genl and version 2, Calls may have chunks. The job then lends pages for the Call
 * and the Reply (responder/lend.c). Otherwise the rpc_rqst has a page for the Reply.
 * The worker of retry.c begins a Call with chunks, and sends its Reply, as both may wait for
 * memory. The service's thread must not wait: it sends with the xprt's write lock, and so keeps
 * out the Calls that write memory back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>

#include "compat.h"
#include "param.h"
#include "xprt.h"

#include <trace/events/rpcrdma2.h>

/**
 * struct reverse_rqst - a server's Call, as sunrpc sees it
 * @rqst: sunrpc's part
 * @job: the Call, with a reference to its connection; NULL while there is no Call
 * @page: page for the Reply if the job lends none
 */
struct reverse_rqst {
	struct rpc_rqst		rqst;
	struct rpcrdma2_job	*job;
	void			*page;
};

static struct reverse_rqst *bc_rqst_of(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct reverse_rqst, rqst);
}

static struct reverse_rqst *bc_rqst_get(struct rpcrdma2_xprt *x)
{
	struct rpc_rqst *rqst;

	rqst = list_first_entry_or_null(&x->reverse_free, struct rpc_rqst,
					rq_bc_pa_list);
	if (!rqst)
		return NULL;
	list_del(&rqst->rq_bc_pa_list);
	return bc_rqst_of(rqst);
}

static void bc_rqst_put(struct rpcrdma2_xprt *x, struct reverse_rqst *rr)
{
	rr->job = NULL;
	spin_lock(&x->lock);
	list_add(&rr->rqst.rq_bc_pa_list, &x->reverse_free);
	spin_unlock(&x->lock);
}

static void bc_init_buffers(struct reverse_rqst *rr)
{
	struct rpcrdma2_job *job = rr->job;
	struct rpc_rqst *rqst = &rr->rqst;

	rpcrdma2_job_arg(job, &rqst->rq_rcv_buf, job->pages);
	rqst->rq_private_buf = rqst->rq_rcv_buf;
	/* xdr_buf_init() does not reset this. */
	rqst->rq_snd_buf.page_base = 0;
	if (job->lent) {
		xdr_buf_init(&rqst->rq_snd_buf, page_address(job->lent[0]),
			     job->nr_lent * PAGE_SIZE);
		rqst->rq_snd_buf.head[0].iov_len = PAGE_SIZE;
		rqst->rq_snd_buf.pages = job->lent + 1;
	} else {
		xdr_buf_init(&rqst->rq_snd_buf, rr->page, PAGE_SIZE);
	}
}

/* Both locks are held, so the service can't go. */
static void bc_deliver(struct rpcrdma2_xprt *x, struct reverse_rqst *rr)
{
	struct rpc_rqst *rqst = &rr->rqst;

	lockdep_assert_held(&x->lock);
	lockdep_assert_held(&x->xprt.bc_pa_lock);

	rqst->rq_xprt = &x->xprt;
	rqst->rq_xid = cpu_to_be32(rr->job->xid);
	rqst->rq_reply_bytes_recvd = 0;
	rqst->rq_bytes_sent = 0;
	bc_init_buffers(rr);
	set_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
	rpcrdma2_job_advance(rr->job, RPCRDMA2_JOB_RUNNING);
	trace_rpcrdma2_call_deliver(rr->job, 0);

	xprt_get(&x->xprt);
	atomic_inc(&x->xprt.bc_slot_count);
	rpcrdma2_enqueue_bc_request(x->xprt.bc_serv, rqst);
}

/*
 * Is there a callback service? A kernel ends a service in one of two ways. It calls
 * rpcrdma2_xprt_bc_destroy() first, and leaves the pointer. Or it clears the pointer, with
 * bc_pa_lock held. So the answer is certain only with both locks held.
 */
static bool bc_has_service(const struct rpcrdma2_xprt *x)
{
	return x->bc_users && x->xprt.bc_serv;
}

/* Give waiting Calls to the service, one for each rpc_rqst that is free. */
static void bc_deliver_waiting(struct rpcrdma2_xprt *x)
{
	struct reverse_rqst *rr;
	struct rpcrdma2_job *job;

	spin_lock(&x->lock);
	spin_lock(&x->xprt.bc_pa_lock);
	while (bc_has_service(x) && !list_empty(&x->reverse_waiting)) {
		rr = bc_rqst_get(x);
		if (!rr)
			break;
		job = list_first_entry(&x->reverse_waiting,
				       struct rpcrdma2_job, list);
		list_del_init(&job->list);
		/* The service may hold the job after the connection is gone. */
		rpcrdma2_conn_get(job->responder->conn);
		rr->job = job;
		bc_deliver(x, rr);
	}
	spin_unlock(&x->xprt.bc_pa_lock);
	spin_unlock(&x->lock);
}

/* The Call's message is complete: let it wait for an rpc_rqst. */
static void bc_enqueue(struct rpcrdma2_xprt *x, struct rpcrdma2_job *job)
{
	struct rpcrdma2_error error = { .code = RDMA2_ERR_SYSTEM };
	bool taken;

	spin_lock(&x->lock);
	taken = bc_has_service(x);
	if (taken)
		list_add_tail(&job->list, &x->reverse_waiting);
	spin_unlock(&x->lock);
	if (taken)
		bc_deliver_waiting(x);
	else
		/* No callback service asked for Calls on this transport. */
		rpcrdma2_job_refuse(job, &error);
}

/* Version 1 has no properties, so its client can't say that it takes chunks. */
static bool bc_takes_chunks(const struct rpcrdma2_conn *conn)
{
	return conn->terms.own.brs == RDMA2_RVREQSUP_GENL &&
	       conn->terms.dialect->props;
}

/*
 * Refuse a Call with Read or Write chunks (v2-09, 5.3.3). READ_CHUNKS with 0 says that no Read
 * chunk is allowed. REPLY_RESOURCE refuses Write chunks. Its length is 0, because only the
 * Call's execution would tell it. A Reply chunk is no error, and is not used.
 *
 * Return: whether @error is set
 */
static bool bc_has_chunks(struct rpcrdma2_header *hdr,
			  struct rpcrdma2_error *error)
{
	hdr->chunks.has_reply = false;
	if (hdr->chunks.nreads)
		error->code = RDMA2_ERR_READ_CHUNKS;
	else if (hdr->chunks.nwrites)
		error->code = RDMA2_ERR_REPLY_RESOURCE;
	return error->code;
}

static bool bc_offers_chunks(const struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;

	return cl->nwrites || cl->has_reply;
}

/* Begin a Call without chunks. Return: 0; or -ENOMEM, to be tried again */
static int bc_begin_inline(struct rpcrdma2_job *job)
{
	if (rpcrdma2_job_lend(job))
		return -ENOMEM;
	bc_enqueue(job->responder->conn->xprt, job);
	return 0;
}

static void bc_plan(struct rpcrdma2_job *job)
{
	int rc;

	rpcrdma2_job_plan_reply(job);
	if (!rpcrdma2_job_has_reads(job) && !bc_offers_chunks(job)) {
		if (bc_begin_inline(job))
			rpcrdma2_retry_delayed(job, bc_begin_inline);
		return;
	}
	rc = rpcrdma2_job_has_reads(job) ? rpcrdma2_job_plan(job) : 0;
	if (rc)
		rpcrdma2_job_refuse_reads(job, rc);
	else
		rpcrdma2_admit(job);
}

static void bc_begin_call(struct rpcrdma2_job *job)
{
	struct rpcrdma2_conn *conn = job->responder->conn;
	struct rpcrdma2_error error = { };

	if (bc_takes_chunks(conn))
		bc_plan(job);
	else if (bc_has_chunks(&job->recv->hdr, &error))
		rpcrdma2_job_refuse(job, &error);
	else
		bc_enqueue(conn->xprt, job);
}

/**
 * rpcrdma2_xprt_reverse_call - take in a server's Call; the call op of a client's connections
 * @recv: the Call's message; no longer the caller's
 *
 * Context: CQ.
 */
void rpcrdma2_xprt_reverse_call(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_job *job = rpcrdma2_responder_take(recv);

	if (job)
		bc_begin_call(job);
}

/* CQ context, the teardown, or the worker if there was nothing to read */
static void bc_read_done(struct rpcrdma2_job *job)
{
	int rc;

	rpcrdma2_read_end(job);
	if (job->status) {
		trace_rpcrdma2_call_drop(job, job->status);
		rpcrdma2_job_put(job);
		return;
	}
	rc = rpcrdma2_job_read_finish(job);
	if (rc)
		rpcrdma2_job_refuse_reads(job, rc);
	else
		bc_enqueue(job->responder->conn->xprt, job);
}

/* Begin a Call with chunks. Return: 0; or -ENOMEM, to be tried again */
static int bc_begin_reads(struct rpcrdma2_job *job)
{
	if (rpcrdma2_job_lend(job))
		return -ENOMEM;
	rpcrdma2_reads_start(job, NULL, job->nr_pages, bc_read_done);
	return 0;
}

/* The worker begins the Call, because the CQ must not wait for memory. */
static void bc_call_admitted(struct rpcrdma2_job *job)
{
	rpcrdma2_retry_job(job, bc_begin_reads, 0);
}

const struct rpcrdma2_responder_ops rpcrdma2_xprt_responder_ops = {
	.begin		= bc_begin_call,
	.admitted	= bc_call_admitted,
};

/**
 * rpcrdma2_xprt_reverse_init - prepare a transport for Calls of its server
 * @x: a new transport
 *
 * Context: process.
 */
void rpcrdma2_xprt_reverse_init(struct rpcrdma2_xprt *x)
{
	x->reverse = READ_ONCE(rpcrdma2_reverse);
	INIT_LIST_HEAD(&x->reverse_free);
	INIT_LIST_HEAD(&x->reverse_waiting);
}

/**
 * rpcrdma2_xprt_reverse_drop - drop all Calls that the service does not have
 * @conn: a connection that is drained
 *
 * Context: process, sleeps; the teardown's.
 */
void rpcrdma2_xprt_reverse_drop(struct rpcrdma2_conn *conn)
{
	struct rpcrdma2_xprt *x = conn->xprt;
	struct rpcrdma2_job *job, *next;
	LIST_HEAD(lost);

	rpcrdma2_responder_drained(conn->responder);
	spin_lock(&x->lock);
	list_splice_init(&x->reverse_waiting, &lost);
	spin_unlock(&x->lock);
	list_for_each_entry_safe(job, next, &lost, list) {
		list_del_init(&job->list);
		rpcrdma2_job_put(job);
	}
}

/* The Call's pages are of no use any more: free them before the Reply is made. */
static int bc_reply_inline(struct rpcrdma2_job *job,
			   const struct rpc_rqst *rqst)
{
	rpcrdma2_pages_give(job->pages, job->nr_pages);
	job->nr_pages = 0;
	return rpcrdma2_job_reply(job, &rqst->rq_snd_buf, NULL, 0);
}

static int bc_reply_later(struct rpcrdma2_job *job, const struct rpc_rqst *rqst)
{
	const struct xdr_buf *res = &rqst->rq_snd_buf;

	if (res->flags & XDRBUF_WRITE)
		rpcrdma2_job_add_payload(job, res->head[0].iov_len,
					 res->page_len);
	rpcrdma2_job_reply_later(job, res);
	return 0;
}

/**
 * rpcrdma2_xprt_reverse_reply - send the callback service's Reply
 * @rqst: the Call, with its Reply in rq_snd_buf
 *
 * A Reply whose connection is gone is dropped, and that is no error. sunrpc hands an error to
 * the task that sends. That task may have an RPC of its own, for the next connection.
 *
 * Context: process; the caller holds the xprt's write lock.
 *
 * Return: 0; or -ENOBUFS: memory is lacking, try again soon
 */
int rpcrdma2_xprt_reverse_reply(struct rpc_rqst *rqst)
{
	struct reverse_rqst *rr = bc_rqst_of(rqst);
	struct rpcrdma2_job *job = rr->job;
	struct rpcrdma2_conn *conn;
	int rc;

	conn = job->responder->conn;
	if (!rpcrdma2_ep_enter(&conn->ep))
		return 0;
	rr->job = NULL;
	rc = job->lent && bc_offers_chunks(job) ? bc_reply_later(job, rqst) :
					       bc_reply_inline(job, rqst);
	if (rc == -ENOBUFS)
		rr->job = job;
	rpcrdma2_ep_exit(&conn->ep);
	if (rc == -ENOBUFS)
		return rc;
	rpcrdma2_conn_put(conn);
	return 0;
}

static struct reverse_rqst *bc_rqst_alloc(void)
{
	struct reverse_rqst *rr;

	rr = kzalloc(sizeof(*rr), GFP_KERNEL);
	if (!rr)
		return NULL;
	rr->page = (void *)__get_free_page(GFP_KERNEL);
	if (!rr->page) {
		kfree(rr);
		return NULL;
	}
	INIT_LIST_HEAD(&rr->rqst.rq_bc_pa_list);
	return rr;
}

/**
 * rpcrdma2_xprt_bc_setup - prepare for a callback service
 * @xprt: the transport
 * @min_reqs: ignored: the service gets %RPCRDMA2_REVERSE_CREDITS Calls at a time
 *
 * NFS calls this once for each session.
 *
 * Context: process, sleeps.
 *
 * Return: 0; -ENOMEM; -EPROTONOSUPPORT: this client takes no Calls
 */
int rpcrdma2_xprt_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	struct reverse_rqst *rr;

	if (x->reverse == RDMA2_RVREQSUP_NONE) {
		pr_warn_ratelimited("no callbacks from server %s, because of reverse=none: NFSv4.1 and later can't be mounted\n",
				    xprt->address_strings[RPC_DISPLAY_ADDR]);
		return -EPROTONOSUPPORT;
	}
	while (x->nr_reverse < RPCRDMA2_REVERSE_CREDITS) {
		rr = bc_rqst_alloc();
		if (!rr)
			return -ENOMEM;
		x->nr_reverse++;
		bc_rqst_put(x, rr);
	}
	spin_lock(&x->lock);
	x->bc_users++;
	spin_unlock(&x->lock);
	return 0;
}

static u32 bc_inline_limit(struct rpcrdma2_xprt *x)
{
	struct rpcrdma2_conn *conn = rpcrdma2_xprt_conn_get(x);
	u32 limit = rpcrdma2_v1.inline_default - rpcrdma2_v2_09.plain_size;

	if (!conn)
		return limit;
	if (rpcrdma2_conn_is_ready(conn))
		limit = min(conn->ep.limit.call, conn->terms.recv_limit) -
			conn->terms.dialect->plain_size;
	rpcrdma2_conn_put(conn);
	return limit;
}

/**
 * rpcrdma2_xprt_bc_maxpayload - largest callback message, for a new session
 * @xprt: the transport
 *
 * A later connection may allow less, but never less than version 1's default, which callbacks
 * don't reach.
 *
 * Context: process.
 *
 * Return: octets of an RPC message that fit inline both ways, and into a page
 */
size_t rpcrdma2_xprt_bc_maxpayload(struct rpc_xprt *xprt)
{
	return min_t(size_t, PAGE_SIZE,
		     bc_inline_limit(to_rpcrdma2_xprt(xprt)));
}

/**
 * rpcrdma2_xprt_bc_num_slots - number of callbacks at a time
 * @xprt: the transport
 *
 * Context: any.
 *
 * Return: number of Calls
 */
unsigned int rpcrdma2_xprt_bc_num_slots(struct rpc_xprt *xprt)
{
	return RPCRDMA2_REVERSE_CREDITS;
}

/**
 * rpcrdma2_xprt_bc_free_rqst - end a callback
 * @rqst: the Call. If it has no Reply, its job is put
 *
 * The rpc_rqst is free for the next Call.
 *
 * Context: process, no locks held.
 */
void rpcrdma2_xprt_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct reverse_rqst *rr = bc_rqst_of(rqst);
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);
	struct rpcrdma2_conn *conn;

	clear_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
	if (rr->job) {
		conn = rr->job->responder->conn;
		trace_rpcrdma2_call_drop(rr->job, 0);
		rpcrdma2_job_put(rr->job);
		rpcrdma2_conn_put(conn);
	}
	bc_rqst_put(x, rr);
	bc_deliver_waiting(x);
	xprt_put(xprt);
}

/**
 * rpcrdma2_xprt_bc_destroy - note that a callback service ends
 * @xprt: the transport
 * @max_reqs: ignored
 *
 * After the last service, Calls are refused. The rpc_rqsts stay for another service, until
 * rpcrdma2_xprt_reverse_free().
 *
 * Context: process.
 */
void rpcrdma2_xprt_bc_destroy(struct rpc_xprt *xprt, unsigned int max_reqs)
{
	struct rpcrdma2_xprt *x = to_rpcrdma2_xprt(xprt);

	spin_lock(&x->lock);
	if (x->bc_users)
		x->bc_users--;
	spin_unlock(&x->lock);
}

/**
 * rpcrdma2_xprt_reverse_free - free the rpc_rqsts of a transport
 * @x: the transport; the service has no callback any more
 *
 * Context: process.
 */
void rpcrdma2_xprt_reverse_free(struct rpcrdma2_xprt *x)
{
	struct reverse_rqst *rr;

	while ((rr = bc_rqst_get(x))) {
		free_page((unsigned long)rr->page);
		kfree(rr);
	}
}
