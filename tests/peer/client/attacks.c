// SPDX-License-Identifier: GPL-2.0
/* Attacks of one message */
#include "client.h"

/* Attacks as the first message */
const struct attack attacks_first[] = {
	{ "a Call", NULL_CALL, NULL_REPLY, STAYS },
	{ "nothing", "", NULL, CLOSES },
	{ "a Reply", REPLY NOTHING XID RPC_NULL_REPLY, NULL, CLOSES },
	{ "an error", ERROR REPLY_FLAGS "00000009", NULL, CLOSES },
	{ "an error without RESPONSE", ERROR CALL_FLAGS "00000009", NULL,
	  CLOSES },
	{ "CONNPROP of version 0",
	  XID "00000000 " REQUEST "00000005 " CALL_FLAGS PROPERTIES,
	  BAD_FIRST("00000000"), STAYS },
	{ "CONNPROP of version 3",
	  XID "00000003 " REQUEST "00000005 " CALL_FLAGS PROPERTIES,
	  BAD_FIRST("00000003"), STAYS },
	{ "CONNPROP of version 2^32-1",
	  XID "ffffffff " REQUEST "00000005 " CALL_FLAGS PROPERTIES,
	  BAD_FIRST("ffffffff"), STAYS },
	{ "a Call of version 0",
	  XID "00000000 " REQUEST "00000000 " CALL_FLAGS NOTHING XID RPC_NULL,
	  BAD_FIRST("00000000"), STAYS },
	{ "a Call of version 3",
	  XID "00000003 " REQUEST "00000000 " CALL_FLAGS NOTHING XID RPC_NULL,
	  BAD_FIRST("00000003"), STAYS },
	{ "a Call of version 2^32-1",
	  XID "ffffffff " REQUEST "00000000 " CALL_FLAGS NOTHING XID RPC_NULL,
	  BAD_FIRST("ffffffff"), STAYS },
	{ "an error of version 3",
	  XID "00000003 " REQUEST "00000004 00000001 00000003 00000003", NULL,
	  CLOSES },
	{ "the middle message of the 2022 text",
	  XID VERS REQUEST "00000006 00000000", INVAL_HTYPE, STAYS },
	/* A count of properties is where v2-09 has its flags. */
	{ "one property of the 2022 text",
	  XID VERS REQUEST "00000007 00000001 00000001 00000004 00001000",
	  INVAL_HTYPE, STAYS },
	{ "two properties of the 2022 text", XID VERS REQUEST "00000007 "
	  "00000002 00000001 00000004 00001000 00000002 00000004 00001000",
	  INVAL_HTYPE, STAYS },
	{ "header type 8 alone", XID VERS REQUEST "00000008", INVAL_HTYPE,
	  STAYS },
	{ "header type 2^32-1", XID VERS REQUEST "ffffffff " CALL_FLAGS,
	  INVAL_HTYPE, STAYS },
	{ "CONNPROP with RESPONSE",
	  XID VERS REQUEST "00000005 " REPLY_FLAGS PROPERTIES, NULL, CLOSES },
	{ "CONNPROP of 2^32-1 properties", CONNPROP "ffffffff", BAD_XDR,
	  CLOSES },
	{ "CONNPROP with one property less than it says",
	  CONNPROP "00000002 " RBSIZ("00001000"), BAD_XDR, CLOSES },
	{ "CONNPROP with one property more than it says",
	  CONNPROP "00000001 " RBSIZ("00001000") BRS("00000001"), BAD_XDR,
	  CLOSES },
	{ "a property of 2^32-1 octets",
	  CONNPROP "00000001 00000063 ffffffff 00000000", BAD_XDR, CLOSES },
	{ "a property of 2^32-4 octets",
	  CONNPROP "00000001 00000063 fffffffc 00000000", BAD_XDR, CLOSES },
	{ "RBSIZ 0", CONNPROP "00000001 " RBSIZ("00000000"), BAD_XDR, CLOSES },
	{ "RBSIZ 1020", CONNPROP "00000001 " RBSIZ("000003fc"), BAD_XDR,
	  CLOSES },
	{ "RBSIZ 1026", CONNPROP "00000001 " RBSIZ("00000402"), BAD_XDR,
	  CLOSES },
	{ "RBSIZ 2^32-1", CONNPROP "00000001 " RBSIZ("ffffffff"), BAD_XDR,
	  CLOSES },
	{ "RBSIZ of three octets",
	  CONNPROP "00000001 00000001 00000003 00100000", BAD_XDR, CLOSES },
	{ "RBSIZ of eight octets",
	  CONNPROP "00000001 00000001 00000008 00001000 00000000", BAD_XDR,
	  CLOSES },
	{ "BRS 3", CONNPROP "00000001 " BRS("00000003"), BAD_XDR, CLOSES },
	{ "BRS 2^32-1", CONNPROP "00000001 " BRS("ffffffff"), BAD_XDR, CLOSES },
	{ "RBSIZ 2^32-4", CONNPROP "00000001 " RBSIZ("fffffffc"),
	  CONNPROP_ANSWER, STAYS },
	{ "properties of no octets",
	  CONNPROP "00000002 00000001 00000000 00000002 00000000",
	  CONNPROP_ANSWER, STAYS },
	{ "no properties", CONNPROP "00000000", CONNPROP_ANSWER, STAYS },
	{ },
};

/* Attacks after the CONNPROPs: the first five words, and contradictions to the rest */
const struct attack attacks_prefix[] = {
	{ "version 0", XID "00000000 " REQUEST "00000000 " CALL_FLAGS NOTHING
	  XID RPC_NULL, BAD_VERS("00000000"), STAYS },
	{ "version 1", XID "00000001 " REQUEST "00000000 " END END END
	  XID RPC_NULL, BAD_VERS("00000001"), STAYS },
	{ "version 3", XID "00000003 " REQUEST "00000000 " CALL_FLAGS NOTHING
	  XID RPC_NULL, BAD_VERS("00000003"), STAYS },
	{ "version 2^32-1", XID "ffffffff " REQUEST "00000000 " CALL_FLAGS
	  NOTHING XID RPC_NULL, BAD_VERS("ffffffff"), STAYS },
	{ "header type 2", XID VERS REQUEST "00000002 " CALL_FLAGS,
	  INVAL_HTYPE, STAYS },
	{ "header type 3", XID VERS REQUEST "00000003 " CALL_FLAGS,
	  INVAL_HTYPE, STAYS },
	{ "header type 6", XID VERS REQUEST "00000006 " CALL_FLAGS NOTHING,
	  INVAL_HTYPE, STAYS },
	{ "header type 2^32-1", XID VERS REQUEST "ffffffff " CALL_FLAGS,
	  INVAL_HTYPE, STAYS },
	{ "header type 2^32-1 with RESPONSE",
	  XID VERS REQUEST "ffffffff " REPLY_FLAGS, INVAL_HTYPE, STAYS },
	{ "header type 10 of the 2022 text", XID VERS REQUEST "0000000a "
	  NO_LISTS XID RPC_NULL, INVAL_HTYPE, STAYS },
	{ "header type 6 alone", XID VERS REQUEST "00000006", INVAL_HTYPE,
	  STAYS },
	{ "all flags but RESPONSE",
	  XID VERS REQUEST "00000000 fffffffe" NOTHING XID RPC_NULL,
	  NULL_REPLY, STAYS },
	{ "all flags", XID VERS REQUEST "00000000 ffffffff" NOTHING
	  XID RPC_NULL, NULL, CLOSES },
	{ "a request of no credit",
	  XID VERS "00000000 00000000 " CALL_FLAGS NOTHING XID RPC_NULL,
	  NULL_REPLY, STAYS },
	{ "a request of 2^32-1 credits",
	  XID VERS "ffffffff 00000000 " CALL_FLAGS NOTHING XID RPC_NULL,
	  NULL_REPLY, STAYS },
	{ "a handle to invalidate of no chunk",
	  CALL "0a0b0c0d " NO_LISTS XID RPC_NULL, BAD_XDR, STAYS },
	{ "a Call marked as a Reply", REPLY NOTHING XID RPC_NULL, NULL,
	  CLOSES },
	{ "a Reply marked as a Call", CALL NOTHING XID RPC_NULL_REPLY, BAD_XDR,
	  STAYS },
	{ "a message that is neither", CALL NOTHING XID "00000002 00000000",
	  BAD_XDR, STAYS },
	{ "two XIDs", CALL NOTHING "11223345 " RPC_NULL, BAD_XDR, STAYS },
	{ "a Reply to no Call", REPLY NOTHING XID RPC_NULL_REPLY, NULL,
	  CLOSES },
	{ "an error to no Call", ERROR REPLY_FLAGS "00000009", NULL, CLOSES },
	{ "an error to the server", ERROR CALL_FLAGS "00000009", NULL, CLOSES },
	{ "ERR_VERS to the server",
	  ERROR CALL_FLAGS "00000001 00000001 00000001", NULL, CLOSES },
	{ "an error of no code", ERROR REPLY_FLAGS "00000000", NULL, CLOSES },
	{ "a second CONNPROP", CONNPROP PROPERTIES, BAD_XDR, STAYS },
	{ "a second CONNPROP that is malformed", CONNPROP "00000001", BAD_XDR,
	  CLOSES },
	{ "a second CONNPROP with RESPONSE",
	  XID VERS REQUEST "00000005 " REPLY_FLAGS PROPERTIES, NULL, CLOSES },
	{ },
};

/* Attacks with chunk lists. The server uses none of their handles. */
const struct attack attacks_lists[] = {
	{ "a boolean of 2", CALL END "00000002 00000028 " SEG END END END
	  XID RPC_NULL, BAD_XDR, STAYS },
	{ "a boolean of 2^32-1", CALL END END END "ffffffff 00000000 "
	  XID RPC_NULL, BAD_XDR, STAYS },
	{ "a Write chunk of no segments",
	  CALL END END NEXT "00000000 " END END XID RPC_NULL,
	  XID VERS GRANT "00000000 " REPLY_FLAGS
	  END END NEXT "00000000 " END END XID RPC_NULL_REPLY, STAYS },
	{ "a Reply chunk of no segments",
	  CALL END END END NEXT "00000000 " XID RPC_NULL, NULL_REPLY, STAYS },
	{ "a Write chunk of 2^32-1 segments",
	  CALL END END NEXT "ffffffff " SEG END END XID RPC_NULL, BAD_XDR,
	  STAYS },
	{ "a Reply chunk of 2^32-1 segments",
	  CALL END END END NEXT "ffffffff " SEG XID RPC_NULL, BAD_XDR, STAYS },
	{ "a Write chunk of 2^28 segments",
	  CALL END END NEXT "10000000 " SEG END END XID RPC_NULL, BAD_XDR,
	  STAYS },
	{ "a Reply chunk of one segment more than there is",
	  CALL END END END NEXT "00000004 " SEG XID RPC_NULL, BAD_XDR, STAYS },
	{ "lengths of 2^32 together, Read chunk", CALL_NOMSG END
	  NEXT "00000000 00000001 80000000 0000000000000000 "
	  NEXT "00000000 00000002 80000000 0000000000000000 " END END END,
	  BAD_XDR, STAYS },
	{ "lengths of 2^32 together, Write chunk", CALL END END
	  NEXT "00000002 00000001 ffffffff 0000000000000000 "
	  "00000002 00000001 0000000000000000 " END END XID RPC_NULL, BAD_XDR,
	  STAYS },
	{ "lengths of 2^32 together, Reply chunk", CALL END END END
	  NEXT "00000002 00000001 7fffffff 0000000000000000 "
	  "00000002 80000001 0000000000000000 " XID RPC_NULL, BAD_XDR, STAYS },
	{ "offset and length of 2^64",
	  CALL END END NEXT "00000001 00000001 00000001 ffffffffffffffff "
	  END END XID RPC_NULL, BAD_XDR, STAYS },
	{ "offset and length of more than 2^64", CALL END END END
	  NEXT "00000001 00000001 ffffffff ffffffff00000001 " XID RPC_NULL,
	  BAD_XDR, STAYS },
	{ "position and length of 2^32",
	  CALL END NEXT "00000028 0a0b0c0d ffffffd8 0000000000000000 "
	  END END END XID RPC_NULL, BAD_XDR, STAYS },
	{ "a Read chunk of nearly 2^32 octets",
	  CALL END NEXT "00000028 0a0b0c0d ffffff00 0000000000000000 "
	  END END END XID RPC_NULL, SYSTEM, STAYS },
	{ "an external Call of 2^32-1 octets",
	  CALL_NOMSG END NEXT "00000000 0a0b0c0d ffffffff 0000000000000000 "
	  END END END, SYSTEM, STAYS },
	{ "an external Call of seven octets",
	  CALL_NOMSG END NEXT "00000000 0a0b0c0d 00000007 0000000000000000 "
	  END END END, BAD_XDR, STAYS },
	{ "an external Call of no chunk", CALL_NOMSG NOTHING, BAD_XDR, STAYS },
	{ "an external Call, and one inline",
	  CALL_NOMSG END NEXT "00000000 " SEG END END END XID RPC_NULL,
	  BAD_XDR, STAYS },
	{ "position 0 of an inline Call",
	  CALL END NEXT "00000000 " SEG END END END XID RPC_NULL, BAD_XDR,
	  STAYS },
	{ "a position in the XID",
	  CALL END NEXT "00000004 " SEG END END END XID RPC_NULL, BAD_XDR,
	  STAYS },
	{ "an unaligned position",
	  CALL END NEXT "00000026 " SEG END END END XID RPC_NULL, BAD_XDR,
	  STAYS },
	{ "a position past the end",
	  CALL END NEXT "0000002c " SEG END END END XID RPC_NULL, BAD_XDR,
	  STAYS },
	{ "a position of 2^32-4",
	  CALL END NEXT "fffffffc " SEG END END END XID RPC_NULL, BAD_XDR,
	  STAYS },
	{ "overlapping positions, in wrong order",
	  CALL END NEXT "0000001c " SEG NEXT "0000000c " SEG END END END
	  XID RPC_NULL, BAD_XDR, STAYS },
	{ "a position that comes back", CALL END NEXT "0000000c " SEG
	  NEXT "00000110 " SEG NEXT "0000000c " SEG END END END XID RPC_NULL,
	  BAD_XDR, STAYS },
	{ },
};

/* The transport carries bad RPC messages; the RPC layer answers them. */
const struct attack attacks_rpc[] = {
	{ "a Call of two words", CALL NOTHING XID "00000000", NULL, CLOSES },
	{ "another RPC version", CALL NOTHING XID "00000000 00000003 000186a3 "
	  "00000003 00000000 00000000 00000000 00000000 00000000",
	  XID VERS GRANT "00000000 " REPLY_FLAGS NOTHING
	  XID "00000001 00000001 00000000 00000002 00000002", STAYS },
	{ "a program that is not there",
	  CALL NOTHING XID "00000000 00000002 2fffffff "
	  "00000003 00000000 00000000 00000000 00000000 00000000",
	  XID VERS GRANT "00000000 " REPLY_FLAGS NOTHING
	  XID "00000001 00000000 00000000 00000000 00000001", STAYS },
	{ "a procedure that is not there",
	  CALL NOTHING XID "00000000 00000002 000186a3 "
	  "00000003 000000ff 00000000 00000000 00000000 00000000",
	  XID VERS GRANT "00000000 " REPLY_FLAGS NOTHING
	  XID "00000001 00000000 00000000 00000000 00000003", STAYS },
	{ },
};
