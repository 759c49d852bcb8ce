// SPDX-License-Identifier: GPL-2.0
/*
 * One Receive: its struct, and its buffer, which is mapped for the device.
 *
 * Knows neither Queues nor pools: recv_pool.c has the Receives of an endpoint, srq.c has
 * shared ones. Allocates in process context, and frees in any context that allows kfree().
 */
#include "device.h"
#include "ep.h"

/**
 * rpcrdma2_recv_memory_get - allocate and map the memory of a Receive
 * @pd: protection domain
 * @memory: set to the memory
 * @size: octets
 * @gfp: allocation flags
 *
 * Context: Process; sleeps if @gfp allows.
 * Return: whether there is memory
 */
bool rpcrdma2_recv_memory_get(struct ib_pd *pd, struct rpcrdma2_recv_memory *memory,
			      u32 size, gfp_t gfp)
{
	memory->buf = rpcrdma2_buffer_alloc(pd->device, size,
					    DMA_FROM_DEVICE, gfp,
					    &memory->sge.addr);
	if (!memory->buf)
		return false;
	memory->sge.length = size;
	memory->sge.lkey = pd->local_dma_lkey;
	memory->needs_sync = rpcrdma2_buffer_needs_sync(pd->device,
							memory->sge.addr);
	return true;
}

/**
 * rpcrdma2_recv_memory_put - undo rpcrdma2_recv_memory_get()
 * @dev: the device
 * @memory: the memory
 *
 * Context: Any.
 */
void rpcrdma2_recv_memory_put(struct ib_device *dev,
			      const struct rpcrdma2_recv_memory *memory)
{
	ib_dma_unmap_single(dev, memory->sge.addr,
			    memory->sge.length, DMA_FROM_DEVICE);
	rpcrdma2_buffer_free(memory->buf, memory->sge.length);
}

static struct rpcrdma2_recv *
recv_make(struct ib_pd *pd, u32 size, gfp_t gfp,
	  void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct rpcrdma2_recv *recv;
	struct rpcrdma2_recv_memory memory;

	recv = kmalloc_node(sizeof(*recv), gfp, ibdev_to_node(pd->device));
	if (!recv)
		return NULL;
	if (!rpcrdma2_recv_memory_get(pd, &memory, size, gfp)) {
		kfree(recv);
		return NULL;
	}
	recv->ep = NULL;
	recv->srq = NULL;
	recv->cqe.done = done;
	recv->buf = memory.buf;
	recv->sge = memory.sge;
	recv->needs_sync = memory.needs_sync;
	recv->wr = (struct ib_recv_wr){
		.wr_cqe		= &recv->cqe,
		.sg_list	= &recv->sge,
		.num_sge	= 1,
	};
	return recv;
}

/**
 * rpcrdma2_recv_alloc - allocate and map a Receive
 * @pd: protection domain
 * @size: octets
 * @gfp: allocation flags. After a failure with %RPCRDMA2_GFP_ONCE, calls with these flags fail
 *	without an attempt for one second
 * @done: completion handler, rpcrdma2_recv_done()
 *
 * Context: Process; sleeps if @gfp allows.
 * Return: a Receive that belongs to no endpoint and no Queue, or NULL
 */
struct rpcrdma2_recv *
rpcrdma2_recv_alloc(struct ib_pd *pd, u32 size, gfp_t gfp,
		    void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct rpcrdma2_recv *recv;

	if (gfp == RPCRDMA2_GFP_ONCE && rpcrdma2_recv_budget_failed_lately())
		return NULL;
	recv = recv_make(pd, size, gfp, done);
	if (!recv && gfp == RPCRDMA2_GFP_ONCE)
		rpcrdma2_recv_budget_note_failure();
	return recv;
}

/**
 * rpcrdma2_recv_unmap - unmap a Receive buffer
 * @dev: the device
 * @recv: the Receive; not posted
 *
 * Skips the sync for the CPU. rpcrdma2_recv_done() has synced any message in the buffer. A
 * server thread may since have decrypted that message in place, and a sync would overwrite the
 * result.
 *
 * Context: Any.
 */
void rpcrdma2_recv_unmap(struct ib_device *dev, const struct rpcrdma2_recv *recv)
{
	if (!ib_uses_virt_dma(dev))
		dma_unmap_single_attrs(dev->dma_device, recv->sge.addr,
				       recv->sge.length, DMA_FROM_DEVICE,
				       DMA_ATTR_SKIP_CPU_SYNC);
}

/**
 * rpcrdma2_recv_free - free a Receive
 * @dev: the device if @is_mapped; else not used
 * @recv: the Receive; not posted
 * @is_mapped: whether the buffer is still mapped
 *
 * Context: Any that allows kfree().
 */
void rpcrdma2_recv_free(struct ib_device *dev, struct rpcrdma2_recv *recv,
			bool is_mapped)
{
	if (is_mapped)
		rpcrdma2_recv_unmap(dev, recv);
	rpcrdma2_buffer_free(recv->buf, recv->sge.length);
	kfree(recv);
}
