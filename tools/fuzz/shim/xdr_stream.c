// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of linux/sunrpc/xdr.h in this directory. The end of a stream may be at
 * an odd address, as in the kernel, so compare ends by octets.
 */
#include <linux/sunrpc/xdr.h>

static size_t octets_left(const struct xdr_stream *xdr)
{
	return (const u8 *)xdr->end - (const u8 *)xdr->p;
}

void xdr_init_encode(struct xdr_stream *xdr, struct xdr_buf *buf, __be32 *p,
		     struct rpc_rqst *rqst)
{
	struct kvec *head = buf->head;

	(void)p;
	(void)rqst;
	xdr->buf = buf;
	xdr->iov = head;
	xdr->nwords = 0;
	xdr->p = (void *)((u8 *)head->iov_base + head->iov_len);
	xdr->end = (void *)((u8 *)head->iov_base + buf->buflen);
}

__be32 *xdr_reserve_space(struct xdr_stream *xdr, size_t nbytes)
{
	__be32 *p = xdr->p;

	nbytes = xdr_align_size(nbytes);
	if (nbytes > octets_left(xdr))
		return NULL;
	xdr->p += nbytes / XDR_UNIT;
	xdr->iov->iov_len += nbytes;
	xdr->buf->len += nbytes;
	return p;
}

void xdr_init_decode(struct xdr_stream *xdr, struct xdr_buf *buf, __be32 *p,
		     struct rpc_rqst *rqst)
{
	struct kvec *head = buf->head;

	(void)p;
	(void)rqst;
	xdr->buf = buf;
	xdr->iov = head;
	xdr->nwords = XDR_QUADLEN(buf->len);
	xdr->p = head->iov_base;
	xdr->end = (void *)((u8 *)head->iov_base + head->iov_len);
}

__be32 *xdr_inline_decode(struct xdr_stream *xdr, size_t nbytes)
{
	unsigned int nwords = XDR_QUADLEN(nbytes);
	__be32 *p = xdr->p;

	if (!nbytes)
		return p;
	if (p == xdr->end) {
		/* The kernel moves on to the tail, which is empty. */
		xdr->iov = xdr->buf->tail;
		xdr->p = NULL;
		xdr->end = NULL;
		xdr->nwords = 0;
		return NULL;
	}
	if (nwords > xdr->nwords || (size_t)nwords * XDR_UNIT > octets_left(xdr))
		return NULL;
	/* For tests/prove.sh: EVA examines each length by itself. */
	//@ split nwords;
	xdr->p += nwords;
	xdr->nwords -= nwords;
	return p;
}
