/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of RPC-over-RDMA, and parts of them, in hex */
#ifndef MESSAGES_H
#define MESSAGES_H

/*
 * Versions in an ERR_VERS of the module: all that it speaks; and the only one, after the
 * first messages were of version 2
 */
#define VERSIONS	"00000001 00000002 "
#define VERSION		"00000002 00000002 "

/*
 * The server's credit grant, which can be any: see earn(). REQUEST is this peer's
 * request.
 */
#define GRANT		"xxxxxxxx "
#define REQUEST		"00000020 "

#define XID		"11223344 "
#define VERS		"00000002 "
#define CALL_FLAGS	"00000000 "
#define REPLY_FLAGS	"00000001 "

/* Prefixes of version 2 */
#define CALL		XID VERS REQUEST "00000000 " CALL_FLAGS
#define CALL_NOMSG	XID VERS REQUEST "00000001 " CALL_FLAGS
#define REPLY		XID VERS REQUEST "00000000 " REPLY_FLAGS
#define ERROR		XID VERS REQUEST "00000004 "
#define CONNPROP	XID VERS REQUEST "00000005 " CALL_FLAGS

/* Chunk lists. NOTHING is no handle to invalidate, and three empty lists. */
#define END		"00000000 "
#define NEXT		"00000001 "
#define NO_LISTS	END END END
#define NOTHING		END NO_LISTS
/* A segment for chunks that nobody gets to use: handle, length, offset */
#define SEG		"0a0b0c0d 00000100 0000000000010000 "

/* Properties */
#define RBSIZ(size)	"00000001 00000004 " size " "
#define BRS(level)	"00000002 00000004 " level " "
#define PROPERTIES	"00000002 " RBSIZ("00001000") BRS("00000001")

/* Properties of this project's own ends */
#define CHANGES		"ffffff01 00000004 72327031 "
#define WISH(size)	"ffffff02 00000004 " size " "
#define OWN_PROPERTIES	PROPERTIES_OF("00000001")
#define PROPERTIES_OF(brs)						\
	"00000004 " RBSIZ("00003000") BRS(brs)				\
			CHANGES WISH("00000000")

/* A server's answer to CONNPROP */
#define CONNPROP_ANSWER	XID VERS GRANT "00000005 " REPLY_FLAGS OWN_PROPERTIES

/* NFS version 3, procedure 0 */
#define RPC_NULL	"00000000 00000002 000186a3 00000003 00000000 " \
			"00000000 00000000 00000000 00000000 "
#define RPC_NULL_REPLY	"00000001 00000000 00000000 00000000 00000000 "

#define NULL_CALL	CALL NOTHING XID RPC_NULL
#define NULL_REPLY	XID VERS GRANT "00000000 " REPLY_FLAGS NOTHING \
			XID RPC_NULL_REPLY

/* Errors in a server's answer */
#define REFUSED(code)	XID VERS GRANT "00000004 " REPLY_FLAGS code " "
#define BAD_XDR		REFUSED("00000002")
#define INVAL_HTYPE	REFUSED("00000003")
#define READ_CHUNKS	REFUSED("00000004") "00000008 "
#define WRITE_CHUNKS	REFUSED("00000005") "00000008 "
#define SEGMENTS	REFUSED("00000006") "00000110 "
#define IWARP_SEGMENTS	REFUSED("00000006") "00000040 "
#define SYSTEM		REFUSED("00000009")
/* Without the word of flags: RFC 8166, 5 */
#define BAD_FIRST(vers)	XID vers " " GRANT "00000004 00000001 " VERSIONS
#define BAD_VERS(vers)	XID vers " " GRANT "00000004 00000001 " VERSION

/* Version 1 */
#define VERS_1		"00000001 "
#define CALL_1		XID VERS_1 REQUEST "00000000 "
#define CALL_1_NOMSG	XID VERS_1 REQUEST "00000001 "
#define CALL_1_MSGP	XID VERS_1 REQUEST "00000002 "
#define DONE_1		XID VERS_1 REQUEST "00000003 "
#define ERROR_1		XID VERS_1 REQUEST "00000004 "

#define NULL_CALL_1	CALL_1 NO_LISTS XID RPC_NULL
#define NULL_REPLY_1	XID VERS_1 GRANT "00000000 " NO_LISTS XID RPC_NULL_REPLY
#define ERR_CHUNK_1	XID VERS_1 GRANT "00000004 00000002 "
/* ERR_VERS on a connection whose first messages were of version 1 */
#define BAD_VERS_1(vers) XID vers " " GRANT "00000004 00000001 " \
			VERS_1 VERS_1

#endif /* MESSAGES_H */
