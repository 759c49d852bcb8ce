/* SPDX-License-Identifier: GPL-2.0 */
/* Receives: recv.c has a single one, recv_pool.c an endpoint's, recv_budget.c their limit. */
#ifndef _RPCRDMA2_RECV_H
#define _RPCRDMA2_RECV_H

#include <linux/atomic.h>
#include <linux/llist.h>
#include <rdma/ib_verbs.h>

#include "wire/wire.h"

struct rpcrdma2_ep;
struct rpcrdma2_srq;

/**
 * struct rpcrdma2_recv - a Receive and its buffer
 * @ep: the endpoint; NULL while the Receive is posted to a Shared Receive Queue
 * @srq: the Shared Receive Queue, or NULL
 * @turn: the Queue's @turn when the Receive was posted
 * @cqe: its completion calls rpcrdma2_recv_done()
 * @node: entry in ep->returned.own, or in a list of the holder
 * @wr: the WR that posts it
 * @sge: describes @buf
 * @buf: buffer of @sge.length octets
 * @needs_sync: @buf must be synced: see rpcrdma2_buffer_needs_sync()
 * @offset: start of the RPC message in @buf, octets
 * @len: length of the RPC message, octets
 * @invalidated: handle that a Send With Invalidate invalidated, or 0
 * @hdr: decoded header of the message
 * @all: entry in ep->recvs.all or srq->recvs
 *
 * The Receive Queue owns a posted Receive. The received op takes a filled one. The last holder
 * gives the Receive back by rpcrdma2_recv_put().
 */
struct rpcrdma2_recv {
	struct rpcrdma2_ep	*ep;
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

/* One attempt to allocate, for callers that cannot wait and can do without */
#define RPCRDMA2_GFP_ONCE	(GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN)

/**
 * struct rpcrdma2_recv_pool - an endpoint's Receives that are not shared
 * @all: all Receives; under the endpoint's lock, as are @size and @odd
 * @nr: number of @all; the CQ's
 * @size: size that Receives are to have, octets
 * @odd: number of Receives that have another size
 * @depth: maximum number of Receives; stable once the QP exists
 */
struct rpcrdma2_recv_pool {
	struct list_head	all;
	unsigned int		nr;
	u32			size;
	unsigned int		odd;
	unsigned int		depth;
};

/**
 * struct rpcrdma2_recv_returns - Receives that threads give to an endpoint
 * @own: to be posted before its next chain: any thread adds one, and the next sender takes
 *	all, under the endpoint's lock
 * @shared: number of shared ones that came back: see struct rpcrdma2_srq_share
 */
struct rpcrdma2_recv_returns {
	struct llist_head	own;
	atomic_t		shared;
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
int rpcrdma2_recv_pool_post(struct rpcrdma2_ep *ep);
unsigned int rpcrdma2_recv_pool_provide(struct rpcrdma2_ep *ep,
					unsigned int calls, gfp_t gfp);
void rpcrdma2_recv_pool_unmap(struct rpcrdma2_ep *ep);
void rpcrdma2_recv_pool_free(struct rpcrdma2_ep *ep);
void rpcrdma2_recv_put(struct rpcrdma2_recv *recv);

/* recv_budget.c */
void rpcrdma2_recv_budget_add(long more);
bool rpcrdma2_recv_budget_fits(long more);
bool rpcrdma2_recv_budget_allows(const struct rpcrdma2_ep *ep, u32 size);
bool rpcrdma2_recv_budget_is_short(void);
void rpcrdma2_recv_budget_note_shortage(void);
bool rpcrdma2_recv_budget_failed_lately(void);
void rpcrdma2_recv_budget_note_failure(void);

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
