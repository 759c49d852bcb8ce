// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for Send and Receive buffers, on the device's NUMA node, mapped for the device.
 *
 * Each buffer is one contiguous piece. A peer was promised Receives of one size, and some
 * devices take one SGE per Receive. sunrpc expects the head of a message in one piece. Only a
 * caller that may wait can rely on contiguous pages, so a new endpoint allocates its minimum
 * at once. Later, callers do without a buffer that they cannot get.
 *
 * The caller owns the buffer. Allocates in process context, and frees in any context that
 * allows kfree().
 */
#include <linux/gfp.h>
#include <linux/slab.h>

#include "device.h"

/* Like alloc_pages_exact(), but on a node. */
static void *buffer_alloc_pages(size_t size, gfp_t gfp, int node)
{
	unsigned int i, order = get_order(size);
	struct page *page;

	page = alloc_pages_node(node, gfp, order);
	if (!page)
		return NULL;
	split_page(page, order);
	for (i = DIV_ROUND_UP(size, PAGE_SIZE); i < 1 << order; i++)
		__free_page(page + i);
	return page_address(page);
}

static void *buffer_alloc_memory(size_t size, gfp_t gfp, int node)
{
	gfp |= __GFP_NOWARN;
	if (size < PAGE_SIZE)
		return kmalloc_node(size, gfp, node);
	return buffer_alloc_pages(size, gfp, node);
}

/**
 * rpcrdma2_buffer_alloc - allocate a buffer, and map it for a device
 * @dev: the device
 * @size: octets
 * @dir: direction of the device's accesses
 * @gfp: allocation flags; a failure leaves no warning in the log
 * @addr: set to the DMA address
 *
 * Context: Process; sleeps if @gfp allows.
 * Return: the buffer, not initialised; or NULL
 */
void *rpcrdma2_buffer_alloc(struct ib_device *dev, size_t size,
			    enum dma_data_direction dir, gfp_t gfp, u64 *addr)
{
	void *buf = buffer_alloc_memory(size, gfp, ibdev_to_node(dev));

	if (!buf)
		return NULL;
	*addr = ib_dma_map_single(dev, buf, size, dir);
	if (!ib_dma_mapping_error(dev, *addr))
		return buf;
	rpcrdma2_buffer_free(buf, size);
	return NULL;
}

/**
 * rpcrdma2_buffer_free - free a buffer
 * @buf: the buffer, unmapped; not NULL
 * @size: octets, as allocated
 *
 * Context: Any that allows kfree().
 */
void rpcrdma2_buffer_free(void *buf, size_t size)
{
	if (size < PAGE_SIZE)
		kfree(buf);
	else
		free_pages_exact(buf, size);
}
