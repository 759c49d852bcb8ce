// SPDX-License-Identifier: GPL-2.0
/*
 * Messages in pages of their own.
 *
 * What an RPC has for its message lies in several places, and each may take a segment
 * of its own. A responder that takes no more than so many (RDMA2_ERR_SEGMENTS: v2-09,
 * 5.3.3) gets a copy, or writes its Reply to one: whole pages need the fewest.
 */
#include "requester.h"

static int copy_add_pages(struct rpcrdma2_copy *copy, unsigned int nr)
{
	struct page **pages;

	if (nr <= copy->nr)
		return 0;
	pages = krealloc_array(copy->pages, nr, sizeof(*pages),
			       GFP_NOWAIT | __GFP_NOWARN);
	if (!pages)
		return -ENOBUFS;
	copy->pages = pages;
	while (copy->nr < nr) {
		pages[copy->nr] = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		if (!pages[copy->nr])
			return -ENOBUFS;
		copy->nr++;
	}
	return 0;
}

static unsigned int page_part(const struct rpcrdma2_copy *copy, unsigned int i)
{
	return min_t(unsigned int, copy->len - i * PAGE_SIZE, PAGE_SIZE);
}

/**
 * rpcrdma2_copy_make - make room for a message, and copy one there
 * @copy: where to; has what an earlier one left
 * @buf: a message to copy, or NULL
 * @len: its length, or the room for one, octets
 *
 * The caller holds the xprt's write lock; does not sleep.
 *
 * Return: 0; -ENOBUFS: there is no memory, at the moment
 */
int rpcrdma2_copy_make(struct rpcrdma2_copy *copy, const struct xdr_buf *buf,
		       unsigned int len)
{
	unsigned int i, nr = DIV_ROUND_UP(len, PAGE_SIZE);
	int rc;

	copy->len = 0;
	rc = copy_add_pages(copy, nr);
	if (rc)
		return rc;
	copy->len = len;
	for (i = 0; buf && i < nr; i++)
		if (read_bytes_from_xdr_buf(buf, i * PAGE_SIZE,
					    page_address(copy->pages[i]),
					    page_part(copy, i)))
			return -EIO;
	return 0;
}

/**
 * rpcrdma2_copy_back - put a message where it belongs
 * @copy: has the message
 * @buf: where to
 * @len: its length, octets
 *
 * Any context; nothing of @copy is registered.
 *
 * Return: 0; -EIO if it is longer than one of both
 */
int rpcrdma2_copy_back(struct rpcrdma2_copy *copy, const struct xdr_buf *buf,
		       unsigned int len)
{
	unsigned int i;

	if (len > copy->len)
		return -EIO;
	copy->len = len;
	for (i = 0; i * PAGE_SIZE < len; i++)
		if (write_bytes_to_xdr_buf(buf, i * PAGE_SIZE,
					   page_address(copy->pages[i]),
					   page_part(copy, i)))
			return -EIO;
	return 0;
}

/**
 * rpcrdma2_copy_free - free a copy
 * @copy: nothing of it is registered
 */
void rpcrdma2_copy_free(struct rpcrdma2_copy *copy)
{
	while (copy->nr)
		__free_page(copy->pages[--copy->nr]);
	kfree(copy->pages);
}
