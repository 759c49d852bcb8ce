// SPDX-License-Identifier: GPL-2.0
/*
 * An xdr_stream over one linear buffer: a transport header never needs more.
 */
#include "wire.h"

/**
 * rpcrdma2_stream_decode - set up a stream to read a received message
 * @xdr: stream to set up
 * @buf: xdr_buf of the caller's, which must live as long as @xdr
 * @start: first octet of the message
 * @len: octets received
 *
 * Context: Any context.
 */
void rpcrdma2_stream_decode(struct xdr_stream *xdr, struct xdr_buf *buf,
			    void *start, size_t len)
{
	xdr_buf_init(buf, start, len);
	buf->len = len;
	xdr_init_decode(xdr, buf, NULL, NULL);
}

/**
 * rpcrdma2_stream_encode - set up a stream to write a message into a Send buffer
 * @xdr: stream to set up
 * @buf: xdr_buf of the caller's, which must live as long as @xdr. @buf->len counts the
 *	octets written
 * @start: first octet of the Send buffer
 * @len: size of the Send buffer, octets
 *
 * Context: Any context.
 */
void rpcrdma2_stream_encode(struct xdr_stream *xdr, struct xdr_buf *buf,
			    void *start, size_t len)
{
	xdr_buf_init(buf, start, len);
	buf->head[0].iov_len = 0;
	xdr_init_encode(xdr, buf, NULL, NULL);
}
