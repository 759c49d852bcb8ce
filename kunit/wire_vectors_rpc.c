// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of v2-09 that carry an RPC, octet by octet. Each item of a header has one
 * line of hex: the prefix, inv_handle, then each list.
 */
#include "wire_test.h"
#include "wire_words.h"

#define CALL		"11223344 00000002 00000020 00000000 00000000 "
#define CALL_NOMSG	"11223344 00000002 00000020 00000001 00000000 "
#define REPLY		"11223344 00000002 00000020 00000000 00000001 "
#define REPLY_NOMSG	"11223344 00000002 00000020 00000001 00000001 "
#define NO_HANDLE	"00000000 "

#define IS(type, dir)	.xid = XID, .vers = 2, .credit = 32, .kind = (type), \
			.response = (dir)

const struct wire_vector wire_rpc_vectors[] = {
	{
		.name = "Call, inline, no chunks",
		.wire = CALL NO_HANDLE NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false) },
	}, {
		.name = "Reply, inline, no chunks",
		.wire = REPLY NO_HANDLE NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_REPLY_NULL,
		.hdr = { IS(RPCRDMA2_MSG, true) },
	}, {
		.name = "Call with every unknown flag set",
		.wire = "11223344 00000002 00000020 00000000 fffffffe "
			NO_HANDLE NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_MSG, false) },
	}, {
		.name = "Reply with every flag set",
		.wire = "11223344 00000002 00000020 00000000 ffffffff "
			NO_HANDLE NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_REPLY_NULL,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_MSG, true) },
	}, {
		.name = "Call with the highest XID and credits",
		.wire = "ffffffff 00000002 ffffffff 00000000 00000000 "
			NO_HANDLE NO_READS NO_WRITES NO_REPLY,
		.rpc = "ffffffff 00000000",
		.hdr = { .xid = U32_MAX, .vers = 2, .credit = U32_MAX,
			 .kind = RPCRDMA2_MSG },
	}, {
		.name = "Call with all zero fields",
		.wire = "00000000 00000002 00000000 00000000 00000000 "
			NO_HANDLE NO_READS NO_WRITES NO_REPLY,
		.rpc = "00000000 00000000",
		.hdr = { .vers = 2, .kind = RPCRDMA2_MSG },
	}, {
		.name = "Call, Read chunk at the end, invalidates it",
		.wire = CALL "0a0b0c0d "
			NEXT "00000028 " SEG_A END NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 40,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.inv_handle = 0x0a0b0c0d, .nreads = 1, .nsegs = 1,
			.reads = { RUN(0x28, 0x64, 0, 1) },
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "Call, Read chunk of three segments in the middle",
		.wire = CALL NO_HANDLE
			NEXT "00000010 " SEG_A NEXT "00000010 " SEG_B
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
		.wire = CALL NO_HANDLE
			NEXT "0000000c " SEG_B
			NEXT "0000101c " SEG_A END NO_WRITES NO_REPLY,
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
		.wire = CALL NO_HANDLE
			NEXT "00001070 " SEG_C NEXT "00000070 " SEG_B
			NEXT "0000000c " SEG_A END NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 12,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 3, .nsegs = 3,
			.reads = { RUN(0xc, 0x64, 2, 1), RUN(0x70, 0xffe, 1, 1),
				   RUN(0x1070, 0x100000, 0, 1) },
			.words = SEGMENTS(C, B, A),
		} },
	}, {
		.name = "Call, Read chunk at the first possible place",
		.wire = CALL NO_HANDLE
			NEXT "00000008 " SEG_A END NO_WRITES NO_REPLY,
		.rpc = "11223344 00000000",
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 1, .nsegs = 1,
			.reads = { RUN(8, 0x64, 0, 1) },
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "Call, Read chunk that ends at the last position",
		.wire = CALL NO_HANDLE
			NEXT "00000028 0a0b0c0d ffffffd4 0000000000000000 "
			END NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 40,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 1, .nsegs = 1,
			.reads = { RUN(0x28, 0xffffffd4, 0, 1) },
			.words = SEGMENTS(WORDS(0x0a0b0c0d, 0xffffffd4, 0)),
		} },
	}, {
		.name = "Call, Write chunk",
		.wire = CALL NO_HANDLE NO_READS
			NEXT "00000001 " SEG_A END NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nwrites = 1, .nsegs = 1,
			.writes = { RUN(0, 0x64, 0, 1) },
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "Call, Write chunks of two, none and one segments",
		.wire = CALL "0a0b0c0f " NO_READS
			NEXT "00000002 " SEG_A SEG_B NEXT "00000000 "
			NEXT "00000001 " SEG_C END NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.inv_handle = 0x0a0b0c0f, .nwrites = 3, .nsegs = 3,
			.writes = { RUN(0, 0x1062, 0, 2), RUN(0, 0, 2, 0),
				    RUN(0, 0x100000, 2, 1) },
			.words = SEGMENTS(A, B, C),
		} },
	}, {
		.name = "Call, Reply chunk",
		.wire = CALL NO_HANDLE NO_READS NO_WRITES
			NEXT "00000001 " SEG_C,
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.has_reply = true, .nsegs = 1,
			.reply = RUN(0, 0x100000, 0, 1),
			.words = SEGMENTS(C),
		} },
	}, {
		.name = "Call, Reply chunk without segments",
		.wire = CALL NO_HANDLE NO_READS NO_WRITES NEXT "00000000 ",
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.has_reply = true,
		} },
	}, {
		.name = "Call, all three lists, invalidates the Reply chunk",
		.wire = CALL "0a0b0c0f "
			NEXT "00000028 " SEG_A END
			NEXT "00000001 " SEG_B END
			NEXT "00000002 " SEG_EMPTY SEG_C,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 40,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.inv_handle = 0x0a0b0c0f, .nreads = 1, .nwrites = 1,
			.has_reply = true, .nsegs = 4,
			.reads = { RUN(0x28, 0x64, 0, 1) },
			.writes = { RUN(0, 0xffe, 1, 1) },
			.reply = RUN(0, 0x100000, 2, 2),
			.words = SEGMENTS(A, B, EMPTY, C),
		} },
	}, {
		.name = "Call, Write and Reply chunks as large as can be",
		.wire = CALL NO_HANDLE NO_READS
			NEXT "00000001 00000001 ffffffff ffffffff00000000 " END
			NEXT "00000002 00000002 7fffffff 0000000000000000;"
			"00000003 80000000 ffffffff7fffffff ",
		.rpc = RPC_CALL_NULL,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nwrites = 1, .has_reply = true, .nsegs = 3,
			.writes = { RUN(0, U32_MAX, 0, 1) },
			.reply = RUN(0, U32_MAX, 1, 2),
			.words = SEGMENTS(WORDS(1, U32_MAX, 0xffffffff00000000ULL),
					  WORDS(2, 0x7fffffff, 0),
					  WORDS(3, 0x80000000,
						0xffffffff7fffffffULL)),
		} },
	}, {
		.name = "Call, external",
		.wire = CALL_NOMSG "0a0b0c0d "
			NEXT "00000000 " SEG_A END NO_WRITES NO_REPLY,
		.hdr = { IS(RPCRDMA2_NOMSG, false), .chunks = {
			.inv_handle = 0x0a0b0c0d, .nreads = 1, .nsegs = 1,
			.reads = { RUN(0, 0x64, 0, 1) },
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "Call, external, with every other chunk",
		.wire = CALL_NOMSG NO_HANDLE
			NEXT "00000000 " SEG_A NEXT "00000000 " SEG_EMPTY
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
		.wire = CALL_NOMSG NO_HANDLE
			NEXT "00000010 " SEG_B NEXT "00000000 " SEG_A END
			NO_WRITES NO_REPLY,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_NOMSG, false), .chunks = {
			.nreads = 2, .nsegs = 2,
			.reads = { RUN(0, 0x64, 1, 1), RUN(0x10, 0xffe, 0, 1) },
			.words = SEGMENTS(B, A),
		} },
	}, {
		.name = "Reply, external",
		.wire = REPLY_NOMSG NO_HANDLE NO_READS NO_WRITES
			NEXT "00000002 " SEG_A SEG_C,
		.hdr = { IS(RPCRDMA2_NOMSG, true), .chunks = {
			.has_reply = true, .nsegs = 2,
			.reply = RUN(0, 0x100064, 0, 2),
			.words = SEGMENTS(A, C),
		} },
	}, {
		.name = "Reply, external, with Write chunks",
		.wire = REPLY_NOMSG NO_HANDLE NO_READS
			NEXT "00000001 " SEG_B NEXT "00000001 " SEG_EMPTY END
			NEXT "00000001 " SEG_A,
		.hdr = { IS(RPCRDMA2_NOMSG, true), .chunks = {
			.nwrites = 2, .has_reply = true, .nsegs = 3,
			.writes = { RUN(0, 0xffe, 0, 1), RUN(0, 0, 1, 1) },
			.reply = RUN(0, 0x64, 2, 1),
			.words = SEGMENTS(B, EMPTY, A),
		} },
	}, {
		.name = "Reply, inline, with a Write and an unused Reply chunk",
		.wire = REPLY NO_HANDLE NO_READS
			NEXT "00000001 " SEG_C END NEXT "00000001 " SEG_EMPTY,
		.rpc = RPC_REPLY_NULL,
		.hdr = { IS(RPCRDMA2_MSG, true), .chunks = {
			.nwrites = 1, .has_reply = true, .nsegs = 2,
			.writes = { RUN(0, 0x100000, 0, 1) },
			.reply = RUN(0, 0, 1, 1),
			.words = SEGMENTS(C, EMPTY),
		} },
	}, {
		.name = "Reply, inline, inv_handle names no segment",
		.wire = REPLY "deadbeef " NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_REPLY_NULL,
		.hdr = { IS(RPCRDMA2_MSG, true), .chunks = {
			.inv_handle = 0xdeadbeef,
		} },
	},
};

const unsigned int wire_nr_rpc_vectors = ARRAY_SIZE(wire_rpc_vectors);
