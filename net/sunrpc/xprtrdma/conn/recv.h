/* SPDX-License-Identifier: GPL-2.0 */
/* Receives: recv.c has a single one, recv_pool.c a connection's. */
#ifndef _RPCRDMA2_RECV_H
#define _RPCRDMA2_RECV_H

#include <linux/llist.h>
#include <linux/seq_file.h>
#include <rdma/ib_verbs.h>

#include "wire/wire.h"

struct rpcrdma2_conn;
struct rpcrdma2_srq;

/**
 * struct rpcrdma2_recv - a Receive and its buffer
 * @conn: the connection; NULL while the Receive is posted to a Shared Receive Queue
 * @srq: the Shared Receive Queue, or NULL
 * @turn: the Queue's @turn when the Receive was posted
 * @cqe: its completion calls rpcrdma2_recv_done()
 * @node: entry in conn->given_back, or in a list of the holder
 * @wr: the WR that posts it
 * @sge: describes @buf
 * @buf: buffer of @sge.length octets
 * @needs_sync: @buf must be synced: see rpcrdma2_buffer_needs_sync()
 * @offset: start of the RPC message in @buf, octets
 * @len: length of the RPC message, octets
 * @invalidated: handle that a Send With Invalidate invalidated, or 0
 * @hdr: decoded header of the message
 * @all: entry in conn->recvs or srq->recvs
 *
 * The Receive Queue owns a posted Receive. conn/ owns a filled one, until it passes the
 * Receive to the call op or the reply op. That layer gives it back by rpcrdma2_recv_put().
 */
struct rpcrdma2_recv {
	struct rpcrdma2_conn	*conn;
	struct rpcrdma2_srq	*srq;
	unsigned int		turn;
	struct ib_cqe		cqe;
	struct llist_node	node;
	struct ib_recv_wr	wr;
	struct ib_sge		sge;
	void			*buf;
	bool			needs_sync;
	u32			offset;
	u32			len;
	u32			invalidated;
	struct rpcrdma2_header	hdr;
	struct list_head	all;
};

/* recv.c */

/**
 * struct rpcrdma2_recv_memory - the memory of a Receive
 * @buf: the buffer
 * @sge: describes @buf to the device
 * @needs_sync: answer of rpcrdma2_buffer_needs_sync()
 */
struct rpcrdma2_recv_memory {
	void		*buf;
	struct ib_sge	sge;
	bool		needs_sync;
};

bool rpcrdma2_recv_memory_get(struct ib_pd *pd, struct rpcrdma2_recv_memory *memory,
			      u32 size, gfp_t gfp);
void rpcrdma2_recv_memory_put(struct ib_device *dev,
			      const struct rpcrdma2_recv_memory *memory);
struct rpcrdma2_recv *
rpcrdma2_recv_alloc(struct ib_pd *pd, u32 size, gfp_t gfp,
		    void (*done)(struct ib_cq *cq, struct ib_wc *wc));
void rpcrdma2_recv_unmap(struct ib_device *dev, const struct rpcrdma2_recv *recv);
void rpcrdma2_recv_free(struct ib_device *dev, struct rpcrdma2_recv *recv,
			bool is_mapped);

/* recv_pool.c */
void rpcrdma2_recv_done(struct ib_cq *cq, struct ib_wc *wc);
int rpcrdma2_recv_pool_post(struct rpcrdma2_conn *conn);
unsigned int rpcrdma2_recv_pool_provide(struct rpcrdma2_conn *conn,
					unsigned int calls, gfp_t gfp);
void rpcrdma2_recv_pool_unmap(struct rpcrdma2_conn *conn);
void rpcrdma2_recv_pool_free(struct rpcrdma2_conn *conn);
void rpcrdma2_recv_put(struct rpcrdma2_recv *recv);

/* recv_budget.c */
void rpcrdma2_recv_budget_add(long more);
bool rpcrdma2_recv_budget_fits(long more);
bool rpcrdma2_recv_budget_allows(const struct rpcrdma2_conn *conn, u32 size);
bool rpcrdma2_recv_budget_is_short(void);
void rpcrdma2_recv_budget_note_shortage(void);
bool rpcrdma2_recv_budget_failed_lately(void);
void rpcrdma2_recv_budget_note_failure(void);
void rpcrdma2_recv_budget_show(struct seq_file *seq);

/**
 * struct rpcrdma2_recv_budget_use - memory of the server's Receives
 * @octets: octets in use
 * @limit: octets beyond which Receives do not grow
 * @shortages: number of times that Receives or memory did not suffice
 */
struct rpcrdma2_recv_budget_use {
	u64	octets;
	u64	limit;
	u64	shortages;
};

void rpcrdma2_recv_budget_use(struct rpcrdma2_recv_budget_use *use);

#endif /* _RPCRDMA2_RECV_H */
