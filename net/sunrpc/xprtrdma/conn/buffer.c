// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of Send and Receive buffers, near the device.
 *
 * Each is one piece: a peer was promised Receives of its size, some devices take one
 * SGE in a Receive, and sunrpc takes the head of a message to be in one piece. Where
 * that is more than a page, it is pages in a row, which can be had for sure only by who
 * may wait, when a connection is made. Later, what can't be had is done without.
 */
#include <linux/gfp.h>
#include <linux/slab.h>

#include "conn.h"

/* As alloc_pages_exact(), but on a node. */
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
 * @dir: which way the device uses it
 * @gfp: allocation flags; there is no warning in the log
 * @addr: where to put its DMA address
 *
 * Return: the buffer, not initialised, or NULL
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
 * @buf: what rpcrdma2_buffer_alloc() returned, unmapped since; not NULL
 * @size: octets, as there
 */
void rpcrdma2_buffer_free(void *buf, size_t size)
{
	if (size < PAGE_SIZE)
		kfree(buf);
	else
		free_pages_exact(buf, size);
}
