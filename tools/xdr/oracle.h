/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A header in plain arrays, which both sides of the oracle use. The two sides can't
 * include each other's headers.
 */
#ifndef _RPCRDMA2_XDR_ORACLE_H
#define _RPCRDMA2_XDR_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#define FLAT_SEGMENTS	80
#define FLAT_CHUNKS	10
#define FLAT_PROPS	12
#define FLAT_DATA	16
#define FLAT_WORDS	3

struct flat_segment {
	uint64_t	offset;
	uint32_t	handle;
	uint32_t	length;
};

struct flat_chunk {
	uint32_t		nsegs;
	uint32_t		unused;
	struct flat_segment	segs[FLAT_SEGMENTS];
};

struct flat_read {
	uint32_t		position;
	uint32_t		unused;
	struct flat_segment	seg;
};

struct flat_prop {
	uint32_t	id;
	uint32_t	len;
	uint8_t		data[FLAT_DATA];
};

struct flat_subset {
	uint32_t	nwords;
	uint32_t	words[FLAT_WORDS];
};

/* Without implicit padding, so that memcmp() can compare two of them */
struct flat {
	uint32_t		xid, vers, credit, htype;
	uint32_t		flags, bare;
	uint32_t		inv_handle, nreads, nwrites, has_reply;
	struct flat_read	reads[FLAT_SEGMENTS];
	struct flat_chunk	writes[FLAT_CHUNKS];
	struct flat_chunk	reply;
	uint32_t		code, args[2], operation;
	struct flat_prop	props[FLAT_PROPS];
	uint32_t		nprops, codec;
	struct flat_subset	subsets[3];
	uint32_t		settled, unused;
};

/* codec: 1, 2, or v2-01, the version 2 of 2016 */
#define FLAT_2016	3

/* operation: what a message does with properties, by the numbers of 2016 */
#define FLAT_INIT		1
#define FLAT_REQUEST		2
#define FLAT_DISPOSITION	3
#define FLAT_UPDATE		4

/* oracle_rpcgen.c; both return the octets of the header, or -1 */
int rpcgen_encode(const struct flat *f, void *octets, size_t room);
int rpcgen_decode(struct flat *f, void *octets, size_t len, uint32_t codec,
		  int bare);

#endif /* _RPCRDMA2_XDR_ORACLE_H */
