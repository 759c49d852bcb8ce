// SPDX-License-Identifier: GPL-2.0
/*
 * An xdr_stream over one linear buffer, which is all that a transport header
 * ever lies in.
 */
#include "wire.h"

/**
 * rpcrdma2_stream_decode - read a received message
 * @xdr: stream to set up
 * @buf: storage that lives as long as @xdr
 * @start: first octet of the message
 * @len: octets received
 */
void rpcrdma2_stream_decode(struct xdr_stream *xdr, struct xdr_buf *buf,
			    void *start, size_t len)
{
	xdr_buf_init(buf, start, len);
	buf->len = len;
	xdr_init_decode(xdr, buf, NULL, NULL);
}

/**
 * rpcrdma2_stream_encode - write a message into a Send buffer
 * @xdr: stream to set up
 * @buf: storage that lives as long as @xdr; @buf->len is what was written
 * @start: first octet of the Send buffer
 * @len: octets available there
 */
void rpcrdma2_stream_encode(struct xdr_stream *xdr, struct xdr_buf *buf,
			    void *start, size_t len)
{
	xdr_buf_init(buf, start, len);
	buf->head[0].iov_len = 0;
	xdr_init_encode(xdr, buf, NULL, NULL);
}
