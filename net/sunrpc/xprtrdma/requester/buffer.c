// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers of Calls and their Replies.
 *
 * A few are in reserve, for the RPCs that write back what takes up all other memory:
 * those are small, and asynchronous. (sunrpc has such a pool, but keeps it to itself
 * since 6.18.)
 */
#include <linux/mempool.h>
#include <linux/slab.h>

#include "requester.h"

#define SMALL		2048
#define NR_RESERVED	8

static struct kmem_cache *small_calls;
static mempool_t *reserve;

static struct rpcrdma2_call *call_buffer_alloc_size(const struct rpc_task *task,
						    size_t size)
{
	gfp_t gfp = rpc_task_gfp_mask();
	struct rpcrdma2_call *call;

	if (size > SMALL)
		return kmalloc(size, gfp);
	call = kmem_cache_alloc(small_calls, gfp);
	if (!call && RPC_IS_ASYNC(task))
		call = mempool_alloc(reserve, GFP_NOWAIT | __GFP_NOWARN);
	return call;
}

/**
 * rpcrdma2_call_buffer_alloc - get memory for a Call, its message and its Reply
 * @task: an RPC with rq_callsize and rq_rcvsize set, whose rq_buffer and rq_rbuffer are
 *	set here
 *
 * Process context; does not wait where the xprt serves swap.
 *
 * Return: what the requester keeps of the RPC, as zeroes from @rqst on; or NULL
 */
struct rpcrdma2_call *rpcrdma2_call_buffer_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	size_t size = sizeof(struct rpcrdma2_call) + rqst->rq_callsize +
		      rqst->rq_rcvsize;
	struct rpcrdma2_call *call;

	call = call_buffer_alloc_size(task, size);
	if (!call)
		return NULL;
	memset_startat(call, 0, rqst);
	call->small = size <= SMALL;
	rqst->rq_buffer = call + 1;
	rqst->rq_rbuffer = (char *)rqst->rq_buffer + rqst->rq_callsize;
	return call;
}

/**
 * rpcrdma2_call_buffer_free - give it back
 * @call: what rpcrdma2_call_buffer_alloc() returned
 */
void rpcrdma2_call_buffer_free(struct rpcrdma2_call *call)
{
	if (call->small)
		mempool_free(call, reserve);
	else
		kfree(call);
}

/**
 * rpcrdma2_call_buffers_init - make the reserve
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_call_buffers_init(void)
{
	/* Not a power of two: so the first lines of all have more than two places in a cache. */
	small_calls = kmem_cache_create("rpcrdma2_call", SMALL + SMP_CACHE_BYTES, 0,
					SLAB_HWCACHE_ALIGN, NULL);
	if (!small_calls)
		return -ENOMEM;
	reserve = mempool_create_slab_pool(NR_RESERVED, small_calls);
	if (reserve)
		return 0;
	kmem_cache_destroy(small_calls);
	return -ENOMEM;
}

/**
 * rpcrdma2_call_buffers_exit - free it; there are no Calls any more
 */
void rpcrdma2_call_buffers_exit(void)
{
	mempool_destroy(reserve);
	kmem_cache_destroy(small_calls);
}
