/* SPDX-License-Identifier: GPL-2.0 */
/*
 * requester/: the end that sends Calls, whichever direction it faces.
 *
 * A client's xprt/ has one for its NFS RPCs, a server's svc/ one for its
 * callbacks. Both speak sunrpc's struct rpc_xprt and struct rpc_rqst, and so
 * does this layer.
 */
#ifndef _RPCRDMA2_REQUESTER_H
#define _RPCRDMA2_REQUESTER_H

#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

#include "conn/conn.h"

/* Procedures that a requester can tell apart: NFSv4 has less than 80. */
#define RPCRDMA2_PROCEDURES	128

/**
 * struct rpcrdma2_stats - what a requester did
 *
 * By the holder of the xprt's write lock:
 *
 * @calls: Calls sent
 * @read_segments: segments of their Read chunks
 * @write_segments: segments of their Write chunks
 * @reply_segments: segments of their Reply chunks
 * @read_octets: octets of their Read chunks
 * @offered_octets: octets of their Write and Reply chunks
 * @pullup_octets: page data, and what follows it, copied into Sends
 * @registrations: FastReg WRs
 * @gap_registrations: those of them that bridge gaps
 * @failed_marshals: Calls that could not be encoded
 * @credit_waits: times that a Call waited for a credit
 * @mr_waits: times that a Call waited for a registration
 * @send_waits: times that a Call waited for a Send buffer
 *
 * In CQ context:
 *
 * @replies: Replies that came, also to RPCs that were killed
 * @written_octets: octets that the responder put into Write and Reply chunks
 * @fixup_octets: octets of Replies copied out of Receives
 * @bad_replies: Replies that could not be used
 * @remote_invs: registrations that the responder invalidated
 * @local_invs: LocalInv WRs that completed
 *
 * By the workers that fill the pools, under the requester's lock:
 *
 * @mrs_allocated: registrations ever allocated
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
 * struct rpcrdma2_mr_pool - a connection's registrations of one type
 * @requester: whose they are
 * @type: %IB_MR_TYPE_MEM_REG, or %IB_MR_TYPE_SG_GAPS for memory that has gaps
 * @free: registrations to use; under the requester's lock
 * @nr: how many exist; written under the requester's lock
 * @refill: allocates more
 */
struct rpcrdma2_mr_pool {
	struct rpcrdma2_requester *requester;
	enum ib_mr_type		type;
	struct list_head	free;
	unsigned int		nr;
	struct delayed_work	refill;
};

/**
 * struct rpcrdma2_requester - a connection's requester role
 * @conn: the connection
 * @xprt: whose RPCs are sent
 * @long_reply: octets of Reply chunk that Calls of the @long_procedures offer, or 0 if there
 *	are none; set by the CQ
 * @long_procedures: procedures whose Reply was longer than its buffers, as bits; set by the
 *	CQ
 * @lock: the pools of registrations, @to_deregister
 * @grant_in: Calls that the responder allows at a time, at least 1; the CQ's
 * @answered: credits that came back; the CQ's
 * @credits_taken: credits that were taken; by the holder of the xprt's write lock
 * @starved: closes the connection, for a Call that waits for a credit, unless an
 *	answer comes before
 * @starved_at: what @answered was when the last of these began to wait
 * @mrs: registrations of pages in a row
 * @gap_mrs: registrations that bridge gaps; none where the device has no such type
 * @all_mrs: all registrations, of both pools
 * @to_deregister: work that invalidates Calls' registrations, where there is no
 *	LOCAL_INV; under @lock
 * @deregister: does it
 * @hdr: header being marshaled; the holder of the xprt's write lock
 * @segments: its segments
 * @stats: of this connection
 */
struct rpcrdma2_requester {
	struct rpcrdma2_conn	*conn;
	struct rpc_xprt		*xprt;
	u32			long_reply;
	DECLARE_BITMAP(long_procedures, RPCRDMA2_PROCEDURES);

	/* By whoever sends */
	unsigned int		credits_taken ____cacheline_aligned_in_smp;

	/* By the CQ, with each Reply */
	unsigned int		grant_in ____cacheline_aligned_in_smp;
	unsigned int		answered;
	struct delayed_work	starved;
	unsigned int		starved_at;

	spinlock_t		lock;	/* MR lists */

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
 * @list: in its pool's free, or in a Call's mrs
 * @all: in all_mrs
 * @pool: the pool that it belongs to
 * @mr: fast registration MR
 * @sg: what is registered
 * @nents: entries of @sg in use; 0 if nothing is mapped
 * @call: whose memory is mapped
 * @xid: of the RPC whose memory it is or was
 * @dir: direction of the transfer
 * @unused: the device wrote nothing there, but the CPU did
 * @kept: the device did not give it up
 * @reg_wr: registers it
 * @inv_wr: invalidates it locally
 * @behind_wr: where there is no LOCAL_INV, does nothing but come behind the Call that has it
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
 * struct rpcrdma2_copy - a message in pages of its own
 * @pages: the pages
 * @nr: how many there are
 * @len: octets of them in use
 */
struct rpcrdma2_copy {
	struct page	**pages;
	unsigned int	nr;
	unsigned int	len;
};

/**
 * struct rpcrdma2_call - what a requester keeps of an RPC
 * @inv_chain: local invalidation of @mrs
 * @fenced: completed when nothing is exposed; for a caller that waits
 * @rqst: the RPC; from here on, what each has use for
 * @requester: the role that sent it last
 * @conn: the connection it was last sent on, referenced while @mrs were
 *	exposed there, or NULL
 * @mrs: registrations that the responder can reach
 * @sent_on: number of the connection where its answer is expected, or 0; set before the
 *	Call is posted. The first answer takes it
 * @received: octets of Reply, or negative errno to end the RPC with
 * @head: octets of the Reply in front of the page data, if @placed
 * @placed: octets of page data that the responder wrote to the Write chunk
 * @write_offered: octets of Write chunk in the last transmission
 * @reply_offered: octets of Reply chunk in the last transmission
 * @reply_needed: octets of Reply chunk that the responder asked for
 * @max_segments: how many the responder takes in a chunk, if it has refused more; else 0
 * @small: for buffer.c: it is of the size that some are in reserve of
 * @kept: the device may still reach its memory, which is never freed
 * @waiting: a caller waits for @fenced; else the RPC completes
 * @unsettled: @received is an error of the last transmission that the RPC's task has yet to
 *	take; under the xprt's queue_lock once the Call is posted
 * @external: the Reply is in the Reply chunk
 * @position_zero: the last transmission had a Position-Zero Read chunk
 * @no_read_chunks: the responder refused Read chunks
 * @no_write_chunks: the responder refused Write chunks
 * @reply_copied: the Reply chunk of the last transmission is @reply_copy
 * @sent_copy: what is sent instead, if there is @max_segments
 * @reply_copy: pages for a Reply chunk, if there is @max_segments, or if @reply_needed is
 *	more than the Reply's buffers have
 * @encrypted: pages that the Call was encrypted to, once some of it was registered
 * @resent: errors that led to a resend, as bits
 *
 * Lies in front of the buffer that sunrpc encodes the Call into. Changes hands
 * with the RPC: the holder of the xprt's write lock sends it; the CQ has it
 * while it is pinned; the task that releases the RPC has it last.
 */
struct rpcrdma2_call {
	struct rpcrdma2_chain	inv_chain;
	struct completion	fenced;

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
	bool			waiting;
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
 * rpcrdma2_call_of - the requester's side of an RPC
 * @rqst: an RPC whose buffers rpcrdma2_call_alloc() made
 *
 * Return: its call
 */
static inline struct rpcrdma2_call *
rpcrdma2_call_of(const struct rpc_rqst *rqst)
{
	return (struct rpcrdma2_call *)rqst->rq_buffer - 1;
}

/**
 * rpcrdma2_requester_outstanding - Calls sent, or about to be, and not answered
 * @requester: whose
 *
 * For others than the CQ, no more than a look: answers may be coming.
 *
 * Return: how many
 */
static inline unsigned int
rpcrdma2_requester_outstanding(const struct rpcrdma2_requester *requester)
{
	int n = READ_ONCE(requester->credits_taken) -
		READ_ONCE(requester->answered);

	/* An answer to nothing may have been counted for a Call that was not sent. */
	return max(n, 0);
}

/**
 * rpcrdma2_room - how long a message can be
 * @buf: buffers for it
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
int rpcrdma2_call_alloc(struct rpc_task *task);
int rpcrdma2_call_prepare(struct rpc_rqst *rqst, struct xdr_buf *buf);
void rpcrdma2_call_free(struct rpc_task *task);
int rpcrdma2_call_send(struct rpcrdma2_requester *requester,
		       struct rpc_rqst *rqst);
void rpcrdma2_credits_update(struct rpcrdma2_requester *requester, u32 grant);
bool rpcrdma2_credits_answer(struct rpcrdma2_requester *requester,
			     struct rpcrdma2_call *call);
void rpcrdma2_credits_wake(struct rpcrdma2_requester *requester);
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

/* Parts of an xdr_buf that rpcrdma2_register() can take. */
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
		       struct rpcrdma2_call *call);
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
