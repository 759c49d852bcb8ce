// SPDX-License-Identifier: GPL-2.0
/* Messages of version 2 that carry no RPC, octet by octet */
#include "wire_test.h"
#include "wire_words.h"

#define ERROR		"11223344 00000002 00000020 00000004 "
#define FLAGS		"00000001 "
#define PROPS		"11223344 00000002 00000020 00000005 "

#define IS(type, dir)	.xid = XID, .vers = 2, .credit = 32, .kind = (type), \
			.response = (dir)

static const struct wire_vector control_vectors[] = {
	{
		.name = "properties of a client",
		.wire = PROPS "00000000 00000004;"
			"00000001 00000004 00004000;"
			"00000002 00000004 00000002;"
			"ffffff01 00000004 72327031;"
			"ffffff02 00000004 00001000 ",
		.hdr = { IS(RPCRDMA2_PROPS, false),
			 .props = { .rbsiz = 16384, .brs = 2, .changes = true,
				    .wished_rbsiz = 4096 } },
	}, {
		.name = "properties of a server",
		.wire = PROPS "00000001 00000004;"
			"00000001 00000004 00000400;"
			"00000002 00000004 00000000;"
			"ffffff01 00000004 00000000;"
			"ffffff02 00000004 00000000 ",
		.hdr = { IS(RPCRDMA2_PROPS, true),
			 .props = { .rbsiz = 1024, .brs = 0 } },
	}, {
		.name = "no properties: the defaults",
		.wire = PROPS "00000000 00000000 ",
		.one_way = true,
		.hdr = { IS(RPCRDMA2_PROPS, false),
			 .props = { .rbsiz = 4096, .brs = 1 } },
	}, {
		.name = "properties in another order, one unknown",
		.wire = PROPS "fffffffe 00000003;"
			"00000002 00000004 00000002;"
			"0000ffff 00000005 61626364 65000000;"
			"00000001 00000004 00002000 ",
		.one_way = true,
		.hdr = { IS(RPCRDMA2_PROPS, false),
			 .props = { .rbsiz = 8192, .brs = 2 } },
	}, {
		.name = "ERR_VERS, 32 octets",
		.wire = ERROR FLAGS "00000001 00000001 00000003 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_VERS,
			.vers_low = 1, .vers_high = 3 } },
	}, {
		.name = "ERR_VERS of a version 1 peer, 28 octets",
		.wire = ERROR "00000001 00000001 00000001 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_VERS, .bare = true,
			.vers_low = 1, .vers_high = 1 } },
	}, {
		.name = "ERR_VERS of a version 3 peer, 28 octets",
		.wire = ERROR "00000001 00000003 00000009 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_VERS, .bare = true,
			.vers_low = 3, .vers_high = 9 } },
	}, {
		.name = "BAD_HEADER of the 2016 text",
		.wire = ERROR "00000002 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = 2, .bare = true } },
	}, {
		.name = "INVAL_OPTION of the 2016 text",
		.wire = ERROR "00000003 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = 3, .bare = true } },
	}, {
		.name = "INVAL_HTYPE of the 2022 text",
		.wire = ERROR "00000004 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = 4, .bare = true } },
	}, {
		.name = "SYSTEM of the 2022 text",
		.wire = ERROR "00000064 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = 100, .bare = true } },
	}, {
		.name = "ERR_BAD_XDR",
		.wire = ERROR FLAGS "00000002 ",
		.hdr = { IS(RPCRDMA2_ERROR, true),
			 .error = { .code = RDMA2_ERR_BAD_XDR } },
	}, {
		.name = "ERR_BAD_XDR with every flag set",
		.wire = ERROR "ffffffff 00000002 ",
		.one_way = true,
		.hdr = { IS(RPCRDMA2_ERROR, true),
			 .error = { .code = RDMA2_ERR_BAD_XDR } },
	}, {
		.name = "ERR_INVAL_HTYPE",
		.wire = ERROR FLAGS "00000003 ",
		.hdr = { IS(RPCRDMA2_ERROR, true),
			 .error = { .code = RDMA2_ERR_INVAL_HTYPE } },
	}, {
		.name = "ERR_READ_CHUNKS, 28 octets",
		.wire = ERROR FLAGS "00000004 00000007 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_READ_CHUNKS, .max_chunks = 7 } },
	}, {
		.name = "ERR_READ_CHUNKS, none at all",
		.wire = ERROR FLAGS "00000004 00000000 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_READ_CHUNKS } },
	}, {
		.name = "ERR_WRITE_CHUNKS, 28 octets",
		.wire = ERROR FLAGS "00000005 00000001 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_WRITE_CHUNKS, .max_chunks = 1 } },
	}, {
		.name = "ERR_SEGMENTS, 28 octets",
		.wire = ERROR FLAGS "00000006 00000010 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_SEGMENTS, .max_segments = 16 } },
	}, {
		.name = "ERR_WRITE_RESOURCE",
		.wire = ERROR FLAGS "00000007 00000002 00010000 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_WRITE_RESOURCE,
			.chunk_index = 2, .length_needed = 65536 } },
	}, {
		.name = "ERR_WRITE_RESOURCE that does not know",
		.wire = ERROR FLAGS "00000007 00000000 00000000 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_WRITE_RESOURCE } },
	}, {
		.name = "ERR_REPLY_RESOURCE, 28 octets",
		.wire = ERROR FLAGS "00000008 ffffffff ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_REPLY_RESOURCE,
			.length_needed = U32_MAX } },
	}, {
		.name = "ERR_SYSTEM",
		.wire = ERROR FLAGS "00000009 ",
		.hdr = { IS(RPCRDMA2_ERROR, true),
			 .error = { .code = RDMA2_ERR_SYSTEM } },
	}, {
		.name = "an extension's error",
		.wire = ERROR FLAGS "0000000a ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = { .code = 10 } },
	}, {
		.name = "an extension's error with one argument, 28 octets",
		.wire = ERROR FLAGS "0000000a 0000000b ",
		.one_way = true,
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = { .code = 10 } },
	}, {
		.name = "an extension's error with two arguments, 32 octets",
		.wire = ERROR FLAGS "80000000 00000001 00000001 ",
		.one_way = true,
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = { .code = 1U << 31 } },
	},
};

/**
 * wire_nr_vectors - count the vectors of all files
 *
 * Context: any.
 *
 * Return: their number.
 */
unsigned int wire_nr_vectors(void)
{
	return wire_nr_v1_vectors + wire_nr_v2_01_vectors +
	       wire_nr_rpc_vectors + wire_nr_change_vectors +
	       ARRAY_SIZE(control_vectors);
}

/**
 * wire_vector - find a vector by its number
 * @i: the number, from 0 on
 *
 * Context: any.
 *
 * Return: the vector, or NULL behind the last one.
 */
const struct wire_vector *wire_vector(unsigned int i)
{
	if (i < wire_nr_v1_vectors)
		return &wire_v1_vectors[i];
	i -= wire_nr_v1_vectors;
	if (i < wire_nr_v2_01_vectors)
		return &wire_v2_01_vectors[i];
	i -= wire_nr_v2_01_vectors;
	if (i < wire_nr_rpc_vectors)
		return &wire_rpc_vectors[i];
	i -= wire_nr_rpc_vectors;
	if (i < wire_nr_change_vectors)
		return &wire_change_vectors[i];
	i -= wire_nr_change_vectors;
	return i < ARRAY_SIZE(control_vectors) ? &control_vectors[i] : NULL;
}
