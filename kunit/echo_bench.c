// SPDX-License-Identifier: GPL-2.0
/*
 * A benchmark of RPCs: the echo program over one or more connections, to this machine
 * or another. bench.h describes jobs and figures. The operations are
 *
 *	null	an RPC that carries nothing
 *	call	SIZE bytes in the Call, like NFS WRITE
 *	reply	SIZE bytes in the Reply, like NFS READ
 *
 * RPCs are asynchronous: the end of one starts the next, and no process has to wake up.
 * The receiver does not compare the bytes.
 *
 * Owns the clients, and one bench_caller for each RPC at a time. rpciod and the threads
 * that release RPCs start the next ones.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include "bench.h"
#include "echo.h"

#define ECHO_PORT	20052
#define ECHO_THREADS	8
#include "echo_params.c"

static uint connections = 1;
module_param(connections, uint, 0444);
MODULE_PARM_DESC(connections, "how many the client has; RPCs take turns with them");

static struct rpc_clnt **bench_clnts;

/**
 * struct bench_caller - runs one RPC after the other
 * @job: the job
 * @clnt: client whose connection the RPCs use
 * @req: the RPC and its buffers
 * @started: start of the last RPC, in ns
 * @status: status of the last RPC; -ENOMEM until it ran
 */
struct bench_caller {
	struct bench_job	*job;
	struct rpc_clnt		*clnt;
	struct echo_req		*req;
	u64			started;
	int			status;
};

static struct bench_caller *bench_callers;

/* RPCs */

static void bench_call_done(struct rpc_task *task, void *data)
{
	struct bench_caller *caller = data;

	caller->status = task->tk_status;
}

static void bench_call(struct bench_caller *caller);

static void bench_call_release(void *data)
{
	struct bench_caller *caller = data;

	if (bench_done(caller->job, caller->started, caller->status))
		bench_call(caller);
}

static const struct rpc_call_ops bench_call_ops = {
	.rpc_call_done	= bench_call_done,
	.rpc_release	= bench_call_release,
};

/* sunrpc calls rpc_release even if rpc_call_async() fails, so errors come there. */
static void bench_call(struct bench_caller *caller)
{
	struct rpc_message msg = {
		.rpc_proc	= &caller->req->proc,
		.rpc_argp	= caller->req,
		.rpc_resp	= caller->req,
	};

	caller->status = -ENOMEM;
	caller->started = ktime_get_ns();
	rpc_call_async(caller->clnt, &msg, 0, &bench_call_ops, caller);
}

/* The job */

static int bench_shape(const struct bench_job *job, struct echo_shape *shape)
{
	memset(shape, 0, sizeof(*shape));
	if (job->size > ECHO_MAX_PAYLOAD)
		return -EINVAL;
	if (!strcmp(job->what, "null")) {
		shape->flags = ECHO_NULL;
	} else if (!strcmp(job->what, "call")) {
		shape->flags = ECHO_ARG_PAYLOAD | ECHO_ARG_DDP | ECHO_UNCHECKED;
		shape->arg_pages = job->size;
	} else if (!strcmp(job->what, "reply")) {
		shape->flags = ECHO_RES_PAYLOAD | ECHO_RES_DDP | ECHO_UNCHECKED;
		shape->res_pages = job->size;
	} else {
		return -EINVAL;
	}
	return 0;
}

static void bench_free(unsigned int nr)
{
	while (nr--)
		echo_req_free(bench_callers[nr].req);
	kfree(bench_callers);
}

static int bench_prepare(struct bench_job *job)
{
	struct echo_shape shape;
	unsigned int i;
	int ret;

	if (!connections)
		return -ENOTCONN;
	ret = bench_shape(job, &shape);
	if (ret)
		return ret;
	bench_callers = kcalloc(job->depth, sizeof(*bench_callers), GFP_KERNEL);
	if (!bench_callers)
		return -ENOMEM;
	for (i = 0; i < job->depth; i++) {
		bench_callers[i].job = job;
		bench_callers[i].clnt = bench_clnts[i % connections];
		bench_callers[i].req = echo_req_alloc(&shape);
		if (!bench_callers[i].req) {
			bench_free(i);
			return -ENOMEM;
		}
	}
	return 0;
}

static void bench_start(struct bench_job *job)
{
	unsigned int i;

	for (i = 0; i < job->depth; i++)
		bench_call(&bench_callers[i]);
}

/* Check the lengths that each caller's last RPC carried. */
static int bench_finish(struct bench_job *job)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < job->depth; i++) {
		const struct echo_req *req = bench_callers[i].req;

		if (req->res_status ||
		    req->sent.pages_len != req->shape.arg_pages ||
		    req->received.pages_len != req->shape.res_pages)
			ret = -EIO;
	}
	bench_free(job->depth);
	return ret;
}

static const struct bench echo_bench = {
	.prepare	= bench_prepare,
	.start		= bench_start,
	.finish		= bench_finish,
};

/* The module */

static void bench_disconnect(unsigned int nr)
{
	while (nr--)
		rpc_shutdown_client(bench_clnts[nr]);
	kvfree(bench_clnts);
}

static int bench_connect(void)
{
	static const struct rpc_timeout patient = {
		.to_initval	= 60 * HZ,
		.to_maxval	= 60 * HZ,
	};
	struct sockaddr_storage ss;
	struct sockaddr *sa = (struct sockaddr *)&ss;
	unsigned int i;
	size_t len;
	int ret;

	len = rpc_pton(&init_net, addr, strlen(addr), sa, sizeof(ss));
	if (!len)
		return -EINVAL;
	rpc_set_port(sa, port);
	bench_clnts = kvcalloc(connections, sizeof(*bench_clnts), GFP_KERNEL);
	if (connections && !bench_clnts)
		return -ENOMEM;
	for (i = 0; i < connections; i++) {
		bench_clnts[i] = echo_clnt_create(sa, len, &patient, 0);
		if (IS_ERR(bench_clnts[i])) {
			ret = PTR_ERR(bench_clnts[i]);
			bench_disconnect(i);
			return ret;
		}
	}
	return 0;
}

static int __init bench_init(void)
{
	int ret = 0;

	if (threads)
		ret = echo_server_start(PF_INET);
	if (ret)
		return ret;
	ret = bench_connect();
	if (ret)
		goto out_stop;
	ret = bench_register("rpcrdma2_echo_bench", &echo_bench);
	if (ret)
		goto out_disconnect;
	return 0;

out_disconnect:
	bench_disconnect(connections);
out_stop:
	echo_server_stop();
	return ret;
}

static void __exit bench_exit(void)
{
	bench_unregister();
	bench_disconnect(connections);
	echo_server_stop();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_AUTHOR("rpcrdma2 developers");
MODULE_DESCRIPTION("A benchmark of RPCs over one connection");
MODULE_LICENSE("GPL");
