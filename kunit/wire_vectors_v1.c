// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of version 1, octet by octet (RFC 8166, 4). Each item of a header has one
 * line of hex: the prefix, then each list.
 */
#include "wire_test.h"
#include "wire_words.h"

#define MSG		"11223344 00000001 00000020 00000000 "
#define NOMSG		"11223344 00000001 00000020 00000001 "
#define ERROR		"11223344 00000001 00000020 00000004 "

#define IS(type, dir)	.xid = XID, .vers = 1, .credit = 32, .kind = (type), \
			.response = (dir)

const struct wire_vector wire_v1_vectors[] = {
	{
		.name = "Call, inline, no chunks",
		.wire = MSG NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false) },
	}, {
		.name = "Reply, inline, no chunks",
		.wire = MSG NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_REPLY_NULL,
		.hdr = { IS(RPCRDMA2_MSG, true) },
	}, {
		.name = "Call with the highest XID and credits",
		.wire = "ffffffff 00000001 ffffffff 00000000 "
			NO_READS NO_WRITES NO_REPLY,
		.rpc = "ffffffff 00000000",
		.hdr = { .xid = U32_MAX, .vers = 1, .credit = U32_MAX,
			 .kind = RPCRDMA2_MSG },
	}, {
		.name = "Reply with XID 0 and no credits",
		.wire = "00000000 00000001 00000000 00000000 "
			NO_READS NO_WRITES NO_REPLY,
		.rpc = "00000000 00000001",
		.hdr = { .vers = 1, .kind = RPCRDMA2_MSG, .response = true },
	}, {
		.name = "Call, Read chunk at the end",
		.wire = MSG NEXT "00000028 " SEG_A END NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 40,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 1, .nsegs = 1,
			.reads = { RUN(0x28, 0x64, 0, 1) },
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "Call, Read chunk of three segments in the middle",
		.wire = MSG NEXT "00000010 " SEG_A NEXT "00000010 " SEG_B
			NEXT "00000010 " SEG_C END NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 16,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 1, .nsegs = 3,
			.reads = { RUN(0x10, 0x101062, 0, 3) },
			.words = SEGMENTS(A, B, C),
		} },
	}, {
		/* The second chunk starts at 12 + 0xffe + 2 octets of padding + 16. */
		.name = "Call, two Read chunks, one needs padding",
		.wire = MSG NEXT "0000000c " SEG_B NEXT "0000101c " SEG_A END
			NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 28,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 2, .nsegs = 2,
			.reads = { RUN(0xc, 0xffe, 0, 1),
				   RUN(0x101c, 0x64, 1, 1) },
			.words = SEGMENTS(B, A),
		} },
	}, {
		.name = "Call, Read chunks that touch, latest first",
		.wire = MSG NEXT "00000070 " SEG_B NEXT "0000000c " SEG_A END
			NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 12,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 2, .nsegs = 2,
			.reads = { RUN(0xc, 0x64, 1, 1), RUN(0x70, 0xffe, 0, 1) },
			.words = SEGMENTS(B, A),
		} },
	}, {
		.name = "Call, Write chunk",
		.wire = MSG NO_READS NEXT "00000001 " SEG_A END NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nwrites = 1, .nsegs = 1,
			.writes = { RUN(0, 0x64, 0, 1) },
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "Call, Write chunks of two, none and one segments",
		.wire = MSG NO_READS NEXT "00000002 " SEG_A SEG_B
			NEXT "00000000 " NEXT "00000001 " SEG_C END NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nwrites = 3, .nsegs = 3,
			.writes = { RUN(0, 0x1062, 0, 2), RUN(0, 0, 2, 0),
				    RUN(0, 0x100000, 2, 1) },
			.words = SEGMENTS(A, B, C),
		} },
	}, {
		.name = "Call, Reply chunk",
		.wire = MSG NO_READS NO_WRITES NEXT "00000001 " SEG_C,
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.has_reply = true, .nsegs = 1,
			.reply = RUN(0, 0x100000, 0, 1),
			.words = SEGMENTS(C),
		} },
	}, {
		.name = "Call, Reply chunk without segments",
		.wire = MSG NO_READS NO_WRITES NEXT "00000000 ",
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.has_reply = true,
		} },
	}, {
		.name = "Call, all three lists",
		.wire = MSG NEXT "00000028 " SEG_A END
			NEXT "00000001 " SEG_B END
			NEXT "00000002 " SEG_EMPTY SEG_C,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 40,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 1, .nwrites = 1, .has_reply = true,
			.nsegs = 4,
			.reads = { RUN(0x28, 0x64, 0, 1) },
			.writes = { RUN(0, 0xffe, 1, 1) },
			.reply = RUN(0, 0x100000, 2, 2),
			.words = SEGMENTS(A, B, EMPTY, C),
		} },
	}, {
		.name = "Call, external",
		.wire = NOMSG NEXT "00000000 " SEG_A END NO_WRITES NO_REPLY,
		.hdr = { IS(RPCRDMA2_NOMSG, false), .chunks = {
			.nreads = 1, .nsegs = 1,
			.reads = { RUN(0, 0x64, 0, 1) },
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "Call, external, with a Reply chunk",
		.wire = NOMSG NEXT "00000000 " SEG_A END NO_WRITES
			NEXT "00000001 " SEG_C,
		.hdr = { IS(RPCRDMA2_NOMSG, false), .chunks = {
			.nreads = 1, .has_reply = true, .nsegs = 2,
			.reads = { RUN(0, 0x64, 0, 1) },
			.reply = RUN(0, 0x100000, 1, 1),
			.words = SEGMENTS(A, C),
		} },
	}, {
		.name = "Call, external, with every other chunk",
		.wire = NOMSG NEXT "00000000 " SEG_A NEXT "00000000 " SEG_EMPTY
			NEXT "00000064 " SEG_C END
			NEXT "00000001 " SEG_B END NEXT "00000001 " SEG_EMPTY,
		.hdr = { IS(RPCRDMA2_NOMSG, false), .chunks = {
			.nreads = 2, .nwrites = 1, .has_reply = true,
			.nsegs = 5,
			.reads = { RUN(0, 0x64, 0, 2), RUN(0x64, 0x100000, 2, 1) },
			.writes = { RUN(0, 0xffe, 3, 1) },
			.reply = RUN(0, 0, 4, 1),
			.words = SEGMENTS(A, EMPTY, C, B, EMPTY),
		} },
	}, {
		.name = "Call, external, position zero listed last",
		.wire = NOMSG NEXT "00000010 " SEG_B NEXT "00000000 " SEG_A END
			NO_WRITES NO_REPLY,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_NOMSG, false), .chunks = {
			.nreads = 2, .nsegs = 2,
			.reads = { RUN(0, 0x64, 1, 1), RUN(0x10, 0xffe, 0, 1) },
			.words = SEGMENTS(B, A),
		} },
	}, {
		.name = "Reply, external",
		.wire = NOMSG NO_READS NO_WRITES NEXT "00000002 " SEG_A SEG_C,
		.hdr = { IS(RPCRDMA2_NOMSG, true), .chunks = {
			.has_reply = true, .nsegs = 2,
			.reply = RUN(0, 0x100064, 0, 2),
			.words = SEGMENTS(A, C),
		} },
	}, {
		.name = "Reply, external, with Write chunks",
		.wire = NOMSG NO_READS NEXT "00000001 " SEG_B
			NEXT "00000001 " SEG_EMPTY END NEXT "00000001 " SEG_A,
		.hdr = { IS(RPCRDMA2_NOMSG, true), .chunks = {
			.nwrites = 2, .has_reply = true, .nsegs = 3,
			.writes = { RUN(0, 0xffe, 0, 1), RUN(0, 0, 1, 1) },
			.reply = RUN(0, 0x64, 2, 1),
			.words = SEGMENTS(B, EMPTY, A),
		} },
	}, {
		.name = "Reply, inline, with a Write and an unused Reply chunk",
		.wire = MSG NO_READS NEXT "00000001 " SEG_C END
			NEXT "00000001 " SEG_EMPTY,
		.rpc = RPC_REPLY_NULL,
		.hdr = { IS(RPCRDMA2_MSG, true), .chunks = {
			.nwrites = 1, .has_reply = true, .nsegs = 2,
			.writes = { RUN(0, 0x100000, 0, 1) },
			.reply = RUN(0, 0, 1, 1),
			.words = SEGMENTS(C, EMPTY),
		} },
	}, {
		.name = "ERR_VERS, version 1 alone",
		.wire = ERROR "00000001 00000001 00000001 ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_VERS, .bare = true,
			.vers_low = 1, .vers_high = 1 } },
	}, {
		.name = "ERR_VERS, any version but 1",
		.wire = ERROR "00000001 00000002 ffffffff ",
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_VERS, .bare = true,
			.vers_low = 2, .vers_high = U32_MAX } },
	}, {
		.name = "ERR_CHUNK",
		.wire = ERROR "00000002 ",
		.hdr = { IS(RPCRDMA2_ERROR, true),
			 .error = { .code = RDMA2_ERR_BAD_XDR } },
	},
};

const unsigned int wire_nr_v1_vectors = ARRAY_SIZE(wire_v1_vectors);
