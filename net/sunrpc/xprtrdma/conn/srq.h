/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives that connections share: see srq.c.
 */
#ifndef _RPCRDMA2_SRQ_H
#define _RPCRDMA2_SRQ_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct rpcrdma2_conn;
struct rpcrdma2_recv;

/* Calls that a connection is granted at first */
#define RPCRDMA2_FIRST_GRANT	4

/* Does the device say when a QP takes no more of them? */
enum rpcrdma2_last_wqe {
	RPCRDMA2_MAY_RAISE,
	RPCRDMA2_RAISES_EVENTS,
	RPCRDMA2_RAISES_NONE,
};

/**
 * struct rpcrdma2_srq - a Shared Receive Queue
 * @list: in all of them
 * @dev: the device
 * @pd: of all its connections
 * @srq: the Queue
 * @made: the device made @pd and @srq, or failed to
 * @status: what came of that, 0 or negative errno; stable once @made
 * @vector: completion vector of all its connections
 * @depth: Receives that it can have posted
 * @size: octets of each of them
 * @nr_conns: connections that use it; all's lock
 * @lock: what follows
 * @conns: those connections
 * @recvs: all its Receives
 * @nr_recvs: how many
 * @failed: the device gave it up: no connection takes it any more
 * @failed_work: closes those that it has; queued unless it is @gone
 * @turn: changes when the device is told to watch the Queue, and when it says that few
 *	Receives are left
 * @low: it said so
 * @limit: it says so when fewer than these are; @count_work's
 * @lost: Receives that it took and never completed, when they were last counted
 * @count_work: counts @lost; queued unless it is @gone
 * @promised: how many may be filled at a time, if each connection uses all that it
 *	was granted; at most @depth
 * @gone: no Receive is posted any more
 * @unmapped: nor is one mapped
 * @destroyed: nor is there a Queue; this is freed with the last of them
 * @events: whether the device says when a QP takes no more
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
	unsigned int		nr_conns;
	spinlock_t		lock;	/* the Queue */
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

int rpcrdma2_srq_attach(struct rpcrdma2_conn *conn);
void rpcrdma2_srq_detach(struct rpcrdma2_conn *conn);
unsigned int rpcrdma2_srq_back(struct rpcrdma2_conn *conn, unsigned int calls,
			       gfp_t gfp);
void rpcrdma2_srq_refill(struct rpcrdma2_conn *conn, gfp_t gfp);
unsigned int rpcrdma2_srq_back_replies(struct rpcrdma2_conn *conn,
				       unsigned int calls, gfp_t gfp);
bool rpcrdma2_srq_take(struct rpcrdma2_recv *recv, struct rpcrdma2_conn *conn);
void rpcrdma2_srq_put(struct rpcrdma2_recv *recv);
void rpcrdma2_srq_show(struct seq_file *seq);

#endif /* _RPCRDMA2_SRQ_H */
