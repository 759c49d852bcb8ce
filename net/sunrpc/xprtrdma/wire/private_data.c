// SPDX-License-Identifier: GPL-2.0
/*
 * CM private data: RFC 8797, 4.
 *
 * Eight octets: identifier, version, flags, Send size, Receive size. Sizes
 * are in units of 1024 octets, less one. Deployed peers look at offset 0
 * only, so it is sent there; received, it may be anywhere.
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
 * rpcrdma2_encode_private_data - write this side's private data
 * @buf: where to
 * @pd: what; sizes are rounded down to multiples of 1024 and kept between
 *	1024 and 262144
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
 * rpcrdma2_decode_private_data - look for the peer's private data
 * @buf: what the connection manager delivered; may be NULL
 * @len: its octets, 0 if none
 * @pd: where to, if found
 *
 * Return: true if a block of a version that this side knows was found
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
