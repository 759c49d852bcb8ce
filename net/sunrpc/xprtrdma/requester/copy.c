// SPDX-License-Identifier: GPL-2.0
/*
 * Messages in pages of the transport's own. They serve three purposes:
 *
 *  1. A responder has refused too many segments (RDMA2_ERR_SEGMENTS: v2-09, 5.3.3). Whole pages
 *     need the fewest segments, so the Call, or room for the Reply, is registered as a copy.
 *  2. A Reply may be longer than its buffers (long.c).
 *  3. sunrpc frees the pages of an encrypted Call (krb5p) when it encrypts the Call again. The
 *     responder may still read these pages, so the Call keeps them.
 *
 * A copy belongs to its Call. Senders make copies, and do not sleep for memory. CQ context copies
 * a Reply back.
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
		/* Zeroed: a responder may claim to have written more than it did. */
		pages[copy->nr] = alloc_page(GFP_NOWAIT | __GFP_NOWARN |
					     __GFP_ZERO);
		if (!pages[copy->nr])
			return -ENOBUFS;
		copy->nr++;
	}
	return 0;
}

static unsigned int copy_page_part(const struct rpcrdma2_copy *copy,
				   unsigned int i)
{
	return min_t(unsigned int, copy->len - i * PAGE_SIZE, PAGE_SIZE);
}

/**
 * rpcrdma2_copy_make - make room for a message, and copy a message there
 * @copy: the copy; keeps the pages of an earlier message
 * @buf: the message, or NULL for room only
 * @len: octets of the message, or of the room
 *
 * Context: process; the xprt's write lock is held. Does not sleep.
 *
 * Return: 0; -ENOBUFS: there is no memory at the moment; -EIO: @buf has fewer than @len octets
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
					    copy_page_part(copy, i)))
			return -EIO;
	return 0;
}

/**
 * rpcrdma2_copy_back - copy a message to the buffers of its RPC
 * @copy: the message; no longer registered
 * @buf: the buffers; an end of the message that has no room is cut off
 * @len: octets of the message
 *
 * Context: any.
 *
 * Return: octets that were copied; -EIO if @copy has fewer than @len octets
 */
int rpcrdma2_copy_back(struct rpcrdma2_copy *copy, const struct xdr_buf *buf,
		       unsigned int len)
{
	unsigned int i;

	if (len > copy->len)
		return -EIO;
	copy->len = min(len, rpcrdma2_room(buf));
	for (i = 0; i * PAGE_SIZE < copy->len; i++)
		if (write_bytes_to_xdr_buf(buf, i * PAGE_SIZE,
					   page_address(copy->pages[i]),
					   copy_page_part(copy, i)))
			return -EIO;
	return copy->len;
}

/**
 * rpcrdma2_copy_adopt - keep the pages of an encrypted Call while they are registered
 * @copy: the pages of an earlier transmission, no longer registered; freed here
 * @rqst: the RPC; loses its encrypted pages to @copy, but its rq_snd_buf still refers to them
 *
 * Does nothing to a Call that is not encrypted.
 *
 * Context: process; the xprt's write lock is held.
 */
void rpcrdma2_copy_adopt(struct rpcrdma2_copy *copy, struct rpc_rqst *rqst)
{
	if (!rqst->rq_release_snd_buf)
		return;
	rpcrdma2_copy_free(copy);
	copy->pages = rqst->rq_enc_pages;
	copy->nr = rqst->rq_enc_pages_num;
	rqst->rq_release_snd_buf = NULL;
}

/**
 * rpcrdma2_copy_free - free the pages of a copy
 * @copy: the copy; not registered
 *
 * Context: any.
 */
void rpcrdma2_copy_free(struct rpcrdma2_copy *copy)
{
	if (likely(!copy->pages))
		return;
	while (copy->nr)
		__free_page(copy->pages[--copy->nr]);
	kfree(copy->pages);
	copy->pages = NULL;
}
