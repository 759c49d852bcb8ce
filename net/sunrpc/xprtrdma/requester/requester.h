/* SPDX-License-Identifier: GPL-2.0 */
/*
 * requester/: the role that sends Calls and takes their Replies.
 *
 * A client's connection has a requester for NFS RPCs (xprt/). A server's connection has a
 * requester for callbacks (svc/reverse.c). Both users are sunrpc, so this layer speaks struct
 * rpc_xprt and struct rpc_rqst.
 *
 * The requester owns the credits, the registrations, and one struct rpcrdma2_call for each RPC.
 * sunrpc's tasks send, with the xprt's write lock held. CQ context takes the answers.
 */
#ifndef _RPCRDMA2_REQUESTER_H
#define _RPCRDMA2_REQUESTER_H

#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

#include "conn/conn.h"

/* A requester tells this many procedures of a program apart. NFSv4 has fewer than 80. */
#define RPCRDMA2_PROCEDURES	128

/**
 * struct rpcrdma2_stats - counters of a requester
 *
 * The holder of the xprt's write lock counts:
 *
 * @calls: Calls sent, by form
 * @read_segments: segments of Read chunks
 * @write_segments: segments of Write chunks
 * @reply_segments: segments of Reply chunks
 * @read_octets: octets of Read chunks
 * @offered_octets: octets of Write chunks and Reply chunks
 * @pullup_octets: octets of page data and tails that were copied into Sends
 * @registrations: FastReg WRs
 * @gap_registrations: FastReg WRs that bridge gaps; also counted in @registrations
 * @failed_marshals: Calls that could not be encoded
 * @credit_waits: times that a Call waited for a credit
 * @mr_waits: times that a Call waited for a registration
 * @send_waits: times that a Call waited for a Send buffer
 *
 * CQ context counts:
 *
 * @replies: Replies that arrived, by form; Replies to killed RPCs count
 * @written_octets: octets that the responder reports in Write chunks and Reply chunks
 * @fixup_octets: octets of Replies that were copied out of Receives
 * @bad_replies: Replies that could not be used
 * @remote_invs: registrations that the responder invalidated
 * @local_invs: LocalInv WRs that completed
 *
 * Under the requester's lock:
 *
 * @mrs_allocated: registrations that were ever allocated
 */
struct rpcrdma2_stats {
	struct rpcrdma2_forms	calls;
	u64	read_segments;
	u64	write_segments;
	u64	reply_segments;
	u64	read_octets;
	u64	offered_octets;
	u64	pullup_octets;
	u64	registrations;
	u64	gap_registrations;
	u64	failed_marshals;
	u64	credit_waits;
	u64	mr_waits;
	u64	send_waits;

	struct rpcrdma2_forms	replies ____cacheline_aligned_in_smp;
	u64	written_octets;
	u64	fixup_octets;
	u64	bad_replies;
	u64	remote_invs;
	u64	local_invs;

	u64	mrs_allocated ____cacheline_aligned_in_smp;
};

/**
 * struct rpcrdma2_mr_pool - all registrations of one type on a connection
 * @requester: the role that owns the pool
 * @type: %IB_MR_TYPE_MEM_REG, or %IB_MR_TYPE_SG_GAPS for registrations that bridge gaps
 * @free: registrations that no Call has; under the requester's lock
 * @nr: registrations that exist, with and without a Call; written under the requester's lock
 * @refill: work that allocates more registrations
 */
struct rpcrdma2_mr_pool {
	struct rpcrdma2_requester *requester;
	enum ib_mr_type		type;
	struct list_head	free;
	unsigned int		nr;
	struct delayed_work	refill;
};

/**
 * struct rpcrdma2_requester - the requester role of a connection
 * @conn: the connection
 * @xprt: the transport whose RPCs this role sends
 * @long_reply: octets of Reply chunk that Calls of @long_procedures offer, or 0; the CQ writes
 * @long_procedures: bitmap of procedures whose Replies outgrew their buffers; the CQ writes
 * @credits_taken: credits ever taken; the holder of the xprt's write lock writes
 * @grant_in: the responder's grant, at least 1; the CQ writes
 * @answered: credits ever returned by answers; the CQ writes
 * @starved: work that closes the connection if no answer comes while a Call waits for a credit
 * @starved_at: value of @answered when a Call last began to wait for a credit
 * @lock: protects both pools, @all_mrs and @to_deregister
 * @mrs: pool of registrations for memory without gaps
 * @gap_mrs: pool of registrations that bridge gaps; stays empty if the device has none
 * @all_mrs: all registrations of both pools
 * @to_deregister: chains of Calls whose registrations @deregister gives up; under @lock
 * @deregister: work that deregisters memory, for a device that refuses LOCAL_INV
 * @hdr: the header that is being marshaled; belongs to the holder of the xprt's write lock
 * @segments: storage for the segments of @hdr
 * @stats: counters of this connection
 */
struct rpcrdma2_requester {
	struct rpcrdma2_conn	*conn;
	struct rpc_xprt		*xprt;
	u32			long_reply;
	DECLARE_BITMAP(long_procedures, RPCRDMA2_PROCEDURES);

	/* Written by senders, which hold the xprt's write lock */
	unsigned int		credits_taken ____cacheline_aligned_in_smp;

	/* Written by the CQ with each Reply */
	unsigned int		grant_in ____cacheline_aligned_in_smp;
	unsigned int		answered;
	struct delayed_work	starved;
	unsigned int		starved_at;

	spinlock_t		lock;	/* both pools, all_mrs, to_deregister */

	struct rpcrdma2_mr_pool	mrs;
	struct rpcrdma2_mr_pool	gap_mrs;
	struct list_head	all_mrs;

	struct list_head	to_deregister;
	struct work_struct	deregister;

	struct rpcrdma2_header	hdr;
	__be32			segments[RPCRDMA2_OWN_SEGMENTS *
					 RPCRDMA2_SEGMENT_WORDS];
	struct rpcrdma2_stats	stats;
};

/**
 * struct rpcrdma2_mr - one registration
 * @list: entry in its pool's free list, or in the mrs list of a Call
 * @all: entry in the requester's all_mrs
 * @pool: the pool that owns it
 * @mr: the device's memory region, for fast registration
 * @sg: the memory that is registered
 * @nents: entries of @sg that are mapped for the device; 0 if none is
 * @call: the Call whose memory it covers or covered last
 * @xid: XID of that Call, host order; see rpcrdma2_inv_stray()
 * @dir: direction of the DMA mapping
 * @unused: the device wrote nothing, so unmapping must not overwrite the memory
 * @kept: the device refused to deregister it, so its memory is never freed
 * @reg_wr: FastReg WR
 * @inv_wr: LocalInv WR
 * @behind_wr: empty RDMA Write, for a device that refuses LOCAL_INV
 */
struct rpcrdma2_mr {
	struct list_head	list;
	struct list_head	all;
	struct rpcrdma2_mr_pool	*pool;
	struct ib_mr		*mr;
	struct sg_table		sg;
	unsigned int		nents;
	struct rpcrdma2_call	*call;
	u32			xid;
	enum dma_data_direction	dir;
	bool			unused;
	bool			kept;
	struct ib_reg_wr	reg_wr;
	union {
		struct ib_send_wr	inv_wr;
		struct ib_rdma_wr	behind_wr;
	};
};

/**
 * struct rpcrdma2_copy - pages of the transport's own that hold one message
 * @pages: the pages
 * @nr: number of @pages
 * @len: length of the message, or of the room for one, octets
 */
struct rpcrdma2_copy {
	struct page	**pages;
	unsigned int	nr;
	unsigned int	len;
};

/**
 * struct rpcrdma2_call - a requester's state of one RPC
 * @inv_chain: chain of WRs that ends the use of @mrs
 * @fenced: for rpcrdma2_call_free(): completed when no peer can reach @mrs
 * @invalidated: called when no peer can reach @mrs
 * @rqst: the RPC; rpcrdma2_call_buffer_alloc() zeroes the struct from this field on
 * @requester: the role that sent the last transmission
 * @conn: connection that @mrs were exposed on, referenced; NULL if none were, or all are fenced
 * @mrs: registrations that the responder may reach
 * @sent_on: ID of the connection that owes the answer, or 0; see rpcrdma2_credits_answer()
 * @received: octets of Reply, or the negative errno that ends or resends the RPC
 * @head: octets of Reply in front of the placed data; valid if @placed is not 0
 * @placed: octets of page data that the responder put into the Write chunk
 * @write_offered: octets of Write chunk in the last transmission
 * @reply_offered: octets of Reply chunk in the last transmission
 * @reply_needed: octets of Reply chunk that the next transmission must offer, or 0
 * @max_segments: segments that the responder takes in a chunk; 0 if it has refused none
 * @small: the buffer is from the slab that has a reserve (buffer.c)
 * @kept: a device may still reach the RPC's memory, so its buffers and copies are never freed
 * @unsettled: the RPC's task must still take the error in @received; under queue_lock once posted
 * @external: the Reply is in the Reply chunk
 * @position_zero: the last transmission had a Position-Zero Read chunk
 * @no_read_chunks: the responder refused Read chunks behind position zero
 * @no_write_chunks: the responder refused Write chunks
 * @reply_copied: the Reply chunk of the last transmission is @reply_copy
 * @sent_copy: copy of the Call in whole pages; registered instead if @max_segments is set
 * @reply_copy: whole pages for a Reply chunk, in place of the Reply's own buffers
 * @encrypted: pages of an encrypted Call, while they may be registered
 * @resent: bitmap of the error codes that have led to a resend
 *
 * The struct lies just in front of the buffer that sunrpc encodes the Call into. It has one
 * owner at a time:
 *
 *  1. the holder of the xprt's write lock, while it sends the Call;
 *  2. CQ context, while the RPC is pinned;
 *  3. the task that frees the RPC.
 */
struct rpcrdma2_call {
	struct rpcrdma2_chain	inv_chain;
	struct completion	fenced;
	void			(*invalidated)(struct rpcrdma2_call *call);

	struct rpc_rqst		*rqst;
	struct rpcrdma2_requester *requester;
	struct rpcrdma2_conn	*conn;
	struct list_head	mrs;
	u32			sent_on;
	int			received;
	u32			head;
	u32			placed;
	u32			write_offered;
	u32			reply_offered;
	u32			reply_needed;
	u32			max_segments;
	bool			small;
	bool			kept;
	bool			unsettled;
	bool			external;
	bool			position_zero;
	bool			no_read_chunks;
	bool			no_write_chunks;
	bool			reply_copied;
	struct rpcrdma2_copy	sent_copy;
	struct rpcrdma2_copy	reply_copy;
	struct rpcrdma2_copy	encrypted;
	unsigned long		resent;
};

/**
 * rpcrdma2_call_of - find the requester's state of an RPC
 * @rqst: an RPC whose buffers are from rpcrdma2_call_alloc()
 *
 * Context: any.
 *
 * Return: the state
 */
static inline struct rpcrdma2_call *
rpcrdma2_call_of(const struct rpc_rqst *rqst)
{
	return (struct rpcrdma2_call *)rqst->rq_buffer - 1;
}

/**
 * rpcrdma2_requester_outstanding - count the Calls that hold a credit
 * @requester: the role
 *
 * A Call holds a credit from just before it is marshaled until its answer comes.
 *
 * Context: any. Outside of CQ context an answer may come at any moment, so the result may be too
 * high when the caller uses it.
 *
 * Return: the number of Calls
 */
static inline unsigned int
rpcrdma2_requester_outstanding(const struct rpcrdma2_requester *requester)
{
	int n = READ_ONCE(requester->credits_taken) -
		READ_ONCE(requester->answered);

	/* An answer to an unsent Call may have used up the credit of a Call that then failed. */
	return max(n, 0);
}

/**
 * rpcrdma2_room - sum up the room for a message
 * @buf: the message's buffers
 *
 * Context: any.
 *
 * Return: octets
 */
static inline unsigned int rpcrdma2_room(const struct xdr_buf *buf)
{
	return buf->head[0].iov_len + buf->page_len + buf->tail[0].iov_len;
}

/* buffer.c */
struct rpcrdma2_call *rpcrdma2_call_buffer_alloc(struct rpc_task *task);
void rpcrdma2_call_buffer_free(struct rpcrdma2_call *call);
int rpcrdma2_call_buffers_init(void);
void rpcrdma2_call_buffers_exit(void);

/* requester.c */
struct rpcrdma2_requester *
rpcrdma2_requester_create(struct rpcrdma2_conn *conn, struct rpc_xprt *xprt);
void rpcrdma2_requester_ready(struct rpcrdma2_requester *requester);
bool rpcrdma2_requester_is_quiet(struct rpcrdma2_requester *requester);
void rpcrdma2_requester_room(struct rpcrdma2_requester *requester);
void rpcrdma2_requester_drained(struct rpcrdma2_requester *requester);
void rpcrdma2_requester_destroy(struct rpcrdma2_requester *requester);

/* call.c */
int rpcrdma2_call_alloc(struct rpc_task *task);
int rpcrdma2_call_prepare(struct rpc_rqst *rqst, struct xdr_buf *buf);
void rpcrdma2_call_free(struct rpc_task *task);
int rpcrdma2_call_send(struct rpcrdma2_requester *requester,
		       struct rpc_rqst *rqst);

/* credit.c */
int rpcrdma2_credit_get(struct rpcrdma2_requester *requester,
			const struct rpc_rqst *rqst);
void rpcrdma2_credit_put(struct rpcrdma2_requester *requester);
void rpcrdma2_credits_update(struct rpcrdma2_requester *requester, u32 grant);
bool rpcrdma2_credits_answer(struct rpcrdma2_requester *requester,
			     struct rpcrdma2_call *call);
void rpcrdma2_credits_wake(struct rpcrdma2_requester *requester);
void rpcrdma2_credits_init(struct rpcrdma2_requester *requester);
void rpcrdma2_credits_stop(struct rpcrdma2_requester *requester);

/* wait.c */
void *rpcrdma2_wait_or_get(struct rpcrdma2_requester *requester,
			   void *(*get)(struct rpcrdma2_requester *requester));
void rpcrdma2_requester_wake(struct rpc_xprt *xprt);

/* copy.c */
int rpcrdma2_copy_make(struct rpcrdma2_copy *copy, const struct xdr_buf *buf,
		       unsigned int len);
int rpcrdma2_copy_back(struct rpcrdma2_copy *copy, const struct xdr_buf *buf,
		       unsigned int len);
void rpcrdma2_copy_adopt(struct rpcrdma2_copy *copy, struct rpc_rqst *rqst);
void rpcrdma2_copy_free(struct rpcrdma2_copy *copy);

/* long.c */
int rpcrdma2_long_reply_refused(struct rpcrdma2_requester *requester,
				struct rpcrdma2_call *call, u32 needed);
void rpcrdma2_long_reply_expect(const struct rpcrdma2_requester *requester,
				struct rpcrdma2_call *call);

/* marshal.c */
int rpcrdma2_marshal(struct rpcrdma2_requester *requester,
		     struct rpcrdma2_call *call, struct rpcrdma2_send *send);

/* register.c */
int rpcrdma2_register(struct rpcrdma2_requester *requester,
		      struct rpcrdma2_call *call, struct rpcrdma2_chunk *chunk,
		      const struct xdr_buf *buf, unsigned int parts,
		      enum dma_data_direction dir);
unsigned int rpcrdma2_mrs_prepend(struct rpcrdma2_call *call,
				  struct rpcrdma2_send *send);
unsigned int rpcrdma2_max_segments(const struct rpcrdma2_requester *requester,
				   const struct xdr_buf *buf,
				   unsigned int parts);
void rpcrdma2_mrs_init(struct rpcrdma2_requester *requester);
int rpcrdma2_mrs_provide(struct rpcrdma2_requester *requester);
void rpcrdma2_mrs_stop(struct rpcrdma2_requester *requester);
void rpcrdma2_mrs_fence(struct rpcrdma2_requester *requester);
void rpcrdma2_mrs_destroy(struct rpcrdma2_requester *requester);

void rpcrdma2_mr_put(struct rpcrdma2_requester *requester,
		     struct rpcrdma2_mr *mr);
void rpcrdma2_mr_drop(struct rpcrdma2_requester *requester,
		      struct rpcrdma2_mr *mr);

/* The parts of an xdr_buf that rpcrdma2_register() shall register: a mask */
#define RPCRDMA2_PART_HEAD	0x1
#define RPCRDMA2_PART_PAGES	0x2
#define RPCRDMA2_PART_TAIL	0x4
#define RPCRDMA2_PART_ALL	0x7

/* invalidate.c */
void rpcrdma2_unregister(struct rpcrdma2_requester *requester,
			 struct rpcrdma2_call *call);
void rpcrdma2_nothing_placed(struct rpcrdma2_call *call);
bool rpcrdma2_inv_remote(struct rpcrdma2_requester *requester,
			 struct rpcrdma2_call *call, u32 handle);
bool rpcrdma2_inv_stray(struct rpcrdma2_requester *requester, u32 xid,
			u32 handle);
int rpcrdma2_inv_local(struct rpcrdma2_requester *requester,
		       struct rpcrdma2_call *call,
		       void (*invalidated)(struct rpcrdma2_call *call));
void rpcrdma2_deregister(struct work_struct *work);
void rpcrdma2_deregister_lost(struct rpcrdma2_requester *requester);

/* show.c */
void rpcrdma2_format_addresses(struct rpc_xprt *xprt);
void rpcrdma2_set_port(struct rpc_xprt *xprt, u16 port);
void rpcrdma2_free_addresses(struct rpc_xprt *xprt);
void rpcrdma2_print_stats(struct rpc_xprt *xprt,
			  const struct rpcrdma2_stats *stats,
			  struct seq_file *seq);
void rpcrdma2_show_stats(struct seq_file *seq,
			 const struct rpcrdma2_stats *stats);
void rpcrdma2_show_requester(struct seq_file *seq,
			     const struct rpcrdma2_requester *requester);

/* reply.c */
void rpcrdma2_reply_receive(struct rpcrdma2_recv *recv);
void rpcrdma2_call_complete(struct rpcrdma2_call *call);
void rpcrdma2_call_wait(struct rpc_task *task);

#endif /* _RPCRDMA2_REQUESTER_H */
