// SPDX-License-Identifier: GPL-2.0
/*
 * A server's Calls, answered by its client.
 *
 * The client's responder role gives the Call to the callback service that
 * NFSv4.1 attached to the transport, as an rpc_rqst whose receive buffer is
 * the job's; the service's Reply comes back through send_request. Such
 * rpc_rqsts are made when the callback service is set up, as many as Calls are
 * granted. The service may still have those of a lost connection when the next
 * one has Calls for it: these wait.
 *
 * A Call without chunks needs no memory but that, where no others are taken. Where they
 * are (BRS GENL), it gets pages for an inline Reply, and one with chunks for what is read,
 * too: rq_snd_buf has as many as the server may be waiting for, with NULL behind the
 * last. Its page data goes by a Write chunk if the service says XDRBUF_WRITE. Both
 * directions are a worker's where they have to wait for memory: who sends a Reply has
 * the write lock, and keeps out the Calls that write memory back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>

#include "compat.h"
#include "param.h"
#include "xprt.h"

#include <trace/events/rpcrdma2.h>

/**
 * struct reverse_rqst - a server's Call, for sunrpc
 * @rqst: sunrpc's part
 * @job: the Call, while there is one; its connection is referenced
 * @page: for its Reply, if the job has no pages for that
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
	/* xdr_buf_init() leaves it as the last Reply had it. */
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

/* Below the locks, so that the service is there. */
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
 * Is there a callback service? Before it goes sunrpc either says so and leaves the
 * pointer where it was, or, since 6.19, takes the pointer away below bc_pa_lock.
 */
static bool bc_has_service(const struct rpcrdma2_xprt *x)
{
	return x->bc_users && x->xprt.bc_serv;
}

/* Pair Calls that wait with rpc_rqsts that are free, while there are both. */
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
		/* sunrpc may have it for longer than there is a connection. */
		rpcrdma2_conn_get(job->responder->conn);
		rr->job = job;
		bc_deliver(x, rr);
	}
	spin_unlock(&x->xprt.bc_pa_lock);
	spin_unlock(&x->lock);
}

/* The Call is whole. */
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
		/* Nobody asked for callbacks on this transport. */
		rpcrdma2_job_refuse(job, &error);
}

/* In version 1, nobody says that there may be any. */
static bool bc_takes_chunks(const struct rpcrdma2_conn *conn)
{
	return conn->own.brs == RDMA2_RVREQSUP_GENL &&
	       conn->dialect->props;
}

/*
 * v2-09, 5.3.3: READ_CHUNKS with 0 says that there may be none; who takes no Write
 * chunks says REPLY_RESOURCE, with 0 for what only the Call's execution would tell. A
 * Reply chunk may be there, and is not used.
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

/* May its Reply go by RDMA Write? */
static bool bc_offers_chunks(const struct rpcrdma2_job *job)
{
	const struct rpcrdma2_chunk_lists *cl = &job->recv->hdr.chunks;

	return cl->nwrites || cl->has_reply;
}

/* Nothing is to be read. Return: 0; -ENOMEM: the job is to be tried again */
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
 * rpcrdma2_xprt_reverse_call - a server's Call came
 * @recv: its message
 *
 * CQ context; the call op of a client's connections.
 */
void rpcrdma2_xprt_reverse_call(struct rpcrdma2_recv *recv)
{
	struct rpcrdma2_job *job = rpcrdma2_job_get(recv);

	if (job)
		bc_begin_call(job);
}

/* CQ context, or the teardown. */
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

/* Return: 0, or -ENOMEM and the job is to be tried again */
static int bc_begin_reads(struct rpcrdma2_job *job)
{
	if (rpcrdma2_job_lend(job))
		return -ENOMEM;
	rpcrdma2_reads_start(job, NULL, job->nr_pages, bc_read_done);
	return 0;
}

/* A worker begins it: it takes memory. */
static void bc_call_admitted(struct rpcrdma2_job *job)
{
	rpcrdma2_retry_job(job, bc_begin_reads, 0);
}

const struct rpcrdma2_responder_ops rpcrdma2_xprt_responder_ops = {
	.begin		= bc_begin_call,
	.admitted	= bc_call_admitted,
};

/**
 * rpcrdma2_xprt_reverse_init - there is no Call yet
 * @x: a new transport
 */
void rpcrdma2_xprt_reverse_init(struct rpcrdma2_xprt *x)
{
	x->reverse = READ_ONCE(rpcrdma2_reverse);
	INIT_LIST_HEAD(&x->reverse_free);
	INIT_LIST_HEAD(&x->reverse_waiting);
}

/**
 * rpcrdma2_xprt_reverse_drop - the connection is gone: forget what waits
 * @conn: the connection, drained
 *
 * Process context, sleeps.
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

/* The service is done with the Call's pages. */
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
 * Called by sunrpc with the write lock, process context. A Reply whose connection is
 * gone is done with, and no error: sunrpc gives that to whichever task sends, which
 * would drop a Reply of its own that is good on the next connection.
 *
 * Return: 0; -ENOBUFS: try again soon
 */
int rpcrdma2_xprt_reverse_reply(struct rpc_rqst *rqst)
{
	struct reverse_rqst *rr = bc_rqst_of(rqst);
	struct rpcrdma2_job *job = rr->job;
	struct rpcrdma2_conn *conn;
	int rc;

	conn = job->responder->conn;
	if (!rpcrdma2_conn_enter(conn))
		return 0;
	rr->job = NULL;
	rc = job->lent && bc_offers_chunks(job) ? bc_reply_later(job, rqst) :
					       bc_reply_inline(job, rqst);
	if (rc == -ENOBUFS)
		rr->job = job;
	rpcrdma2_conn_exit(conn);
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
 * rpcrdma2_xprt_bc_setup - a callback service will take Calls
 * @xprt: the transport
 * @min_reqs: how many at a time, at least
 *
 * Called by NFS, process context, once for each session.
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
		limit = min(conn->send_limit, conn->recv_limit) -
			conn->dialect->plain_size;
	rpcrdma2_conn_put(conn);
	return limit;
}

/**
 * rpcrdma2_xprt_bc_maxpayload - the largest callback message
 * @xprt: the transport
 *
 * Called by NFS when it makes a session. The next connection may allow less,
 * but never less than the smallest default, which callbacks don't reach.
 *
 * Return: octets of RPC message that fit a Send each way, and a page
 */
size_t rpcrdma2_xprt_bc_maxpayload(struct rpc_xprt *xprt)
{
	return min_t(size_t, PAGE_SIZE,
		     bc_inline_limit(to_rpcrdma2_xprt(xprt)));
}

/**
 * rpcrdma2_xprt_bc_num_slots - callbacks at a time
 * @xprt: the transport
 *
 * Return: how many
 */
unsigned int rpcrdma2_xprt_bc_num_slots(struct rpc_xprt *xprt)
{
	return RPCRDMA2_REVERSE_CREDITS;
}

/**
 * rpcrdma2_xprt_bc_free_rqst - sunrpc is done with a callback
 * @rqst: the Call
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
 * rpcrdma2_xprt_bc_destroy - a callback service goes
 * @xprt: the transport
 * @max_reqs: as many as it asked for
 *
 * It gets no Call any more. The requests stay for the next one, until the
 * transport goes.
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
 * rpcrdma2_xprt_reverse_free - the transport goes
 * @x: the transport; no callback is under way
 */
void rpcrdma2_xprt_reverse_free(struct rpcrdma2_xprt *x)
{
	struct reverse_rqst *rr;

	while ((rr = bc_rqst_get(x))) {
		free_page((unsigned long)rr->page);
		kfree(rr);
	}
}
