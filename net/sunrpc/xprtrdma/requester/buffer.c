// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of an RPC: struct rpcrdma2_call, the Call and the Reply in one allocation.
 *
 * A small reserve serves small RPCs of asynchronous tasks. Write-back sends such RPCs, and memory
 * may become free only by write-back. sunrpc has a similar reserve, which not every kernel
 * exports.
 *
 * sunrpc's tasks allocate and free, in process context.
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
 * rpcrdma2_call_buffer_alloc - allocate the memory of an RPC
 * @task: the RPC's task; its rq_callsize and rq_rcvsize are set, in octets
 *
 * Sets the RPC's rq_buffer and rq_rbuffer.
 *
 * Context: process; may sleep for memory as far as rpc_task_gfp_mask() allows.
 *
 * Return: the RPC's state, zeroed from @rqst on, or NULL
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
 * rpcrdma2_call_buffer_free - free the memory of an RPC
 * @call: the RPC's state, from rpcrdma2_call_buffer_alloc()
 *
 * Context: process.
 */
void rpcrdma2_call_buffer_free(struct rpcrdma2_call *call)
{
	if (call->small)
		mempool_free(call, reserve);
	else
		kfree(call);
}

/**
 * rpcrdma2_call_buffers_init - allocate the reserve
 *
 * Context: process, when the module is loaded; sleeps.
 *
 * Return: 0 or -ENOMEM
 */
int rpcrdma2_call_buffers_init(void)
{
	/*
	 * The size is not a power of two. If it were, the first cache lines of all Calls would
	 * compete for two places in a CPU's cache.
	 */
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
 * rpcrdma2_call_buffers_exit - free the reserve
 *
 * Context: process, when the module is unloaded and no RPC is left; sleeps.
 */
void rpcrdma2_call_buffers_exit(void)
{
	mempool_destroy(reserve);
	kmem_cache_destroy(small_calls);
}
