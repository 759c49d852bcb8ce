// SPDX-License-Identifier: GPL-2.0
/*
 * The client of the echo program: runs one RPC of any shape, and records what arrived.
 *
 * Each RPC has its own rpc_procinfo, so that sunrpc sees the exact buffer sizes of this
 * RPC. A transport chooses a message's form by those sizes.
 *
 * Tests allocate, start and await RPCs in process context. sunrpc encodes and decodes
 * in the context of the rpc_task.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include "echo.h"

/* Longer than a soft RPC can take, shorter than KUnit's limit of 300 s for a test */
#define ECHO_WAIT		(100 * HZ)

static void echo_encode_payload(struct rpc_rqst *rqst, struct xdr_stream *xdr,
				const struct echo_req *req)
{
	const struct echo_shape *shape = &req->shape;

	xdr_stream_encode_u32(xdr, req->arg.len);
	xdr_write_pages(xdr, req->arg.pages, req->arg.base, req->arg.len);
	if (shape->flags & ECHO_ARG_DDP)
		rqst->rq_snd_buf.flags |= XDRBUF_WRITE;
	if (shape->flags & ECHO_TRAILER)
		xdr_stream_encode_u32(xdr, echo_trailer(req->seed,
							ECHO_ARG_PAGES));
}

/* Words of the results that precede the payload */
static unsigned int echo_res_words(const struct echo_shape *shape)
{
	unsigned int words = 1 + ECHO_VERDICT_WORDS + 1;

	words += XDR_QUADLEN(shape->res_head);
	if (shape->flags & ECHO_RES_PAYLOAD)
		words++;
	return words;
}

static void echo_encode(struct rpc_rqst *rqst, struct xdr_stream *xdr,
			const void *obj)
{
	const struct echo_req *req = obj;
	const struct echo_shape *shape = &req->shape;
	__be32 *p;

	/* echo_req_alloc() set p_arglen to this size, so there is room. */
	p = xdr_reserve_space(xdr, (ECHO_ARGS_WORDS + 1) * XDR_UNIT +
			      shape->arg_head);
	*p++ = cpu_to_be32(shape->flags & ECHO_WIRE_FLAGS);
	*p++ = cpu_to_be32(req->seed);
	*p++ = cpu_to_be32(shape->delay);
	*p++ = cpu_to_be32(shape->res_head);
	*p++ = cpu_to_be32(shape->res_pages);
	*p++ = cpu_to_be32(shape->svc_base);
	*p++ = cpu_to_be32(shape->arg_head);
	echo_fill(p, shape->arg_head, echo_stream(req->seed, ECHO_ARG_HEAD), 0);
	memset((void *)p + shape->arg_head, 0, xdr_pad_size(shape->arg_head));

	if (shape->flags & ECHO_ARG_PAYLOAD)
		echo_encode_payload(rqst, xdr, req);
	if (!(shape->flags & ECHO_RES_PAYLOAD))
		return;
	rpc_prepare_reply_pages(rqst, req->res.pages, req->res.base,
				req->res.len, echo_res_words(shape));
	if (shape->flags & ECHO_RES_DDP)
		rqst->rq_rcv_buf.flags |= XDRBUF_READ;
}

/* echo_expect_good() compares the payload when the RPC has ended. */
static int echo_decode_payload(struct xdr_stream *xdr, struct echo_req *req)
{
	struct echo_verdict *received = &req->received;
	__be32 *p;
	u32 len;

	if (xdr_stream_decode_u32(xdr, &len) < 0)
		return -EIO;
	received->pages_len = len;
	if (len > req->res.len || xdr_read_pages(xdr, len) != len)
		return -EIO;
	if (!(req->shape.flags & ECHO_TRAILER))
		return 0;
	/* A payload of odd length leaves the next word unaligned. */
	p = xdr_inline_decode(xdr, XDR_UNIT);
	if (!p)
		return -EIO;
	received->trailer_bad = get_unaligned_be32(p) !=
				echo_trailer(req->seed, ECHO_RES_PAGES);
	return 0;
}

static int echo_decode(struct rpc_rqst *rqst, struct xdr_stream *xdr,
		       void *obj)
{
	struct echo_req *req = obj;
	struct echo_verdict *received = &req->received;
	__be32 *p;

	if (xdr_stream_decode_u32(xdr, &req->res_status) < 0)
		return -EIO;
	if (req->res_status)
		return 0;
	p = xdr_inline_decode(xdr, (ECHO_VERDICT_WORDS + 1) * XDR_UNIT);
	if (!p)
		return -EIO;
	req->sent.head_len = be32_to_cpup(p++);
	req->sent.head_bad = be32_to_cpup(p++);
	req->sent.pages_len = be32_to_cpup(p++);
	req->sent.pages_bad = be32_to_cpup(p++);
	req->sent.trailer_bad = be32_to_cpup(p++);
	received->head_len = be32_to_cpup(p);

	p = xdr_inline_decode(xdr, received->head_len);
	if (!p)
		return -EIO;
	received->head_bad = echo_diff(p, received->head_len,
				       echo_stream(req->seed, ECHO_RES_HEAD),
				       0);
	if (received->head_bad == received->head_len)
		received->head_bad = ECHO_ALL_GOOD;

	if (!(req->shape.flags & ECHO_RES_PAYLOAD))
		return 0;
	return echo_decode_payload(xdr, req);
}

/* Program */

static void echo_encode_void(struct rpc_rqst *rqst, struct xdr_stream *xdr,
			     const void *obj)
{
}

static int echo_decode_void(struct rpc_rqst *rqst, struct xdr_stream *xdr,
			    void *obj)
{
	return 0;
}

static const struct rpc_procinfo echo_procedures[ECHOPROC_NR] = {
	[ECHOPROC_NULL] = {
		.p_proc		= ECHOPROC_NULL,
		.p_encode	= echo_encode_void,
		.p_decode	= echo_decode_void,
		.p_statidx	= ECHOPROC_NULL,
		.p_name		= "NULL",
	},
	[ECHOPROC_ECHO] = {
		.p_proc		= ECHOPROC_ECHO,
		.p_encode	= echo_encode,
		.p_decode	= echo_decode,
		.p_statidx	= ECHOPROC_ECHO,
		.p_name		= "ECHO",
	},
};

static unsigned int echo_counts[ECHOPROC_NR];

static const struct rpc_version echo_version = {
	.number		= ECHO_VERSION,
	.nrprocs	= ECHOPROC_NR,
	.procs		= echo_procedures,
	.counts		= echo_counts,
};

static const struct rpc_version *echo_versions[] = {
	[ECHO_VERSION] = &echo_version,
};

static const struct rpc_program echo_program;

static struct rpc_stat echo_stats = { .program = &echo_program };

static const struct rpc_program echo_program = {
	.name		= "echo",
	.number		= ECHO_PROGRAM,
	.nrvers		= ARRAY_SIZE(echo_versions),
	.version	= echo_versions,
	.stats		= &echo_stats,
};

/**
 * echo_clnt_create - create a client with a connection of its own
 * @addr: address of the server
 * @addrlen: octets of @addr
 * @timeout: timeout of its RPCs
 * @flags: RPC_CLNT_CREATE_*
 *
 * Context: process, may sleep.
 *
 * Return: the client, or an ERR_PTR().
 */
struct rpc_clnt *echo_clnt_create(const struct sockaddr *addr, size_t addrlen,
				  const struct rpc_timeout *timeout,
				  unsigned long flags)
{
	struct rpc_create_args args = {
		.net		= &init_net,
		.protocol	= echo_transport(),
		.address	= (struct sockaddr *)addr,
		.addrsize	= addrlen,
		.timeout	= timeout,
		.program	= &echo_program,
		.version	= ECHO_VERSION,
		.authflavor	= RPC_AUTH_NULL,
		.flags		= flags | RPC_CLNT_CREATE_NONPRIVPORT |
				  RPC_CLNT_CREATE_QUIET,
		.cred		= current_cred(),
	};

	return rpc_create(&args);
}

/**
 * echo_cb_clnt_create - create a client for the reverse direction of a connection
 * @xprt: the connection at the server
 * @timeout: timeout of its RPCs
 *
 * Context: process, may sleep.
 *
 * Return: the client, or an ERR_PTR().
 */
struct rpc_clnt *echo_cb_clnt_create(struct svc_xprt *xprt,
				     const struct rpc_timeout *timeout)
{
	struct rpc_create_args args = {
		.net		= &init_net,
		.protocol	= xprt->xpt_class->xcl_ident | XPRT_TRANSPORT_BC,
		.address	= (struct sockaddr *)&xprt->xpt_remote,
		.addrsize	= xprt->xpt_remotelen,
		.timeout	= timeout,
		.program	= &echo_program,
		.prognumber	= ECHO_CB_PROGRAM,
		.version	= ECHO_VERSION,
		.authflavor	= RPC_AUTH_NULL,
		.flags		= RPC_CLNT_CREATE_NOPING |
				  RPC_CLNT_CREATE_QUIET,
		.bc_xprt	= xprt,
		.cred		= current_cred(),
	};

	return rpc_create(&args);
}

/* RPCs */

/**
 * echo_req_alloc - allocate an RPC
 * @shape: what the RPC looks like
 *
 * Context: process, may sleep.
 *
 * Return: the RPC, or NULL.
 */
struct echo_req *echo_req_alloc(const struct echo_shape *shape)
{
	struct echo_req *req;

	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return NULL;
	INIT_LIST_HEAD(&req->list);
	init_completion(&req->done);
	req->shape = *shape;
	if (shape->flags & ECHO_NULL) {
		req->proc = echo_procedures[ECHOPROC_NULL];
		return req;
	}
	req->proc = echo_procedures[ECHOPROC_ECHO];
	/* The payload adds its length, its pad and its trailer. */
	req->proc.p_arglen = ECHO_ARGS_WORDS + 1 +
			     XDR_QUADLEN(shape->arg_head);
	if (shape->flags & ECHO_ARG_PAYLOAD)
		req->proc.p_arglen += 3;
	req->proc.p_replen = echo_res_words(shape);
	if (shape->flags & ECHO_RES_PAYLOAD)
		req->proc.p_replen += 2;

	if (echo_pages_alloc(&req->arg, shape->arg_base, shape->arg_pages))
		goto out_free;
	if (echo_pages_alloc(&req->res, shape->res_base,
			     shape->room ?: shape->res_pages))
		goto out_free;
	return req;

out_free:
	echo_req_free(req);
	return NULL;
}

/**
 * echo_req_free - free an RPC
 * @req: the RPC, which is not running
 *
 * Context: process.
 */
void echo_req_free(struct echo_req *req)
{
	echo_pages_free(&req->arg);
	echo_pages_free(&req->res);
	kfree(req);
}

static void echo_req_call_done(struct rpc_task *task, void *data)
{
	struct echo_req *req = data;

	req->status = task->tk_status;
}

static void echo_req_release(void *data)
{
	struct echo_req *req = data;

	complete(&req->done);
}

static const struct rpc_call_ops echo_req_ops = {
	.rpc_call_done	= echo_req_call_done,
	.rpc_release	= echo_req_release,
};

/**
 * echo_req_start - start an RPC with new contents
 * @req: the RPC, which is not running
 * @clnt: client that runs the RPC
 * @flags: RPC_TASK_*
 *
 * Context: process, may sleep.
 *
 * Return: 0 or a negative errno.
 */
int echo_req_start(struct echo_req *req, struct rpc_clnt *clnt, int flags)
{
	struct rpc_message msg = {
		.rpc_proc	= &req->proc,
		.rpc_argp	= req,
		.rpc_resp	= req,
	};
	int ret;

	req->clnt = clnt;
	req->seed = get_random_u32();
	req->status = 0;
	req->res_status = 0;
	memset(&req->sent, 0, sizeof(req->sent));
	memset(&req->received, 0, sizeof(req->received));
	echo_pages_poison(&req->arg, ECHO_POISON);
	echo_pages_poison(&req->res, ECHO_POISON);
	echo_fill_pages(req->arg.pages, req->arg.base, req->arg.len,
			echo_stream(req->seed, ECHO_ARG_PAGES));

	reinit_completion(&req->done);
	req->started = true;
	ret = rpc_call_async(clnt, &msg, flags, &echo_req_ops, req);
	if (ret) {
		wait_for_completion(&req->done);
		req->started = false;
	}
	return ret;
}

/**
 * echo_req_wait - wait for an RPC
 * @req: the RPC, which echo_req_start() has started
 *
 * Context: process, may sleep.
 *
 * Return: status of the RPC, or -EINPROGRESS if it does not end in time.
 */
int echo_req_wait(struct echo_req *req)
{
	if (!req->started)
		return req->status;
	if (!wait_for_completion_timeout(&req->done, ECHO_WAIT))
		return -EINPROGRESS;
	req->started = false;
	return req->status;
}

/**
 * echo_req_kill_and_wait - end an RPC
 * @req: the RPC, running or not
 *
 * Kills all RPCs of the same client if this one runs on.
 *
 * Context: process, may sleep.
 *
 * Return: false if even a killed RPC does not end. Nobody may touch its memory then.
 */
bool echo_req_kill_and_wait(struct echo_req *req)
{
	unsigned int tries = 100;

	while (req->started && tries--) {
		if (wait_for_completion_timeout(&req->done, HZ / 10)) {
			req->started = false;
			break;
		}
		rpc_killall_tasks(req->clnt);
	}
	return !req->started;
}
