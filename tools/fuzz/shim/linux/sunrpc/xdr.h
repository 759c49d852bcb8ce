/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's xdr_stream for user space, as far as a linear buffer needs it. The
 * results are the same as the kernel's, with the same traps:
 *
 * - Lengths count in whole words. A message that ends inside a word claims one word
 *   more than the stream can deliver.
 * - A decoder that reads past the end leaves the stream without a position.
 * - A reservation that fails changes nothing.
 *
 * Pages, tails and scratch buffers are missing. A request that needs one fails, as it
 * does in the kernel if none is set up.
 */
#ifndef _SHIM_LINUX_SUNRPC_XDR_H
#define _SHIM_LINUX_SUNRPC_XDR_H

#include <linux/types.h>

#define XDR_UNIT	sizeof(__be32)
#define XDR_QUADLEN(l)	(((l) + 3) >> 2)

#define xdr_zero	cpu_to_be32(0)
#define xdr_one		cpu_to_be32(1)

struct rpc_rqst;

struct kvec {
	void	*iov_base;
	size_t	iov_len;
};

struct xdr_buf {
	struct kvec	head[1];
	struct kvec	tail[1];
	unsigned int	page_len;
	unsigned int	buflen;
	unsigned int	len;
};

static inline void xdr_buf_init(struct xdr_buf *buf, void *start, size_t len)
{
	*buf = (struct xdr_buf){
		.head	= { { .iov_base = start, .iov_len = len } },
		.buflen	= len,
	};
}

struct xdr_stream {
	__be32		*p;
	struct xdr_buf	*buf;
	__be32		*end;
	struct kvec	*iov;
	unsigned int	nwords;
};

void xdr_init_encode(struct xdr_stream *xdr, struct xdr_buf *buf, __be32 *p,
		     struct rpc_rqst *rqst);
__be32 *xdr_reserve_space(struct xdr_stream *xdr, size_t nbytes);
void xdr_init_decode(struct xdr_stream *xdr, struct xdr_buf *buf, __be32 *p,
		     struct rpc_rqst *rqst);
__be32 *xdr_inline_decode(struct xdr_stream *xdr, size_t nbytes);

static inline size_t xdr_stream_remaining(const struct xdr_stream *xdr)
{
	return xdr->nwords * XDR_UNIT;
}

static inline size_t xdr_align_size(size_t n)
{
	return (n + XDR_UNIT - 1) & ~(XDR_UNIT - 1);
}

static inline ssize_t xdr_stream_decode_u32(struct xdr_stream *xdr, u32 *v)
{
	const __be32 *p = xdr_inline_decode(xdr, sizeof(*v));

	if (!p)
		return -EBADMSG;
	*v = be32_to_cpup(p);
	return 0;
}

static inline ssize_t xdr_stream_encode_u32(struct xdr_stream *xdr, u32 v)
{
	__be32 *p = xdr_reserve_space(xdr, sizeof(v));

	if (!p)
		return -EMSGSIZE;
	*p = cpu_to_be32(v);
	return sizeof(v);
}

static inline __be32 *xdr_encode_hyper(__be32 *p, u64 v)
{
	put_unaligned_be64(v, p);
	return p + 2;
}

static inline __be32 *xdr_decode_hyper(__be32 *p, u64 *v)
{
	*v = get_unaligned_be64(p);
	return p + 2;
}

#endif /* _SHIM_LINUX_SUNRPC_XDR_H */
