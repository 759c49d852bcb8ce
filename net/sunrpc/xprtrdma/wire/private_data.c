// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of CM private data (RFC 8797, 4): the sizes that an end states as it connects.
 *
 * A block has eight octets: identifier, version, flags, Send size, Receive size. A size is
 * in units of 1024 octets, less one. This end sends the block at offset 0. It accepts the
 * peer's block at any offset.
 */
#include "wire.h"

#define PRIVATE_DATA_MAGIC	0xf6ab0e18
#define PRIVATE_DATA_VERSION	1
#define PRIVATE_DATA_F_R	0x01

static u8 private_data_encode_size(u32 size)
{
	size = clamp_t(u32, size, RPCRDMA2_RBSIZ_MIN, RPCRDMA2_RBSIZ_MAX);
	return size / 1024 - 1;
}

static u32 private_data_decode_size(u8 code)
{
	return (code + 1) * 1024;
}

/**
 * rpcrdma2_encode_private_data - encode this end's private data
 * @buf: buffer to write to
 * @pd: private data. The encoder rounds sizes down to multiples of 1024 octets, and keeps
 *	them between 1024 and 262144 octets
 *
 * Context: Any context.
 */
void rpcrdma2_encode_private_data(u8 buf[RPCRDMA2_PRIVATE_DATA_LEN],
				  const struct rpcrdma2_private_data *pd)
{
	put_unaligned_be32(PRIVATE_DATA_MAGIC, buf);
	buf[4] = PRIVATE_DATA_VERSION;
	buf[5] = pd->remote_inv ? PRIVATE_DATA_F_R : 0;
	buf[6] = private_data_encode_size(pd->send_size);
	buf[7] = private_data_encode_size(pd->recv_size);
}

/**
 * rpcrdma2_decode_private_data - find and decode the peer's private data
 * @buf: data from the connection manager; may be NULL
 * @len: size of @buf, octets; 0 if there is none
 * @pd: private data to fill in
 *
 * Context: Any context.
 * Return: true if @buf has a block of the known version; otherwise @pd is unchanged
 */
bool rpcrdma2_decode_private_data(const void *buf, size_t len,
				  struct rpcrdma2_private_data *pd)
{
	const u8 *p = buf;
	size_t i;

	if (!p)
		return false;
	for (i = 0; i + RPCRDMA2_PRIVATE_DATA_LEN <= len; i++) {
		if (get_unaligned_be32(p + i) != PRIVATE_DATA_MAGIC)
			continue;
		if (p[i + 4] != PRIVATE_DATA_VERSION)
			continue;
		pd->remote_inv = p[i + 5] & PRIVATE_DATA_F_R;
		pd->send_size = private_data_decode_size(p[i + 6]);
		pd->recv_size = private_data_decode_size(p[i + 7]);
		return true;
	}
	return false;
}
