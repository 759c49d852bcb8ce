/* SPDX-License-Identifier: GPL-2.0 */
/* The Send Queue (sq.c), and Send buffers (send_pool.c). */
#ifndef _RPCRDMA2_SQ_H
#define _RPCRDMA2_SQ_H

#include <rdma/ib_verbs.h>

#include "wire/wire.h"

struct rpcrdma2_conn;

/**
 * struct rpcrdma2_chain - a chain of WRs for the Send Queue
 * @link: entry in conn->posted or conn->waiting, in posting order
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
 * @conn: the connection
 * @buf: buffer, mapped for the device
 * @size: size of @buf, octets
 * @needs_sync: @buf must be synced: see rpcrdma2_buffer_needs_sync()
 * @close_after: close the connection after this Send
 * @done: optional; called after the Send, before the buffer is used again
 * @next_free: next buffer in conn->free_sends
 * @wr: the Send WR
 * @sge: describes the message in @buf
 * @owner: for @done
 * @all: entry in conn->sends
 */
struct rpcrdma2_send {
	struct rpcrdma2_chain	chain;
	struct rpcrdma2_conn	*conn;
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

/* send_pool.c */
int rpcrdma2_send_pool_provide(struct rpcrdma2_conn *conn, gfp_t gfp);
int rpcrdma2_send_append(struct rpcrdma2_send *send, const struct xdr_buf *buf,
			 unsigned int from, unsigned int len);
struct rpcrdma2_send *rpcrdma2_send_get(struct rpcrdma2_conn *conn);
void rpcrdma2_send_free(struct rpcrdma2_send *send);
bool rpcrdma2_send_pool_wanted(struct rpcrdma2_conn *conn);
void rpcrdma2_send_put(struct rpcrdma2_send *send);
void rpcrdma2_send_pool_unmap(struct rpcrdma2_conn *conn);
void rpcrdma2_send_pool_free(struct rpcrdma2_conn *conn);

/* sq.c */
void rpcrdma2_send_prepare(struct rpcrdma2_send *send);
void rpcrdma2_chain_prepend(struct rpcrdma2_chain *chain,
			    struct ib_send_wr *first, unsigned int count);
void rpcrdma2_chain_init(struct rpcrdma2_chain *chain, u32 xid,
			 struct ib_send_wr *first, struct ib_send_wr *last,
			 unsigned int count,
			 void (*done)(struct rpcrdma2_chain *chain,
				      int status));
int rpcrdma2_chain_post(struct rpcrdma2_conn *conn,
			struct rpcrdma2_chain *chain);
bool rpcrdma2_send_fits(const struct rpcrdma2_send *send);
int rpcrdma2_send_post(struct rpcrdma2_send *send);
int rpcrdma2_send_post_call(struct rpcrdma2_send *send, u32 *sent_on);
void rpcrdma2_chain_done(struct ib_cq *cq, struct ib_wc *wc);

#endif /* _RPCRDMA2_SQ_H */
