// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of v2-01 and xcharext, octet by octet. Each item of a header has one line of
 * hex: the prefix, the direction, then each list or the arguments of an operation.
 */
#include "wire_test.h"
#include "wire_words.h"

#define MSG		"11223344 00000002 00000020 00000000 "
#define NOMSG		"11223344 00000002 00000020 00000001 "
#define ERROR		"11223344 00000002 00000020 00000004 "
#define OPTIONAL	"11223344 00000002 00000020 00000005 "
#define CALL		"00000000 "
#define REPLY		"00000001 "
#define INIT_XCHAR(len)	"00000001 " len " "

#define RBSIZ(value)	"00000001 00000004 " value " "
#define RQREMINV(value)	"00000002 00000004 " value " "
#define BRS(value)	"00000003 00000004 " value " "
#define WISH(value)	"ffffff02 00000004 " value " "
#define NO_SUBSET	"00000000 "

#define IS(type, dir)	.xid = XID, .vers = 2, .credit = 32, .kind = (type), \
			.response = (dir)

const struct wire_vector wire_v2_01_vectors[] = {
	{
		.name = "Call, inline, no chunks",
		.wire = MSG CALL NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_MSG, false) },
	}, {
		.name = "Reply, inline, no chunks",
		.wire = MSG REPLY NO_READS NO_WRITES NO_REPLY,
		.rpc = RPC_REPLY_NULL,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_MSG, true) },
	}, {
		.name = "Call, Read chunk of three segments in the middle",
		.wire = MSG CALL NEXT "00000010 " SEG_A NEXT "00000010 " SEG_B
			NEXT "00000010 " SEG_C END NO_WRITES NO_REPLY,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 16,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 1, .nsegs = 3,
			.reads = { RUN(0x10, 0x101062, 0, 3) },
			.words = SEGMENTS(A, B, C),
		} },
	}, {
		.name = "Call, one chunk of every kind",
		.wire = MSG CALL NEXT "00000028 " SEG_A END
			NEXT "00000001 " SEG_B END NEXT "00000001 " SEG_C,
		.rpc = RPC_CALL_NULL,
		.rpc_min = 40,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_MSG, false), .chunks = {
			.nreads = 1, .nwrites = 1, .has_reply = true, .nsegs = 3,
			.reads = { RUN(0x28, 0x64, 0, 1) },
			.writes = { RUN(0, 0xffe, 1, 1) },
			.reply = RUN(0, 0x100000, 2, 1),
			.words = SEGMENTS(A, B, C),
		} },
	}, {
		.name = "Call, external",
		.wire = NOMSG CALL NEXT "00000000 " SEG_A END NO_WRITES NO_REPLY,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_NOMSG, false), .chunks = {
			.nreads = 1, .nsegs = 1,
			.reads = { RUN(0, 0x64, 0, 1) },
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "Reply, Write chunk returned",
		.wire = MSG REPLY NO_READS NEXT "00000002 " SEG_B SEG_EMPTY END
			NO_REPLY,
		.rpc = RPC_REPLY_NULL,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_MSG, true), .chunks = {
			.nwrites = 1, .nsegs = 2,
			.writes = { RUN(0, 0xffe, 0, 2) },
			.words = SEGMENTS(B, EMPTY),
		} },
	}, {
		.name = "Reply, external",
		.wire = NOMSG REPLY NO_READS NO_WRITES NEXT "00000001 " SEG_A,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_NOMSG, true), .chunks = {
			.has_reply = true, .nsegs = 1,
			.reply = RUN(0, 0x64, 0, 1),
			.words = SEGMENTS(A),
		} },
	}, {
		.name = "ERR_VERS",
		.wire = ERROR "00000001 00000001 00000002 ",
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_VERS, .bare = true,
			.vers_low = 1, .vers_high = 2 } },
	}, {
		.name = "ERR_VERS with a direction",
		.wire = ERROR REPLY "00000001 00000001 00000002 ",
		.one_way = true,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_VERS, .bare = true,
			.vers_low = 1, .vers_high = 2 } },
	}, {
		.name = "ERR_BAD_HEADER",
		.wire = ERROR "00000002 ",
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_BAD_XDR } },
	}, {
		.name = "ERR_INVAL_OPTION with a direction",
		.wire = ERROR REPLY "00000003 ",
		.one_way = true,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = RDMA2_ERR_INVAL_HTYPE } },
	}, {
		.name = "the 2022 text's INVAL_HTYPE",
		.wire = ERROR "00000004 ",
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_ERROR, true), .error = {
			.code = 4, .bare = true } },
	}, {
		.name = "INIT_XCHAR of a client",
		.wire = OPTIONAL CALL INIT_XCHAR("00000038")
			"00000004 " RBSIZ("00003000") RQREMINV("00000001")
			BRS("00000002") WISH("00001000") NO_SUBSET,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_PROPS, false), .props = {
			.rbsiz = 12288, .remote_inv = true,
			.brs = RDMA2_RVREQSUP_INLINE, .changes = true,
			.wished_rbsiz = 4096 } },
	}, {
		.name = "INIT_XCHAR of a server, with what won't change",
		.wire = OPTIONAL REPLY INIT_XCHAR("00000030")
			"00000003 " BRS("00000003") RQREMINV("00000000")
			RBSIZ("00000400") "00000001 00000007 ",
		.one_way = true,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_PROPS, true), .props = {
			.rbsiz = 1024, .brs = RDMA2_RVREQSUP_GENL,
			.changes = true } },
	}, {
		.name = "INIT_XCHAR of nothing but unknown characteristics",
		.wire = OPTIONAL CALL INIT_XCHAR("00000020")
			"00000002 ffffff00 00000005 0102030405000000;"
			"00000004 00000000 " NO_SUBSET,
		.one_way = true,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_PROPS, false), .props = {
			.rbsiz = 4096, .brs = RDMA2_RVREQSUP_INLINE,
			.changes = true } },
	}, {
		.name = "INIT_XCHAR, reverse requests left to the ULP",
		.wire = OPTIONAL CALL INIT_XCHAR("00000014")
			"00000001 " BRS("00000000") NO_SUBSET,
		.one_way = true,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_PROPS, false), .props = {
			.rbsiz = 4096, .brs = RDMA2_RVREQSUP_INLINE,
			.changes = true } },
	},
};

const unsigned int wire_nr_v2_01_vectors = ARRAY_SIZE(wire_v2_01_vectors);
