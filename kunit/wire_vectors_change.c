// SPDX-License-Identifier: GPL-2.0
/*
 * Messages about changes of properties, octet by octet: first v2-09's extension, then
 * xcharext.
 */
#include "wire_test.h"
#include "wire_words.h"

#define PREFIX		"11223344 00000002 00000020 "
#define REQUEST		PREFIX "ffffff01 "
#define DISPOSITION	PREFIX "ffffff02 "
#define UPDATE		PREFIX "ffffff03 "
#define OPTIONAL	PREFIX "00000005 "
#define RESPONSE	"00000001 "
#define NO_FLAGS	"00000000 "
/* In xcharext: a direction, an operation, the length of its arguments */
#define REQ(len)	OPTIONAL "00000000 00000002 " len " "
#define RESP(len)	OPTIONAL "00000001 00000003 " len " "
#define UPD(len)	OPTIONAL "00000000 00000004 " len " "

#define RBSIZ(value)	"00000001 00000004 " value " "
#define BRS(value)	"00000002 00000004 " value " "
#define WISH(value)	"ffffff02 00000004 " value " "
#define XCHAR_REMINV(v)	"00000002 00000004 " v " "
#define XCHAR_BRS(v)	"00000003 00000004 " v " "
#define UNKNOWN		"0000ffff 00000005 6162636465000000 "
#define SUBSET(word)	"00000001 " word " "
#define TWO_WORDS(word)	"00000002 " word " 00000000 "
#define THREE_WORDS(w)	"00000003 " w " 00000000 00000000 "
#define NO_SUBSET	"00000000 "

#define IS(type, dir)	.xid = XID, .vers = 2, .credit = 32, .kind = (type), \
			.response = (dir)
#define IN(name)	RPCRDMA2_PROP_BIT(name)
#define AT(name)	(offsetof(struct rpcrdma2_props, name) / sizeof(u32))

const struct wire_vector wire_change_vectors[] = {
	{
		.name = "request of nothing",
		.wire = REQUEST NO_FLAGS "00000000 ",
		.hdr = { IS(RPCRDMA2_REQUEST, false) },
	}, {
		.name = "request of larger Receive buffers",
		.wire = REQUEST NO_FLAGS "00000001 " RBSIZ("00010000"),
		.hdr = { IS(RPCRDMA2_REQUEST, false), .change = {
			.which = IN(rbsiz), .count = 1, .at = { [AT(rbsiz)] = 1 },
			.props = { .rbsiz = 65536 } } },
	}, {
		.name = "request of several properties",
		.wire = REQUEST NO_FLAGS "00000003 " RBSIZ("00001000")
			BRS("00000002") WISH("00000000"),
		.hdr = { IS(RPCRDMA2_REQUEST, false), .change = {
			.which = IN(rbsiz) | IN(brs) | IN(wished_rbsiz),
			.count = 3,
			.at = { [AT(rbsiz)] = 1, [AT(brs)] = 2,
				[AT(wished_rbsiz)] = 4 },
			.props = { .rbsiz = 4096, .brs = 2 } } },
	}, {
		.name = "request of something unknown, too",
		.wire = REQUEST NO_FLAGS "00000003 " UNKNOWN RBSIZ("00010000")
			UNKNOWN,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_REQUEST, false), .change = {
			.which = IN(rbsiz), .count = 3, .at = { [AT(rbsiz)] = 2 },
			.props = { .rbsiz = 65536 } } },
	}, {
		.name = "request of a property twice: the last stands",
		.wire = REQUEST NO_FLAGS "00000003 " RBSIZ("00010000")
			BRS("00000000") RBSIZ("00002000"),
		.one_way = true,
		.hdr = { IS(RPCRDMA2_REQUEST, false), .change = {
			.which = IN(rbsiz) | IN(brs), .count = 3,
			.at = { [AT(rbsiz)] = 5, [AT(brs)] = 2 },
			.props = { .rbsiz = 8192 } } },
	}, {
		.name = "request of a default",
		.wire = REQUEST NO_FLAGS "00000001 00000001 00000000 ",
		.one_way = true,
		.hdr = { IS(RPCRDMA2_REQUEST, false), .change = {
			.which = IN(rbsiz), .count = 1, .at = { [AT(rbsiz)] = 1 },
			.props = { .rbsiz = 4096 } } },
	}, {
		.name = "disposition of nothing",
		.wire = DISPOSITION RESPONSE SUBSET("00000000")
			SUBSET("00000000") SUBSET("00000000"),
		.hdr = { IS(RPCRDMA2_DISPOSITION, true) },
	}, {
		.name = "disposition: one of each",
		.wire = DISPOSITION RESPONSE SUBSET("00000001")
			SUBSET("80000000") SUBSET("00000002"),
		.hdr = { IS(RPCRDMA2_DISPOSITION, true), .change = {
			.done = 1, .rejected = 1U << 31, .pending = 2 } },
	}, {
		.name = "disposition, subsets without words",
		.wire = DISPOSITION RESPONSE NO_SUBSET SUBSET("00000005")
			NO_SUBSET,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_DISPOSITION, true), .change = {
			.rejected = 5 } },
	}, {
		.name = "disposition, subsets of several words",
		.wire = DISPOSITION RESPONSE THREE_WORDS("00000003")
			TWO_WORDS("00000004") NO_SUBSET,
		.one_way = true,
		.hdr = { IS(RPCRDMA2_DISPOSITION, true), .change = {
			.done = 3, .rejected = 4 } },
	}, {
		.name = "update that settles a request",
		.wire = UPDATE NO_FLAGS RBSIZ("00010000") "00000001 ",
		.hdr = { IS(RPCRDMA2_UPDATE, false), .change = {
			.which = IN(rbsiz), .settled = true,
			.props = { .rbsiz = 65536 } } },
	}, {
		.name = "update of a wish",
		.wire = UPDATE NO_FLAGS WISH("00001000") "00000000 ",
		.hdr = { IS(RPCRDMA2_UPDATE, false), .change = {
			.which = IN(wished_rbsiz),
			.props = { .wished_rbsiz = 4096 } } },
	}, {
		.name = "update of something unknown",
		.wire = UPDATE NO_FLAGS UNKNOWN "00000001 ",
		.one_way = true,
		.hdr = { IS(RPCRDMA2_UPDATE, false), .change = {
			.settled = true } },
	}, {
		.name = "REQ_XCHAR of nothing",
		.wire = REQ("00000004") "00000000 ",
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_REQUEST, false) },
	}, {
		.name = "REQ_XCHAR of every characteristic",
		.wire = REQ("00000034") "00000004 " RBSIZ("00004000")
			XCHAR_REMINV("00000001") XCHAR_BRS("00000003")
			WISH("00000800"),
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_REQUEST, false), .change = {
			.which = IN(rbsiz) | IN(remote_inv) | IN(brs) |
				 IN(wished_rbsiz),
			.count = 4,
			.at = { [AT(rbsiz)] = 1, [AT(remote_inv)] = 2, [AT(brs)] = 4,
				[AT(wished_rbsiz)] = 8 },
			.props = { .rbsiz = 16384, .remote_inv = true, .brs = 2,
				   .wished_rbsiz = 2048 } } },
	}, {
		.name = "REQ_XCHAR of something unknown, too",
		.wire = REQ("00000020") "00000002 " UNKNOWN XCHAR_BRS("00000001"),
		.one_way = true,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_REQUEST, false), .change = {
			.which = IN(brs), .count = 2, .at = { [AT(brs)] = 2 } } },
	}, {
		.name = "RESP_XCHAR: one of each",
		.wire = RESP("00000018") SUBSET("00000004") SUBSET("00000001")
			SUBSET("00000002"),
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_DISPOSITION, true), .change = {
			.done = 4, .rejected = 1, .pending = 2 } },
	}, {
		.name = "RESP_XCHAR, subsets of no words and of two",
		.wire = RESP("00000014") TWO_WORDS("00000001") NO_SUBSET NO_SUBSET,
		.one_way = true,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_DISPOSITION, true), .change = {
			.done = 1 } },
	}, {
		.name = "UPD_XCHAR",
		.wire = UPD("00000010") RBSIZ("00001000") "00000000 ",
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_UPDATE, false), .change = {
			.which = IN(rbsiz), .props = { .rbsiz = 4096 } } },
	}, {
		.name = "UPD_XCHAR that clears what was pending",
		.wire = UPD("00000010") XCHAR_REMINV("00000001") "00000001 ",
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_UPDATE, false), .change = {
			.which = IN(remote_inv), .settled = true,
			.props = { .remote_inv = true } } },
	}, {
		.name = "UPD_XCHAR of something unknown",
		.wire = UPD("00000014") UNKNOWN "00000000 ",
		.one_way = true,
		.codec = WIRE_V2_01,
		.hdr = { IS(RPCRDMA2_UPDATE, false) },
	},
};

const unsigned int wire_nr_change_vectors = ARRAY_SIZE(wire_change_vectors);
