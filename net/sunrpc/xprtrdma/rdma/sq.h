/* SPDX-License-Identifier: GPL-2.0 */
/* The Send Queue (sq.c), and Send buffers (send_pool.c). */
#ifndef _RPCRDMA2_SQ_H
#define _RPCRDMA2_SQ_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

#include "wire/wire.h"

struct rpcrdma2_ep;

/*
 * The chain that brings the number of unsignaled entries to this is signaled, so buffers
 * return.
 */
#define RPCRDMA2_SIGNAL_INTERVAL	16

/**
 * struct rpcrdma2_chain - a chain of WRs for the Send Queue
 * @link: entry in ep->sq.posted or ep->sq.waiting, in posting order
 * @cqe: completion of every WR of the chain
 * @first: first WR of the chain, or of the part that is left to post
 * @last: last WR of the chain; sq.c decides whether it is signaled
 * @count: number of WRs in the chain
 * @left: number of WRs not posted yet
 * @queued: number of WRs in the part that was posted last
 * @xid: XID of the RPC that the chain is for; for tracepoints
 * @prompt: the owner waits for @done, so the chain is signaled
 * @reads: the chain has RDMA Reads, so only its own completion completes it
 * @done: called once: after the last WR has completed, with @status 0; or after the drain,
 *	with -ENOTCONN. Process context, no locks held
 */
struct rpcrdma2_chain {
	struct list_head	link;
	struct ib_cqe		cqe;
	struct ib_send_wr	*first;
	struct ib_send_wr	*last;
	unsigned int		count;
	unsigned int		left;
	unsigned int		queued;
	u32			xid;
	bool			prompt;
	bool			reads;
	void (*done)(struct rpcrdma2_chain *chain, int status);
};

/**
 * struct rpcrdma2_send - a Send and its buffer
 * @chain: the chain that ends with @wr
 * @ep: the endpoint
 * @buf: buffer, mapped for the device
 * @size: size of @buf, octets
 * @needs_sync: @buf must be synced: see rpcrdma2_buffer_needs_sync()
 * @close_after: close the connection after this Send
 * @done: optional; called after the Send, before the buffer is used again
 * @next_free: next buffer in ep->sends.free
 * @wr: the Send WR
 * @sge: describes the message in @buf
 * @owner: for @done
 * @all: entry in ep->sends.all
 */
struct rpcrdma2_send {
	struct rpcrdma2_chain	chain;
	struct rpcrdma2_ep	*ep;
	void			*buf;
	u32			size;
	bool			needs_sync;
	bool			close_after;
	void			(*done)(struct rpcrdma2_send *send, int status);
	struct rpcrdma2_send	*next_free;
	struct ib_send_wr	wr;
	struct ib_sge		sge;
	void			*owner;
	struct list_head	all;
};

/**
 * struct rpcrdma2_sq - a Send Queue; under the endpoint's lock
 * @used: entries that @posted takes
 * @unsignaled: entries posted since the last signaled WR
 * @posted: chains on the Queue, oldest first
 * @waiting: chains for which the Queue has no room, oldest first
 * @post_failed: the device refused a WR
 * @inv_refused: that WR was a LOCAL_INV, refused as invalid; stable after the drain
 */
struct rpcrdma2_sq {
	unsigned int		used;
	unsigned int		unsignaled;
	struct list_head	posted;
	struct list_head	waiting;
	bool			post_failed;
	bool			inv_refused;
};

/**
 * struct rpcrdma2_send_pool - Send buffers; under the endpoint's lock
 * @free: free buffers; the last one returned is taken first, as it is in a cache
 * @wanted: a caller found no free buffer, and waits for the room op
 * @all: all buffers
 * @nr: number of @all
 * @size: size that buffers are to have, octets
 */
struct rpcrdma2_send_pool {
	struct rpcrdma2_send	*free;
	bool			wanted;
	struct list_head	all;
	unsigned int		nr;
	u32			size;
};

/* send_pool.c */
int rpcrdma2_send_pool_provide(struct rpcrdma2_ep *ep, gfp_t gfp);
int rpcrdma2_send_append(struct rpcrdma2_send *send, const struct xdr_buf *buf,
			 unsigned int from, unsigned int len);
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_ep *ep);
void rpcrdma2_send_free(struct rpcrdma2_send *send);
bool rpcrdma2_send_pool_wanted(struct rpcrdma2_ep *ep);
void rpcrdma2_send_put(struct rpcrdma2_send *send);
void rpcrdma2_send_pool_unmap(struct rpcrdma2_ep *ep);
void rpcrdma2_send_pool_free(struct rpcrdma2_ep *ep);

/* sq.c */
void rpcrdma2_send_prepare(struct rpcrdma2_send *send);
void rpcrdma2_chain_prepend(struct rpcrdma2_chain *chain,
			    struct ib_send_wr *first, unsigned int count);
void rpcrdma2_chain_init(struct rpcrdma2_chain *chain, u32 xid,
			 struct ib_send_wr *first, struct ib_send_wr *last,
			 unsigned int count,
			 void (*done)(struct rpcrdma2_chain *chain,
				      int status));
int rpcrdma2_chain_post(struct rpcrdma2_ep *ep,
			struct rpcrdma2_chain *chain);
bool rpcrdma2_send_fits(const struct rpcrdma2_send *send);
int rpcrdma2_send_post(struct rpcrdma2_send *send);
int rpcrdma2_send_post_call(struct rpcrdma2_send *send, u32 *sent_on);
void rpcrdma2_chain_done(struct ib_cq *cq, struct ib_wc *wc);
void rpcrdma2_sq_return_chains(struct rpcrdma2_ep *ep);

#endif /* _RPCRDMA2_SQ_H */
