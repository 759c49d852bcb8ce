/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RPC-over-RDMA versions 2 and 1: numbers on the wire, and the decoded form of headers.
 *
 * The codecs in net/sunrpc/xprtrdma/wire/ translate between the two. This header needs no
 * verbs and no sunrpc. It has names for version 2, which kept the numbers of version 1.
 *
 * "v2-09" in comments is draft-cel-nfsv4-rpcrdma-version-two-09, and "v2-01" is draft 01
 * with draft-dnoveck-nfsv4-rpcrdma-xcharext-01 ("xcharext").
 */
#ifndef _LINUX_SUNRPC_RPCRDMA2_H
#define _LINUX_SUNRPC_RPCRDMA2_H

#include <linux/types.h>

#define RPCRDMA2_VERSION_1	1
#define RPCRDMA2_VERSION_2	2

/* Kinds of messages. Each dialect has header types of its own for them. */
enum rpcrdma2_kind {
	RPCRDMA2_UNKNOWN,	/* a header type that the dialect lacks */
	RPCRDMA2_MSG,		/* the RPC message follows the header */
	RPCRDMA2_NOMSG,		/* the RPC message is in a chunk */
	RPCRDMA2_ERROR,
	RPCRDMA2_PROPS,		/* the sender states its transport properties */
	RPCRDMA2_REQUEST,	/* the sender asks the receiver to change some of its own */
	RPCRDMA2_DISPOSITION,	/* the answer to a REQUEST */
	RPCRDMA2_UPDATE,	/* one of the sender's properties has changed */
};

/* The flags word (v2-09, 3.2): senders clear the other bits, receivers ignore them. */
#define RPCRDMA2_F_RESPONSE	0x00000001

/* Errors (v2-09, 5.3.3) */
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

/* Transport properties (v2-09, 4.2) */
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
 * Limit of a message to a peer whose Receive buffers are unknown, octets: no version has
 * smaller buffers (v2-09, 5.3.4).
 */
#define RPCRDMA2_CONNPROP_MAX	1024

/*
 * Limits on received headers: chunks in a list, and segments in a chunk. The answer to
 * more is ERR_READ_CHUNKS, ERR_WRITE_CHUNKS or ERR_SEGMENTS with the limit. 272 segments of
 * one page each carry 1 MiB, and 64 KiB around it.
 */
#define RPCRDMA2_MAX_READ_CHUNKS	8
#define RPCRDMA2_MAX_WRITE_CHUNKS	8
#define RPCRDMA2_MAX_SEGMENTS		272

/*
 * Limit on headers that this end sends: segments in all chunks. Such a header is smaller
 * than 2 KiB. 64 segments carry 1 MiB in pieces of 16 KiB.
 */
#define RPCRDMA2_OWN_SEGMENTS		64

/**
 * struct rpcrdma2_segment - a piece of the requester's memory
 * @handle: STag or R_key
 * @length: octets
 * @offset: virtual address, which the registration of @handle contains
 */
struct rpcrdma2_segment {
	u32	handle;
	u32	length;
	u64	offset;
};

/**
 * struct rpcrdma2_chunk - consecutive segments that carry one data item
 * @position: place of the data item in the payload stream, octets; Read chunks only
 * @length: sum over all segments, octets; in a returned chunk, the octets in use from the
 *	first segment on. The sum never wraps
 * @first: index of the first segment in rpcrdma2_chunk_lists.words
 * @nsegs: number of segments
 * @stride: words from one segment to the next
 */
struct rpcrdma2_chunk {
	u32	position;
	u32	length;
	u32	first;
	u16	nsegs;
	u16	stride;
};

/* Words of a segment on the wire: handle, length, and two for the offset */
#define RPCRDMA2_SEGMENT_WORDS		4

/**
 * struct rpcrdma2_chunk_lists - all chunks of one header
 * @inv_handle: handle that the responder may invalidate, or 0 (v2-09, 3.3). Only v2-09 has
 *	it on the wire; the other decoders choose one of a Call's handles
 * @nreads: number of @reads in use
 * @nwrites: number of @writes in use
 * @has_reply: @reply is in use
 * @nsegs: number of segments in all chunks
 * @words: segments in wire form. In a decoded header, they lie in the message. In a header
 *	under construction, this is an array for %RPCRDMA2_OWN_SEGMENTS
 * @reads: Read chunks in order of position. @reads[0] at position 0 is a Position-Zero
 *	Read chunk
 * @writes: Write chunks in the order of the message
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

/* How an RPC message travels: bits for the chunks in its header */
enum rpcrdma2_form {
	RPCRDMA2_FORM_INLINE		= 0x01,	/* no chunks */
	RPCRDMA2_FORM_READ_CHUNK	= 0x02,
	RPCRDMA2_FORM_POSITION_ZERO	= 0x04,
	RPCRDMA2_FORM_WRITE_CHUNK	= 0x08,
	RPCRDMA2_FORM_REPLY_CHUNK	= 0x10,
};

/**
 * struct rpcrdma2_error - the body of an RDMA2_ERROR
 * @code: enum rpcrdma2_errcode, or a number that this end does not know
 * @bare: the error is an ERR_VERS without a flags word (RFC 8166), or @code is a number
 *	that another draft of version 2 defines
 * @vers_low: ERR_VERS: lowest version that the sender speaks
 * @vers_high: ERR_VERS: highest version that the sender speaks
 * @max_chunks: ERR_READ_CHUNKS, ERR_WRITE_CHUNKS: the sender's limit
 * @max_segments: ERR_SEGMENTS: the sender's limit
 * @chunk_index: ERR_WRITE_RESOURCE: number of the chunk from 1 on, or 0 if unknown
 * @length_needed: ERR_WRITE_RESOURCE, ERR_REPLY_RESOURCE: octets
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
 * struct rpcrdma2_props - the transport properties that this end understands
 * @rbsiz: size of the sender's Receive buffers, octets
 * @brs: enum rpcrdma2_rvreqsup: which Calls the sender accepts in the reverse direction
 * @remote_inv: 1 if the sender, as a requester, accepts Send With Invalidate, or 0
 * @changes: 1 if the sender knows messages about changes, or 0
 * @wished_rbsiz: smaller @rbsiz that the sender would like to have, octets, or 0
 */
struct rpcrdma2_props {
	u32	rbsiz;
	u32	brs;
	u32	remote_inv;
	u32	changes;
	u32	wished_rbsiz;
};

/* The bit of a property in sets such as rpcrdma2_change.which */
#define RPCRDMA2_PROP_BIT(name)						\
	(1U << offsetof(struct rpcrdma2_props, name) / sizeof(u32))

/* Limit of properties in a REQUEST: a subset of them then fits one word. */
#define RPCRDMA2_MAX_WANTED	32

/**
 * struct rpcrdma2_change - the body of a message about a change of properties
 * @props: REQUEST, UPDATE: values
 * @which: REQUEST, UPDATE: %RPCRDMA2_PROP_BIT of each property in the message that this
 *	end understands
 * @count: REQUEST: number of properties in the message, understood or not
 * @at: REQUEST: for each property, its places in the message, as bits from the lowest on
 * @done: DISPOSITION: places in the REQUEST whose change is made
 * @rejected: DISPOSITION: places whose change will not be made
 * @pending: DISPOSITION: places about which an UPDATE will follow
 * @settled: UPDATE: no REQUEST for this property is pending any more
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
 * struct rpcrdma2_header - a decoded transport header of any dialect
 * @xid: XID, host order
 * @vers: version word
 * @credit: credits that a requester asks for, or that a responder grants
 * @kind: enum rpcrdma2_kind
 * @response: the sender answers a message with this XID. Before a decode, the receiver's
 *	expectation, for messages that don't state it
 * @error: body of an ERROR. After a failed decode, the answer to send
 * @chunks: body of an MSG or NOMSG
 * @props: body of a PROPS
 * @change: body of a REQUEST, DISPOSITION or UPDATE
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
