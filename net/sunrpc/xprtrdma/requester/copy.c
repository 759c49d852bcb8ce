// SPDX-License-Identifier: GPL-2.0
/*
 * Messages in pages of their own.
 *
 * What an RPC has for its message lies in several places, and each may take a segment
 * of its own. A responder that takes no more than so many (RDMA2_ERR_SEGMENTS: v2-09,
 * 5.3.3) gets a copy, or writes its Reply to one: whole pages need the fewest.
 *
 * And those that a Call was encrypted to (krb5p): sunrpc would free them when it encrypts
 * the Call anew, which it may do while the responder can still read them.
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
		/* A responder may say that it wrote more than it did. */
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
					    copy_page_part(copy, i)))
			return -EIO;
	return 0;
}

/**
 * rpcrdma2_copy_back - put a message where it belongs
 * @copy: has the message
 * @buf: where to; takes as much of the start as it has room for
 * @len: the message's length, octets
 *
 * Any context; nothing of @copy is registered.
 *
 * Return: octets in @buf; -EIO if @copy can't have so long a message
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
 * rpcrdma2_copy_adopt - keep what a Call was encrypted to for as long as it is registered
 * @copy: has what was kept of the transmission before, of which nothing is registered
 * @rqst: the RPC; if it is encrypted, its pages are @copy's now. Its Call still refers to
 *	them
 *
 * The caller holds the xprt's write lock.
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
 * rpcrdma2_copy_free - free a copy
 * @copy: nothing of it is registered
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
