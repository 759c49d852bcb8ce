/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RPC-over-RDMA version 2: the numbers on the wire and the decoded form of
 * what they describe. Version 1's are a part of them.
 *
 * "v2-09" in comments is draft-cel-nfsv4-rpcrdma-version-two-09. The codecs
 * between the two forms are in net/sunrpc/xprtrdma/wire/. Nothing here knows
 * of verbs or of sunrpc.
 */
#ifndef _LINUX_SUNRPC_RPCRDMA2_H
#define _LINUX_SUNRPC_RPCRDMA2_H

#include <linux/types.h>

#define RPCRDMA2_VERSION_1	1
#define RPCRDMA2_VERSION_2	2

/*
 * What a message is, in any dialect. Each has header types of its own for them.
 */
enum rpcrdma2_kind {
	RPCRDMA2_UNKNOWN,	/* a header type that the dialect hasn't */
	RPCRDMA2_MSG,		/* an RPC message follows the header */
	RPCRDMA2_NOMSG,		/* it lies in a chunk */
	RPCRDMA2_ERROR,
	RPCRDMA2_PROPS,		/* the sender's transport properties */
	RPCRDMA2_REQUEST,	/* it wants some of the receiver's changed */
	RPCRDMA2_DISPOSITION,	/* what becomes of such a request */
	RPCRDMA2_UPDATE,	/* one of the sender's has changed */
};

/* The flags word: v2-09, 3.2. Other bits are sent zero and ignored. */
#define RPCRDMA2_F_RESPONSE	0x00000001

/* Error codes: v2-09, 5.3.3. */
enum rpcrdma2_errcode {
	RDMA2_ERR_NONE			= 0,	/* never on the wire */
	RDMA2_ERR_VERS			= 1,
	RDMA2_ERR_BAD_XDR		= 2,
	RDMA2_ERR_INVAL_HTYPE		= 3,
	RDMA2_ERR_READ_CHUNKS		= 4,
	RDMA2_ERR_WRITE_CHUNKS		= 5,
	RDMA2_ERR_SEGMENTS		= 6,
	RDMA2_ERR_WRITE_RESOURCE	= 7,
	RDMA2_ERR_REPLY_RESOURCE	= 8,
	RDMA2_ERR_SYSTEM		= 9,
};

/* Transport properties: v2-09, 4.2. */
enum rpcrdma2_propid {
	RDMA2_PROPID_RBSIZ	= 1,
	RDMA2_PROPID_BRS	= 2,
};

enum rpcrdma2_rvreqsup {
	RDMA2_RVREQSUP_NONE	= 0,
	RDMA2_RVREQSUP_INLINE	= 1,
	RDMA2_RVREQSUP_GENL	= 2,
};

#define RPCRDMA2_RBSIZ_DEFAULT	4096
#define RPCRDMA2_RBSIZ_MIN	1024
#define RPCRDMA2_RBSIZ_MAX	262144

/*
 * A CONNPROP goes out before the sender knows the peer's Receive buffers,
 * so it stays below the smallest that any version promises (v2-09, 5.3.4).
 */
#define RPCRDMA2_CONNPROP_MAX	1024

/*
 * What this implementation accepts: chunks in a list, and segments in a chunk. A peer
 * that sends more is told these numbers in ERR_READ_CHUNKS, ERR_WRITE_CHUNKS or
 * ERR_SEGMENTS. 272 segments carry 1 MiB, and what there is around it, page by page.
 */
#define RPCRDMA2_MAX_READ_CHUNKS	8
#define RPCRDMA2_MAX_WRITE_CHUNKS	8
#define RPCRDMA2_MAX_SEGMENTS		272

/*
 * Segments that this implementation sends in one header, which then stays below 2 KiB.
 * 64 carry 1 MiB in pieces of 16 KiB.
 */
#define RPCRDMA2_OWN_SEGMENTS		64

/**
 * struct rpcrdma2_segment - one registered piece of the requester's memory
 * @handle: STag or R_key
 * @length: octets
 * @offset: virtual address within the registration
 */
struct rpcrdma2_segment {
	u32	handle;
	u32	length;
	u64	offset;
};

/**
 * struct rpcrdma2_chunk - a run of segments that carries one data item
 * @position: where the item belongs in the payload stream; Read chunks only
 * @length: octets in all segments together, or of those that are used, from the first
 *	on; never wraps
 * @first: where the first segment is in rpcrdma2_chunk_lists.words
 * @nsegs: how many segments
 * @stride: words from one segment to the next
 */
struct rpcrdma2_chunk {
	u32	position;
	u32	length;
	u32	first;
	u16	nsegs;
	u16	stride;
};

/* Words of a segment on the wire: handle, length, and two of offset */
#define RPCRDMA2_SEGMENT_WORDS		4

/**
 * struct rpcrdma2_chunk_lists - all chunks of one header
 * @inv_handle: the handle to invalidate remotely, or 0 (v2-09, 3.3); in a
 *	Call of version 1, one that may be
 * @nreads: Read chunks in use, in order of position
 * @nwrites: Write chunks in use, in the order sent
 * @has_reply: whether @reply is present
 * @nsegs: segments of all chunks
 * @words: the segments, as they are on the wire: in the message that was decoded, or,
 *	of lists under construction, room for %RPCRDMA2_OWN_SEGMENTS
 * @reads: Read chunks; @reads[0] at position 0 is a Position-Zero Read chunk
 * @writes: Write chunks
 * @reply: Reply chunk
 */
struct rpcrdma2_chunk_lists {
	u32			inv_handle;
	u8			nreads;
	u8			nwrites;
	bool			has_reply;
	u32			nsegs;
	__be32			*words;
	struct rpcrdma2_chunk	reads[RPCRDMA2_MAX_READ_CHUNKS];
	struct rpcrdma2_chunk	writes[RPCRDMA2_MAX_WRITE_CHUNKS];
	struct rpcrdma2_chunk	reply;
};

/* How an RPC message travels, told by the chunks in its header. */
enum rpcrdma2_form {
	RPCRDMA2_FORM_INLINE		= 0x01,	/* no chunks */
	RPCRDMA2_FORM_READ_CHUNK	= 0x02,
	RPCRDMA2_FORM_POSITION_ZERO	= 0x04,
	RPCRDMA2_FORM_WRITE_CHUNK	= 0x08,
	RPCRDMA2_FORM_REPLY_CHUNK	= 0x10,
};

/**
 * struct rpcrdma2_error - the body of an RDMA2_ERROR
 * @code: enum rpcrdma2_errcode, or a code that this side does not know
 * @bare: it came without a flags word: ERR_VERS in RFC 8166's shape, or @code is
 *	another text's
 * @vers_low: ERR_VERS: lowest version the sender speaks
 * @vers_high: ERR_VERS: highest version the sender speaks
 * @max_chunks: ERR_READ_CHUNKS and ERR_WRITE_CHUNKS
 * @max_segments: ERR_SEGMENTS
 * @chunk_index: ERR_WRITE_RESOURCE: from 1, or 0 for "not known"
 * @length_needed: ERR_WRITE_RESOURCE and ERR_REPLY_RESOURCE, octets
 */
struct rpcrdma2_error {
	u32	code;
	bool	bare;
	u32	vers_low;
	u32	vers_high;
	u32	max_chunks;
	u32	max_segments;
	u32	chunk_index;
	u32	length_needed;
};

/**
 * struct rpcrdma2_props - transport properties that this side understands
 * @rbsiz: size of the sender's posted Receive buffers, octets
 * @brs: enum rpcrdma2_rvreqsup
 * @remote_inv: the sender, as a requester, can take a Send With Invalidate: 1 or 0
 * @changes: the sender knows messages about changes: 1 or 0
 * @wished_rbsiz: the smaller size that the sender would like @rbsiz to be, or 0
 */
struct rpcrdma2_props {
	u32	rbsiz;
	u32	brs;
	u32	remote_inv;
	u32	changes;
	u32	wished_rbsiz;
};

/* The bit of a property in a set of them */
#define RPCRDMA2_PROP_BIT(name)						\
	(1U << offsetof(struct rpcrdma2_props, name) / sizeof(u32))

/* As many properties may be asked to be changed at a time: those of a subset's word. */
#define RPCRDMA2_MAX_WANTED	32

/**
 * struct rpcrdma2_change - what is said of a change of properties
 * @props: REQUEST and UPDATE: the values
 * @which: REQUEST and UPDATE: of the properties that this side understands, those that
 *	are there, by their %RPCRDMA2_PROP_BIT
 * @count: REQUEST: how many are there, understood or not
 * @at: REQUEST: the places in the request that have a property, as bits
 * @done: DISPOSITION: places in the request: the change has been made
 * @rejected: DISPOSITION: it won't be made
 * @pending: DISPOSITION: it may be made later, and then there will be an UPDATE
 * @settled: UPDATE: no request for it is pending any more
 */
struct rpcrdma2_change {
	struct rpcrdma2_props	props;
	u32			which;
	u32			count;
	u32			at[sizeof(struct rpcrdma2_props) / sizeof(u32)];
	u32			done;
	u32			rejected;
	u32			pending;
	bool			settled;
};

/**
 * struct rpcrdma2_header - one decoded transport header, of any dialect
 * @xid: of the RPC, host order
 * @vers: version word
 * @credit: request, or grant where @response is set
 * @kind: enum rpcrdma2_kind
 * @response: whether @xid is one that the message's receiver made; before a
 *	decode, whether the receiver expects that
 * @error: for ERROR; after a failed decode, what to answer with
 * @chunks: for MSG and NOMSG
 * @props: for PROPS
 * @change: for REQUEST, DISPOSITION and UPDATE
 */
struct rpcrdma2_header {
	u32	xid;
	u32	vers;
	u32	credit;
	u32	kind;
	bool	response;
	struct rpcrdma2_error			error;
	union {
		struct rpcrdma2_chunk_lists	chunks;
		struct rpcrdma2_props		props;
		struct rpcrdma2_change		change;
	};
};

#endif /* _LINUX_SUNRPC_RPCRDMA2_H */
