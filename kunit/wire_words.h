/* SPDX-License-Identifier: GPL-2.0 */
/* Words that messages of all versions share, in hex and decoded */
#ifndef _RPCRDMA2_WIRE_WORDS_H
#define _RPCRDMA2_WIRE_WORDS_H

#define XID		0x11223344

#define NO_READS	"00000000 "
#define NO_WRITES	"00000000 "
#define NO_REPLY	"00000000 "
#define END		"00000000 "
#define NEXT		"00000001 "

#define SEG_A		"0a0b0c0d 00000064 1122334455667788 "
#define SEG_B		"0a0b0c0e 00000ffe fedcba9876543210 "
#define SEG_C		"0a0b0c0f 00100000 0000000000001000 "
#define SEG_EMPTY	"0a0b0c10 00000000 0000000000000000 "

/* The same segments as they lie in a message */
struct wire_segment {
	__be32	handle;
	__be32	length;
	__be64	offset;
};

#define WORDS(handle, length, offset)	\
	{ cpu_to_be32(handle), cpu_to_be32(length), cpu_to_be64(offset) }
#define A	WORDS(0x0a0b0c0d, 0x64, 0x1122334455667788ULL)
#define B	WORDS(0x0a0b0c0e, 0xffe, 0xfedcba9876543210ULL)
#define C	WORDS(0x0a0b0c0f, 0x100000, 0x1000)
#define EMPTY	WORDS(0x0a0b0c10, 0, 0)

/* A chunk of @segments segments, which start with segment @from */
#define RUN(position, length, from, segments)				\
	{ position, length, (from) * RPCRDMA2_SEGMENT_WORDS, segments,	\
	  RPCRDMA2_SEGMENT_WORDS }
#define SEGMENTS(...)	((__be32 *)(struct wire_segment []){ __VA_ARGS__ })

/* A NULL Call of NFS version 4 with AUTH_NONE, 40 octets, and its Reply */
#define RPC_CALL_NULL	"11223344 00000000 00000002 000186a3 00000004 " \
			"00000000 00000000 00000000 00000000 00000000 "
#define RPC_REPLY_NULL	"11223344 00000001 00000000 00000000 00000000 00000000 "

#endif /* _RPCRDMA2_WIRE_WORDS_H */
