/* SPDX-License-Identifier: GPL-2.0 */
/* Receives that a server's connections share: see srq.c. */
#ifndef _RPCRDMA2_SRQ_H
#define _RPCRDMA2_SRQ_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct rpcrdma2_ep;
struct rpcrdma2_recv;

/* Calls that a new connection is granted */
#define RPCRDMA2_FIRST_GRANT	4

/* Does the device raise IB_EVENT_QP_LAST_WQE_REACHED? MAY_RAISE: not known yet */
enum rpcrdma2_last_wqe {
	RPCRDMA2_MAY_RAISE,
	RPCRDMA2_RAISES_EVENTS,
	RPCRDMA2_RAISES_NONE,
};

/**
 * struct rpcrdma2_srq - a Shared Receive Queue
 * @list: entry in the list of all Queues
 * @dev: the device
 * @pd: protection domain of all its endpoints
 * @srq: the device's object
 * @made: completed when srq_create_on_device() has succeeded or failed
 * @status: its result, 0 or negative errno; stable once @made is completed
 * @vector: completion vector of all its endpoints
 * @depth: maximum number of Receives
 * @size: octets of each Receive
 * @recv_done: completion handler of each Receive
 * @nr_conns: number of @conns; under srqs_lock
 * @lock: protects @conns to @promised, @lost, @gone to @destroyed, and each endpoint's
 *	@backed and @backed_replies
 * @conns: endpoints that use the Queue; changes under srqs_lock as well, which suffices to
 *	walk the list
 * @recvs: all Receives, posted or not
 * @nr_recvs: number of @recvs
 * @promised: Receives that the endpoints may use at a time, by their grants; at most @depth
 * @turn: number that each posted Receive copies; changes when the device is told to watch the
 *	Queue, and when it reports few Receives
 * @low: the device has reported few Receives since it was told to watch
 * @limit: the device reports when fewer Receives than this are left; 0: not watched yet; only
 *	@count_work writes this
 * @lost: Receives that the device took and never completed, by the last count
 * @count_work: counts @lost; not queued once the Queue is @gone
 * @failed: no endpoint joins the Queue any more
 * @failed_work: closes the connections of a failed Queue; not queued once the Queue is @gone
 * @gone: no Receive is posted any more
 * @unmapped: all Receives are unmapped, or will be before they are freed here
 * @destroyed: @srq is destroyed; the last Receive to be freed frees this struct
 * @events: whether the device reports the last Receive of a QP
 */
struct rpcrdma2_srq {
	struct list_head	list;
	struct ib_device	*dev;
	struct ib_pd		*pd;
	struct ib_srq		*srq;
	struct completion	made;
	int			status;
	unsigned int		vector;
	unsigned int		depth;
	u32			size;
	void			(*recv_done)(struct ib_cq *cq, struct ib_wc *wc);
	unsigned int		nr_conns;
	spinlock_t		lock;	/* see above */
	struct list_head	conns;
	struct list_head	recvs;
	unsigned int		nr_recvs;
	unsigned int		promised;
	unsigned int		turn;
	bool			low;
	unsigned int		limit;
	unsigned int		lost;
	struct delayed_work	count_work;
	bool			failed;
	struct work_struct	failed_work;
	bool			gone;
	bool			unmapped;
	bool			destroyed;
	enum rpcrdma2_last_wqe	events;
};

/**
 * struct rpcrdma2_srq_share - an endpoint's part of a Shared Receive Queue
 * @taken: Receives of the Queue that messages filled; the CQ's. @returned of the endpoint
 *	says how many were given back
 * @backed: Calls for which the Queue has promised Receives; raised by the CQ, under the
 *	Queue's lock
 * @backed_replies: Calls of this end for whose Replies the Queue has promised Receives; the
 *	CQ's, under the Queue's lock
 * @call_at: time of the last Call, in jiffies; the CQ's
 */
struct rpcrdma2_srq_share {
	unsigned int		taken;
	unsigned int		backed;
	unsigned int		backed_replies;
	unsigned long		call_at;
};

/**
 * struct rpcrdma2_srq_member - an endpoint that uses a Shared Receive Queue
 * @link: entry in the Queue's list @conns
 * @last_wqe: completed when the QP takes no more Receives of the Queue
 */
struct rpcrdma2_srq_member {
	struct list_head	link;
	struct completion	last_wqe;
};

int rpcrdma2_srq_attach(struct rpcrdma2_ep *ep,
			void (*recv_done)(struct ib_cq *cq, struct ib_wc *wc));
void rpcrdma2_srq_detach(struct rpcrdma2_ep *ep);
unsigned int rpcrdma2_srq_back(struct rpcrdma2_ep *ep, unsigned int calls,
			       gfp_t gfp);
void rpcrdma2_srq_refill(struct rpcrdma2_ep *ep, gfp_t gfp);
unsigned int rpcrdma2_srq_back_replies(struct rpcrdma2_ep *ep,
				       unsigned int calls, gfp_t gfp);
bool rpcrdma2_srq_take(struct rpcrdma2_recv *recv, struct rpcrdma2_ep *ep);
void rpcrdma2_srq_put(struct rpcrdma2_recv *recv);
void rpcrdma2_srq_show(struct seq_file *seq);

#endif /* _RPCRDMA2_SRQ_H */
